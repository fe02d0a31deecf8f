import Foundation
import GRDB

/// A GRDB database with the people in one of two forms.
final class GRDBStore: StoreUnderTest {
  enum Form: String {
    case columns = "GRDB columns"
    case json = "GRDB JSON column"
    case byHand = "GRDB by hand"
  }

  private let form: Form
  private let database: any DatabaseWriter
  private let workload: Workload
  /// Where there is no file, a single transaction is not durable, and called otherwise.
  private let isInMemory: Bool
  private let suffix: String

  init(_ form: Form, at folder: URL?, _ workload: Workload) throws {
    self.form = form
    self.workload = workload
    isInMemory = folder == nil
    suffix = folder == nil ? ", in memory" : ""
    database = try Self.open(at: folder)
    try database.write { db in
      switch form {
      case .columns: try Person.makeTable(db)
      case .json: try PersonDocument.makeTable(db)
      case .byHand: try PersonRow.makeTable(db)
      }
    }
  }

  /// A database set to the common terms; in memory where there is no folder.
  static func open(at folder: URL?) throws -> any DatabaseWriter {
    var configuration = Configuration()
    configuration.prepareDatabase { db in try Self.set(db) }
    guard let folder else { return try DatabaseQueue(configuration: configuration) }
    let pool = try DatabasePool(
      path: folder.appending(path: "grdb.sqlite").path, configuration: configuration)
    // The pool sets it to NORMAL as it opens.
    try pool.writeWithoutTransaction { db in try Self.set(db) }
    return pool
  }

  private static func set(_ db: Database) throws {
    typealias Settings = SQLiteSettings
    let cache = db.configuration.readonly ? Settings.readerCacheByteCount : Settings.writerCacheByteCount
    try db.execute(
      sql: """
        PRAGMA synchronous = FULL;
        PRAGMA cache_size = \(-cache / 1024);
        PRAGMA mmap_size = \(Settings.memoryMapByteCount);
        PRAGMA journal_size_limit = \(Settings.checkpointByteCount);
        PRAGMA wal_autocheckpoint = \(Settings.checkpointPageCount);
        """)
  }

  func close() throws { try database.close() }

  var settings: String {
    get throws {
      func text(_ db: Database) throws -> String {
        try [
          "journal_mode", "synchronous", "cache_size", "mmap_size", "wal_autocheckpoint",
          "journal_size_limit",
        ]
        .map { "\($0) \(try String.fetchOne(db, sql: "PRAGMA \($0)") ?? "–")" }.joined(separator: ", ")
      }
      return "writer: \(try database.writeWithoutTransaction(text)); readers: \(try database.read(text))"
    }
  }

  private func who(_ peer: String) -> String { peer + suffix }

  var operations: [Operation] {
    switch form {
    case .columns: columnOperations
    case .json: documentOperations
    case .byHand: handOperations
    }
  }

  // MARK: All forms

  /// What inserts one person: made anew for each transaction, so that it can keep a statement.
  private typealias Inserting = (Database) throws -> (Person) throws -> Void

  private func changing(
    _ table: String, _ inserting: @escaping Inserting, deletedBy deleter: String,
    _ delete: @escaping (Database, String) throws -> Void
  ) -> [Operation] {
    let (database, workload) = (database, workload)
    func countRows() throws -> Int {
      try database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \(table)") ?? 0 }
    }
    func parkingAll(_ name: String, _ people: [Person]) -> Operation {
      Operation(
        name: name, who: who(form.rawValue), count: people.count,
        run: {
          try database.write { db in
            let insert = try inserting(db)
            for person in people { try insert(person) }
          }
        },
        verify: {
          let count = try countRows()
          try WrongResult.unless(count == people.count, "\(count) rows")
        })
    }
    return [
      parkingAll(Name.parkAll, workload.people),
      parkingAll(Name.parkShuffled, workload.shuffled),
      Operation(
        name: isInMemory ? Name.parkOneInMemory : Name.parkOne, who: who(form.rawValue),
        count: workload.additional.count,
        run: { for person in workload.additional { try database.write { try inserting($0)(person) } } },
        verify: {
          let count = try countRows()
          try WrongResult.unless(count == workload.people.count + workload.additional.count, "\(count) rows")
        }),
      Operation(
        name: Name.delete, who: who(deleter), count: workload.unwantedIDs.count,
        run: { try database.write { db in for id in workload.unwantedIDs { try delete(db, id) } } },
        verify: {
          let left = try countRows()
          let expected = workload.people.count + workload.additional.count - workload.unwantedIDs.count
          try WrongResult.unless(left == expected, "\(left) are left, not \(expected)")
        }),
    ]
  }

  /// Retrieves each in a transaction of its own, and all in one.
  private func retrieving(_ peer: String, _ fetch: @escaping (Database, String) throws -> Person?)
    -> [Operation]
  {
    let (database, workload) = (database, workload)
    let retrieved = Retrieved()
    let retrieve: (Range<Int>) throws -> Void = { range in
      for index in range {
        let person = try database.read { try fetch($0, workload.wantedIDs[index]) }
        if let person { retrieved.people.append(person) }
      }
    }
    return [
      Operation(
        name: Name.retrieve, who: who(peer), count: workload.wantedIDs.count,
        prepare: { retrieved.prepare(workload.wantedIDs.count) },
        run: { try retrieve(workload.wantedIDs.indices) }, runPart: retrieve,
        verify: { try retrieved.verify(workload.wantedPeople) }),
      Operation(
        name: Name.retrieveTogether, who: who(peer), count: workload.wantedIDs.count,
        prepare: { retrieved.prepare(workload.wantedIDs.count) },
        run: {
          try database.read { db in
            for id in workload.wantedIDs {
              if let person = try fetch(db, id) { retrieved.people.append(person) }
            }
          }
        },
        verify: { try retrieved.verify(workload.wantedPeople) }),
    ]
  }

  private func retrievingAll(_ peer: String, _ fetch: @escaping (Database) throws -> [Person]) -> Operation {
    let (database, workload) = (database, workload)
    let retrieved = Retrieved()
    return Operation(
      name: Name.retrieveAll, who: who(peer), count: workload.people.count,
      prepare: { retrieved.people = [] },
      run: { retrieved.people = try database.read(fetch) },
      verify: { try retrieved.verify(workload.people) })
  }

  // MARK: Each form

  private var columnOperations: [Operation] {
    changing(
      "person", { db in { try $0.insert(db) } }, deletedBy: form.rawValue
    ) { db, id in _ = try Person.deleteOne(db, key: id) }
      + retrieving("GRDB fetchOne") { db, id in try Person.fetchOne(db, key: id) }
      + retrieving("GRDB cached statement") { db, id in
        try Person.fetchOne(try db.cachedStatement(sql: "SELECT * FROM person WHERE id = ?"), arguments: [id])
      }
      + [retrievingAll("GRDB fetchAll") { try Person.fetchAll($0) }]
  }

  private var documentOperations: [Operation] {
    changing(
      "document", { db in { try PersonDocument($0).insert(db) } }, deletedBy: "GRDB cached statement"
    ) { db, id in
      try db.cachedStatement(sql: "DELETE FROM document WHERE id = ?").execute(arguments: [id])
    }
      + retrieving("GRDB JSON column") { db, id in
        let statement = try db.cachedStatement(sql: "SELECT id, json FROM document WHERE id = ?")
        return try PersonDocument.fetchOne(statement, arguments: [id])?.person
      }
      + [retrievingAll("GRDB JSON column") { try PersonDocument.fetchAll($0).map(\.person) }]
  }
  private var handOperations: [Operation] {
    changing("person", PersonRow.inserting, deletedBy: form.rawValue) { db, id in
      try db.cachedStatement(sql: "DELETE FROM person WHERE id = ?").execute(arguments: [id])
    }
      + retrieving(form.rawValue) { db, id in
        let statement = try db.cachedStatement(sql: "SELECT \(PersonRow.columns) FROM person WHERE id = ?")
        return try PersonRow.fetchOne(statement, arguments: [id])?.person
      }
      + [
        retrievingAll(form.rawValue) { db in
          var people: [Person] = []
          let statement = try db.makeStatement(sql: "SELECT \(PersonRow.columns) FROM person ORDER BY id")
          let rows = try Row.fetchCursor(statement)
          while let row = try rows.next() { people.append(PersonRow(row: row).person) }
          return people
        }
      ]
  }
}

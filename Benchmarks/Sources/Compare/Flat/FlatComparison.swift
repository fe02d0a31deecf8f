import Foundation
import GRDB
import GarageDriver
import GarageStorage

/// Objects that are one row of plain columns each, where a relational store has the least to do: the garage beside GRDB
/// with Codable records, and with rows read and written by hand; and beside a bare engine with what
/// `Codable` itself takes.
struct FlatComparison {
  let folder: URL
  /// The stores to open; all where it is empty.
  let only: [String]
  let isWanted: (String) -> Bool

  static let objects: [any FlatObject.Type] = [
    FlatPair.self, FlatProduct.self, FlatContact.self, FlatReading.self,
  ]
  /// Says all of them, as the name of a row for `--only`.
  static let allName = "flat"
  static func parkName(_ title: String) -> String { "park \(title)" }
  static func retrieveAllName(_ title: String) -> String { "retrieveAll \(title)" }
  static let records = "GRDB columns"
  static let byHand = "GRDB by hand"
  static let raw = RawCodingStore.who
  static let titles = objects.map { $0.title }
  static let names = [allName] + titles.flatMap { [parkName($0), retrieveAllName($0)] }
  private static let count = 50_000

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    var samples = Samples()
    let wanted = Self.objects.filter {
      isWanted(Self.allName) || isWanted(Self.parkName($0.title)) || isWanted(Self.retrieveAllName($0.title))
    }
    try rounds.run("flat objects") { round in
      samples.beginRound()
      for type in wanted { try measure(type, round, &samples) }
    }
    return wanted.flatMap { type in
      Self.rows(Self.parkName(type.title), samples) + Self.rows(Self.retrieveAllName(type.title), samples)
    }
  }

  private static func rows(_ name: String, _ samples: Samples) -> [ResultRow] {
    var rows: [ResultRow?] = []
    for subject in ["memory", "sqlite", "lmdb"] {
      for peer in [records, byHand] {
        let who = peer + (subject == "memory" ? ", in memory" : "")
        rows.append(ResultRow(name, subject, peer, who: who, samples))
      }
      rows.append(ResultRow(name, subject, raw, who: raw + subject, samples))
    }
    rows.append(ResultRow(name, raw, byHand, ours: raw + "sqlite", samples))
    return rows.compactMap { $0 }
  }

  private func measure<T: FlatObject>(_ type: T.Type, _ round: Int, _ samples: inout Samples) throws {
    let root = folder.appending(path: "garage-compare-flat-\(getpid())")
    defer { try? FileManager.default.removeItem(at: root) }
    func place(_ name: String) throws -> URL {
      let folder = root.appending(path: name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return folder
    }
    let objects = T.makeAll(Self.count)
    var stores: [FlatStore<T>] = []
    func add(_ name: String, _ make: () throws -> FlatStore<T>) throws {
      if only.isEmpty || only.contains(name) { stores.append(try make()) }
    }
    try add("memory") { try .garage("memory", GarageStore.memoryDriver()) }
    try add("sqlite") { try .garage("sqlite", GarageStore.sqliteDriver(at: place("sqlite"))) }
    try add("lmdb") { try .garage("lmdb", GarageStore.lmdbDriver(at: place("lmdb"))) }
    for (isByHand, name) in [(false, Self.records), (true, Self.byHand)] {
      try add(name) { try .grdb(name, at: place(name), isByHand: isByHand) }
      try add(name) { try .grdb(name + ", in memory", at: nil, isByHand: isByHand) }
    }
    try add(Self.raw) { try .raw("sqlite", .sqlite(at: place(Self.raw)), objects) }
    try add(Self.raw) { try .raw("lmdb", .lmdb(at: place(Self.raw + " LMDB")), objects) }
    for store in stores.rotated(by: round) {
      try samples.measure(
        Operation(
          name: Self.parkName(T.title), who: store.who, count: objects.count,
          run: { try store.park(objects) },
          verify: {}))
    }
    // Often, and in turn: each run is short.
    for pass in 0..<5 {
      for store in stores.rotated(by: round + pass) {
        var found: [T] = []
        try samples.measure(
          Operation(
            name: Self.retrieveAllName(T.title), who: store.who, count: objects.count,
            run: { found = try store.retrieveAll() },
            verify: { try WrongResult.unless(found == objects, "other objects came back") }))
      }
    }
    for store in stores { try store.close() }
  }
}

/// Keeps objects of one type.
private struct FlatStore<T: FlatObject> {
  let who: String
  let park: ([T]) throws -> Void
  /// In the order of their identifiers.
  let retrieveAll: () throws -> [T]
  let close: () throws -> Void

  static func garage(_ who: String, _ driver: any StorageDriver) throws -> FlatStore {
    let garage = try GarageStore.garage(driver)
    return FlatStore(
      who: who, park: { try garage.parkAll($0) }, retrieveAll: { try garage.retrieveAll(T.self) },
      close: { try garage.close() })
  }

  /// The garage's keys and values in a bare engine. In, each object is encoded by an encoder that writes nothing; out, the
  /// values are compared with the expected ones, and the objects are made of what stands ready in memory.
  static func raw(_ subject: String, _ engine: RawEngine, _ objects: [T]) throws -> FlatStore {
    let (entries, replay) = (try Entries(objects), try Replay(objects))
    return FlatStore(
      who: FlatComparison.raw + subject,
      park: { objects in
        for object in objects { try object.encode(to: EmptyEncoder()) }
        let code = entries.withRaw { engine.putAll($0, nil) }
        try WrongResult.unless(code == 0, "the engine returned \(code)")
      },
      retrieveAll: {
        let equal = entries.withRaw(engine.scan)
        try WrongResult.unless(equal == entries.count, "\(equal) of \(entries.count) values are as expected")
        return try replay.objects(T.self, count: equal)
      },
      close: engine.close)
  }

  static func grdb(_ who: String, at folder: URL?, isByHand: Bool) throws -> FlatStore {
    let database = try GRDBStore.open(at: folder)
    try database.write { try T.makeTable($0) }
    return FlatStore(
      who: who,
      park: { objects in
        try database.write { db in
          if isByHand { return try insert(objects, db) }
          for object in objects { try object.insert(db) }
        }
      },
      retrieveAll: {
        try database.read { db in
          isByHand ? try select(db) : try T.fetchAll(db, sql: "SELECT * FROM flat ORDER BY id")
        }
      },
      close: { try database.close() })
  }

  private static func insert(_ objects: [T], _ db: Database) throws {
    let places = T.columns.map { _ in "?" }.joined(separator: ", ")
    let statement = try db.cachedStatement(sql: "INSERT INTO flat VALUES (\(places))")
    for object in objects { try statement.execute(arguments: object.arguments) }
  }

  private static func select(_ db: Database) throws -> [T] {
    let names = T.columns.map(\.name).joined(separator: ", ")
    let rows = try Row.fetchCursor(db.cachedStatement(sql: "SELECT \(names) FROM flat ORDER BY id"))
    var objects: [T] = []
    while let row = try rows.next() { objects.append(T.read(row)) }
    return objects
  }
}

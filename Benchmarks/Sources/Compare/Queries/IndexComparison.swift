import Foundation
import GRDB
import GarageStorage

/// Questions that indexes answer, beside the same in SQL with the same indexes; and what indexes cost when objects are
/// parked, beside the same without.
struct IndexComparison {
  let folder: URL
  /// The stores to open; all where it is empty.
  let only: [String]
  let isWanted: (String) -> Bool
  let count: Int

  /// Says all of them, as the name of a row for `--only`.
  static let allName = "indexes"
  static let parkOne = "park with 1 index"
  static let parkThree = "park with 3 indexes"
  static let parkReferrers = "park with an index of references"
  static let referrersName = "referrers of the most referred"
  static let names =
    [allName, parkOne, parkThree, parkReferrers, referrersName] + Question.all.map { $0.name }
  static let records = "GRDB columns"
  static let none = "no index"

  /// One question, and how each of those asked answers it.
  struct Question: Sendable {
    var name: String
    var garage: @Sendable (Garage, Int) throws -> Answer
    var filter: @Sendable ([IndexedVisitor], Int) -> Answer
    var sql: @Sendable (Database, Int) throws -> Answer
  }

  /// What a question leads to.
  enum Answer: Equatable {
    case visitors([IndexedVisitor])
    case number(Int)
  }

  private func isAsked(_ name: String) -> Bool { isWanted(Self.allName) || isWanted(name) }

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    let visitors = Visitor.make(count)
    let correspondents = Correspondent.make(63_000)
    var samples = Samples()
    try rounds.run("indexes") { round in
      samples.beginRound()
      try runRound(round, visitors, correspondents, &samples)
    }
    let subjects = ["memory", "sqlite", "lmdb"]
    let costs = [Self.parkOne, Self.parkThree, Self.parkReferrers, Self.referrersName].flatMap { name in
      subjects.compactMap { ResultRow(name, $0, Self.none, who: "\($0), \(Self.none)", samples) }
    }
    return costs
      + Question.all.flatMap { question in
        subjects.compactMap { subject in
          ResultRow(
            question.name, subject, Self.records,
            who: Self.records + (subject == "memory" ? ", in memory" : ""), samples)
        }
      }
  }

  private func runRound(
    _ round: Int, _ visitors: [Visitor], _ correspondents: [Correspondent], _ samples: inout Samples
  ) throws {
    let root = folder.appending(path: "garage-compare-indexes-\(getpid())")
    defer { try? FileManager.default.removeItem(at: root) }
    let subjects = ["memory", "sqlite", "lmdb"].filter { only.isEmpty || only.contains($0) }
    func garage(_ subject: String, _ name: String, _ referrers: ReferrerOption = .asStored) throws -> Garage {
      let folder = root.appending(path: "\(subject) \(name)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      switch subject {
      case "memory": return try Garage(GarageStore.memoryDriver(), referrers: referrers)
      case "sqlite": return try Garage(GarageStore.sqliteDriver(at: folder), referrers: referrers)
      default: return try Garage(GarageStore.lmdbDriver(at: folder), referrers: referrers)
      }
    }
    let once = visitors.map(OnceIndexedVisitor.init)
    let thrice = visitors.map(IndexedVisitor.init)
    func measure<T: Codable & Identifiable>(
      _ name: String, _ who: String, _ garage: Garage, _ objects: [T]
    ) throws {
      if !isAsked(name) { return }
      try samples.measure(
        Operation(
          name: name, who: who, count: objects.count, run: { try garage.parkAll(objects) },
          verify: { try WrongResult.unless(garage.count(T.self) == objects.count, "another count") }))
    }
    var asked: [(who: String, garage: Garage)] = []
    for subject in subjects.rotated(by: round) {
      let plain = try [garage(subject, "plain 1"), garage(subject, "plain 3"), garage(subject, "plain r")]
      let indexed = try [
        garage(subject, "one"), garage(subject, "three"), garage(subject, "referrers", .indexed),
      ]
      let none = "\(subject), \(Self.none)"
      try measure(Self.parkOne, none, plain[0], visitors)
      try measure(Self.parkOne, subject, indexed[0], once)
      try measure(Self.parkThree, none, plain[1], visitors)
      try measure(Self.parkThree, subject, indexed[1], thrice)
      if !isAsked(Self.parkThree) { try indexed[1].parkAll(thrice) }
      try measure(Self.parkReferrers, none, plain[2], correspondents)
      try measure(Self.parkReferrers, subject, indexed[2], correspondents)
      if isAsked(Self.referrersName) {
        let expected = correspondents.count {
          $0.friends.contains(Reference(Correspondent.self, identifier: 0))
        }
        for (who, garage) in [(none, plain[2]), (subject, indexed[2])] {
          if try garage.count(Correspondent.self) == 0 { try garage.parkAll(correspondents) }
          var found = 0
          try samples.measure(
            Operation(
              name: Self.referrersName, who: who, count: 1,
              run: { found = try garage.referrers(of: Correspondent.self, identifier: 0).count },
              verify: { try WrongResult.unless(found == expected, "\(found) and not \(expected)") }))
        }
      }
      for garage in plain + [indexed[0], indexed[2]] { try garage.close() }
      asked.append((subject, indexed[1]))
    }
    try ask(round, asked, thrice, root, &samples)
    for (_, garage) in asked { try garage.close() }
  }

  /// Asks all garages, and the database with the same indexes.
  private func ask(
    _ round: Int, _ garages: [(who: String, garage: Garage)], _ visitors: [IndexedVisitor], _ root: URL,
    _ samples: inout Samples
  ) throws {
    let questions = Question.all.filter { isAsked($0.name) }
    if questions.isEmpty { return }
    var databases: [(suffix: String, database: any DatabaseWriter)] = []
    if only.isEmpty || only.contains(Self.records) {
      let place = root.appending(path: "grdb")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      databases = [("", try GRDBStore.open(at: place)), (", in memory", try GRDBStore.open(at: nil))]
    }
    for (_, database) in databases {
      try database.write { db in
        try IndexedVisitor.makeTable(db)
        for visitor in visitors { try visitor.insert(db) }
      }
    }
    for question in questions {
      let expected = question.filter(visitors, count)
      var operations: [Operation] = []
      func add(_ who: String, _ run: @escaping () throws -> Answer) {
        var answer: Answer?
        operations.append(
          Operation(
            name: question.name, who: who, count: 1, run: { answer = try run() },
            verify: { try WrongResult.unless(answer == expected, "another answer") }))
      }
      for (who, garage) in garages { add(who) { try question.garage(garage, count) } }
      for (suffix, database) in databases {
        add(Self.records + suffix) { try database.read { try question.sql($0, count) } }
      }
      for pass in 0..<3 {
        for operation in operations.rotated(by: round + pass) {
          try samples.measure(operation, verifies: pass == 0)
        }
      }
    }
    for (_, database) in databases { try database.close() }
  }
}

extension IndexComparison.Question {
  typealias Question = IndexComparison.Question

  static let all: [Question] = [onePercent, oneObject, tenPercent, firstSorted, pair]

  private static let onePercent = Question(
    name: "index range of 1 %",
    garage: { .visitors(try $0.query(IndexedVisitor.self).where(\.visits < $1 / 100).retrieveAll()) },
    filter: { visitors, count in .visitors(visitors.filter { $0.visits < count / 100 }) },
    sql: { db, count in
      .visitors(
        try IndexedVisitor.fetchAll(
          db, sql: "SELECT * FROM visitor WHERE visits < ? ORDER BY id", arguments: [count / 100]))
    })

  private static let oneObject = Question(
    name: "index equality, one object",
    garage: { .visitors(try $0.query(IndexedVisitor.self).where(\.visits == $1 / 2).retrieveAll()) },
    filter: { visitors, count in .visitors(visitors.filter { $0.visits == count / 2 }) },
    sql: { db, count in
      .visitors(
        try IndexedVisitor.fetchAll(
          db, sql: "SELECT * FROM visitor WHERE visits = ?", arguments: [count / 2]))
    })

  private static let tenPercent = Question(
    name: "index count of 10 %",
    garage: { .number(try $0.query(IndexedVisitor.self).where(\.visits < $1 / 10).count()) },
    filter: { visitors, count in .number(visitors.count { $0.visits < count / 10 }) },
    sql: { db, count in
      .number(
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM visitor WHERE visits < ?", arguments: [count / 10])
          ?? -1)
    })

  private static let firstSorted = Question(
    name: "index sorted, the first 20",
    garage: { garage, _ in
      .visitors(
        try garage.query(IndexedVisitor.self).sorted(by: \.visits, .descending).limit(20).retrieveAll())
    },
    filter: { visitors, _ in .visitors(Array(visitors.sorted { $0.visits > $1.visits }.prefix(20))) },
    sql: { db, _ in
      .visitors(try IndexedVisitor.fetchAll(db, sql: "SELECT * FROM visitor ORDER BY visits DESC LIMIT 20"))
    })

  private static let pair = Question(
    name: "index of two properties",
    garage: { garage, _ in
      .visitors(
        try garage.query(IndexedVisitor.self).where(\.city == "green" && \.age == 40...45).retrieveAll())
    },
    filter: { visitors, _ in .visitors(visitors.filter { $0.city == "green" && 40...45 ~= $0.age }) },
    sql: { db, _ in
      .visitors(
        try IndexedVisitor.fetchAll(
          db, sql: "SELECT * FROM visitor WHERE city = 'green' AND age BETWEEN 40 AND 45 ORDER BY id"))
    })
}

import Foundation
import GRDB
import GarageDriver
import GarageStorage

/// Questions to a hundred thousand objects without an index, beside the same in SQL.
///
/// Each answer is a single figure or list that is compared with what a filter over all objects gives.
struct QueryComparison {
  let folder: URL
  /// The stores to open; all where it is empty.
  let only: [String]
  let isWanted: (String) -> Bool
  let count: Int

  /// Says all of them, as the name of a row for `--only`.
  static let allName = "queries"
  static let names = [allName] + Question.all.map { $0.name }
  static let records = QueriedStores.records
  static let byHand = "GRDB by hand"
  /// The engine goes through the records, in C, and nothing is asked of them: no filter over records takes less.
  static let scan = "a scan in C"
  /// All objects are retrieved and filtered, by the same store.
  static let decoding = "decoding all"

  /// One question, and how each of those asked answers it.
  struct Question: Sendable {
    var name: String
    var garage: @Sendable (Garage, Int) throws -> Answer
    /// The answer after everything was retrieved.
    var filter: @Sendable ([Visitor], Int) -> Answer
    var sql: @Sendable (Database, Int) throws -> Answer
    var sqlByHand: (@Sendable (Database, Int) throws -> Answer)?
  }

  /// What a question leads to.
  enum Answer: Equatable {
    case visitors([Visitor])
    case texts([String])
    case number(Int)
  }

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    let questions = Question.all.filter { isWanted(Self.allName) || isWanted($0.name) }
    let visitors = Visitor.make(count)
    var samples = Samples()
    try rounds.run("queries") { round in
      samples.beginRound()
      try runRound(round, questions, visitors, &samples)
    }
    return questions.flatMap { question in
      ["memory", "sqlite", "lmdb"].flatMap { subject -> [ResultRow] in
        let suffix = subject == "memory" ? ", in memory" : ""
        return [Self.records, Self.byHand].compactMap {
          ResultRow(question.name, subject, $0, who: $0 + suffix, samples)
        }
          + [
            ResultRow(question.name, subject, Self.decoding, who: "\(subject), \(Self.decoding)", samples),
            ResultRow(question.name, subject, Self.scan, who: Self.scan(subject), samples),
            ResultRow(question.name, Self.scan(subject), Self.records, samples),
          ].compactMap { $0 }
      }
    }
  }

  private static func scan(_ subject: String) -> String { "\(subject), \(scan)" }

  private func runRound(
    _ round: Int, _ questions: [Question], _ visitors: [Visitor], _ samples: inout Samples
  ) throws {
    let root = folder.appending(path: "garage-compare-queries-\(getpid())")
    defer { try? FileManager.default.removeItem(at: root) }
    let stores = try QueriedStores(only, below: root)
    let bare = try only.isEmpty || only.contains(Self.scan) ? RawQuestions(visitors, below: root) : nil
    for (_, garage) in stores.garages { try garage.parkAll(visitors) }
    for (_, database) in stores.databases {
      try database.write { db in
        try Visitor.makeTable(db)
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
      for (who, garage) in stores.garages {
        add(who) { try question.garage(garage, count) }
        add("\(who), \(Self.decoding)") { question.filter(try garage.retrieveAll(Visitor.self), count) }
      }
      for (suffix, database) in stores.databases {
        add(Self.records + suffix) { try database.read { try question.sql($0, count) } }
        if let byHand = question.sqlByHand {
          add(Self.byHand + suffix) { try database.read { try byHand($0, count) } }
        }
      }
      if question.name == Question.onePercent, let bare { operations += bare.scans(question.name, who: Self.scan) }
      for pass in 0..<3 {
        for operation in operations.rotated(by: round + pass) {
          try samples.measure(operation, verifies: pass == 0)
        }
      }
    }
    try stores.close()
    bare?.close()
  }
}

extension QueryComparison.Question {
  typealias Answer = QueryComparison.Answer

  /// The one that the goals speak of.
  static let onePercent = "query 1 % of a number"

  static let all: [QueryComparison.Question] = [
    onePercentOfANumber, severalConditions, countOfTenPercent, oneField, sumOfAll, firstOfSorted,
  ]

  private static let onePercentOfANumber = QueryComparison.Question(
    name: onePercent,
    garage: { .visitors(try $0.query(Visitor.self).where(\.visits < $1 / 100).retrieveAll()) },
    filter: { visitors, count in .visitors(visitors.filter { $0.visits < count / 100 }) },
    sql: { db, count in
      .visitors(
        try Visitor.fetchAll(
          db, sql: "SELECT * FROM visitor WHERE visits < ? ORDER BY id", arguments: [count / 100]))
    },
    sqlByHand: { db, count in
      .visitors(try visitors(db, "WHERE visits < ? ORDER BY id", [count / 100]))
    })

  private static let severalConditions = QueryComparison.Question(
    name: "query two conditions and a prefix",
    garage: { garage, _ in
      .visitors(
        try garage.query(Visitor.self)
          .where(\.age >= 90 && \.city == "green" && \.name == .hasPrefix("ri")).retrieveAll())
    },
    filter: { visitors, _ in
      .visitors(visitors.filter { $0.age >= 90 && $0.city == "green" && $0.name.hasPrefix("ri") })
    },
    sql: { db, _ in
      .visitors(
        try Visitor.fetchAll(
          db, sql: "SELECT * FROM visitor WHERE age >= 90 AND city = 'green' AND name GLOB 'ri*' ORDER BY id")
      )
    },
    sqlByHand: { db, _ in
      .visitors(try visitors(db, "WHERE age >= 90 AND city = 'green' AND name GLOB 'ri*' ORDER BY id", []))
    })

  private static let countOfTenPercent = QueryComparison.Question(
    name: "query count of 10 %",
    garage: { .number(try $0.query(Visitor.self).where(\.visits < $1 / 10).count()) },
    filter: { visitors, count in .number(visitors.count { $0.visits < count / 10 }) },
    sql: { db, count in
      .number(
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM visitor WHERE visits < ?", arguments: [count / 10])
          ?? -1)
    })

  private static let oneField = QueryComparison.Question(
    name: "query one field of all",
    garage: { garage, _ in .texts(try garage.query(Visitor.self).values(\.email)) },
    filter: { visitors, _ in .texts(visitors.map(\.email)) },
    sql: { db, _ in .texts(try String.fetchAll(db, sql: "SELECT email FROM visitor ORDER BY id")) })

  private static let sumOfAll = QueryComparison.Question(
    name: "query sum of all",
    garage: { garage, _ in .number(try garage.query(Visitor.self).sum(\.visits)) },
    filter: { visitors, _ in .number(visitors.reduce(0) { $0 + $1.visits }) },
    sql: { db, _ in .number(try Int.fetchOne(db, sql: "SELECT SUM(visits) FROM visitor") ?? -1) })

  private static let firstOfSorted = QueryComparison.Question(
    name: "query sorted, the first 20",
    garage: { garage, _ in
      .visitors(try garage.query(Visitor.self).sorted(by: \.visits, .descending).limit(20).retrieveAll())
    },
    filter: { visitors, _ in .visitors(Array(visitors.sorted { $0.visits > $1.visits }.prefix(20))) },
    sql: { db, _ in
      .visitors(try Visitor.fetchAll(db, sql: "SELECT * FROM visitor ORDER BY visits DESC LIMIT 20"))
    },
    sqlByHand: { db, _ in .visitors(try visitors(db, "ORDER BY visits DESC LIMIT 20", [])) })

  private static func visitors(_ db: Database, _ rest: String, _ arguments: StatementArguments) throws
    -> [Visitor]
  {
    let statement = try db.cachedStatement(sql: "SELECT \(Visitor.columns) FROM visitor \(rest)")
    let rows = try Row.fetchCursor(statement, arguments: arguments)
    var visitors: [Visitor] = []
    while let row = try rows.next() { visitors.append(Visitor.read(row)) }
    return visitors
  }
}

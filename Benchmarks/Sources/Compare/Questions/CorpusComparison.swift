import Foundation
import GRDB
import GarageStorage

/// Many questions to a hundred thousand consignments, most of them no must asks for: each beside the same in SQL, with the same
/// indexes, through GRDB's records. What is measured is the machinery behind queries, and not one of its ways.
struct CorpusComparison {
  let folder: URL
  /// The stores to open; all where it is empty.
  let only: [String]
  let isWanted: (String) -> Bool
  let count: Int

  /// Says all of them, as the name of a row for `--only`.
  static let allName = "questions"
  static let meanName = "questions, geometric mean"
  static let slowestName = "questions, the slowest"
  static let names = [allName] + Question.all.map { $0.name }
  static let records = QueriedStores.records

  /// One question, and how each of those asked answers it.
  struct Question: Sendable {
    var name: String
    var garage: @Sendable (Garage) throws -> Answer
    var filter: @Sendable ([Consignment]) -> Answer
    var sql: @Sendable (Database) throws -> Answer
    /// Whether it changes objects: such questions are asked last, and in a write.
    var isChange = false

    init(
      _ title: String, isChange: Bool = false, _ garage: @escaping @Sendable (Garage) throws -> Answer,
      filter: @escaping @Sendable ([Consignment]) -> Answer,
      sql: @escaping @Sendable (Database) throws -> Answer
    ) {
      name = "question: \(title)"
      (self.garage, self.filter, self.sql, self.isChange) = (garage, filter, sql, isChange)
    }
  }

  /// What a question leads to.
  enum Answer: Equatable {
    case objects([Consignment])
    case texts([String])
    case numbers([Int])
    case number(Double?)
    case counts([String: Int])
  }

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    let questions = Question.all.filter { isWanted(Self.allName) || isWanted($0.name) }
    let consignments = Consignment.make(count)
    var samples = Samples()
    try rounds.run("questions") { round in
      samples.beginRound()
      try runRound(round, questions, consignments, &samples)
    }
    return ["memory", "sqlite", "lmdb"].flatMap { subject -> [ResultRow] in
      let suffix = subject == "memory" ? ", in memory" : ""
      let rows = questions.compactMap {
        ResultRow($0.name, subject, Self.records, who: Self.records + suffix, samples)
      }
      if rows.count < 2 { return rows }
      let slowest = ResultRow(slowestOf: rows, Self.slowestName) { $0.name }
      return rows + [ResultRow(meanOf: rows, Self.meanName)] + [slowest].compactMap { $0 }
    }
  }

  private func runRound(
    _ round: Int, _ questions: [Question], _ consignments: [Consignment], _ samples: inout Samples
  ) throws {
    let root = folder.appending(path: "garage-compare-questions-\(getpid())")
    defer { try? FileManager.default.removeItem(at: root) }
    let stores = try QueriedStores(only, below: root)
    for (_, garage) in stores.garages { try garage.parkAll(consignments) }
    for (_, database) in stores.databases {
      try database.write { db in
        try Consignment.makeTable(db)
        for consignment in consignments { try consignment.insert(db) }
      }
    }
    for question in questions.filter({ !$0.isChange }) + questions.filter(\.isChange) {
      try ask(question, round, stores, expected: question.filter(consignments), &samples)
    }
    try stores.close()
  }

  private func ask(
    _ question: Question, _ round: Int, _ stores: QueriedStores, expected: Answer, _ samples: inout Samples
  ) throws {
    var operations: [Operation] = []
    func add(_ who: String, _ run: @escaping () throws -> Answer) {
      var answer: Answer?
      operations.append(
        Operation(
          name: question.name, who: who, count: 1, run: { answer = try run() },
          verify: { try WrongResult.unless(answer == expected, "another answer") }))
    }
    for (who, garage) in stores.garages { add(who) { try question.garage(garage) } }
    for (suffix, database) in stores.databases {
      add(Self.records + suffix) {
        try question.isChange
          ? database.write { try question.sql($0) } : database.read { try question.sql($0) }
      }
    }
    for pass in 0..<4 {
      for operation in operations.rotated(by: round + pass) {
        try samples.measure(operation, verifies: pass == 0)
      }
    }
  }
}

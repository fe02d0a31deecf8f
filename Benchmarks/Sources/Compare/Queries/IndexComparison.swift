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
  static let replaceThree = "replace with 3 indexes, half changed"
  static let fillName = "fill an index"
  static let names =
    [allName, parkOne, parkThree, replaceThree, parkReferrers, referrersName, fillName]
    + Question.all.map { $0.name }
  static let records = "GRDB columns"
  static let cached = "GRDB cached statement"
  static let byHand = "GRDB by hand"
  static let none = "no index"
  /// The same objects are retrieved one by one, by the same store.
  static let byIdentifier = "by identifier"

  /// One question, and how each of those asked answers it.
  struct Question: Sendable {
    var name: String
    /// How many times it is asked in one go.
    var count = 1
    /// What it may take at most, in nanoseconds on memory, SQLite and LMDB.
    var limits: [Double]?
    var garage: @Sendable (Garage, Int) throws -> Answer
    var filter: @Sendable ([IndexedVisitor], Int) -> Answer
    /// What GRDB's query interface makes of it, each question in a read of its own, as ours are.
    var request: @Sendable (any DatabaseReader, Int) throws -> Answer
    /// The same with a statement that is kept.
    var cached: (@Sendable (any DatabaseReader, Int) throws -> Answer)?
    /// With a statement that is kept, columns read one by one, and all in one read.
    var byHand: (@Sendable (any DatabaseReader, Int) throws -> Answer)?
    /// The identifiers of what is found, where that is compared with retrieving it by these.
    var isComparedWithGets = false
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
    let costs = [Self.parkOne, Self.parkThree, Self.replaceThree, Self.parkReferrers, Self.referrersName]
      .flatMap {
        name in
        subjects.compactMap { ResultRow(name, $0, Self.none, who: "\($0), \(Self.none)", samples) }
      }
    func absolute(_ name: String, _ limits: [Double]) -> [ResultRow] {
      zip(subjects, limits).compactMap { ResultRow(name, $0, atMost: $1, samples) }
    }
    return costs + Self.entryRows(samples) + absolute(Self.referrersName, [2e6, 4e6, 2e6])
      + absolute(Self.fillName, [60e6, 180e6, 60e6].map { $0 / Double(count) })
      + Question.all.flatMap { question in
        subjects.flatMap { subject in
          let suffix = subject == "memory" ? ", in memory" : ""
          return [
            ResultRow(question.name, subject, Self.records, who: Self.records + suffix, samples),
            ResultRow(question.name, subject, Self.cached, who: Self.cached + suffix, samples),
            ResultRow(question.name, subject, Self.byHand, who: Self.byHand + suffix, samples),
            ResultRow(
              question.name, subject, Self.byIdentifier, who: "\(subject), \(Self.byIdentifier)", samples),
            ResultRow(
              question.name, subject, RawCodingStore.who, who: RawQuestions.who(subject), samples),
            ResultRow(question.name, RawQuestions.who(subject), Self.records, samples),
            ResultRow(question.name, RawQuestions.who(subject), Self.cached, samples),
            ResultRow(
              question.name, Self.entryAlone(subject), Self.byIdentifier, who: "\(subject), \(Self.byIdentifier)", samples),
          ].compactMap { $0 }
        } + absolute(question.name, question.limits ?? [])
      }
  }

  /// What the entries alone take in a bare engine, beside what a garage without the index takes for all: whoever keeps the entries
  /// in the same engine adds no less.
  private static func entryRows(_ samples: Samples) -> [ResultRow] {
    [parkThree, parkReferrers].flatMap { name in
      ["sqlite", "lmdb"].compactMap {
        ResultRow(name, rawEntries($0), none, who: "\($0), \(none)", samples)
      }
    }
  }

  /// The entry of one object is got by its key, in a bare engine: what a question by a value needs beside the object.
  private static func entryAlone(_ subject: String) -> String { "\(subject), the entry alone in C" }

  private static func rawEntries(_ subject: String) -> String { "\(subject), the entries alone in C" }

  private func measureRawEntries(
    _ name: String, _ subject: String, _ entries: Entries, of count: Int, _ root: URL, _ samples: inout Samples
  ) throws {
    if !isAsked(name) || subject == "memory" { return }
    let folder = root.appending(path: "entries \(subject)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let engine = try subject == "sqlite" ? RawEngine.sqlite(at: folder) : .lmdb(at: folder)
    defer { engine.close() }
    var code: Int32 = 0
    try samples.measure(
      Operation(
        name: name, who: Self.rawEntries(subject), count: count,
        run: { code = entries.withRaw { engine.putAll($0, nil) } },
        verify: { try WrongResult.unless(code == 0, "the engine returned \(code)") }))
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
    let entries = try isAsked(Self.parkThree) ? Entries(ofIndexesOf: thrice) : Entries()
    let referrers = try isAsked(Self.parkReferrers) ? Entries(ofIndexesOf: correspondents, referrers: .indexed) : Entries()
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
      try measureRawEntries(Self.parkThree, subject, entries, of: visitors.count, root, &samples)
      if !isAsked(Self.parkThree) { try indexed[1].parkAll(thrice) }
      if isAsked(Self.replaceThree) {
        if !isAsked(Self.parkThree) { try plain[1].parkAll(visitors) }
        let changed = visitors.map { $0.id % 2 == 0 ? $0 : $0.moved(by: count) }
        try measure(Self.replaceThree, none, plain[1], changed)
        try measure(Self.replaceThree, subject, indexed[1], changed.map(IndexedVisitor.init))
        try indexed[1].parkAll(thrice)
      }
      try measureFilling(subject, indexed[0], once, &samples)
      try measure(Self.parkReferrers, none, plain[2], correspondents)
      try measure(Self.parkReferrers, subject, indexed[2], correspondents)
      try measureRawEntries(Self.parkReferrers, subject, referrers, of: correspondents.count, root, &samples)
      try measureReferrers([(none, plain[2]), (subject, indexed[2])], correspondents, &samples)
      for garage in plain + [indexed[0], indexed[2]] { try garage.close() }
      asked.append((subject, indexed[1]))
    }
    try ask(round, asked, thrice, visitors, root, &samples)
    for (_, garage) in asked { try garage.close() }
  }

  /// An index that was dropped is made again.
  private func measureFilling(
    _ who: String, _ garage: Garage, _ visitors: [OnceIndexedVisitor], _ samples: inout Samples
  ) throws {
    if !isAsked(Self.fillName) { return }
    if !isAsked(Self.parkOne) { try garage.parkAll(visitors) }
    _ = try garage.query(OnceIndexedVisitor.self).where(\.visits == 0).count()
    try garage.dropIndex("visits", of: OnceIndexedVisitor.self)
    try samples.measure(
      Operation(
        name: Self.fillName, who: who, count: visitors.count, run: { try garage.buildIndexes() },
        verify: {
          let entries = try garage.indexes(of: OnceIndexedVisitor.self).first?.entries
          try WrongResult.unless(entries == visitors.count, "not filled")
        }))
  }

  private func measureReferrers(
    _ garages: [(who: String, garage: Garage)], _ correspondents: [Correspondent], _ samples: inout Samples
  ) throws {
    if !isAsked(Self.referrersName) { return }
    let expected = correspondents.count { $0.friends.contains(Reference(Correspondent.self, identifier: 0)) }
    for (who, garage) in garages {
      if try garage.count(Correspondent.self) == 0 { try garage.parkAll(correspondents) }
      var found = 0
      try samples.measure(
        Operation(
          name: Self.referrersName, who: who, count: 1,
          run: { found = try garage.referrers(of: Correspondent.self, identifier: 0).count },
          verify: { try WrongResult.unless(found == expected, "\(found) and not \(expected)") }))
    }
  }

  /// Asks all garages, and the database with the same indexes.
  private func ask(
    _ round: Int, _ garages: [(who: String, garage: Garage)], _ visitors: [IndexedVisitor], _ plain: [Visitor],
    _ root: URL, _ samples: inout Samples
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
    let raw = try only.isEmpty || only.contains(RawCodingStore.who) ? RawQuestions(plain, below: root) : nil
    for question in questions {
      let expected = question.filter(visitors, count)
      var operations: [Operation] = []
      func add(_ who: String, _ run: @escaping () throws -> Answer) {
        var answer: Answer?
        operations.append(
          Operation(
            name: question.name, who: who, count: question.count, run: { answer = try run() },
            verify: { try WrongResult.unless(answer == expected, "another answer") }))
      }
      for (who, garage) in garages {
        add(who) { try question.garage(garage, count) }
        guard question.isComparedWithGets, case .visitors(let found) = expected else { continue }
        let identifiers = found.map(\.id)
        add("\(who), \(Self.byIdentifier)") {
          .visitors(try identifiers.compactMap { try garage.retrieve(IndexedVisitor.self, identifier: $0) })
        }
      }
      for (suffix, database) in databases {
        add(Self.records + suffix) { try question.request(database, count) }
        if let cached = question.cached { add(Self.cached + suffix) { try cached(database, count) } }
        if let byHand = question.byHand { add(Self.byHand + suffix) { try byHand(database, count) } }
      }
      if let raw, case .visitors(let found) = expected {
        operations += try raw.operations(question.name, found, times: question.count)
        if question.name == Question.oneObject.name {
          // Values are 0, 1, 2 …, as are the places of their entries.
          operations += try raw.gets(
            question.name, Entries(ofIndexesOf: plain.map(OnceIndexedVisitor.init)), found.map { UInt32($0.visits) },
            who: Self.entryAlone)
        }
      }
      // Who comes second finds in the processor's caches what the first one read: each is that as often as the other.
      for pass in 0..<4 {
        let turn = operations.rotated(by: round + pass)
        for operation in pass % 2 == 0 ? turn : turn.reversed() {
          try samples.measure(operation, verifies: pass == 0)
        }
      }
    }
    for (_, database) in databases { try database.close() }
    raw?.close()
  }
}

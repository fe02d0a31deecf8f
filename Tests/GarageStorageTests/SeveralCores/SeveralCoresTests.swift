import Foundation
import GarageStorage
import Synchronization
import Testing

/// What several cores code together is what one codes alone: same objects, same order, same errors.
@Suite struct SeveralCoresTests {
  private struct Leaf: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var text: String
    var numbers: [Double]
    var next: Box?

    struct Box: Codable, Equatable, Sendable { var values: [String: Int] }
  }

  /// Holds another object now and then.
  private struct Branch: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var leaf: Leaf?
    var other: Reference<Leaf>?
    var text = String(repeating: "t", count: 100)
  }

  private static func leaves(_ count: Int, _ random: inout SeededGenerator) -> [Leaf] {
    (0..<count).map { id in
      Leaf(
        id: id, text: String(repeating: "x", count: Int.random(in: 0...200, using: &random)),
        numbers: (0..<Int.random(in: 0...5, using: &random)).map { _ in .random(in: 0...1, using: &random) },
        next: Bool.random(using: &random) ? Leaf.Box(values: ["a": id]) : nil)
    }
  }

  @Test(arguments: Backend.allCases) func objectsAndOrderAreTheSame(_ backend: Backend) async throws {
    var random = SeededGenerator(seed: 14)
    let (several, alone) = (try Place(backend).garage(), try Place(backend).garage())
    alone.usesSeveralCores = false
    for count in [0, 1, 1_023, 1_024, 1_025, 3_000] {
      var leaves = SeveralCoresTests.leaves(count, &random)
      leaves.shuffle(using: &random)
      for garage in [several, alone] {
        try await garage.deleteAllObjects()
        try blocking { try garage.parkAll(leaves) }
      }
      leaves.sort { $0.id < $1.id }
      #expect(try blocking { try several.retrieveAll(Leaf.self) } == leaves)
      #expect(try await several.retrieveAll(Leaf.self) == leaves)
      #expect(try blocking { try alone.retrieveAll(Leaf.self) } == leaves)
      try await several.parkAll(leaves.reversed())
      #expect(try blocking { try several.retrieveAll(Leaf.self) } == leaves)
      #expect(try await several.verify().isSound)
    }
  }

  @Test(arguments: Backend.engines) func ofOneIdentityTheLastIsParked(_ backend: Backend) throws {
    var random = SeededGenerator(seed: 15)
    let garage = try Place(backend).garage()
    let first = SeveralCoresTests.leaves(2_000, &random)
    let second = SeveralCoresTests.leaves(2_000, &random)
    try garage.parkAll(first + second)
    #expect(try garage.retrieveAll(Leaf.self) == second)
    try garage.parkAll((first + second).reversed())
    #expect(try garage.retrieveAll(Leaf.self) == first)
    #expect(try garage.count(Leaf.self) == 2_000)
    #expect(try garage.verify().isSound)
  }

  /// With an index of which no two have the same, and a status of its own.
  private struct Ticket: Syncable, Codable, Identifiable, Indexed, Equatable, Sendable {
    static var indexes: [Index<Ticket>] { [Index(\.seat, .unique, .readable), Index(\.row, .readable)] }
    var id: Int
    var seat: Int
    var row: String
    var syncStatus = SyncStatus.undetermined
  }

  /// What was encoded in parts that follow one another is written as one: entries of indexes and statuses too, and nothing of
  /// it where one of them breaks a rule.
  @Test(arguments: runsLongTests ? Backend.allCases : Backend.engines)
  func partsAreOneWrite(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let count = 2_600
    func check(_ tickets: [Ticket]) throws {
      #expect(try garage.retrieveAll(Ticket.self) == tickets)
      #expect(
        try garage.query(Ticket.self).where(\.seat == 2_000).retrieveAll()
          == tickets.filter { $0.seat == 2_000 })
      #expect(
        try garage.query(Ticket.self).where(\.row == "row 7").count() == tickets.count { $0.row == "row 7" })
      let report = try garage.verifyIndexes()
      #expect(report.isSound, "\(report)")
      for status in [SyncStatus.notSynced, .synced] {
        #expect(
          try garage.retrieveAll(Ticket.self, withStatus: status)
            == tickets.filter { $0.syncStatus == status })
      }
    }
    var tickets = (0..<count).map { id in
      Ticket(id: id, seat: id, row: "row \(id % 40)", syncStatus: id % 100 == 7 ? .notSynced : .synced)
    }
    try garage.parkAll(tickets)
    try check(tickets)
    // Each gets the seat of another one, which is in another part.
    for id in tickets.indices {
      tickets[id].seat = count - 1 - id
      if id % 3 == 0 { tickets[id].row = "row 7" }
      if id % 50 == 0 { tickets[id].syncStatus = .notSynced }
    }
    try garage.parkAll(tickets)
    try check(tickets)
    // The first and the last part want the same one.
    var wrong = tickets
    for id in wrong.indices { wrong[id].seat += 10_000 }
    wrong[count - 1].seat = wrong[0].seat
    #expect {
      try garage.parkAll(wrong)
    } throws: { error in
      if case GarageError.notUnique = error { true } else { false }
    }
    try check(tickets)
    // In another order, and the last of some twice.
    try garage.parkAll(wrong.dropLast().reversed() + tickets.suffix(1_500))
    try check(wrong.prefix(count - 1_500) + tickets.suffix(1_500))
  }

  /// Wherever the first reference stands: in what is read before anything is shared, behind it, in the last record.
  @Test(arguments: Backend.engines, [0, 1, 600, 1_400, 2_499])
  func referencesAmongManyAreFollowed(_ backend: Backend, _ place: Int) throws {
    let garage = try Place(backend).garage()
    let leaf = Leaf(id: 7, text: "shared", numbers: [], next: nil)
    var branches = (0..<2_500).map { Branch(id: $0) }
    branches[place].leaf = leaf
    branches[2_499 - place].other = Reference(Leaf.self, identifier: 7)
    try garage.parkAll(branches)
    let found = try garage.retrieveAll(Branch.self)
    #expect(found == branches)
    #expect(try garage.retrieveAll(Leaf.self) == [leaf])
  }

  /// Runs verbs of threads in an async test.
  private static func blocking<R>(_ body: () throws -> R) rethrows -> R { try body() }
  private func blocking<R>(_ body: () throws -> R) rethrows -> R { try body() }

  private enum Trouble: Error, Equatable { case with(Int) }

  private struct Troubled: Codable, Identifiable, Sendable {
    static let faults = Mutex<Set<Int>>([])
    var id: Int
    var text = String(repeating: "t", count: 100)

    init(id: Int) { self.id = id }

    enum CodingKeys: String, CodingKey { case id, text }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      text = try container.decode(String.self, forKey: .text)
      try check()
    }

    func encode(to encoder: any Encoder) throws {
      try check()
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(text, forKey: .text)
    }

    private func check() throws {
      if Troubled.faults.withLock({ $0.contains(id) }) { throw Trouble.with(id) }
    }
  }

  @Test(.serialized, arguments: Backend.engines) func theFirstErrorIsThrown(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let objects = (0..<2_500).map { Troubled(id: $0) }
    defer { Troubled.faults.withLock { $0 = [] } }
    for faults in [[0], [1_500], [2_499, 700], [1_800, 1_801, 1_300, 2_400], Array(1_200..<2_500)] {
      Troubled.faults.withLock { $0 = Set(faults) }
      #expect(throws: Trouble.with(faults.min()!)) { try garage.parkAll(objects) }
      #expect(try garage.count(Troubled.self) == 0)
      Troubled.faults.withLock { $0 = [] }
      try garage.parkAll(objects)
      Troubled.faults.withLock { $0 = Set(faults) }
      #expect(throws: Trouble.with(faults.min()!)) { _ = try garage.retrieveAll(Troubled.self) }
      Troubled.faults.withLock { $0 = [] }
      #expect(try garage.retrieveAll(Troubled.self).count == 2_500)
      try garage.deleteAll(Troubled.self)
    }
  }

  private struct Draft: Codable, Identifiable, Sendable {
    var id: Int
    var isComplete = true

    enum CodingKeys: String, CodingKey { case id, isComplete }

    func encode(to encoder: any Encoder) throws {
      guard isComplete else { throw Trouble.with(id) }
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(isComplete, forKey: .isComplete)
    }
  }

  /// Of several values of one identity only the last is encoded, wherever the others stand. So an error of theirs is none.
  @Test(arguments: Backend.engines, [true, false])
  func whatIsReplacedCannotFail(_ backend: Backend, _ usesSeveralCores: Bool) throws {
    let garage = try Place(backend).garage()
    garage.usesSeveralCores = usesSeveralCores
    for place in [3, 700, 1_400] {
      var drafts = (0..<2_500).map { Draft(id: $0) }
      drafts[place] = Draft(id: 2_200, isComplete: false)
      try garage.parkAll(drafts)
      let found = try garage.retrieveAll(Draft.self)
      #expect(found.map(\.id) == (0..<2_500).filter { $0 != place })
      try garage.deleteAll(Draft.self)
      drafts.swapAt(place, 2_200)
      #expect(throws: Trouble.with(2_200)) { try garage.parkAll(drafts) }
      #expect(try garage.count(Draft.self) == 0)
    }
  }

  private enum Ambient {
    @TaskLocal static var word = "none"
  }

  private struct Listener: Codable, Identifiable, Sendable {
    var id: Int
    var text = String(repeating: "t", count: 100)
    var encodedIn = ""
    var decodedIn = ""

    init(id: Int) { self.id = id }

    enum CodingKeys: String, CodingKey { case id, text, encodedIn }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      text = try container.decode(String.self, forKey: .text)
      encodedIn = try container.decode(String.self, forKey: .encodedIn)
      decodedIn = Ambient.word
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(text, forKey: .text)
      try container.encode(Ambient.word, forKey: .encodedIn)
    }
  }

  /// From threads that belong to no task, too.
  @Test(arguments: [true, false]) func usersCodeSeesTaskLocalValues(_ isInTask: Bool) async throws {
    let garage = try Place(.memory).garage()
    @Sendable func trial() throws -> [Listener] {
      try Ambient.$word.withValue("some") {
        try garage.parkAll((0..<10_000).map { Listener(id: $0) })
        return try garage.retrieveAll(Listener.self)
      }
    }
    let found =
      isInTask
      ? try blocking { try trial() }
      : try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result { try trial() }) }.start()
      }
    #expect(found.count == 10_000)
    #expect(found.allSatisfy { $0.encodedIn == "some" && $0.decodedIn == "some" })
  }

  private struct Dated: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var date: Date
    var text = String(repeating: "t", count: 100)
  }

  @Test(arguments: Backend.engines) func datesFollowTheCallersStrategy(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let dates = (0..<6_000).map { Dated(id: $0, date: Date(timeIntervalSince1970: Double($0))) }
    try garage.withDateEncodingStrategy(.secondsSince1970) { try garage.parkAll(dates) }
    let found = try garage.withDateDecodingStrategy(.secondsSince1970) { try garage.retrieveAll(Dated.self) }
    #expect(found == dates)
  }

  /// Calls on all of the few threads that tasks share help one another, or go on alone; none waits for good.
  @Test(arguments: Backend.engines)
  func manyTasksAtOnceGoOn(_ backend: Backend) async throws {
    var random = SeededGenerator(seed: 16)
    let garage = try Place(backend).garage()
    let leaves = SeveralCoresTests.leaves(2_000, &random)
    try await garage.parkAll(leaves)
    try await withThrowingTaskGroup { group in
      for _ in 0..<(runsLongTests ? 24 : 8) {
        group.addTask {
          try SeveralCoresTests.blocking {
            #expect(try garage.retrieveAll(Leaf.self) == leaves)
            try garage.parkAll(leaves)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private final class Counted: Sendable {
    static let alive = Atomic<Int>(0)
    init() { Counted.alive.add(1, ordering: .relaxed) }
    deinit { Counted.alive.subtract(1, ordering: .relaxed) }
  }

  private struct Holder: Codable, Identifiable, Sendable {
    var id: Int
    var text = String(repeating: "t", count: 100)
    let counted = Counted()
    enum CodingKeys: String, CodingKey { case id, text }
    init(id: Int) { self.id = id }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      text = try container.decode(String.self, forKey: .text)
      if id == 5_555 { throw Trouble.with(id) }
    }
  }

  @Test func nothingStaysBehindAnError() throws {
    let garage = try Place(.memory).garage()
    do {
      try garage.parkAll((0..<9_000).map { Holder(id: $0) })
      #expect(throws: Trouble.with(5_555)) { _ = try garage.retrieveAll(Holder.self) }
    }
    // A task that did the last piece may be about to let go of it.
    for _ in 0..<10_000 where Counted.alive.load(ordering: .relaxed) != 0 { usleep(1_000) }
    #expect(Counted.alive.load(ordering: .relaxed) == 0)
  }
}

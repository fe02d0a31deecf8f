import Foundation
import GarageDriver
import GarageStorage
import Synchronization
import Testing

/// Types that declare indexes and belong to the main actor.
@MainActor @Suite struct IsolatedIndexTests {
  /// How often their code ran outside of the task, on a thread of the library's.
  private enum Strayed {
    static let count = Atomic<Int>(0)
    static func note() { if withUnsafeCurrentTask(body: { $0 == nil }) { count.add(1, ordering: .relaxed) } }
  }

  @MainActor
  private final class Card: @MainActor Codable, @MainActor Identifiable, @MainActor TypeTagged,
    @MainActor Indexed
  {
    static var typeTag: String { "indexed on the main actor" }
    static var indexes: [Index<Card>] {
      Strayed.note()
      return [Index(\.title, .unique, .readable)]
    }
    var id: Int
    var title: String

    init(_ id: Int, _ title: String) { (self.id, self.title) = (id, title) }

    init(from decoder: any Decoder) throws {
      Strayed.note()
      let container = try decoder.container(keyedBy: Keys.self)
      id = try container.decode(Int.self, forKey: .id)
      title = try container.decode(String.self, forKey: .title)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(id, forKey: .id)
      try container.encode(title, forKey: .title)
    }

    enum Keys: String, CodingKey { case id, title }
  }

  /// What was parked before the type declared an index.
  private struct OldCard: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "indexed on the main actor" }
    var id: Int
    var title: String
  }

  private func old(_ place: Place) async throws {
    try await place.garage().parkAll((0..<500).map { OldCard(id: $0, title: "card \($0)") })
  }

  /// A thread of the library's commits, and asks them nothing.
  @Test(arguments: Backend.engines) func theyAreAskedWhereTheyBelong(_ backend: Backend) async throws {
    let storage = SlowStorage(try Place(backend).open(), milliseconds: 0, isDurable: true)
    let garage = try Garage(storage)
    try await garage.park(Card(1, "one"))
    do {
      try await garage.park(Card(2, "one"))
      Issue.record("two cards have one title")
    } catch GarageError.notUnique {}
    try await garage.parkAll([Card(2, "two"), Card(3, "three")])
    let key = Key<GlobalNamespace, [Card]>(id: "cards", defaultValue: [])
    try await garage.set(key, value: [Card(4, "four")])
    let found = try await garage.query(Card.self).where(\.title == "two").first()
    #expect(found?.id == 2)
    let place = try Place(backend)
    try await old(place)
    let other = try Garage(place.open(), types: [Card.self])
    try await other.buildIndexes()
    let count = Strayed.count.load(ordering: .relaxed)
    #expect(count == 0)
  }

  /// Queries of tasks make the index of objects that were there before it, and then read no more than it leads to.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb])
  func queriesMakeIndexesAndUseThem(_ backend: Backend) async throws {
    let place = try Place(backend)
    try await old(place)
    let storage = VisitCountingStorage(try place.open())
    let garage = try Garage(storage)
    let seventh = try await garage.query(Card.self).where(\.title == "card 7").first()
    #expect(seventh?.id == 7)
    let states = try await garage.indexes(of: Card.self).map(\.state)
    #expect(states == [.ready])
    let before = storage.visits.load(ordering: .relaxed)
    let eighth = try await garage.query(Card.self).where(\.title == "card 8").first()
    let visits = storage.visits.load(ordering: .relaxed) - before
    #expect(eighth?.id == 8 && visits < 50)
    let some = try await garage.query(Card.self).where(\.title == .hasPrefix("card 3")).retrieveAll()
    #expect(some.count == 111)
  }

  /// An import asks them, too, before a thread of the library's reads the file.
  @Test(arguments: Backend.engines.filter { !$0.isSealed })
  func importsAskThemInTheTask(_ backend: Backend) async throws {
    let place = try Place(backend)
    let file = place.folder.appending(path: "export.jsonl")
    let source = try place.garage()
    try await source.park(Card(1, "one"))
    try await source.export(to: file)
    let garage = try Place(backend).garage()
    let result = try await garage.import(from: file)
    #expect(result.objectCount == 1)
    do {
      try await garage.park(Card(2, "one"))
      Issue.record("two cards have one title")
    } catch GarageError.notUnique {}
    let count = Strayed.count.load(ordering: .relaxed)
    #expect(count == 0)
  }

  /// Watchers make indexes as well.
  @Test(arguments: Backend.engines) func watchersMakeIndexes(_ backend: Backend) async throws {
    let place = try Place(backend)
    try await old(place)
    let garage = try place.garage()
    var values = garage.values(of: garage.query(Card.self).where(\.title == "card 9")).makeAsyncIterator()
    let ids = try await values.next()?.map(\.id)
    #expect(ids == [9])
    let states = try await garage.indexes(of: Card.self).map(\.state)
    #expect(states == [.ready])
  }
}

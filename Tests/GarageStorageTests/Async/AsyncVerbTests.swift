import Foundation
import GarageDriver
import GarageStorage
import Synchronization
import Testing

/// Every verb for tasks does what the one for threads does.
@Suite struct AsyncVerbTests {
  private struct Note: Codable, Identifiable, Hashable, Syncable {
    var id: String
    var text = ""
    var syncStatus = SyncStatus.notSynced
  }

  /// As apps have it around a garage: of types that may belong to an actor.
  private struct Drawer<T: Codable & Identifiable> {
    let garage: Garage
    func matching(_ condition: Condition<T>) throws -> [T] {
      try garage.query(T.self).where(condition).retrieveAll()
    }
    func all() async throws -> [T] { try await garage.query(T.self).retrieveAll() }
    func first() async throws -> T? {
      for try await found in garage.values(of: garage.query(T.self).limit(1)) { return found.first }
      return nil
    }
  }

  @Test(arguments: Backend.engines) func genericCodeAsksForAnyType(_ backend: Backend) async throws {
    let notes = Drawer<Note>(garage: try Place(backend).garage())
    try await notes.garage.parkAll([Note(id: "a", text: "x"), Note(id: "b", text: "y")])
    #expect(try notes.matching(\.text == "y").map(\.id) == ["b"])
    #expect(try await notes.all().map(\.id) == ["a", "b"])
    #expect(try await notes.first()?.id == "a")
  }

  @Test(arguments: Backend.allCases) func objectsComeAndGo(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let sam = Person("Sam", age: 3)
    let nick = Person("Nick", age: 5)
    sam.brother = nick
    nick.brother = sam
    sam.siblings = [nick]
    try await garage.park(sam)
    let found = try #require(try await garage.retrieve(Person.self, identifier: "Sam"))
    #expect(found.brother?.id == "Nick")
    #expect(found.brother === found.siblings.first)
    #expect(found.brother?.brother === found)
    try await garage.parkAll([Person("Ann"), Person("Ben")])
    #expect(try await garage.retrieveAll(Person.self).map(\.id) == ["Ann", "Ben", "Nick", "Sam"])
    #expect(try await garage.count(Person.self) == 4)
    #expect(try await garage.contains(Person.self, identifier: "Ann"))
    #expect(try await !garage.contains(Person.self, identifier: "Zoe"))
    try await garage.delete(Person.self, identifier: "Ann")
    try await garage.delete(nick)
    await #expect(throws: GarageError.failedToRetrieveObject("Person", "Ann")) {
      try await garage.delete(Person.self, identifier: "Ann")
    }
    let address = Address(street: "High Street", city: "York")
    try await garage.park(address)
    let identifier = try garage.identifier(for: address)
    #expect(try await garage.retrieve(Address.self, identifier: identifier) == address)
    #expect(try await garage.contains(Address.self, identifier: identifier))
    try await garage.delete(Address.self, identifier: identifier)
    try await garage.park(any: address)
    try await garage.parkAll(any: [address, Counter(id: 1)])
    #expect(try await garage.retrieve(Reference(Counter.self, identifier: 1))?.id == 1)
    #expect(try await garage.retrieve(Counter.self, identifier: "1")?.id == 1)
    #expect(try await garage.typeNames().values.reduce(0, +) == 4)
    try await garage.deleteAll(Person.self)
    #expect(try await garage.retrieveAll(Person.self).isEmpty)
    try await garage.deleteAllObjects()
    #expect(try await garage.typeNames().isEmpty)
  }

  @Test(arguments: Backend.allCases) func manyObjectsComeInOrder(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    try await garage.parkAll((0..<500).map { Counter(id: $0, value: $0 * 2) })
    var ids: [Int] = []
    try await garage.forEach(Counter.self) { ids.append($0.id) }
    #expect(ids == Array(0..<500))
    ids = []
    for try await counter in garage.objects(Counter.self) {
      // What comes meanwhile is not visited, and what goes is not either.
      if counter.id == 10 { try await garage.parkAll([Counter(id: 1000), Counter(id: -1)]) }
      if counter.id == 20 { try await garage.delete(Counter.self, identifier: 450) }
      ids.append(counter.id)
    }
    #expect(ids == (0..<500).filter { $0 != 450 })
    var unreadable = 0
    #expect(try await garage.retrieveAll(Counter.self, onError: { _ in unreadable += 1 }).count == 501)
    #expect(unreadable == 0)
  }

  @Test(arguments: Backend.allCases) func statuses(_ backend: Backend) async throws {
    let garage = try Place(backend).garage([Note.self])
    let notes = (0..<5).map { Note(id: "\($0)") }
    try await garage.parkAll(notes)
    try await garage.setSyncStatus(.synced, for: notes[0])
    try await garage.setSyncStatus(.syncing, for: Array(notes[1...2]))
    #expect(try await garage.syncStatus(for: notes[1]) == .syncing)
    #expect(try await garage.retrieveAll(Note.self, withStatus: .notSynced).map(\.id) == ["3", "4"])
    let all: [any Syncable] = try await garage.retrieveAll(withStatus: .synced)
    #expect(all.count == 1)
    await #expect(throws: GarageError.failedToRetrieveObject("Note", "9")) {
      try await garage.setSyncStatus(.synced, for: [notes[3], Note(id: "9")])
    }
    #expect(try await garage.syncStatus(for: notes[3]) == .notSynced)
  }

  @Test(arguments: Backend.allCases) func keys(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    #expect(try await garage.get(.launchCount) == 0)
    try await garage.set(.launchCount, value: 3)
    #expect(try await garage.get(.launchCount) == 3)
    #expect(
      try await garage.update(.launchCount) { count in
        count += 1; return count
      } == 4)
    #expect(try await garage.contains(.launchCount))
    #expect(try await garage.storedKeys().count == 1)
    try await garage.remove(.launchCount)
    #expect(try await !garage.contains(.launchCount))
    let list = Key<GlobalNamespace, [String]?>(id: "list", defaultValue: nil)
    try await garage.set(list, value: ["a", "b"])
    #expect(try await garage.get(list) == ["a", "b"])
    try await garage.set(list, value: nil)
    #expect(try await !garage.contains(list))
    try await garage.set(list, value: [])
    try await garage.clear()
    #expect(try await garage.storedKeys().isEmpty)
  }

  /// Many tasks add to a few keys: nothing is lost.
  @Test(arguments: Backend.engines) func updatesAddUp(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<32 {
        group.addTask {
          for _ in 0..<10 {
            try await garage.update(.launchCount) { $0 += 1 }
            try await garage.update(Key<GlobalNamespace, Int>(id: "own \(task)", defaultValue: 0)) { $0 += 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await garage.get(.launchCount) == 320)
    #expect(try await garage.get(Key<GlobalNamespace, Int>(id: "own 31", defaultValue: 0)) == 10)
  }

  @Test(arguments: Backend.engines) func transactions(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let total = try await garage.write { writer in
      try writer.park(Counter(id: 1, value: 5))
      try writer.park(Counter(id: 2, value: 6))
      return try writer.retrieveAll(Counter.self).reduce(0) { $0 + $1.value }
    }
    #expect(total == 11)
    struct Stop: Error {}
    await #expect(throws: Stop.self) {
      try await garage.write { writer in
        try writer.deleteAll(Counter.self)
        throw Stop()
      }
    }
    await #expect(throws: GarageError.nestedWrite) {
      try await garage.write { _ in try garage.park(Counter(id: 3)) }
    }
    #expect(try await garage.read { try $0.count(Counter.self) } == 2)
  }

  /// Objects that are not `Sendable` come out of a transaction that ran elsewhere: that it compiles is half of the test.
  @Test(arguments: Backend.engines) func objectsComeOutOfTransactions(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let sam = Person("Sam", age: 3)
    sam.brother = Person("Nick", age: 5)
    try await garage.park(sam)
    let all = try await garage.read { try $0.retrieveAll(Person.self) }
    #expect(all.map(\.id) == ["Nick", "Sam"] && all[1].brother === all[0])
    #expect(try await garage.read { try $0.retrieve(Person.self, identifier: "Sam") }?.brother?.age == 5)
    let reference = Reference(Person.self, identifier: "Nick")
    #expect(try await garage.write { try $0.retrieve(reference) }?.age == 5)
    let old = try await garage.read { try $0.query(Person.self).where(\.age > 4).retrieveAll() }
    #expect(old.map(\.id) == ["Nick"])
    #expect(try await garage.read { try $0.query(Person.self).sorted(by: \.age).first() }?.id == "Sam")
    let grown = try await garage.write { writer in
      for person in try writer.retrieveAll(Person.self) {
        person.age += 10
        try writer.park(person)
      }
      return try writer.retrieveAll(Person.self)
    }
    #expect(grown.map(\.age) == [15, 13])
    #expect(try await garage.read { try $0.retrieveAll(Person.self) { _ in } }.count == 2)
    #expect(try await garage.read { try $0.retrieve(Counter.self, identifier: "7") } == nil)
  }

  @Test(arguments: Backend.engines) func unsavedChanges(_ backend: Backend) async throws {
    let place = try Place(backend)
    let storage = try place.open()
    let (garage, other) = (try Garage(storage), try Garage(storage))
    try await garage.withAutosaveDisabled {
      try await garage.park(Counter(id: 1))
      try await garage.set(.launchCount, value: 1)
      #expect(
        try await garage.update(.launchCount) { count in
          count += 1; return count
        } == 2)
      try await garage.write { try $0.park(Counter(id: 2)) }
    }
    #expect(garage.hasUnsavedChanges)
    #expect(try await other.count(Counter.self) == 0)
    #expect(try await garage.count(Counter.self) == 2)
    #expect(try await garage.get(.launchCount) == 2)
    try await garage.save()
    #expect(try await other.count(Counter.self) == 2)
    garage.isAutosaveEnabled = false
    try await garage.delete(Counter.self, identifier: 1)
    await garage.discardUnsavedChanges()
    #expect(try await garage.contains(Counter.self, identifier: 1))
    try await garage.delete(Counter.self, identifier: 1)
    garage.isAutosaveEnabled = true
    try await garage.park(Counter(id: 3))
    #expect(try await other.retrieveAll(Counter.self).map(\.id) == [2, 3])
  }

  @Test(arguments: Backend.engines) func queries(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    try await garage.parkAll((0..<50).map { Counter(id: $0, value: $0 % 10) })
    let query = garage.query(Counter.self).where(\.value >= 5).sorted(by: \.value, .descending)
    #expect(try await query.count() == 25)
    #expect(try await query.first()?.value == 9)
    #expect(try await query.retrieveAll().count == 25)
    #expect(try await query.values(\.value).first == 9)
    #expect(try await query.max(\.value) == 9)
    #expect(try await query.sum(\.value) == 175)
    #expect(try await query.countByValue(\.value)[7] == 5)
    #expect(try await query.identifiers().count == 25)
    #expect(try await !query.isEmpty())
    #expect(try await query.page(size: 7).objects.count == 7)
    #expect(try await query.explain().indexes.isEmpty)
    var count = 0
    for try await _ in query.objects() { count += 1 }
    #expect(count == 25)
    #expect(try await query.updateAll { $0.value = 1 } == 25)
    #expect(try await garage.query(Counter.self).where(\.value == 1).deleteAll() == 30)
    #expect(try await garage.count(Counter.self) == 20)
  }

  /// Date strategies and other settings of a task apply where its verbs run.
  @Test(arguments: Backend.engines) func settingsOfTheTaskApply(_ backend: Backend) async throws {
    struct Dated: Codable, Identifiable { var id = 1; var date = Date(timeIntervalSince1970: 1.5) }
    let garage = try Place(backend).garage()
    try await garage.withDateEncodingStrategy(.iso8601) { try await garage.park(Dated()) }
    await #expect(throws: DecodingError.self) {
      _ = try await garage.withDateDecodingStrategy(.secondsSince1970) {
        try await garage.retrieveAll(Dated.self)
      }
    }
    let dates = try await garage.withDateDecodingStrategy(.iso8601) {
      try await garage.retrieveAll(Dated.self).map(\.date)
    }
    #expect(dates == [Date(timeIntervalSince1970: 1)])
  }
}

/// Types that belong to the main actor are encoded and decoded there.
@MainActor @Suite struct IsolatedTypeTests {
  @MainActor final class Card: @MainActor Codable, @MainActor Identifiable {
    var id: Int
    var title: String
    var next: Card?
    init(_ id: Int, _ next: Card? = nil) { (self.id, title, self.next) = (id, "card \(id)", next) }

    init(from decoder: any Decoder) throws {
      MainActor.assertIsolated()
      let container = try decoder.container(keyedBy: Keys.self)
      id = try container.decode(Int.self, forKey: .id)
      title = try container.decode(String.self, forKey: .title)
      next = try container.decodeIfPresent(Card.self, forKey: .next)
    }

    func encode(to encoder: any Encoder) throws {
      MainActor.assertIsolated()
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(id, forKey: .id)
      try container.encode(title, forKey: .title)
      try container.encodeIfPresent(next, forKey: .next)
    }

    enum Keys: String, CodingKey { case id, title, next }
  }

  @Test(arguments: Backend.allCases) func theyStayThere(_ backend: Backend) async throws {
    let storage = SlowStorage(try Place(backend).open(), isDurable: true)
    let garage = try Garage(storage)
    try await garage.park(Card(1, Card(2, Card(3))))
    let card = try #require(try await garage.retrieve(Card.self, identifier: 1))
    #expect(card.next?.next?.title == "card 3")
    let all = try await garage.retrieveAll(Card.self)
    #expect(all.map(\.id) == [1, 2, 3])
    #expect(all[0].next === all[1])
    var ids: [Int] = []
    try await garage.forEach(Card.self) { ids.append($0.id) }
    for try await card in garage.objects(Card.self) { ids.append(card.id) }
    #expect(ids == [1, 2, 3, 1, 2, 3])
    ids = []
    try await garage.query(Card.self).forEach { ids.append($0.id) }
    try await garage.query(Card.self).where(\.title != "card 2").forEach { ids.append($0.id) }
    #expect(ids == [1, 2, 3, 1, 3])
    #expect(try await garage.query(Card.self).where(\.title == "card 2").first()?.id == 2)
    try await garage.delete(card)
    #expect(try await garage.count(Card.self) == 2)
  }
}

/// The verbs that go through a whole store.
@Suite struct AsyncCareTests {
  @Test(arguments: Backend.engines) func theyRunElsewhere(_ backend: Backend) async throws {
    let garage = try Place(backend).garage([Person.self])
    let sam = Person("Sam")
    sam.brother = Person("Nick")
    try await garage.parkAll([sam, Person("Ann")])
    #expect(try await garage.verify().isSound)
    _ = try await garage.statistics()
    let root = try GarageRoot.object(Person.self, identifier: "Sam")
    #expect(try await garage.unreachable(from: [root]).count == 1)
    #expect(try await garage.collectGarbage(roots: [root]) == 1)
    #expect(try await garage.retrieveAll(Person.self).map(\.id) == ["Nick", "Sam"])
  }
}

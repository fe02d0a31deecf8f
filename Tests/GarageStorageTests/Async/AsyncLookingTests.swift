import Foundation
import GarageDriver
import GarageStorage
import Synchronization
import Testing

/// What looks into a store, whatever is in it, does for tasks what it does for threads.
@Suite struct AsyncLookingTests {
  @Test(arguments: Backend.engines) func storesAreLookedInto(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    try await garage.parkAll((0..<5).map { Counter(id: $0, value: $0) })
    try await garage.set(.launchCount, value: 3)
    func look(_ verbs: some GarageReading) async throws {
      let types = try await verbs.storedTypes()
      #expect(try types == verbs.blocking { try $0.storedTypes() })
      let name = try #require(types.first?.name)
      let page = try await verbs.identifiers(ofTypeNamed: name, limit: 3)
      #expect(page.count == 3)
      #expect(try await verbs.identifiers(ofTypeNamed: name, after: page[2], limit: 9).count == 2)
      let object = try #require(try await verbs.storedObject(ofTypeNamed: name, identifier: page[1]))
      #expect(object.value["value"]?.integerValue == 1)
      let identity = try #require(try await verbs.identity(describedAs: "1", ofTypeNamed: name))
      #expect(try await verbs.storedObject(identity)?.value == object.value)
      #expect(try await verbs.typeName(of: identity) == name)
      #expect(try await verbs.identifier(describedAs: "1", ofTypeNamed: name) == page[1])
      #expect(try await verbs.identifier(describedAs: "7", ofTypeNamed: name) == nil)
      #expect(try await verbs.storedKeyCount() == 1)
      #expect(try await verbs.storedKeyValues().map(\.value.integerValue) == [3])
    }
    try await look(garage)
    try await garage.close()
    await #expect(throws: GarageError.closed) { try await garage.storedTypes() }
  }

  @Test(arguments: Backend.engines) func propertiesForTasks(_ backend: Backend) async throws {
    let count = Stored(.launchCount, in: try Place(backend).garage())
    #expect(try await count.get() == 0)
    try await count.set(4)
    #expect(
      try await count.update {
        $0 += 1; return $0
      } == 5)
    #expect(count.wrappedValue == 5)
    try await count.remove()
    #expect(try await count.get() == 0)
  }

  private final class Buoy: MappableObject, Identifiable {
    var id = 0
    var name = ""
    init() {}
    convenience init(_ id: Int, _ name: String) {
      self.init()
      (self.id, self.name) = (id, name)
    }
    static var objectMapping: ObjectMapping {
      let mapping = ObjectMapping(for: Buoy.self)
      mapping.add("id", \Buoy.id)
      mapping.add("name", \Buoy.name)
      mapping.identifyingAttribute = "name"
      return mapping
    }
  }

  /// The compiler can tell which verb is meant, and takes the one that waits.
  @Test(arguments: Backend.engines) func mappedAndIdentifiable(_ backend: Backend) async throws {
    let storage = SlowStorage(try Place(backend).open(), isDurable: true)
    let garage = try Garage(storage)
    let before = storage.writesInTasks.load(ordering: .relaxed)
    try await garage.parkAll([Buoy(1, "north"), Buoy(2, "south")])
    let identifier = UUID()
    try await garage.park(Buoy(3, identifier.uuidString))
    #expect(try await garage.retrieve(Buoy.self, identifier: "north")?.id == 1)
    #expect(try await garage.retrieve(Buoy.self, identifier: identifier)?.id == 3)
    #expect(try await garage.contains(Buoy.self, identifier: "south"))
    #expect(try await garage.contains(Buoy.self, identifier: identifier))
    try await garage.delete(Buoy.self, identifier: "south")
    try await garage.delete(Buoy.self, identifier: identifier)
    #expect(try await !garage.contains(Buoy.self, identifier: "south"))
    #expect(try await garage.count(Buoy.self) == 1)
    #expect(storage.writesInTasks.load(ordering: .relaxed) == before)
  }
}

extension GarageReading {
  /// Runs what is not async.
  fileprivate func blocking<R>(_ body: (Self) throws -> R) rethrows -> R { try body(self) }
}

/// Going on behind what cannot be read, for tasks.
@MainActor @Suite struct AsyncUnreadableTests {
  private struct Sound: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "unreadable in tasks" }
    var id: Int
    var number: String
  }
  private struct Read: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "unreadable in tasks" }
    var id: Int
    var number: Number
    /// What does not read everything.
    struct Number: Codable {
      init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard Int(text) != nil else { throw No() }
      }
      struct No: Error {}
    }
  }
  /// The same, on the main actor.
  @MainActor private final class Isolated: @MainActor Codable, @MainActor Identifiable, @MainActor TypeTagged
  {
    static var typeTag: String { "unreadable in tasks" }
    var id: Int
    var number: Read.Number
  }

  @Test(arguments: Backend.allCases) func othersAreRead(_ backend: Backend) async throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try await garage.parkAll((0..<450).map { Sound(id: $0, number: $0 % 100 == 7 ? "x" : "\($0)") })
    // A damaged record; under a seal, one that does not open.
    let below = try place.openBase()
    let records = try Driver.contents(below, .prefix([0x10]))
    let key = records.keys.sorted()[20]
    var bytes = try #require(records[key])
    bytes[bytes.count - 2] ^= 1
    try Driver.put(bytes, for: key.bytes, below)
    let expected = ["107", "20", "207", "307", "407", "7"]
    var (read, failed) = (0, [String]())
    try await garage.forEach(Read.self, onError: { failed.append($0.identifier) }) { _ in read += 1 }
    #expect(read == 444 && failed.sorted() == expected)
    (read, failed) = (0, [])
    read = try await garage.retrieveAll(Read.self) { failed.append($0.identifier) }.count
    #expect(read == 444 && failed.sorted() == expected)
    (read, failed) = (0, [])
    try await garage.forEach(Isolated.self, onError: { failed.append($0.identifier) }) { _ in
      MainActor.assertIsolated()
      read += 1
    }
    #expect(read == 444 && failed.sorted() == expected)
    (read, failed) = (0, [])
    read = try await garage.retrieveAll(Isolated.self) { failed.append($0.identifier) }.count
    #expect(read == 444 && failed.sorted() == expected)
    struct Stop: Error {}
    await #expect(throws: Stop.self) {
      try await garage.forEach(Read.self, onError: { _ in throw Stop() }) { _ in }
    }
  }
}

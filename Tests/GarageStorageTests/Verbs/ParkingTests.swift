import Foundation
import GarageConformance
import GarageDriver
import GarageStorage
import Testing

/// Every way to park: what is stored, under which identity, and what is refused without a trace.
@Suite struct ParkingTests {
  @Test(arguments: Backend.allCases)
  func objectsComeBackAfterReopening(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (sam, nick, emily) = (Person("Sam", age: 31), Person("Nick", age: 26), Person("Emily", age: 20))
    sam.address = Address(street: "Main", city: "Hill Valley")
    sam.brother = nick
    sam.siblings = [nick, emily]
    nick.brother = sam
    try garage.park(sam)

    garage = try place.reopened(garage)
    let found = try #require(try garage.retrieve(Person.self, identifier: "Sam"))
    #expect(found.age == 31)
    #expect(found.address == sam.address)
    #expect(found.siblings.map(\.id) == ["Nick", "Emily"])
    #expect(found.brother === found.siblings[0])
    #expect(found.brother?.brother === found)
    #expect(try garage.retrieveAll(Person.self).map(\.id) == ["Emily", "Nick", "Sam"])
    // Cycles of strong references stay in memory until they are cut.
    for person in [sam, found] { person.brother?.brother = nil }
  }

  @Test(arguments: Backend.allCases)
  func parkingAgainReplaces(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Counter(id: 1, value: 1))
    try garage.park(Counter(id: 1, value: 2))
    #expect(try garage.retrieveAll(Counter.self) == [Counter(id: 1, value: 2)])
  }

  @Test(arguments: Backend.allCases)
  func valuesAreIdentifiedByTheirContent(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let address = Address(street: "Elm", city: "Springwood")
    try garage.park(address)
    try garage.park(address)
    garage = try place.reopened(garage)
    #expect(try garage.count(Address.self) == 1)
    #expect(try garage.retrieve(Address.self, identifier: garage.identifier(for: address)) == address)
    try garage.park(Address(street: "Elm", city: "Elsewhere"))
    #expect(try garage.count(Address.self) == 2)
  }

  @Test(arguments: Backend.allCases)
  func whatIsBothIsIdentifiedByItsID(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    func parkHashable<T: Codable & Hashable>(_ value: T) throws { try garage.park(value) }
    func parkIdentifiable<T: Codable & Identifiable>(_ value: T) throws { try garage.park(value) }

    var item = Item(id: UUID(), name: "lamp")
    try garage.park(item)
    item.name = "bulb"
    try parkHashable(item)
    #expect(try garage.retrieveAll(Item.self) == [item])
    item.name = "torch"
    try parkIdentifiable(item)
    #expect(try garage.retrieve(Item.self, identifier: item.id) == item)
    item.name = "candle"
    try garage.parkAll([item])
    try garage.park(any: item)
    #expect(try garage.retrieveAll(Item.self) == [item])
    #expect(try garage.identifier(for: item).description == item.id.uuidString)
  }

  @Test(arguments: Backend.allCases)
  func anySequenceParks(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<1000).lazy.reversed().map { Counter(id: $0, value: $0 * 2) })
    try garage.parkAll(Set([Address(street: "a", city: "b"), Address(street: "c", city: "d")]))
    try garage.parkAll([Counter]())
    try garage.parkAll(any: [Counter(id: 5000), Address(street: "e", city: "f")] as [Any])
    #expect(try garage.count(Counter.self) == 1001)
    #expect(try garage.count(Address.self) == 3)
    #expect(try garage.retrieveAll(Counter.self).map(\.id) == Array(0..<1000) + [5000])
  }

  @Test(arguments: Backend.allCases)
  func whatHasNoIdentityIsRefused(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    #expect(throws: GarageError.missingConformance("Shapeless")) { try garage.park(any: Shapeless()) }
    #expect(throws: GarageError.missingConformance("NSObject")) { try garage.park(any: NSObject()) }
    #expect(throws: GarageError.missingConformance("Shapeless")) { try garage.retrieveAll(Shapeless.self) }
    #expect(throws: GarageError.missingConformance("Shapeless")) { try garage.identifier(for: Shapeless()) }
    #expect(throws: GarageError.missingConformance("Shapeless")) { try garage.delete(any: Shapeless()) }
    // One that cannot be parked keeps all of its company out.
    #expect(throws: GarageError.missingConformance("Shapeless")) {
      try garage.parkAll(any: [Counter(id: 1), Shapeless()] as [Any])
    }
    #expect(try garage.count(Counter.self) == 0)
  }

  /// A reference is `Hashable`, so the compiler lets one through. It must not become an object of its own.
  @Test(arguments: Backend.allCases)
  func referencesAreNoObjects(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let reference = Reference(Counter.self, identifier: 1)
    let many = (0..<2000).map { Reference(Counter.self, identifier: $0) }
    let refused = GarageError.missingConformance("Reference<Counter>")
    await #expect(throws: refused) { try await garage.park(reference) }
    await #expect(throws: refused) { try await garage.parkAll(many) }
    try parkOnThisThread(reference, many, garage, refused)
  }

  private func parkOnThisThread(
    _ reference: Reference<Counter>, _ many: [Reference<Counter>], _ garage: Garage, _ refused: GarageError
  ) throws {
    #expect(throws: refused) { try garage.park(reference) }
    #expect(throws: refused) { try garage.parkAll(many) }
    #expect(throws: refused) { try garage.delete(reference) }
    #expect(throws: refused) { try garage.write { writer in try writer.park(reference) } }
    #expect(try garage.typeNames().isEmpty)
  }

  /// `Optional` is `Hashable`, so the compiler lets one through.
  @Test(arguments: Backend.allCases)
  func optionalsAreParkedAsWhatTheyHold(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let item: Item? = Item(id: UUID(), name: "lamp")
    try garage.park(item)
    try garage.parkAll([item, .some(Item(id: UUID(), name: "bulb"))])
    try garage.park(any: Optional(Optional(Counter(id: 1))) as Any)
    #expect(try garage.count(Item.self) == 2)
    #expect(try garage.count(Counter.self) == 1)
    #expect(try garage.identifier(for: item) == garage.identifier(for: try #require(item)))
    try garage.delete(item)
    #expect(try garage.count(Item.self) == 1)
    let none: Item? = nil
    #expect(throws: GarageError.missingConformance("Optional<Item>")) { try garage.park(none) }
    #expect(throws: GarageError.missingConformance("Optional<Item>")) { try garage.parkAll([item, none]) }
    #expect(throws: GarageError.missingConformance("Optional<Item>")) { try garage.delete(none) }
  }

  @Test(arguments: Backend.allCases)
  func classesWithoutAnIDOfTheirOwnAreRefused(_ backend: Backend) throws {
    final class Plain: Codable, Identifiable {}
    let garage = try Place(backend).garage()
    #expect {
      try garage.park(Plain())
    } throws: { error in
      if case .unsupportedIDConformance? = error as? GarageError { true } else { false }
    }
  }

  @Test(arguments: Backend.allCases)
  func anErrorInAGraphLeavesNoTrace(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    let garage = try Garage(driver)
    let before = try Driver.contents(driver)
    let members = (0..<100).map { Counter(id: $0) }
    #expect(throws: Moody.Mood()) {
      try garage.park(Crowd(id: "a", members: members, moody: Moody(1, refusesToEncode: true)))
    }
    #expect(try Driver.contents(driver) == before)
  }

  /// Whatever operation of the storage fails while a graph is written, nothing of it is there.
  @Test(arguments: [StorageError.Operation.read, .write, .get, .put, .commit])
  func aFailureOfTheStorageLeavesNoTrace(_ operation: StorageError.Operation) throws {
    let place = try Place(.faultySQLite)
    let driver = try place.open()
    let garage = try Garage(driver)
    let before = try Driver.contents(driver)
    let crowd = Crowd(id: "a", members: (0..<10).map { Counter(id: $0) })
    var failures = 0
    while true {
      place.plan.reset()
      place.plan.fail(operation, after: failures)
      defer { place.plan.reset() }
      do {
        try garage.park(crowd)
        break
      } catch GarageError.storage(let error) {
        #expect(error.kind == .io)
      }
      place.plan.reset()
      failures += 1
      #expect(try Driver.contents(driver) == before)
      #expect(try garage.retrieveAll(Counter.self).isEmpty)
    }
    #expect(failures > 0 || operation == .read)
    #expect(try Garage(driver).retrieve(Crowd.self, identifier: "a")?.members.count == 10)
  }

  /// Texts that a rolled-back transaction put are put again by the next.
  @Test(arguments: Backend.allCases)
  func whatWasRolledBackIsNotBelievedToBeThere(_ backend: Backend) throws {
    struct Stop: Error {}
    let place = try Place(backend)
    let driver = try place.open()
    let garage = try Garage(driver)
    #expect(throws: Stop.self) {
      try garage.write { writer in
        try writer.park(Counter(id: 1))
        throw Stop()
      }
    }
    garage.isAutosaveEnabled = false
    try garage.park(Counter(id: 2))
    garage.discardUnsavedChanges()
    garage.isAutosaveEnabled = true
    try garage.park(Counter(id: 3))

    let other = try Garage(driver)
    #expect(try other.retrieveAll(Counter.self) == [Counter(id: 3)])
    let texts = try Driver.contents(driver, .prefix([0x01])).values.map {
      String(decoding: $0, as: UTF8.self)
    }
    #expect(texts.contains { $0.hasSuffix("Counter") })
    #expect(try !Driver.contents(driver, .prefix([0x02])).isEmpty)
  }

  @Test(arguments: Backend.allCases)
  func aDamagedNameIsWrittenAnew(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    try Garage(driver).park(Counter(id: 1))
    for space in [0x01, 0x02] as [UInt8] {
      let (key, text) = try #require(try Driver.contents(driver, .prefix([space])).first)
      try Driver.put(text.map { $0 ^ 1 }, for: key.bytes, driver)
      try Garage(driver).park(Counter(id: 2))
      #expect(try Driver.contents(driver, .prefix([space]))[key] == text)
    }
  }

  @Test(arguments: Backend.allCases)
  func identifiersOfAnyLengthWork(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let ids = [
      "", "a", "emoji 🚗", "nul\0nul", String(repeating: "x", count: 239),
      String(repeating: "y", count: 511), String(repeating: "y", count: 512),
      String(repeating: "ü", count: 100_000), String(repeating: "ü", count: 100_000) + "!",
    ]
    for id in ids { try garage.park(Person(id)) }
    garage = try place.reopened(garage)
    for id in ids {
      #expect(try garage.retrieve(Person.self, identifier: id)?.id == id)
      #expect(try garage.contains(Person.self, identifier: id))
    }
    #expect(try garage.count(Person.self) == ids.count)
    #expect(try garage.retrieveAll(Person.self).map(\.id).sorted() == ids.sorted())
    for id in ids { try garage.delete(Person.self, identifier: id) }
    #expect(try garage.count(Person.self) == 0)
  }
}

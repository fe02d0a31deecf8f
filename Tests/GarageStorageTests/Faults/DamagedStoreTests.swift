import Foundation
import GarageDriver
import GarageStorage
import Testing

/// An object whose record has every part: a whole identifier, a tag of its own, references, shapes.
private final class Ship: Codable, Identifiable {
  var id: String
  var name: String
  var captain: Person?
  @Linked var crew: [Person]
  var home: Reference<Item>?
  var cargo: [String: Double]
  var log: [Date]

  init(_ id: String) {
    self.id = id
    name = "Nautilus"
    captain = Person("captain", age: 50)
    cargo = ["coal": 1.5, "food": -2]
    log = [.distantPast, .distantFuture]
    crew = [Person("mate"), Person("cook")]
    home = Reference(Item.self, identifier: UUID())
  }
}

/// Damaged records: always an error that names type and identifier, never another object.
@Suite struct DamagedStoreTests {
  private func isDamage(_ error: any Error, of type: String, _ id: String) -> Bool {
    switch error as? GarageError {
    case .corruptRecord(type, let named, _), .newerRecordFormat(type, let named, _):
      // A long identifier may be shown in part.
      return named == id || (id.count > 200 && !named.isEmpty && "\(error)".contains(type))
    default: return false
    }
  }

  /// One record, every bit and every length.
  private func damage(_ backend: Backend, id: String) throws {
    let place = try Place(backend)
    let driver = try place.open()
    let garage = try Garage(driver)
    try garage.park(Ship(id))
    let key = try #require(
      try Driver.contents(driver, .prefix([0x10])).first { _, record in
        record.contains(Array("Nautilus".utf8))
      })
    func expectDamage(_ bytes: [UInt8], _ what: String) throws {
      try Driver.put(bytes, for: key.key.bytes, driver)
      for verb in [
        { _ = try garage.retrieve(Ship.self, identifier: id) }, { _ = try garage.retrieveAll(Ship.self) },
      ] as [() throws -> Void] {
        do {
          try verb()
          Issue.record("\(what) went unnoticed")
        } catch {
          if !isDamage(error, of: "Ship", id) { Issue.record("\(what): \(error)") }
        }
      }
    }
    // Every bit of every byte, but of a record with a long identifier.
    let step = id.utf8.count < 100 || runsLongTests ? max(1, key.value.count / 1000) : key.value.count / 60
    #expect(step == 1 || id.utf8.count >= 500)
    for byte in stride(from: 0, to: key.value.count, by: step) {
      for bit in 0..<8 {
        var bytes = key.value
        bytes[byte] ^= 1 << bit
        try expectDamage(bytes, "bit \(bit) of byte \(byte)")
      }
      try expectDamage(Array(key.value[..<byte]), "a cut at \(byte)")
    }
    try expectDamage(key.value + [0], "a byte too many")
    try Driver.put(key.value, for: key.key.bytes, driver)
    let ship = try #require(try garage.retrieve(Ship.self, identifier: id))
    #expect(ship.crew.map(\.id) == ["mate", "cook"] && ship.captain?.age == 50)
  }

  @Test(arguments: Backend.engines)
  func everyBitAndEveryCutOfOneRecordIsNoticed(_ backend: Backend) throws { try damage(backend, id: "ship") }

  @Test(arguments: Backend.engines)
  func damageOfARecordWithALongIdentifierIsNoticed(_ backend: Backend) throws {
    try damage(backend, id: String(repeating: "long ", count: 100))
    if backend == .memory { try damage(backend, id: String(repeating: "long ", count: 20_000)) }
  }

  /// A record under another's key is not taken for it.
  @Test(arguments: Backend.allCases)
  func recordsThatChangedPlacesAreNoticed(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let garage = try Garage(driver)
    try garage.parkAll([Counter(id: 1, value: 10), Counter(id: 2, value: 20)])
    let records = try Driver.contents(driver, .prefix([0x10])).sorted { $0.key < $1.key }
    try Driver.put(records[1].value, for: records[0].key.bytes, driver)
    #expect { try garage.retrieve(Counter.self, identifier: 1) } throws: { isDamage($0, of: "Counter", "1") }
    #expect(try garage.retrieve(Counter.self, identifier: 2)?.value == 20)
    // It can be parked anew, and deleted.
    try garage.park(Counter(id: 1, value: 11))
    #expect(try garage.retrieveAll(Counter.self).map(\.value) == [11, 20])
  }

  /// Random damage to records of many kinds: bits, cuts, noise.
  @Test(arguments: Backend.engines, [1, 2, 3] as [UInt64])
  func randomDamageIsNoticed(_ backend: Backend, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let driver = try Place(backend).open()
    let garage = try Garage(driver, types: [Dog.self])
    let dog = Dog("rex")
    dog.tricks = ["roll", "sit"]
    try garage.parkAll(
      any: [
        Ship("a"), Item(id: UUID(), name: "lamp"), Address(street: "Main", city: "x"), Counter(id: 7), dog,
        Crowd(id: "crowd", members: (0..<20).map { Counter(id: $0) }),
      ] as [Any])
    let records = try Driver.contents(driver, .prefix([0x10])).sorted { $0.key < $1.key }
    let verbs: [() throws -> Void] = [
      { _ = try garage.retrieveAll(Ship.self) }, { _ = try garage.retrieveAll(Item.self) },
      { _ = try garage.retrieveAll(Address.self) }, { _ = try garage.retrieveAll(Counter.self) },
      { _ = try garage.retrieveAll(Animal.self) }, { _ = try garage.retrieveAll(Crowd.self) },
      { _ = try garage.retrieveAll(Person.self) },
    ]
    for step in 0..<200 {
      let record = records.randomElement(using: &generator)!
      var bytes = record.value
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
          1 << UInt8.random(in: 0..<8, using: &generator)
      case 1: bytes.removeLast(Int.random(in: 1...bytes.count, using: &generator))
      case 2:
        for _ in 0..<4 {
          bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
        }
      default:
        bytes = (0..<Int.random(in: 0..<300, using: &generator)).map { _ in
          .random(in: 0...255, using: &generator)
        }
      }
      if bytes == record.value { continue }
      try Driver.put(bytes, for: record.key.bytes, driver)
      var errors: [any Error] = []
      for verb in verbs {
        do { try verb() } catch { errors.append(error) }
      }
      #expect(!errors.isEmpty, "seed \(seed), step \(step): went unnoticed")
      for error in errors {
        switch error as? GarageError {
        case .corruptRecord(let type, let id, _), .newerRecordFormat(let type, let id, _):
          #expect(!type.isEmpty && !id.isEmpty, "seed \(seed), step \(step)")
        default: Issue.record("seed \(seed), step \(step): \(error)")
        }
      }
      try Driver.put(record.value, for: record.key.bytes, driver)
    }
    for verb in verbs { try verb() }
  }

  // MARK: Files

  @Test(arguments: [Backend.sqlite, .lmdb])
  func aFileThatIsNoStoreIsRefusedAndLeftAlone(_ backend: Backend) throws {
    let place = try Place(backend)
    var generator = SeededGenerator(seed: 5)
    let noise = Data((0..<10_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
    let file = try file(of: place)
    try noise.write(to: file)
    #expect(throws: StorageError.self) { try Garage(place.open()) }
    #expect(try Data(contentsOf: file) == noise)
    try FileManager.default.removeItem(at: place.storePath)
    let garage = try place.garage()
    try garage.park(Counter(id: 1))
    #expect(try garage.count(Counter.self) == 1)
  }

  /// The store of one engine, opened by the other.
  @Test(arguments: [Backend.sqlite, .lmdb])
  func aStoreOfAnotherEngineIsRefusedAndLeftAlone(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.park(Counter(id: 1, value: 3))
    try garage.close()
    let other = try Place(backend == .sqlite ? .lmdb : .sqlite)
    let copy = try file(of: other)
    try FileManager.default.copyItem(at: try file(of: place), to: copy)
    #expect(throws: StorageError.self) { try Garage(other.open()) }
    #expect(try place.garage().retrieve(Counter.self, identifier: 1)?.value == 3)
  }

  /// Where the engine keeps its bytes.
  private func file(of place: Place) throws -> URL {
    if place.backend == .sqlite { return place.storePath }
    try FileManager.default.createDirectory(at: place.storePath, withIntermediateDirectories: true)
    return place.storePath.appending(path: "data.mdb")
  }
}

extension Array<UInt8> {
  func contains(_ other: [UInt8]) -> Bool {
    indices.contains { self[$0...].starts(with: other) }
  }
}

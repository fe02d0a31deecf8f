import Foundation
import GarageConformance
import GarageDriver
@testable import GarageStorage
import Testing

/// A garage is made or opened where there is none or one, and anything else is refused and left alone.
@Suite struct OpeningTests {
  private static let metadataKey: [UInt8] = [0x00] + Array("garage".utf8)

  @Test(arguments: Backend.allCases)
  func aNewGarageHoldsItsMetadataAlone(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    _ = try Garage(driver)
    let contents = try Driver.contents(driver)
    #expect(contents.keys.map(\.bytes) == [OpeningTests.metadataKey])
    let bytes = try #require(contents.values.first)
    #expect(bytes.count == 24)
    #expect(bytes.starts(with: Array("Garage".utf8) + [0, 1]))
    // Opening again writes nothing.
    _ = try Garage(driver)
    #expect(try Driver.contents(driver) == contents)
  }

  @Test(arguments: Backend.allCases)
  func aStoreThatIsNoGarageIsRefusedAndLeftAlone(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    try Driver.put([1, 2, 3], for: [0x10, 1], driver)
    let before = try Driver.contents(driver)
    #expect(throws: GarageError.notAGarage(driver: driver.info.name)) { try Garage(driver) }
    #expect(try Driver.contents(driver) == before)
    try driver.write { transaction in
      try transaction.removeAll(in: .all)
      return .commit(())
    }
    _ = try Garage(driver)
  }

  @Test(arguments: Backend.allCases)
  func aNewerFormatIsRefusedAndLeftAlone(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    let newer: [UInt8] = Array("Garage".utf8) + [0, 3, 1, 2, 3]
    try Driver.put(newer, for: OpeningTests.metadataKey, driver)
    #expect(throws: GarageError.newerFormat(version: 3, driver: driver.info.name)) { try Garage(driver) }
    #expect(try Driver.contents(driver).values.first == newer)
  }

  @Test(arguments: Backend.allCases)
  func everyDamageOfTheMetadataIsNoticed(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    _ = try Garage(driver)
    let whole = try #require(try Driver.contents(driver).values.first)
    var damaged = (0..<whole.count * 8).map { bit in
      var bytes = whole
      bytes[bit / 8] ^= 1 << (bit % 8)
      return bytes
    }
    damaged += (0..<whole.count).map { Array(whole[..<$0]) }
    for bytes in damaged {
      try Driver.put(bytes, for: OpeningTests.metadataKey, driver)
      #expect {
        try Garage(driver)
      } throws: { error in
        switch error as? GarageError {
        case .damagedMetadata, .newerFormat: true
        default: false
        }
      }
    }
    try Driver.put(whole, for: OpeningTests.metadataKey, driver)
    _ = try Garage(driver)
  }

  @Test(arguments: Backend.durable)
  func aGarageCanBeOpenedForReadingOnly(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.park(Counter(id: 1, value: 5))
    try garage.close()

    let reader = try Garage(place.open(readOnly: true))
    #expect(try reader.retrieve(Counter.self, identifier: 1)?.value == 5)
    #expect {
      try reader.park(Counter(id: 2))
    } throws: { error in
      if case .storage(let error)? = error as? GarageError { error.kind == .readOnly } else { false }
    }
    try reader.close()
  }

  @Test(arguments: Backend.durable)
  func readingOnlyMakesNoGarage(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    try Driver.put([1], for: [1], driver)
    try driver.write { transaction in
      try transaction.removeAll(in: .all)
      return .commit(())
    }
    try driver.close()
    let reader = try place.open(readOnly: true)
    #expect(throws: GarageError.noGarage(driver: reader.info.name)) { try Garage(reader) }
  }

  @Test(arguments: Backend.allCases)
  func aClosedGarageSaysSo(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let (counter, errand) = (Counter(id: 1), Errand(id: 1))
    let reference = Reference(to: counter)
    try garage.park(counter)
    try garage.close()
    try garage.close()

    let verbs: [() throws -> Void] = [
      { try garage.park(counter) }, { try garage.parkAll([counter]) }, { try garage.park(any: counter) },
      { _ = try garage.retrieve(Counter.self, identifier: 1) },
      { _ = try garage.retrieve(Counter.self, identifier: "1") },
      { _ = try garage.retrieve(Counter.self, identifier: UUID()) },
      { _ = try garage.retrieve(reference) }, { _ = try garage.retrieveAll(Counter.self) },
      { try garage.forEach(Counter.self) { _ in } }, { _ = try garage.contains(Counter.self, identifier: 1) },
      { _ = try garage.count(Counter.self) }, { try garage.delete(counter) },
      { try garage.delete(Counter.self, identifier: 1) }, { try garage.deleteAll(Counter.self) },
      { try garage.deleteAllObjects() }, { try garage.read { _ in } }, { try garage.write { _ in } },
      { try garage.save() }, { _ = try garage.identifier(for: errand) },
      { _ = try garage.syncStatus(for: errand) }, { try garage.setSyncStatus(.synced, for: errand) },
      { try garage.setSyncStatus(.synced, for: [Errand]()) },
      { _ = try garage.retrieveAll(Errand.self, withStatus: .synced) },
      { _ = try garage.allSyncables(.synced) }, { _ = try garage.migrateAll(Counter.self) },
      { _ = try garage.migrateAll(from: Errand.self, to: Counter.self) },
      { _ = try garage.migrateAll(fromOldClassName: "Errand", to: Counter.self) },
      { _ = try garage.get(.launchCount) }, { try garage.set(.launchCount, value: 1) },
      { try garage.clear() },
    ]
    for (number, verb) in verbs.enumerated() {
      #expect(throws: GarageError.closed, "verb \(number)") { try verb() }
    }
    #expect(try place.garage().retrieve(Counter.self, identifier: 1) == counter)
  }

  @Test(arguments: Backend.durable)
  func closingInsideATransactionIsRefused(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.read { reader in
      #expect {
        try garage.close()
      } throws: { error in
        if case .storage(let error)? = error as? GarageError {
          error.kind == .closeInsideTransaction
        } else {
          false
        }
      }
      let count = try reader.count(Counter.self)
      #expect(count == 0)
    }
    try garage.park(Counter(id: 1))
    try garage.close()
  }

  @Test(arguments: Backend.allCases)
  func aGarageWhoseStorageWasClosedSaysSo(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let garage = try Garage(driver)
    try driver.close()
    #expect(throws: GarageError.closed) { try garage.park(Counter(id: 1)) }
    #expect(throws: GarageError.closed) { try garage.count(Counter.self) }
  }

  @Test(arguments: Backend.allCases)
  func twoGaragesShareAStore(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let (one, two) = (try Garage(driver), try Garage(driver))
    try one.park(Counter(id: 1))
    #expect(try two.retrieve(Counter.self, identifier: 1) != nil)
    try two.park(Address(street: "a", city: "b"))
    #expect(try one.count(Address.self) == 1)
    try two.deleteAllObjects()
    #expect(try one.count(Counter.self) == 0)
    // Names stay when objects go: what one garage knows to be there, is.
    try one.park(Counter(id: 2))
    #expect(try Garage(driver).retrieve(Counter.self, identifier: 2) != nil)
  }

  @Test func registeredTypesInConflictAreRefused() throws {
    let place = try Place(.sqlite)
    #expect {
      try place.garage([Shapeless.self])
    } throws: { error in
      error as? GarageError == .missingConformance("Shapeless")
    }
  }

  @Test func keysAreLaidOutAsDrawn() throws {
    let identifier = try #require(Identifier(bytes: [0x50] + Array("Sam".utf8)))
    let keys = ObjectKeys(hidingKey: nil, isSealed: false)
    let key = try keys.record(tag: 0x0102_0304_0506_0708, identifier)
    #expect(key.bytes == [0x10, 1, 2, 3, 4, 5, 6, 7, 8, 0x50] + Array("Sam".utf8))
    #expect(KeyLayout.tag(inRecordKey: key.bytes.span.bytes) == 0x0102_0304_0506_0708)
    #expect(KeyLayout.records(tag: 0x0102_0304_0506_0708).contains(key))
    #expect(!KeyLayout.records(tag: 0x0102_0304_0506_0709).contains(key))
    #expect(KeyLayout.allRecords.contains(key))
    #expect(KeyLayout.text(TextName(kind: .tag, digest: 1)).bytes == [1, 0, 0, 0, 0, 0, 0, 0, 1])
    #expect(KeyLayout.text(TextName(kind: .shape, digest: 1)).bytes == [2, 0, 0, 0, 0, 0, 0, 0, 1])
    let long = try #require(Identifier(bytes: [0x50] + [UInt8](repeating: 0x61, count: 10_000)))
    #expect(try keys.record(tag: .max, long).bytes.count == 249)
    let other = KeyLayout.record(tag: 7, sameIdentifierAs: key.bytes.span.bytes)
    #expect(other.bytes == [0x10, 0, 0, 0, 0, 0, 0, 0, 7, 0x50] + Array("Sam".utf8))
    try keys.withStorageKey(tag: 7, identifier.keyBytes.span.bytes) { lent in
      #expect([UInt8](copying: lent) == other.bytes)
    }
  }
}

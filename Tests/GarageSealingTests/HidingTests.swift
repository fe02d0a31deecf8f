import Foundation
import GarageDriver
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

/// A garage that keeps its identifiers out of the storage's keys.
@Suite struct HidingTests {
  private func hidden(_ place: SealedPlace, types: [any Codable.Type] = []) throws -> Garage {
    try Garage(place.sealed(), types: types, hidesIdentifiers: true)
  }

  // MARK: - What is on the disk

  /// The files are searched while the store is open, its write-ahead log included, and after it was closed.
  @Test(arguments: [SealedBase.sqlite, .lmdb])
  func noIdentifierIsOnTheDisk(_ base: SealedBase) throws {
    // What is searched for would be found, were it there.
    let readable = try SealedPlace(base)
    let open = try Garage(readable.sealed())
    try Hidden.park(in: open)
    for (name, bytes) in try Hidden.traces(open) {
      #expect(try readable.fileBytes().range(of: bytes) != nil, "\(name) in a garage that does not hide")
    }

    let place = try SealedPlace(base)
    var garage = try hidden(place)
    try Hidden.park(in: garage)
    try search(place, garage)
    let people = try garage.retrieveAll(HiddenPerson.self, withStatus: .notSynced)
    #expect(people.count == 75)
    try garage.setSyncStatus(.synced, for: people)
    try garage.delete(HiddenPerson.self, identifier: "\(Hidden.mark)-7")
    try search(place, garage)
    try garage.close()
    // As long as the key is changed, too.
    let storage = try place.sealed(InsecureTestSealer(key: 2), former: [InsecureTestSealer(key: 1)])
    #expect(try storage.rekey(batchCount: 50).isComplete)
    try storage.close()
    garage = try Garage(place.sealed(InsecureTestSealer(key: 2)), hidesIdentifiers: true)
    try search(place, garage)
    #expect(try garage.count(HiddenPerson.self) == 300)
    #expect(try garage.retrieve(HiddenPerson.self, identifier: "\(Hidden.mark)-8")?.age == 8)
    try garage.close()
  }

  private func search(_ place: SealedPlace, _ garage: Garage) throws {
    let bytes = try place.fileBytes()
    #expect(bytes.count > 10_000)
    for (name, trace) in try Hidden.traces(garage) {
      #expect(bytes.range(of: trace) == nil, "\(name) is on the disk")
    }
  }

  /// Keys of records and of statuses have one form and length, whatever the identifier.
  @Test(arguments: SealedBase.allCases)
  func keysHaveTheDrawnForm(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    try Hidden.park(in: hidden(place))
    let keys = try place.plain().keys()
    #expect(keys[..<2].map { $0.bytes } == [[0x00] + Array("garage".utf8), [0x00] + Array("hiding".utf8)])
    let records = keys.filter { $0.bytes[0] == 0x10 }
    #expect(records.count == 306 && records.allSatisfy { $0.bytes.count == 1 + 8 + 16 })
    let statuses = keys.filter { $0.bytes[0] == 0x21 }
    #expect(statuses.count == 301 && statuses.allSatisfy { $0.bytes.count == 2 + 8 + 16 })
    for status in statuses {
      #expect(records.contains { $0.bytes.dropFirst().elementsEqual(status.bytes.dropFirst(2)) })
    }
  }

  /// The hash has a key of its own in each garage.
  @Test func noTwoGaragesHideAlike() throws {
    let places = [try SealedPlace(.memory), try SealedPlace(.memory)]
    for place in places { try hidden(place).park(HiddenPerson(id: "a")) }
    let keys = try places.map { Set(try $0.plain().keys().filter { $0.bytes[0] == 0x10 }) }
    #expect(keys[0].count == 1 && keys[0].isDisjoint(with: keys[1]))
  }

  // MARK: - The setting

  @Test(arguments: SealedBase.allCases)
  func theGarageKeepsWhatItWasMadeWith(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    var garage = try hidden(place)
    #expect(garage.hidesIdentifiers)
    try garage.park(HiddenPerson(id: "a", age: 5))
    try garage.close()
    // Also where nobody asks.
    garage = try Garage(place.sealed())
    #expect(garage.hidesIdentifiers)
    #expect(try garage.retrieve(HiddenPerson.self, identifier: "a")?.age == 5)
    try garage.park(HiddenPerson(id: "b", age: 6))
    try garage.close()
    garage = try hidden(place)
    #expect(Set(try garage.retrieveAll(HiddenPerson.self).map(\.id)) == ["a", "b"])
    #expect(try place.plain().keys().filter { $0.bytes[0] == 0x10 }.allSatisfy { $0.bytes.count == 25 })
  }

  @Test(arguments: SealedBase.allCases)
  func aGarageMadeWithoutIsRefusedAndLeftAsItIs(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    let garage = try Garage(place.sealed())
    #expect(!garage.hidesIdentifiers)
    try garage.park(HiddenPerson(id: "a"))
    let before = try place.plain().entries()
    #expect {
      try Garage(place.sealed(), hidesIdentifiers: true)
    } throws: { error in
      guard case .identifiersNotHidden(_, let reason)? = error as? GarageError else { return false }
      return reason.contains("made without") && "\(error)".contains("Nothing was changed")
    }
    #expect(try place.plain().entries() == before)
    #expect(try garage.retrieve(HiddenPerson.self, identifier: "a") != nil)
  }

  @Test(arguments: SealedBase.allCases)
  func itTakesASeal(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    let storage = try place.plain()
    #expect {
      try Garage(storage, hidesIdentifiers: true)
    } throws: { error in
      guard case .identifiersNotHidden(let driver, let reason)? = error as? GarageError else { return false }
      return driver == storage.info.name && reason.contains("SealedStorage")
    }
    #expect(try storage.entries().isEmpty)
  }

  @Test func everyDamageOfTheSettingIsNoticed() throws {
    let place = try SealedPlace(.memory)
    let garage = try hidden(place)
    try garage.park(HiddenPerson(id: "a"))
    let storage = try place.sealed()
    let whole = try #require(try storage.raw("\u{0}hiding"))
    #expect(whole.count == 41)
    let damaged =
      (0..<whole.count * 8).map { bit in
        var bytes = whole
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        return bytes
      } + (0..<whole.count).map { Array(whole[..<$0]) }
    for bytes in damaged {
      try storage.put(raw: bytes, for: "\u{0}hiding")
      #expect {
        try Garage(place.sealed())
      } throws: { error in
        switch error as? GarageError {
        case .damagedMetadata, .newerFormat: true
        default: false
        }
      }
    }
    try storage.put(raw: whole, for: "\u{0}hiding")
    #expect(try Garage(place.sealed()).retrieve(HiddenPerson.self, identifier: "a") != nil)
    // Taken away, it is missed by those who ask for it.
    try storage.write { transaction in
      try transaction.remove(StorageKey([0x00] + Array("hiding".utf8)))
      return .commit(())
    }
    #expect(throws: GarageError.self) { try Garage(place.sealed(), hidesIdentifiers: true) }
  }

  // MARK: - Damage and exchange

  /// Below the seal every exchange is noticed by the sealer; above it, where somebody has the key or the sealer is
  /// weak, by the garage.
  @Test(arguments: SealedBase.allCases)
  func exchangedRecordsAreNoticed(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    let garage = try hidden(place)
    try garage.parkAll([HiddenPerson(id: "rich", age: 1), HiddenPerson(id: "poor", age: 2)])
    let (plain, sealed) = (try place.plain(), try place.sealed())
    let keys = try plain.keys().filter { $0.bytes[0] == 0x10 }
    for (storage, isSealed) in [(plain, true), (sealed as any StorageDriver, false)] {
      let values = try keys.map { key in try #require(try storage.read { try $0.value(for: key) }) }
      try storage.put([(keys[0], values[1]), (keys[1], values[0])])
      let verbs: [() throws -> Void] = [
        { _ = try garage.retrieve(HiddenPerson.self, identifier: "rich") },
        { _ = try garage.retrieveAll(HiddenPerson.self) },
        { _ = try garage.retrieveAll(HiddenPerson.self, withStatus: .undetermined) },
        { _ = try garage.syncStatus(for: HiddenPerson(id: "poor")) },
        { try garage.setSyncStatus(.synced, for: HiddenPerson(id: "poor")) },
      ]
      for (number, verb) in verbs.enumerated() {
        #expect("verb \(number) of \(isSealed ? "a sealed" : "an opened") value") {
          try verb()
        } throws: { error in
          switch error as? GarageError {
          case .storage(let error): isSealed && error.kind == .tampered
          case .corruptRecord(let type, let name, let reason):
            // A scan finds another identifier than the key's, a look-up another checksum.
            !isSealed && type == "HiddenPerson"
              && (name.hasPrefix("hidden as") || ["rich", "poor"].contains(name))
              && (reason.contains("another object's identifier") || reason.contains("checksum"))
          default: false
          }
        }
      }
      try storage.put([(keys[0], values[0]), (keys[1], values[1])])
    }
    #expect(try garage.retrieve(HiddenPerson.self, identifier: "rich")?.age == 1)
  }

  /// Any one bit of a record, seen by every way to it.
  @Test func everyFlippedBitIsNoticed() throws {
    let place = try SealedPlace(.memory)
    let garage = try hidden(place)
    try garage.park(HiddenPerson(id: "a", age: 1, syncStatus: .synced))
    let storage = try place.sealed()
    let key = try #require(try storage.keys().first { $0.bytes[0] == 0x10 })
    let whole = try #require(try storage.read { try $0.value(for: key) })
    var damaged = (0..<whole.count * 8).map { bit in
      var bytes = whole
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      return bytes
    }
    damaged += (0..<whole.count).map { Array(whole[..<$0]) }
    for (number, bytes) in damaged.enumerated() {
      try storage.put([(key, bytes)])
      let ways: [() throws -> Void] = [
        { _ = try garage.retrieve(HiddenPerson.self, identifier: "a") },
        { _ = try garage.retrieveAll(HiddenPerson.self) },
        { try garage.forEach(HiddenPerson.self) { _ in } },
        { _ = try garage.retrieveAll(HiddenPerson.self, withStatus: .synced) },
        { _ = try garage.syncStatus(for: HiddenPerson(id: "a")) },
      ]
      for way in ways {
        #expect("case \(number)") {
          try way()
        } throws: { error in
          switch error as? GarageError {
          case .corruptRecord, .newerRecordFormat: true
          default: false
          }
        }
      }
      let report = try garage.migrateAll(HiddenPerson.self)
      #expect(report.failedCount == 1, "case \(number)")
    }
    // It is replaced, and what indexes said of it with it.
    try garage.park(HiddenPerson(id: "a", age: 2, syncStatus: .notSynced))
    #expect(try garage.retrieveAll(HiddenPerson.self, withStatus: .synced).isEmpty)
    #expect(try garage.retrieveAll(HiddenPerson.self, withStatus: .notSynced).map(\.age) == [2])
  }
}

extension StorageDriver {
  func keys() throws -> [StorageKey] {
    try read { transaction in
      var keys: [StorageKey] = []
      try transaction.scan(.all, .forward) { key, _ in
        keys.append(StorageKey(key))
        return .continue
      }
      return keys
    }
  }

  func put(_ entries: [(StorageKey, [UInt8])]) throws {
    try write { transaction in
      for (key, value) in entries { try transaction.put(value, for: key) }
      return .commit(())
    }
  }
}

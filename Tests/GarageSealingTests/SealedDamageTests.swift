import Foundation
import GarageDriver
import GarageMemory
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

/// Damage anywhere in a sealed store: one entry never decides about the others.
@Suite struct SealedDamageTests {
  static let values = ["a": "first", "b": "", "m": "the value", "z": "last"]

  private func damaged(_ whole: [UInt8]) -> [(name: String, bytes: [UInt8])] {
    let flips = (0..<whole.count * 8).map { bit in
      var bytes = whole
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      return ("bit \(bit)", bytes)
    }
    let cuts = (0..<whole.count).map { ("cut to \($0)", Array(whole[..<$0])) }
    let zeros = ("zeros", [UInt8](repeating: 0, count: whole.count))
    let header = ("another header", [0xF8, 0x53, 0x4C, 1, 9, 9, 9, 9] + whole.dropFirst(9) + [7])
    return flips + cuts + [zeros, header]
  }

  /// Each entry of a small store in turn: the store opens, the others are read, and the damaged one is named.
  @Test(arguments: [[InsecureTestSealer(key: 1)], [InsecureTestSealer(key: 2), InsecureTestSealer(key: 1)]])
  func everyFlippedBitIsThatEntrysAlone(_ sealers: [InsecureTestSealer]) throws {
    let place = try SealedPlace(.memory)
    try place.sealed().put(Self.values)
    let plain = try place.plain()
    for (key, _) in Self.values {
      let whole = try #require(try plain.raw(key))
      for (name, bytes) in damaged(whole) {
        try plain.put(raw: bytes, for: key)
        let storage = try SealedStorage(plain, sealer: sealers[0], formerSealers: Array(sealers.dropFirst()))
        for (other, value) in Self.values where other != key { #expect(try storage.text(other) == value) }
        let error = try #require(storageError { _ = try storage.text(key) }, "\(key), \(name)")
        let kinds: [StorageError.Kind] =
          name.hasPrefix("bit") ? [.tampered] : [.tampered, .notSealed, .wrongKey]
        #expect(kinds.contains(error.kind), "\(key), \(name): \(error)")
        #expect(error.message.contains(StorageKey(Array(key.utf8)).description))
        #expect(error.message.contains("replace or remove it"))
        #expect(storageError { _ = try storage.entries() }?.kind == error.kind)
        try plain.put(raw: whole, for: key)
      }
    }
    #expect(try place.sealed().entries() == Self.values)
  }

  /// As long as one entry is whole, whichever it is.
  @Test func oneWholeEntryIsEnough() throws {
    for count in [1, 2, 3, 40, 600] {
      let all = Dictionary(
        uniqueKeysWithValues: (0..<count).map { (String(format: "%04d", $0), "value \($0)") })
      let places = Set([0, 1, count / 2, count - 2, count - 1].filter { (0..<count).contains($0) })
      for whole in places where count < 600 || whole < 256 || whole > 344 {
        let place = try SealedPlace(.memory)
        try place.sealed().put(all)
        let plain = try place.plain()
        try plain.put(
          try (0..<count).filter { $0 != whole }.map { number in
            let key = StorageKey(Array(String(format: "%04d", number).utf8))
            var bytes = try #require(try plain.read { try $0.value(for: key) })
            bytes[8 + number % (bytes.count - 8)] ^= 16
            return (key, bytes)
          })
        let storage = try place.sealed()
        let key = String(format: "%04d", whole)
        #expect(try storage.text(key) == all[key])
        // A key that opens none of them is refused all the same.
        #expect(storageError { _ = try place.sealed(InsecureTestSealer(key: 3)) }?.kind == .wrongKey)
        let same = InsecureTestSealer(key: 3, identifier: InsecureTestSealer(key: 1).keyIdentifier)
        #expect(storageError { _ = try place.sealed(same) }?.kind == .wrongKey)
      }
    }
  }

  /// Where none opens, the error says both what it may be.
  @Test func wholeStoresThatDoNotOpenAreRefusedAndLeft() throws {
    let place = try SealedPlace(.memory)
    try place.sealed().put(Self.values)
    let plain = try place.plain()
    let before = try plain.entries()
    let same = InsecureTestSealer(key: 3, identifier: InsecureTestSealer(key: 1).keyIdentifier)
    let error = try #require(storageError { _ = try place.sealed(same) })
    #expect(error.kind == .wrongKey && error.operation == .open)
    #expect(error.message.contains("of 4 values") && error.message.contains("all damaged"))
    #expect(try plain.entries() == before)
  }

  @Test func rekeyGoesOnPastDamage() throws {
    let (old, new) = (InsecureTestSealer(key: 1), InsecureTestSealer(key: 2))
    let count = try #require(
      try { () -> Int? in
        let place = try SealedPlace(.memory)
        try place.sealed(old).put(Self.values)
        return try place.plain().raw("z")?.count
      }())
    for key in Self.values.keys.sorted() {
      for bit in 0..<count * 8 {
        let place = try SealedPlace(.memory)
        try place.sealed(old).put(Self.values)
        let plain = try place.plain()
        var bytes = try #require(try plain.raw(key))
        guard bit / 8 < bytes.count else { continue }
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        try plain.put(raw: bytes, for: key)
        let storage = try place.sealed(new, former: [old])
        let result = try storage.rekey(batchCount: 2)
        #expect(result.failedCount == 1 && result.resealedCount == 3 && !result.isComplete)
        #expect(result.failures.map(\.kind) == [.tampered])
        #expect(result.failedKeys == [StorageKey(Array(key.utf8))])
        #expect(try plain.raw(key) == bytes)
        // The store opens with both keys, and with the new one alone.
        #expect(try place.sealed(new, former: [old]).text(key == "m" ? "a" : "m") != nil)
        let alone = try place.sealed(new)
        #expect(storageError { _ = try alone.text(key) } != nil)
        // Given up, it is removed, and the work complete.
        try alone.write { transaction in
          for key in result.failedKeys { try transaction.remove(key) }
          return .commit(())
        }
        #expect(try place.sealed(new, former: [old]).rekey().isComplete)
        #expect(try place.sealed(new).entries() == Self.values.filter { $0.key != key })
      }
    }
  }

  // MARK: - Garages

  static let nickname = Key<GlobalNamespace, String>(id: "nickname", defaultValue: "")

  private func garage(_ place: SealedPlace, hides: Bool) throws -> Garage {
    try Garage(place.sealed(), hidesIdentifiers: hides)
  }

  /// Bits of every byte of any entry: what does not need the entry works, what does says so, and all but the garage's own
  /// metadata can be replaced or removed by the garage's verbs.
  @Test(arguments: [false, true])
  func everyFlippedBitOfAGarage(_ hides: Bool) throws {
    let place = try SealedPlace(.memory)
    do {
      let garage = try garage(place, hides: hides)
      try garage.parkAll(Hidden.people(3))
      try garage.set(Self.nickname, value: "Sammy")
    }
    let plain = try place.plain()
    let before = try plain.keys().map { key in (key, try #require(try plain.read { try $0.value(for: key) }))
    }
    for (key, whole) in before {
      for bit in stride(from: 0, to: whole.count * 8, by: key.bytes[0] == 0 ? 3 : 11) {
        var bytes = whole
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        try plain.put([(key, bytes)])
        let storage = try place.sealed()
        do {
          let garage = try Garage(storage, hidesIdentifiers: hides)
          #expect(key.bytes[0] != 0)
          try useAndMend(garage, key)
        } catch let error as GarageError {
          guard case .storage(let error) = error else { throw error }
          #expect(key.bytes[0] == 0 && error.kind == .tampered)
          #expect(error.message.contains(key.description) && error.message.contains("Rescuing"))
        }
        try plain.write { transaction in
          try transaction.removeAll(in: .all)
          for (key, value) in before { try transaction.put(value, for: key) }
          return .commit(())
        }
      }
    }
  }

  private func useAndMend(_ garage: Garage, _ key: StorageKey) throws {
    var failures = 0
    func same<T: Equatable>(_ found: T, _ expected: T) { #expect(found == expected) }
    func count(_ body: () throws -> Void) throws {
      do { try body() } catch let error as GarageError {
        guard case .storage(let error) = error else { throw error }
        #expect(error.kind == .tampered && error.message.contains(key.description))
        failures += 1
      }
    }
    for person in Hidden.people(3) {
      try count { try same(garage.retrieve(HiddenPerson.self, identifier: person.id), person) }
    }
    try count { try same(garage.get(Self.nickname), "Sammy") }
    #expect(failures <= 3)
    // Mended by the garage's own verbs.
    for person in Hidden.people(3) {
      try garage.park(person)
      try garage.delete(person)
      try garage.park(person)
    }
    try garage.remove(Self.nickname)
    try garage.set(Self.nickname, value: "Nick")
    #expect(try garage.get(Self.nickname) == "Nick")
    #expect(try garage.retrieveAll(HiddenPerson.self).sorted { $0.age < $1.age } == Hidden.people(3))
    for status in SyncStatus.allCases {
      let found = try garage.retrieveAll(HiddenPerson.self, withStatus: status)
      #expect(found.allSatisfy { $0.syncStatus == status })
    }
  }

  /// While changes stay unsaved, too.
  @Test func damagedRecordsAreReplacedAndRemovedUnsaved() throws {
    let place = try SealedPlace(.memory)
    try garage(place, hides: false).parkAll(Hidden.people(3))
    let plain = try place.plain()
    for key in try plain.keys() where key.bytes[0] == 0x10 {
      var bytes = try #require(try plain.read { try $0.value(for: key) })
      bytes[20] ^= 1
      try plain.put([(key, bytes)])
    }
    let garage = try garage(place, hides: false)
    garage.isAutosaveEnabled = false
    try garage.park(Hidden.people(3)[0])
    try garage.delete(Hidden.people(3)[1])
    try garage.save()
    #expect(try garage.retrieve(HiddenPerson.self, identifier: "\(Hidden.mark)-0") == Hidden.people(3)[0])
    #expect(try !garage.contains(HiddenPerson.self, identifier: "\(Hidden.mark)-1"))
    #expect(throws: GarageError.self) {
      try garage.retrieve(HiddenPerson.self, identifier: "\(Hidden.mark)-2")
    }
  }

  /// A value that does not open is no value that a migration may keep: the old entry may be the only whole one.
  @Test func aMigrationKeepsTheOldEntryOfADamagedKey() throws {
    let name = "garage-tests-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    defer { defaults.removePersistentDomain(forName: name) }
    defaults.set("whole", forKey: "old")
    let place = try SealedPlace(.memory)
    let garage = try garage(place, hides: false)
    try garage.set(Self.nickname, value: "Sammy")
    let plain = try place.plain()
    let key = try #require(try plain.keys().first { $0.bytes[0] == 0x30 })
    let whole = try #require(try plain.read { try $0.value(for: key) })
    try plain.put([(key, whole.dropLast())])
    let migration = KeyMigration(to: Self.nickname, from: "old", in: defaults)
    #expect(throws: GarageError.self) { try garage.migrate([migration]) }
    #expect(defaults.string(forKey: "old") == "whole")
    try garage.remove(Self.nickname)
    try garage.migrate([migration])
    #expect(try garage.get(Self.nickname) == "whole" && defaults.string(forKey: "old") == nil)
  }

  /// A sealed garage that is opened plain says so, also where the mark of the first value is damaged.
  @Test func openedPlainWithADamagedMark() throws {
    let place = try SealedPlace(.memory)
    try garage(place, hides: false).parkAll(Hidden.people(3))
    let plain = try place.plain()
    let key = StorageKey([0] + Array("garage".utf8))
    let whole = try #require(try plain.read { try $0.value(for: key) })
    for bit in 0..<64 {
      var bytes = whole
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      try plain.put([(key, bytes)])
      #expect { try Garage(plain) } throws: { $0 as? GarageError == .sealed(driver: plain.info.name) }
    }
  }
}

/// Every changed bit of a plain garage's metadata is damage, and never taken for a seal or a newer format.
@Suite struct PlainMetadataTests {
  /// One flipped bit is damage, never a newer format.
  @Test func everyFlippedBitOfTheMetadataIsDamage() throws {
    let storage = MemoryStorage()
    try Garage(storage).park(HiddenPerson(id: "a"))
    let key = StorageKey([0] + Array("garage".utf8))
    let whole = try #require(try storage.read { try $0.value(for: key) })
    for bit in 0..<whole.count * 8 {
      var bytes = whole
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      try storage.put([(key, bytes)])
      #expect { try Garage(MemoryStorage(sharing: storage)) } throws: {
        $0 as? GarageError == .damagedMetadata(driver: storage.info.name)
      }
    }
  }
}

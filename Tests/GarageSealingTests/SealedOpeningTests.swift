import Foundation
import GarageDriver
import GarageSealing
import InsecureSealer
import Testing

/// A sealed store opens under its own key alone.
@Suite struct SealedOpeningTests {
  @Test(arguments: SealedBase.allCases)
  func comesBackUnderTheSameKey(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    let entries = ["a": "one of the values", "b": "", "c": String(repeating: "long ", count: 5000)]
    try place.sealed().put(entries)
    #expect(try place.sealed().entries() == entries)
    let raw = try place.plain().entries()
    #expect(Set(raw.keys) == Set(entries.keys))
    // Not by fewer letters: a few of them stand somewhere in so many sealed bytes by chance.
    #expect(raw.values.allSatisfy { !$0.contains("one of the") && !$0.contains("long long ") })
  }

  @Test(arguments: SealedBase.allCases)
  func refusesAnotherKey(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    try place.sealed().put(["a": "one", "b": "two"])
    let before = try place.plain().entries()
    // One that is known to be another, and one that pretends to be the same.
    let writer = InsecureTestSealer(key: 1)
    for wrong in [InsecureTestSealer(key: 2), InsecureTestSealer(key: 2, identifier: writer.keyIdentifier)] {
      let error = storageError { _ = try place.sealed(wrong) }
      #expect(error?.kind == .wrongKey)
      #expect(error?.operation == .open)
      #expect(
        error?.message.contains("key it was sealed with") == true
          || error?.message.contains("formerSealers") == true)
    }
    #expect(try place.plain().entries() == before)
    #expect(try place.sealed().entries() == ["a": "one", "b": "two"])
  }

  @Test(arguments: SealedBase.allCases)
  func refusesAPlainStore(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    try place.plain().put(["a": "one"])
    let error = storageError { _ = try place.sealed() }
    #expect(error?.kind == .notSealed)
    #expect(error?.message.contains("without SealedStorage") == true)
    #expect(try place.plain().entries() == ["a": "one"])
  }

  @Test func refusesANewerLayout() throws {
    let place = try SealedPlace(.memory)
    try place.plain().put(raw: [0xF8, 0x53, 0x4C, 9] + Array(repeating: 7, count: 40), for: "a")
    #expect(storageError { _ = try place.sealed() }?.kind == .newerFormat)
  }

  @Test func refusesKeysThatCannotBeToldApart() throws {
    let place = try SealedPlace(.memory)
    let (a, b) = (InsecureTestSealer(key: 1, identifier: 5), InsecureTestSealer(key: 2, identifier: 5))
    let other = InsecureTestSealer(key: 3, identifier: 6)
    #expect(storageError { _ = try place.sealed(a, former: [b]) }?.kind == .wrongKey)
    #expect(storageError { _ = try place.sealed(other, former: [a, b]) }?.kind == .wrongKey)
  }

  @Test func leavesRoomForTheSealer() throws {
    for base in SealedBase.allCases {
      let place = try SealedPlace(base)
      let (plain, sealed) = (try place.plain(), try place.sealed())
      #expect(sealed.info.maximumValueByteCount == plain.info.maximumValueByteCount - 24)
      #expect(sealed.info.maximumValueByteCount >= StorageInfo.guaranteedValueByteCount)
      #expect(sealed.info.isSealed && !plain.info.isSealed)
    }
  }
}

/// Whatever is changed or exchanged in a sealed store is noticed, but for an older value of the same key.
@Suite struct TamperingTests {
  /// Any one bit of a sealed value, the header included.
  @Test func noticesEveryFlippedBit() throws {
    let place = try SealedPlace(.memory)
    // The first and last are whole, so that the store opens.
    try place.sealed().put(["a": "first", "m": "the value", "z": "last"])
    let (plain, sealed) = (try place.plain(), try place.sealed())
    let whole = try #require(try plain.raw("m"))
    for position in whole.indices {
      for bit in 0..<8 {
        var changed = whole
        changed[position] ^= 1 << UInt8(bit)
        try plain.put(raw: changed, for: "m")
        let error = storageError { _ = try sealed.text("m") }
        #expect(error?.kind == .tampered, "byte \(position), bit \(bit): \(String(describing: error))")
        #expect(error?.message.contains(StorageKey(Array("m".utf8)).description) == true)
      }
    }
    for count in 0..<whole.count {
      try plain.put(raw: Array(whole.prefix(count)), for: "m")
      #expect(storageError { _ = try sealed.text("m") } != nil, "cut to \(count) bytes")
    }
    try plain.put(raw: whole, for: "m")
    #expect(try sealed.text("m") == "the value")
  }

  @Test(arguments: SealedBase.allCases)
  func noticesSwappedAndCopiedValues(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    try place.sealed().put(["a": "first", "m": "rich", "n": "poor", "z": "last"])
    let (plain, sealed) = (try place.plain(), try place.sealed())
    let (m, n) = (try #require(try plain.raw("m")), try #require(try plain.raw("n")))
    try plain.put(raw: n, for: "m")
    try plain.put(raw: m, for: "n")
    for key in ["m", "n"] {
      #expect(storageError { _ = try sealed.text(key) }?.kind == .tampered)
    }
    try plain.put(raw: m, for: "m")
    try plain.put(raw: m, for: "new")
    #expect(try sealed.text("m") == "rich")
    #expect(storageError { _ = try sealed.text("new") }?.kind == .tampered)
    #expect(storageError { _ = try sealed.entries() }?.operation == .scan)
    #expect(
      storageError {
        try sealed.read { try $0.withValues(for: [StorageKey(Array("new".utf8))]) { _, _ in } }
      }?.kind == .tampered)
  }

  /// An older value of the same key is one that was stored: it opens. Docs/Encryption.md says so.
  @Test func doesNotNoticeAnOlderValueOfTheSameKey() throws {
    let place = try SealedPlace(.memory)
    let (plain, sealed) = (try place.plain(), try place.sealed())
    try sealed.put(["a": "old"])
    let old = try #require(try plain.raw("a"))
    try sealed.put(["a": "new"])
    try plain.put(raw: old, for: "a")
    #expect(try sealed.text("a") == "old")
  }

  @Test(arguments: SealedBase.allCases)
  func aValueThatDoesNotOpenForbidsTheCommit(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    try place.sealed().put(["a": "first", "m": "value", "z": "last"])
    let (plain, sealed) = (try place.plain(), try place.sealed())
    try plain.put(raw: try #require(try plain.raw("a")), for: "m")
    let error = storageError {
      try sealed.write { transaction in
        try transaction.put([1], for: StorageKey([1]))
        _ = try? transaction.value(for: StorageKey(Array("m".utf8)))
        return .commit(())
      }
    }
    #expect(error?.kind == .tampered)
    #expect(try plain.raw("\u{1}") == nil)
    // It can be replaced and removed.
    try sealed.put(["m": "again"])
    #expect(try sealed.text("m") == "again")
  }

  /// Two values sealed alike differ, wherever they stand.
  @Test func sealsNothingTwiceAlike() throws {
    let place = try SealedPlace(.memory)
    let (plain, sealed) = (try place.plain(), try place.sealed())
    var seen: Set<[UInt8]> = []
    for _ in 0..<100 {
      try sealed.put(["a": "the same"])
      seen.insert(try #require(try plain.raw("a")))
    }
    #expect(seen.count == 100)
  }
}

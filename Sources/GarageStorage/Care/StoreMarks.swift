internal import GarageCoding
internal import GarageDriver

/// What tells two states of a store apart: the key of each object and typed key, and a mark of what it holds.
///
/// Memory: the keys, and 16 bytes for each.
package struct StoreMarks: Sendable {
  /// The keys in their order, one behind the other, and where each ends.
  private var keys: [UInt8] = []
  private var ends: [Int] = []
  private var marks: [UInt64] = []

  /// Those of a store without anything.
  package init() {}

  fileprivate var count: Int { ends.count }

  fileprivate func mark(_ place: Int) -> UInt64 { marks[place] }

  fileprivate mutating func append(_ key: RawSpan, _ mark: UInt64) {
    key.withUnsafeBytes { keys.append(contentsOf: $0) }
    ends.append(keys.count)
    marks.append(mark)
  }

  fileprivate func withKey<R>(_ place: Int, _ body: (RawSpan) throws -> R) rethrows -> R {
    try body(keys.span.bytes.extracting((place == 0 ? 0 : ends[place - 1])..<ends[place]))
  }

  /// Differs where the entry was put again with other content, and for objects also where it was put at another time.
  fileprivate static func mark(of value: RawSpan?) -> UInt64 {
    guard let value else { return .max }
    // In a record's head stand its checksum and its time.
    if value.byteCount >= RecordHead.byteCount {
      let first = value.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)
      let second = value.unsafeLoadUnaligned(fromByteOffset: RecordHead.byteCount - 8, as: UInt64.self)
      return first &* 0x9E37_79B9_7F4A_7C15 ^ second
    }
    return hash(of: value)
  }

  /// FNV-1a.
  fileprivate static func hash(of value: RawSpan?) -> UInt64 {
    guard let value else { return .max }
    return value.withUnsafeBytes { bytes in
      bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
  }
}

/// The differences between one state of a store and an earlier one.
package struct StoreDifferences: Sendable {
  /// What became of it.
  package enum Kind: String, Sendable { case added, changed, removed }

  /// An object, or a typed key.
  package struct Entry: Sendable {
    package var kind: Kind
    /// The name that its type is listed by; nil for a typed key.
    package var type: String?
    /// Its identifier in words, or the name of the typed key.
    package var name: String
  }

  /// Objects and typed keys in the order of their keys: the first of them.
  package fileprivate(set) var entries: [Entry] = []
  /// How many objects there are of each kind, listed or not.
  package fileprivate(set) var objectCounts: [Kind: Int] = [:]
  /// How many typed keys.
  package fileprivate(set) var keyCounts: [Kind: Int] = [:]

  /// Whether there is none.
  package var isEmpty: Bool { objectCounts.isEmpty && keyCounts.isEmpty }
}

extension Garage {
  /// Whether ``changes()`` tells of what other processes commit.
  package var hearsOtherProcesses: Bool {
    guard store.driver.info.isSharedAcrossProcesses else { return false }
    return (store.driver as? any ChangeSignaling)?.signalsChanges ?? false
  }
}

extension GarageReading {
  /// Compares all objects and typed keys with those of an earlier state; `marks` become those of this state. Reads the whole
  /// store, and decodes nothing.
  ///
  /// - Parameter limit: how many differences are listed at most.
  /// - Throws: ``GarageError/storage(_:)``.
  package func differences(from marks: inout StoreMarks, limit: Int) throws -> StoreDifferences {
    let before = marks
    let (differences, after) = try withRepeatableReadAccess { access in
      var comparison = StoreComparison(before, limit: limit)
      let isSealed = access.garage.objectKeys.isSealed
      for range in [KeyLayout.allRecords, KeyLayout.allValues] {
        let isObject = range == KeyLayout.allRecords
        try access.transaction.forEachEntry(in: range, isSealed: isSealed) { key, value in
          if isObject && !KeyLayout.isRecord(key) { return }
          comparison.visit(key, isObject ? StoreMarks.mark(of: value) : StoreMarks.hash(of: value))
        }
      }
      comparison.end()
      return (try comparison.named(access), comparison.after)
    }
    marks = after
    return differences
  }
}

/// Goes through two states side by side, in the order of keys.
private struct StoreComparison {
  private let before: StoreMarks
  private let limit: Int
  /// How far the earlier state was gone through.
  private var place = 0
  private(set) var after = StoreMarks()
  private var differences = StoreDifferences()
  private var found: [(kind: StoreDifferences.Kind, key: StorageKey)] = []

  init(_ before: StoreMarks, limit: Int) {
    self.before = before
    self.limit = limit
  }

  mutating func visit(_ key: RawSpan, _ mark: UInt64) {
    after.append(key, mark)
    while place < before.count {
      let order = before.withKey(place) { compareKeys($0, key) }
      if order > 0 { break }
      if order == 0 {
        if before.mark(place) != mark { note(.changed, key) }
        place += 1
        return
      }
      noteRemoved()
    }
    note(.added, key)
  }

  mutating func end() {
    while place < before.count { noteRemoved() }
  }

  private mutating func noteRemoved() {
    let key = before.withKey(place) { StorageKey($0) }
    note(.removed, key.bytes.span.bytes)
    place += 1
  }

  private mutating func note(_ kind: StoreDifferences.Kind, _ key: RawSpan) {
    if KeyLayout.space(of: key) == .record {
      differences.objectCounts[kind, default: 0] += 1
    } else {
      differences.keyCounts[kind, default: 0] += 1
    }
    if found.count < limit { found.append((kind, StorageKey(key))) }
  }

  /// Puts the differences in words, some of which stand in the records that are there now.
  func named(_ access: ReadAccess) throws -> StoreDifferences {
    var differences = differences
    let keys = access.garage.objectKeys
    differences.entries = try found.map { kind, key in
      let bytes = key.bytes.span.bytes
      guard KeyLayout.space(of: bytes) == .record else {
        return StoreDifferences.Entry(kind: kind, type: nil, name: KeyName.text(ofKey: bytes))
      }
      let name = try access.transaction.withReplaceableValue(for: bytes, isSealed: keys.isSealed) { record in
        guard let record else { return keys.identifierText(of: bytes, nil) }
        let whole = try? keys.header(of: bytes, record, typeName: "").wholeIdentifier
        return whole?.description ?? keys.identifierText(of: bytes, record)
      }
      let type = try access.listedName(ofTag: KeyLayout.tag(inRecordKey: bytes))
      return StoreDifferences.Entry(kind: kind, type: type, name: name)
    }
    return differences
  }
}

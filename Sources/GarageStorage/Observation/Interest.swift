internal import GarageDriver

/// What a listener read, and so wants to hear of.
struct Interest: Sendable {
  /// The records of whole types.
  private(set) var tags: Set<UInt64> = []
  /// Single records, and values of typed keys.
  private(set) var keys: Set<StorageKey> = []
  /// The types of the single records.
  private(set) var keyTags: Set<UInt64> = []
  /// Whether there are typed keys in ``keys``.
  private(set) var hasKeysOfValues = false
  /// The values of all typed keys.
  private(set) var hasAllValues = false
  private(set) var isEverything = false

  /// How many keys are listed at most. If there are more, their tags are listed instead.
  private static let limit = 1_000

  static let everything: Interest = {
    var interest = Interest()
    interest.isEverything = true
    return interest
  }()

  /// Notes a key that was read.
  mutating func note(_ key: RawSpan) {
    switch KeyLayout.space(of: key) {
    case .record? where key.byteCount >= KeyLayout.identifierOffset:
      let tag = KeyLayout.tag(inRecordKey: key)
      if tags.contains(tag) { return }
      keys.insert(StorageKey(key))
      keyTags.insert(tag)
      if keys.count > Interest.limit { noteTags() }
    case .value?:
      keys.insert(StorageKey(key))
      hasKeysOfValues = true
    case let space? where space.isOfEntries: noteEntries(space, key)
    // Names and similar entries do not change what an object is.
    default: break
    }
  }

  /// Notes a range that was scanned.
  mutating func note(_ range: StorageKeyRange) {
    let lower = range.lowerBound
    switch lower.first.flatMap(KeyLayout.Space.init) {
    case .record? where lower.count >= KeyLayout.identifierOffset:
      tags.insert(KeyLayout.tag(inRecordKey: lower.span.bytes))
    case .value?: hasAllValues = true
    case let space? where space.isOfEntries: noteEntries(space, lower.span.bytes)
    default: isEverything = true
    }
  }

  /// Notes index entries, which come and go with the records of a type.
  private mutating func noteEntries(_ space: KeyLayout.Space, _ key: RawSpan) {
    if let tag = KeyLayout.tag(inEntryKey: key, of: space) { tags.insert(tag) } else { isEverything = true }
  }

  private mutating func noteTags() {
    tags.formUnion(keyTags)
    keyTags = []
    keys = keys.filter { $0.bytes.first != KeyLayout.Space.record.rawValue }
  }
}

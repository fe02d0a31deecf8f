internal import GarageDriver

/// Which keys a commit changed, as far as that matters to those who listen: records and values of typed keys.
struct KeyChanges: Sendable {
  /// What became of the records of one tag.
  struct OfTag: Sendable {
    /// By key; true where it was removed.
    var records: [StorageKey: Bool] = [:]
    /// Whether there were more than are listed.
    var isMany = false
  }

  private(set) var tags: [UInt64: OfTag] = [:]
  private(set) var values: Set<StorageKey> = []
  /// Whether anything may have changed: by a process that does not tell what, or in a range.
  private(set) var isEverything = false

  /// How many records of a tag are listed, and how many keys.
  private static let limit = 4_096

  static var everything: KeyChanges {
    var changes = KeyChanges()
    changes.noteEverything()
    return changes
  }

  var isEmpty: Bool { !isEverything && tags.isEmpty && values.isEmpty }

  mutating func note(_ key: RawSpan, isRemoved: Bool) {
    if isEverything || key.byteCount == 0 { return }
    switch key.unsafeLoad(fromByteOffset: 0, as: UInt8.self) {
    case KeyLayout.Space.record.rawValue where key.byteCount >= KeyLayout.identifierOffset:
      tags[KeyLayout.tag(inRecordKey: key), default: OfTag()].note(StorageKey(key), isRemoved)
    case KeyLayout.Space.value.rawValue:
      if values.count == KeyChanges.limit { return noteEverything() }
      values.insert(StorageKey(key))
    default: break
    }
  }

  /// Notes that a range was removed.
  mutating func note(_ range: StorageKeyRange) {
    let lower = range.lowerBound
    if lower.first == KeyLayout.Space.record.rawValue, lower.count >= KeyLayout.identifierOffset {
      let tag = KeyLayout.tag(inRecordKey: lower.span.bytes)
      tags[tag, default: OfTag()].noteMany()
    } else if let space = lower.first.flatMap(KeyLayout.Space.init), space.isOfEntries {
      // Those come and go with records.
      return
    } else {
      noteEverything()
    }
  }

  mutating func noteEverything() {
    self.tags = [:]
    values = []
    isEverything = true
  }

  mutating func add(_ later: KeyChanges) {
    if isEverything { return }
    if later.isEverything { return noteEverything() }
    for (tag, changes) in later.tags { tags[tag, default: OfTag()].add(changes) }
    if values.count + later.values.count > KeyChanges.limit { return noteEverything() }
    values.formUnion(later.values)
  }

  /// Whether they touch what somebody is interested in.
  func concern(_ interest: Interest) -> Bool {
    if isEverything || interest.isEverything { return !isEmpty }
    for (tag, changes) in tags {
      if interest.tags.contains(tag) { return true }
      if interest.keys.isEmpty { continue }
      if changes.isMany { return true }
      for key in changes.records.keys where interest.keys.contains(key) { return true }
    }
    return values.contains { interest.keys.contains($0) }
      || (interest.hasAllValues && !values.isEmpty)
  }
}

extension KeyChanges.OfTag {
  fileprivate static var limit: Int { 4_096 }

  mutating func note(_ key: StorageKey, _ isRemoved: Bool) {
    if isMany { return }
    records[key] = isRemoved
    if records.count > KeyChanges.OfTag.limit { noteMany() }
  }

  mutating func noteMany() {
    records = [:]
    isMany = true
  }

  mutating func add(_ later: KeyChanges.OfTag) {
    if isMany { return }
    if later.isMany { return noteMany() }
    records.merge(later.records) { $1 }
    if records.count > KeyChanges.OfTag.limit { noteMany() }
  }
}

/// What somebody read, and so wants to hear of.
struct Interest: Sendable {
  /// The records of whole types.
  var tags: Set<UInt64> = []
  /// Single records and values.
  var keys: Set<StorageKey> = []
  /// The values of all typed keys.
  var hasAllValues = false
  var isEverything = false

  /// How many keys are listed; of more, their tags.
  private static let limit = 1_000

  static let everything: Interest = {
    var interest = Interest()
    interest.isEverything = true
    return interest
  }()

  mutating func note(_ key: RawSpan) {
    if key.byteCount == 0 { return }
    switch key.unsafeLoad(fromByteOffset: 0, as: UInt8.self) {
    case KeyLayout.Space.record.rawValue where key.byteCount >= KeyLayout.identifierOffset:
      let tag = KeyLayout.tag(inRecordKey: key)
      if tags.contains(tag) { return }
      keys.insert(StorageKey(key))
      if keys.count > Interest.limit { noteTags() }
    case KeyLayout.Space.value.rawValue: keys.insert(StorageKey(key))
    default: break
    }
  }

  /// Notes a range that was looked through.
  mutating func note(_ range: StorageKeyRange) {
    let lower = range.lowerBound
    switch lower.first {
    case KeyLayout.Space.record.rawValue where lower.count >= KeyLayout.identifierOffset:
      tags.insert(KeyLayout.tag(inRecordKey: lower.span.bytes))
    case KeyLayout.Space.value.rawValue: hasAllValues = true
    // Indexes and all else: whatever they say of records changes with these.
    default: isEverything = true
    }
  }

  private mutating func noteTags() {
    for key in keys where key.bytes.first == KeyLayout.Space.record.rawValue {
      tags.insert(KeyLayout.tag(inRecordKey: key.bytes.span.bytes))
    }
    keys = keys.filter { $0.bytes.first != KeyLayout.Space.record.rawValue }
  }
}

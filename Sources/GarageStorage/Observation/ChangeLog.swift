internal import GarageDriver

/// The keys that one commit changed. They are written down during the changes, at little more than the cost of a copy of each
/// key. Which listeners they concern is found out after the commit, and identifiers are made of the keys only when a listener
/// asks.
struct ChangeLog: Sendable {
  /// The number of changed records of one tag.
  struct OfTag: Sendable {
    let tag: UInt64
    fileprivate(set) var count: Int
    /// Whether more records were changed than are listed.
    var isMany: Bool { count > ChangeLog.limit }
  }

  /// How many records of a tag, and how many typed keys, are listed at most.
  static let limit = 4_096

  /// The place of the commit among the store's commits: a later one has a higher number.
  var number: UInt64 = 0
  /// The types whose records were changed, each once.
  private(set) var tags = Tags()
  private var valueCount = 0
  /// Whether anything may have changed: because another process does not tell what it changed, or because a range with several
  /// types was removed.
  private(set) var isEverything = false
  private var keys = ChangedKeys()

  static let everything: ChangeLog = {
    var log = ChangeLog()
    log.noteEverything()
    return log
  }()

  /// A log that says that some records of one type were changed, without their keys.
  static func many(of tag: UInt64) -> ChangeLog {
    var log = ChangeLog()
    _ = log.tags.add(limit + 1, to: tag)
    return log
  }

  var isEmpty: Bool { !isEverything && tags.isEmpty && valueCount == 0 }

  /// Whether typed keys were changed.
  var hasValues: Bool { valueCount > 0 }

  /// Whether more typed keys were changed than are listed.
  var hasManyValues: Bool { valueCount > ChangeLog.limit }

  /// About how many bytes of memory it takes.
  var byteCount: Int { keys.byteCount }

  // MARK: Noting changes

  /// Notes that a key was put or removed.
  ///
  /// - Parameter filter: the listeners' interests. Keys of types that no listener wants to hear of are not listed. A listener
  ///   that is added before the commit is told that many records of these types were changed.
  @inline(__always)
  mutating func note(_ key: RawSpan, isRemoved: Bool, _ filter: borrowing NewsFilter) {
    if isEverything || !lists(key, 1, filter) { return }
    keys.append(key, isRemoved: isRemoved)
  }

  /// Notes that entries were put or removed.
  mutating func note(
    _ placed: [PlacedEntry], in bytes: RawSpan, isRemoved: Bool, _ filter: borrowing NewsFilter
  ) {
    if isEverything { return }
    var rest = placed[...]
    while let first = rest.first {
      let key = bytes.extracting(first.key)
      let others = rest.dropFirst().prefix { ChangedKeys.beginAlike(bytes.extracting($0.key), key) }
      let alike = rest[..<others.endIndex]
      if lists(key, alike.count, filter) { keys.append(alike, in: bytes, isRemoved: isRemoved) }
      rest = rest[others.endIndex...]
    }
  }

  /// Counts changed keys of one type, or of typed values. Returns whether they are to be listed.
  @inline(__always)
  private mutating func lists(_ key: RawSpan, _ count: Int, _ filter: borrowing NewsFilter) -> Bool {
    if key.byteCount == 0 { return false }
    switch key.unsafeLoad(fromByteOffset: 0, as: UInt8.self) {
    case KeyLayout.Space.record.rawValue where key.byteCount >= KeyLayout.identifierOffset:
      let tag = KeyLayout.tag(inRecordKey: key)
      return !tags.add(filter.mayConcern(tag) ? count : ChangeLog.limit + 1, to: tag).isMany
    case KeyLayout.Space.value.rawValue:
      valueCount += count
      return !hasManyValues
    // All other entries change only together with these.
    default: return false
    }
  }

  /// Notes that a range was removed.
  mutating func note(_ range: StorageKeyRange) {
    let lower = range.lowerBound
    switch lower.first.flatMap(KeyLayout.Space.init) {
    case .record? where lower.count >= KeyLayout.identifierOffset:
      _ = tags.add(ChangeLog.limit + 1, to: KeyLayout.tag(inRecordKey: lower.span.bytes))
    case .value?: valueCount += ChangeLog.limit + 1
    case let space? where space.isOfEntries: break
    default: noteEverything()
    }
  }

  mutating func noteEverything() {
    self = ChangeLog()
    isEverything = true
  }

  // MARK: Reading

  /// Visits the listed keys in the order in which they were changed, until `visit` returns false.
  func forEach(_ visit: (_ key: RawSpan, _ isRemoved: Bool) -> Bool) { keys.forEach(visit) }

  /// Whether it changes anything that the interest names.
  func concerns(_ interest: Interest) -> Bool {
    if isEverything || interest.isEverything { return !isEmpty }
    if hasValues && (interest.hasAllValues || hasManyValues && interest.hasKeysOfValues) { return true }
    for changed in tags {
      if interest.tags.contains(changed.tag) { return true }
      if changed.isMany && interest.keyTags.contains(changed.tag) { return true }
    }
    if interest.keys.isEmpty { return false }
    var isFound = false
    forEach { key, _ in
      isFound = interest.keys.contains(StorageKey(key))
      return !isFound
    }
    return isFound
  }
}

extension ChangeLog {
  /// Types, each of them once. Nearly always there is only one, which needs no array.
  struct Tags: Sequence, Sendable {
    private var last: OfTag?
    private var others: [OfTag] = []

    var isEmpty: Bool { last == nil }

    /// Counts more records of a tag.
    @inline(__always)
    mutating func add(_ count: Int, to tag: UInt64) -> OfTag {
      if last?.tag != tag { bringForward(tag) }
      last?.count += count
      return last.unsafelyUnwrapped
    }

    private mutating func bringForward(_ tag: UInt64) {
      let known = others.firstIndex { $0.tag == tag }.map { others.remove(at: $0) }
      if let last { others.append(last) }
      last = known ?? OfTag(tag: tag, count: 0)
    }

    /// Done without an iterator, which would retain the array: each write asks this.
    @inline(__always)
    func contains(where isFound: (OfTag) -> Bool) -> Bool {
      if let last, isFound(last) { return true }
      return !others.isEmpty && others.contains(where: isFound)
    }

    struct Iterator: IteratorProtocol {
      fileprivate var last: OfTag?
      fileprivate var others: IndexingIterator<[OfTag]>

      mutating func next() -> OfTag? { last.take() ?? others.next() }
    }

    func makeIterator() -> Iterator { Iterator(last: last, others: others.makeIterator()) }
  }
}

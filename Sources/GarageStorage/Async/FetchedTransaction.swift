internal import GarageCoding
internal import GarageDriver

/// A copy of a part of one state of a storage. It is for code that has to run where the transaction must not: on the caller's
/// actor.
///
/// What that code will read is not known beforehand. Reads that find their entry missing are noted. Then everything is fetched
/// again, with the missing entries, and the code runs again.
final class FetchedTransaction: SealedValues {
  /// The entries to be fetched.
  struct Wanted: Sendable {
    var keys: Set<StorageKey> = []
    var ranges: [StorageKeyRange] = []
    /// How often something was missing.
    var missCount = 0
    /// Whether the records are fetched that the fetched entries of indexes lead to.
    private(set) var followsEntries = false

    /// Notes a key. If entries of an index were fetched, the code will read the records that these lead to. If single records of
    /// a type were missing before, all records of the type are fetched.
    mutating func note(_ key: StorageKey) {
      let isRecord = key.bytes.first == KeyLayout.Space.record.rawValue
      if isRecord && !followsEntries
        && ranges.contains(where: { $0.lowerBound.first == KeyLayout.Space.index.rawValue })
      {
        followsEntries = true
        keys.insert(key)
      } else if isRecord && missCount > 2 && key.bytes.count >= KeyLayout.identifierOffset {
        ranges.append(KeyLayout.records(tag: KeyLayout.tag(inRecordKey: key.bytes.span.bytes)))
      } else {
        keys.insert(key)
      }
    }
  }

  /// Thrown if something is missing. The code may swallow it, so its caller checks ``missed`` instead.
  struct Missed: Error {}

  private let keys: [StorageKey: [UInt8]?]
  private let ranges: [(range: StorageKeyRange, entries: [(key: StorageKey, value: [UInt8])])]
  private let behind: PrefetchedRecords
  /// The keys of wanted values that are sealed and do not open. In the copy they have empty values.
  private let failures: [StorageKey: StorageError]
  /// The unsaved changes that were visible when the entries were fetched.
  let unsavedChanges: UnsavedChanges?
  private(set) var wanted: Wanted
  private(set) var hasMissed = false

  /// Fetches the wanted entries from a transaction, and all records that they refer to.
  init(_ wanted: Wanted, from access: ReadAccess, _ cancellation: Cancellation) throws {
    self.wanted = wanted
    unsavedChanges = access.unsavedChanges
    let transaction = access.transaction
    var keys: [StorageKey: [UInt8]?] = [:]
    var records: [(key: StorageKey, record: [UInt8])] = []
    var failures: [StorageKey: StorageError] = [:]
    ranges = try wanted.ranges.map {
      ($0, try FetchedTransaction.entries(in: $0, transaction, cancellation, &failures))
    }
    var single = wanted.keys
    for (_, entries) in ranges {
      for entry in entries {
        switch entry.key.bytes.first {
        case KeyLayout.Space.record.rawValue where !entry.value.isEmpty:
          records.append((entry.key, entry.value))
        // Code that reads the index will read the records.
        case KeyLayout.Space.syncStatus.rawValue: single.insert(KeyLayout.record(ofSyncStatus: entry.key))
        default: break
        }
      }
    }
    if wanted.followsEntries {
      let found = FetchedTransaction.records(ofEntriesIn: ranges)
      // More are not fetched one by one. The code will miss one of them, and then all of the type are fetched.
      if found.count <= FetchedTransaction.mostFollowed { single.formUnion(found) }
    }
    let sorted = single.sorted()
    try transaction.withReadableValues(for: sorted) { index, value in
      var bytes: [UInt8]?
      if let value { bytes = [UInt8](copying: value) }
      keys[sorted[index]] = .some(bytes)
      if let bytes, sorted[index].bytes.first == KeyLayout.Space.record.rawValue {
        records.append((sorted[index], bytes))
      }
    } onError: { index, error in
      keys[sorted[index]] = .some([])
      failures[sorted[index]] = error
    }
    self.failures = failures
    var behind = PrefetchedRecords(access.garage.objectKeys)
    try behind.fetch(behind: records, in: transaction)
    self.behind = behind
    self.keys = keys
  }

  private static let mostFollowed = 8192

  /// The keys of the records that fetched entries of indexes lead to.
  private static func records(
    ofEntriesIn ranges: [(range: StorageKeyRange, entries: [(key: StorageKey, value: [UInt8])])]
  ) -> Set<StorageKey> {
    var records: Set<StorageKey> = []
    for (range, entries) in ranges where range.lowerBound.first == KeyLayout.Space.index.rawValue {
      for entry in entries {
        guard let place = IndexBatch.identifierPlace(entry.value.span.bytes), place < entry.key.bytes.count
        else { continue }
        records.insert(KeyLayout.record(ofEntry: entry.key.bytes.span.bytes, identifierAt: place))
        if records.count > mostFollowed { return records }
      }
    }
    return records
  }

  /// Fetches nothing, for code that should read nothing.
  init(ofNothingIn garage: Garage) {
    keys = [:]
    ranges = []
    failures = [:]
    behind = PrefetchedRecords(garage.objectKeys)
    wanted = Wanted()
    unsavedChanges = nil
  }

  /// The entries of a range. A value that is sealed and does not open is given as an empty one.
  private static func entries(
    in range: StorageKeyRange, _ transaction: any ReadTransaction, _ cancellation: Cancellation,
    _ failures: inout [StorageKey: StorageError]
  ) throws -> [(key: StorageKey, value: [UInt8])] {
    var entries: [(key: StorageKey, value: [UInt8])] = []
    do {
      try transaction.scan(range, .forward) { key, value in
        try cancellation.check()
        entries.append((StorageKey(key), [UInt8](copying: value)))
        return .continue
      }
      return entries
    } catch let error as StorageError where error.isOfOneValue {
      // A scan stops at such a value.
      var keys: [StorageKey] = []
      try transaction.scanKeys(range, .forward) { key in
        keys.append(StorageKey(key))
        return .continue
      }
      entries = keys.map { ($0, []) }
      try transaction.withReadableValues(for: keys) { index, value in
        if let value { entries[index].value = [UInt8](copying: value) }
      } onError: { index, error in
        failures[keys[index]] = error
      }
      return entries
    }
  }

  private func miss(_ note: (inout Wanted) -> Void) -> Missed {
    if !hasMissed { wanted.missCount += 1 }
    hasMissed = true
    note(&wanted)
    return Missed()
  }

  private func value(_ key: StorageKey) throws -> [UInt8]? {
    if let known = keys[key] { return known }
    if let known = behind.record(key) { return known }
    if let (_, entries) = ranges.first(where: { $0.range.contains(key) }) {
      let index = FetchedTransaction.position(of: key, in: entries)
      return index < entries.count && entries[index].key == key ? entries[index].value : nil
    }
    throw miss { $0.note(key) }
  }

  /// The position of the first entry that is not before `key`.
  private static func position(
    of key: StorageKey, in entries: [(key: StorageKey, value: [UInt8])]
  ) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key < key {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    if !failures.isEmpty, let failure = failures[StorageKey(key)] { throw failure }
    return try withReplaceableValue(for: key, body)
  }

  func withReplaceableValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    guard let value = try value(StorageKey(key)) else { return try body(nil) }
    return try body(value.span.bytes)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws {
    try scanEntries(range, direction) { key, value in
      if let failure = failures[key] { throw failure }
      return try visit(key.bytes.span.bytes, value.span.bytes)
    }
  }

  func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan) throws -> ScanStep
  ) throws {
    try scanEntries(range, direction) { key, _ in try visit(key.bytes.span.bytes) }
  }

  private func scanEntries(
    _ range: StorageKeyRange, _ direction: ScanDirection,
    _ visit: (_ key: StorageKey, _ value: [UInt8]) throws -> ScanStep
  ) throws {
    if range.isEmpty { return }
    let known = ranges.first { FetchedTransaction.covers($0.range, range) }
    guard let known else { throw miss { $0.ranges.append(range) } }
    let start = FetchedTransaction.position(of: StorageKey(range.lowerBound), in: known.entries)
    let end = range.upperBound.map { FetchedTransaction.position(of: StorageKey($0), in: known.entries) }
    let found = known.entries[start..<max(start, end ?? known.entries.count)]
    func visitAll(_ entries: some Sequence<(key: StorageKey, value: [UInt8])>) throws {
      for (key, value) in entries where try visit(key, value) == .stop { return }
    }
    if direction == .forward { try visitAll(found) } else { try visitAll(found.reversed()) }
  }

  /// Whether a range contains another one.
  private static func covers(_ range: StorageKeyRange, _ other: StorageKeyRange) -> Bool {
    let (lower, otherLower) = (range.lowerBound, other.lowerBound)
    if compareKeys(lower.span.bytes, otherLower.span.bytes) > 0 { return false }
    guard let end = range.upperBound else { return true }
    guard let otherEnd = other.upperBound else { return false }
    return compareKeys(end.span.bytes, otherEnd.span.bytes) >= 0
  }
}

extension ReadTransaction {
  /// Visits the values of keys as `withValues` does, and goes on after values that are sealed and do not open.
  func withReadableValues(
    for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void,
    onError: (Int, StorageError) throws -> Void
  ) throws {
    do { return try withValues(for: keys, visit) } catch let error as StorageError where error.isOfOneValue {}
    for (index, key) in keys.enumerated() {
      do { try withValue(for: key.bytes.span.bytes) { try visit(index, $0) } } catch let error as StorageError
        where error.isOfOneValue
      { try onError(index, error) }
    }
  }
}

internal import GarageCoding
internal import GarageDriver

/// What is wrong with the indexes of a store.
public struct IndexReport: Sendable, Hashable, CustomStringConvertible {
  /// How many entries were compared with records.
  public internal(set) var entryCount = 0
  /// The names of the indexes that lack entries of records, or have entries that no record has, each once.
  public internal(set) var damagedIndexes: [String] = []
  /// What is wrong, the first 100 of it.
  public internal(set) var faults: [String] = []

  /// Whether nothing is wrong.
  public var isSound: Bool { damagedIndexes.isEmpty }

  /// The report in words.
  public var description: String {
    isSound ? "\(entryCount) entries, all as the records say" : faults.joined(separator: "\n")
  }

  fileprivate mutating func note(_ index: String, _ fault: String) {
    if !damagedIndexes.contains(index) { damagedIndexes.append(index) }
    if faults.count < 100 { faults.append("the index \"\(index)\" \(fault)") }
  }
}

extension Garage {
  /// Compares every entry of every index that is ready with the records, and every record with its entries.
  ///
  /// Reads the whole store, in one snapshot, without unsaved changes. Nothing is changed: an index that is damaged is made
  /// anew by ``dropIndex(_:of:)`` and ``buildIndexes(_:)``.
  ///
  /// - Throws: ``GarageError/closed``, ``GarageError/storage(_:)``.
  public func verifyIndexes() throws -> IndexReport {
    try withReadAccess { try verifyIndexes(in: $0.committed) }
  }

  func verifyIndexes(in transaction: any ReadTransaction) throws -> IndexReport {
    var report = IndexReport()
    guard let catalog = try indexing.catalog(in: transaction) else { return report }
    for position in catalog.items.indices where catalog.items[position].state == .ready {
      try IndexVerification(indexing: indexing, catalog: catalog, position: position)
        .run(in: transaction, &report)
    }
    return report
  }
}

/// Compares one index with the records.
private struct IndexVerification {
  let indexing: Indexing
  let catalog: IndexCatalog
  let position: Int

  private var item: IndexCatalog.Item { catalog.items[position] }

  func run(in transaction: any ReadTransaction, _ report: inout IndexReport) throws {
    let batch = IndexBatch(catalog, indexing.keys, indexing.texts)
    for (records, range) in zip(item.definition.recordRanges, item.definition.entryRanges) {
      var foundCount = 0
      try forEachRecord(records, transaction) { key, record in
        try batch.fill(key, record, [position], in: transaction)
        try batch.takeEntries(position) { entry, value in
          let isThere = try transaction.withValue(for: entry) { found in
            guard let found else { return false }
            return compareKeys(found, value) == 0
          }
          if isThere {
            foundCount += 1
          } else {
            report.note(item.name, "lacks the entry \(StorageKey(entry)) of a record")
          }
        }
      }
      var count = 0
      try transaction.scanKeys(range, .forward) { _ in
        count += 1
        return .continue
      }
      report.entryCount += count
      if count != foundCount { try findSuperfluous(range, batch, transaction, &report) }
    }
  }

  private func forEachRecord(
    _ range: StorageKeyRange, _ transaction: any ReadTransaction, _ visit: (RawSpan, RawSpan) throws -> Void
  ) throws {
    if !indexing.keys.isSealed {
      return try transaction.scan(range, .forward) { key, record in
        try visit(key, record)
        return .continue
      }
    }
    // A scan does not go on behind a value that does not open.
    try transaction.forEachKeyBlock(range) { keys in
      for key in keys {
        let bytes = key.bytes
        try transaction.withReplaceableValue(for: bytes.span.bytes, isSealed: true) { record in
          if let record { try visit(bytes.span.bytes, record) }
        }
      }
      return .continue
    }
  }

  /// Entries are taken many at a time, and each record is looked at once for all of its entries among them, because finding out
  /// which entries a record should have takes time for each of them.
  private func findSuperfluous(
    _ range: StorageKeyRange, _ batch: IndexBatch, _ transaction: any ReadTransaction,
    _ report: inout IndexReport
  ) throws {
    var range = range
    while true {
      var entries: [(key: StorageKey, record: StorageKey?)] = []
      try transaction.scan(range, .forward) { entry, value in
        entries.append((StorageKey(entry), recordKey(of: entry, value)))
        return entries.count < IndexVerification.blockCount ? .continue : .stop
      }
      var expected: Set<StorageKey> = []
      for (record, entries) in Dictionary(grouping: entries, by: { $0.record }) {
        guard let record else { continue }
        try formExpected(Set(entries.map { $0.key }), of: record, batch, transaction, &expected)
      }
      for (key, record) in entries where !expected.contains(key) {
        report.note(
          item.name,
          "has the entry \(key)\(record == nil ? " without an identifier" : ", which no record has")")
      }
      guard let last = entries.last, entries.count == IndexVerification.blockCount else { return }
      range.lowerBound = last.key.bytes + [0]
    }
  }

  private static let blockCount = 4096

  /// Adds those of some entries that their records should have.
  private func formExpected(
    _ entries: Set<StorageKey>, of record: StorageKey, _ batch: IndexBatch,
    _ transaction: any ReadTransaction, _ expected: inout Set<StorageKey>
  ) throws {
    let key = record.bytes
    try transaction.withReplaceableValue(for: key.span.bytes, isSealed: indexing.keys.isSealed) { record in
      guard let record else { return }
      try batch.fill(key.span.bytes, record, [position], in: transaction)
      batch.takeEntries(position) { entry, _ in
        let entry = StorageKey(entry)
        if entries.contains(entry) { expected.insert(entry) }
      }
    }
  }

  /// The key of the record that an entry is for; nil where the entry is damaged.
  private func recordKey(of entry: RawSpan, _ value: RawSpan) -> StorageKey? {
    if item.definition.isOfReferences { return KeyLayout.referrer(ofReference: entry) }
    guard let place = IndexBatch.identifierPlace(value), place < entry.byteCount else { return nil }
    return KeyLayout.record(ofEntry: entry, identifierAt: place)
  }
}

extension ReadTransaction {
  /// Lends the keys in a range, a block at a time, with no scan open meanwhile.
  func forEachKeyBlock(
    _ range: StorageKeyRange, of count: Int = 256, _ visit: ([StorageKey]) throws -> ScanStep
  ) throws {
    var range = range
    while true {
      var keys: [StorageKey] = []
      try scanKeys(range, .forward) { key in
        keys.append(StorageKey(key))
        return keys.count < count ? .continue : .stop
      }
      guard let last = keys.last, try visit(keys) == .continue, keys.count == count else { return }
      range.lowerBound = last.bytes + [0]
    }
  }
}

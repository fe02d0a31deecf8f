internal import GarageCoding
internal import GarageDriver

/// Records fetched ahead, level by level, for storages whose round trips are expensive.
///
/// A decoder asks for one record after another. Where each question costs a trip over a network, all records
/// that one level of a graph refers to are fetched in one multi-get before; the decoder then finds them here.
/// On embedded engines this only costs, so it is not done there.
struct PrefetchedRecords {
  /// When so many bytes are fetched, the rest of the graph is left to be fetched one by one.
  private static let byteLimit = 32 << 20

  private let objectKeys: ObjectKeys
  /// By key; nil for those that are known to be missing.
  private var records: [StorageKey: [UInt8]?] = [:]
  private var byteCount = 0
  /// Records that were here before, and are not to be fetched again.
  private var earlier: Set<StorageKey> = []

  init(_ objectKeys: ObjectKeys) { self.objectKeys = objectKeys }

  var isEmpty: Bool { records.isEmpty }

  /// The record of that key: nil where it was not fetched, `.some(nil)` where there is none.
  func record(_ key: StorageKey) -> [UInt8]?? { records[key] }

  /// Fetches what can be reached from records at hand.
  mutating func fetch(behind roots: [(key: StorageKey, record: [UInt8])], in transaction: any ReadTransaction)
    throws
  {
    // A record at hand may be one that others refer to.
    for root in roots { records[root.key] = .some(root.record) }
    var wanted: Set<StorageKey> = []
    for root in roots { noteTargets(of: root.key, root.record, &wanted) }
    try fetchLevels(wanted, in: transaction)
  }

  /// - Parameter isHeld: whether the objects made of these records are held, so that the records need not be fetched again.
  mutating func removeAll(keepingNames isHeld: Bool = false) {
    byteCount = 0
    guard isHeld else {
      earlier.removeAll()
      return records.removeAll()
    }
    earlier.formUnion(records.keys)
    // No object is held for a missing record: it may be asked for again.
    records = records.filter { $0.value == nil }
  }

  private mutating func fetchLevels(_ wanted: Set<StorageKey>, in transaction: any ReadTransaction) throws {
    var wanted = wanted
    while !wanted.isEmpty && byteCount < PrefetchedRecords.byteLimit {
      let keys = wanted.sorted()
      var level: [[UInt8]?] = Array(repeating: nil, count: keys.count)
      var failed: Set<Int> = []
      try transaction.withReadableValues(for: keys) { index, record in
        if let record { level[index] = [UInt8](copying: record) }
      } onError: { index, _ in
        // If the record is needed it is asked for by itself, and the error is told then.
        failed.insert(index)
      }
      wanted = []
      for (index, (key, record)) in zip(keys, level).enumerated() where !failed.contains(index) {
        records[key] = .some(record)
        byteCount += record?.count ?? 0
      }
      for (key, record) in zip(keys, level) {
        if let record { noteTargets(of: key, record, &wanted) }
      }
    }
  }

  /// Notes the keys of what a record refers to, except what is loaded only when it is asked for.
  private func noteTargets(of key: StorageKey, _ record: [UInt8], _ wanted: inout Set<StorageKey>) {
    let keyBytes = key.bytes.span.bytes
    // A record that cannot be read is the decoder's to report.
    try? objectKeys.withIdentifier(of: keyBytes, record.span.bytes, typeName: "") { identifier in
      try RecordSummary.forEachReference(
        tag: KeyLayout.tag(inRecordKey: keyBytes), keyIdentifier: identifier, record: record.span.bytes,
        typeName: ""
      ) { kind, target in
        if kind == .lazy { return }
        let key = try objectKeys.record(tag: target.tag, target.identifier)
        if records[key] == nil && !earlier.contains(key) { wanted.insert(key) }
      }
    }
  }
}

internal import GarageCoding
internal import GarageDriver

/// The keys of all records of one type, in the order of their identifiers, a block at a time.
///
/// Records under former tags come among the others, where their identifiers belong. If one identifier has several records, that
/// of the first tag counts; by a sync status all are given, those of the first tag first.
struct RecordKeyCursor {
  private var sources: [Source]

  /// - Parameter tags: digests of the identity tag and the former ones, the one that wins first.
  init(_ tags: [UInt64], in transaction: any ReadTransaction) {
    sources = tags.map { Source(range: KeyLayout.records(tag: $0), isIndex: false, transaction: transaction) }
  }

  /// The same, of records with that sync status alone.
  init(_ tags: [UInt64], _ status: SyncStatus, in transaction: any ReadTransaction) {
    sources = tags.map {
      Source(range: KeyLayout.syncStatuses(status, tag: $0), isIndex: true, transaction: transaction)
    }
  }

  /// The records of all types with that sync status, type by type.
  init(_ status: SyncStatus, in transaction: any ReadTransaction) {
    sources = [Source(range: KeyLayout.syncStatuses(status), isIndex: true, transaction: transaction)]
  }

  /// The next key, or nil at the end.
  mutating func next() throws -> StorageKey? {
    for index in sources.indices { try sources[index].fill() }
    guard let first = sources.compactMap(\.identifier).min(by: { $0.lexicographicallyPrecedes($1) }) else {
      return nil
    }
    var next: StorageKey?
    for index in sources.indices where sources[index].identifier == first {
      let key = sources[index].removeFirst()
      if next == nil { next = key }
      // An entry of a status may be left over. Whether it is, its record tells, and then the next one counts.
      if sources[index].isIndex { break }
    }
    return next
  }

  /// One tag's keys.
  private struct Source {
    private static let largestBlockCount = 4096

    /// More each time, because a caller who asks for many mostly wants all.
    private var blockCount = 256
    private var range: StorageKeyRange
    /// Whether these are keys of the index of sync statuses.
    let isIndex: Bool
    private let transaction: any ReadTransaction
    private var block: [StorageKey] = []
    private var position = 0
    private var isAtEnd = false

    init(range: StorageKeyRange, isIndex: Bool, transaction: any ReadTransaction) {
      self.range = range
      self.isIndex = isIndex
      self.transaction = transaction
    }

    /// Makes sure that there is a first key, unless no more is to come.
    mutating func fill() throws {
      if position < block.count || isAtEnd { return }
      block.removeAll(keepingCapacity: true)
      position = 0
      var keys = block
      try transaction.scanKeys(range, .forward) { key in
        keys.append(StorageKey(key))
        return keys.count < blockCount ? .continue : .stop
      }
      block = keys
      isAtEnd = block.count < blockCount
      blockCount = min(blockCount * 2, Source.largestBlockCount)
      if let last = block.last { range.lowerBound = last.bytes + [0] }
    }

    var identifier: ArraySlice<UInt8>? {
      let start = isIndex ? KeyLayout.syncStatusIdentifierOffset : KeyLayout.identifierOffset
      // An entry that somebody else put may end before an identifier begins.
      return position < block.count ? block[position].bytes.dropFirst(start) : nil
    }

    mutating func removeFirst() -> StorageKey {
      defer { position += 1 }
      return isIndex ? KeyLayout.record(ofSyncStatus: block[position]) : block[position]
    }
  }
}

public import GarageDriver

/// How far ``SealedStorage/rekey(batchCount:progress:)`` is.
public struct RekeyProgress: Sendable, Hashable {
  /// How many entries there were when it began.
  public var totalCount = 0
  /// How many entries were looked at.
  public var examinedCount = 0
  /// How many of them were sealed again, with the key that writes.
  public var resealedCount = 0
  /// How many did not open, and were left as they are.
  public var failedCount = 0
  /// Why they did not open: the first hundred errors.
  public var failures: [StorageError] = []
  /// Which they are: the keys that ``failures`` are about, in the same order.
  public var failedKeys: [StorageKey] = []

  /// Whether all entries are sealed with the key that writes, so that former ones are not needed any more.
  public var isComplete: Bool { failedCount == 0 && examinedCount >= totalCount }
}

extension SealedStorage {
  /// Seals everything that was written with a former key again, with the key that writes.
  ///
  /// ```swift
  /// let storage = try SealedStorage(base, sealer: newSealer, formerSealers: [oldSealer])
  /// let result = try storage.rekey { show($0.examinedCount, of: $0.totalCount) }
  /// if result.isComplete { /* the old key can go */ }
  /// ```
  /// It works in batches, each a write transaction of its own; between them others read and write. Interrupted,
  /// by an error or by the end of the process, it leaves a store in which several keys are used, and called again
  /// it goes on: what has the right key already is only looked at. Other processes that use the store must know
  /// the new key before this begins, and must not write with the old one any more; what they write meanwhile is
  /// found by another call.
  ///
  /// Entries that do not open (damaged, changed, of a key that was not given) are left as they are, and reported:
  /// the work goes on past them. Where they are given up, `write { for key in result.failedKeys { try $0.remove(key)
  /// } }` on this storage takes them away; then the former key can go.
  ///
  /// Where several write at a time, a batch that comes into conflict with others is made again, smaller.
  ///
  /// What was sealed with the old key may remain for a while in parts of the file that the engine does not use.
  ///
  /// - Parameters:
  ///   - batchCount: how many entries are sealed in one transaction, at most; one also ends with 8 MiB.
  ///   - progress: called after each batch. What it throws ends the work; what was done stays.
  /// - Returns: what was done in all.
  /// - Throws: what the wrapped storage throws, for instance `.busy`, and what the sealers throw as `StorageError`.
  @discardableResult
  public func rekey(
    batchCount: Int = 1000, progress: (RekeyProgress) throws -> Void = { _ in }
  ) throws -> RekeyProgress {
    var state = RekeyProgress()
    try base.read { transaction in
      try transaction.scan(.all, .forward) { _, _ in
        state.totalCount += 1
        return .continue
      }
    }
    var rest: StorageKeyRange? = .all
    var conflictCount = 0
    while let range = rest {
      do {
        (state, rest) = try base.write { transaction in
          var batch = RekeyBatch(keys, state, limit: RekeyBatch.limit(batchCount, after: conflictCount))
          let rest = try batch.collect(range, in: transaction)
          try batch.put(in: transaction)
          return .commit((batch.state, rest))
        }
        conflictCount = 0
      } catch let error as StorageError
        where error.kind == .conflict && conflictCount < RekeyBatch.conflictLimit
      {
        conflictCount += 1
        continue
      }
      try progress(state)
    }
    return state
  }
}

/// The entries that one transaction seals again.
private struct RekeyBatch {
  private let keys: KeyRing
  private(set) var state: RekeyProgress
  private let limit: Int
  private static let byteLimit = 8 << 20
  /// More entries than a batch's bytes have room for, and few enough to be counted with on any platform.
  private static let countLimit = 1 << 20

  /// The sealed values, one behind the other, and where each ends.
  private let sealed = SealerOutput()
  private var entries: [(key: StorageKey, end: Int)] = []

  init(_ keys: KeyRing, _ state: RekeyProgress, limit: Int) {
    self.keys = keys
    self.state = state
    self.limit = limit
  }

  /// How often in a row others may come first, where several write at a time.
  static let conflictLimit = 100

  /// How many entries a batch takes where so many were asked for. Where others came first, fewer each time: a small batch is in
  /// the way of fewer.
  static func limit(_ batchCount: Int, after conflictCount: Int) -> Int {
    max(1, min(max(1, batchCount), countLimit) >> conflictCount)
  }

  /// Seals what is found in the range until the batch is full; returns what is left of the range.
  mutating func collect(_ range: StorageKeyRange, in transaction: any ReadTransaction) throws
    -> StorageKeyRange?
  {
    let (value, context) = (SealerOutput(), SealerOutput())
    // Looking costs little, but the others should get their turn.
    let end = state.examinedCount + 100 * limit
    var last: StorageKey?
    try transaction.scan(range, .forward) { key, present in
      state.examinedCount += 1
      if SealedValue.Header(present) != .sealed(keyIdentifier: keys.writerIdentifier) {
        do {
          value.removeAll()
          try keys.open(present, for: key, .read, into: value, context: context)
          try value.withUnsafeBytes { try keys.seal($0.bytes, for: key, into: sealed, context: context) }
          entries.append((StorageKey(key), sealed.byteCount))
        } catch let error as StorageError where error.isOfTheValue {
          state.failedCount += 1
          if state.failures.count < 100 {
            state.failures.append(error)
            state.failedKeys.append(StorageKey(key))
          }
        }
      }
      if entries.count < limit && sealed.byteCount < RekeyBatch.byteLimit && state.examinedCount < end {
        return .continue
      }
      last = StorageKey(key)
      return .stop
    }
    return last.map { StorageKeyRange(from: $0.bytes + [0], to: range.upperBound) }
  }

  mutating func put(in transaction: any WriteTransaction) throws {
    try sealed.withUnsafeBytes { bytes in
      var start = 0
      for (key, end) in entries {
        let value = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        try transaction.put(value.bytes, for: key.bytes.span.bytes)
        start = end
      }
    }
    state.resealedCount += entries.count
  }
}

extension StorageError {
  /// Whether one value is the reason, and not the store or the sealer.
  fileprivate var isOfTheValue: Bool { [.tampered, .wrongKey, .notSealed, .newerFormat].contains(kind) }
}

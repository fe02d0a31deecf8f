public import GarageDriver

/// How far ``SealedStorage/rekey(batchCount:progress:)`` has come.
public struct RekeyProgress: Sendable, Hashable {
  /// How many entries there were when it began.
  public var totalCount = 0
  /// How many entries were examined.
  public var examinedCount = 0
  /// How many of them were sealed again, with the key that writes.
  public var resealedCount = 0
  /// How many did not open, and were left as they are.
  public var failedCount = 0
  /// Why entries did not open: the first hundred errors.
  public var failures: [StorageError] = []
  /// The keys of the entries in ``failures``, in the same order.
  public var failedKeys: [StorageKey] = []

  /// Whether all entries are sealed with the key that writes, so that former keys are not needed any more.
  public var isComplete: Bool { failedCount == 0 && examinedCount >= totalCount }
}

extension SealedStorage {
  /// Seals all values that were written with a former key again, with the key that writes.
  ///
  /// ```swift
  /// let storage = try SealedStorage(base, sealer: newSealer, formerSealers: [oldSealer])
  /// let result = try storage.rekey { show($0.examinedCount, of: $0.totalCount) }
  /// if result.isComplete { /* the old key can go */ }
  /// ```
  /// It works in batches. Each batch is a write transaction of its own; between them others read and write. If it is
  /// interrupted, by an error or by the end of the process, it leaves a store in which several keys are used. The next call
  /// goes on: values that already have the right key are only examined. Other processes that use the store must know the new
  /// key before this begins, and must not write with the old one any more. Another call finds the values that they write
  /// meanwhile.
  ///
  /// Entries that do not open (damaged, changed, of a key that was not given) are left as they are and reported, and the work
  /// goes on. To give them up, remove them through this storage: `write { for key in result.failedKeys { try $0.remove(key) }
  /// }`. Then the former key is no longer needed.
  ///
  /// If several writers write at a time, a batch that comes into conflict with them is made again, and smaller.
  ///
  /// Values sealed with the old key may remain for a while in parts of the file that the engine does not use.
  ///
  /// - Parameters:
  ///   - batchCount: how many entries are sealed in one transaction, at most. A transaction also ends after 8 MiB.
  ///   - progress: called after each batch. An error that it throws ends the work; the work done so far stays.
  /// - Returns: what was done in all.
  /// - Throws: the errors of the wrapped storage, for instance `.busy`, and errors of the sealers that are `StorageError`s.
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
  /// More entries than the bytes of a batch have room for. The number is small enough for the arithmetic on any platform.
  private static let countLimit = 1 << 20

  /// The sealed values, one behind the other. `entries` says where each ends.
  private let sealed = SealerOutput()
  private var entries: [(key: StorageKey, end: Int)] = []

  init(_ keys: KeyRing, _ state: RekeyProgress, limit: Int) {
    self.keys = keys
    self.state = state
    self.limit = limit
  }

  /// How many times in a row others may come first, if several write at a time.
  static let conflictLimit = 100

  /// How many entries a batch takes of the number asked for. It takes fewer each time that others came first, because a small
  /// batch gets in the way of fewer writers.
  static func limit(_ batchCount: Int, after conflictCount: Int) -> Int {
    max(1, min(max(1, batchCount), countLimit) >> conflictCount)
  }

  /// Seals the entries of the range until the batch is full. Returns the rest of the range.
  mutating func collect(_ range: StorageKeyRange, in transaction: any ReadTransaction) throws
    -> StorageKeyRange?
  {
    let (value, context) = (SealerOutput(), SealerOutput())
    // Examining costs little, but other writers should get their turn.
    let end = state.examinedCount + 100 * limit
    var last: StorageKey?
    try transaction.scan(range, .forward) { key, present in
      state.examinedCount += 1
      if SealedValue.Header(present) != .sealed(keyIdentifier: keys.writerIdentifier) {
        value.removeAll()
        if try opens(present, key, into: value, context) {
          // An error here ends the work: what was sealed in part must not stand before the next value.
          try value.withUnsafeBytes { try keys.seal($0.bytes, for: key, into: sealed, context: context) }
          entries.append((StorageKey(key), sealed.byteCount))
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

  /// Opens a value, or notes why it does not open.
  private mutating func opens(
    _ present: RawSpan, _ key: RawSpan, into value: SealerOutput, _ context: SealerOutput
  ) throws -> Bool {
    do {
      try keys.open(present, for: key, .read, into: value, context: context)
      return true
    } catch let error as StorageError where error.isOfTheValue {
      state.failedCount += 1
      if state.failures.count < 100 {
        state.failures.append(error)
        state.failedKeys.append(StorageKey(key))
      }
      return false
    }
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

import GarageDriver
import Synchronization

/// Counts gets, and notes puts.
final class CountingStorage: StorageDriver {
  private let base: any StorageDriver
  let info: StorageInfo
  /// A multi-get counts as one.
  let gets = Atomic<Int>(0)
  let puts = Mutex<[StorageKey]>([])

  init(_ base: any StorageDriver, roundTripsAreExpensive: Bool = false) {
    self.base = base
    var info = base.info
    info.roundTripsAreExpensive = roundTripsAreExpensive
    self.info = info
  }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try base.read { try body(CountingTransaction($0, self)) }
  }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write { try body(CountingWriteTransaction($0, self)) }
  }

  func close() throws { try base.close() }
}

private class CountingTransaction: ReadTransaction {
  private let base: any ReadTransaction
  let storage: CountingStorage

  init(_ base: any ReadTransaction, _ storage: CountingStorage) {
    self.base = base
    self.storage = storage
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    storage.gets.add(1, ordering: .relaxed)
    return try base.withValue(for: key, body)
  }

  func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    storage.gets.add(1, ordering: .relaxed)
    try base.withValues(for: keys, visit)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try base.scan(range, direction, visit)
  }
}

private final class CountingWriteTransaction: CountingTransaction, WriteTransaction {
  private let base: any WriteTransaction

  init(_ base: any WriteTransaction, _ storage: CountingStorage) {
    self.base = base
    super.init(base, storage)
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    storage.puts.withLock { $0.append(StorageKey(key)) }
    try base.put(value, for: key)
  }

  func remove(_ key: RawSpan) throws { try base.remove(key) }
}

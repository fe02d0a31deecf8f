import GarageDriver
import Synchronization

/// Counts the entries that are lent, by scans and by gets.
final class VisitCountingStorage: StorageDriver {
  private let base: any StorageDriver
  let info: StorageInfo
  let visits = Atomic<Int>(0)

  init(_ base: any StorageDriver) { (self.base, info) = (base, base.info) }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try base.read { try body(VisitCountingTransaction($0, self)) }
  }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write { try body(VisitCountingWriteTransaction($0, self)) }
  }

  func close() throws { try base.close() }
}

private class VisitCountingTransaction: ReadTransaction {
  private let base: any ReadTransaction
  private let storage: VisitCountingStorage

  init(_ base: any ReadTransaction, _ storage: VisitCountingStorage) {
    (self.base, self.storage) = (base, storage)
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    storage.visits.add(1, ordering: .relaxed)
    return try base.withValue(for: key, body)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    let storage = storage
    try base.scan(range, direction) { key, value in
      storage.visits.add(1, ordering: .relaxed)
      return try visit(key, value)
    }
  }
}

private final class VisitCountingWriteTransaction: VisitCountingTransaction, WriteTransaction {
  private let base: any WriteTransaction

  init(_ base: any WriteTransaction, _ storage: VisitCountingStorage) {
    self.base = base
    super.init(base, storage)
  }

  func put(_ value: RawSpan, for key: RawSpan) throws { try base.put(value, for: key) }

  func remove(_ key: RawSpan) throws { try base.remove(key) }
}

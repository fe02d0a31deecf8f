internal import GarageDriver

/// A storage that reads by `deferredRead`, so that what holds of reads can be asked of these.
struct ByDeferredRead: StorageDriver {
  let base: any DeferredReading

  var info: StorageInfo { base.info }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R { try base.deferredRead(body) }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write(body)
  }

  func close() throws { try base.close() }
}

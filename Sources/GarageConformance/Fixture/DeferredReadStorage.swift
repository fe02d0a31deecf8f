internal import GarageDriver

/// A storage whose `read` is the `deferredRead` of another one. With it the checks of reads also run on deferred reads.
struct DeferredReadStorage: StorageDriver {
  let base: any DeferredReading

  var info: StorageInfo { base.info }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R { try base.deferredRead(body) }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write(body)
  }

  func close() throws { try base.close() }
}

internal import GarageDriver

extension WriteAccess {
  /// Tells a storage whose round trips are expensive which keys will be read, in about this order. It has no effect on other
  /// storages.
  ///
  /// - Returns: whether the storage makes use of it.
  @discardableResult
  func announce(_ keys: @autoclosure () -> [StorageKey]) -> Bool {
    guard garage.store.roundTripsAreExpensive, let transaction = transaction as? any AnnouncedReading else {
      return false
    }
    return transaction.willGet(keys())
  }
}

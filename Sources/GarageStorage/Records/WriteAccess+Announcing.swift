internal import GarageDriver

extension WriteAccess {
  /// Tells a storage whose round trips are expensive which keys will be asked for, in about this order. Without effect on
  /// any other.
  ///
  /// - Returns: whether the storage makes use of that.
  @discardableResult
  func announce(_ keys: @autoclosure () -> [StorageKey]) -> Bool {
    guard garage.store.roundTripsAreExpensive, let transaction = transaction as? any AnnouncedReading else {
      return false
    }
    return transaction.willGet(keys())
  }
}

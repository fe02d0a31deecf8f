/// What a driver offers besides where to begin a transaction takes a trip to a server: a read whose first operation goes along
/// with its beginning.
///
/// A garage's verbs read by it where ``StorageInfo/roundTripsAreExpensive`` or ``StorageInfo/writersConflict`` says that it is
/// worth it; they make the read again where it throws an error that is `isRetryable`.
public protocol DeferredReading: StorageDriver {
  /// As ``StorageDriver/read(_:)``, but for the moment: `body` sees the state of its first operation instead of that of its
  /// entry, and without any operation none. For who does nothing before it that others could see.
  func deferredRead<R>(_ body: (any ReadTransaction) throws -> R) throws -> R
}

/// A storage where beginning a transaction takes a trip to a server, and that can send the first operation of a read along with
/// the read's beginning.
///
/// A garage's verbs read in this way if ``StorageInfo/roundTripsAreExpensive`` or ``StorageInfo/writersConflict`` says that it
/// is worth it. If the read throws a retryable error, they read again.
public protocol DeferredReading: StorageDriver {
  /// Runs `body` as ``StorageDriver/read(_:)`` does, except for the moment whose state it sees: that of its first operation
  /// instead of its entry. Without any operation it sees no state. So before its first operation `body` may do nothing that
  /// others could see.
  func deferredRead<R>(_ body: (any ReadTransaction) throws -> R) throws -> R
}

/// A write transaction that saves trips to a server where it is told beforehand what will be asked for.
///
/// What gets and scans return is the same with and without. Only storages whose round trips are expensive
/// (``StorageInfo/roundTripsAreExpensive``) have something to gain.
package protocol AnnouncedReading: WriteTransaction {
  /// Announces gets of these keys, in about this order. They are fetched a block at a time, from the first one on that is
  /// asked for. What was announced before is forgotten.
  ///
  /// - Returns: whether that is made use of: a transaction that wraps another one passes it on.
  func willGet(_ keys: [StorageKey]) -> Bool

  /// Announces a get of a key whose value hardly ever changes: it may be answered by what a transaction of this storage
  /// found there before. Whether that is still so the server checks along with the next thing that is sent, before that is
  /// answered or committed. Where it is not so, the transaction throws ``StorageError/Kind/conflict``, `isRetryable`, and
  /// the next one asks anew. So it is for bodies that are run again then.
  ///
  /// A body that throws, or rolls back, after such an answer has it checked first: the conflict is thrown instead where what
  /// it saw was not so.
  func mayRemember(_ key: StorageKey)
}

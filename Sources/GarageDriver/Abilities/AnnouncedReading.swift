/// A write transaction that saves trips to a server if it is told beforehand which keys will be read.
///
/// Gets and scans return the same with and without an announcement. Only storages whose round trips are expensive
/// (``StorageInfo/roundTripsAreExpensive``) have something to gain.
package protocol AnnouncedReading: WriteTransaction {
  /// Announces gets of these keys, in about this order. They are fetched in blocks, beginning at the first key that is then
  /// asked for. Earlier announcements are forgotten.
  ///
  /// - Returns: whether the transaction makes use of it. One that wraps another passes that one's answer on.
  func willGet(_ keys: [StorageKey]) -> Bool

  /// Announces a get of a key whose value hardly ever changes. The get may be answered with the value that an earlier
  /// transaction of this storage found. The server checks whether that value is still right along with the next message that it
  /// is sent, and before it answers or commits. If the value has changed, the transaction throws a retryable
  /// ``StorageError/Kind/conflict``, and the next transaction asks anew. So this is for bodies that are then run again.
  ///
  /// If a body throws or rolls back after such an answer, the answer is checked first. If it was wrong, the conflict is thrown
  /// instead.
  func mayRemember(_ key: StorageKey)
}

/// A damaged store that is read from its file without its engine, to save as much of it as can be saved.
///
/// Engines refuse damaged files, end the process over them, or give wrong values without an error. A source lends everything
/// that may be an entry, and leaves the judgement to the caller: a garage's records have a checksum.
public protocol SalvageSource: Sendable {
  /// The driver of the store, as in ``StorageInfo/name``.
  var driver: String { get }

  /// Lends everything that may be an entry of the store: the entries of its last state, and, if the last state cannot be told,
  /// also some that may be of an older one. A key may come several times.
  ///
  /// Nobody may have the store open.
  ///
  /// - Parameter visit: is lent the key and the value, and is told whether they are of the last state or may be older.
  /// - Returns: descriptions of the damage that was found.
  /// - Throws: ``StorageError`` if there is nothing to read, and the errors of `visit`.
  func forEachEntry(_ visit: (_ key: RawSpan, _ value: RawSpan, _ isOfLastState: Bool) throws -> Void) throws
    -> [String]
}

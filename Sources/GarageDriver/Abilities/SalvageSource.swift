/// A damaged store, read from its file without its engine, for whoever wants to save what is left of it.
///
/// Engines refuse damaged files, end the process over them, or give wrong values without a word. A source gives all that may
/// be an entry, and lets the caller judge: what a garage keeps bears a checksum.
public protocol SalvageSource: Sendable {
  /// The driver of the store, as in ``StorageInfo/name``.
  var driver: String { get }

  /// Lends all that may be an entry of the store: those of its last state, and where it cannot be told, such as may be of
  /// an older one. A key may come several times.
  ///
  /// Nobody may have the store open.
  ///
  /// - Parameter visit: gets key, value, and whether they are of the last state, or of one that may be older.
  /// - Returns: what was found to be damaged, in words.
  /// - Throws: ``StorageError`` where there is nothing to read, and what `visit` throws.
  func forEachEntry(_ visit: (_ key: RawSpan, _ value: RawSpan, _ isOfLastState: Bool) throws -> Void) throws
    -> [String]
}

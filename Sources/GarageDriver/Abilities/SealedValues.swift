/// A transaction whose values may be there and yet not open: a sealed one.
///
/// What is about to be replaced or removed need not be readable for that. So a read whose caller only wants to know
/// what it takes the place of may go on where others throw.
package protocol SealedValues: ReadTransaction {
  /// As `withValue`, but a value that was damaged or changed, or is not sealed, is lent as no bytes at all, and does
  /// not forbid the commit.
  func withReplaceableValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R
}

extension StorageError {
  /// Whether it tells of one sealed value that does not open, and not of the store.
  package var isOfOneValue: Bool { ["tampered", "wrongKey", "notSealed"].contains(kind.rawValue) }
}

extension ReadTransaction {
  /// Lends a value that is about to be replaced or removed. Where it does not open, it is lent as no bytes.
  package func withReplaceableValue<R>(
    for key: RawSpan, isSealed: Bool, _ body: (RawSpan?) throws -> R
  ) throws -> R {
    if isSealed, let sealed = self as? any SealedValues {
      return try sealed.withReplaceableValue(for: key, body)
    }
    return try withValue(for: key, body)
  }
}

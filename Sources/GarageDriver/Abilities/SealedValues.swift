/// A transaction of a sealed storage, where a value may exist and yet not open.
///
/// A value that is about to be replaced or removed need not be readable. So a read for that purpose may go on where others
/// throw.
package protocol SealedValues: ReadTransaction {
  /// Does as `withValue`, but lends an empty value in place of one that was damaged or changed, or is not sealed. Such a value
  /// does not forbid the commit.
  func withReplaceableValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R
}

extension StorageError {
  /// Whether the error is about one sealed value that does not open, and not about the whole store.
  package var isOfOneValue: Bool { ["tampered", "wrongKey", "notSealed"].contains(kind.rawValue) }
}

extension ReadTransaction {
  /// Lends a value that is about to be replaced or removed. If it does not open, an empty value is lent.
  package func withReplaceableValue<R>(
    for key: RawSpan, isSealed: Bool, _ body: (RawSpan?) throws -> R
  ) throws -> R {
    if isSealed, let sealed = self as? any SealedValues {
      return try sealed.withReplaceableValue(for: key, body)
    }
    return try withValue(for: key, body)
  }
}

/// A write transaction that removes many entries at once faster than one after another.
package protocol ManyRemoval: WriteTransaction {
  /// Removes the entry of each key. A missing key is no error. Ascending keys are served fastest.
  ///
  /// - Parameters:
  ///   - entries: the places of the keys. Their places of values are ignored.
  ///   - bytes: the bytes that hold the keys.
  func removeEach(_ entries: [PlacedEntry], in bytes: RawSpan) throws
}

extension WriteTransaction {
  /// Removes the entry of each key; all at once if the transaction can do that.
  package func removeMany(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    if entries.count > 1, let many = self as? any ManyRemoval {
      return try many.removeEach(entries, in: bytes)
    }
    for entry in entries { try remove(bytes.extracting(entry.key)) }
  }
}

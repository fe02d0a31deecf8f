/// A write transaction that removes many entries at once sooner than one after another.
package protocol ManyRemoval: WriteTransaction {
  /// Removes the entry of each key; what is missing is no error. Ascending keys are served fastest.
  ///
  /// - Parameters:
  ///   - entries: where each key stands. What they say of values is not looked at.
  ///   - bytes: what the keys stand in.
  func removeEach(_ entries: [PlacedEntry], in bytes: RawSpan) throws
}

extension WriteTransaction {
  /// Removes the entry of each key: at once, where the transaction knows a way.
  package func removeMany(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    if entries.count > 1, let many = self as? any ManyRemoval {
      return try many.removeEach(entries, in: bytes)
    }
    for entry in entries { try remove(bytes.extracting(entry.key)) }
  }
}

/// A transaction that counts the keys of a range faster than a scan would.
package protocol RangeCounting: ReadTransaction {
  /// Returns the number of keys in `range`.
  func count(in range: StorageKeyRange) throws -> Int
}

extension ReadTransaction {
  /// Returns the number of keys in `range`, in the fastest way that the transaction has.
  package func keyCount(in range: StorageKeyRange) throws -> Int {
    if let counting = self as? any RangeCounting { return try counting.count(in: range) }
    var count = 0
    try scanKeys(range, .forward) { _ in
      count += 1
      return .continue
    }
    return count
  }
}

/// A transaction that counts the keys of a range in less time than it takes to be lent each of them.
package protocol RangeCounting: ReadTransaction {
  /// How many keys are in `range`.
  func count(in range: StorageKeyRange) throws -> Int
}

extension ReadTransaction {
  /// How many keys are in `range`, by whichever way is the shortest.
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

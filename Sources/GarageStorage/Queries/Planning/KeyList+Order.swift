internal import GarageCoding
internal import GarageDriver

// The first entries of an index of one field, if each of them tells its place. It is not part of a generic type, because its
// closures are called with every entry.

extension KeyList {
  /// The keys of the records that the first entries in a range lead to, in ascending or descending order of their values. Those
  /// with the same values are in the order of their identifiers.
  ///
  /// - Returns: nil if values are cut, so that entries do not tell their order, or if an entry is damaged.
  static func first(
    _ most: Int, in range: StorageKeyRange, _ direction: ScanDirection, _ transaction: any ReadTransaction
  ) throws -> KeyList? {
    var keys = KeyList()
    keys.reserve(most)
    let areAllTold =
      switch direction {
      case .forward: try keys.appendFirst(most, of: range, transaction)
      case .backward: try keys.appendLast(most, of: range, transaction)
      }
    return areAllTold ? keys : nil
  }

  /// The place in an entry's key where the identifier begins; nil if the entry does not tell its place.
  private static func identifierPlace(_ entry: RawSpan, _ value: RawSpan) -> Int? {
    guard let place = IndexBatch.identifierPlace(value), place < entry.byteCount,
      place != KeyLayout.indexPrefixByteCount + OrderedBytes.cutByteCount
    else { return nil }
    return place
  }

  /// Appends keys until there are enough. Returns false if an entry does not tell its place.
  private mutating func appendFirst(
    _ most: Int, of range: StorageKeyRange, _ transaction: any ReadTransaction
  ) throws -> Bool {
    var areAllTold = true
    try transaction.scan(range, .forward) { entry, value in
      guard let place = KeyList.identifierPlace(entry, value) else {
        areAllTold = false
        return .stop
      }
      append(recordOf: entry, identifierAt: place)
      return count < most ? .continue : .stop
    }
    return areAllTold
  }

  /// Does the same in descending order of the values.
  private mutating func appendLast(
    _ most: Int, of range: StorageKeyRange, _ transaction: any ReadTransaction
  ) throws -> Bool {
    // One more than wanted, so that the last group is complete if its entries have different values.
    var block = EntryBlock(reserving: most + 1)
    var areAllTold = true
    try transaction.scan(range, .backward) { entry, value in
      areAllTold = KeyList.identifierPlace(entry, value) != nil
      if !areAllTold { return .stop }
      block.append(entry, value)
      return block.count <= most ? .continue : .stop
    }
    if !areAllTold { return false }
    var place = 0
    while place < block.count, count < most {
      var end = place + 1
      while end < block.count, block.hasSameValues(place, end) { end += 1 }
      if end > most {
        // The rest of the group is not in the block, and the group has more entries than are wanted.
        let values = block.values(place)
        let group = StorageKeyRange(from: values, to: ValueRanges.behind(values))
        return try appendFirst(most, of: group, transaction)
      }
      for index in (place..<end).reversed() {
        _ = block.withEntry(index) { entry, value in
          if let place = KeyList.identifierPlace(entry, value) {
            append(recordOf: entry, identifierAt: place)
          }
          return .continue
        }
      }
      place = end
    }
    return true
  }
}

internal import GarageCoding
internal import GarageDriver

// Entries of an index in the order of a query.

extension QueryRun {
  /// The keys of what the query finds, in the order of an index; nil where it leads to too much that is not found.
  func keysInOrder(of scan: IndexPlan.Scan) throws -> KeyList? {
    try OrderedSearch(self).keys(of: scan)
  }

  /// Where the page before ended among the entries of an index; nil where this is the first one.
  func startPlace(in scan: IndexPlan.Scan) -> EntryPlace? {
    guard let start else { return nil }
    // The values that stand before those of the order are the same in all that is found, and the cursor does not have them.
    var bytes = OrderedBytes()
    bytes.append(scan.fixedValues)
    for value in start.values { bytes.append(value) }
    let values = KeyLayout.indexPrefix(tag: way.tags[0], index: scan.item.id)
    if bytes.count > OrderedBytes.uncutByteCount {
      return EntryPlace(values: values + bytes.bytes.prefix(OrderedBytes.uncutByteCount), behind: nil)
    }
    let place = values + bytes.bytes
    return EntryPlace(values: place, behind: place + start.identifier + [0])
  }

  /// Visits entries against their order, but those with the same values in the order of their identifiers.
  func forEachDescending(
    _ range: StorageKeyRange, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    // One more than is wanted, so that the last group is whole where its entries have different values.
    let blockCount = Swift.max(8, Swift.min(query.maximumCount ?? .max, 63) + 1)
    var range = range
    while true {
      var block = EntryBlock(reserving: blockCount)
      try access.transaction.scan(range, .backward) { key, value in
        block.append(key, value)
        return block.count < blockCount ? .continue : .stop
      }
      let isAtEnd = block.count < blockCount
      var place = 0
      while place < block.count {
        var end = place + 1
        while end < block.count, block.hasSameValues(place, end) { end += 1 }
        if end == block.count && !isAtEnd {
          let values = block.values(place)
          // The rest of the group is not here. It may be long: it is read in its own order.
          if place > 0 {
            range.upperBound = ValueRanges.behind(values)
          } else {
            var step = ScanStep.continue
            let group = StorageKeyRange(from: values, to: ValueRanges.behind(values))
            try access.transaction.scan(group, .forward) { key, value in
              // Entries with other values can begin in the same way only where values are cut, and those are a group of their
              // own.
              step = try visit(key, value)
              return step
            }
            if step == .stop { return }
            range.upperBound = values
          }
          break
        }
        for index in stride(from: end - 1, through: place, by: -1) {
          if try block.withEntry(index, visit) == .stop { return }
        }
        place = end
      }
      if isAtEnd { return }
    }
  }
}

/// Where a page ended among the entries of an index.
struct EntryPlace {
  /// What entries with the same values begin with; of values that are cut, as far as they are in order.
  let values: [UInt8]
  /// The least key behind the last entry, among those with the same values. Nil where values are cut: entries that begin alike
  /// are then in no order, and their records have to be asked.
  let behind: [UInt8]?

  /// The part of a range that comes behind, in the order of its keys.
  func rest(of range: StorageKeyRange) -> StorageKeyRange {
    var range = range
    let first = behind ?? values
    if range.lowerBound.lexicographicallyPrecedes(first) { range.lowerBound = first }
    return range
  }

  /// The parts of a range that come behind, against its order: entries with the same values, which are in the order of their
  /// identifiers also there, and all that are less.
  func restDescending(of range: StorageKeyRange) -> (ties: StorageKeyRange?, less: StorageKeyRange) {
    let end = ValueRanges.behind(values)
    let ties = behind.map { first in
      StorageKeyRange(
        from: range.lowerBound.lexicographicallyPrecedes(first) ? first : range.lowerBound,
        to: EntryPlace.least(range.upperBound, end))
    }
    var less = range
    less.upperBound = EntryPlace.least(range.upperBound, behind == nil ? end : values)
    return (ties, less)
  }

  private static func least(_ bound: [UInt8]?, _ other: [UInt8]) -> [UInt8] {
    guard let bound, bound.lexicographicallyPrecedes(other) else { return other }
    return bound
  }
}

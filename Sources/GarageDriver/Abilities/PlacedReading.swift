internal import CGarage

/// A transaction that is asked for the values of keys that stand in one piece of memory, so that none has to have memory of its
/// own.
package protocol PlacedReading: ReadTransaction {
  /// Lends the value of each key, in the order of `keys`, with the key's position there: as the `withValues(for:_:)` that takes
  /// owned keys.
  ///
  /// - Parameters:
  ///   - keys: where each key stands.
  ///   - bytes: what they stand in.
  func withValues(at keys: [Range<Int>], in bytes: RawSpan, _ visit: (Int, RawSpan?) throws -> Void) throws
}

extension ReadTransaction {
  /// Lends the value of each key that stands in `bytes`, by whichever way is the shortest.
  package func withPlacedValues(
    at keys: [Range<Int>], in bytes: RawSpan, _ visit: (Int, RawSpan?) throws -> Void
  ) throws {
    if let placed = self as? any PlacedReading { return try placed.withValues(at: keys, in: bytes, visit) }
    var owned: [StorageKey] = []
    owned.reserveCapacity(keys.count)
    for place in keys { owned.append(StorageKey(bytes.extracting(place))) }
    try withValues(for: owned, visit)
  }
}

extension PlacedReading {
  /// The same of owned keys, for engines that need them in one place.
  package func withValuesInOnePlace(
    for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void
  ) throws {
    var places: [Range<Int>] = []
    places.reserveCapacity(keys.count)
    var bytes: [UInt8] = []
    for key in keys {
      places.append(bytes.count..<bytes.count + key.bytes.count)
      bytes += key.bytes
    }
    try withValues(at: places, in: bytes.span.bytes, visit)
  }
}

/// Asks for the beginning of a value that will be read soon: as much as most records have.
package func prefetchValue(_ value: UnsafeRawBufferPointer) {
  guard let start = value.baseAddress else { return }
  for line in stride(from: 0, to: min(value.count, 192), by: 64) { garage_prefetch(start + line) }
  // A value mostly begins within a line, and ends in one more.
  garage_prefetch(start + max(0, min(value.count, 192) - 1))
}

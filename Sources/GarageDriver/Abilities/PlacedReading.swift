internal import CGarage

/// A transaction that can be asked for many keys that stand in one piece of memory, so that no key needs memory of its own.
package protocol PlacedReading: ReadTransaction {
  /// Lends the value of each key, in the order of `keys`, with the key's position in that array. It does the same as
  /// `withValues(for:_:)`, which takes owned keys.
  ///
  /// - Parameters:
  ///   - keys: the places of the keys.
  ///   - bytes: the bytes that hold the keys.
  func withValues(at keys: [Range<Int>], in bytes: RawSpan, _ visit: (Int, RawSpan?) throws -> Void) throws
}

extension ReadTransaction {
  /// Lends the value of each key that stands in `bytes`, in the fastest way that the transaction has.
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
  /// Lends the value of each of these owned keys, for engines that need the keys in one place.
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

/// Prefetches the beginning of a value that will be read soon: its first 192 bytes, which is as much as most records have.
package func prefetchValue(_ value: UnsafeRawBufferPointer) {
  guard let start = value.baseAddress else { return }
  for line in stride(from: 0, to: min(value.count, 192), by: 64) { garage_prefetch(start + line) }
  // A value mostly begins in the middle of a cache line, so that its end is in one line more.
  garage_prefetch(start + max(0, min(value.count, 192) - 1))
}

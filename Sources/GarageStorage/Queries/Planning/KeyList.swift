internal import GarageDriver

/// Keys of records in one piece of memory. In an array, each key would have memory of its own.
struct KeyList {
  private var bytes: [UInt8] = []
  /// The place of each key in `bytes`.
  private var places: [Range<Int>] = []

  init() {}

  init(_ keys: some Sequence<StorageKey>) {
    for key in keys { append(key.bytes.span.bytes) }
  }

  var count: Int { places.count }
  var isEmpty: Bool { places.isEmpty }

  /// Makes room for so many keys of the usual length.
  mutating func reserve(_ count: Int) {
    bytes.reserveCapacity(24 * count)
    places.reserveCapacity(count)
  }

  mutating func append(_ key: RawSpan) {
    let start = bytes.count
    key.withUnsafeBytes { bytes.append(contentsOf: $0) }
    places.append(start..<bytes.count)
  }

  /// Appends the key of the record that an entry belongs to.
  ///
  /// - Parameter place: the place in the entry's key where the identifier begins.
  mutating func append(recordOf entry: RawSpan, identifierAt place: Int) {
    let start = bytes.count
    KeyLayout.appendRecord(ofEntry: entry, identifierAt: place, to: &bytes)
    places.append(start..<bytes.count)
  }

  /// Removes all keys and keeps the memory.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }

  /// Lends one key after another, until `visit` returns `.stop`.
  func forEach(_ visit: (RawSpan) throws -> ScanStep) rethrows {
    let all = bytes.span.bytes
    for place in places where try visit(all.extracting(place)) == .stop { return }
  }

  /// Lends the record of each of some keys, with the key and its place among these, until `visit` returns `.stop`. The record
  /// is nil if there is none.
  ///
  /// - Returns: the last result of `visit`.
  @discardableResult
  func forEachRecord(
    _ indices: Range<Int>, in transaction: any ReadTransaction,
    _ visit: (_ index: Int, _ key: RawSpan, _ record: RawSpan?) throws -> ScanStep
  ) throws -> ScanStep {
    let all = bytes.span.bytes
    let places = indices == self.places.indices ? self.places : Array(self.places[indices])
    var step = ScanStep.continue
    do {
      try transaction.withPlacedValues(at: places, in: all) { index, record in
        step = try visit(index, all.extracting(places[index]), record)
        if step == .stop && index + 1 < places.count { throw NoMoreWanted() }
      }
    } catch is NoMoreWanted {}
    return step
  }

  /// Some of them as an array.
  func keys(_ indices: Range<Int>) -> [StorageKey] {
    let all = bytes.span.bytes
    return places[indices].map { StorageKey(all.extracting($0)) }
  }

  /// All of them as an array.
  var all: [StorageKey] { keys(0..<count) }
}

/// Ends a multi-get when its remaining values are not wanted: one of them might be damaged, and all take time.
private struct NoMoreWanted: Error {}

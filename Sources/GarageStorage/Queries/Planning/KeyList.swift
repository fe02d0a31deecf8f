internal import GarageDriver

/// Keys of records, in one piece of memory: as an array each would have memory of its own.
struct KeyList {
  private var bytes: [UInt8] = []
  /// Where in `bytes` each key ends.
  private var ends: [Int] = []

  init() {}

  init(_ keys: some Sequence<StorageKey>) {
    for key in keys { append(key.bytes.span.bytes) }
  }

  var count: Int { ends.count }

  /// Makes room for so many keys that are as long as most.
  mutating func reserve(_ count: Int) {
    bytes.reserveCapacity(24 * count)
    ends.reserveCapacity(count)
  }

  mutating func append(_ key: RawSpan) {
    key.withUnsafeBytes { bytes.append(contentsOf: $0) }
    ends.append(bytes.count)
  }

  /// Appends the key of the record that an entry is for.
  ///
  /// - Parameter place: where in the entry's key the identifier begins.
  mutating func append(recordOf entry: RawSpan, identifierAt place: Int) {
    KeyLayout.appendRecord(ofEntry: entry, identifierAt: place, to: &bytes)
    ends.append(bytes.count)
  }

  /// Lends one key after another, until `visit` says stop.
  func forEach(_ visit: (RawSpan) throws -> ScanStep) rethrows {
    let all = bytes.span.bytes
    var start = 0
    for end in ends {
      if try visit(all.extracting(start..<end)) == .stop { return }
      start = end
    }
  }

  /// Some of them as an array.
  func keys(_ indices: Range<Int>) -> [StorageKey] {
    let all = bytes.span.bytes
    return indices.map { StorageKey(all.extracting(($0 == 0 ? 0 : ends[$0 - 1])..<ends[$0])) }
  }

  /// All of them as an array.
  var all: [StorageKey] { keys(0..<count) }
}

internal import GarageCoding
internal import GarageDriver

/// Some entries, in one piece of memory.
struct EntryBlock {
  private var bytes: [UInt8] = []
  private var ends: [(key: Int, value: Int)] = []

  init(reserving count: Int) { ends.reserveCapacity(count) }

  var count: Int { ends.count }

  mutating func append(_ key: RawSpan, _ value: RawSpan) {
    // Mostly all entries are as long as the first one.
    if bytes.isEmpty { bytes.reserveCapacity((key.byteCount + value.byteCount) * ends.capacity) }
    key.withUnsafeBytes { bytes.append(contentsOf: $0) }
    let keyEnd = bytes.count
    value.withUnsafeBytes { bytes.append(contentsOf: $0) }
    ends.append((keyEnd, bytes.count))
  }

  func withEntry(_ index: Int, _ body: (RawSpan, RawSpan) throws -> ScanStep) rethrows -> ScanStep {
    let all = bytes.span.bytes
    let (keyEnd, end) = ends[index]
    return try body(all.extracting(start(index)..<keyEnd), all.extracting(keyEnd..<end))
  }

  private func start(_ index: Int) -> Int { index == 0 ? 0 : ends[index - 1].value }

  /// The bytes that all entries with the same values have in common in front. Of cut values it is as much as is in order.
  private func valuesRange(_ index: Int) -> Range<Int> {
    let (start, (keyEnd, end)) = (start(index), ends[index])
    let count = Swift.min(keyEnd == end ? 0 : Int(bytes[keyEnd]), OrderedBytes.uncutByteCount)
    return start..<Swift.min(start + KeyLayout.indexPrefixByteCount + count, keyEnd)
  }

  func values(_ index: Int) -> [UInt8] { Array(bytes[valuesRange(index)]) }

  func hasSameValues(_ left: Int, _ right: Int) -> Bool {
    let all = bytes.span.bytes
    return compareKeys(all.extracting(valuesRange(left)), all.extracting(valuesRange(right))) == 0
  }
}

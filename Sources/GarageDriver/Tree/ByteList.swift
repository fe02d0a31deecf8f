/// A list of byte strings that stand one behind another in one array.
struct ByteList {
  private(set) var bytes: [UInt8] = []
  /// Where in `bytes` each string ends.
  private var ends: [UInt32] = []

  var count: Int { ends.count }

  /// Where the string at `index` begins in `bytes`; for `count` the end of the last one.
  func start(of index: Int) -> Int { index == 0 ? 0 : Int(ends[index - 1]) }

  func range(at index: Int) -> Range<Int> { start(of: index)..<Int(ends[index]) }

  /// For an ascending list: the first place whose string is not smaller than `string`, and whether it is equal.
  func position(of string: RawSpan) -> (index: Int, isThere: Bool) {
    let all = bytes.span.bytes
    var low = 0, high = count
    while low < high {
      let middle = (low + high) / 2
      let order = compareKeys(all.extracting(range(at: middle)), string)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }

  mutating func insert(_ string: RawSpan, prefix: UInt8? = nil, at index: Int) {
    let start = start(of: index)
    let length = bytes.replace(start..<start, with: string, prefix: prefix)
    ends.insert(UInt32(start), at: index)
    moveEnds(from: index, by: length)
  }

  mutating func replace(at index: Int, with string: RawSpan, prefix: UInt8? = nil) {
    let old = range(at: index)
    let length = bytes.replace(old, with: string, prefix: prefix)
    moveEnds(from: index, by: length - old.count)
  }

  mutating func remove(_ indices: Range<Int>) {
    let gone = start(of: indices.lowerBound)..<start(of: indices.upperBound)
    bytes.removeSubrange(gone)
    ends.removeSubrange(indices)
    moveEnds(from: indices.lowerBound, by: -gone.count)
  }

  mutating func append(_ other: ByteList) {
    let first = count, offset = bytes.count
    bytes += other.bytes
    ends += other.ends
    moveEnds(from: first, by: offset)
  }

  /// Removes the strings from `index` on and returns them.
  mutating func splitOff(from index: Int) -> ByteList {
    let start = start(of: index)
    var rest = ByteList(bytes: Array(bytes[start...]), ends: Array(ends[index...]))
    rest.moveEnds(from: 0, by: -start)
    // New arrays, because the old ones have room that is not needed any more.
    self = ByteList(bytes: Array(bytes[..<start]), ends: Array(ends[..<index]))
    return rest
  }

  private mutating func moveEnds(from index: Int, by distance: Int) {
    if distance == 0 { return }
    for index in index..<ends.count { ends[index] = UInt32(Int(ends[index]) + distance) }
  }
}

extension [UInt8] {
  /// `string`, behind `prefix` if there is one.
  init(_ string: RawSpan, prefix: UInt8?) {
    self.init()
    reserveCapacity(string.byteCount + 1)
    if let prefix { append(prefix) }
    string.withUnsafeBytes { append(contentsOf: $0) }
  }

  /// Puts `string`, behind `prefix` if there is one, in the place of `range`, and returns the new length there.
  fileprivate mutating func replace(_ range: Range<Int>, with string: RawSpan, prefix: UInt8?) -> Int {
    let length = string.byteCount + (prefix == nil ? 0 : 1)
    let oldCount = count
    let newCount = oldCount - range.count + length
    if newCount > oldCount {
      // Doubling, as an array does by itself, would leave a third of the memory unused.
      if newCount > capacity { reserveCapacity(newCount + newCount / 4) }
      append(contentsOf: repeatElement(0, count: newCount - oldCount))
    }
    withUnsafeMutableBytes { all in
      let behind = UnsafeRawBufferPointer(rebasing: all[range.upperBound..<oldCount])
      let gap = UnsafeMutableRawBufferPointer(rebasing: all[range.lowerBound...])
      if length != range.count { UnsafeMutableRawBufferPointer(rebasing: gap[length...]).copyMemory(from: behind) }
      if let prefix { gap[0] = prefix }
      let rest = UnsafeMutableRawBufferPointer(rebasing: gap[(length - string.byteCount)...])
      string.withUnsafeBytes { rest.copyMemory(from: $0) }
    }
    if newCount < oldCount { removeLast(oldCount - newCount) }
    return length
  }
}

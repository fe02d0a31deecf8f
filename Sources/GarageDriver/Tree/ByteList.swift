internal import CGarage

/// A list of byte strings that stand one behind another in one array.
struct ByteList {
  private(set) var bytes: [UInt8] = []
  /// Where in `bytes` each string ends.
  private var ends: [UInt32] = []

  init() {}

  private init(bytes: [UInt8], ends: [UInt32]) { (self.bytes, self.ends) = (bytes, ends) }

  /// An empty list with room for as much as `list` has.
  init(reservingAs list: ByteList) {
    bytes.reserveCapacity(list.bytes.count + list.bytes.count / 16)
    ends.reserveCapacity(list.ends.count + list.ends.count / 16)
  }

  var count: Int { ends.count }

  /// Where the string at `index` begins in `bytes`. For `index` equal to `count` it is the end of the last string.
  func start(of index: Int) -> Int { index == 0 ? 0 : Int(ends[index - 1]) }

  func range(at index: Int) -> Range<Int> { start(of: index)..<Int(ends[index]) }

  /// The string at `index`, in this list.
  func bytes(at index: Int) -> UnsafeRawBufferPointer {
    let range = range(at: index)
    return bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[range]) }
  }

  /// The first place in an ascending list whose string is not smaller than `string`, and whether that string is equal.
  ///
  /// - Parameter guess: a place near which the string may be, for instance that of the string searched for before. If the
  ///   string is there, or next to it, two comparisons find it. If not, these comparisons were in vain.
  func position(of string: RawSpan, near guess: Int? = nil) -> (index: Int, isThere: Bool) {
    // No calls and no bounds checks here: a get spends half of its time in this search.
    bytes.withUnsafeBytes { bytes in
      ends.withUnsafeBufferPointer { ends in
        string.withUnsafeBytes { string in
          // The empty string comes before all others.
          guard let wanted = string.baseAddress, !string.isEmpty else { return (0, ends.first == 0) }
          guard let all = bytes.baseAddress, !bytes.isEmpty else { return (ends.count, false) }
          func order(_ index: Int) -> Int {
            let start = index == 0 ? 0 : Int(ends[index - 1])
            return compareByWords(all + start, Int(ends[index]) - start, wanted, string.count)
          }
          var low = 0, high = ends.count
          if let guess {
            let near = min(guess, high - 1)
            let there = order(near)
            if there == 0 { return (near, true) }
            if there > 0 {
              high = near
            } else {
              low = near + 1
              if low == high { return (low, false) }
              let behind = order(low)
              if behind >= 0 { return (low, behind == 0) }
              low += 1
            }
          }
          while low < high {
            let middle = (low + high) >> 1
            let order = order(middle)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle + 1 } else { high = middle }
          }
          return (low, false)
        }
      }
    }
  }

  /// Prefetches the list's ends, and so many cache lines of the strings themselves. It reads nothing, because the number of
  /// strings stands in the same memory.
  func prefetch(stringLines: Int) {
    ends.withUnsafeBytes { ends in
      guard let start = ends.baseAddress else { return }
      for line in 0..<3 { garage_prefetch(start + (64 * line - 32)) }
    }
    bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      for line in 0...stringLines { garage_prefetch(start + (64 * line - 32)) }
    }
  }

  /// Puts a string in the place of one of equal length. Returns false if the lengths differ.
  mutating func overwrite(_ string: RawSpan, at index: Int) -> Bool {
    let range = range(at: index)
    if range.count != string.byteCount { return false }
    bytes.withUnsafeMutableBytes { bytes in
      string.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[range]).copyMemory(from: $0) }
    }
    return true
  }

  mutating func insert(_ string: RawSpan, prefix: UInt8? = nil, at index: Int) {
    if index == ends.count { return append(string, prefix: prefix) }
    let start = start(of: index)
    let length = bytes.replace(start..<start, with: string, prefix: prefix)
    ends.insert(UInt32(start), at: index)
    moveEnds(from: index, by: length)
  }

  private mutating func append(_ string: RawSpan, prefix: UInt8?) {
    let newCount = bytes.count + string.byteCount + (prefix == nil ? 0 : 1)
    // The same growth as in `replace`.
    if newCount > bytes.capacity { bytes.reserveCapacity(newCount + newCount / 4) }
    if let prefix { bytes.append(prefix) }
    string.withUnsafeBytes { bytes.append(contentsOf: $0) }
    ends.append(UInt32(newCount))
  }

  /// Appends the keys of entries.
  mutating func appendKeys(of entries: AscendingEntries) {
    append(entries.count, entries.keysByteCount, prefix: nil) { entries.key($0) }
  }

  /// Appends the values of entries, all of which are small.
  mutating func appendValues(of entries: AscendingEntries) {
    append(entries.count, entries.valuesByteCount, prefix: entries.prefix) { entries.value($0) }
  }

  /// Appends `count` strings, which have `byteCount` bytes in all.
  @inline(__always)
  private mutating func append(
    _ count: Int, _ byteCount: Int, prefix: UInt8?, _ string: (_ index: Int) -> UnsafeRawBufferPointer
  ) {
    let start = bytes.count
    let newCount = start + byteCount
    if start == 0 {
      bytes.reserveCapacity(newCount)
      ends.reserveCapacity(count)
    } else if newCount > bytes.capacity {
      // The same growth as in `replace`.
      bytes.reserveCapacity(newCount + newCount / 4)
    }
    bytes.append(contentsOf: repeatElement(0, count: byteCount))
    bytes.withUnsafeMutableBytes { bytes in
      var end = start
      for index in 0..<count {
        if let prefix {
          bytes[end] = prefix
          end += 1
        }
        let string = string(index)
        UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyMemory(from: string)
        end += string.count
        ends.append(UInt32(end))
      }
    }
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

  /// Appends some strings of another list.
  mutating func append(_ other: ByteList, _ indices: Range<Int>) {
    if indices.isEmpty { return }
    let range = other.start(of: indices.lowerBound)..<other.start(of: indices.upperBound)
    let distance = bytes.count - range.lowerBound
    bytes += other.bytes[range]
    for index in indices { ends.append(UInt32(Int(other.ends[index]) + distance)) }
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
  /// A list of bytes with `string`, behind `prefix` if there is one.
  init(_ string: RawSpan, prefix: UInt8?) {
    self.init()
    reserveCapacity(string.byteCount + 1)
    if let prefix { append(prefix) }
    string.withUnsafeBytes { append(contentsOf: $0) }
  }

  /// Puts `string`, behind `prefix` if there is one, in the place of `range`, and returns the new length of that place.
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
      if length != range.count {
        UnsafeMutableRawBufferPointer(rebasing: gap[length...]).copyMemory(from: behind)
      }
      if let prefix { gap[0] = prefix }
      let rest = UnsafeMutableRawBufferPointer(rebasing: gap[(length - string.byteCount)...])
      string.withUnsafeBytes { rest.copyMemory(from: $0) }
    }
    if newCount < oldCount { removeLast(oldCount - newCount) }
    return length
  }
}

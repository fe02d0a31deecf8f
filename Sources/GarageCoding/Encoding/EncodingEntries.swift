#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

// The fields of a map that stand with the text of their keys: sorted by it, each key once.

extension UnsafeMutablePointer where Pointee == EncoderState {
  /// Puts the open map's entries in order. Of entries with one key the last stays; a field of the shape that
  /// an entry repeats becomes absent.
  @inline(never)
  func closeEntries(_ shape: Unmanaged<Shape>?) throws {
    var entries = takeEntries()
    if core.leavesOutSyncStatus && pointee.frames.count == 1 && pointee.output.node == nil {
      return rewrite(entries.filter { key(at: $0.lowerBound) != "syncStatus" }, from: entries[0].lowerBound)
    }
    if let positions = shape?.takeUnretainedValue().positions {
      let repeated = Set(entries.compactMap { positions[key(at: $0.lowerBound)] })
      if !repeated.isEmpty {
        let freed = try removeFields(repeated, before: entries[0].lowerBound)
        entries = entries.map { ($0.lowerBound - freed)..<($0.upperBound - freed) }
      }
    }
    if !isSorted(entries) { rewrite(entries, from: entries[0].lowerBound) }
  }

  private func takeEntries() -> [Range<Int>] {
    let base = pointee.output.frame.pointee.entryBase
    let stack = pointee.output.entries
    let entries = (base..<stack.count).map { index in
      stack.base[index]..<(index + 1 < stack.count ? stack.base[index + 1] : pointee.output.count)
    }
    pointee.output.entries.truncate(to: base)
    return entries
  }

  private func key(at offset: Int) -> String { String(decoding: keyBytes(at: offset), as: UTF8.self) }

  private func keyBytes(at offset: Int) -> UnsafeRawBufferPointer {
    var at = offset
    let base = UnsafeRawPointer(pointee.output.base)
    // It was written here, and so is there.
    let range = (try? BodyScanner.readKey(base, &at, end: pointee.output.count)) ?? at..<at
    return UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }

  /// Whether the keys ascend by bytes, without repetition.
  private func isSorted(_ entries: [Range<Int>]) -> Bool {
    entries.indices.dropFirst().allSatisfy { compare(entries[$0 - 1], entries[$0]) < 0 }
  }

  private func compare(_ left: Range<Int>, _ right: Range<Int>) -> Int {
    compareBytes(keyBytes(at: left.lowerBound), keyBytes(at: right.lowerBound))
  }

  private func rewrite(_ entries: [Range<Int>], from start: Int) {
    // A stable order, so that the last of equal keys is last among them.
    let order = entries.indices.sorted { a, b in
      let order = compare(entries[a], entries[b])
      return order != 0 ? order < 0 : a < b
    }
    var sorted: [Range<Int>] = []
    for index in order {
      if let last = sorted.last, compare(last, entries[index]) == 0 { sorted.removeLast() }
      sorted.append(entries[index])
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(pointee.output.count - start)
    for range in sorted {
      bytes.append(
        contentsOf: UnsafeBufferPointer(start: pointee.output.base + range.lowerBound, count: range.count))
    }
    pointee.output.count = start
    bytes.withUnsafeBytes { append($0) }
  }

  /// Makes the fields at these positions of the open map's shape absent. Returns how many bytes that freed.
  private func removeFields(_ positions: Set<Int>, before end: Int) throws -> Int {
    var kept: [UInt8] = []
    var at = pointee.output.frame.pointee.start + BodyTag.smallHeaderByteCount
    let start = at
    var position = 0
    while at < end {
      let next = try BodyScanner.skipValue(UnsafeRawPointer(pointee.output.base), at, end: end)
      if positions.contains(position) {
        kept.append(BodyTag.absent)
      } else {
        kept.append(contentsOf: UnsafeBufferPointer(start: pointee.output.base + at, count: next - at))
      }
      at = next
      position += 1
    }
    let freed = end - start - kept.count
    let target = pointee.output.base + start
    kept.withUnsafeBufferPointer { target.update(from: $0.baseAddress!, count: $0.count) }
    memmove(target + kept.count, pointee.output.base + end, pointee.output.count - end)
    pointee.output.count -= freed
    return freed
  }
}

/// Compares by unsigned bytes, a prefix first: negative, zero or positive.
func compareBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  let common = min(left.count, right.count)
  let order = common == 0 ? 0 : Int(memcmp(left.baseAddress!, right.baseAddress!, common))
  return order != 0 ? order : left.count - right.count
}

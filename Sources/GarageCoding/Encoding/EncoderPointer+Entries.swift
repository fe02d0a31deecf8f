#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

// Entries: the fields of a map that stand with the texts of their keys. They are sorted by these, and each key is there once.

extension EncoderPointer {
  /// Puts the open map's entries in order. Of entries with the same key the last one stays. A field of the shape becomes absent
  /// if an entry has its key.
  @inline(never)
  func closeEntries(_ shape: Permanent<Shape>?) throws {
    // Mostly they came in order, and nothing is left to do.
    if !core.leavesOutSyncStatus, repeatNone(of: shape), areInOrder() || putInOrder() {
      return output.entries.truncate(to: frame.entryBase)
    }
    var entries = takeEntries()
    if core.leavesOutSyncStatus && openFrameCount == 1 && output.nested == nil {
      return rewrite(entries.filter { key(at: $0.lowerBound) != "syncStatus" }, from: entries[0].lowerBound)
    }
    if let positions = shape?.object.positions {
      let repeated = Set(entries.compactMap { positions[key(at: $0.lowerBound)] })
      if !repeated.isEmpty {
        let freed = try removeFields(repeated, before: entries[0].lowerBound)
        entries = entries.map { ($0.lowerBound - freed)..<($0.upperBound - freed) }
      }
    }
    if !isSorted(entries) { rewrite(entries, from: entries[0].lowerBound) }
  }

  /// Whether no key of the open map's entries is one of the shape's. False also where that would take long to find out.
  private func repeatNone(of shape: Permanent<Shape>?) -> Bool {
    guard let shape else { return true }
    let entries = output.entries
    return shape.with { shape in
      guard shape.keys.count &* (entries.count - frame.entryBase) <= 1024 else { return false }
      for index in frame.entryBase..<entries.count where shape.hasKey(keyBytes(at: entries[index])) {
        return false
      }
      return true
    }
  }

  /// Whether the keys of the open map's entries ascend by bytes, without repetition.
  private func areInOrder() -> Bool {
    let entries = output.entries
    var index = frame.entryBase + 1
    while index < entries.count {
      if compareBytes(keyBytes(at: entries[index - 1]), keyBytes(at: entries[index])) >= 0 { return false }
      index += 1
    }
    return true
  }

  /// Puts the open map's entries in order, where no key repeats another. False where one does.
  private func putInOrder() -> Bool {
    withOrder { order in
      let entries = output.entries
      let (base, start, end) = (frame.entryBase, entries[frame.entryBase], output.count)
      for index in base..<entries.count { order.pointee.append(keyBytes(at: entries[index]), at: index) }
      guard !order.pointee.sortWithoutTies() else { return false }
      // The entries are copied behind themselves in order, and the copy is then moved to where they were.
      reserve(end - start)
      for index in 0..<order.pointee.count {
        let entry = order.pointee.elements[index].place
        append(output.bytes(entries[entry]..<(entry + 1 < entries.count ? entries[entry + 1] : end)))
      }
      UnsafeMutableRawPointer(output.base + start).copyMemory(
        from: output.base + end, byteCount: end - start)
      output.count = end
      return true
    }
  }

  private func takeEntries() -> [Range<Int>] {
    let base = frame.entryBase
    let stack = output.entries
    let entries = (base..<stack.count).map { index in
      stack.base[index]..<(index + 1 < stack.count ? stack.base[index + 1] : output.count)
    }
    output.entries.truncate(to: base)
    return entries
  }

  private func key(at offset: Int) -> String { String(decoding: keyBytes(at: offset), as: UTF8.self) }

  private func keyBytes(at offset: Int) -> UnsafeRawBufferPointer {
    var at = offset
    let base = UnsafeRawPointer(output.base)
    // This coder wrote the key, so it can be read.
    let range = (try? BodyScanner.readKey(base, &at, end: output.count)) ?? at..<at
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
    bytes.reserveCapacity(output.count - start)
    for range in sorted {
      bytes.append(
        contentsOf: UnsafeBufferPointer(start: output.base + range.lowerBound, count: range.count))
    }
    output.count = start
    bytes.withUnsafeBytes { append($0) }
  }

  /// Makes the fields at these positions of the open map's shape absent. Returns how many bytes that freed.
  private func removeFields(_ positions: Set<Int>, before end: Int) throws -> Int {
    var kept: [UInt8] = []
    var at = frame.start + BodyTag.smallHeaderByteCount
    let start = at
    var position = 0
    while at < end {
      let next = try BodyScanner.skipValue(UnsafeRawPointer(output.base), at, end: end)
      if positions.contains(position) {
        kept.append(BodyTag.absent)
      } else {
        kept.append(contentsOf: UnsafeBufferPointer(start: output.base + at, count: next - at))
      }
      at = next
      position += 1
    }
    let freed = end - start - kept.count
    let target = output.base + start
    kept.withUnsafeBufferPointer { target.update(from: $0.baseAddress!, count: $0.count) }
    memmove(target + kept.count, output.base + end, output.count - end)
    output.count -= freed
    return freed
  }
}

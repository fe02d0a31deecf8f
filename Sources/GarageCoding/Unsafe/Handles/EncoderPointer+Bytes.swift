// Bytes at the end of what is being written, with room made before.

extension EncoderPointer {
  /// Makes room for `count` more bytes.
  @inline(__always)
  func reserve(_ count: Int) {
    if output.count &+ count > output.capacity { grow(count) }
  }

  @inline(never)
  private func grow(_ count: Int) {
    let builder = core.builder
    if output.nested == nil, builder.pointee.takesBody(of: output.count + count) {
      return output.move(to: builder.pointee.placeForBody(of: output.count + count))
    }
    let capacity = Swift.max(output.capacity * 2, output.count + count)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.update(from: output.base, count: output.count)
    output.base.deallocate()
    output.base = larger
    output.capacity = capacity
  }

  @inline(__always)
  func append(_ byte: UInt8) {
    reserve(1)
    output.base[output.count] = byte
    output.count &+= 1
  }

  /// Appends a tag and the bytes of a value of fixed width, which the caller has made little-endian.
  @inline(__always)
  func append<T: BitwiseCopyable>(_ tag: UInt8, _ value: T) {
    let size = MemoryLayout<T>.size
    reserve(1 &+ size)
    let at = output.end
    at.store(tag)
    (at + 1).store(value)
    output.count &+= 1 &+ size
  }

  @inline(__always)
  func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(bytes.count)
    output.end.copyMemory(from: source, byteCount: bytes.count)
    output.count &+= bytes.count
  }

  /// Appends what `write` writes to where there is room for so many bytes; it returns how many they are.
  @inline(__always)
  func append(atMost byteCount: Int, _ write: (UnsafeMutableRawPointer) -> Int) {
    reserve(byteCount)
    output.count &+= write(output.end)
  }

  @inline(__always)
  func appendVarint(_ number: Int) {
    append(atMost: Varint.maximumByteCount) { Varint.write(number, to: $0) }
  }

  /// Appends a string of the shortest kind behind `first`, which says or tells how long it is. There has to be room for
  /// one byte and ``ShortStrings/room``.
  @inline(__always)
  func append(_ first: UInt8, _ bytes: ShortStrings.Halves, _ count: Int) {
    let at = output.end
    at.store(first)
    // What is behind the text is written over by what comes next.
    (at + 1).store(bytes)
    output.count &+= 1 &+ count
  }

  /// Appends a few bytes behind `first`. There has to be room for all of them.
  @inline(__always)
  func append(_ first: UInt8, short bytes: UnsafeRawBufferPointer) {
    let at = output.end
    at.store(first)
    if let source = bytes.baseAddress { (at + 1).copyShort(from: source, bytes.count) }
    output.count &+= 1 &+ bytes.count
  }
}

// MARK: - Their memory

extension EncodingOutput {
  /// How many bytes of memory it has.
  var byteCapacity: Int { capacity + entries.byteCapacity + holes.byteCapacity }

  /// Forgets everything but the frames, and gives back what memory it has for more than so many bytes, entries and
  /// nested containers.
  @inline(__always)
  mutating func removeAll(keeping byteCount: Int, entries entryCount: Int, holes holeCount: Int) {
    count = 0
    if capacity > byteCount { shrink(to: byteCount) }
    entries.removeAll(keeping: entryCount)
    holes.removeAll(keeping: holeCount)
  }

  @inline(never)
  private mutating func shrink(to byteCount: Int) {
    // Bytes that stand where their record is to be are in memory of somebody else.
    guard memoryAtRest == nil else { return }
    base.deallocate()
    capacity = Swift.min(byteCount, 512)
    base = .allocate(capacity: capacity)
  }
}

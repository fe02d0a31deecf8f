// Appends bytes to the output, for which room has been made.

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

  /// Appends a tag and the bytes of a value of fixed width, which the caller has put into little-endian order.
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

  /// Appends the bytes that `write` writes to a place with room for `byteCount` bytes. `write` returns how many they are.
  @inline(__always)
  func append(atMost byteCount: Int, _ write: (UnsafeMutableRawPointer) -> Int) {
    reserve(byteCount)
    output.count &+= write(output.end)
  }

  @inline(__always)
  func appendVarint(_ number: Int) {
    append(atMost: Varint.maximumByteCount) { Varint.write(number, to: $0) }
  }

  /// Appends a short string behind `first`, which gives its length. There has to be room for one byte and
  /// ``ShortStrings/room``.
  @inline(__always)
  func append(_ first: UInt8, _ bytes: ShortStrings.Halves, _ count: Int) {
    let at = output.end
    at.store(first)
    // The bytes behind the text are overwritten by later ones.
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

// MARK: - The memory of the output

extension EncodingOutput {
  /// The size of its memory, in bytes.
  var byteCapacity: Int { capacity + entries.byteCapacity + holes.byteCapacity }

  /// Removes everything except the frames. Memory for more than the given numbers of bytes, entries and nested containers is
  /// given back.
  @inline(__always)
  mutating func removeAll(keeping byteCount: Int, entries entryCount: Int, holes holeCount: Int) {
    count = 0
    if capacity > byteCount { shrink(to: byteCount) }
    entries.removeAll(keeping: entryCount)
    holes.removeAll(keeping: holeCount)
  }

  @inline(never)
  private mutating func shrink(to byteCount: Int) {
    // While the bytes stand in the place of their record, their memory belongs to somebody else.
    guard memoryAtRest == nil else { return }
    base.deallocate()
    capacity = Swift.min(byteCount, 512)
    base = .allocate(capacity: capacity)
  }
}

/// Bytes that grow. One writer serves many objects: what it allocated stays.
struct HandWriter: ~Copyable {
  private var base: UnsafeMutableRawPointer
  private var capacity = 1024
  private var count = 0

  init() { base = .allocate(byteCount: capacity, alignment: 16) }
  deinit { base.deallocate() }

  /// The bytes of one object, in an array of their size.
  @inline(__always)
  mutating func bytes<T: HandCoded>(of object: borrowing T) -> [UInt8] {
    withBytes(of: object) { [UInt8]($0) }
  }

  /// Lends the bytes of one object.
  @inline(__always)
  mutating func withBytes<T: HandCoded, R>(
    of object: borrowing T, _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    count = 0
    object.write(to: &self)
    return try body(UnsafeRawBufferPointer(start: base, count: count))
  }

  @inline(__always)
  private mutating func room(_ byteCount: Int) -> UnsafeMutableRawPointer {
    if byteCount > capacity - count { grow(byteCount) }
    defer { count += byteCount }
    return base + count
  }

  @inline(never)
  private mutating func grow(_ byteCount: Int) {
    capacity = max(2 * capacity, count + byteCount)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = larger
  }

  @inline(__always)
  mutating func write<T: BitwiseCopyable>(bits value: T) {
    room(MemoryLayout<T>.size).storeBytes(of: value, as: T.self)
  }

  @inline(__always)
  mutating func write(bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    room(bytes.count).copyMemory(from: start, byteCount: bytes.count)
  }

  /// One byte below 255; else that, and four more.
  @inline(__always)
  mutating func write(count number: Int) {
    if number < 255 {
      write(bits: UInt8(truncatingIfNeeded: number))
    } else {
      write(bits: 255 as UInt8)
      write(bits: UInt32(number))
    }
  }

  @inline(__always)
  mutating func write(text: String) {
    let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { utf8 in
      write(count: utf8.count)
      write(bytes: UnsafeRawBufferPointer(utf8))
    }
    if isWritten == nil { write(foreign: text) }
  }

  /// Text that is not in UTF-8, such as Objective-C's.
  @inline(never)
  private mutating func write(foreign text: String) {
    var text = text
    text.withUTF8 { utf8 in
      write(count: utf8.count)
      write(bytes: UnsafeRawBufferPointer(utf8))
    }
  }

  // MARK: One value after the other

  @inline(__always)
  mutating func write<A: HandCoded>(_ a: A) { a.write(to: &self) }

  @inline(__always)
  mutating func write<A: HandCoded, B: HandCoded>(_ a: A, _ b: B) {
    a.write(to: &self)
    b.write(to: &self)
  }

  @inline(__always)
  mutating func write<A: HandCoded, B: HandCoded, C: HandCoded>(_ a: A, _ b: B, _ c: C) {
    write(a, b)
    c.write(to: &self)
  }

  @inline(__always)
  mutating func write<A: HandCoded, B: HandCoded, C: HandCoded, D: HandCoded>(_ a: A, _ b: B, _ c: C, _ d: D)
  {
    write(a, b)
    write(c, d)
  }

  @inline(__always)
  mutating func write<A: HandCoded, B: HandCoded, C: HandCoded, D: HandCoded, E: HandCoded>(
    _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
  ) {
    write(a, b, c)
    write(d, e)
  }

  @inline(__always)
  mutating func write<A: HandCoded, B: HandCoded, C: HandCoded, D: HandCoded, E: HandCoded, F: HandCoded>(
    _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F
  ) {
    write(a, b, c)
    write(d, e, f)
  }
}

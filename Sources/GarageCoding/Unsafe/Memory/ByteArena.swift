internal import CGarage

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Bytes under construction, which `realloc` moves without touching them where they are many: a page that is touched
/// for the first time costs as much as encoding a small object.
struct ByteArena {
  private(set) var base: UnsafeMutablePointer<UInt8>
  private(set) var count = 0
  private var capacity: Int
  private static let smallest = 4096

  init(capacity: Int = ByteArena.smallest) {
    self.capacity = capacity
    base = ByteArena.resized(nil, capacity)
  }

  private static func resized(_ base: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> UnsafeMutablePointer<
    UInt8
  > {
    guard let memory = realloc(base, capacity) else {
      preconditionFailure("\(capacity) bytes of memory for the records of a graph are not to be had")
    }
    garage_use_large_pages(memory, capacity)
    return memory.typedBytes
  }

  /// The bytes, until the next change.
  var all: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base, count: count) }

  @inline(__always)
  mutating func reserve(_ additional: Int) {
    if capacity &- count < additional { grow(by: additional) }
  }

  @inline(never)
  private mutating func grow(by additional: Int) {
    capacity = max(capacity * 2, count + additional)
    base = ByteArena.resized(base, capacity)
  }

  @inline(__always)
  mutating func truncate(to count: Int) { self.count = count }

  /// Makes room for so many bytes from `start` on, behind all bytes, and lends it until the next change. What was
  /// written there before stays.
  mutating func room(from start: Int, _ byteCount: Int) -> UnsafeMutableBufferPointer<UInt8> {
    reserve(start - count + byteCount)
    return UnsafeMutableBufferPointer(start: base + start, count: capacity - start)
  }

  /// Appends `head` and behind it the bytes that stand from `start` on, without moving these where there is room before
  /// them; zeros fill what is left of it. Returns where `head` begins.
  mutating func append(_ head: UnsafeRawBufferPointer, before start: Int, _ byteCount: Int) -> Int {
    var start = start
    let shift = count + head.count - start
    if shift > 0 {
      reserve(start + shift + byteCount - count)
      UnsafeMutableRawPointer(base + start + shift).copyMemory(from: base + start, byteCount: byteCount)
      start += shift
    }
    let place = start - head.count
    (base + count).update(repeating: 0, count: place - count)
    if let source = head.baseAddress {
      UnsafeMutableRawPointer(base + place).copyMemory(from: source, byteCount: head.count)
    }
    count = start + byteCount
    return place
  }

  /// Forgets everything, and gives memory for more than `limit` bytes back.
  @inline(__always)
  mutating func removeAll(keeping limit: Int) {
    count = 0
    if capacity > limit { shrink() }
  }

  @inline(never)
  private mutating func shrink() {
    free(base)
    self = ByteArena()
  }

  /// Hands the bytes on, whose memory whoever gets them frees. The arena must not be used any more.
  func hand() -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: ByteArena.resized(base, max(count, 1)), count: count)
  }

  /// Hands the bytes on, whose memory whoever gets them frees, and begins anew.
  mutating func take() -> UnsafeMutableRawBufferPointer {
    defer { self = ByteArena() }
    return hand()
  }

  func deallocate() { free(base) }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    base[count] = byte
    count &+= 1
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    UnsafeMutableRawPointer(base + count).copyMemory(from: source, byteCount: bytes.count)
    count &+= bytes.count
  }

  @inline(__always)
  mutating func append(number: some FixedWidthInteger & BitwiseCopyable) {
    let size = MemoryLayout.size(ofValue: number)
    reserve(size)
    UnsafeMutableRawPointer(base + count).storeBytes(of: number, as: type(of: number))
    count &+= size
  }

  @inline(__always)
  mutating func append(digest: UInt64) { append(number: digest.bigEndian) }

  /// Appends what `write` writes to where there is room for so many bytes; it returns how many they are.
  @inline(__always)
  mutating func append(atMost byteCount: Int, _ write: (UnsafeMutableRawPointer) -> Int) {
    reserve(byteCount)
    count &+= write(UnsafeMutableRawPointer(base + count))
  }

  @inline(__always)
  mutating func append(varint number: Int) {
    append(atMost: Varint.maximumByteCount) { Varint.write(number, to: $0) }
  }
}

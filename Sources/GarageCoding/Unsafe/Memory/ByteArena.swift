internal import CGarage

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Bytes under construction, in memory that was used before where there is some (``SpareMemory``): a page that is touched for
/// the first time costs as much as encoding a small object.
struct ByteArena {
  private(set) var base: UnsafeMutablePointer<UInt8>
  private(set) var count = 0
  private var capacity: Int
  private static let smallest = 4096
  /// How many bytes there will be if more are needed than there is room for: as many as the last time. Then they are not moved
  /// from one piece of memory to the next.
  var expectedCount = 0

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
    let needed = max(capacity * 2, count + additional, expectedCount)
    if let spare = SpareMemory.take(needed...Int.max) {
      move(capacity, to: spare)
    } else if needed >= SpareMemory.smallest, needed <= SpareMemory.limit / 2 {
      // Memory that is freed tells the system's allocator that such sizes come and go (`M_MMAP_THRESHOLD` of glibc): then it
      // keeps pages for all else that needs as much. Moved by `realloc` it would not be told.
      let other = ByteArena.resized(nil, needed)
      other.update(from: base, count: capacity)
      free(base)
      (base, capacity) = (other, needed)
    } else {
      capacity = needed
      base = ByteArena.resized(base, capacity)
    }
  }

  /// Goes on in other memory, with so many bytes. Where something was written behind all bytes, which stays in place, these are
  /// more than there are.
  private mutating func move(_ byteCount: Int, to other: SpareMemory.Piece) {
    other.start.copyMemory(from: base, byteCount: byteCount)
    deallocate()
    (base, capacity) = (other.start.typedBytes, other.byteCount)
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
    deallocate()
    self = ByteArena()
  }

  /// Hands the bytes on, at the beginning of a piece of memory that belongs to whoever gets it. The piece is less than four
  /// times as large, since it may be kept for long. The arena must not be used any more.
  mutating func hand() -> SpareMemory.Piece {
    if count < capacity / 4 { fit() }
    return piece
  }

  /// Hands the bytes on in the same way, and begins anew.
  mutating func take() -> SpareMemory.Piece {
    defer { self = ByteArena() }
    return hand()
  }

  /// Moves the bytes to memory that is hardly more than they need.
  private mutating func fit() {
    let needed = max(count, 1)
    if capacity < SpareMemory.smallest {
      base = ByteArena.resized(base, needed)
      capacity = needed
    } else {
      // The larger one is worth more as a spare one than if it was cut.
      move(
        count,
        to: SpareMemory.take(needed...4 * needed)
          ?? SpareMemory.Piece(start: ByteArena.resized(nil, needed), byteCount: needed))
    }
  }

  private var piece: SpareMemory.Piece { SpareMemory.Piece(start: base, byteCount: capacity) }

  func deallocate() { SpareMemory.giveBack(piece) }

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

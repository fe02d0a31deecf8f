internal import CGarage

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Bytes under construction. They use memory of earlier graphs if there is some (``SpareMemory``), because a page that is
/// touched for the first time costs as much as encoding a small object.
struct ByteArena {
  private(set) var base: UnsafeMutablePointer<UInt8>
  private(set) var count = 0
  private var capacity: Int
  private static let smallest = 4096
  /// If there is not enough room, this many bytes are expected in all: as many as the last time. Then the bytes need not be
  /// moved from one piece of memory to the next again and again.
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

  /// The bytes, valid until the next change.
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
      // Freeing memory tells the system's allocator that such sizes come and go (`M_MMAP_THRESHOLD` of glibc), so that it keeps
      // pages for later uses of that size. Memory moved by `realloc` would not tell it.
      let other = ByteArena.resized(nil, needed)
      other.update(from: base, count: capacity)
      free(base)
      (base, capacity) = (other, needed)
    } else {
      capacity = needed
      base = ByteArena.resized(base, capacity)
    }
  }

  /// Continues in other memory, with so many bytes. If bytes were written in place behind all others, that number includes
  /// them.
  private mutating func move(_ byteCount: Int, to other: SpareMemory.Piece) {
    other.start.copyMemory(from: base, byteCount: byteCount)
    deallocate()
    (base, capacity) = (other.start.typedBytes, other.byteCount)
  }

  @inline(__always)
  mutating func truncate(to count: Int) { self.count = count }

  /// Makes room for so many bytes from `start` on, which is behind all bytes, and lends it until the next change. Bytes that
  /// were written there before stay.
  mutating func room(from start: Int, _ byteCount: Int) -> UnsafeMutableBufferPointer<UInt8> {
    reserve(start - count + byteCount)
    return UnsafeMutableBufferPointer(start: base + start, count: capacity - start)
  }

  /// Appends `head`, and behind it the bytes that stand from `start` on. These are not moved if there is room for `head` in
  /// front of them; zeros fill the rest of that room. Returns the place where `head` begins.
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

  /// Removes everything, and gives back memory for more than `limit` bytes.
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

  /// Gives away the bytes, at the beginning of a piece of memory that then belongs to the caller. The piece is less than four
  /// times as large as the bytes, because it may be kept for long. The arena must not be used any more.
  mutating func hand() -> SpareMemory.Piece {
    if count < capacity / 4 { fit() }
    return piece
  }

  /// Gives away the bytes in the same way, and begins again without bytes.
  mutating func take() -> SpareMemory.Piece {
    defer { self = ByteArena() }
    return hand()
  }

  /// Moves the bytes to memory that is hardly larger than they are.
  private mutating func fit() {
    let needed = max(count, 1)
    if capacity < SpareMemory.smallest {
      base = ByteArena.resized(base, needed)
      capacity = needed
    } else {
      // The larger memory is worth more as a spare piece than if it were cut.
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

  /// Appends the bytes that `write` writes to a place with room for `byteCount` bytes. `write` returns how many they are.
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

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

// Reads and writes lent bytes without regard to alignment. None of these functions checks bounds: their callers know where the
// bytes end.

extension UnsafeRawPointer {
  @inline(__always)
  func byte(at offset: Int) -> UInt8 { load(fromByteOffset: offset, as: UInt8.self) }

  /// The bits of a number at any address, in the byte order of the store.
  @inline(__always)
  func bits<T: BitwiseCopyable>(at offset: Int, as type: T.Type) -> T {
    loadUnaligned(fromByteOffset: offset, as: type)
  }

  /// Whether `count` bytes are equal at both addresses. Mostly they are few: then a word or two are compared, which may
  /// overlap, instead of a call.
  @inline(__always)
  func isSame(as other: UnsafeRawPointer, _ count: Int) -> Bool {
    if count > 24 { return memcmp(self, other, count) == 0 }
    if count >= 8 {
      var difference = bits(at: 0, as: UInt64.self) ^ other.bits(at: 0, as: UInt64.self)
      let last = count &- 8
      difference |= bits(at: last, as: UInt64.self) ^ other.bits(at: last, as: UInt64.self)
      let middle = last >> 1
      difference |= bits(at: middle, as: UInt64.self) ^ other.bits(at: middle, as: UInt64.self)
      return difference == 0
    }
    for offset in 0..<count where byte(at: offset) != other.byte(at: offset) { return false }
    return true
  }
}

extension UnsafeMutableRawPointer {
  @inline(__always)
  func store<T: BitwiseCopyable>(_ value: T) { storeBytes(of: value, as: T.self) }

  /// Copies bytes, which do not overlap. Mostly they are few: then a word or two are copied, which may overlap, instead of a call.
  @inline(__always)
  func copyShort(from source: UnsafeRawPointer, _ count: Int) {
    if count > 16 {
      copyLonger(from: source, count)
    } else if count >= 8 {
      let last = source.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
      storeBytes(of: last, toByteOffset: count &- 8, as: UInt64.self)
    } else if count >= 4 {
      let last = source.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
      storeBytes(of: source.loadUnaligned(as: UInt32.self), as: UInt32.self)
      storeBytes(of: last, toByteOffset: count &- 4, as: UInt32.self)
    } else {
      for offset in 0..<count {
        storeBytes(
          of: source.load(fromByteOffset: offset, as: UInt8.self), toByteOffset: offset, as: UInt8.self)
      }
    }
  }

  /// Copies more than sixteen bytes. Up to 32 are two halves that may overlap: among them is the identifier of each `UUID`.
  @inline(__always)
  private func copyLonger(from source: UnsafeRawPointer, _ count: Int) {
    if count > 32 { return copyMemory(from: source, byteCount: count) }
    let last = source.loadUnaligned(fromByteOffset: count &- 16, as: SIMD2<UInt64>.self)
    storeBytes(of: source.loadUnaligned(as: SIMD2<UInt64>.self), as: SIMD2<UInt64>.self)
    storeBytes(of: last, toByteOffset: count &- 16, as: SIMD2<UInt64>.self)
  }
}

/// Compares by unsigned bytes, a prefix first. The result is negative, zero or positive.
func compareBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  let common = min(left.count, right.count)
  let order = common == 0 ? 0 : Int(memcmp(left.baseAddress!, right.baseAddress!, common))
  return order != 0 ? order : left.count - right.count
}

extension UInt64 {
  /// The first eight bytes as a number that sorts as they do. Missing bytes count as zeros.
  init(beginning bytes: UnsafeRawBufferPointer) {
    if bytes.count >= 8 {
      self = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    } else {
      self = bytes.reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - bytes.count))
    }
  }
}

/// Whether no byte has its top bit set.
@inline(__always)
func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
  guard let base = bytes.baseAddress else { return true }
  let count = bytes.count
  if count >= 64 { return isASCII(long: base, count) }
  // The last word overlaps the one before it, which is faster than going on by single bytes.
  if count >= 8 {
    var all = base.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
    var offset = 0
    while offset &+ 8 < count {
      all |= base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset &+= 8
    }
    return all & 0x8080_8080_8080_8080 == 0
  }
  if count >= 4 {
    let all =
      base.loadUnaligned(as: UInt32.self) | base.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
    return all & 0x8080_8080 == 0
  }
  var all: UInt8 = 0
  for offset in 0..<count { all |= base.load(fromByteOffset: offset, as: UInt8.self) }
  return all & 0x80 == 0
}

/// The same for 32 bytes or more, four words at a time. Text that is not ASCII mostly says so at its beginning.
@inline(__always)
private func isASCII(long base: UnsafeRawPointer, _ count: Int) -> Bool {
  let last = count &- 32
  var offset = 0
  while true {
    let all =
      base.bits(at: offset, as: UInt64.self) | base.bits(at: offset &+ 8, as: UInt64.self)
      | base.bits(at: offset &+ 16, as: UInt64.self) | base.bits(at: offset &+ 24, as: UInt64.self)
    if all & 0x8080_8080_8080_8080 != 0 { return false }
    if offset == last { return true }
    // The last four overlap those before them.
    offset = min(offset &+ 32, last)
  }
}

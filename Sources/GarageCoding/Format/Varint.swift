/// A number in groups of seven bits, the lowest first, the top bit set on all but the last (LEB128).
///
/// Format: at most 8 bytes, which hold every length, count and version that there is.
enum Varint {
  /// Room for whatever is written.
  static let maximumByteCount = 9
  /// Numbers below this one are a single byte, which is the number.
  static let singleByteEnd = 0x80

  // MARK: - Writing

  /// How many bytes a number takes.
  @inline(__always)
  static func byteCount(of number: Int) -> Int {
    number < singleByteEnd ? 1 : (Int.bitWidth - number.leadingZeroBitCount + 6) / 7
  }

  /// Writes a number, which is not negative, to where there is room for ``maximumByteCount``; returns how many bytes it
  /// took.
  @inline(__always)
  static func write(_ number: Int, to place: UnsafeMutableRawPointer) -> Int {
    if number >= singleByteEnd { return writeLong(number, to: place) }
    writeSingleByte(number, to: place)
    return 1
  }

  /// Writes a number that the caller has found to be below ``singleByteEnd``.
  @inline(__always)
  static func writeSingleByte(_ number: Int, to place: UnsafeMutableRawPointer) {
    place.storeBytes(of: UInt8(truncatingIfNeeded: number), as: UInt8.self)
  }

  @inline(never)
  private static func writeLong(_ number: Int, to place: UnsafeMutableRawPointer) -> Int {
    var rest = number
    var count = 0
    while rest >= singleByteEnd {
      place.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: count, as: UInt8.self)
      rest >>= 7
      count += 1
    }
    place.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
    return count + 1
  }

  /// Appends a number, which is not negative.
  static func append(_ number: Int, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= singleByteEnd {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  // MARK: - Reading

  /// Reads the number at `offset`, which stands behind it afterwards.
  ///
  /// - Throws: ``DamagedBytes`` where it does not end before `end`, or has more than 8 bytes.
  @inline(__always)
  static func read(_ base: UnsafeRawPointer, _ offset: inout Int, end: Int) throws -> Int {
    guard offset < end else { throw DamagedBytes(reason: "a number is cut", offset: offset) }
    let first = base.load(fromByteOffset: offset, as: UInt8.self)
    if first < 0x80 {
      offset &+= 1
      return Int(first)
    }
    return try readLong(base, &offset, end: end)
  }

  @inline(never)
  private static func readLong(_ base: UnsafeRawPointer, _ offset: inout Int, end: Int) throws -> Int {
    let start = offset
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while offset < end, shift < 56 {
      let byte = base.load(fromByteOffset: offset, as: UInt8.self)
      offset += 1
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return Int(result) }
      shift += 7
    }
    throw DamagedBytes(reason: "a number is cut or too large", offset: start)
  }

  /// Reads a length, and the bounds of the bytes behind it, where `offset` stands afterwards behind these.
  ///
  /// - Parameter reason: what the error says where they do not end before `end`.
  @inline(__always)
  static func readCounted(
    _ base: UnsafeRawPointer, _ offset: inout Int, end: Int, reason: @autoclosure () -> String
  ) throws -> Range<Int> {
    let count = try read(base, &offset, end: end)
    guard count <= end &- offset else { throw DamagedBytes(reason: reason(), offset: offset) }
    let start = offset
    offset &+= count
    return start..<offset
  }
}

/// Finds the bounds of values without knowing their types. Every length is checked against what is there
/// before it is used, as a 64-bit number.
///
/// ```
/// | tag | nothing, a fixed number of bytes, or length and that many bytes |
/// ```
enum BodyScanner {
  /// Where the value at `offset` ends.
  @inline(__always)
  static func skipValue(_ base: UnsafeRawPointer, _ offset: Int, end: Int) throws -> Int {
    guard offset < end else { throw DamagedBytes(reason: "a value begins behind the end", offset: offset) }
    let tag = base.load(fromByteOffset: offset, as: UInt8.self)
    let next = offset &+ 1 &+ (try payloadByteCount(tag, base, offset, end))
    guard next <= end else { throw DamagedBytes(reason: "a value goes beyond the end", offset: offset) }
    return next
  }

  /// How many bytes follow a tag.
  @inline(__always)
  private static func payloadByteCount(
    _ tag: UInt8, _ base: UnsafeRawPointer, _ offset: Int, _ end: Int
  ) throws -> Int {
    if tag >= BodyTag.smallInteger {
      guard tag < 0xE0 else { throw DamagedBytes.unknownTag(tag, offset) }
      return tag & 0xC0 == BodyTag.shortString ? Int(tag & 0x3F) : 0
    }
    if tag < BodyTag.int128 {
      // Four bits for each of these: none for nil and Booleans, and then 1, 2, 4 and 8.
      return Int(truncatingIfNeeded: (0x8421_0000 as UInt64) &>> (4 * UInt64(tag)) & 0xF)
    }
    return try widePayloadByteCount(tag, base, offset, end)
  }

  /// The same of a tag that has more than a small number behind it.
  private static func widePayloadByteCount(
    _ tag: UInt8, _ base: UnsafeRawPointer, _ offset: Int, _ end: Int
  ) throws -> Int {
    switch tag {
    case BodyTag.reference8: 1
    case BodyTag.float, BodyTag.reference32: 4
    case BodyTag.uint64, BodyTag.double, BodyTag.date: 8
    case BodyTag.int128, BodyTag.uint128, BodyTag.uuid: 16
    case BodyTag.decimal, BodyTag.data8, BodyTag.string8:
      1 + Int(try loadNumber(base, offset + 1, width: 1, end: end))
    case BodyTag.data32, BodyTag.string32: 4 + Int(try loadNumber(base, offset + 1, width: 4, end: end))
    case BodyTag.mapSmall, BodyTag.arraySmall, BodyTag.packedSmall:
      2 + Int(try loadNumber(base, offset + 1, width: 1, end: end))
    case BodyTag.mapLarge, BodyTag.arrayLarge, BodyTag.packedLarge:
      8 + Int(try loadNumber(base, offset + 1, width: 4, end: end))
    case BodyTag.canonicalReference: try canonicalReferenceByteCount(base, offset, end)
    case BodyTag.syncStatus, BodyTag.versioned:
      try skipValue(base, InlinePrefix.skip(base, offset, end: end), end: end) - offset - 1
    default: throw DamagedBytes.unknownTag(tag, offset)
    }
  }

  private static func canonicalReferenceByteCount(
    _ base: UnsafeRawPointer, _ offset: Int, _ end: Int
  ) throws -> Int {
    var at = offset + 9
    let length = try Varint.read(base, &at, end: end)
    return at - offset - 1 + length
  }

  /// Reads a length, count or place of one byte or four.
  @inline(__always)
  static func loadNumber(_ base: UnsafeRawPointer, _ offset: Int, width: Int, end: Int) throws -> UInt32 {
    guard offset &+ width <= end else { throw DamagedBytes(reason: "a length is cut", offset: offset) }
    return width == 1
      ? UInt32(base.load(fromByteOffset: offset, as: UInt8.self))
      : UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// Reads the key of an entry of a map, `| varint length | UTF-8 |`, behind which the offset stands afterwards.
  @inline(__always)
  static func readKey(_ base: UnsafeRawPointer, _ offset: inout Int, end: Int) throws -> Range<Int> {
    try Varint.readCounted(base, &offset, end: end, reason: "a key goes beyond its map")
  }
}

internal import CGarage

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
    let told = byteCount(base, offset)
    let next = offset &+ (try told > 0 ? told : wideByteCount(base, offset, end))
    guard next <= end else { throw DamagedBytes(reason: "a value goes beyond the end", offset: offset) }
    return next
  }

  /// How many bytes the value at `offset` has where its tag alone tells, else 0.
  @inline(__always)
  static func byteCount(_ base: UnsafeRawPointer, _ offset: Int) -> Int {
    Int(garage_value_byte_count(base.byte(at: offset)))
  }

  /// The same for a value whose tag does not tell its length.
  private static func wideByteCount(_ base: UnsafeRawPointer, _ offset: Int, _ end: Int) throws -> Int {
    let tag = base.byte(at: offset)
    return switch tag {
    case BodyTag.decimal, BodyTag.data8, BodyTag.string8:
      2 + Int(try loadNumber(base, offset + 1, width: 1, end: end))
    case BodyTag.data32, BodyTag.string32: 5 + Int(try loadNumber(base, offset + 1, width: 4, end: end))
    case BodyTag.mapSmall, BodyTag.arraySmall, BodyTag.packedSmall:
      3 + Int(try loadNumber(base, offset + 1, width: 1, end: end))
    case BodyTag.mapLarge, BodyTag.arrayLarge, BodyTag.packedLarge:
      9 + Int(try loadNumber(base, offset + 1, width: 4, end: end))
    case BodyTag.canonicalReference: try canonicalReferenceByteCount(base, offset, end)
    case BodyTag.syncStatus, BodyTag.versioned:
      try skipValue(base, InlinePrefix.skip(base, offset, end: end), end: end) - offset
    default: throw DamagedBytes.unknownTag(tag, offset)
    }
  }

  private static func canonicalReferenceByteCount(
    _ base: UnsafeRawPointer, _ offset: Int, _ end: Int
  ) throws -> Int {
    var at = offset + 9
    let length = try Varint.read(base, &at, end: end)
    return at - offset + length
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

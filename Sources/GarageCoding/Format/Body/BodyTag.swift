/// The first byte of every value in a body. `Docs/Format.md` draws what follows each.
///
/// The first byte alone tells small integers, short strings and the first references, because most values are of these kinds. A
/// body is self-describing: any value can be skipped without knowing its type.
enum BodyTag {
  /// A field of a shape without a value: `encodeIfPresent` of nil.
  static let absent: UInt8 = 0x00
  static let null: UInt8 = 0x01
  static let `false`: UInt8 = 0x02
  static let `true`: UInt8 = 0x03
  // Integers have the narrowest width that holds them, little-endian, and are unsigned only if needed.
  static let int8: UInt8 = 0x04
  static let int16: UInt8 = 0x05
  static let int32: UInt8 = 0x06
  static let int64: UInt8 = 0x07
  static let int128: UInt8 = 0x08
  static let uint64: UInt8 = 0x09
  static let uint128: UInt8 = 0x0A
  /// IEEE 754 binary32 and binary64, little-endian, bit for bit.
  static let float: UInt8 = 0x0B
  static let double: UInt8 = 0x0C
  /// Seconds since 2001-01-01 00:00 UTC as a binary64.
  static let date: UInt8 = 0x0D
  static let uuid: UInt8 = 0x0E
  /// A decimal number as text: length byte, ASCII.
  static let decimal: UInt8 = 0x0F
  // Bytes, or UTF-8 text, behind a length of one or four bytes.
  static let data8: UInt8 = 0x10
  static let data32: UInt8 = 0x11
  static let string8: UInt8 = 0x12
  static let string32: UInt8 = 0x13
  /// length, shape index plus one (0: none), the shape's values, then entries (key length, key, value) sorted
  /// by key; all numbers one byte (small) or four (large).
  static let mapSmall: UInt8 = 0x14
  static let mapLarge: UInt8 = 0x15
  /// length, count, values.
  static let arraySmall: UInt8 = 0x16
  static let arrayLarge: UInt8 = 0x17
  /// length, element kind, elements without tags.
  static let packedSmall: UInt8 = 0x18
  static let packedLarge: UInt8 = 0x19
  /// An index into the record's reference table.
  static let reference8: UInt8 = 0x1A
  static let reference32: UInt8 = 0x1B
  /// A type tag and an identifier: only in canonical bodies, which have no table.
  static let canonicalReference: UInt8 = 0x1C
  /// The sync status of an inline object, one byte, and then the object. Not in canonical bodies.
  static let syncStatus: UInt8 = 0x1D
  /// The version of a type, a varint other than 0, and then the value, which has no further version in front. Not in canonical
  /// bodies.
  static let versioned: UInt8 = 0x1E

  /// 0x40…0x7F: the integers 0…63.
  static let smallInteger: UInt8 = 0x40
  /// 0x80…0xBF: strings of 0…63 bytes.
  static let shortString: UInt8 = 0x80
  /// 0xC0…0xDF: the references 0…31.
  static let smallReference: UInt8 = 0xC0

  /// Whether a value that begins with this byte is a reference into the record's table.
  @inline(__always)
  static func isReference(_ tag: UInt8) -> Bool {
    tag >= smallReference || tag == reference8 || tag == reference32
  }

  /// The number of bytes in front of a container's content, by the width of its numbers.
  static let smallHeaderByteCount = 3
  static let largeHeaderByteCount = 9
}

internal import CGarage

/// How an object is kept, for both coders.
///
/// ```
/// 0   | version | 1
/// 1   | flags   | see Flag
/// 2   | CRC-32C | of the key (tag, and key form of the identifier, also where it is hidden), bytes 0 and 1, and bytes 6 to the end
/// 6   | 6 bytes | modification time, milliseconds since 1970-01-01 UTC
/// 12  | fullIdentifier: varint length, the whole identifier, where the key holds it cut or hides it
///     | concrete: 8 bytes, the digest of the object's own type tag, where it is not the identity space's
///     | references: the reference table
///     | shapes: varint count, 8 bytes each: the digests of the shapes that maps name by index
///     | version: varint, of the object's type, where it is not 0
///     | body: one value
/// ```
/// Numbers are little-endian, digests big-endian. The reference table:
/// ```
/// | varint n | n tags of 8 bytes | varint m | m times: kind << 6 | tag index (63: a varint follows), varint length, identifier |
/// ```
extension RecordFormat {
  enum Flag {
    /// Bits 0 and 1: the sync status, where bit 2 is set.
    static let syncStatusMask: UInt8 = 0x03
    static let hasSyncStatus: UInt8 = 0x04
    static let hasFullIdentifier: UInt8 = 0x08
    static let hasConcreteTag: UInt8 = 0x10
    static let hasReferences: UInt8 = 0x20
    static let hasShapes: UInt8 = 0x40
    /// The object's type had a version other than 0 (`Evolving`).
    static let hasVersion: UInt8 = 0x80
  }

  static let checksumOffset = 2
  static let timeOffset = 6
  static let fixedByteCount = 12
  /// The same of a typed key's value, which has no time.
  static let valueFixedByteCount = 6

  /// The checksum of a record of six bytes or more under a key, of which `key` is all but the space byte.
  static func checksum(key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer) -> UInt32 {
    garage_record_crc32c(0, key.baseAddress, key.count, record.baseAddress!, record.count)
  }

  static func checksum(_ key: RecordKey, record: UnsafeRawBufferPointer) -> UInt32 {
    let tag = withUnsafeBytes(of: key.tag.bigEndian) { garage_crc32c(0, $0.baseAddress, $0.count) }
    return garage_record_crc32c(
      tag, key.identifier.baseAddress, key.identifier.count, record.baseAddress!, record.count)
  }
}

/// What a record is kept under: the digest of its identity tag, and the identifier as keys hold it.
struct RecordKey {
  var tag: UInt64
  var identifier: UnsafeRawBufferPointer

  /// Whether the identifier is the digest of a value's content.
  @inline(__always)
  var isDigest: Bool { identifier.first == IdentifierKind.digest.rawValue }

  /// The identifier in words, for error messages.
  var text: String { Identifier.description(ofKeyBytes: Array(identifier)) }
}

/// How a record refers to another: what a decoder does with the entry.
public enum ReferenceKind: UInt8, Sendable, Hashable {
  /// Loaded before the object that refers to it is complete.
  case eager = 0
  /// Loaded with the object and filled in afterwards: may close a cycle.
  case linked = 1
  /// Not loaded: only its identity is kept.
  case lazy = 2
}

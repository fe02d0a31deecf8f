internal import CGarage

/// What a checksum covers beside the record itself: the key that the record stands under, without the byte that names
/// the key's space. So a record that stands under another's key counts as damaged.
///
/// It is made only by `KeyLayout`, which makes whole keys, and by `RecordKey`, which is one of these for a record. It is valid
/// as long as the bytes that it was made of.
package struct CheckedKey {
  /// The tag before `bytes`, big-endian, where it stands elsewhere.
  fileprivate let tag: UInt64?
  /// All of it, but for a tag that stands elsewhere.
  let bytes: UnsafeRawBufferPointer

  /// A key whose bytes stand one behind the other.
  ///
  /// - Parameter bytes: all but the space's.
  @inline(__always)
  package init(_ bytes: UnsafeRawBufferPointer) { (tag, self.bytes) = (nil, bytes) }

  /// The key of a record, of which tag and identifier stand in two places.
  @inline(__always)
  init(tag: UInt64, identifier: UnsafeRawBufferPointer) {
    (self.tag, bytes) = (tag.bigEndian, identifier)
  }
}

/// The checksum of a record: the CRC-32C (RFC 3720, appendix B.4) of its key and of all its bytes but the checksum's own.
///
/// ```
/// | checked key | record, up to the checksum | record, behind it |
/// ```
package enum RecordChecksum {
  /// Where it stands, little-endian, behind version and flags.
  static let offset = RecordHead.checksumOffset

  /// Writes the checksum into a record that is complete but for it.
  @inline(__always)
  package static func write(into record: UnsafeMutableRawBufferPointer, under key: CheckedKey) {
    let checksum = compute(UnsafeRawBufferPointer(record), under: key)
    record.storeBytes(of: checksum.littleEndian, toByteOffset: offset, as: UInt32.self)
  }

  /// The same for a record whose end also stands elsewhere, and is read there: bytes that were just copied are slow to read at
  /// their new place.
  ///
  /// - Parameter end: the end of the record, which begins behind the checksum.
  @inline(__always)
  static func write(
    into record: UnsafeMutableRawBufferPointer, endingWith end: UnsafeRawBufferPointer, under key: CheckedKey
  ) {
    let beginning = UnsafeRawBufferPointer(
      rebasing: UnsafeRawBufferPointer(record)[..<(record.count &- end.count)])
    let checksum = garage_crc32c(compute(beginning, under: key), end.baseAddress, end.count)
    record.storeBytes(of: checksum.littleEndian, toByteOffset: offset, as: UInt32.self)
  }

  /// Whether a record, which has a head, is as it was written under this key.
  @inline(__always)
  static func isRight(_ record: UnsafeRawBufferPointer, under key: CheckedKey) -> Bool {
    let stored = record.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    return compute(record, under: key) == UInt32(littleEndian: stored)
  }

  @inline(__always)
  private static func compute(_ record: UnsafeRawBufferPointer, under key: CheckedKey) -> UInt32 {
    let start = record.baseAddress.unsafelyUnwrapped
    let (keyStart, keyCount) = (key.bytes.baseAddress, key.bytes.count)
    if let tag = key.tag {
      return garage_tagged_record_crc32c(tag, keyStart, keyCount, start, record.count, offset)
    }
    return garage_record_crc32c(0, keyStart, keyCount, start, record.count, offset)
  }
}

import CGarage

/// Digests that name content: SHA-256 (FIPS 180-4), cut to the width that its use needs.
///
/// Format: these bytes stand in stored keys and records and never change.
package enum ContentDigest {
  /// The whole digest: 32 bytes.
  package static func sha256(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      garage_sha256(bytes.baseAddress, bytes.count, buffer.baseAddress!)
      count = 32
    }
  }

  /// The first 8 bytes of SHA-256, read as a big-endian number. Written big-endian into keys, they make keys sort as the
  /// numbers do.
  package static func digest8(of bytes: UnsafeRawBufferPointer) -> UInt64 {
    digest16(of: bytes).0
  }

  /// The first 16 bytes of SHA-256 as two big-endian numbers, the more significant one first.
  package static func digest16(of bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
    withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { whole in
      garage_sha256(bytes.baseAddress, bytes.count, whole.baseAddress!.typedBytes)
      return (
        UInt64(bigEndian: whole.load(fromByteOffset: 0, as: UInt64.self)),
        UInt64(bigEndian: whole.load(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }
}

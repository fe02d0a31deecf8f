/// What a record is kept under: the digest of its identity tag, and the identifier in its key form.
///
/// ```
/// | tag 8 | identifier, key form, up to 240 |
/// ```
/// This is all that the coders know of keys. A store's key has a byte before it, and in a garage that hides identifiers
/// something else in place of the identifier: `KeyLayout` and `ObjectKeys` see to both.
@usableFromInline
package struct RecordKey {
  package var tag: UInt64
  package var identifier: UnsafeRawBufferPointer

  @inlinable
  @inline(__always)
  package static var tagByteCount: Int { 8 }

  @inline(__always)
  package init(tag: UInt64, identifier: UnsafeRawBufferPointer) {
    self.tag = tag
    self.identifier = identifier
  }

  /// The key that stands in these bytes, which are valid as long as it is used.
  @inline(__always)
  package init(_ bytes: UnsafeRawBufferPointer) {
    tag = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    identifier = UnsafeRawBufferPointer(rebasing: bytes[RecordKey.tagByteCount...])
  }

  /// A copy of the bytes.
  package var bytes: [UInt8] { withUnsafeBytes(of: tag.bigEndian) { Array($0) } + identifier }

  /// The bytes of the key of an object's record.
  package static func bytes(of identity: RecordIdentity) -> [UInt8] {
    identity.identifier.keyBytes.withUnsafeBytes { RecordKey(tag: identity.tag, identifier: $0).bytes }
  }

  /// What the checksum of the record covers of its key.
  @inline(__always)
  var checked: CheckedKey { CheckedKey(tag: tag, identifier: identifier) }

  /// Whether the identifier is the digest of a value's content.
  @inline(__always)
  var isDigest: Bool { identifier.first == IdentifierKind.digest.rawValue }

  /// The identifier in words, for error messages.
  var text: String { Identifier.description(ofKeyBytes: Array(identifier)) }
}

extension ByteArena {
  /// Appends the key of an object's record, given its whole identifier.
  @inline(__always)
  mutating func append(keyOfRecord tag: UInt64, _ identifier: UnsafeRawBufferPointer) {
    append(digest: tag)
    Identifier.withKeyForm(of: identifier) { append($0) }
  }
}

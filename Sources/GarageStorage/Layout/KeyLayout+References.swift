internal import GarageCoding
internal import GarageDriver

// Entries of the index of references: the object that is referred to, and behind it the record that refers to it.

extension KeyLayout {
  private static let hashedPrefixByteCount = 1 + KeyedHash.byteCount

  /// All entries, plain or hashed.
  static func references(isHashed: Bool) -> StorageKeyRange {
    .prefix([(isHashed ? Space.hashedReference : .reference).rawValue])
  }

  /// Appends the bytes that all entries of one object begin with.
  ///
  /// - Parameter target: the key of its record, whether the record exists or not.
  static func appendReferencePrefix(
    ofTarget target: RawSpan, _ hash: KeyedHash?, to bytes: inout OrderedBytes
  )
    throws
  {
    if let hash {
      bytes.append(Space.hashedReference.rawValue)
      try hash.withHash(of: target.extracting(1...)) { hash in
        bytes.append(hash)
      }
      return
    }
    appendReferencePrefix(
      ofTarget: tag(inRecordKey: target), target.extracting(identifierOffset...), to: &bytes)
  }

  /// The same for a target whose identifier is given in the form of keys, if nothing is hashed.
  static func appendReferencePrefix(ofTarget tag: UInt64, _ identifier: RawSpan, to bytes: inout OrderedBytes)
  {
    bytes.append(Space.reference.rawValue)
    bytes.append(UInt8(truncatingIfNeeded: identifier.byteCount))
    bytes.append(identifier)
    bytes.append(bigEndian: tag)
  }

  /// Appends the record that refers to the object.
  static func appendReferrer(_ key: RawSpan, to bytes: inout OrderedBytes) {
    bytes.append(key.extracting(1...))
  }

  /// The place in an entry of the tag and the identifier of the referring record; nil if the entry is damaged.
  private static func referrerPlace(_ entry: RawSpan) -> Int? {
    guard entry.byteCount > 2 else { return nil }
    let isHashed = entry.unsafeLoad(as: UInt8.self) == Space.hashedReference.rawValue
    let length = Int(entry.unsafeLoad(fromByteOffset: 1, as: UInt8.self))
    let place = isHashed ? hashedPrefixByteCount : 2 + length + RecordKey.tagByteCount
    return entry.byteCount > place + RecordKey.tagByteCount ? place : nil
  }

  /// The tag of the referring record in an entry, and its identifier in the form of keys; nil if the entry is damaged.
  static func referringIdentity(ofReference entry: RawSpan) -> (tag: UInt64, identifier: [UInt8])? {
    guard let place = referrerPlace(entry) else { return nil }
    return (
      UInt64(bigEndian: entry.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)),
      [UInt8](copying: entry.extracting((place + RecordKey.tagByteCount)...))
    )
  }

  /// The key of the referring record in an entry; nil if the entry is damaged.
  static func referrer(ofReference entry: RawSpan) -> StorageKey? {
    guard let place = referrerPlace(entry) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1 + entry.byteCount - place)
    bytes.append(Space.record.rawValue)
    entry.extracting(place...).withUnsafeBytes { bytes.append(contentsOf: $0) }
    return StorageKey(bytes)
  }
}

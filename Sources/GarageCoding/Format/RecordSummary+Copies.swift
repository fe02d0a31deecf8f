// Changes records without encoding them again: gives them another status, version or tag, or the form that their type writes
// today. Each is taken apart (ParsedRecord) and written again (RecordParts).

extension RecordSummary {
  /// The record with another sync status and the checksum for it. Nothing is decoded.
  ///
  /// - Throws: as ``init(tag:keyIdentifier:record:typeName:)``.
  public static func record(
    _ record: RawSpan, settingSyncStatus status: SyncStatus, tag: UInt64, keyIdentifier: RawSpan,
    typeName: String
  ) throws -> [UInt8] {
    try copy(of: record, tag: tag, keyIdentifier: keyIdentifier, typeName: typeName) {
      $0.syncStatus = status
    }
  }

  /// The record as one of another version of its type. Nothing is decoded.
  ///
  /// - Throws: as ``init(tag:keyIdentifier:record:typeName:)``.
  static func record(
    _ record: RawSpan, ofVersion version: Int, tag: UInt64, keyIdentifier: RawSpan, typeName: String
  ) throws -> [UInt8] {
    try copy(of: record, tag: tag, keyIdentifier: keyIdentifier, typeName: typeName) {
      $0.typeVersion = version
    }
  }

  /// The record under the same key, with other parts.
  private static func copy(
    of record: RawSpan, tag: UInt64, keyIdentifier: RawSpan, typeName: String,
    changing change: (inout RecordParts) -> Void
  ) throws -> [UInt8] {
    try ParsedRecord.with(tag: tag, keyIdentifier, record, typeName) { parsed, _ in
      var parts = parsed.parts
      change(&parts)
      return keyIdentifier.withUnsafeBytes {
        parsed.copy(parts, under: CheckedKey(tag: tag, identifier: $0))
      }
    }
  }

  /// The newly encoded record of an object, with the modification time, the sync status and the whole identifier of the record
  /// that it replaces.
  ///
  /// - Parameters:
  ///   - new: the new record, under the key that it was encoded for.
  ///   - old: the record to be replaced.
  ///   - oldTag: the digest of the identity tag in the old record's key.
  ///   - keyIdentifier: the identifier in the old record's key, and in the key that the new record will have.
  ///   - tag: the digest of the identity tag in that key.
  /// - Throws: ``GraphCodingError`` if one of the records is damaged.
  package static func record(
    _ new: RawSpan, underKey newKey: RecordKey, replacing old: RawSpan, tag oldTag: UInt64,
    keyIdentifier: RawSpan, under tag: UInt64, typeName: String
  ) throws -> [UInt8] {
    try ParsedRecord.with(tag: oldTag, keyIdentifier, old, typeName) { oldRecord, _ in
      try ParsedRecord.with(tag: newKey.tag, newKey.identifier.bytes, new, typeName) { newRecord, _ in
        var parts = newRecord.parts
        parts.syncStatus = oldRecord.syncStatus
        parts.time = oldRecord.head.time
        parts.wholeIdentifier = oldRecord.parts.wholeIdentifier
        return keyIdentifier.withUnsafeBytes {
          newRecord.copy(parts, under: CheckedKey(tag: tag, identifier: $0))
        }
      }
    }
  }

  /// A record under another tag, and with other tags in its references; nil if nothing changes.
  ///
  /// - Parameters:
  ///   - newTag: the digest of the identity tag in the record's new key.
  ///   - concreteTag: maps the digest of the object's own tag, which is nil if it is that of the identity space.
  ///   - tags: the tags in references that change, and the new tags.
  ///   - keeps: whether a reference with such a tag and this identifier keeps its tag; nil if none does.
  /// - Throws: ``GraphCodingError`` if the record is damaged.
  package static func record(
    _ record: RawSpan, tag: UInt64, keyIdentifier: RawSpan, movedTo newTag: UInt64,
    concreteTag: (UInt64?) -> UInt64?, renaming tags: [UInt64: UInt64],
    except keeps: ((UInt64, UnsafeRawBufferPointer) throws -> Bool)?, typeName: String
  ) throws -> [UInt8]? {
    try ParsedRecord.with(tag: tag, keyIdentifier, record, typeName) { parsed, _ -> [UInt8]? in
      var parts = parsed.parts
      parts.concreteTag = concreteTag(parts.concreteTag)
      return try keyIdentifier.withUnsafeBytes { identifier in
        let key = CheckedKey(tag: newTag, identifier: identifier)
        if let renamed = try parsed.copy(parts, renaming: tags, except: keeps, under: key) { return renamed }
        if newTag == tag, parts.concreteTag == parsed.concreteTag { return nil }
        return parsed.copy(parts, under: key)
      }
    }
  }

  /// A record in the form for another garage: with or without its identifier, and with another time.
  ///
  /// - Parameters:
  ///   - tag: the digest of the identity tag in its key.
  ///   - identifier: the whole identifier.
  ///   - holdsIdentifier: whether the record has to hold the identifier even if no key cuts it.
  ///   - time: milliseconds since 1970-01-01 UTC.
  /// - Throws: ``GraphCodingError`` if the record is damaged.
  package static func record(
    _ record: RawSpan, tag: UInt64, identifier: Identifier, holdsIdentifier: Bool, time: UInt64
  ) throws -> [UInt8] {
    let keyIdentifier = identifier.keyBytes
    return try ParsedRecord.with(tag: tag, keyIdentifier.span.bytes, record, "object") { parsed, _ in
      identifier.bytes.withUnsafeBytes { whole in
        var parts = parsed.parts
        parts.time = time
        parts.wholeIdentifier = holdsIdentifier || identifier.isCut ? whole : nil
        return keyIdentifier.withUnsafeBytes {
          parsed.copy(parts, under: CheckedKey(tag: tag, identifier: $0))
        }
      }
    }
  }

  /// The value of a typed key with other tags in its references; nil if nothing changes.
  ///
  /// - Throws: ``ValueDamage``.
  package static func value(
    _ value: RawSpan, key: CheckedKey, renaming tags: [UInt64: UInt64],
    except keeps: ((UInt64, UnsafeRawBufferPointer) throws -> Bool)?
  ) throws -> [UInt8]? {
    try value.withUnsafeBytes { bytes in
      try ValueDamage.naming {
        let parsed = try ParsedRecord(valueUnder: key, bytes)
        return try parsed.copy(parsed.parts, renaming: tags, except: keeps, under: key)
      }
    }
  }
}

extension RecordSummary {
  /// Lends the whole identifier that a record holds. Nothing else is checked, not even the checksum, because checking that
  /// requires the identifier.
  ///
  /// - Parameters:
  ///   - typeName: names the type in errors.
  ///   - name: names the object in errors.
  /// - Throws: ``GraphCodingError/corrupt(type:identifier:reason:)`` if it holds none,
  ///   ``GraphCodingError/newerFormat(type:identifier:version:)``, and the errors of `body`.
  package static func withUncheckedIdentifier<R>(
    of record: RawSpan, typeName: String, name: @autoclosure () -> String,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try record.withUnsafeBytes { record in
      let version = RecordHead.uncheckedVersion(record)
      if version > RecordFormat.version {
        throw GraphCodingError.newerFormat(type: typeName, identifier: name(), version: version)
      }
      guard let range = ParsedRecord.wholeIdentifier(in: record) else {
        throw GraphCodingError.corrupt(
          type: typeName, identifier: name(), reason: "it does not hold its identifier")
      }
      return try body(UnsafeRawBufferPointer(rebasing: record[range]))
    }
  }
}

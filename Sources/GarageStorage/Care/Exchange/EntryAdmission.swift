internal import GarageCoding
internal import GarageDriver

/// An undamaged entry of another garage, in the form in which this garage keeps it.
enum AdmittedEntry {
  case text(TextName, [UInt8])
  case record(StorageKey, [UInt8], RecordSummary)
  case value(StorageKey, [UInt8])

  /// Its size in bytes.
  var byteCount: Int {
    switch self {
    case .text(_, let text): text.count
    case .record(let key, let bytes, _), .value(let key, let bytes): key.bytes.count + bytes.count
    }
  }
}

/// Checks the entries of another garage, each by itself: a record by its checksum, a text by its digest.
struct EntryAdmission {
  /// The keys of the garage that gets the entries.
  let keys: ObjectKeys

  /// The entry in the form in which this garage keeps it. Nil if it is rebuilt from other entries, or is no entry of a garage.
  ///
  /// - Throws: ``GraphCodingError``, ``ValueDamage`` or ``GarageError`` if it is damaged.
  func admit(_ key: RawSpan, _ value: RawSpan) throws -> AdmittedEntry? {
    switch KeyLayout.space(of: key) {
    case .tagText: try text(.tag, key, value)
    case .shapeText: try text(.shape, key, value)
    case .record: try record(key, value)
    case .value: try typedValue(key, value)
    case .metadata, .hashedReference, .reference, .index, .syncStatus, nil: nil
    }
  }

  private func text(_ kind: TextName.Kind, _ key: RawSpan, _ value: RawSpan) throws -> AdmittedEntry {
    let text = [UInt8](copying: value)
    guard let name = KeyLayout.textName(kind, key), name.isDigest(of: text),
      kind == .tag ? String(validating: text, as: UTF8.self) != nil : RecordVerifier.isShapeText(text)
    else { throw GarageError.damagedText(digest: "\(StorageKey(key))") }
    return .text(name, text)
  }

  private func typedValue(_ key: RawSpan, _ value: RawSpan) throws -> AdmittedEntry {
    try RecordVerifier.forEachReference(inValueUnder: KeyLayout.checked(key), value) { _, _, _ in }
    return .value(StorageKey(key), [UInt8](copying: value))
  }

  private func record(_ key: RawSpan, _ record: RawSpan) throws -> AdmittedEntry {
    guard KeyLayout.isRecord(key) else {
      throw GraphCodingError.corrupt(
        type: "an object", identifier: "\(StorageKey(key))", reason: "its key holds no identifier")
    }
    let tag = KeyLayout.tag(inRecordKey: key)
    let inKey = [UInt8](copying: key.extracting(KeyLayout.identifierOffset...))
    let typeName = hexadecimal(tag)
    do {
      let summary = try RecordSummary(
        tag: tag, keyIdentifier: inKey.span.bytes, record: record, typeName: typeName)
      return try admitted(tag, keyForm: inKey, record, summary)
    } catch let error as GraphCodingError {
      // If the other garage hides identifiers, no key has the identifier, but the record does.
      guard inKey.count == KeyedHash.byteCount, let entry = try? hiddenRecord(tag, key, record) else {
        throw error
      }
      return entry
    }
  }

  private func hiddenRecord(_ tag: UInt64, _ key: RawSpan, _ record: RawSpan) throws -> AdmittedEntry {
    let typeName = hexadecimal(tag)
    return try RecordSummary.withUncheckedIdentifier(
      of: record, typeName: typeName, name: "\(StorageKey(key))"
    ) {
      whole in
      try Identifier.withKeyForm(of: whole) { keyForm in
        let summary = try RecordSummary(
          tag: tag, keyIdentifier: keyForm.bytes, record: record, typeName: typeName)
        return try admitted(tag, keyForm: Array(keyForm), record, summary)
      }
    }
  }

  /// The record under the key that it has in this garage.
  private func admitted(
    _ tag: UInt64, keyForm: [UInt8], _ record: RawSpan, _ summary: RecordSummary
  ) throws -> AdmittedEntry {
    if Identifier.isDamaged(keyForm: keyForm.span.bytes) {
      throw GraphCodingError.corrupt(
        type: hexadecimal(tag), identifier: "\(StorageKey(keyForm))", reason: "its key holds no identifier")
    }
    let key = try keys.withStorageKey(tag: tag, keyForm.span.bytes) { StorageKey($0) }
    let isCut = keyForm.count == Identifier.maximumKeyByteCount
    let holdsIdentifier = keys.hidesIdentifiers || isCut
    if holdsIdentifier == (summary.wholeIdentifier != nil) {
      return .record(key, [UInt8](copying: record), summary)
    }
    guard let identifier = summary.wholeIdentifier ?? (isCut ? nil : Identifier(bytes: keyForm)) else {
      throw GraphCodingError.corrupt(
        type: hexadecimal(tag), identifier: Identifier.description(ofKeyBytes: keyForm),
        reason: "it does not hold its identifier")
    }
    let other = try RecordSummary.record(
      record, tag: tag, identifier: identifier, holdsIdentifier: keys.hidesIdentifiers,
      time: UInt64(max(0, summary.modificationTime)))
    return .record(key, other, summary)
  }
}

extension WriteAccess {
  /// Puts an entry of another garage in place of the existing one, with everything that belongs to it.
  ///
  /// - Parameter isIndexed: whether indexes are updated. If not, they have to be empty (``emptyIndexes(ofTag:_:)``).
  func admit(_ entry: AdmittedEntry, isIndexed: Bool = true) throws {
    switch entry {
    case .text(let name, let text):
      // A type that is new to the store may declare indexes.
      let types = name.kind == .tag ? TypeTag.types(withDigest: name.digest) : []
      try garage.probeContext.run { try garage.indexing.meet(types) }
      try StoreTexts.put(text, name, in: transaction, isSealed: garage.objectKeys.isSealed)
      pending.newTexts.insert(name)
    case .record(let key, let record, let summary):
      let bytes = key.bytes.span.bytes
      var statuses = SyncStatusChanges()
      statuses.note(bytes, from: try indexedStatuses(bytes), to: summary.syncStatus)
      if isIndexed {
        try putRecord(record.span.bytes, for: bytes)
      } else {
        try transaction.put(record.span.bytes, for: bytes)
      }
      try statuses.make(in: transaction)
    case .value(let key, let value):
      try transaction.put(value, for: key)
    }
  }
}

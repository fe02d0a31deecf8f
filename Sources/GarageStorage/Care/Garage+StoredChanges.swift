public import GarageCoding
internal import GarageDriver

// Changing a store without the Swift types of its objects.

extension GarageWriting {
  /// Changes the content of an object, as it is stored, without its Swift type.
  ///
  /// The object keeps its identifier, sync status and version, and gets the present time as its modification time. Indexes,
  /// including the one of references, are kept up. The type is not asked whether it can read the changed object, so keep the
  /// kinds of values as they are.
  ///
  /// - Parameters:
  ///   - name: a name from ``GarageReading/typeNames()``.
  ///   - identifier: an identifier from ``GarageReading/identifiers(ofTypeNamed:after:limit:)``.
  ///   - change: changes the value. An error that it throws ends the call, and nothing is changed.
  /// - Throws: ``GarageError/failedToRetrieveObject(_:_:)`` if there is no such object,
  ///   ``GarageError/identifiedByContent(type:identifier:)``, ``GarageError/notUnique(index:value:existing:)``,
  ///   ``GarageError/corruptRecord(type:identifier:reason:)``, the errors of `change`, ``GarageError/nestedWrite``,
  ///   ``GarageError/storage(_:)``.
  public func changeStoredObject(
    ofTypeNamed name: String, identifier: Identifier, _ change: (inout RecordValue) throws -> Void
  ) throws {
    try withoutActuallyEscaping(change) { change in
      try withWriteAccess { try $0.changeStoredObject(name, identifier, change) }
    }
  }

  /// Deletes an object without its Swift type. The objects that it refers to stay, and so do the objects that refer to it,
  /// because the rules that its type may have for them (``DeleteRules``) are not known here.
  ///
  /// - Parameters:
  ///   - name: a name from ``GarageReading/typeNames()``.
  ///   - identifier: an identifier from ``GarageReading/identifiers(ofTypeNamed:after:limit:)``.
  /// - Throws: ``GarageError/failedToRetrieveObject(_:_:)`` if there is no such object, ``GarageError/nestedWrite``,
  ///   ``GarageError/storage(_:)``.
  public func deleteStoredObject(ofTypeNamed name: String, identifier: Identifier) throws {
    try withWriteAccess { try $0.deleteStoredObject(name, identifier) }
  }
}

extension WriteAccess {
  func changeStoredObject(
    _ name: String, _ identifier: Identifier, _ change: (inout RecordValue) throws -> Void
  ) throws {
    let tag = try reading.tag(listedAs: name)
    let key = try garage.objectKeys.record(tag: tag, identifier)
    let bytes = key.bytes.span.bytes
    let found = try transaction.withValue(for: bytes) { record -> RecordContent? in
      guard let record else { return nil }
      let typeName = try reading.listedName(ofTag: tag)
      return try garage.objectKeys.withIdentifier(of: bytes, record, typeName: typeName) {
        try RecordContent(
          tag: tag, keyIdentifier: $0, record: record, typeName: typeName, shapeText: reading.shapeText)
      }
    }
    guard var content = found else { throw nothing(name, identifier) }
    if identifier.kind == .digest {
      throw GarageError.identifiedByContent(type: name, identifier: identifier.description)
    }
    let before = content.value
    try passingErrors { try change(&content.value) }
    if content.value == before { return }
    content.header.modificationTime = Int64(garage.encoder.time)
    let record = try content.record(tag: tag, identifier: identifier)
    try putRecord(record.span.bytes, for: bytes)
  }

  func deleteStoredObject(_ name: String, _ identifier: Identifier) throws {
    let key = try garage.objectKeys.record(tag: reading.tag(listedAs: name), identifier)
    if try !removeRecord(key.bytes.span.bytes) { throw nothing(name, identifier) }
  }
}

public import GarageCoding
internal import GarageDriver

extension GarageWriting {
  /// Deletes the record of an object. The objects that it refers to stay, unless its type has other rules (``DeleteRules``).
  ///
  /// - Throws: ``GarageError/failedToRetrieveObject(_:_:)`` if there is no record,
  ///   ``GarageError/stillReferredTo(type:identifier:by:)`` if the rules forbid it, and as ``park(_:)-(T)``.
  public func delete<T: Codable & Identifiable>(_ object: T) throws {
    try delete(any: object)
  }

  /// Deletes the record of a value that is identified by its content.
  ///
  /// - Throws: as ``delete(_:)-(T)``.
  public func delete<T: Codable & Hashable>(_ value: T) throws {
    try delete(any: value)
  }

  /// Deletes the record of an object. The objects that it refers to stay.
  ///
  /// - Throws: as ``delete(_:)-(T)``.
  public func delete<T: Codable & Hashable & Identifiable>(_ object: T) throws {
    try delete(any: object)
  }

  /// Not available: only values with an identity have a record.
  @available(
    *, unavailable,
    message: "a value that has a record is Codable, and Identifiable or Hashable: conform its type to these"
  )
  @_disfavoredOverload
  public func delete<T>(_ object: T) throws {}

  /// Not available: a reference names an object but is not one.
  @available(
    *, unavailable,
    message: "a reference names an object, and is none: delete(Type.self, identifier:) deletes that"
  )
  public func delete<T>(_ reference: Reference<T>) throws {}

  /// Deletes the record of an object whose type is only known at run time.
  ///
  /// - Throws: ``GarageError/missingConformance(_:)``, and as ``delete(_:)-(T)``.
  public func delete(any object: Any) throws {
    let parked = try garage.encoding { try ParkedObject(object, $0) }
    if garage.followsDeleteRules(parked.facts) {
      _ = try delete(DeletionRequest(parked))
    } else {
      try withByteAccess { try $0.delete(parked) }
    }
  }

  /// Deletes the record of the object of this type with this identifier. The objects that it refers to stay.
  ///
  /// - Throws: ``GarageError/failedToRetrieveObject(_:_:)`` if there is no record, ``GarageError/nestedWrite``,
  ///   ``GarageError/storage(_:)``.
  public func delete<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) throws {
    if try followsDeleteRules(type) {
      _ = try delete(
        DeletionRequest(type, garage.encoding { _ in try garage.identifier(of: type, identifier) }))
      return
    }
    guard let garage = Garage.itself(self), garage.store.commits != nil else {
      return try withWriteAccess { try $0.delete(type, id: identifier) }
    }
    // Reading an `id` may run users' code, so it is read before this write waits its turn.
    let identifier = try garage.encoding { _ in try garage.identifier(of: type, identifier) }
    try withByteAccess { try $0.delete(type, identifier) }
  }

  /// Deletes the record of the object with an identifier from ``GarageReading/identifier(for:)``.
  ///
  /// - Throws: as ``delete(_:identifier:)-(T.Type,T.ID)``.
  public func delete<T: Codable>(_ type: T.Type, identifier: Identifier) throws {
    if try followsDeleteRules(type) {
      _ = try delete(DeletionRequest(type, identifier))
      return
    }
    try withByteAccess { try $0.delete(type, identifier) }
  }

  /// Deletes all objects of this type. For a class it also deletes those of its subclasses.
  ///
  /// - Throws: ``GarageError/nestedWrite``, ``GarageError/storage(_:)``; for a subclass also as
  ///   ``GarageReading/count(_:)``.
  public func deleteAll<T: Codable>(_ type: T.Type) throws {
    if try followsDeleteRules(type) { try garage.prepareReferrerIndex() }
    try withWriteAccess { try $0.deleteAll(type) }
  }

  /// Deletes all objects of all types.
  ///
  /// - Throws: ``GarageError/nestedWrite``, ``GarageError/storage(_:)``.
  public func deleteAllObjects() throws {
    try withWriteAccess { try $0.deleteAllObjects() }
  }
}

extension WriteAccess {
  func deleteAllObjects() throws {
    try transaction.removeAll(in: KeyLayout.allRecords)
    try transaction.removeAll(in: KeyLayout.allSyncStatuses)
    if try hasIndexes { try transaction.removeAll(in: KeyLayout.allEntries) }
  }

  func delete(_ object: ParkedObject) throws {
    if garage.followsDeleteRules(object.facts) {
      _ = try delete(DeletionRequest(object))
      return
    }
    let isDeleted = try removeRecords(object.facts.tags, object.identifier)
    if !isDeleted { throw nothing(object.facts.name, object.identifier) }
  }

  fileprivate func delete<T: Codable & Identifiable>(_ type: T.Type, id: T.ID) throws {
    let facts = try RecordTypeFacts.of(type)
    if !facts.sharesSpaceWithSuperclass && !garage.followsDeleteRules(facts) {
      var isDeleted = false
      let isShort = try facts.withShortIdentifier(of: id) {
        isDeleted = try removeRecords(facts.tags, $0)
      }
      if isDeleted { return }
      if isShort { throw nothing(facts.name, try reading.identifier(of: type, id)) }
    }
    try delete(type, reading.identifier(of: type, id))
  }

  func delete<T: Codable>(_ type: T.Type, _ identifier: Identifier) throws {
    let facts = try RecordTypeFacts.of(type)
    if garage.followsDeleteRules(facts) {
      _ = try delete(DeletionRequest(type, identifier))
      return
    }
    // A record of a type that shares its identity space may be of another class.
    let isThere = try !facts.sharesSpaceWithSuperclass || reading.storageKey(of: type, identifier) != nil
    guard try isThere && removeRecords(facts.tags, identifier) else {
      throw nothing(facts.name, identifier)
    }
  }

  func deleteAll<T: Codable>(_ type: T.Type) throws {
    let facts = try RecordTypeFacts.of(type)
    let followsRules = garage.followsDeleteRules(facts)
    guard facts.sharesSpaceWithSuperclass || followsRules else {
      for tag in facts.tags { try removeAllRecords(tag: tag) }
      return
    }
    // All keys are found before the first record is removed. If a record's class cannot be told, all records stay.
    var keys: [StorageKey] = []
    try reading.visitRecordKeys(type) { keys.append($0) }
    if followsRules { return try delete(keys, facts) }
    try removeRecords(
      keys.flatMap { key in
        facts.tags.map { KeyLayout.record(tag: $0, sameIdentifierAs: key.bytes.span.bytes) }
      })
  }

  /// Removes the records of one identifier under all these tags. Returns whether there was one.
  func removeRecords(_ tags: [UInt64], _ identifier: Identifier) throws -> Bool {
    let keyForm = identifier.keyBytes
    return try removeRecords(tags, keyForm.span.bytes)
  }

  /// Does the same for an identifier in the form that it has in keys.
  private func removeRecords(_ tags: [UInt64], _ identifier: RawSpan) throws -> Bool {
    var isRemoved = false
    if garage.store.roundTripsAreExpensive {
      // Each record is read first, for its index entries and its sync status.
      var keys: [StorageKey] = []
      for tag in tags {
        try garage.objectKeys.withStorageKey(tag: tag, identifier) { keys.append(StorageKey($0)) }
      }
      announce(keys)
    }
    for tag in tags {
      try garage.objectKeys.withStorageKey(tag: tag, identifier) { key in
        if try removeRecord(key) { isRemoved = true }
      }
    }
    return isRemoved
  }

  func nothing(_ type: String, _ identifier: Identifier) -> GarageError {
    .failedToRetrieveObject(type, identifier.description)
  }
}

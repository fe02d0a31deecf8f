public import GarageCoding
internal import GarageDriver

// Deleting an object, and what becomes of others by that.

extension GarageWriting {
  /// Deletes an object, and what it owns (``DeleteRules``); `referrers` says what becomes of those who refer to the object.
  ///
  /// With an index of references (`Garage(…, referrers: .indexed)`) these are found fast; without it what all records refer to
  /// is read.
  ///
  /// - Parameter referrers: counts for the object itself, in place of what its type declares. What it owns follows the rules
  ///   of its own type.
  /// - Throws: ``GarageError/failedToRetrieveObject(_:_:)`` where there is none,
  ///   ``GarageError/stillReferredTo(type:identifier:by:)``, which names who refers to it;
  ///   ``GarageError/invalidQuery(type:reason:)`` where it is not known where what it owns is stored, and the object cannot be
  ///   decoded to be asked, or where a type that is to be asked belongs to another actor;
  ///   ``GarageError/corruptRecord(type:identifier:reason:)`` where a damaged record may refer to it;
  ///   ``GarageError/nestedWrite``, ``GarageError/storage(_:)``. Nothing is changed then.
  public func delete<T: Codable>(_ object: T, referrers: ReferrersRule) throws {
    let parked = try garage.encoding { try ParkedObject(object, $0) }
    _ = try delete(DeletionRequest(parked, referrers))
  }

  /// Deletes the object of this type with this identifier, and what it owns.
  ///
  /// - Throws: as ``delete(_:referrers:)``.
  public func delete<T: Codable & Identifiable>(
    _ type: T.Type, identifier: T.ID, referrers: ReferrersRule
  ) throws {
    let identifier = try garage.encoding { _ in try garage.identifier(of: type, identifier) }
    _ = try delete(DeletionRequest(type, identifier, referrers))
  }

  /// Deletes the object of this type with the identifier that ``GarageReading/identifier(for:)`` gave, and what it owns.
  ///
  /// - Throws: as ``delete(_:referrers:)``.
  public func delete<T: Codable>(_ type: T.Type, identifier: Identifier, referrers: ReferrersRule) throws {
    _ = try delete(DeletionRequest(type, identifier, referrers))
  }

  /// Deletes an object and all that it leads to by references of any kind, except what is also led to by values of typed keys
  /// or by objects that are not reached from this one.
  ///
  /// Memory: the keys of all objects that are reached. Types that were renamed are to be told by
  /// ``TypeTagged/formerTypeTags``, so that references by older names count.
  ///
  /// - Parameter referrers: what becomes of those who refer to the object itself; nil for what its type declares.
  /// - Returns: how many objects were deleted.
  /// - Throws: ``GarageError/corruptRecord(type:identifier:reason:)`` where an object that is reached is damaged, because it
  ///   cannot be told what it leads to; and as ``delete(_:referrers:)``.
  @discardableResult
  public func deleteGraph<T: Codable>(_ object: T, referrers: ReferrersRule? = nil) throws -> Int {
    let parked = try garage.encoding { try ParkedObject(object, $0) }
    return try delete(DeletionRequest(parked, referrers, isGraph: true))
  }

  /// Not available: a reference names an object, and is not one itself.
  @available(
    *, unavailable,
    message: "a reference names an object, and is none: deleteGraph(Type.self, identifier:) begins at that"
  )
  public func deleteGraph<T>(_ reference: Reference<T>, referrers: ReferrersRule? = nil) throws -> Int { 0 }

  /// Deletes the object of this type with this identifier, and all that it and nothing else leads to.
  ///
  /// - Returns: how many objects were deleted.
  /// - Throws: as ``deleteGraph(_:referrers:)``.
  @discardableResult
  public func deleteGraph<T: Codable & Identifiable>(
    _ type: T.Type, identifier: T.ID, referrers: ReferrersRule? = nil
  ) throws -> Int {
    let identifier = try garage.encoding { _ in try garage.identifier(of: type, identifier) }
    return try delete(DeletionRequest(type, identifier, referrers, isGraph: true))
  }
}

/// The object that a verb deletes by rules.
struct DeletionRequest {
  let facts: RecordTypeFacts
  let identifier: Identifier
  /// The type that was named; nil where the object itself was.
  let type: (any Codable.Type)?
  /// What becomes of those who refer to it; nil for the rule of its type.
  let rule: ReferrersRule?
  /// Whether all that only this object leads to is deleted, too.
  let isGraph: Bool

  init(_ object: ParkedObject, _ rule: ReferrersRule? = nil, isGraph: Bool = false) {
    (facts, identifier, type) = (object.facts, object.identifier, nil)
    self.rule = rule
    self.isGraph = isGraph
  }

  /// - Throws: ``GarageError/missingConformance(_:)``, ``GarageError/invalidTypeTag(type:reason:)``.
  init(
    _ type: any Codable.Type, _ identifier: Identifier, _ rule: ReferrersRule? = nil, isGraph: Bool = false
  ) throws {
    facts = try translatingErrors { try RecordTypeFacts.of(type) }
    self.identifier = identifier
    self.type = type
    self.rule = rule
    self.isGraph = isGraph
  }
}

extension GarageWriting {
  /// Whether a type has rules for the deletion of its objects, or a subclass has.
  func followsDeleteRules(_ type: any Codable.Type) throws -> Bool {
    garage.followsDeleteRules(try translatingErrors { try RecordTypeFacts.of(type) })
  }

  /// Deletes an object by the rules; returns how many were deleted.
  func delete(_ request: DeletionRequest) throws -> Int {
    try garage.prepareReferrerIndex()
    return try withWriteAccess { try $0.delete(request) }
  }
}

extension WriteAccess {
  func delete(_ request: DeletionRequest) throws -> Int {
    func isOf<T: Codable>(_ type: T.Type, _ key: StorageKey) throws -> Bool {
      try reading.isRecord(key, of: type, request.facts)
    }
    var keys: [StorageKey] = []
    for tag in request.facts.tags {
      let key = try garage.objectKeys.record(tag: tag, request.identifier)
      guard try transaction.contains(key) else { continue }
      // An object of another class is not the one that was asked for.
      if let type = request.type, try !isOf(type, key) { continue }
      keys.append(key)
    }
    if keys.isEmpty { throw nothing(request.facts.name, request.identifier) }
    var deletion = Deletion(self)
    try deletion.add(keys, request.rule)
    if request.isGraph { try deletion.addUnreached() }
    return try deletion.run()
  }

  /// Deletes records of a type by the rules of their objects' types.
  func delete(_ keys: [StorageKey], _ facts: RecordTypeFacts) throws {
    var deletion = Deletion(self)
    try deletion.addPresent(
      keys.flatMap { key in
        facts.tags.map { KeyLayout.record(tag: $0, sameIdentifierAs: key.bytes.span.bytes) }
      })
    _ = try deletion.run()
  }
}

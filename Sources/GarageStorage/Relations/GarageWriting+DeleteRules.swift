public import GarageCoding
internal import GarageDriver

// Deleting an object, and the effects on other objects.

extension GarageWriting {
  /// Deletes an object, and the objects that it owns (``DeleteRules``). `referrers` says what happens to the objects that refer
  /// to it.
  ///
  /// With an index of references (`Garage(…, referrers: .indexed)`) the referring objects are found fast. Without it, the
  /// references of all records are read.
  ///
  /// - Parameter referrers: the rule for the object itself, in place of the one that its type declares. The objects that it
  ///   owns follow the rules of their own types.
  /// - Throws: ``GarageError/failedToRetrieveObject(_:_:)`` if there is no such object;
  ///   ``GarageError/stillReferredTo(type:identifier:by:)``, which names an object that refers to it;
  ///   ``GarageError/invalidQuery(type:reason:)`` if it is not known where its owned objects are stored and it cannot be
  ///   decoded to find out, or if a type that has to be asked belongs to another actor;
  ///   ``GarageError/corruptRecord(type:identifier:reason:)`` if a damaged record may refer to it; ``GarageError/nestedWrite``,
  ///   ``GarageError/storage(_:)``. Nothing is changed then.
  public func delete<T: Codable>(_ object: T, referrers: ReferrersRule) throws {
    let parked = try garage.encoding { try ParkedObject(object, $0) }
    _ = try delete(DeletionRequest(parked, referrers))
  }

  /// Deletes the object of this type with this identifier, and the objects that it owns.
  ///
  /// - Throws: as ``delete(_:referrers:)``.
  public func delete<T: Codable & Identifiable>(
    _ type: T.Type, identifier: T.ID, referrers: ReferrersRule
  ) throws {
    let identifier = try garage.encoding { _ in try garage.identifier(of: type, identifier) }
    _ = try delete(DeletionRequest(type, identifier, referrers))
  }

  /// Deletes the object of this type with an identifier from ``GarageReading/identifier(for:)``, and the objects that it owns.
  ///
  /// - Throws: as ``delete(_:referrers:)``.
  public func delete<T: Codable>(_ type: T.Type, identifier: Identifier, referrers: ReferrersRule) throws {
    _ = try delete(DeletionRequest(type, identifier, referrers))
  }

  /// Deletes an object and all objects that are reached from it by references of any kind. Objects stay if they are also
  /// reached from values of typed keys, or from objects that are not reached from this one.
  ///
  /// The keys of all reached objects are held in memory. Types that were renamed must declare ``TypeTagged/formerTypeTags``, so
  /// that references by older names count.
  ///
  /// - Parameter referrers: what happens to the objects that refer to the object itself; nil for the rule of its type.
  /// - Returns: how many objects were deleted.
  /// - Throws: ``GarageError/corruptRecord(type:identifier:reason:)`` if a reached object is damaged, because it cannot be told
  ///   what it refers to; and as ``delete(_:referrers:)``.
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

  /// Deletes the object of this type with this identifier, and all objects that are reached from it and from nothing else.
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
  /// The type that was named; nil if the object itself was named.
  let type: (any Codable.Type)?
  /// What happens to the objects that refer to it; nil for the rule of its type.
  let rule: ReferrersRule?
  /// Whether all objects are deleted, too, that are reached only from this object.
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
  /// Whether a type, or one of its subclasses, has rules for the deletion of its objects.
  func followsDeleteRules(_ type: any Codable.Type) throws -> Bool {
    garage.followsDeleteRules(try translatingErrors { try RecordTypeFacts.of(type) })
  }

  /// Deletes an object by the rules. Returns how many objects were deleted.
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
      // An object of another class is not the one that was named.
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

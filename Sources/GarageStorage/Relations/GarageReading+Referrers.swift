public import GarageCoding
internal import GarageDriver

// Finding the objects that refer to an object. With an index of references (`Garage(…, referrers: .indexed)`) that takes time
// in proportion to the number found. Without it, the reference tables of all records are read, and nothing is decoded.

extension GarageReading {
  /// The objects that refer to an object, in the order of their types and identifiers. An object that refers to itself is
  /// included.
  ///
  /// The object itself need not exist. Values of typed keys that refer to it are not included. Nor is a record under a former
  /// tag whose object has one under a later tag of its type, as far as the program has used the type: the later one counts.
  ///
  /// - Throws: ``GarageError/missingConformance(_:)``, ``GarageError/unsupportedIDConformance(_:)``,
  ///   ``GarageError/corruptRecord(type:identifier:reason:)`` if all records are read and one is damaged,
  ///   ``GarageError/closed``, ``GarageError/storage(_:)``.
  public func referrers<T: Codable>(of object: T) throws -> [RecordIdentity] {
    try referrers(of: referred(object))
  }

  /// The objects that refer to the object of this type with this identifier.
  ///
  /// - Throws: as ``referrers(of:)-(T)``.
  public func referrers<T: Codable & Identifiable>(
    of type: T.Type, identifier: T.ID
  ) throws -> [RecordIdentity] {
    try referrers(of: referred(type, identifier))
  }

  /// The objects that refer to the object that a reference names.
  ///
  /// - Throws: as ``referrers(of:)-(T)``.
  public func referrers<T: Codable & Identifiable>(of reference: Reference<T>) throws -> [RecordIdentity] {
    try referrers(of: referred(reference))
  }

  /// Those who refer to the record with this identity, by whichever of the names of its type, present or former, as far as the
  /// program has used the type or the garage has it among its `types:`.
  ///
  /// - Throws: as ``referrers(of:)-(T)``.
  public func referrers(of identity: RecordIdentity) throws -> [RecordIdentity] {
    try referrers(of: referred(identity))
  }

  /// The objects of a type that refer to an object, in the order of their identifiers. For a class it also returns those of its
  /// subclasses.
  ///
  /// - Parameters:
  ///   - type: the type of the objects to be returned.
  ///   - object: the object that they refer to, which need not exist, or a ``Reference`` to it.
  ///   - property: the property by which they refer to it; nil for any property.
  /// - Throws: as ``referrers(of:)-(T)`` and ``retrieveAll(_:)``.
  public func retrieveReferrers<R: Codable, T: Codable>(_ type: R.Type, of object: T) throws -> [R] {
    try retrieveReferrers(type, of: referred(object), by: nil)
  }

  /// The objects of a type that refer to an object by one of their properties.
  ///
  /// - Throws: as ``retrieveReferrers(_:of:)-(_,T)``.
  public func retrieveReferrers<R: Codable, T: Codable, V: Codable>(
    _ type: R.Type, of object: T, by property: KeyPath<R, V>
  ) throws -> [R] {
    try retrieveReferrers(type, of: referred(object), by: ReferringProperty(property, name: nil))
  }

  /// The objects of a type that refer to the object of another type with this identifier.
  ///
  /// - Throws: as ``retrieveReferrers(_:of:)-(_,T)``.
  public func retrieveReferrers<R: Codable, T: Codable & Identifiable>(
    _ type: R.Type, of targetType: T.Type, identifier: T.ID
  ) throws -> [R] {
    try retrieveReferrers(type, of: referred(targetType, identifier), by: nil)
  }

  /// The objects of a type that refer by one of their properties to the object of another type with this identifier.
  ///
  /// - Throws: as ``retrieveReferrers(_:of:)-(_,T)``.
  public func retrieveReferrers<R: Codable, T: Codable & Identifiable, V: Codable>(
    _ type: R.Type, of targetType: T.Type, identifier: T.ID, by property: KeyPath<R, V>
  ) throws -> [R] {
    try retrieveReferrers(
      type, of: referred(targetType, identifier), by: ReferringProperty(property, name: nil))
  }

  /// How the objects that refer to another one are found: by the store's index of references, or by reading all records.
  ///
  /// - Throws: ``GarageError/closed``, ``GarageError/storage(_:)``.
  public func explainReferrers() throws -> QueryPlan {
    try garage.prepareReferrerIndex()
    return try withRepeatableReadAccess { try ReferrerSearch($0).plan }
  }
}

/// An object that others may refer to, whether it exists or not.
struct ReferredObject: Sendable {
  let identity: RecordIdentity
  /// The tags under which references may name it.
  let tags: [UInt64]
}

extension GarageReading {
  func referred(_ object: some Codable) throws -> ReferredObject {
    if let reference = object as? any LazyReference { return try referred(reference) }
    if let optional = object as? any OptionalObject, let reference = optional.object as? any LazyReference {
      return try referred(reference)
    }
    let parked = try garage.encoding { try ParkedObject(object, $0) }
    return ReferredObject(
      identity: RecordIdentity(tag: parked.facts.tag, identifier: parked.identifier), tags: parked.facts.tags)
  }

  func referred<T: Codable & Identifiable>(_ type: T.Type, _ identifier: T.ID) throws -> ReferredObject {
    try garage.encoding { _ in
      let facts = try RecordTypeFacts.of(type)
      let identifier = try garage.identifier(of: type, identifier)
      return ReferredObject(
        identity: RecordIdentity(tag: facts.tag, identifier: identifier), tags: facts.tags)
    }
  }

  func referred(_ reference: any LazyReference) throws -> ReferredObject {
    try garage.encoding { _ in
      let facts = try (type(of: reference).target as? any Codable.Type).map { try RecordTypeFacts.of($0) }
      return ReferredObject(identity: try reference.identity, tags: facts?.tags ?? [])
    }
  }

  func referred(_ identity: RecordIdentity) -> ReferredObject {
    ReferredObject(identity: identity, tags: garage.tags(ofTypesWithTag: identity.tag))
  }

  func referrers(of object: ReferredObject) throws -> [RecordIdentity] {
    try garage.prepareReferrerIndex()
    return try withRepeatableReadAccess { access in
      let targets = try access.keys(of: object.identity, object.tags)
      if targets.count == 1, let found = try ReferrerSearch(access).identities(referringTo: targets[0]) {
        return found
      }
      return try access.referrers(of: object).filter { try !access.isSuperseded($0) }
        .map { try access.identity(ofRecord: $0) }
    }
  }

  func retrieveReferrers<R: Codable>(
    _ type: R.Type, of object: ReferredObject, by property: ReferringProperty?
  ) throws -> [R] {
    try garage.prepareReferrerIndex()
    return try withRepeatableReadAccess { access in
      var objects: [R] = []
      try access.visitReferrers(type, of: object, by: property) { objects.append($0) }
      return objects
    }
  }
}

extension ReadAccess {
  /// The keys of the records that refer to an object, in their order.
  func referrers(of object: ReferredObject) throws -> [StorageKey] {
    let targets = try keys(of: object.identity, object.tags)
    var found: [StorageKey] = []
    try ReferrerSearch(self).forEachReferrer(ofAny: targets) { referrer, _ in
      found.append(referrer)
      return .continue
    }
    if targets.count == 1 { return found }
    // References may name the object under two tags.
    found.sort()
    var last: StorageKey?
    return found.filter { key in
      defer { last = key }
      return key != last
    }
  }

  /// Decodes the objects of a type that refer to an object.
  ///
  /// - Parameter property: the property by which they refer to it; nil for any property.
  func visitReferrers<R: Codable>(
    _ type: R.Type, of object: ReferredObject, by property: ReferringProperty?, _ visit: (R) throws -> Void
  ) throws {
    let facts = try RecordTypeFacts.of(type)
    var keys = try referrers(of: object).filter {
      facts.tags.contains(KeyLayout.tag(inRecordKey: $0.bytes.span.bytes))
    }
    if facts.tags.count > 1 {
      keys.sort {
        $0.bytes.dropFirst(KeyLayout.identifierOffset).lexicographicallyPrecedes(
          $1.bytes.dropFirst(KeyLayout.identifierOffset))
      }
    }
    let targets = Set(try self.keys(of: object.identity, object.tags))
    var references = property.map { PropertyReferences($0, self) }
    var rest = keys[...]
    let (session, source) = makeSessionAndSource()
    try visitRecords(withKeys: { rest.popFirst() }, source, isPrefetching: fetchesAhead) { key, record in
      guard try isCurrent(key, facts.tags), try refers(key, record, to: targets, by: &references) else {
        return nil as R?
      }
      return try decode(type, key, record, typeName: facts.name, session)
    } visit: {
      try visit($0)
    }
  }

  /// Whether a record refers to one of these targets by a property.
  private func refers(
    _ key: RawSpan, _ record: RawSpan, to targets: Set<StorageKey>, by references: inout PropertyReferences?
  ) throws -> Bool {
    guard let identities = try references?.identities(key, record, content(of: key, record)) else {
      return true
    }
    return try identities.contains {
      try targets.contains(garage.objectKeys.record(tag: $0.tag, $0.identifier))
    }
  }

  /// The content of a whole record, without its Swift type.
  ///
  /// - Throws: ``GraphCodingError`` if the record is damaged.
  func content(of key: RawSpan, _ record: RawSpan) throws -> RecordContent {
    let tag = KeyLayout.tag(inRecordKey: key)
    let typeName = try listedName(ofTag: tag)
    return try garage.objectKeys.withIdentifier(of: key, record, typeName: typeName) {
      try RecordContent(
        tag: tag, keyIdentifier: $0, record: record, typeName: typeName, shapeText: shapeText)
    }
  }
}

extension ReferrerSearch {
  /// How it finds the objects, in words.
  var plan: QueryPlan {
    guard let item else {
      return QueryPlan(
        description: """
          reads what all records refer to
          would read less with an index of references: Garage(…, referrers: .indexed)
          """,
        indexes: [], readsAllRecords: true)
    }
    let unsaved = isUnsaved ? "\nasks each record, because there are unsaved changes" : ""
    return QueryPlan(
      description: "reads the entries of the object in the index of references\(unsaved)",
      indexes: [item.name], readsAllRecords: false)
  }
}

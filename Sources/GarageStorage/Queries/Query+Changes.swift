internal import GarageCoding
internal import GarageDriver

// The ends of a query that change what is found.

extension Query {
  /// Deletes the objects found, all in one write; tells how many. What they refer to stays, unless their type has other rules
  /// (``DeleteRules``).
  ///
  /// - Throws: ``GarageError/invalidQuery(type:reason:)`` where the query was made by a ``GarageReader``, and as
  ///   ``retrieveAll()``.
  @discardableResult
  public func deleteAll() throws -> Int {
    let writer = try self.writer
    if try writer.followsDeleteRules(Root.self) { try writer.garage.prepareReferrerIndex() }
    return try writer.withWriteAccess { access in
      let keys = try QueryRun(self, access.reading).sortedKeys().all
      let facts = try RecordTypeFacts.of(Root.self)
      if access.garage.followsDeleteRules(facts) {
        try access.delete(keys, facts)
        return keys.count
      }
      try access.removeRecords(
        keys.flatMap { key in
          facts.tags.map { KeyLayout.record(tag: $0, sameIdentifierAs: key.bytes.span.bytes) }
        })
      return keys.count
    }
  }

  /// Changes the objects found and parks them again, all in one write; tells how many.
  ///
  /// `change` must leave what identifies an object as it is. It runs inside the write, so it must not change the garage
  /// by other ways. Which objects are found is settled before the first is changed. All of them are held until they are
  /// parked at once, so that values of unique indexes may go from one to another.
  ///
  /// - Throws: what `change` throws, which leaves the store as it was;
  ///   ``GarageError/unretrievableObject(type:identifier:reason:)`` where the identifier changed;
  ///   ``GarageError/invalidQuery(type:reason:)`` where the query was made by a ``GarageReader``; and as ``retrieveAll()`` and
  ///   ``GarageWriting/park(_:)-(T)``.
  @discardableResult
  public func updateAll(_ change: (inout Root) throws -> Void) throws -> Int {
    try writer.withWriteAccess { access in
      let keys = try QueryRun(self, access.reading).sortedKeys().all
      try access.update(Root.self, keys) { object in try passingErrors { try change(&object) } }
      return keys.count
    }
  }

  private var writer: any GarageWriting {
    get throws {
      guard let writer = reader as? any GarageWriting else {
        throw GarageError.invalidQuery(
          type: "\(Root.self)",
          reason: """
            cannot change them, because a GarageReader made it. Nothing was changed. Make it by the garage, or by the \
            writer inside of write { }.
            """)
      }
      return writer
    }
  }
}

extension WriteAccess {
  /// Changes the objects that these records hold, and parks them.
  fileprivate func update<T: Codable>(
    _ type: T.Type, _ keys: [StorageKey], _ change: (inout T) throws -> Void
  ) throws {
    let facts = try RecordTypeFacts.of(type)
    let reading = reading
    let (session, source) = reading.makeSessionAndSource()
    var objects: [T] = []
    var rest = keys[...]
    try reading.visitRecords(withKeys: { rest.popFirst() }, source, isPrefetching: reading.fetchesAhead) {
      key, record in
      try reading.decode(type, key, record, typeName: facts.name, session)
    } visit: { (found: T) in
      var object = found
      let before = try garage.encoder.identity(of: object)
      try change(&object)
      // A value that is identified by its content is another one now, and its record another's.
      let after = try garage.encoder.identity(of: object)
      guard after == before else {
        throw GarageError.unretrievableObject(
          type: facts.name, identifier: before.identifier.description,
          reason: try TypeDescription.of(type).identification == .digest
            ? "its content is what identifies it, and updateAll changed that: park the new value, and delete the old one"
            : "updateAll gave it another identifier: park it under the new one, and delete the old one")
      }
      objects.append(object)
    }
    try put(garage.encoder.encode(objects, dates: garage.dateEncodingStrategy))
  }
}

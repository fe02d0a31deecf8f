internal import GarageCoding
internal import GarageDriver

// The ends of a query that change the objects found.

extension Query {
  /// Deletes the objects found, all in one write. Returns how many there were. The objects that they refer to stay, unless
  /// their type has other rules (``DeleteRules``).
  ///
  /// - Throws: ``GarageError/invalidQuery(type:reason:)`` if the query was made by a ``GarageReader``, and as
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
      if facts.tags.count == 1 {
        try access.removeRecords(keys)
      } else {
        try access.removeRecords(
          keys.flatMap { key in
            facts.tags.map { KeyLayout.record(tag: $0, sameIdentifierAs: key.bytes.span.bytes) }
          })
      }
      return keys.count
    }
  }

  /// Changes the objects found and parks them again, all in one write. Returns how many there were.
  ///
  /// `change` must not change the identifier of an object. It runs inside the write, so it must not change the garage in other
  /// ways. Which objects are found is settled before the first one is changed. All of them are held until they are parked
  /// together, so values of unique indexes may pass from one to another.
  ///
  /// - Throws: the errors of `change`, which leave the store as it was;
  ///   ``GarageError/unretrievableObject(type:identifier:reason:)`` if an identifier changed;
  ///   ``GarageError/invalidQuery(type:reason:)`` if the query was made by a ``GarageReader``; and as ``retrieveAll()`` and
  ///   ``GarageWriting/park(_:)-(T)``.
  @discardableResult
  public func updateAll(_ change: (inout Root) throws -> Void) throws -> Int {
    try writer.withWriteAccess { access in
      var objects = try QueryRun(self, access.reading).allObjects()
      try access.change(&objects) { object in try passingErrors { try change(&object) } }
      try access.put(access.garage.encoder.encode(objects, dates: access.garage.dateEncodingStrategy))
      return objects.count
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

extension QueryRun {
  /// The objects found, in the order of the query. What they refer to is shared among them.
  fileprivate func allObjects() throws -> [Root] {
    var objects: [Root] = []
    if asksForMany || filter?.asksObjects ?? false {
      // What a record refers to is fetched along with it; and of objects that are asked those alone are held that are found.
      var rest = try sortedKeys().all[...]
      try access.visitRecords(
        withKeys: { rest.popFirst() }, source, isPrefetching: access.fetchesAhead,
        decode: { try object($0, $1) }, visit: { objects.append($0) })
      return objects
    }
    try forEachMatch(keepsObjects: true) { key, record, known in
      try withObject(key, record, known) { (object: consuming Root) in objects.append(object) }
      return .continue
    }
    return objects
  }
}

extension WriteAccess {
  /// Changes objects that are to keep their identifiers.
  fileprivate func change<T: Codable>(_ objects: inout [T], _ change: (inout T) throws -> Void) throws {
    let facts = try RecordTypeFacts.of(T.self)
    let encoder = garage.encoder
    for index in objects.indices {
      let before = try encoder.identity(ofRoot: objects[index])
      try change(&objects[index])
      // A value that is identified by its content would now be another value, with another record.
      let after = try encoder.identity(ofRoot: objects[index])
      guard after == before else {
        throw GarageError.unretrievableObject(
          type: facts.name, identifier: before.identifier.description,
          reason: try TypeDescription.of(T.self).identification == .digest
            ? "its content is what identifies it, and updateAll changed that: park the new value, and delete the old one"
            : "updateAll gave it another identifier: park it under the new one, and delete the old one")
      }
    }
  }
}

public import GarageCoding
internal import GarageDriver

extension Garage {
  /// The objects that no root reaches, in the order of their keys: by type, and by identifier within one.
  ///
  /// A root reaches itself, all that it refers to, and what that refers to in turn. Where a reference leads to an object
  /// that is not there, objects of the same identifier count as reached whatever their type, because types may have been
  /// renamed. Identities are returned as the records have them.
  ///
  /// One that is damaged, and whose key does not tell its identifier, since that is hidden or too long, cannot be named and is
  /// not among them: ``verify(progress:)`` reports it. ``collectGarbage(roots:along:progress:)`` deletes it with the others.
  ///
  /// Memory: the identifiers of all objects, and about 10 bytes for each.
  ///
  /// - Parameters:
  ///   - roots: where to begin. Values of typed keys count where ``GarageRoot/keys`` is among them.
  ///   - kinds: which references are followed; all by default.
  ///   - progress: is told every 1024 objects how far it is. An error that it throws ends the call, and so does cancelling the
  ///     task.
  /// - Throws: ``GarageError/corruptRecord(type:identifier:reason:)`` where an object that was reached is damaged, since nobody
  ///   knows what it refers to; ``GarageError/corruptValue(key:reason:)``, `CancellationError`, the errors of `progress`,
  ///   ``GarageError/closed``, ``GarageError/storage(_:)``.
  public func unreachable(
    from roots: [GarageRoot], along kinds: Set<ReferenceKind> = Set(ReferenceKind.allCases),
    progress: (CareProgress) throws -> Void = { _ in }
  ) throws -> [RecordIdentity] {
    try unreachable(from: roots, along: kinds, progress: progress) { _ in }
  }

  /// The same, where those that cannot be named are told of.
  ///
  /// - Throws: as ``unreachable(from:along:progress:)``, and what `onDamage` throws.
  package func unreachable(
    from roots: [GarageRoot], along kinds: Set<ReferenceKind> = Set(ReferenceKind.allCases),
    progress: (CareProgress) throws -> Void, onDamage: (GarageError) throws -> Void
  ) throws -> [RecordIdentity] {
    let (found, damages) = try withoutActuallyEscaping(progress) { progress in
      try withRepeatableReadAccess { access in
        var search = try Reachability(access, along: kinds, progress)
        var damages: [GarageError] = []
        let found = try access.identities(ofRecords: search.unreached(from: roots)) { damages.append($0) }
        return (found, damages)
      }
    }
    for damage in damages { try onDamage(damage) }
    return found
  }

  /// Deletes the objects that no root reaches. Those are what ``unreachable(from:along:progress:)`` lists, and damaged ones that
  /// it cannot name.
  ///
  /// Garbage is looked for before anything is locked. If there is some, it is looked for once more in the one transaction that
  /// deletes it, so that no object is deleted to which a reference was made meanwhile. Other writers wait for that long.
  ///
  /// - Parameters:
  ///   - roots: where to begin. Without ``GarageRoot/keys`` among them, what only typed keys refer to is garbage.
  ///   - kinds: which references are followed; all by default.
  ///   - progress: is told every 1024 objects how far it is, for each of the two searches. An error that it throws ends the
  ///     call, and so does cancelling the task: then nothing is deleted.
  /// - Returns: how many objects were deleted.
  /// - Throws: as ``unreachable(from:along:progress:)``, and ``GarageError/nestedWrite``; nothing is deleted then.
  @discardableResult
  public func collectGarbage(
    roots: [GarageRoot], along kinds: Set<ReferenceKind> = Set(ReferenceKind.allCases),
    progress: (CareProgress) throws -> Void = { _ in }
  ) throws -> Int {
    try withoutActuallyEscaping(progress) { progress in
      let isClean = try withRepeatableReadAccess { access in
        var search = try Reachability(access, along: kinds, progress)
        return try search.unreached(from: roots).isEmpty
      }
      if isClean { return 0 }
      return try withWriteAccess { access in
        var search = try Reachability(access.reading, along: kinds, progress)
        let garbage = try search.unreached(from: roots)
        try access.removeRecords(garbage)
        return garbage.count
      }
    }
  }
}

extension ReadAccess {
  /// The identity of the record with this key.
  ///
  /// - Throws: ``GraphCodingError`` where the record has to hold the identifier, and does not.
  func identity(ofRecord key: StorageKey) throws -> RecordIdentity {
    let bytes = key.bytes.span.bytes
    let keyForm = [UInt8](copying: bytes.extracting(KeyLayout.identifierOffset...))
    let tag = KeyLayout.tag(inRecordKey: bytes)
    if !garage.objectKeys.hidesIdentifiers, let identifier = Identifier(bytes: keyForm), !identifier.isCut {
      return RecordIdentity(tag: tag, identifier: identifier)
    }
    let whole = try transaction.withValue(for: bytes) { record -> Identifier? in
      guard let record else { return nil }
      return try garage.objectKeys.header(of: bytes, record, typeName: hexadecimal(tag)).wholeIdentifier
    }
    guard let whole else {
      throw GraphCodingError.corrupt(
        type: hexadecimal(tag), identifier: garage.objectKeys.identifierText(of: bytes, nil),
        reason: "it does not hold its identifier")
    }
    return RecordIdentity(tag: tag, identifier: whole)
  }
}

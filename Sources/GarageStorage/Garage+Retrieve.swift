public import GarageCoding
internal import GarageDriver

extension GarageReading {
  // MARK: One object

  /// The object of this type with this identifier, with everything it refers to; nil where there is none.
  ///
  /// Within one call every identity is decoded once: where two properties refer to one object of a class,
  /// both hold the same instance. What is returned belongs to the caller; no later change reaches it.
  ///
  /// - Throws: ``GarageError/corruptRecord(type:identifier:reason:)``,
  ///   ``GarageError/cycle(path:)``, ``GarageError/unregisteredClass(tag:type:identifier:)``, `DecodingError`
  ///   and other errors of `init(from:)`, ``GarageError/storage(_:)``.
  public func retrieve<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) throws -> T? {
    try withReadAccess { try $0.object(type, $0.identifier(of: type, identifier)) }
  }

  /// The object of this type with the identifier that ``identifier(for:)`` gave; nil where there is none.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  public func retrieve<T: Codable>(_ type: T.Type, identifier: Identifier) throws -> T? {
    try withReadAccess { try $0.object(type, identifier) }
  }

  /// The object that a reference names; nil where there is none.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  public func retrieve<T>(_ reference: Reference<T>) throws -> T? {
    try withReadAccess { access in
      let identity = try reference.identity
      return try access.object(T.self, identity.identifier, identity.tag)
    }
  }

  // MARK: All objects

  /// All objects of this type, in the order of their identifiers.
  ///
  /// Of a class, those of its subclasses too, which the garage has to know (`types:` when it is opened).
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``. One object that cannot be read makes the call throw:
  ///   ``forEach(_:_:)`` gets at those before it.
  public func retrieveAll<T: Codable>(_ type: T.Type) throws -> [T] {
    var objects: [T] = []
    try withReadAccess { access in
      try access.visitObjects(type, resetsSession: false) { objects.append($0) }
    }
    return objects
  }

  /// Calls `body` with one object of this type after another, in the order of their identifiers.
  ///
  /// All are of one state of the store, that of the beginning; changes made meanwhile, also by `body` through
  /// the garage, are not seen. Memory stays bounded however many there are: objects that several others refer
  /// to are shared among neighbours only. An engine's files may grow as long as the call runs.
  ///
  /// On a ``GarageWriter`` it visits the objects that were there at the beginning, each as it is when its turn
  /// comes, so `body` may park and delete through the writer. All their keys are held in memory then.
  ///
  /// - Throws: what `body` throws, which ends the call, and as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  public func forEach<T: Codable>(_ type: T.Type, _ body: (T) throws -> Void) throws {
    try withReadAccess { access in
      try access.visitObjects(type, resetsSession: true) { object in try passingErrors { try body(object) } }
    }
  }

  // MARK: Without decoding

  /// Whether there is an object of this type with this identifier.
  ///
  /// - Throws: ``GarageError/unsupportedIDConformance(_:)``, ``GarageError/storage(_:)``.
  public func contains<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) throws -> Bool {
    try withReadAccess { try $0.recordKey(type, $0.identifier(of: type, identifier)) != nil }
  }

  /// Whether there is an object of this type with the identifier that ``identifier(for:)`` gave.
  ///
  /// - Throws: ``GarageError/storage(_:)``.
  public func contains<T: Codable>(_ type: T.Type, identifier: Identifier) throws -> Bool {
    try withReadAccess { try $0.recordKey(type, identifier) != nil }
  }

  /// How many objects of this type there are. Takes time in proportion to that number.
  ///
  /// - Throws: ``GarageError/storage(_:)``; for a subclass also
  ///   ``GarageError/unregisteredClass(tag:type:identifier:)`` where it cannot be told whether a record is one
  ///   of that class.
  public func count<T: Codable>(_ type: T.Type) throws -> Int {
    try withReadAccess { try $0.count(type) }
  }

  /// What identifies this object among those of its type: its `id`, or the digest of a `Hashable` value.
  ///
  /// The same value has the same identifier in every process.
  ///
  /// - Throws: ``GarageError/missingConformance(_:)``, ``GarageError/unsupportedIDConformance(_:)``, and what
  ///   `encode(to:)` throws.
  public func identifier<T: Codable>(for object: T) throws -> Identifier {
    try translatingErrors { try garage.encoder.identity(of: object).identifier }
  }
}

// MARK: - Decoding

extension ReadAccess {
  /// Decodes one object. `tag` is the identity tag where it is not the type's present one.
  func object<T: Codable>(_ type: T.Type, _ identifier: Identifier, _ tag: UInt64? = nil) throws -> T? {
    let description = try TypeDescription.of(type)
    let session = makeSession().0
    let isRenamed = !description.formerTags.isEmpty || (tag ?? description.identityTag.digest) != description.identityTag.digest
    guard isRenamed else {
      return try session.object(type, RecordIdentity(tag: description.identityTag.digest, identifier: identifier))
    }
    for tag in description.tagDigests + (tag.map { [$0] } ?? []) {
      let isThere = try transaction.withValue(for: KeyLayout.record(tag: tag, identifier)) { $0 != nil }
      if isThere { return try session.object(type, RecordIdentity(tag: tag, identifier: identifier)) }
    }
    return nil
  }

  /// Decodes all objects of a type, in the order of their identifiers.
  func visitObjects<T: Codable>(_ type: T.Type, resetsSession: Bool, _ visit: (T) throws -> Void) throws {
    let (session, source) = makeSession()
    var limit = SessionLimit()
    func decode(_ key: RawSpan, _ record: RawSpan) throws -> T? {
      if resetsSession, limit.isReached(session, source) { session.reset() }
      source.countRecord(record.byteCount)
      return try session.object(
        type, tag: KeyLayout.tag(inRecordKey: key),
        keyIdentifier: key.extracting(KeyLayout.identifierOffset..<key.byteCount), record: record)
    }

    let tags = try presentTags(of: TypeDescription.of(type))
    if tags.count == 1 && !isWriting {
      try transaction.scan(KeyLayout.records(tag: tags[0]), .forward) { key, record in
        if let object = try decode(key, record) { try visit(object) }
        return .continue
      }
      return
    }
    func visitRecord(_ key: StorageKey) throws {
      let keyBytes = key.bytes.span.bytes
      let object = try transaction.withValue(for: keyBytes) { record in
        guard let record else { return nil as T? }
        return try decode(keyBytes, record)
      }
      // No bytes are lent any more: `visit` may change what it can change.
      if let object { try visit(object) }
    }
    var keys = RecordKeys(tags, in: transaction)
    if isWriting {
      var all: [StorageKey] = []
      while let key = try keys.next() { all.append(key) }
      for key in all { try visitRecord(key) }
    } else {
      while let key = try keys.next() { try visitRecord(key) }
    }
  }

  private func makeSession() -> (GraphDecodingSession, TransactionSource) {
    let source = TransactionSource(transaction, texts: garage.texts)
    let session = GraphDecodingSession(
      source: source, types: garage.types.registered, userInfo: garage.userInfo)
    return (session, source)
  }

  /// Says when a session that goes through many objects has to let go of those it holds.
  private struct SessionLimit {
    private static let objectCount = 10_000
    private static let byteCount = 8 << 20
    private var bytesBefore = 0

    mutating func isReached(_ session: GraphDecodingSession, _ source: TransactionSource) -> Bool {
      let bytes = source.recordByteCount - bytesBefore
      guard session.objectCount > SessionLimit.objectCount || bytes > SessionLimit.byteCount else { return false }
      bytesBefore = source.recordByteCount
      return true
    }
  }
}

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
  @inlinable
  public func retrieve<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) throws -> T? {
    // Inlined, so that what follows the decoding is done by code that knows the type. Out through a variable: each generic layer below that returns a `T?` looks its metadata up.
    var object: T?
    try withReadAccess { try $0.find(type, id: identifier) { object = $0 } }
    return object
  }

  /// The object of this type with the identifier that ``identifier(for:)`` gave; nil where there is none.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  public func retrieve<T: Codable>(_ type: T.Type, identifier: Identifier) throws -> T? {
    try withReadAccess { try $0.object(type, identifier) }
  }

  /// The object that a reference names; nil where there is none.
  ///
  /// A reference that was read where its object stood inline gives that object, until it is parked and so has a record
  /// of its own.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  public func retrieve<T: Codable & Identifiable>(_ reference: Reference<T>) throws -> T? {
    try withReadAccess { access in
      let identity = try reference.identity
      if let object = try access.object(T.self, identity.identifier, identity.tag) { return object }
      return try reference.standing.flatMap { try access.object(T.self, standing: $0) }
    }
  }

  // MARK: All objects

  /// All objects of this type, in the order of their identifiers.
  ///
  /// Of a class, those of its subclasses too, which the garage has to know (`types:` when it is opened).
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``. One object that cannot be read makes the call throw:
  ///   ``retrieveAll(_:onError:)`` leaves it out.
  @inlinable
  public func retrieveAll<T: Codable>(_ type: T.Type) throws -> [T] {
    // Inlined for the same reason as `retrieve`.
    var objects: [T] = []
    try withReadAccess { access in
      try access.visitObjects(type, inOneSession: true) { object in objects.append(object) }
    }
    return objects
  }

  /// Calls `body` with one object of this type after another, in the order of their identifiers.
  ///
  /// All are of one state of the store, that of the beginning; changes made meanwhile, also by `body` through
  /// the garage, are not seen. Memory stays bounded however many there are, by about 10 000 objects or twice
  /// what a single one reaches: objects that several others refer to are shared among neighbours only. An
  /// engine's files may grow as long as the call runs.
  ///
  /// On a ``GarageWriter`` it visits the objects that were there at the beginning, each as it is when its turn
  /// comes, so `body` may park and delete through the writer. All their keys are held in memory then, and
  /// objects are shared within what one of them refers to.
  ///
  /// - Throws: what `body` throws, which ends the call, and as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  public func forEach<T: Codable>(_ type: T.Type, _ body: (T) throws -> Void) throws {
    try withReadAccess { access in
      try access.visitObjects(type, inOneSession: false) { object in try passingErrors { try body(object) } }
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
  /// - Throws: ``GarageError/closed``, ``GarageError/missingConformance(_:)``,
  ///   ``GarageError/unsupportedIDConformance(_:)``, and what `encode(to:)` throws.
  public func identifier<T: Codable>(for object: T) throws -> Identifier {
    try garage.checkOpen()
    return try translatingErrors { try garage.encoder.identity(of: codable(object)).identifier }
  }
}

// MARK: - Decoding

extension ReadAccess {
  /// Decodes the object with that `id` and hands it to `found`, where there is one.
  @usableFromInline
  func find<T: Codable & Identifiable>(
    _ type: T.Type, id: T.ID, _ found: (consuming T) throws -> Void
  ) throws {
    let stored = try StoredType.of(type)
    var isDone = false
    if stored.tags.count == 1 && !fetchesAhead {
      isDone = try stored.withShortIdentifier(of: id) { try find(type, stored.tag, $0, found) }
    }
    if isDone { return }
    if let object = try object(type, identifier(of: type, id)) { try found(object) }
  }

  /// The same where its record can be under one key only, whose identifier is given as keys hold it, uncut.
  ///
  /// Most objects refer to nothing. Decoded from the bytes at hand, they need no place in a graph.
  private func find<T: Codable>(
    _ type: T.Type, _ tag: UInt64, _ identifier: RawSpan, _ found: (consuming T) throws -> Void
  ) throws {
    let source = takeSource()
    defer { garage.idleSource.giveBack(source) }
    try find(type, tag, identifier, source, found)
  }

  @inline(never)
  private func find<T: Codable>(
    _ type: T.Type, _ tag: UInt64, _ identifier: RawSpan, _ source: Unmanaged<TransactionSource>,
    _ found: (consuming T) throws -> Void
  ) throws {
    // It gives its reference to the source back when this call returns.
    let session = makeSession(source.takeUnretainedValue())
    try garage.objectKeys.withRecordKey(tag: tag, identifier) { key in
      try transaction.withValue(for: key) { record in
        guard let record else { return }
        beginDecoding()
        defer { endDecoding() }
        try session.visit(type, tag: tag, keyIdentifier: identifier, record: record, found)
      }
    }
  }

  /// Decodes one object. `tag` is the identity tag where it is not the type's present one.
  func object<T: Codable>(_ type: T.Type, _ identifier: Identifier, _ tag: UInt64? = nil) throws -> T? {
    let stored = try StoredType.of(type)
    let (session, source) = makeSession()
    func object(_ tag: UInt64) throws -> T? {
      if fetchesAhead { try source.prefetch(garage.objectKeys.record(tag: tag, identifier)) }
      return try decoding { try session.object(type, RecordIdentity(tag: tag, identifier: identifier)) }
    }
    if stored.tags.count == 1 && (tag == nil || tag == stored.tag) { return try object(stored.tag) }
    for tag in stored.tags + (tag.map { [$0] } ?? []) {
      let key = try garage.objectKeys.record(tag: tag, identifier)
      let isThere = try transaction.contains(key)
      if isThere { return try object(tag) }
    }
    return nil
  }

  /// Decodes all objects of a type, in the order of their identifiers.
  ///
  /// - Parameter inOneSession: whether all are held, and shared, to the end. Else `visit` may be users' code,
  ///   which changes what the transaction can change.
  @usableFromInline
  func visitObjects<T: Codable>(
    _ type: T.Type, inOneSession: Bool, _ visit: (consuming T) throws -> Void
  ) throws {
    let (session, source) = makeSession()
    var limit = SessionLimit()
    let mayChange = isWriting && !inOneSession
    let stored = try StoredType.of(type)
    let tags = try presentTags(of: stored)
    if tags.count == 1 && !mayChange && !fetchesAhead {
      // The usual case. Objects are handed on where they are decoded: each generic layer costs. `visit` changes nothing.
      beginDecoding()
      defer { endDecoding() }
      return try transaction.scan(KeyLayout.records(tag: tags[0]), .forward) { key, record in
        if !inOneSession { limit.resetIfReached(session, source) }
        source.countRecord(record.byteCount)
        try garage.objectKeys.withIdentifier(of: key, record, typeName: stored.name) { identifier in
          try session.visit(type, tag: tags[0], keyIdentifier: identifier, record: record, visit)
        }
        return .continue
      }
    }
    try visitRecords(tags, source, mayChange: mayChange) { key, record in
      if !inOneSession {
        // A writer's objects may have changed since they were decoded behind another one.
        if mayChange { session.reset() } else { limit.resetIfReached(session, source) }
      }
      source.countRecord(record.byteCount)
      return try garage.objectKeys.withIdentifier(of: key, record, typeName: stored.name) { identifier in
        try decoding {
          try session.object(
            type, tag: KeyLayout.tag(inRecordKey: key), keyIdentifier: identifier, record: record)
        }
      }
    } visit: {
      try visit($0)
    }
  }

  /// Lends the records of a type to `decode`, one after another, and what that returned to `visit`.
  func visitRecords<T>(
    _ tags: [UInt64], _ source: TransactionSource, mayChange: Bool,
    decode: (RawSpan, RawSpan) throws -> T?, visit: (consuming T) throws -> Void
  ) throws {
    var keys = RecordKeys(tags, in: transaction)
    // What is visited must not depend on what `visit` changes.
    var all: [StorageKey] = []
    if mayChange { while let key = try keys.next() { all.append(key) } }
    var rest = all[...]
    func nextKey() throws -> StorageKey? { mayChange ? rest.popFirst() : try keys.next() }
    try visitRecords(nextKey, source, fetchingAhead: fetchesAhead && !mayChange, decode: decode, visit: visit)
  }

  /// The same for the records with these keys.
  func visitRecords<T>(
    _ nextKey: () throws -> StorageKey?, _ source: TransactionSource, fetchingAhead: Bool,
    decode: (RawSpan, RawSpan) throws -> T?, visit: (T) throws -> Void
  ) throws {
    if fetchingAhead {
      try visitBlocks(nextKey, source, decode: decode, visit: visit)
    } else {
      while let key = try nextKey() {
        let keyBytes = key.bytes.span.bytes
        let object = try transaction.withValue(for: keyBytes) { record in
          guard let record else { return nil as T? }
          return try decode(keyBytes, record)
        }
        // No bytes are lent any more: `visit` may change what it can change.
        if let object { try visit(object) }
      }
    }
  }

  /// The same in few round trips: a block of records at a time, and then all that these refer to.
  private func visitBlocks<T>(
    _ nextKey: () throws -> StorageKey?, _ source: TransactionSource,
    decode: (RawSpan, RawSpan) throws -> T?, visit: (consuming T) throws -> Void
  ) throws {
    while true {
      var keys: [StorageKey] = []
      while keys.count < 256, let key = try nextKey() { keys.append(key) }
      if keys.isEmpty { return }
      var records: [(key: StorageKey, record: [UInt8])] = []
      try transaction.withValues(for: keys) { index, record in
        if let record { records.append((keys[index], [UInt8](copying: record))) }
      }
      try source.prefetch(behind: records)
      for (key, record) in records {
        let (key, record) = (key.bytes, record)
        if let object = try decode(key.span.bytes, record.span.bytes) { try visit(object) }
      }
    }
  }

  /// Whether records are fetched before the decoder asks for them.
  var fetchesAhead: Bool { garage.store.roundTripsAreExpensive }

  func makeSession() -> (GraphDecodingSession, TransactionSource) {
    let source = TransactionSource(transaction, texts: garage.texts, keys: garage.objectKeys)
    return (makeSession(source), source)
  }

  private func makeSession(_ source: TransactionSource) -> GraphDecodingSession {
    let session = GraphDecodingSession(
      source: source, types: garage.types.registered, userInfo: garage.userInfo,
      dates: garage.dateDecodingStrategy)
    session.nameHolders()
    return session
  }

  private func takeSource() -> Unmanaged<TransactionSource> {
    guard let source = garage.idleSource.take() else {
      return .passRetained(TransactionSource(transaction, texts: garage.texts, keys: garage.objectKeys))
    }
    source._withUnsafeGuaranteedRef { $0.begin(transaction) }
    return source
  }
}

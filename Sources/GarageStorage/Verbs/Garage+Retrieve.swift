public import GarageCoding
internal import GarageDriver

extension GarageReading {
  // MARK: One object

  /// The object of this type with this identifier, with everything it refers to; nil if there is none.
  ///
  /// One call decodes each identity once. If two properties refer to one object of a class, both hold the same instance. The
  /// returned object belongs to the caller; later changes of the store do not change it.
  ///
  /// - Throws: ``GarageError/corruptRecord(type:identifier:reason:)``,
  ///   ``GarageError/cycle(path:)``, ``GarageError/unregisteredClass(tag:type:identifier:)``, `DecodingError`
  ///   and other errors of `init(from:)`, ``GarageError/storage(_:)``.
  @inlinable
  public func retrieve<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) throws -> T? {
    // Inlined, so that the work after decoding is done by code that knows the type. The object is passed out through a
    // variable, because each generic layer below that returns a `T?` looks up its metadata.
    var object: T?
    try withRepeatableReadAccess { try $0.visitObject(type, id: identifier) { object = $0 } }
    return object
  }

  /// The object of this type with an identifier from ``identifier(for:)``; nil if there is none.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  public func retrieve<T: Codable>(_ type: T.Type, identifier: Identifier) throws -> T? {
    try withRepeatableReadAccess { try $0.object(type, identifier) }
  }

  /// The object that a reference names; nil if there is none.
  ///
  /// A reference may have been read where its object stood inline. It then gives that object, until the object is parked and so
  /// has a record of its own.
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
  public func retrieve<T: Codable & Identifiable>(_ reference: Reference<T>) throws -> T? {
    try withRepeatableReadAccess { try $0.object(of: reference) }
  }

  // MARK: All objects

  /// All objects of this type, in the order of their identifiers.
  ///
  /// For a class it also returns the objects of its subclasses, which the garage must know (`types:` when it is opened).
  ///
  /// - Throws: as ``retrieve(_:identifier:)-(T.Type,T.ID)``. One object that cannot be read makes the whole call throw;
  ///   ``retrieveAll(_:onError:)`` leaves such objects out.
  @inlinable
  public func retrieveAll<T: Codable>(_ type: T.Type) throws -> [T] {
    // Inlined for the same reason as `retrieve`.
    var objects: [T] = []
    try withRepeatableReadAccess { access in
      objects = []
      try access.makeRoom(in: &objects)
      try access.visitObjects(type, inOneSession: true) { (object: consuming T) in objects.append(object) }
      try access.noteCount(of: &objects)
    }
    return objects
  }

  /// Calls `body` with one object of this type after another, in the order of their identifiers.
  ///
  /// All objects are of one state of the store, that of the beginning. Changes made meanwhile, also those that `body` makes
  /// through the garage, are not seen. Memory is bounded, however many objects there are: by about 10 000 objects, or by twice
  /// as many as a single object reaches. Objects that several others refer to are shared among neighbours only. An engine's
  /// files may grow as long as the call runs.
  ///
  /// A ``GarageWriter`` visits the objects that were there at the beginning, each as it is when its turn comes. So `body` may
  /// park and delete through the writer. All their keys are then held in memory, and two objects do not share what they refer
  /// to.
  ///
  /// - Throws: the errors of `body`, which end the call, and as ``retrieve(_:identifier:)-(T.Type,T.ID)``.
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
    try withRepeatableReadAccess { try $0.storageKey(of: type, $0.identifier(of: type, identifier)) != nil }
  }

  /// Whether there is an object of this type with an identifier from ``identifier(for:)``.
  ///
  /// - Throws: ``GarageError/storage(_:)``.
  public func contains<T: Codable>(_ type: T.Type, identifier: Identifier) throws -> Bool {
    try withRepeatableReadAccess { try $0.storageKey(of: type, identifier) != nil }
  }

  /// The number of objects of this type. Takes time in proportion to that number.
  ///
  /// - Throws: ``GarageError/storage(_:)``; for a subclass also ``GarageError/unregisteredClass(tag:type:identifier:)`` if it
  ///   cannot be told whether a record is of that class.
  public func count<T: Codable>(_ type: T.Type) throws -> Int {
    try withRepeatableReadAccess { try $0.count(type) }
  }

  /// Identifies this object among the objects of its type: by its `id`, or by a digest of a `Hashable` value.
  ///
  /// Equal values have the same identifier in every process.
  ///
  /// - Throws: ``GarageError/closed``, ``GarageError/missingConformance(_:)``, ``GarageError/unsupportedIDConformance(_:)``,
  ///   and the errors of `encode(to:)`.
  public func identifier<T: Codable>(for object: T) throws -> Identifier {
    try garage.encoding { try $0.identity(of: codable(object)).identifier }
  }
}

// MARK: - Decoding one object

extension ReadAccess {
  /// Decodes the object with that `id` and passes it to `found`, if there is one.
  @usableFromInline
  func visitObject<T: Codable & Identifiable>(
    _ type: T.Type, id: T.ID, _ found: (consuming T) throws -> Void
  ) throws {
    try visitObject(type, id: id, onlyLone: false, found)
  }

  /// Decodes the object with that `id`, if it refers to no other object.
  ///
  /// - Throws: ``RefersToOthers``, before anything is decoded, if it does.
  @usableFromInline
  func visitLoneObject<T: Codable & Identifiable>(
    _ type: T.Type, id: T.ID, _ found: (consuming T) throws -> Void
  ) throws {
    try visitObject(type, id: id, onlyLone: true, found)
  }

  /// Decodes the object with that `id` and passes it to `found`, if there is one.
  ///
  /// - Parameter onlyLone: whether to throw ``RefersToOthers``, before anything is decoded, if the record refers to others.
  @inline(__always)
  func visitObject<T: Codable & Identifiable>(
    _ type: T.Type, id: T.ID, onlyLone: Bool, _ found: (consuming T) throws -> Void
  ) throws {
    let facts = try RecordTypeFacts.of(type)
    let isShort = try facts.withShortIdentifier(of: id) {
      try visitRecord(type, facts, facts.tags, $0, onlyLone: onlyLone, found)
    }
    if isShort { return }
    try visitObject(type, identifier(of: type, id), onlyLone: onlyLone, found)
  }

  /// Does the same for the object with that identifier.
  func visitObject<T: Codable>(
    _ type: T.Type, _ identifier: Identifier, onlyLone: Bool, _ found: (consuming T) throws -> Void
  ) throws {
    let facts = try RecordTypeFacts.of(type)
    let keyForm = identifier.keyBytes
    try visitRecord(
      type, facts, facts.tags, keyForm.span.bytes, whole: identifier.isCut ? identifier : nil,
      onlyLone: onlyLone, found)
  }

  /// Decodes the object that a reference names; nil if there is none.
  func object<T: Codable & Identifiable>(of reference: Reference<T>) throws -> T? {
    let identity = try reference.identity
    if let object = try object(T.self, identity.identifier, tag: identity.tag) { return object }
    return try reference.inlineTarget.flatMap { try inlineObject(T.self, $0) }
  }

  /// Decodes the object with that identifier; nil if there is none.
  ///
  /// - Parameter tag: the tag of the identity, if it may differ from the type's tag.
  func object<T: Codable>(_ type: T.Type, _ identifier: Identifier, tag: UInt64? = nil) throws -> T? {
    let facts = try RecordTypeFacts.of(type)
    var tags = facts.tags
    if let tag, !tags.contains(tag) { tags.append(tag) }
    let keyForm = identifier.keyBytes
    let whole = identifier.isCut ? identifier : nil
    var object: T?
    try visitRecord(type, facts, tags, keyForm.span.bytes, whole: whole) { object = $0 }
    return object
  }

  /// Decodes the first record that exists under one of these tags. Passes its object to `found`, unless the object is of
  /// another class.
  ///
  /// - Parameters:
  ///   - identifier: in the form that it has in keys.
  ///   - whole: the whole identifier, if the form in keys is cut. The record then holds it.
  private func visitRecord<T: Codable>(
    _ type: T.Type, _ facts: RecordTypeFacts, _ tags: [UInt64], _ identifier: RawSpan,
    whole: Identifier? = nil, onlyLone: Bool = false,
    _ found: (consuming T) throws -> Void
  ) throws {
    for tag in tags {
      var isThere = false
      try garage.objectKeys.withStorageKey(tag: tag, identifier) { key in
        try transaction.withValue(for: key) { record in
          guard let record else { return }
          isThere = true
          if onlyLone, RecordSummary.uncheckedRefersToOthers(record) { throw RefersToOthers() }
          if let whole { try garage.objectKeys.check(whole, key, record, typeName: facts.name) }
          try garage.idleSource.withSource(on: transaction, of: garage) { source in
            if fetchesAhead { try source.prefetch(behind: [(StorageKey(key), [UInt8](copying: record))]) }
            try decodeRoot(type, facts, tag, identifier, record, source, found)
          }
        }
      }
      if isThere { return }
    }
  }

  /// Not inlined: when this call has returned, the session has released its reference to the source.
  @inline(never)
  private func decodeRoot<T: Codable>(
    _ type: T.Type, _ facts: RecordTypeFacts, _ tag: UInt64, _ identifier: RawSpan, _ record: RawSpan,
    _ source: TransactionSource, _ found: (consuming T) throws -> Void
  ) throws {
    let session = makeSession(source)
    beginDecoding()
    defer { endDecoding() }
    try session.visit(type, facts.ofCoder, tag: tag, keyIdentifier: identifier, record: record, found)
  }
}

// MARK: - Decoding all objects

extension ReadAccess {
  /// Decodes all objects of a type, in the order of their identifiers.
  ///
  /// - Parameter inOneSession: whether all objects are held, and shared, to the end. If not, `visit` may be users' code that
  ///   changes what the transaction can change.
  @usableFromInline
  func visitObjects<T: Codable>(
    _ type: T.Type, inOneSession: Bool, _ visit: (consuming T) throws -> Void
  ) throws {
    let (session, source) = makeSessionAndSource()
    // Records that were fetched ahead along with a block serve the links in that block, so each block is completed by itself.
    let isCompletedTogether = inOneSession && !fetchesAhead
    if isCompletedTogether { session.completeLater() }
    if !isWriting, !fetchesAhead, source.readsAhead { session.readAhead(by: source.readAhead) }
    var limit = SessionLimit()
    let mayChange = isWriting && !inOneSession
    let facts = try RecordTypeFacts.of(type)
    let tags = try presentTags(of: facts)
    if tags.count == 1 && !mayChange && !fetchesAhead {
      // The usual case. Objects are passed on in the place where they are decoded, because each generic layer costs time.
      // `visit` changes nothing here.
      beginDecoding()
      defer { endDecoding() }
      // Objects of other classes are skipped before anything is decoded.
      let question =
        facts.sharesSpaceWithSuperclass ? RecordQuestion(.ofAny(), type, facts, garage, source) : nil
      let ahead = ReadingAhead(type, facts, tag: tags[0], session, areAllHeld: inOneSession)
      try transaction.scan(KeyLayout.records(tag: tags[0]), .forward) { key, record in
        if let question, try isOfAnotherClass(key, record, facts, question) { return .continue }
        if !inOneSession {
          try ahead.makeRoom(for: record, visit)
          if !session.isHolding { limit.resetIfReached(session, source) }
        }
        source.countRecord(record.byteCount)
        try garage.objectKeys.withIdentifier(of: key, record, typeName: facts.name) { identifier in
          try ahead.visit(identifier, record, visit)
        }
        return .continue
      }
      try ahead.finish(visit)
      return isCompletedTogether ? try session.completeTogether() : ()
    }
    func decoded(_ key: RawSpan, _ record: RawSpan) throws -> T? {
      if !inOneSession {
        // A writer may have changed objects since they were decoded along with another object.
        if mayChange { session.reset() } else { limit.resetIfReached(session, source) }
      }
      source.countRecord(record.byteCount)
      return try decode(type, key, record, typeName: facts.name, session)
    }
    if tags.count == 1 && !mayChange {
      return try visitBlocks(
        of: KeyLayout.records(tag: tags[0]), source, areAllHeld: inOneSession, decode: decoded, visit: visit)
    }
    try visitRecords(of: facts, under: tags, source, mayChange: mayChange, decode: decoded) { try visit($0) }
    if isCompletedTogether { try decoding { try session.completeTogether() } }
  }

  private func isOfAnotherClass(
    _ key: RawSpan, _ record: RawSpan, _ facts: RecordTypeFacts, _ question: RecordQuestion
  ) throws -> Bool {
    try garage.objectKeys.withIdentifier(of: key, record, typeName: facts.name) { identifier in
      try question.answer(tag: KeyLayout.tag(inRecordKey: key), keyIdentifier: identifier, record: record)
        == .no
    }
  }

  /// Decodes the record with this key, both lent by a scan; nil if it is of another class.
  func decode<T: Codable>(
    _ type: T.Type, _ key: RawSpan, _ record: RawSpan, typeName: String, _ session: GraphDecodingSession
  ) throws -> T? {
    try garage.objectKeys.withIdentifier(of: key, record, typeName: typeName) { identifier in
      beginDecoding()
      defer { endDecoding() }
      return try session.object(
        type, tag: KeyLayout.tag(inRecordKey: key), keyIdentifier: identifier, record: record)
    }
  }

  /// Lends the records of a type under these tags to `decode`, one after another, and passes each result to `visit`.
  func visitRecords<T>(
    of facts: RecordTypeFacts, under tags: [UInt64], _ source: TransactionSource, mayChange: Bool,
    decode: (RawSpan, RawSpan) throws -> T?, visit: (consuming T) throws -> Void
  ) throws {
    var keys = RecordKeyCursor(tags, in: transaction)
    // The keys are collected first, because `visit` may make changes, and the visited objects must not depend on these.
    var all: [StorageKey] = []
    if mayChange { while let key = try keys.next() { all.append(key) } }
    var rest = all[...]
    func nextKey() throws -> StorageKey? {
      mayChange ? try rest.popFirst().map { try presentKey(of: $0, facts) } : try keys.next()
    }
    try visitRecords(
      withKeys: nextKey, source, isPrefetching: fetchesAhead && !mayChange, decode: decode, visit: visit)
  }

  /// Does the same for the records with these keys.
  func visitRecords<T>(
    withKeys nextKey: () throws -> StorageKey?, _ source: TransactionSource, isPrefetching: Bool,
    decode: (RawSpan, RawSpan) throws -> T?, visit: (T) throws -> Void
  ) throws {
    if isPrefetching {
      try visitPrefetchedRecords(withKeys: nextKey, source, decode: decode, visit: visit)
    } else {
      while let key = try nextKey() {
        let keyBytes = key.bytes.span.bytes
        let object = try transaction.withValue(for: keyBytes) { record in
          guard let record else { return nil as T? }
          return try decode(keyBytes, record)
        }
        // No bytes are lent any more, so `visit` may make changes.
        if let object { try visit(object) }
      }
    }
  }

  /// Does the same in few round trips: reads a block of records at a time, then all records that these refer to. Copies a few
  /// mebibytes of records at a time. `visit` must not make changes, because a block may still be lent.
  private func visitPrefetchedRecords<T>(
    withKeys nextKey: () throws -> StorageKey?, _ source: TransactionSource,
    decode: (RawSpan, RawSpan) throws -> T?, visit: (consuming T) throws -> Void
  ) throws {
    var blockCount = 128
    while true {
      // The blocks grow, because each costs at least one round trip.
      blockCount = min(blockCount * 2, 1024)
      var keys: [StorageKey] = []
      while keys.count < blockCount, let key = try nextKey() { keys.append(key) }
      if keys.isEmpty { return }
      var records: [(key: StorageKey, record: [UInt8])] = []
      var byteCount = 0
      func visitCopies() throws {
        try source.prefetch(behind: records)
        for (key, record) in records {
          let (key, record) = (key.bytes, record)
          if let object = try decode(key.span.bytes, record.span.bytes) { try visit(object) }
        }
        records.removeAll(keepingCapacity: true)
        byteCount = 0
      }
      try transaction.withValues(for: keys) { index, record in
        guard let record else { return }
        records.append((keys[index], [UInt8](copying: record)))
        byteCount += record.byteCount
        // A block of large records is not copied as a whole.
        if byteCount >= 4 << 20 { try visitCopies() }
      }
      if !records.isEmpty { try visitCopies() }
    }
  }

  /// Lends `decode` the records in a range, as they come from a scan: a block at a time, with all records that these refer to.
  /// The records before the first one that refers to others need no further records, and are not collected.
  ///
  /// - Parameters:
  ///   - areAllHeld: whether objects that were decoded with one block need not be fetched for the next.
  ///   - isTaken: is lent each record up to the first one that refers to others. It may deal with the record itself, and then
  ///     returns true.
  func visitBlocks<T>(
    of range: StorageKeyRange, _ source: TransactionSource, areAllHeld: Bool,
    unless isTaken: (RawSpan, RawSpan) throws -> Bool = { _, _ in false },
    decode: (RawSpan, RawSpan) throws -> T?, visit: (consuming T) throws -> Void
  ) throws {
    var records: [(key: StorageKey, record: [UInt8])] = []
    var byteCount = 0
    var blockCount = 256
    var hasReferences = false
    func visitBlock() throws {
      try source.prefetch(behind: records, exceptKnown: areAllHeld)
      // The blocks grow, because each costs at least one round trip.
      if areAllHeld { blockCount = min(blockCount * 2, 4096) }
      for (key, record) in records {
        if let object = try decode(key.bytes.span.bytes, record.span.bytes) { try visit(object) }
      }
      records.removeAll(keepingCapacity: true)
      byteCount = 0
    }
    try transaction.scan(range, .forward) { key, record in
      if !hasReferences {
        if try isTaken(key, record) { return .continue }
        hasReferences = RecordSummary.uncheckedRefersToOthers(record)
        if !hasReferences {
          if let object = try decode(key, record) { try visit(object) }
          return .continue
        }
      }
      records.append((StorageKey(key), [UInt8](copying: record)))
      byteCount += record.byteCount
      if records.count >= blockCount || byteCount > 4 << 20 { try visitBlock() }
      return .continue
    }
    try visitBlock()
  }

  /// Whether records are fetched before the decoder asks for them.
  var fetchesAhead: Bool { garage.store.roundTripsAreExpensive }

  /// A session on this state of the store, and the source where it finds records.
  func makeSessionAndSource() -> (GraphDecodingSession, TransactionSource) {
    let source = TransactionSource(transaction, of: garage)
    return (makeSession(source), source)
  }

  /// A session that finds records in that source.
  func makeSession(_ source: TransactionSource) -> GraphDecodingSession {
    let session = GraphDecodingSession(
      source: source, types: garage.types, userInfo: garage.userInfo, dates: garage.dateDecodingStrategy)
    session.nameHolders()
    return session
  }
}

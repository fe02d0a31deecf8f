public import GarageCoding
internal import GarageDriver

// The verbs that go through all objects of a type, even if some of them cannot be read.

extension GarageReading {
  /// All objects of this type that can be read, in the order of their identifiers.
  ///
  /// ```swift
  /// let books = try garage.retrieveAll(Book.self) { unreadable in log("\(unreadable)") }
  /// ```
  /// An object that cannot be read is left out and passed to `onError`, whatever the reason is: a damaged record, a required
  /// property whose target is gone, a class that the garage was not told about, a circle, an error of `init(from:)`. Its record
  /// stays as it is. The other objects are shared among each other as in ``retrieveAll(_:)``.
  ///
  /// - Parameter onError: gets the type and the identifier of an object that cannot be read, and the reason. An error that it
  ///   throws ends the call.
  /// - Throws: the errors of `onError`, and if the store itself fails, ``GarageError/storage(_:)`` or ``GarageError/closed``.
  public func retrieveAll<T: Codable>(_ type: T.Type, onError: (UnreadableObject) throws -> Void) throws
    -> [T]
  {
    var objects: [T] = []
    try withReadAccess { access in
      try access.visitReadable(type, inOneSession: true) {
        objects.append($0)
      } onError: { unreadable in
        try passingErrors { try onError(unreadable) }
      }
    }
    return objects
  }

  /// Calls `body` with one object of this type after another, in the order of their identifiers, and `onError` for each object
  /// that cannot be read.
  ///
  /// ```swift
  /// try garage.forEach(Book.self, onError: { log("\($0)") }) { book in … }
  /// ```
  /// In all else it does as ``forEach(_:_:)`` and ``retrieveAll(_:onError:)``. On a ``GarageWriter`` both closures may make
  /// changes through the writer: for instance delete the object that cannot be read.
  ///
  /// - Parameters:
  ///   - onError: gets the type and the identifier of an object that cannot be read, and the reason. An error that it throws
  ///     ends the call.
  ///   - body: gets the objects. An error that it throws ends the call.
  /// - Throws: the errors of the closures, and if the store itself fails, ``GarageError/storage(_:)`` or
  ///   ``GarageError/closed``.
  public func forEach<T: Codable>(
    _ type: T.Type, onError: (UnreadableObject) throws -> Void, _ body: (T) throws -> Void
  ) throws {
    try withReadAccess { access in
      try access.visitReadable(type, inOneSession: false) { object in
        try passingErrors { try body(object) }
      } onError: { unreadable in
        try passingErrors { try onError(unreadable) }
      }
    }
  }
}

extension ReadAccess {
  /// The result of reading a record.
  enum Outcome<T> {
    case object(T)
    case unreadable(UnreadableObject)
  }

  /// Decodes all objects of a type, in the order of their identifiers. Those that cannot be read are passed to `onError`.
  ///
  /// - Parameter inOneSession: whether all objects are held, and shared, to the end. If not, the closures may be users' code
  ///   that changes what the transaction can change.
  func visitReadable<T: Codable>(
    _ type: T.Type, inOneSession: Bool, _ visit: (T) throws -> Void,
    onError: (UnreadableObject) throws -> Void
  ) throws {
    let (session, source) = makeSessionAndSource()
    var limit = SessionLimit()
    let mayChange = isWriting && !inOneSession
    let facts = try RecordTypeFacts.of(type)
    let tags = try presentTags(of: facts)
    func read(_ key: RawSpan, _ record: RawSpan) throws -> Outcome<T>? {
      if !inOneSession {
        if mayChange { session.reset() } else { limit.resetIfReached(session, source) }
      }
      source.countRecord(record.byteCount)
      session.keepWhatIsComplete()
      return try outcome(type, key, record, facts, session)
    }
    func hand(_ outcome: Outcome<T>) throws {
      switch outcome {
      case .object(let object): try visit(object)
      case .unreadable(let object): try onError(object)
      }
    }
    if garage.objectKeys.isSealed {
      // Scans and multi-gets stop at a value that does not open, so records are read one by one.
      source.toleratesSeals = true
      return try visitSealedRecords(of: facts, under: tags, read: read, hand)
    }
    if tags.count == 1 && !mayChange && !fetchesAhead {
      return try transaction.scan(KeyLayout.records(tag: tags[0]), .forward) { key, record in
        if let outcome = try read(key, record) { try hand(outcome) }
        return .continue
      }
    }
    try visitRecords(of: facts, under: tags, source, mayChange: mayChange, decode: read, visit: hand)
  }

  /// Lends the records of a type to `read`, one after another. Passes `hand` each result, or that a record does not open.
  private func visitSealedRecords<T>(
    of facts: RecordTypeFacts, under tags: [UInt64], read: (RawSpan, RawSpan) throws -> Outcome<T>?,
    _ hand: (Outcome<T>) throws -> Void
  ) throws {
    var keys = RecordKeyCursor(tags, in: transaction)
    var all: [StorageKey] = []
    while let key = try keys.next() { all.append(key) }
    for key in all {
      if let outcome = try outcome(presentKey(of: key, facts), facts.name, read) { try hand(outcome) }
    }
  }

  /// Lends a record to `read`, unless it does not open; nil if there is no record.
  private func outcome<T>(
    _ key: StorageKey, _ typeName: String, _ read: (RawSpan, RawSpan) throws -> Outcome<T>?
  ) throws -> Outcome<T>? {
    let keyBytes = key.bytes.span.bytes
    return try transaction.withReplaceableValue(for: keyBytes, isSealed: garage.objectKeys.isSealed) {
      record in
      guard let record else { return nil }
      if record.byteCount > 0 || !garage.objectKeys.isSealed { return try read(keyBytes, record) }
      let identifier = garage.objectKeys.identifierText(of: keyBytes, nil)
      return .unreadable(
        UnreadableObject(
          type: typeName, identifier: identifier,
          error: GarageError(sealDoesNotOpen: identifier, type: typeName)))
    }
  }

  /// Decodes the records with these keys, as far as they exist, even if some of them cannot be read.
  func outcomes<T: Codable>(
    _ type: T.Type, _ keys: [StorageKey], _ cancellation: Cancellation
  ) throws -> [Outcome<T>] {
    let facts = try RecordTypeFacts.of(type)
    let (session, source) = makeSessionAndSource()
    source.toleratesSeals = garage.objectKeys.isSealed
    return try presentKeys(of: keys, facts).compactMap { key in
      try cancellation.check()
      return try outcome(key, facts.name) { key, record in
        source.countRecord(record.byteCount)
        session.keepWhatIsComplete()
        return try outcome(type, key, record, facts, session)
      }
    }
  }

  /// Decodes one record; nil if it is of another class.
  ///
  /// - Throws: if the store fails.
  private func outcome<T: Codable>(
    _ type: T.Type, _ key: RawSpan, _ record: RawSpan, _ facts: RecordTypeFacts,
    _ session: GraphDecodingSession
  ) throws -> Outcome<T>? {
    do {
      let object = try decode(type, key, record, typeName: facts.name, session)
      return object.map { .object($0) }
    } catch {
      if isFailureOfStore(error) { throw error }
      return .unreadable(
        UnreadableObject(
          type: facts.name, identifier: garage.objectKeys.identifierText(of: key, record),
          error: translated(error)))
    }
  }
}

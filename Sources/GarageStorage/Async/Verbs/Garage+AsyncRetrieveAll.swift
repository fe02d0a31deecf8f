internal import GarageCoding
internal import GarageDriver

// Retrieving many objects for tasks.

extension Garage {
  /// All objects of this type, in the order of their identifiers.
  ///
  /// Their records are fetched on a thread of the library's, and decoded where the caller is. That takes about a millisecond at
  /// a time, and in between other tasks can run on the caller's actor.
  ///
  /// - Throws: as ``GarageReading/retrieveAll(_:)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func retrieveAll<T: Codable>(_ type: T.Type) async throws -> [T]
  {
    var wanted = FetchedTransaction.Wanted()
    wanted.ranges = try translatingErrors {
      try RecordTypeFacts.of(type).tags.map { KeyLayout.records(tag: $0) }
    }
    while true {
      let fetched = try await fetch(wanted)
      do {
        let objects = try await decodeAll(type, ReadAccess(garage: self, transaction: fetched))
        if !fetched.hasMissed { return objects }
      } catch {
        if !fetched.hasMissed { throw translated(error) }
      }
      wanted = fetched.wanted
    }
  }

  nonisolated(nonsending)
    private func decodeAll<T: Codable>(_ type: T.Type, _ access: ReadAccess) async throws -> [T]
  {
    let facts = try RecordTypeFacts.of(type)
    let (session, source) = access.makeSessionAndSource()
    session.completeLater()
    var keys = RecordKeyCursor(try access.presentTags(of: facts), in: access.transaction)
    var objects: [T] = []
    try access.makeRoom(in: &objects)
    var sliceEnd = ContinuousClock.now + .milliseconds(1)
    while let key = try keys.next() {
      let object = try access.transaction.withValue(for: key) { record in
        guard let record else { return nil as T? }
        source.countRecord(record.byteCount)
        return try access.decode(type, key.bytes.span.bytes, record, typeName: facts.name, session)
      }
      if let object { objects.append(object) }
      if ContinuousClock.now > sliceEnd {
        await Task.yield()
        try Task.checkCancellation()
        sliceEnd = ContinuousClock.now + .milliseconds(1)
      }
    }
    try session.completeTogether()
    try access.noteCount(of: &objects)
    return objects
  }

  /// All objects of this type, in the order of their identifiers, decoded on a thread of the library's.
  ///
  /// - Throws: as ``GarageReading/retrieveAll(_:)``, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func retrieveAll<T: Codable & SendableMetatype>(_ type: T.Type) async throws -> sending [T]
  {
    // On a thread of the library's no transaction is open around this one.
    let isShared = mayUseSeveralCores
    return try await reading { access, cancellation in
      var objects: [T] = []
      try access.makeRoom(in: &objects)
      try access.visitObjectsTogether(type, isShared: isShared) { object in
        try cancellation.check()
        objects.append(object)
      }
      try access.noteCount(of: &objects)
      return objects
    }
  }

  /// All objects of this type that can be read, in the order of their identifiers.
  ///
  /// - Throws: as ``GarageReading/retrieveAll(_:onError:)``, and `CancellationError`.
  nonisolated(nonsending)
    public func retrieveAll<T: Codable>(
      _ type: T.Type, onError: (UnreadableObject) throws -> Void
    ) async throws -> [T]
  {
    var unreadable: [UnreadableObject] = []
    let objects: [T] = try await readingFetched { access in
      var objects: [T] = []
      unreadable = []
      try access.visitReadable(type, inOneSession: true) {
        objects.append($0)
      } onError: {
        unreadable.append($0)
      }
      return objects
    }
    for object in unreadable { try onError(object) }
    return objects
  }

  /// All objects of this type that can be read, in the order of their identifiers, decoded on a thread of the library's.
  ///
  /// - Throws: as ``GarageReading/retrieveAll(_:onError:)``, and `CancellationError`.
  nonisolated(nonsending)
    public func retrieveAll<T: Codable & SendableMetatype>(
      _ type: T.Type, onError: (UnreadableObject) throws -> Void
    ) async throws -> sending [T]
  {
    let found: Carried<([T], [UnreadableObject])> = try await reading { access, cancellation in
      var (objects, unreadable): ([T], [UnreadableObject]) = ([], [])
      try access.visitReadable(type, inOneSession: true) {
        try cancellation.check()
        objects.append($0)
      } onError: {
        unreadable.append($0)
      }
      return Carried((objects, unreadable))
    }
    for object in found.value.1 { try onError(object) }
    return found.value.0
  }

  /// Calls `body` with one object of this type after another, in the order of their identifiers, where the caller is.
  ///
  /// It visits the objects that were there at the beginning, each as it is when its page is read, except those that were
  /// deleted meanwhile. The keys of all objects are in memory, and one page of objects.
  ///
  /// - Throws: the errors of `body`, which end the call, as ``GarageReading/forEach(_:_:)``, and `CancellationError`.
  nonisolated(nonsending)
    public func forEach<T: Codable>(_ type: T.Type, _ body: (T) throws -> Void) async throws
  {
    let pages = try await ObjectPages<T>(of: self, decodesElsewhere: false)
    while let page = try await pages.next() {
      for object in page {
        try Task.checkCancellation()
        try body(object)
      }
    }
  }

  /// Calls `body` with one object of this type after another, in the order of their identifiers, where the caller is. The
  /// objects are decoded on a thread of the library's.
  ///
  /// It visits the objects that were there at the beginning, each as it is when its page is read, except those that were
  /// deleted meanwhile. The keys of all objects are in memory, and one page of objects.
  ///
  /// - Throws: the errors of `body`, which end the call, as ``GarageReading/forEach(_:_:)``, and `CancellationError`.
  nonisolated(nonsending)
    public func forEach<T: Codable & SendableMetatype>(
      _ type: T.Type, _ body: sending (T) throws -> Void
    ) async throws
  {
    let pages = try await ObjectPages<T>(of: self, decodesElsewhere: true)
    while let page = try await pages.next() {
      for object in page {
        try Task.checkCancellation()
        try body(object)
      }
    }
  }

  /// Calls `body` with one object of this type after another, in the order of their identifiers, and `onError` for each object
  /// that cannot be read. Both run where the caller is.
  ///
  /// It visits the same objects as ``forEach(_:_:)``.
  ///
  /// - Throws: the errors of the closures, as ``GarageReading/forEach(_:onError:_:)``, and `CancellationError`.
  nonisolated(nonsending)
    public func forEach<T: Codable>(
      _ type: T.Type, onError: (UnreadableObject) throws -> Void, _ body: (T) throws -> Void
    ) async throws
  {
    let pages = try await ObjectPages<T>(of: self, decodesElsewhere: false)
    try await visit(pages, onError, body)
  }

  /// Does the same for types that belong to no actor. Their objects are decoded on a thread of the library's.
  ///
  /// - Throws: as for other types.
  nonisolated(nonsending)
    public func forEach<T: Codable & SendableMetatype>(
      _ type: T.Type, onError: (UnreadableObject) throws -> Void, _ body: sending (T) throws -> Void
    ) async throws
  {
    let pages = try await ObjectPages<T>(of: self, decodesElsewhere: true)
    try await visit(pages, onError, body)
  }

  nonisolated(nonsending)
    private func visit<T: Codable>(
      _ pages: ObjectPages<T>, _ onError: (UnreadableObject) throws -> Void, _ body: (T) throws -> Void
    ) async throws
  {
    while let page = try await pages.nextOutcomes() {
      for outcome in page {
        try Task.checkCancellation()
        switch outcome {
        case .object(let object): try body(object)
        case .unreadable(let unreadable): try onError(unreadable)
        }
      }
    }
  }
}

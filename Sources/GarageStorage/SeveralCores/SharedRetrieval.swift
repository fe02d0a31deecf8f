internal import GarageCoding
internal import GarageDriver
internal import Synchronization

// Retrieves all objects of a type with several cores.

extension ReadAccess {
  /// Does as ``visitObjects(_:inOneSession:_:)`` in one session, with the machine's other cores if that pays.
  ///
  /// It pays if there are many records that refer to nothing. Shared objects have to be decoded once, and so by one thread:
  /// therefore all records from the first one on that refers to others are decoded where they are read. So are the records at
  /// the beginning, because there may be no more.
  ///
  /// - Parameter isShared: whether other cores may be used (``Garage/mayUseSeveralCores``), asked before the transaction began.
  @usableFromInline
  func visitObjectsTogether<T: Codable & SendableMetatype>(
    _ type: T.Type, isShared: Bool, _ visit: (consuming T) throws -> Void
  ) throws {
    let facts = try RecordTypeFacts.of(type)
    let tags = try presentTags(of: facts)
    guard isShared, tags.count == 1, !facts.ofCoder.isClass, !isWriting
    else { return try visitObjects(type, inOneSession: true, visit) }

    let retrieval = SharedRetrieval(type, facts, self)
    defer { retrieval.end() }
    let (session, source) = makeSessionAndSource()
    if fetchesAhead {
      try visitBlocks(of: KeyLayout.records(tag: tags[0]), source, areAllHeld: true) { key, record in
        try retrieval.takesOrFinishes(key, record, visit)
      } decode: { key, record in
        source.countRecord(record.byteCount)
        return try decode(type, key, record, typeName: facts.name, session)
      } visit: {
        try visit($0)
      }
      return try retrieval.finish(visit)
    }
    session.completeLater()
    if source.readsAhead { session.readAhead(by: source.readAhead) }
    let ahead = ReadingAhead(type, facts, tag: tags[0], session, areAllHeld: true)
    try transaction.scan(KeyLayout.records(tag: tags[0]), .forward) { key, record in
      if try retrieval.takesOrFinishes(key, record, visit) { return .continue }
      source.countRecord(record.byteCount)
      try garage.objectKeys.withIdentifier(of: key, record, typeName: facts.name) { identifier in
        try ahead.visit(identifier, record, visit)
      }
      return .continue
    }
    try ahead.finish(visit)
    try retrieval.finish(visit)
    try session.completeTogether()
  }
}

/// Decodes objects in batches on several cores.
private final class SharedRetrieval<T: Codable & SendableMetatype> {
  private let access: ReadAccess
  private let decoder: LoneRecordDecoder<T>
  private let work: SharedWork<RecordBatch<T>>
  private var batch = RecordBatch<T>()
  /// The batches whose objects were not visited yet, in their order.
  private var shared: [RecordBatch<T>] = []
  /// How many bytes were left to the caller before the first batch. From the first reference on, all records are left to it as
  /// well.
  private var byteCountBefore = 0
  private var hasReferences = false

  private static var minimumByteCount: Int { 64 << 10 }

  init(_ type: T.Type, _ facts: RecordTypeFacts, _ access: ReadAccess) {
    self.access = access
    let decoder = LoneRecordDecoder(type, facts, of: access.garage)
    self.decoder = decoder
    work = SharedWork { decoder.decode($0) }
  }

  private var isEmpty: Bool { batch.isEmpty && shared.isEmpty }

  /// Takes a record and visits the objects that are done; or leaves the record to the caller, after all objects taken before
  /// were visited.
  @inline(__always)
  func takesOrFinishes(_ key: RawSpan, _ record: RawSpan, _ visit: (consuming T) throws -> Void) throws
    -> Bool
  {
    if takes(key, record) {
      try visitDone(visit)
      return true
    }
    if !isEmpty { try finish(visit) }
    return false
  }

  /// Takes a record that is to be decoded in a batch. Returns false to leave it to the caller.
  @inline(__always)
  private func takes(_ key: RawSpan, _ record: RawSpan) -> Bool {
    if hasReferences { return false }
    if RecordSummary.uncheckedRefersToOthers(record) {
      hasReferences = true
      return false
    }
    if byteCountBefore < SharedRetrieval.minimumByteCount {
      byteCountBefore += record.byteCount
      return false
    }
    batch.append(key, record)
    if batch.isFull { share() }
    return true
  }

  private func share() {
    shared.append(batch)
    work.add(batch)
    batch = RecordBatch()
  }

  /// Visits the objects of the batches that are done, up to the first batch that is not.
  @inline(__always)
  private func visitDone(_ visit: (consuming T) throws -> Void) throws {
    // It is enough to check once for each batch.
    if batch.isEmpty { try visitAllDone(visit) }
  }

  private func visitAllDone(_ visit: (consuming T) throws -> Void) throws {
    let count = shared.prefix { $0.isDone }.count
    let done = shared[..<count]
    shared.removeFirst(count)
    for batch in done {
      if let result = batch.takeResult() {
        try result.get().moveAll(to: visit)
      } else {
        // This needs the transaction, which only this thread may use.
        try decoder.objects(of: batch, access).moveAll(to: visit)
      }
    }
  }

  /// Visits the objects of all records that were taken.
  func finish(_ visit: (consuming T) throws -> Void) throws {
    if !batch.isEmpty { share() }
    work.finish()
    try visitAllDone(visit)
  }

  /// Makes sure that no work goes on after the end of the call, which an error may have ended.
  func end() { work.end() }
}

/// Decodes records that refer to nothing, on any thread.
private final class LoneRecordDecoder<T: Codable & SendableMetatype>: Sendable {
  private let type: T.Type
  private let facts: RecordTypeFacts
  private let garage: Garage
  private let settings: CallSettings

  init(_ type: T.Type, _ facts: RecordTypeFacts, of garage: Garage) {
    (self.type, self.facts, self.garage) = (type, facts, garage)
    settings = CallSettings(of: garage)
  }

  /// Decodes a batch without the transaction. If that does not suffice, the batch is left to its maker.
  func decode(_ batch: RecordBatch<T>) {
    let nothing = FetchedTransaction(ofNothingIn: garage)
    let result = Result {
      try settings.apply(to: garage) {
        try objects(of: batch, ReadAccess(garage: garage, transaction: nothing))
      }
    }
    // Users' code may have replaced the error by another one.
    batch.end(nothing.hasMissed ? nil : result)
  }

  func objects(of batch: RecordBatch<T>, _ access: ReadAccess) throws -> MovedObjects<T> {
    let objects = MovedObjects<T>(capacity: batch.count)
    let (session, _) = access.makeSessionAndSource()
    try batch.forEach { key, record in
      try garage.objectKeys.withIdentifier(of: key, record, typeName: facts.name) { identifier in
        try session.visit(
          type, facts.ofCoder, tag: KeyLayout.tag(inRecordKey: key), keyIdentifier: identifier, record: record
        ) { (object: consuming T) in objects.append(object) }
      }
    }
    return objects
  }
}

internal import GarageCoding
internal import GarageDriver

extension Garage {
  /// Rewrites all records of a type that are in an older form, in the form that the type has today.
  ///
  /// Afterwards nothing is left that an ``Evolving`` type has to upgrade, rename or take from its prototype, and no object's
  /// only record stands under a former type tag. Where an older program has parked an object again under a former tag, beside
  /// the present one, that record stays as it is: the present one counts, and deleting the object deletes both. Each other
  /// record is read as a `T`, and written again if its bytes then differ. Values that `T` no longer has are lost. Modification
  /// times, sync statuses and identifiers stay, also the identifiers of values identified by their content. Objects that the
  /// record refers to are not rewritten. They are parked only if they have no record yet, because they stood inline before.
  ///
  /// Other records and typed keys may still refer to the objects by a former tag. As long as they do, the type has to declare it:
  /// ``migrateAll(fromOldClassName:to:)`` changes them.
  ///
  /// For a class it covers the subclasses that the garage knows. A record that cannot be read is left as it is and reported. So
  /// is a record that a unique index forbids, with the objects that it refers to. The other records are migrated.
  ///
  /// The work is done in several writes, so that memory stays bounded as in ``GarageReading/forEach(_:_:)``. Other writers have
  /// their turn in between. If it is interrupted, the next call does the rest.
  ///
  /// - Throws: ``GarageError/missingConformance(_:)`` for a type whose objects have no records, ``GarageError/nestedWrite``,
  ///   ``GarageError/closed``, ``GarageError/storage(_:)``.
  @discardableResult
  public func migrateAll<T: Codable>(_ type: T.Type) throws -> MigrationReport {
    var report = MigrationReport()
    var place = RecordMigration.Place()
    while !place.isAtEnd {
      let (done, next) = try withWriteAccess { try RecordMigration($0).migrate(type, from: place) }
      report.add(done)
      place = next
    }
    return report
  }
}

/// Rewrites the records of one type, some of them in each write.
struct RecordMigration {
  /// The place to go on: which of the type's tags, and behind which key.
  struct Place {
    fileprivate var tagIndex = 0
    fileprivate var last: StorageKey?
    fileprivate(set) var isAtEnd = false
  }

  /// How many records and bytes one write takes. It takes more if one record reaches more objects than that, because these
  /// would be decoded again in the next write.
  private static let leastCount = 1_000
  private static let leastByteCount = 8 << 20

  private let access: WriteAccess
  private var report = MigrationReport()

  init(_ access: WriteAccess) { self.access = access }

  private var objectKeys: ObjectKeys { access.garage.objectKeys }

  /// Migrates records from a place on. Returns what was done, and the place to go on.
  func migrate<T: Codable>(_ type: T.Type, from place: Place) throws -> (MigrationReport, Place) {
    var migration = self
    let next = try migration.run(type, from: place)
    return (migration.report, next)
  }

  private mutating func run<T: Codable>(_ type: T.Type, from start: Place) throws -> Place {
    let facts = try RecordTypeFacts.of(type)
    let (session, source) = access.reading.makeSessionAndSource()
    source.toleratesSeals = true
    var place = start
    var count = 0
    var largestReach = 0
    while place.tagIndex < facts.tags.count {
      let keys = try nextKeys(facts.tags[place.tagIndex], after: place.last)
      for key in keys {
        let before = session.objectCount
        try migrateRecord(type, key, facts, session)
        largestReach = max(largestReach, session.objectCount - before)
        place.last = key
        count += 1
        let isLong = count >= max(RecordMigration.leastCount, largestReach)
        if isLong || source.recordByteCount >= RecordMigration.leastByteCount && count >= largestReach {
          return place
        }
      }
      if keys.isEmpty {
        place.tagIndex += 1
        place.last = nil
      }
    }
    place.isAtEnd = true
    return place
  }

  private func nextKeys(_ tag: UInt64, after last: StorageKey?) throws -> [StorageKey] {
    var range = KeyLayout.records(tag: tag)
    if let last { range.lowerBound = last.bytes + [0] }
    var keys: [StorageKey] = []
    try access.transaction.scanKeys(range, .forward) { key in
      keys.append(StorageKey(key))
      return keys.count < 256 ? .continue : .stop
    }
    return keys
  }

  /// Migrates one record. Errors about the record go into the report; errors about the store are thrown.
  private mutating func migrateRecord<T: Codable>(
    _ type: T.Type, _ key: StorageKey, _ facts: RecordTypeFacts, _ session: GraphDecodingSession
  ) throws {
    if try !access.reading.isCurrent(key.bytes.span.bytes, facts.tags) { return }
    do {
      let keyBytes = key.bytes.span.bytes
      guard let record = try access.recordThatOpens(key, facts.name) else { return }
      let bytes = record.span.bytes
      let object = try access.reading.decode(type, keyBytes, bytes, typeName: facts.name, session)
      // The record is of another class.
      guard let object else { return }
      let isRewritten = try rewrite(object, record, key, facts)
      if isRewritten { report.rewritten += 1 } else { report.unchanged += 1 }
    } catch {
      if isFailureOfStore(error) { throw error }
      let identifier = try access.withReplaceableValue(key.bytes.span.bytes) {
        objectKeys.identifierText(of: key.bytes.span.bytes, $0)
      }
      report.fail(facts.name, identifier, translated(error))
    }
  }

  /// Writes an object's record in its present form, if that differs. Returns false if it does not.
  private func rewrite<T: Codable>(
    _ object: T, _ record: [UInt8], _ key: StorageKey, _ facts: RecordTypeFacts
  ) throws -> Bool {
    let graph = try access.garage.encoder.encode(object, dates: access.garage.dateEncodingStrategy) {
      identity, formerTags in
      // Objects that have a record already are not written along with this record.
      try access.reading.presentKey([identity.tag] + formerTags, identity.identifier) == nil
    }
    guard let own = graph.records.first else { return false }
    let oldKey = key.bytes.span.bytes
    let oldRecord = record.span.bytes
    let renewed = try objectKeys.withIdentifier(of: oldKey, oldRecord, typeName: facts.name) { identifier in
      try graph.bytes.withUnsafeBytes { bytes in
        try RecordSummary.record(
          bytes.bytes.extracting(own.value),
          underKey: EncodedGraph.key(of: own, in: bytes),
          replacing: oldRecord, tag: KeyLayout.tag(inRecordKey: oldKey), keyIdentifier: identifier,
          under: facts.tag, typeName: facts.name)
      }
    }
    let newKey = KeyLayout.record(tag: facts.tag, sameIdentifierAs: oldKey)
    if newKey == key && renewed == record { return false }
    try access.put(graph, leavingOut: 0, moving: MovedRecord(renewed, from: key, to: newKey))
    return true
  }
}

extension WriteAccess {
  /// A copy of a record; nil if there is none.
  ///
  /// - Throws: ``GarageError/corruptRecord(type:identifier:reason:)`` for a sealed record that does not open. Thrown as an
  ///   error of the storage, it would forbid the commit.
  func recordThatOpens(_ key: StorageKey, _ typeName: String) throws -> [UInt8]? {
    let keyBytes = key.bytes.span.bytes
    return try withReplaceableValue(keyBytes) { record in
      guard let record else { return nil }
      if record.byteCount == 0 && garage.objectKeys.isSealed {
        throw GarageError(
          sealDoesNotOpen: garage.objectKeys.identifierText(of: keyBytes, nil), type: typeName)
      }
      return [UInt8](copying: record)
    }
  }

  /// Puts a record in place of the one under a key, or under another tag's key. Its index entries move with it.
  ///
  /// - Throws: ``GarageError/notUnique(index:value:existing:)``, before anything is written.
  func moveRecord(_ moved: MovedRecord) throws {
    if let batch = try beginEntries(putting: [moved.newTag]) {
      try note(moved, in: batch)
      try batch.checkUnique(in: transaction)
      try makeEntries(batch)
    }
    try write(moved)
  }

  /// Notes the index entries that are removed and added when a record moves.
  func note(_ moved: MovedRecord, in batch: IndexBatch) throws {
    if moved.key != moved.newKey { try note(moved.key.bytes.span.bytes, nil, in: batch) }
    try note(moved.newKey.bytes.span.bytes, moved.record.span.bytes, in: batch)
  }

  /// Moves a record whose index entries were noted, and its entry among the sync statuses.
  func write(_ moved: MovedRecord) throws {
    let (old, new) = (moved.key.bytes, moved.newKey.bytes)
    let status = RecordSummary.uncheckedSyncStatus(of: moved.record.span.bytes)
    var statuses = SyncStatusChanges()
    statuses.note(new.span.bytes, from: try indexedStatuses(new.span.bytes), to: status)
    if moved.key != moved.newKey {
      statuses.note(old.span.bytes, from: try indexedStatuses(old.span.bytes), to: nil)
      try transaction.remove(moved.key)
    }
    try transaction.put(moved.record, for: moved.newKey)
    try statuses.make(in: transaction)
  }
}

/// A record that replaces an existing one, or one under another tag's key, which is then removed.
struct MovedRecord {
  let record: [UInt8]
  let key: StorageKey
  let newKey: StorageKey

  init(_ record: [UInt8], from key: StorageKey, to newKey: StorageKey) {
    (self.record, self.key, self.newKey) = (record, key, newKey)
  }

  var newTag: UInt64 { KeyLayout.tag(inRecordKey: newKey.bytes.span.bytes) }
}

/// Whether an error says that the store does not work, and not that one record cannot be read.
func isFailureOfStore(_ error: any Error) -> Bool {
  switch error {
  case let error as StorageError: !error.isOfOneValue
  case let error as GarageError:
    switch error {
    case .storage(let error): !error.isOfOneValue
    case .closed, .nestedWrite, .transactionEnded, .unsavedChangesDiscarded: true
    default: false
    }
  default: false
  }
}

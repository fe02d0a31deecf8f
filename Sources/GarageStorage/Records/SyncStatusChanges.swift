internal import GarageCoding
internal import GarageDriver

// Finding objects by their sync status.
//
// A record holds its object's status in its header, and an entry without value in a key space of its own
// names it. Every record with a status has its entry. The reverse need not hold: where a type that is not
// `Syncable` shares the tag of one that is, an entry may be left behind. Whoever follows an entry looks at
// the record's own status, so such an entry costs a look and finds nothing.

extension WriteAccess {
  /// Changes of the index that belong to one batch of records. They are made behind the records, in key
  /// order.
  struct SyncStatusChanges {
    private var added: [[StorageKey]] = Array(repeating: [], count: SyncStatus.allCases.count)
    private var removed: [StorageKey] = []

    /// Notes that a record gets a status, or, if that is nil, that it has none any more.
    ///
    /// - Parameter before: the statuses under which the index may have it.
    mutating func note(_ key: RawSpan, from before: [SyncStatus], to status: SyncStatus?) {
      if let status, before != [status] {
        added[status.rawValue].append(KeyLayout.syncStatus(status, ofRecord: key))
      }
      for old in before where old != status { removed.append(KeyLayout.syncStatus(old, ofRecord: key)) }
    }

    func make(in transaction: any WriteTransaction) throws {
      for key in removed { try transaction.remove(key) }
      for key in added.joined() { try transaction.put([], for: key) }
    }
  }

  /// The statuses under which the index may have the record with this key.
  func indexedStatuses(_ key: RawSpan) throws -> [SyncStatus] {
    if overlay != nil { return SyncStatus.allCases }
    return try withReplaceableValue(key) { indexedStatuses(key, of: $0) }
  }

  /// The statuses under which the index may have this record.
  func indexedStatuses(_ key: RawSpan, of record: RawSpan?) -> [SyncStatus] {
    // Until unsaved changes are saved, another garage may give the record any status.
    if overlay != nil { return SyncStatus.allCases }
    guard let record else { return [] }
    // A damaged record may have any status.
    guard let header = try? garage.objectKeys.header(of: key, record, typeName: "") else {
      return SyncStatus.allCases
    }
    return header.syncStatus.map { [$0] } ?? []
  }

  /// Lends a value that is about to be replaced or removed. It need not be readable for that.
  func withReplaceableValue<R>(_ key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try transaction.withReplaceableValue(for: key, isSealed: garage.objectKeys.isSealed, body)
  }

  /// Removes a record and its entries in all indexes. False where there is none.
  func removeRecord(_ key: RawSpan) throws -> Bool {
    if let batch = try beginEntries() {
      try note(key, nil, in: batch)
      try makeEntries(batch)
    }
    return try removeRecordAlone(key)
  }

  /// Removes a record and its entry among the sync statuses. False where there is none.
  func removeRecordAlone(_ key: RawSpan) throws -> Bool {
    if let looking = transaction as? any LookingRemoval {
      guard let beginning = try looking.removeLooking(key) else { return false }
      try removeSyncStatuses(beginning.withBytes(indexedStatuses(ofRecord:)), ofRecord: key)
      return true
    }
    let statuses = try withReplaceableValue(key) { record -> [SyncStatus]? in
      guard let record else { return nil }
      return indexedStatuses(ofRecord: record)
    }
    guard let statuses else { return false }
    try removeSyncStatuses(statuses, ofRecord: key)
    try transaction.remove(key)
    return true
  }

  /// The statuses under which the index may have a record that begins in this way.
  private func indexedStatuses(ofRecord record: RawSpan) -> [SyncStatus] {
    // A record that does not open may have any status.
    if record.byteCount == 0 { return SyncStatus.allCases }
    return RecordSummary.uncheckedSyncStatus(of: record).map { [$0] } ?? []
  }

  private func removeSyncStatuses(_ statuses: [SyncStatus], ofRecord key: RawSpan) throws {
    // A record with a status may have another one by the time that its removal is saved.
    let mayHaveAny = !statuses.isEmpty && overlay != nil
    for status in mayHaveAny ? SyncStatus.allCases : statuses {
      try transaction.remove(KeyLayout.syncStatus(status, ofRecord: key))
    }
  }

  /// Removes all records of an identity space and their entries in the index.
  func removeAllRecords(tag: UInt64) throws {
    if try hasReferenceIndex { try removeEntries(ofRecordsIn: KeyLayout.records(tag: tag)) }
    try transaction.removeAll(in: KeyLayout.records(tag: tag))
    if try hasIndexes { try transaction.removeAll(in: KeyLayout.entries(tag: tag)) }
    for status in SyncStatus.allCases {
      try transaction.removeAll(in: KeyLayout.syncStatuses(status, tag: tag))
    }
  }

  /// Sets the status of all these objects, or of none where one is missing or damaged.
  func setSyncStatus(_ status: SyncStatus, of objects: [ParkedObject]) throws {
    var changes = SyncStatusChanges()
    var records: [(key: StorageKey, record: [UInt8])] = []
    if garage.store.roundTripsAreExpensive {
      let keys = try objects.flatMap { object in
        try object.facts.tags.map { try garage.objectKeys.record(tag: $0, object.identifier) }
      }
      announce(keys)
    }
    for object in objects {
      let key = try reading.key(of: object)
      let keyBytes = key.bytes.span.bytes
      let record = try transaction.withValue(for: key) { record in
        guard let record else { return nil as [UInt8]? }
        return try garage.objectKeys.withIdentifier(of: keyBytes, record, typeName: object.facts.name) {
          try RecordSummary.record(
            record, settingSyncStatus: status, tag: KeyLayout.tag(inRecordKey: keyBytes), keyIdentifier: $0,
            typeName: object.facts.name)
        }
      }
      guard let record else { throw nothing(object.facts.name, object.identifier) }
      // Its entry is put even if it is there. So an entry that was lost comes back.
      let others = try indexedStatuses(keyBytes).filter { $0 != status }
      changes.note(keyBytes, from: others, to: status)
      records.append((key, record))
    }
    if overlay != nil { try keepEntries(of: records) }
    for (key, record) in records { try transaction.put(record, for: key) }
    try changes.make(in: transaction)
  }

  /// Makes the index entries of records whose fields stay as they are, where the change stays unsaved. Until it is saved this
  /// garage has these fields, whatever another one saves, and that one removes the entries from the store.
  private func keepEntries(of records: [(key: StorageKey, record: [UInt8])]) throws {
    guard let batch = try beginEntries() else { return }
    var noted: Set<StorageKey> = []
    for (key, record) in records where noted.insert(key).inserted {
      try note(key.bytes.span.bytes, record.span.bytes, in: batch)
    }
    try makeEntries(batch)
  }
}

extension ReadAccess {
  /// The key of an object's record.
  ///
  /// - Throws: ``GarageError/failedToRetrieveObject(_:_:)`` where there is none.
  func key(of object: ParkedObject) throws -> StorageKey {
    if let key = try presentKey(object.facts.tags, object.identifier) { return key }
    throw GarageError.failedToRetrieveObject(object.facts.name, object.identifier.description)
  }

  func header(of object: ParkedObject) throws -> RecordSummary {
    for tag in object.facts.tags {
      let key = try garage.objectKeys.record(tag: tag, object.identifier)
      let header = try transaction.withValue(for: key) { record -> RecordSummary? in
        guard let record else { return nil }
        return try garage.objectKeys.header(of: key.bytes.span.bytes, record, typeName: object.facts.name)
      }
      if let header { return header }
    }
    throw GarageError.failedToRetrieveObject(object.facts.name, object.identifier.description)
  }

  /// Decodes all objects of a type that have a status, in the order of their identifiers.
  func visitObjects<T: Codable>(_ type: T.Type, withStatus status: SyncStatus, _ visit: (T) throws -> Void)
    throws
  {
    let facts = try RecordTypeFacts.of(type)
    let (session, source) = makeSessionAndSource()
    var keys = RecordKeyCursor(facts.tags, status, in: transaction)
    try visitRecords(withKeys: { try keys.next() }, source, isPrefetching: fetchesAhead) { key, record in
      guard try has(status, key, record, facts.name), try isCurrent(key, facts.tags) else { return nil }
      return try decode(type, key, record, typeName: facts.name, session)
    } visit: {
      try visit($0)
    }
  }

  /// Decodes all objects that have a status, whatever their type.
  func visitAllObjects(withStatus status: SyncStatus, _ visit: (any Syncable) throws -> Void) throws {
    let (session, source) = makeSessionAndSource()
    var keys = RecordKeyCursor(status, in: transaction)
    try visitRecords(withKeys: { try keys.next() }, source, isPrefetching: fetchesAhead) { key, record in
      guard try has(status, key, record, "Syncable") else { return nil as (any Syncable)? }
      let type = try registeredType(of: key, record)
      guard try isCurrent(key, RecordTypeFacts.of(type).tags) else { return nil }
      func object<T: Codable>(_ type: T.Type) throws -> T? {
        try decode(type, key, record, typeName: "Syncable", session)
      }
      return try object(type) as? any Syncable
    } visit: {
      try visit($0)
    }
  }

  /// Whether the record itself has that status. Throws where the record is damaged.
  private func has(_ status: SyncStatus, _ key: RawSpan, _ record: RawSpan, _ typeName: String) throws -> Bool
  {
    // Decoding it checks the rest.
    if RecordSummary.uncheckedSyncStatus(of: record) == status { return true }
    return try garage.objectKeys.header(of: key, record, typeName: typeName).syncStatus == status
  }

  /// The type of a record's object, from those that the garage was opened with.
  private func registeredType(of key: RawSpan, _ record: RawSpan) throws -> any Codable.Type {
    let header = try garage.objectKeys.header(of: key, record, typeName: "Syncable")
    let tag = header.concreteTag ?? KeyLayout.tag(inRecordKey: key)
    if let type = garage.types.type(tag: tag) { return type }
    throw try unregisteredClass(tag, key: key, record, typeName: "Syncable")
  }
}

internal import GarageCoding
internal import GarageDriver

// Objects that stood inline where their owner now has a reference. Each becomes a record of its own when the reference is
// parked.

extension ReadAccess {
  /// Decodes an object without a record that stood inline where its owner has a reference; nil where it had a record in this
  /// garage that is gone.
  func inlineObject<T: Codable>(_ type: T.Type, _ target: InlineTarget) throws -> T? {
    if target.isParked(in: garage.number) { return nil }
    let session = makeSessionAndSource().0
    try session.lend(target)
    return try session.object(type, target.identity)
  }
}

/// The records to be made for targets of references that stood inline and have no record in the store.
struct InlineRecords {
  struct Record {
    let key: StorageKey
    let bytes: [UInt8]
    let status: SyncStatus?
  }

  fileprivate(set) var records: [Record] = []
  /// The identities that have a record as soon as these are written.
  fileprivate(set) var parked: [InlineTarget] = []

  var tags: Set<UInt64> { Set(records.map { KeyLayout.tag(inRecordKey: $0.key.bytes.span.bytes) }) }
}

extension WriteAccess {
  /// Gathers the objects that have to be parked with a graph because they stood inline. Writes nothing but texts.
  ///
  /// - Parameter leavingOut: the position of a record of the graph that is in the store, perhaps under a former tag.
  @inline(never)
  func inlineRecords(of graph: EncodedGraph, leavingOut: Int?) throws -> InlineRecords {
    var found = InlineRecords()
    var keys: Set<StorageKey> = []
    for (position, record) in graph.records.enumerated() where position != leavingOut {
      keys.insert(try key(of: graph.identity(of: record)))
    }
    // Each with what it holds in turn, before the next one. Without recursion, because a chain of them may be long.
    var waiting = Array(graph.inlineTargets.reversed())
    while let target = waiting.popLast() {
      if target.isParked(in: garage.number) { continue }
      guard let graph = try target.records() else { continue }
      let records = graph.records
      if let own = records.first, try isMissing(own, of: graph, keys) {
        try putTexts(of: graph)
        for record in records where try isMissing(record, of: graph, keys) {
          let new = try inlineRecord(record, of: graph)
          keys.insert(new.key)
          found.records.append(new)
        }
        waiting += graph.inlineTargets.reversed()
      }
      found.parked.append(target)
    }
    return found
  }

  private func key(of identity: RecordIdentity) throws -> StorageKey {
    try garage.objectKeys.record(tag: identity.tag, identity.identifier)
  }

  /// Whether neither the store has a record of that identity nor those that are about to be written.
  private func isMissing(
    _ record: EncodedGraph.Record, of graph: EncodedGraph, _ keys: Set<StorageKey>
  ) throws -> Bool {
    let identity = graph.identity(of: record)
    for tag in [identity.tag] + record.formerTags {
      let key = try garage.objectKeys.record(tag: tag, identity.identifier)
      if try keys.contains(key) || transaction.contains(key) { return false }
    }
    return true
  }

  private func inlineRecord(
    _ record: EncodedGraph.Record, of graph: EncodedGraph
  ) throws -> InlineRecords.Record {
    let identity = graph.identity(of: record)
    let bytes = try graph.bytes.withUnsafeBytes { bytes in
      try RecordSummary.record(
        bytes.bytes.extracting(record.value), tag: identity.tag, identifier: identity.identifier,
        holdsIdentifier: garage.hidesIdentifiers, time: garage.encoder.time)
    }
    return InlineRecords.Record(key: try key(of: identity), bytes: bytes, status: record.syncStatus)
  }

  /// Notes the index entries of the objects that stood inline.
  func note(_ inline: InlineRecords, in batch: IndexBatch) throws {
    for record in inline.records {
      try note(record.key.bytes.span.bytes, record.bytes.span.bytes, in: batch)
    }
  }

  /// Writes the objects that stood inline, whose index entries were noted.
  func write(_ inline: InlineRecords) throws {
    var statuses = SyncStatusChanges()
    for record in inline.records {
      let key = record.key.bytes
      if let status = record.status {
        statuses.note(key.span.bytes, from: try indexedStatuses(key.span.bytes), to: status)
      }
      try transaction.put(record.bytes, for: record.key)
    }
    try statuses.make(in: transaction)
    let number = garage.number
    for target in inline.parked { pending.hooks.afterCommit { target.noteParked(in: number) } }
  }
}

internal import GarageCoding
internal import GarageDriver

// What stood inline where its owner has a reference now: it becomes a record of its own when the reference is parked.

extension ReadAccess {
  /// Decodes an object that stood inline where its owner has a reference, and has no record; nil where it had one in
  /// this garage, which is gone.
  func inlineObject<T: Codable>(_ type: T.Type, _ target: InlineTarget) throws -> T? {
    if target.isParked(in: garage.number) { return nil }
    let session = makeSessionAndSource().0
    try session.lend(target)
    return try session.object(type, target.identity)
  }
}

extension WriteAccess {
  /// Parks the targets of references that stood inline, where the store has no record of their identity.
  @inline(never)
  func parkInlineObjects(_ targets: [InlineTarget]) throws {
    let garage = garage
    for target in targets where !target.isParked(in: garage.number) {
      guard let graph = try target.records() else { continue }
      let records = graph.records
      if let own = records.first, try !hasRecord(graph.identity(of: own), own.formerTags) {
        try putTexts(of: graph)
        for record in records { try putMissing(record, of: graph) }
        try parkInlineObjects(graph.inlineTargets)
      }
      let number = garage.number
      pending.hooks.afterCommit { target.noteParked(in: number) }
    }
  }

  private func putMissing(_ record: EncodedGraph.Record, of graph: EncodedGraph) throws {
    let identity = graph.identity(of: record)
    if try hasRecord(identity, record.formerTags) { return }
    let key = try garage.objectKeys.record(tag: identity.tag, identity.identifier)
    let bytes = try graph.bytes.withUnsafeBytes { bytes in
      try RecordSummary.record(
        bytes.bytes.extracting(record.value), tag: identity.tag, identifier: identity.identifier,
        holdsIdentifier: garage.hidesIdentifiers, time: garage.encoder.time)
    }
    if let status = record.syncStatus {
      let keyBytes = key.bytes.span.bytes
      var statuses = SyncStatusChanges()
      statuses.note(keyBytes, from: try indexedStatuses(keyBytes), to: status)
      try statuses.make(in: transaction)
    }
    try putRecord(bytes.span.bytes, for: key.bytes.span.bytes)
  }

  private func hasRecord(_ identity: RecordIdentity, _ formerTags: [UInt64]) throws -> Bool {
    try reading.presentKey([identity.tag] + formerTags, identity.identifier) != nil
  }
}

internal import GarageCoding
internal import GarageDriver

extension WriteAccess {
  /// Writes the records of a graph, in key order, and the texts they count on.
  ///
  /// - Parameter leavingOut: the position of a record that is not written.
  func put(_ graph: EncodedGraph, leavingOut: Int? = nil) throws {
    try putTexts(of: graph)
    if garage.objectKeys.hidesIdentifiers {
      try putRecords(of: garage.objectKeys.hiding(graph), leavingOut: leavingOut)
    } else {
      try putRecords(of: graph, leavingOut: leavingOut)
    }
    if !graph.inlineTargets.isEmpty { try parkInlineObjects(graph.inlineTargets) }
  }

  /// Writes the texts that a graph's records count on.
  func putTexts(of graph: EncodedGraph) throws {
    for (name, text) in garage.texts.unknownTexts(of: graph) where !pending.newTexts.contains(name) {
      try StoreTexts.put(text, name, in: transaction, isSealed: garage.objectKeys.isSealed)
      pending.newTexts.insert(name)
    }
  }

  private func putRecords(of graph: EncodedGraph, leavingOut: Int?) throws {
    var statuses: SyncStatusChanges?
    let records = graph.records
    try graph.bytes.withUnsafeBytes { bytes in
      for index in graph.recordsInKeyOrder() where index != leavingOut {
        let record = records[index]
        let key = bytes.bytes.extracting(record.key)
        if let status = record.syncStatus {
          if statuses == nil { statuses = SyncStatusChanges() }
          statuses?.note(key, from: try indexedStatuses(key), to: status)
        }
        try transaction.put(bytes.bytes.extracting(record.value), for: key)
        for tag in record.formerTags {
          _ = try removeRecord(KeyLayout.record(tag: tag, sameIdentifierAs: key).bytes.span.bytes)
        }
      }
    }
    try statuses?.make(in: transaction)
  }
}

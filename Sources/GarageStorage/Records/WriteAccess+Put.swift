internal import GarageCoding
internal import GarageDriver

extension WriteAccess {
  /// Writes the records of a graph, in key order, the texts that they need, and the objects that stood inline before.
  ///
  /// - Parameters:
  ///   - leavingOut: the position of a record that is not written.
  ///   - moved: a record that moves at the same time.
  /// - Throws: ``GarageError/notUnique(index:value:existing:)``, before any record was written.
  func put(_ graph: EncodedGraph, leavingOut: Int? = nil, moving moved: MovedRecord? = nil) throws {
    try putTexts(of: graph)
    let inline = graph.inlineTargets.isEmpty ? nil : try inlineRecords(of: graph, leavingOut: leavingOut)
    if garage.objectKeys.hidesIdentifiers {
      try putRecords(of: garage.objectKeys.hiding(graph), leavingOut: leavingOut, with: inline, moved)
    } else {
      try putRecords(of: graph, leavingOut: leavingOut, with: inline, moved)
    }
  }

  /// Writes the texts that a graph's records need.
  func putTexts(of graph: EncodedGraph) throws {
    guard let news = garage.texts.news(of: graph) else { return }
    // A type that is met for the first time may declare indexes.
    if !news.types.isEmpty { try garage.meet(news.types, of: graph) }
    announce(news.texts.map { KeyLayout.text($0.name) })
    for (name, text) in news.texts where !pending.newTexts.contains(name) {
      try StoreTexts.put(text, name, in: transaction, isSealed: garage.objectKeys.isSealed)
      pending.newTexts.insert(name)
    }
  }

  /// Writes graphs of roots alone, whose keys follow one another, as if they were one.
  func put(_ graphs: [EncodedGraph]) throws {
    for graph in graphs { try putTexts(of: graph) }
    var statuses: SyncStatusChanges?
    let entries = try beginEntries(putting: graphs.reduce(into: []) { $0.formUnion($1.tagsOfRecords) })
    if let entries {
      for graph in graphs {
        try noteRecords(of: graph, graph.recordsInKeyOrder(), leavingOut: nil, in: entries)
      }
      try entries.checkUnique(in: transaction)
    }
    for graph in graphs {
      try putRecords(of: graph, graph.recordsInKeyOrder(), leavingOut: nil, known: nil, &statuses)
    }
    if let entries { try makeEntries(entries) }
    try statuses?.make(in: transaction)
  }

  private func putRecords(
    of graph: EncodedGraph, leavingOut: Int?, with inline: InlineRecords?, _ moved: MovedRecord?
  ) throws {
    var statuses: SyncStatusChanges?
    let order = graph.recordsInKeyOrder()
    let entries = try beginEntries(
      putting: graph.tagsOfRecords.union(inline?.tags ?? []).union(moved.map { [$0.newTag] } ?? []))
    var known: [StorageKey: [SyncStatus]]?
    if garage.store.roundTripsAreExpensive {
      let wanted = keysToRead(of: graph, order, leavingOut: leavingOut, entries)
      if !announce(wanted) { known = try indexedStatuses(of: graph, order, leavingOut: leavingOut) }
    }
    if let entries {
      try noteRecords(of: graph, order, leavingOut: leavingOut, in: entries)
      if let inline { try note(inline, in: entries) }
      if let moved { try note(moved, in: entries) }
      try entries.checkUnique(in: transaction)
    }
    try putRecords(of: graph, order, leavingOut: leavingOut, known: known, &statuses)
    if let inline { try write(inline) }
    if let moved { try write(moved) }
    if let entries { try makeEntries(entries) }
    try statuses?.make(in: transaction)
  }

  /// Writes records in an order, and notes what becomes of their sync statuses.
  ///
  /// - Parameter known: the statuses that records may have now, where that was asked before.
  private func putRecords(
    of graph: EncodedGraph, _ order: [Int], leavingOut: Int?, known: [StorageKey: [SyncStatus]]?,
    _ statuses: inout SyncStatusChanges?
  ) throws {
    let records = graph.records
    try graph.bytes.withUnsafeBytes { bytes in
      // Many are put at once, because drivers do that faster; so many that the list of them stays small.
      var places: [PlacedEntry] = []
      let most = order.count < 16 ? 1 : 512
      if most > 1 { places.reserveCapacity(min(most, order.count)) }
      for index in order where index != leavingOut {
        let place = graph.place(ofRecord: index)
        let key = bytes.bytes.extracting(place.key)
        let record = graph.isPlain(index) ? nil : records[index]
        if let status = record?.syncStatus {
          if statuses == nil { statuses = SyncStatusChanges() }
          let before = try known?[StorageKey(key)] ?? indexedStatuses(key)
          statuses?.note(key, from: before, to: status)
        }
        if most == 1 {
          try transaction.put(bytes.bytes.extracting(place.value), for: key)
        } else {
          places.append(PlacedEntry(key: place.key, value: place.value))
          if places.count == most {
            try transaction.putAll(places, in: bytes.bytes)
            places.removeAll(keepingCapacity: true)
          }
        }
        for tag in record?.formerTags ?? [] {
          // Its entries are written with those of the others.
          _ = try removeRecordAlone(KeyLayout.record(tag: tag, sameIdentifierAs: key).bytes.span.bytes)
        }
      }
      if !places.isEmpty { try transaction.putAll(places, in: bytes.bytes) }
    }
  }

  /// The keys of the records that have to be looked at before records of a graph replace them.
  private func keysToRead(
    of graph: EncodedGraph, _ order: [Int], leavingOut: Int?, _ entries: IndexBatch?
  ) -> [StorageKey] {
    let records = graph.records
    var keys: [StorageKey] = []
    graph.bytes.withUnsafeBytes { bytes in
      for index in order where index != leavingOut {
        let record = records[index]
        let key = bytes.bytes.extracting(record.key)
        let isIndexed = entries?.concerns(tag: KeyLayout.tag(inRecordKey: key)) ?? false
        if isIndexed || record.syncStatus != nil { keys.append(StorageKey(key)) }
        for tag in record.formerTags { keys.append(KeyLayout.record(tag: tag, sameIdentifierAs: key)) }
      }
    }
    return keys
  }

  /// The statuses under which the index may have the records of a graph that get a status, asked for all together. Nil where
  /// there is only one such record, or where the records may not be readable.
  private func indexedStatuses(
    of graph: EncodedGraph, _ order: some Collection<Int>, leavingOut: Int?
  ) throws -> [StorageKey: [SyncStatus]]? {
    if garage.objectKeys.isSealed { return nil }
    let records = graph.records
    let keys = graph.bytes.withUnsafeBytes { bytes in
      var keys: [StorageKey] = []
      for index in order where index != leavingOut && records[index].syncStatus != nil {
        keys.append(StorageKey(bytes.bytes.extracting(records[index].key)))
      }
      return keys
    }
    if keys.count < 2 { return nil }
    var statuses: [StorageKey: [SyncStatus]] = [:]
    try transaction.withValues(for: keys) { index, record in
      let key = keys[index]
      statuses[key] = indexedStatuses(key.bytes.span.bytes, of: record)
    }
    return statuses
  }
}

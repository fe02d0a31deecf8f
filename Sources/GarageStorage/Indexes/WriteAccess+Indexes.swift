internal import GarageCoding
internal import GarageDriver

// All changes of records go through here, so that their index entries change with them. A change of a record's sync status does
// not, because the status is no field of the record's body.

extension WriteAccess {
  /// The indexes of the store; nil if there are none. They are looked up once in a transaction.
  private var indexes: IndexCatalog? {
    get throws {
      // Since they were looked up, a type may have been met that declares others, be it by another thread.
      if let indexes = pending.indexes, pending.declaredCount == garage.indexing.declaredCount {
        return indexes
      }
      return try lookForIndexes()
    }
  }

  /// Whether the store has indexes.
  var hasIndexes: Bool { get throws { try indexes != nil } }

  /// Removes the index entries of records that are about to be removed all at once, a block of records at a time.
  func removeEntries(ofRecordsIn range: StorageKeyRange) throws {
    try transaction.forEachKeyBlock(range, of: 1000) { keys in
      guard let batch = try beginEntries() else { return .stop }
      try noteRemoval(of: keys, in: batch)
      try makeEntries(batch)
      return .continue
    }
  }

  /// Removes records and their entries in all indexes, in the order of their keys.
  func removeRecords(_ keys: [StorageKey]) throws {
    let keys = keys.sorted()
    for start in stride(from: 0, to: keys.count, by: 1000) {
      let block = keys[start..<min(start + 1000, keys.count)]
      announce(Array(block))
      if let batch = try beginEntries() {
        try noteRemoval(of: Array(block), in: batch)
        try makeEntries(batch)
      }
      for key in block { _ = try removeRecordAlone(key.bytes.span.bytes) }
    }
  }

  /// Notes that records go.
  private func noteRemoval(of keys: [StorageKey], in batch: IndexBatch) throws {
    guard mayAskForMany(keys.count) else {
      for key in keys { try note(key.bytes.span.bytes, nil, in: batch) }
      return
    }
    let concerned = keys.filter { batch.concerns(tag: KeyLayout.tag(inRecordKey: $0.bytes.span.bytes)) }
    try transaction.withValues(for: concerned) { index, record in
      let key = concerned[index].bytes
      try batch.note(key.span.bytes, old: record, new: nil, in: transaction)
    }
  }

  /// Whether records that are about to be replaced or removed are asked for many at a time. A sealed value that does not open
  /// is lent only where it is looked for alone, and what would take a trip was fetched before.
  private func mayAskForMany(_ count: Int) -> Bool {
    count >= 16 && overlay == nil && !garage.objectKeys.isSealed && !garage.store.roundTripsAreExpensive
  }

  /// Whether there is an index of references: its entries do not go with a type's.
  var hasReferenceIndex: Bool { get throws { try indexes.map { !$0.maintainedForAll.isEmpty } ?? false } }

  @inline(never)
  private func lookForIndexes() throws -> IndexCatalog? {
    pending.declaredCount = garage.indexing.declaredCount
    guard let overlay else {
      let found = try garage.indexing.catalogForWriting(in: transaction)
      pending.indexes = .some(found)
      return found
    }
    let found = try garage.indexing.catalogForUnsaved(in: transaction)
    let items = (found?.items ?? []).filter { $0.state != .dropping }
    let ids = Set(items.map(\.entriesID))
    // The unsaved records have entries only in the indexes that were known when they were changed.
    var complete =
      overlay.changes.indexes ?? (overlay.changes.hasChange(in: KeyLayout.allRecords) ? [] : ids)
    for item in items where item.definition.isUnique && !complete.contains(item.entriesID) {
      try makeEntries(ofUnsavedRecordsIn: item, overlay)
      complete.insert(item.entriesID)
    }
    overlay.changes.indexes = complete.intersection(ids)
    pending.indexes = .some(found)
    return found
  }

  /// Makes the entries of unsaved records in a unique index that was not known when these were changed, or whose values have
  /// other hashes since. Without them nobody would see before the changes are saved that another object gets the same value.
  private func makeEntries(
    ofUnsavedRecordsIn item: IndexCatalog.Item, _ overlay: OverlayWriteTransaction
  ) throws {
    let (keys, texts) = (garage.indexing.keys, garage.indexing.texts)
    // Nobody finds the entries with former hashes.
    for range in item.definition.entryRanges { overlay.changes.forget(range) }
    let batch = IndexBatch(IndexCatalog([item]), keys, texts)
    batch.writesAll = true
    let changes = overlay.changes
    for range in item.definition.recordRanges {
      try changes.forEach(in: range) { key, record in
        try overlay.base.withReplaceableValue(for: key, isSealed: keys.isSealed) { old in
          try batch.note(key, old: old, new: record, in: overlay)
        }
      }
    }
    _ = try batch.make(in: overlay)
  }

  /// A batch of entries; nil if the store has no index. ``makeEntries(_:)`` has to follow.
  ///
  /// - Parameter tags: the tags of the records that are to be put. It is not evaluated if all unique indexes are complete.
  func beginEntries(putting tags: @autoclosure () -> Set<UInt64> = []) throws -> IndexBatch? {
    guard var catalog = try indexes else { return nil }
    // Unsaved changes are compared with each other now, and with all other records when they are saved.
    if !catalog.unfinishedUnique.isEmpty, overlay == nil {
      let filling = IndexFilling(indexing: garage.indexing)
      if let completed = try filling.completeUnique(catalog, tags(), in: transaction) {
        catalog = completed
        pending.indexes = .some(completed)
      }
    }
    let batch = garage.indexing.takeBatch(catalog)
    batch.writesAll = overlay != nil
    return batch
  }

  /// Makes the changes that a batch has collected.
  func makeEntries(_ batch: IndexBatch) throws {
    if let updated = try batch.make(in: transaction) {
      // Unsaved changes never hold the catalog, and queries do not rely on what it says about their entries.
      if overlay == nil {
        try garage.indexing.put(updated, in: transaction)
        pending.indexes = .some(updated)
      }
    }
    garage.indexing.giveBack(batch)
  }

  /// Notes how a record changes, so that its entries change with it.
  ///
  /// - Parameter record: the new record, just encoded; nil if the record is removed.
  func note(_ key: RawSpan, _ record: RawSpan?, in batch: IndexBatch) throws {
    guard batch.concerns(tag: KeyLayout.tag(inRecordKey: key)) else { return }
    try withReplaceableValue(key) { try batch.note(key, old: $0, new: record, in: transaction) }
  }

  /// Puts a record and changes its entries. An error forbids the commit, because the caller may have changed more before.
  func putRecord(_ record: RawSpan, for key: RawSpan) throws {
    if let batch = try beginEntries(putting: [KeyLayout.tag(inRecordKey: key)]) {
      try note(key, record, in: batch)
      try forbiddingCommit { try batch.checkUnique(in: transaction) }
      try makeEntries(batch)
    }
    try transaction.put(record, for: key)
    if overlay != nil, let status = RecordSummary.uncheckedSyncStatus(of: record) {
      // Until this is saved, another writer may give the record a status, which this one then removes.
      var statuses = SyncStatusChanges()
      statuses.note(key, from: SyncStatus.allCases, to: status)
      try statuses.make(in: transaction)
    }
  }

  /// Empties the indexes of records under a tag, and has them filled from the beginning. Records can then be put
  /// without entries in this transaction: no query uses these indexes, and whoever fills them finds the records.
  ///
  /// Where changes stay unsaved nothing is done, because their entries are made anew when they are saved.
  ///
  /// - Parameter emptied: the indexes that were emptied in this transaction before.
  func emptyIndexes(ofTag tag: UInt64, _ emptied: inout Set<UInt64>) throws {
    guard overlay == nil, let catalog = try indexes else { return }
    var items = catalog.items
    var isChanged = false
    for place in catalog.positions(tag: tag) {
      let item = items[place]
      // One that was emptied may have been filled since, for a record under another tag.
      let isToBegin = item.state == .building && item.tagPlace == 0 && item.lastKey.isEmpty
      if isToBegin && emptied.contains(item.id) { continue }
      for range in item.definition.entryRanges { try transaction.removeAll(in: range) }
      items[place].state = .building
      (items[place].tagPlace, items[place].lastKey) = (0, [])
      emptied.insert(item.id)
      isChanged = true
    }
    if !isChanged { return }
    let updated = IndexCatalog(items)
    try garage.indexing.put(updated, in: transaction)
    pending.indexes = .some(updated)
    garage.indexing.forgetSettled()
  }

  /// Runs `body`. If it throws, the transaction must not be committed, even if the error is caught.
  func forbiddingCommit(_ body: () throws -> Void) throws {
    do { try body() } catch {
      pending.failure = error
      throw error
    }
  }
}

extension WriteAccess {
  /// Notes how the records of a graph change. The graph has to be checked before any of its records is written.
  ///
  /// - Parameter order: the records' positions, in the order of their keys.
  func noteRecords(
    of graph: EncodedGraph, _ order: [Int], leavingOut: Int?, in batch: IndexBatch
  ) throws {
    try graph.bytes.withUnsafeBytes { bytes in
      func tag(_ position: Int) -> UInt64 {
        KeyLayout.tag(inRecordKey: bytes.bytes.extracting(graph.place(ofRecord: position).key))
      }
      var start = 0
      while start < order.count {
        let common = tag(order[start])
        var end = start + 1
        while end < order.count, tag(order[end]) == common { end += 1 }
        if batch.concerns(tag: common) {
          try noteRecords(of: graph, order[start..<end], leavingOut, in: bytes, batch)
        }
        for position in order[start..<end] where position != leavingOut && graph.hasFormerTags(position) {
          let record = graph.records[position]
          for former in record.formerTags {
            let key = KeyLayout.record(tag: former, sameIdentifierAs: bytes.bytes.extracting(record.key))
            try note(key.bytes.span.bytes, nil, in: batch)
          }
        }
        start = end
      }
    }
  }

  /// Does the same for records under one tag.
  private func noteRecords(
    of graph: EncodedGraph, _ order: ArraySlice<Int>, _ leavingOut: Int?, in bytes: UnsafeRawBufferPointer,
    _ batch: IndexBatch
  ) throws {
    if order.count >= 16, let first = order.first, let last = order.last,
      try isEmpty(
        from: bytes.bytes.extracting(graph.place(ofRecord: first).key),
        through: bytes.bytes.extracting(graph.place(ofRecord: last).key))
    {
      var records: [PlacedEntry] = []
      records.reserveCapacity(order.count)
      for position in order where position != leavingOut {
        let place = graph.place(ofRecord: position)
        records.append(PlacedEntry(key: place.key, value: place.value))
      }
      return try batch.noteNew(records, in: bytes, transaction)
    }
    if leavingOut == nil, try noteByScan(of: graph, order, in: bytes, batch) { return }
    if mayAskForMany(order.count) {
      return try noteByBlocks(of: graph, order.filter { $0 != leavingOut }, in: bytes, batch)
    }
    for position in order where position != leavingOut {
      let place = graph.place(ofRecord: position)
      try note(bytes.bytes.extracting(place.key), bytes.bytes.extracting(place.value), in: batch)
    }
  }

  /// Notes what becomes of many records, and asks for many of those that are there at a time.
  private func noteByBlocks(
    of graph: EncodedGraph, _ positions: [Int], in bytes: UnsafeRawBufferPointer, _ batch: IndexBatch
  ) throws {
    for start in stride(from: 0, to: positions.count, by: 1024) {
      let block = positions[start..<min(start + 1024, positions.count)]
      let keys = block.map { graph.place(ofRecord: $0).key }
      try transaction.withPlacedValues(at: keys, in: bytes.bytes) { index, old in
        let new = bytes.bytes.extracting(graph.place(ofRecord: positions[start + index]).value)
        try batch.note(bytes.bytes.extracting(keys[index]), old: old, new: new, in: transaction)
      }
    }
  }

  /// Notes what becomes of many records as one scan meets those that are there: engines scan in a fraction of the time that they
  /// look for keys in.
  ///
  /// - Returns: false, with nothing noted, if other records stand between them. These are not read, because they may be large
  ///   or damaged.
  private func noteByScan(
    of graph: EncodedGraph, _ order: ArraySlice<Int>, in bytes: UnsafeRawBufferPointer, _ batch: IndexBatch
  ) throws -> Bool {
    guard order.count >= 16, let first = order.first, let last = order.last else { return false }
    // A sealed value that does not open is replaced if it is looked up, but would end a scan.
    if garage.objectKeys.isSealed || garage.store.roundTripsAreExpensive { return false }
    func key(_ position: Int) -> [UInt8] {
      [UInt8](copying: bytes.bytes.extracting(graph.place(ofRecord: position).key))
    }
    func comparison(_ position: Int, _ found: RawSpan) -> Int {
      compareKeys(bytes.bytes.extracting(graph.place(ofRecord: position).key), found)
    }
    let range = StorageKeyRange(from: key(first), to: key(last) + [0])
    var rest = order
    var hasOthers = false
    try transaction.scanKeys(range, .forward) { found in
      while let position = rest.popFirst() {
        let side = comparison(position, found)
        if side < 0 { continue }
        hasOthers = side > 0
        return hasOthers ? .stop : .continue
      }
      return .stop
    }
    if hasOthers { return false }
    rest = order
    func noteNext(_ old: RawSpan?) throws {
      guard let position = rest.popFirst() else { return }
      let place = graph.place(ofRecord: position)
      let (key, new) = (place.key, place.value)
      try batch.note(
        bytes.bytes.extracting(key), old: old, new: bytes.bytes.extracting(new), in: transaction)
    }
    try transaction.scan(range, .forward) { found, old in
      while let position = rest.first, comparison(position, found) < 0 { try noteNext(nil) }
      try noteNext(old)
      return .continue
    }
    while !rest.isEmpty { try noteNext(nil) }
    return true
  }

  /// Whether there is no key from `first` through `last`.
  private func isEmpty(from first: RawSpan, through last: RawSpan) throws -> Bool {
    var isEmpty = true
    let range = StorageKeyRange(from: [UInt8](copying: first), to: [UInt8](copying: last) + [0])
    try transaction.scanKeys(range, .forward) { _ in
      isEmpty = false
      return .stop
    }
    return isEmpty
  }
}

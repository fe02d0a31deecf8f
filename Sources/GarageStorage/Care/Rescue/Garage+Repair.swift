internal import GarageCoding
internal import GarageDriver

extension Garage {
  /// Rebuilds what can be made from the records: the entries by which objects are found by their sync status, the names of
  /// types and coding keys that this process knows, and indexes that do not agree with the records.
  ///
  /// It removes entries whose object is gone. It never changes a record: a damaged record stays as it is, and
  /// ``verify(progress:)`` still reports it. To restore missing names and keys, open the garage in the program that has the
  /// types (`types:`).
  ///
  /// One state is read, without unsaved changes. Errors found in it are checked once more in the writes that repair them. These
  /// writes are short, so that others have their turn. If the call ends early, the next call goes on.
  ///
  /// - Parameter progress: is told every 1024 entries how far the reading is, and again from the beginning if the engine asks
  ///   for another try. An error that it throws ends the call, and so does cancelling the task.
  /// - Throws: ``GarageError/damagedMetadata(driver:)`` if the catalog of indexes is damaged,
  ///   ``GarageError/notUnique(index:value:existing:)`` if two objects have the same value of a unique index,
  ///   ``GarageError/nestedWrite``, ``GarageError/storage(_:)``, `CancellationError`, the errors of `progress`,
  ///   ``GarageError/closed``.
  @discardableResult
  public func repair(progress: (CareProgress) throws -> Void = { _ in }) throws -> RepairReport {
    try withoutActuallyEscaping(progress) { progress in
      try translatingErrors {
        let plan = try withCommitted { transaction in
          let plan = RepairPlan(garage: self, transaction)
          try plan.make(progress)
          return plan
        }
        var report = RepairReport()
        for start in stride(from: 0, to: plan.statuses.count, by: RepairPlan.blockCount) {
          let block = plan.statuses[start..<min(start + RepairPlan.blockCount, plan.statuses.count)]
          let (added, removed) = try writeDirectly { try plan.putStatuses(block, in: $0) }
          report.addedSyncStatuses += added
          report.removedSyncStatuses += removed
        }
        report.texts = try writeDirectly { try plan.putTexts(in: $0) }
        report.indexes = try repairIndexes()
        return report
      }
    }
  }

  private func withCommitted<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try beginCall()
    defer { endCall() }
    return try retrying(nil, store.gate, isRead: true) { try store.driver.read(body) }
  }

  /// Empties the indexes that do not agree with the records, and fills them again. Returns their names.
  @discardableResult
  func repairIndexes() throws -> [String] {
    let damaged = try withCommitted { Set(try verifyIndexes(in: $0).damagedIndexes) }
    if damaged.isEmpty {
      // Completes what a call that ended early has begun.
      while try fillIndexes() != nil {}
      return []
    }
    try writeDirectly { transaction in
      guard let catalog = try indexing.catalog(in: transaction) else { return }
      var items = catalog.items
      for place in items.indices where damaged.contains(items[place].name) && items[place].state == .ready {
        for range in items[place].definition.entryRanges { try transaction.removeAll(in: range) }
        items[place].state = .building
        (items[place].tagPlace, items[place].lastKey) = (0, [])
      }
      try indexing.put(IndexCatalog(items), in: transaction)
    }
    while try fillIndexes() != nil {}
    return damaged.sorted()
  }
}

/// The repairs that one state of a store needs.
private final class RepairPlan {
  /// The records whose entries may be wrong: by the record's key, and the entry that made it suspect.
  private(set) var statuses: [StorageKey] = []
  private var texts: [TextName: [UInt8]] = [:]
  private let verifier = RecordVerifier()
  private var checkedTexts: Set<TextName> = []
  private let garage: Garage
  private let transaction: any ReadTransaction
  static let blockCount = 1000

  init(garage: Garage, _ transaction: any ReadTransaction) {
    self.garage = garage
    self.transaction = transaction
  }

  private var keys: ObjectKeys { garage.objectKeys }

  func make(_ progress: @escaping (CareProgress) throws -> Void) throws {
    var total = 0
    for range in [KeyLayout.allRecords, KeyLayout.allSyncStatuses, KeyLayout.allValues] {
      try transaction.scanKeys(range, .forward) { _ in
        total += 1
        return .continue
      }
    }
    var reporter = ProgressReporter(total: total, progress)
    try transaction.forEachEntryByItself(in: KeyLayout.allRecords, isSealed: keys.isSealed) { key, record in
      guard let record else { return }
      try reporter.advance()
      try look(atRecord: key, record)
    }
    try transaction.forEachEntryByItself(in: KeyLayout.allValues, isSealed: keys.isSealed) { key, value in
      guard let value else { return }
      try reporter.advance()
      try? verifier.verify(
        valueUnder: KeyLayout.checked(key), value, shapeText: shapeText, visitReference: { _, _, _ in })
    }
    var suspects: [StorageKey] = []
    try transaction.scanKeys(KeyLayout.allSyncStatuses, .forward) { key in
      try reporter.advance()
      suspects.append(StorageKey(key))
      return .continue
    }
    for suspect in suspects {
      guard let (status, record) = KeyLayout.statusAndRecord(ofSyncStatus: suspect) else { continue }
      if try self.status(ofRecord: record, in: transaction) != .some(status) { statuses.append(record) }
    }
    statuses = Array(Set(statuses)).sorted()
    try reporter.end()
  }

  private func look(atRecord key: RawSpan, _ record: RawSpan) throws {
    guard KeyLayout.isRecord(key) else { return }
    let tag = KeyLayout.tag(inRecordKey: key)
    let summary = try? keys.withIdentifier(of: key, record, typeName: "") { identifier in
      try verifier.verify(
        tag: tag, keyIdentifier: identifier, record: record, typeName: "", shapeText: shapeText,
        visitReference: { _, tag, _ in try lookAtTag(tag) })
    }
    try lookAtTag(tag)
    if let concrete = summary?.concreteTag { try lookAtTag(concrete) }
    // Nothing is known about a damaged record.
    guard let status = summary?.syncStatus else { return }
    if try !transaction.contains(KeyLayout.syncStatus(status, ofRecord: key)) {
      statuses.append(StorageKey(key))
    }
  }

  // MARK: - Texts

  private func lookAtTag(_ digest: UInt64) throws {
    let name = TextName(kind: .tag, digest: digest)
    guard checkedTexts.insert(name).inserted, try !isWhole(name) else { return }
    for type in TypeTag.types(withDigest: digest) {
      if let tag = try? TypeTag.of(type) { texts[name] = Array(tag.name.utf8) }
    }
  }

  private func shapeText(_ digest: UInt64) throws -> [UInt8]? {
    let name = TextName(kind: .shape, digest: digest)
    if let known = texts[name] { return known }
    let key = KeyLayout.text(name).bytes
    let stored = try transaction.withReplaceableValue(for: key.span.bytes, isSealed: keys.isSealed) {
      text -> [UInt8]? in
      guard let text else { return nil }
      return [UInt8](copying: text)
    }
    if let stored, name.isDigest(of: stored) { return stored }
    let known = RecordVerifier.knownShapeText(digest)
    texts[name] = known
    return known
  }

  private func isWhole(_ name: TextName) throws -> Bool {
    let key = KeyLayout.text(name).bytes
    return try transaction.withReplaceableValue(for: key.span.bytes, isSealed: keys.isSealed) { text in
      guard let text else { return false }
      return name.isDigest(of: [UInt8](copying: text))
    }
  }

  /// Puts the texts that are known. Returns them in words.
  func putTexts(in transaction: any WriteTransaction) throws -> [String] {
    try texts.map { name, text -> String in
      try StoreTexts.put(text, name, in: transaction, isSealed: keys.isSealed)
      switch name.kind {
      case .tag: return "the type \(String(decoding: text, as: UTF8.self))"
      case .shape: return "the coding keys \((RecordVerifier.shapeKeys(text) ?? []).joined(separator: ", "))"
      }
    }.sorted()
  }

  // MARK: - Sync statuses

  /// The status in a record; nil if there is no such record, and `.some(nil)` if it has no status.
  private func status(ofRecord key: StorageKey, in transaction: any ReadTransaction) throws -> SyncStatus?? {
    let bytes = key.bytes.span.bytes
    return try transaction.withReplaceableValue(for: bytes, isSealed: keys.isSealed) {
      record -> SyncStatus?? in
      guard let record else { return .none }
      return .some(RecordSummary.uncheckedSyncStatus(of: record))
    }
  }

  /// Makes the entries of some records agree with them. Returns how many were added and removed.
  func putStatuses(_ records: ArraySlice<StorageKey>, in transaction: any WriteTransaction) throws -> (
    Int, Int
  ) {
    var (added, removed) = (0, 0)
    for record in records {
      let bytes = record.bytes.span.bytes
      // The entries of a damaged record stay, because the record may be restored.
      let isDamaged = try transaction.withReplaceableValue(for: bytes, isSealed: keys.isSealed) { content in
        guard let content else { return false }
        return (try? keys.header(of: bytes, content, typeName: "")) == nil
      }
      if isDamaged { continue }
      let own = try status(ofRecord: record, in: transaction) ?? nil
      for other in SyncStatus.allCases {
        let entry = KeyLayout.syncStatus(other, ofRecord: bytes)
        let isThere = try transaction.contains(entry)
        if other == own && !isThere {
          try transaction.put([], for: entry)
          added += 1
        } else if other != own && isThere {
          try transaction.remove(entry)
          removed += 1
        }
      }
    }
    return (added, removed)
  }
}

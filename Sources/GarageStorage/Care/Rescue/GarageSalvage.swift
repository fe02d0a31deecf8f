internal import GarageCoding
public import GarageDriver

/// Saves what can be read of a damaged store into another garage.
///
/// ```swift
/// let garage = try Garage(SQLiteStorage(at: newPlace))
/// let report = try GarageSalvage(from: SQLitePages(at: damaged), into: garage).run()
/// ```
/// The pages of the damaged store are read directly, without its engine, by `SQLitePages` or `LMDBPages`, and by `SealedPages`
/// around one of them. Everything that looks like an entry is checked by itself: a record and the value of a key by its
/// checksum, a text by its digest. Undamaged entries are copied as they are. Indexes, and the entries by which objects are
/// found by their sync status, are rebuilt. The damaged store is not changed. Nobody may have it open.
///
/// Afterwards ``Garage/verify(progress:)`` of the new garage tells what is missing, and ``Garage/repair(progress:)`` rebuilds
/// what can be rebuilt.
public struct GarageSalvage {
  /// The pages that are read.
  public let source: any SalvageSource
  /// The garage that gets the undamaged entries.
  public let garage: Garage
  /// Whether objects are copied, too, that were found only where an older state of the store may be. They may have been deleted
  /// since.
  public let includesOlder: Bool

  /// A salvage that reads from `source` and writes into `garage`.
  public init(from source: any SalvageSource, into garage: Garage, includingOlder: Bool = false) {
    self.source = source
    self.garage = garage
    includesOlder = includingOlder
  }

  /// Copies the undamaged entries, in writes of some thousand entries each.
  ///
  /// If the garage already has an object, the later version is kept. So a call that ended early can be made again.
  /// Queries leave an index alone that lacks objects, until that call or ``Garage/buildIndexes(_:)`` completes it. If
  /// two objects have the same value of a unique index in the end, both are kept, and that index is not used: the
  /// report names the value, and ``Garage/buildIndexes(_:)`` makes the index when one of the objects has another value.
  ///
  /// - Parameter progress: is told how many of the entries are done. An error that it throws ends the call, and so does
  ///   cancelling the task. What was copied by then stays.
  ///
  /// - Returns: what was copied, and what was not.
  /// - Throws: ``GarageError/storage(_:)`` if there is nothing to read or the garage cannot be written, `CancellationError`, the
  ///   errors of `progress`, ``GarageError/closed``.
  @discardableResult
  public func run(progress: (CareProgress) throws -> Void = { _ in }) throws -> SalvageReport {
    try withoutActuallyEscaping(progress) { progress in
      try translatingErrors {
        var bringing = BringingOver(garage, includesOlder: includesOlder)
        var (total, hasOlder) = (0, false)
        bringing.report.notes = try source.forEachEntry { _, _, isOfLastState in
          total += 1
          if !isOfLastState { hasOlder = true }
        }
        var reporter = ProgressReporter(total: total, progress)
        // Older entries have to wait until it is known which entries are of the last state.
        for isOfLastState in hasOlder ? [true, false] : [true] {
          _ = try source.forEachEntry { key, value, isLast in
            if isLast != isOfLastState { return }
            try reporter.advance()
            try bringing.take(key, value, isOfLastState: isLast)
          }
          try bringing.flush()
        }
        try bringing.completeIndexes()
        try reporter.end()
        return bringing.report
      }
    }
  }
}

/// Collects entries, and writes them in blocks.
private struct BringingOver {
  private let garage: Garage
  private let includesOlder: Bool
  private let admission: EntryAdmission
  private var block: [(entry: AdmittedEntry, isOfLastState: Bool)] = []
  private var byteCount = 0
  /// The keys of entries that this call copied from an older state, and that newer ones may replace.
  private var older: Set<StorageKey> = []
  /// The tags of records that are put without entries, because indexes did not take one of them. These indexes are
  /// completed once, at the end.
  private var unindexedTags: Set<UInt64> = []
  private var names = OtherNames()
  /// The records of the last state whose objects may have others, under other names of their types. If the lost store had both,
  /// both come over.
  private var named: Set<StorageKey> = []
  /// The tags of records that came when it was not known that their objects may have others. They are taken for records of the
  /// lost store.
  private var namelessTags: Set<UInt64> = []
  /// The indexes that were emptied in the present transaction.
  private var emptiedIndexes: Set<UInt64> = []
  var report = SalvageReport()

  private static let blockCount = 2000
  private static let blockByteCount = 8 << 20

  init(_ garage: Garage, includesOlder: Bool) {
    self.garage = garage
    self.includesOlder = includesOlder
    admission = EntryAdmission(keys: garage.objectKeys)
  }

  mutating func take(_ key: RawSpan, _ value: RawSpan, isOfLastState: Bool) throws {
    let entry: AdmittedEntry?
    do { entry = try admission.admit(key, value) } catch {
      report.damagedCount += 1
      return
    }
    guard let entry else { return }
    block.append((entry, isOfLastState))
    byteCount += entry.byteCount
    if block.count >= BringingOver.blockCount || byteCount >= BringingOver.blockByteCount { try flush() }
  }

  /// Writes the collected entries.
  mutating func flush() throws {
    let block = block
    let before = self
    // The transaction may be tried again.
    self = try garage.withWriteAccess { access in
      var bringing = before
      bringing.emptiedIndexes = []
      for (entry, isOfLastState) in block {
        switch entry {
        case .text:
          try access.admit(entry)
          bringing.report.textCount += 1
        case .record(let key, _, let summary):
          try bringing.put(entry, key, summary, isOfLastState, access)
        case .value(let key, _):
          try bringing.put(entry, valueOf: key, isOfLastState, access)
        }
      }
      return bringing
    }
    self.block.removeAll(keepingCapacity: true)
    byteCount = 0
  }

  /// Puts the value of a typed key. Values do not say when they were set, so of older ones the first that is found is taken.
  private mutating func put(
    _ entry: AdmittedEntry, valueOf key: StorageKey, _ isOfLastState: Bool, _ access: WriteAccess
  ) throws {
    let isPresent = try access.transaction.contains(key)
    if !isOfLastState {
      if isPresent && !older.contains(key) { return }
      if older.insert(key).inserted { report.olderKeyCount += 1 }
      if isPresent || !includesOlder { return }
    }
    if !isPresent { report.keyCount += 1 }
    try access.admit(entry)
  }

  private mutating func put(
    _ entry: AdmittedEntry, _ key: StorageKey, _ summary: RecordSummary, _ isOfLastState: Bool,
    _ access: WriteAccess
  ) throws {
    let possible = (try? names.keys(beside: key)) ?? []
    if possible.isEmpty {
      namelessTags.insert(KeyLayout.tag(inRecordKey: key.bytes.span.bytes))
    } else if isOfLastState {
      named.insert(key)
    }
    let others = try possible.filter { other in
      let bytes = other.bytes.span.bytes
      return try !named.contains(other) && !namelessTags.contains(KeyLayout.tag(inRecordKey: bytes))
        && access.transaction.contains(bytes)
    }
    let present = try ([key] + others).compactMap { try timeOfRecord($0, access) }.max()
    if !isOfLastState {
      if present != nil && !older.contains(key) { return }
      if older.insert(key).inserted {
        report.olderCount += 1
        if report.olderObjects.count < SalvageReport.maximumOlderCount, let identity = identity(key, summary)
        {
          report.olderObjects.append(identity)
        }
        if includesOlder { report.objectCount += 1 }
      }
      if !includesOlder { return }
    } else if present == nil {
      report.objectCount += 1
    }
    if let present, present >= summary.modificationTime { return }
    // The same object under another name of its type.
    if !others.isEmpty { try access.removeRecords(others) }
    let tag = KeyLayout.tag(inRecordKey: key.bytes.span.bytes)
    if unindexedTags.contains(tag) { return try putUnindexed(entry, tag, access) }
    do {
      try access.admit(entry)
      // Indexes that were emptied may have entries again, if records under several tags have some in one.
      emptiedIndexes = []
    } catch {
      // The checksum says that the record is undamaged. But an index may need more for it: its shape, which is lost or comes
      // later in the pages; or that an object that has the same unique value gets its own later value first.
      switch error {
      case is GraphCodingError: break
      case GarageError.notUnique: access.pending.failure = nil
      default: throw error
      }
      try putUnindexed(entry, tag, access)
    }
  }

  /// Puts a record without entries, in the transaction that takes its indexes out of use: the call may end before they
  /// are completed.
  private mutating func putUnindexed(_ entry: AdmittedEntry, _ tag: UInt64, _ access: WriteAccess) throws {
    try access.emptyIndexes(ofTag: tag, &emptiedIndexes)
    try access.admit(entry, isIndexed: false)
    // Of changes that stay unsaved, the indexes are as they were.
    if access.overlay == nil { unindexedTags.insert(tag) }
  }

  /// When the existing object was encoded; nil if there is none, or a damaged one.
  private func timeOfRecord(_ key: StorageKey, _ access: WriteAccess) throws -> Int64? {
    let bytes = key.bytes.span.bytes
    return try access.withReplaceableValue(bytes) { record in
      guard let record else { return nil }
      return try? garage.objectKeys.header(of: bytes, record, typeName: "").modificationTime
    }
  }

  /// Completes the indexes that lack records, also those of a call that ended early. A unique one is left unused if
  /// objects share a value: the report says so.
  mutating func completeIndexes() throws {
    do {
      // One that somebody else completed before the shapes of all records were there lacks their values.
      try garage.repairIndexes()
      while try garage.fillIndexes() != nil {}
    } catch GarageError.notUnique(let index, let value, let existing) {
      report.notes.append(
        """
        The index "\(index)" is unique and is not used, because the object "\(existing)" and another one both have \
        \(value). Give one of them another value, and call buildIndexes.
        """)
    }
  }

  private func identity(_ key: StorageKey, _ summary: RecordSummary) -> RecordIdentity? {
    let bytes = key.bytes.span.bytes
    let inKey = [UInt8](copying: bytes.extracting(KeyLayout.identifierOffset...))
    guard let identifier = summary.wholeIdentifier ?? Identifier(bytes: inKey) else { return nil }
    return RecordIdentity(tag: KeyLayout.tag(inRecordKey: bytes), identifier: identifier)
  }
}

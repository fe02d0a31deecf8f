internal import GarageCoding
public import GarageDriver

/// Brings over from a damaged store into another garage what can be read of it.
///
/// ```swift
/// let garage = try Garage(SQLiteStorage(at: newPlace))
/// let report = try GarageSalvage(from: SQLitePages(at: damaged), into: garage).run()
/// ```
/// The pages of the damaged store are read as they are, without its engine: `SQLitePages`, `LMDBPages`, and `SealedPages`
/// around one of them. Whatever looks like an entry is judged by itself: a record and the value of a key by its checksum, a
/// text by its digest. What is whole comes over as it is; indexes and the entries by which objects are found by their sync
/// status are made anew. The damaged store is not changed, and nobody may have it open.
///
/// Afterwards ``Garage/verify(progress:)`` of the new garage says what is missing, and ``Garage/repair(progress:)`` makes
/// again what can be.
public struct GarageSalvage {
  /// What is read.
  public let source: any SalvageSource
  /// The garage that gets what is whole.
  public let garage: Garage
  /// Whether objects come over, too, that were found only where an older state of the store may be: they may have been
  /// deleted since.
  public let includesOlder: Bool

  /// Reads this, and brings it over into that.
  public init(from source: any SalvageSource, into garage: Garage, includingOlder: Bool = false) {
    self.source = source
    self.garage = garage
    includesOlder = includingOlder
  }

  /// Brings over what is whole, in writes of some thousand entries each.
  ///
  /// Of an object that the garage has already the later one is kept, so that the same call can be made again where one was
  /// ended early.
  ///
  /// - Parameter progress: is told how many of the entries are gone through. What it throws ends the call, and so does
  ///   cancelling the task; what was brought over by then stays.
  /// - Returns: what was brought over, and what was not.
  /// - Throws: ``GarageError/storage(_:)`` where there is nothing to read or the garage cannot be written,
  ///   ``GarageError/notUnique(index:value:existing:)``, `CancellationError`, what `progress` throws,
  ///   ``GarageError/closed``.
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
        // What is older has to wait until it is known what is not.
        for isOfLastState in hasOlder ? [true, false] : [true] {
          _ = try source.forEachEntry { key, value, isLast in
            if isLast != isOfLastState { return }
            try reporter.advance()
            try bringing.take(key, value, isOfLastState: isLast)
          }
          try bringing.flush()
        }
        if bringing.leavesIndexes { try garage.repairIndexes() }
        try reporter.end()
        return bringing.report
      }
    }
  }
}

/// Gathers entries, and writes them in blocks.
private struct BringingOver {
  private let garage: Garage
  private let includesOlder: Bool
  private let admission: EntryAdmission
  private var block: [(entry: AdmittedEntry, isOfLastState: Bool)] = []
  private var byteCount = 0
  /// The keys of what was brought over in this call from an older state, which something newer may replace.
  private var older: Set<StorageKey> = []
  /// Whether there are records now that indexes know nothing of.
  private(set) var leavesIndexes = false
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

  /// Writes what was gathered.
  mutating func flush() throws {
    let block = block
    let before = self
    // The transaction may be tried again.
    self = try garage.withWriteAccess { access in
      var bringing = before
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

  /// The value of a typed key, which does not say when it was set: of older ones the first that is found is as good as another.
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
    let present = try timeOfRecord(key, access)
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
    do { try access.admit(entry) } catch is GraphCodingError {
      // A record is whole where its checksum says so, and an index may have to know more of it: its shape, which is lost or
      // stands behind it.
      try access.admit(entry, isIndexed: false)
      leavesIndexes = true
    }
  }

  /// When the object was encoded that is there; nil where there is none, or a damaged one.
  private func timeOfRecord(_ key: StorageKey, _ access: WriteAccess) throws -> Int64? {
    let bytes = key.bytes.span.bytes
    return try access.withReplaceableValue(bytes) { record in
      guard let record else { return nil }
      return try? garage.objectKeys.header(of: bytes, record, typeName: "").modificationTime
    }
  }

  private func identity(_ key: StorageKey, _ summary: RecordSummary) -> RecordIdentity? {
    let bytes = key.bytes.span.bytes
    let inKey = [UInt8](copying: bytes.extracting(KeyLayout.identifierOffset...))
    guard let identifier = summary.wholeIdentifier ?? Identifier(bytes: inKey) else { return nil }
    return RecordIdentity(tag: KeyLayout.tag(inRecordKey: bytes), identifier: identifier)
  }
}

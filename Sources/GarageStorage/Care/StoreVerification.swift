internal import GarageCoding
internal import GarageDriver

/// Goes through one state of a store and notes in a report what is wrong with it.
final class StoreVerification {
  private let garage: Garage
  private let transaction: any ReadTransaction
  private let keys: ObjectKeys
  @exclusivity(unchecked) private var report = VerificationReport()
  @exclusivity(unchecked) private var progress: ProgressReporter
  @exclusivity(unchecked) private var index: RecordIndex
  private let verifier = RecordVerifier()
  /// The name of the type that was named last.
  @exclusivity(unchecked) private var lastName: (tag: UInt64, name: String)?
  /// The references of the record at hand: the tags, each once in a row, and the objects that are not there.
  @exclusivity(unchecked) private var targetTags: [UInt64] = []
  @exclusivity(unchecked) private var missing: [(kind: ReferenceKind, tag: UInt64, target: Identifier)] = []
  /// The tags of keys, classes and references that were met; and those met last, each at a place that the tag itself gives.
  private var tagsMet: Set<UInt64> = []
  @exclusivity(unchecked) private var lastTags = [UInt64?](repeating: nil, count: 64)
  /// How often a reference's property was looked for, for which the whole record is read as a tree.
  private var pathCount = 0
  private static let maximumPathCount = 1000
  @exclusivity(unchecked) private var pages = PagesRead()

  init(_ access: ReadAccess, _ progress: @escaping (CareProgress) throws -> Void) throws {
    let transaction = access.transaction
    (garage, self.transaction) = (access.garage, transaction)
    keys = garage.objectKeys
    let records = KeyLayout.allRecords
    var (before, behind) = (StorageKeyRange.all, StorageKeyRange.all)
    before.upperBound = records.lowerBound
    behind.lowerBound = records.upperBound ?? []
    var total = 0
    for range in [before, behind] {
      // Going through the store will come upon the damage, too, and note it.
      do { total += try transaction.keyCount(in: range) } catch let error as StorageError
        where error.tellsOfDamage
      {}
    }
    var index = RecordIndex()
    var pages = PagesRead()
    do {
      try transaction.scanKeys(records, .forward) { key in
        total += 1
        pages.note(key.byteCount, in: transaction)
        if KeyLayout.isRecord(key) { index.append(key) }
        return .continue
      }
    } catch let error as StorageError where error.tellsOfDamage {
      report.add(.damage, .engine, "\(error.message) References to the objects behind it are not looked at.")
    }
    self.index = index
    self.progress = ProgressReporter(total: total, progress)
  }

  func run() throws -> VerificationReport {
    try verifyTexts()
    try verifyRecords()
    try verifySyncStatuses()
    try verifyIndexes()
    try verifyValues()
    try verifyRest()
    try progress.end()
    return report
  }

  /// Compares the entries of indexes with the records, in both directions.
  private func verifyIndexes() throws {
    try verifyEntries()
    do {
      let indexes = try garage.verifyIndexes(in: transaction)
      for fault in indexes.faults {
        report.add(.damage, .index, "\(fault). dropIndex(_:of:) and buildIndexes make it anew.")
      }
    } catch {
      guard let damage = translated(error) as? GarageError, damage.tellsOfDamage else { throw error }
      if case .storage(let failure) = damage {
        report.add(.damage, .index, "The indexes could not be read: \(failure.message)")
      } else {
        report.add(.damage, .index, "\(damage)")
      }
    }
  }

  /// Checks that each entry belongs to an index.
  private func verifyEntries() throws {
    // A damaged catalog is reported elsewhere. Without it the owner of an entry cannot be told.
    let catalog = (try? garage.indexing.catalog(in: transaction)).map { $0?.items ?? [] }
    let ranges = catalog?.flatMap(\.definition.entryRanges)
    // Entries of one index stand together.
    var last: StorageKeyRange?
    try visit(KeyLayout.allEntries, readingValues: false) { key, _ in
      guard let ranges else { return }
      if let last, last.contains(key) { return }
      last = ranges.first { $0.contains(key) }
      if last != nil { return }
      report.add(
        .notice, .unknown,
        "an entry is of no index that the store has: \(StorageKey(key)). Another program put it there.")
    }
  }

  // MARK: - Going through

  /// Lends every entry in a range, with no value where that does not open or could not be read.
  ///
  /// Where the engine gives up inside of the range, that is noted, and the rest of the range is left.
  private func visit(
    _ range: StorageKeyRange, readingValues: Bool = true,
    _ body: (RawSpan, RawSpan?) throws -> Void
  ) throws {
    do {
      if keys.isSealed && readingValues {
        return try transaction.forEachEntryByItself(in: range, isSealed: true) { key, value in
          try count(key, value)
          try body(key, value)
        }
      }
      if !readingValues {
        return try transaction.scanKeys(range, .forward) { key in
          try count(key, nil)
          try body(key, nil)
          return .continue
        }
      }
      try transaction.scan(range, .forward) { key, value in
        try count(key, value)
        try body(key, value)
        return .continue
      }
    } catch let error as StorageError where error.tellsOfDamage {
      report.add(
        .damage, .engine,
        "\(error.message) What stands behind it in the same part of the store was not looked at.")
    }
  }

  private func count(_ key: RawSpan, _ value: RawSpan?) throws {
    let byteCount = key.byteCount + (value?.byteCount ?? 0)
    report.byteCount += byteCount
    pages.note(byteCount, in: transaction)
    try progress.advance()
  }

  private static let sealAdvice = """
    its seal does not open: it was damaged, changed, put here from another place, or sealed with a key that was not given
    """

  private func typeName(_ tag: UInt64) -> String {
    // Records of a type stand together.
    if let lastName, lastName.tag == tag { return lastName.name }
    let name = lookUpTypeName(tag)
    lastName = (tag, name)
    return name
  }

  private func lookUpTypeName(_ tag: UInt64) -> String {
    garage.texts.reportedName(ofTag: tag, in: transaction)
  }

  // MARK: - Texts

  private func verifyTexts() throws {
    for (kind, range) in [(TextName.Kind.tag, KeyLayout.allTagTexts), (.shape, KeyLayout.allShapeTexts)] {
      try visit(range) { key, text in
        verifyText(kind, key, text)
      }
    }
  }

  private func verifyText(_ kind: TextName.Kind, _ key: RawSpan, _ text: RawSpan?) {
    let what = kind == .tag ? "the name of a type" : "the coding keys of a type"
    guard let name = KeyLayout.textName(kind, key) else {
      return report.add(
        .notice, .unknown, "an entry has a key as for \(what), of another length: \(StorageKey(key))")
    }
    let advice = "Opening the store in a program that parks an object of that type puts it right."
    guard let text else {
      return report.add(
        .damage, .text, hexadecimal(name.digest), "\(what) cannot be read: \(Self.sealAdvice). \(advice)")
    }
    let bytes = [UInt8](copying: text)
    guard name.isDigest(of: bytes), kind == .tag || RecordVerifier.isShapeText(bytes) else {
      return report.add(
        .damage, .text, hexadecimal(name.digest),
        "\(what) is damaged: it does not have the digest that it is kept under. \(advice)")
    }
  }

  // MARK: - Records

  private func verifyRecords() throws {
    try visit(KeyLayout.allRecords) { key, record in
      guard KeyLayout.isRecord(key) else {
        return report.add(
          .notice, .unknown, "an entry has a key as for an object, without an identifier: \(StorageKey(key))")
      }
      let tag = KeyLayout.tag(inRecordKey: key)
      verifyName(of: tag)
      report.objectCount += 1
      try verifyRecord(tag, key, record)
    }
  }

  /// Objects of a type whose name is gone are found only by programs that have the type. Each tag is looked up once.
  private func verifyName(of tag: UInt64) {
    let place = Int(tag % UInt64(lastTags.count))
    if lastTags[place] == tag { return }
    lastTags[place] = tag
    guard tagsMet.insert(tag).inserted else { return }
    let name = TextName(kind: .tag, digest: tag)
    let isThere = (try? transaction.contains(KeyLayout.text(name))) ?? true
    if !isThere {
      report.add(
        .damage, .text, hexadecimal(tag),
        "objects are kept under a type whose name is not in the store. Parking one of them again puts it there."
      )
    }
  }

  private func verifyRecord(_ tag: UInt64, _ key: RawSpan, _ record: RawSpan?) throws {
    let type = typeName(tag)
    guard let record else {
      return report.add(
        .damage, .record, type: type, keys.identifierText(of: key, nil),
        "\(Self.sealAdvice). Restore it from a backup, or delete it.")
    }
    missing.removeAll(keepingCapacity: true)
    targetTags.removeAll(keepingCapacity: true)
    do {
      let summary = try keys.withIdentifier(of: key, record, typeName: type) { keyIdentifier in
        if Identifier.isDamaged(keyForm: keyIdentifier) {
          throw GraphCodingError.corrupt(
            type: type, identifier: keys.identifierText(of: key, record),
            reason: "its key holds no identifier")
        }
        return try verifier.verify(
          tag: tag, keyIdentifier: keyIdentifier, record: record, typeName: type, shapeText: shapeText
        ) { kind, tag, identifier in
          if targetTags.last != tag { targetTags.append(tag) }
          if let target = try missingTarget(tag, identifier) { missing.append((kind, tag, target)) }
        }
      }
      if let concrete = summary.concreteTag { verifyName(of: concrete) }
      for tag in targetTags { verifyName(of: tag) }
      try verifyEntry(for: summary.syncStatus, type, key, record)
    } catch let error as GraphCodingError {
      return report.add(
        .damage, .record, type: type, keys.identifierText(of: key, record), "\(GarageError(error))")
    }
    if missing.isEmpty { return }
    let identifier = keys.identifierText(of: key, record)
    for (kind, tag, target) in missing {
      let path = path(of: target, tag, key, record, type)
      report.add(.notice, .reference, type: type, identifier, path: path, missingMessage(kind, tag, target))
    }
  }

  private func shapeText(_ digest: UInt64) throws -> [UInt8]? {
    // Read from the store, and not from what the garage remembers, because the store is verified.
    let key = KeyLayout.text(TextName(kind: .shape, digest: digest)).bytes
    return try transaction.withReplaceableValue(for: key.span.bytes, isSealed: keys.isSealed) {
      text -> [UInt8]? in
      guard let text else { return nil }
      return [UInt8](copying: text)
    }
  }

  // MARK: - References

  /// The identifier of a target without a record; nil where it has one.
  private func missingTarget(_ tag: UInt64, _ identifier: UnsafeRawBufferPointer) throws -> Identifier? {
    let isThere: Bool
    if keys.hidesIdentifiers || Identifier.isCut(byteCount: identifier.count) {
      isThere = try Identifier.withKeyForm(of: identifier) { keyForm in
        try keys.withStorageKey(tag: tag, keyForm.bytes) { index.number(of: $0) != nil }
      }
    } else {
      isThere = index.number(tag: tag, identifier.bytes) != nil
    }
    return isThere ? nil : Identifier(bytes: Array(identifier))
  }

  private func missingMessage(_ kind: ReferenceKind, _ tag: UInt64, _ target: Identifier) -> String {
    let name = "\(typeName(tag)) \"\(target)\""
    let others = index.tags.filter { other in
      guard other != tag, let key = try? keys.record(tag: other, target) else { return false }
      return index.number(of: key.bytes.span.bytes) != nil
    }
    if !others.isEmpty {
      return """
        refers to \(name), which is not there. \(others.map(typeName).joined(separator: ", ")) has an object of that \
        identifier: if the type was renamed, all is well, and migrateAll(fromOldClassName:to:) makes it lasting.
        """
    }
    let how =
      switch kind {
      case .eager: "A property that has to hold it makes the object unreadable; an optional one is nil."
      case .linked: "The link is read as empty."
      case .lazy: "Nothing is found behind the reference."
      }
    return "refers to \(name), which is not there. \(how)"
  }

  /// Where in a record a reference stands.
  private func path(
    of target: Identifier, _ tag: UInt64, _ key: RawSpan, _ record: RawSpan, _ type: String
  ) -> String? {
    guard pathCount < Self.maximumPathCount else { return nil }
    pathCount += 1
    let content = try? keys.withIdentifier(of: key, record, typeName: type) {
      try RecordContent(
        tag: KeyLayout.tag(inRecordKey: key), keyIdentifier: $0, record: record, typeName: type,
        shapeText: shapeText)
    }
    let identity = RecordIdentity(tag: tag, identifier: target)
    return content?.value.path(of: identity)
  }

  // MARK: - Sync statuses

  /// A record with a status has an entry by which it is found.
  private func verifyEntry(
    for status: SyncStatus?, _ type: String, _ key: RawSpan, _ record: RawSpan
  ) throws {
    guard let status else { return }
    if try transaction.contains(KeyLayout.syncStatus(status, ofRecord: key)) { return }
    report.add(
      .damage, .syncStatus, type: type, keys.identifierText(of: key, record),
      "the object is \(status), and has no entry by which it is found so. Setting its sync status again puts it right."
    )
  }

  private func verifySyncStatuses() throws {
    try visit(KeyLayout.allSyncStatuses, readingValues: false) { key, _ in
      guard let (status, recordKey) = KeyLayout.statusAndRecord(ofSyncStatus: StorageKey(key)) else {
        return report.add(
          .notice, .unknown,
          "an entry has a key as for a sync status, with no such status: \(StorageKey(key))")
      }
      try verifyRecord(behind: status, recordKey)
    }
  }

  /// An entry whose record is gone or has another status means nothing, and is left over.
  private func verifyRecord(behind status: SyncStatus, _ key: StorageKey) throws {
    let bytes = key.bytes.span.bytes
    let found = try transaction.withReplaceableValue(for: bytes, isSealed: keys.isSealed) {
      record -> SyncStatus?? in
      guard let record else { return .none }
      // A record that cannot be read was reported already.
      return .some(record.byteCount == 0 ? status : RecordSummary.uncheckedSyncStatus(of: record))
    }
    if found == .some(status) { return }
    let type = typeName(KeyLayout.tag(inRecordKey: bytes))
    let reason = found == nil ? "the object is not there" : "the object has another one"
    report.add(
      .notice, .syncStatus, type: type, keys.identifierText(of: bytes, nil),
      "an entry says that the object is \(status): \(reason). It is passed over.")
  }

  // MARK: - Typed keys

  private func verifyValues() throws {
    try visit(KeyLayout.allValues) { key, value in
      report.keyCount += 1
      try verifyValue(key, value)
    }
  }

  private func verifyValue(_ key: RawSpan, _ value: RawSpan?) throws {
    let name = KeyName.text(ofKey: key)
    guard let value else {
      return report.add(.damage, .value, name, "\(Self.sealAdvice). Set it again, or remove it.")
    }
    missing.removeAll(keepingCapacity: true)
    do {
      try verifier.verify(valueUnder: KeyLayout.checked(key), value, shapeText: shapeText) {
        kind, tag, identifier in
        if let target = try missingTarget(tag, identifier) { missing.append((kind, tag, target)) }
      }
    } catch let damage as ValueDamage {
      return report.add(.damage, .value, name, "\(GarageError(damage, key: name))")
    } catch let error as GraphCodingError {
      return report.add(.damage, .value, name, "\(GarageError(error))")
    }
    for (kind, tag, target) in missing {
      report.add(.notice, .reference, name, missingMessage(kind, tag, target))
    }
  }

  // MARK: - The rest

  /// Metadata were read when the garage was opened, and are read again; all other entries are none of a garage's.
  private func verifyRest() throws {
    do {
      if try StoreMetadata(in: transaction, driver: garage.store.driver.info.name) == nil {
        report.add(.damage, .metadata, "the entry that makes the store a garage is gone")
      }
    } catch {
      guard let damage = translated(error) as? GarageError, damage.tellsOfDamage else { throw error }
      report.add(.damage, .metadata, "\(damage)")
    }
    for range in KeyLayout.unknownRanges {
      try visit(range, readingValues: false) { key, _ in
        report.add(
          .notice, .unknown,
          """
          an entry is none of a garage's: \(StorageKey(key)). Another program, or a newer version of this one, put it there.
          """)
      }
    }
  }
}

extension StorageError {
  /// Whether it says that what is stored cannot be read, and not that reading was refused or cut off.
  var tellsOfDamage: Bool {
    if isRetryable { return false }
    return isOfOneValue || [.corrupt, .io, .notAStorage, .engine].contains(kind)
  }
}

extension GarageError {
  /// The same for an error that the storage has thrown, or that was found in what it gave.
  fileprivate var tellsOfDamage: Bool {
    if case .storage(let failure) = self { failure.tellsOfDamage } else { !isFailureOfStore(self) }
  }
}

extension StorageKeyRange {
  /// Whether the key is in the range.
  fileprivate func contains(_ key: RawSpan) -> Bool {
    if compareKeys(key, lowerBound.span.bytes) < 0 { return false }
    guard let upperBound else { return true }
    return compareKeys(key, upperBound.span.bytes) < 0
  }
}

/// How much was read since pages were last released. For a large store memory would otherwise be as large as its file.
private struct PagesRead {
  private static let mostByteCount = 8 << 20
  private var byteCount = 0

  @inline(__always)
  mutating func note(_ entryByteCount: Int, in transaction: any ReadTransaction) {
    // Reading keys alone also loads the pages with their values.
    byteCount += max(entryByteCount, 128)
    if byteCount < Self.mostByteCount { return }
    byteCount = 0
    (transaction as? any PageForgetting)?.forgetPages()
  }
}

internal import GarageCoding
internal import GarageDriver

/// Finds the records that refer to others, in one state of a store: by the index of references where it has one that is
/// ready, else by reading the tables of all records.
struct ReferrerSearch {
  private let access: ReadAccess
  /// The index; nil where all records are read.
  let item: IndexCatalog.Item?
  private let hash: KeyedHash?
  /// Whether records have unsaved changes, so that no entry can be relied on.
  let isUnsaved: Bool

  init(_ access: ReadAccess) throws {
    self.access = access
    let items = try access.garage.indexing.catalog(in: access)?.items ?? []
    var found = items.filter { $0.definition.isOfReferences && $0.state == .ready }
    var isUnsaved = false
    if let changes = access.unsavedChanges, changes.hasChange(in: KeyLayout.allRecords) {
      isUnsaved = true
      found.removeAll { !(changes.indexes?.contains($0.entriesID) ?? false) }
    }
    self.isUnsaved = isUnsaved
    // If there are both kinds, the one that needs no hash.
    item = found.first { !$0.definition.isHashed } ?? found.first
    hash = item.flatMap { $0.definition.isHashed ? KeyedHash(key: $0.hashKey) : nil }
  }

  private var transaction: any ReadTransaction { access.transaction }

  /// Visits the records that refer to some of these targets, once for each target that they refer to.
  ///
  /// `visit` runs while bytes are lent, and so changes nothing.
  ///
  /// - Parameter targets: keys of records, whether or not these are there.
  func forEachReferrer(
    ofAny targets: some Collection<StorageKey>, _ visit: (StorageKey, StorageKey) throws -> ScanStep
  ) throws {
    if targets.isEmpty { return }
    guard item != nil else { return try forEachReferrerOfAll(Set(targets), visit) }
    for target in targets where try !forEachEntry(of: target, { try visit($0, target) }) { return }
  }

  /// Visits the same, and tells of each whether it counts no more (``ReadAccess/isSuperseded(_:)``). Those of which that has to
  /// be asked come last, when no bytes are lent any more.
  func forEachReferrer(
    ofAny targets: some Collection<StorageKey>,
    tellingSuperseded visit: (_ referrer: StorageKey, _ target: StorageKey, Bool) throws -> ScanStep
  ) throws {
    var doubtful: [(referrer: StorageKey, target: StorageKey)] = []
    var isStopped = false
    try forEachReferrer(ofAny: targets) { referrer, target in
      let tag = KeyLayout.tag(inRecordKey: referrer.bytes.span.bytes)
      if !RecordTypeFacts.superseding(tag).isEmpty {
        doubtful.append((referrer, target))
        return .continue
      }
      isStopped = try visit(referrer, target, false) == .stop
      return isStopped ? .stop : .continue
    }
    if isStopped { return }
    for (referrer, target) in doubtful {
      if try visit(referrer, target, access.isSuperseded(referrer)) == .stop { return }
    }
  }

  /// The referrers of one object, if entries alone tell them; nil where records would have to be asked.
  func identities(referringTo target: StorageKey) throws -> [RecordIdentity]? {
    if item == nil || isUnsaved || access.garage.objectKeys.hidesIdentifiers { return nil }
    var found: [RecordIdentity] = []
    var isWhole = true
    var lastTag: UInt64?
    try transaction.scanKeys(entries(of: target), .forward) { entry in
      guard let (tag, keyForm) = KeyLayout.referringIdentity(ofReference: entry) else {
        throw namesNoRecord(StorageKey(entry))
      }
      guard let identifier = Identifier(bytes: keyForm), !identifier.isCut else {
        isWhole = false
        return .stop
      }
      if tag != lastTag {
        lastTag = tag
        // Another record of the object may count in its place.
        isWhole = RecordTypeFacts.superseding(tag).isEmpty
        if !isWhole { return .stop }
      }
      found.append(RecordIdentity(tag: tag, identifier: identifier))
      return .continue
    }
    return isWhole ? found : nil
  }

  private func entries(of target: StorageKey) throws -> StorageKeyRange {
    var prefix = OrderedBytes()
    try KeyLayout.appendReferencePrefix(ofTarget: target.bytes.span.bytes, hash, to: &prefix)
    return .prefix(prefix.bytes)
  }

  private func namesNoRecord(_ entry: StorageKey) -> GarageError {
    .corruptRecord(type: "all types", identifier: "index entry \(entry)", reason: "it names no record")
  }

  /// Visits the records that entries name; false where `visit` stopped.
  private func forEachEntry(of target: StorageKey, _ visit: (StorageKey) throws -> ScanStep) throws -> Bool {
    var isStopped = false
    try transaction.forEachKeyBlock(entries(of: target)) { entries in
      for entry in entries {
        guard let referrer = KeyLayout.referrer(ofReference: entry.bytes.span.bytes) else {
          throw namesNoRecord(entry)
        }
        if isUnsaved, try !refers(referrer, to: target) { continue }
        isStopped = try visit(referrer) == .stop
        if isStopped { return .stop }
      }
      return .continue
    }
    return !isStopped
  }

  private func refers(_ referrer: StorageKey, to target: StorageKey) throws -> Bool {
    var refers = false
    try access.forEachTarget(ofRecord: referrer) { _, key in
      if compareKeys(key, target.bytes.span.bytes) == 0 { refers = true }
    }
    return refers
  }

  private func forEachReferrerOfAll(
    _ targets: Set<StorageKey>, _ visit: (StorageKey, StorageKey) throws -> ScanStep
  ) throws {
    let tags = Set(targets.map { KeyLayout.tag(inRecordKey: $0.bytes.span.bytes) })
    try transaction.scan(KeyLayout.allRecords, .forward) { key, record in
      guard RecordSummary.uncheckedRefersToOthers(record) else { return .continue }
      var found: Set<StorageKey> = []
      try access.forEachTarget(of: key, record, under: tags) { _, target in
        let target = StorageKey(target)
        if targets.contains(target) { found.insert(target) }
      }
      if found.isEmpty { return .continue }
      let referrer = StorageKey(key)
      for target in found.sorted() where try visit(referrer, target) == .stop { return .stop }
      return .continue
    }
  }
}

extension ReadAccess {
  /// Visits the keys of the records that a record refers to, whether or not these are there.
  ///
  /// - Parameter tags: nil for all tags.
  /// - Throws: ``GraphCodingError`` for a damaged record.
  func forEachTarget(
    of key: RawSpan, _ record: RawSpan, under tags: Set<UInt64>? = nil,
    _ visit: (ReferenceKind, RawSpan) throws -> Void
  ) throws {
    let own = KeyLayout.tag(inRecordKey: key)
    try garage.objectKeys.withIdentifier(of: key, record, typeName: "object") { identifier in
      try FieldRecord.with(
        tag: own, keyIdentifier: identifier, record: record, typeName: "object", nil
      ) { record in
        try record.forEachReference { kind, tag, identifier in
          if let tags, !tags.contains(tag) { return }
          try Identifier.withKeyForm(of: identifier) { identifier in
            try garage.objectKeys.withStorageKey(tag: tag, identifier.bytes) { try visit(kind, $0) }
          }
        }
      }
    }
  }

  /// The same of the record with this key; nothing where there is none.
  func forEachTarget(ofRecord key: StorageKey, _ visit: (ReferenceKind, RawSpan) throws -> Void) throws {
    let bytes = key.bytes
    try transaction.withValue(for: bytes.span.bytes) { record in
      guard let record, RecordSummary.uncheckedRefersToOthers(record) else { return }
      try forEachTarget(of: bytes.span.bytes, record, visit)
    }
  }

  /// The keys of the objects that references with this identity lead to: its own key and, if its type is known, those under the
  /// type's former names.
  func keys(of identity: RecordIdentity, _ tags: [UInt64]) throws -> [StorageKey] {
    var all = [identity.tag]
    for tag in tags where !all.contains(tag) { all.append(tag) }
    return try all.map { try garage.objectKeys.record(tag: $0, identity.identifier) }
  }
}

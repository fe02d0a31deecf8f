internal import GarageCoding
internal import GarageDriver

extension Garage {
  /// Makes all objects that were parked under an old type name objects of this type.
  ///
  /// `oldClassName` is the old type tag: the name that the type had, `MyApp.Person`, or the one that it declared
  /// (``TypeTagged``). A name without a module is also looked for in the module of the new type. The records move unchanged,
  /// with identifiers, times and sync statuses, so `T` must be able to read their content (``Evolving`` helps). References to
  /// the old name, in all records and in the values of typed keys, are changed to the new one, so `T` need not declare the old
  /// name as a former tag. For this, all records are read once. If the old name is that of a subclass, its objects become `T`s
  /// in place; `T` must then be a subclass in the same hierarchy. If `T` is a class that got a superclass that is `Codable` and
  /// `Identifiable`, its own name is the old one: its objects move to the identifiers that the hierarchy shares.
  ///
  /// Some identifiers are not changed: digests of values that refer to renamed objects. If such a value is parked again, it
  /// becomes another record.
  ///
  /// Everything is done in one write, completely or not at all. Damaged records are left as they are and reported, and so are
  /// references to them. Once they are repaired, they move with the next call.
  ///
  /// - Throws: ``GarageError/identifierConflict(type:identifier:oldName:)`` if an identifier exists under both names,
  ///   ``GarageError/notUnique(index:value:existing:)`` if a unique index of the new type forbids one of the objects,
  ///   ``GarageError/invalidTypeTag(type:reason:)`` if objects of a subclass would need other identifiers,
  ///   ``GarageError/missingConformance(_:)``, ``GarageError/nestedWrite``, ``GarageError/storage(_:)``. Nothing is changed
  ///   then.
  @discardableResult
  public func migrateAll<T: Codable>(fromOldClassName oldClassName: String, to type: T.Type) throws
    -> MigrationReport
  {
    try withWriteAccess { try $0.migrateAll(fromOldClassName: oldClassName, to: type) }
  }

  /// Makes all objects that were parked as one type objects of another type.
  ///
  /// - Throws: as ``migrateAll(fromOldClassName:to:)``, and ``GarageError/invalidTypeTag(type:reason:)`` for an old type
  ///   whose tag is in conflict.
  @discardableResult
  public func migrateAll<T: Codable>(from oldType: Any.Type, to type: T.Type) throws -> MigrationReport {
    try withWriteAccess { try $0.migrateAll(from: oldType, to: type) }
  }
}

extension WriteAccess {
  /// Makes all objects that were parked under an old type name objects of this type.
  func migrateAll<T: Codable>(fromOldClassName oldClassName: String, to type: T.Type) throws
    -> MigrationReport
  {
    var names = [oldClassName]
    let own = String(reflecting: type)
    if !oldClassName.contains("."), let dot = own.firstIndex(of: ".") {
      names.append(own[...dot] + oldClassName)
    }
    var report = MigrationReport()
    for name in names { report.add(try TypeRenaming(self, from: TypeTag(name: name), to: type).run()) }
    return report
  }

  /// Makes all objects that were parked as one type objects of another type.
  func migrateAll<T: Codable>(from oldType: Any.Type, to type: T.Type) throws -> MigrationReport {
    try TypeRenaming(self, from: TypeTag.of(oldType), to: type).run()
  }
}

/// Moves all objects from one type tag to another, in one transaction.
private struct TypeRenaming {
  private let access: WriteAccess
  private let old: TypeTag
  private let name: String
  /// The tag of the new type's identity space, and the tag of the type itself.
  private let space: TypeTag
  private let concrete: TypeTag
  /// The records under the old name that cannot move. References to them keep that name.
  private var staying: Set<StorageKey> = []
  private var report = MigrationReport()

  init(_ access: WriteAccess, from old: TypeTag, to type: any Codable.Type) throws {
    let description = try TypeDescription.of(type)
    self.access = access
    self.old = old
    name = description.name
    space = description.identityTag
    concrete = description.tag
  }

  private var transaction: any WriteTransaction { access.transaction }
  private var objectKeys: ObjectKeys { access.garage.objectKeys }

  func run() throws -> MigrationReport {
    if old == concrete && !moves { return report }
    var renaming = self
    for tag in [space, concrete] {
      let name = TextName(kind: .tag, digest: tag.digest)
      try StoreTexts.put(
        Array(tag.name.utf8), name, in: transaction, isSealed: objectKeys.isSealed)
      access.pending.newTexts.insert(name)
    }
    if moves {
      try renaming.findStaying()
      try renaming.moveRecords()
    }
    try renaming.visit(KeyLayout.allRecords) { try $0.changedRecord($1, $2) }
    if moves { try renaming.visit(KeyLayout.allValues) { try $0.changedValue($1, $2) } }
    return renaming.report
  }

  /// Whether the old name's records move to the new space. If they are there already, the old name is that of a subclass. The
  /// old name is the type's own if the type was no subclass before.
  private var moves: Bool { old != space }

  private func newKey(_ key: StorageKey) -> StorageKey {
    KeyLayout.record(tag: space.digest, sameIdentifierAs: key.bytes.span.bytes)
  }

  // MARK: - The records under the old name

  /// Finds and reports the records that cannot move. It comes first, because records that do move may refer to them.
  ///
  /// - Throws: ``GarageError/identifierConflict(type:identifier:oldName:)``.
  private mutating func findStaying() throws {
    var (found, failures) = (staying, report)
    try transaction.forEachKeyBlock(KeyLayout.records(tag: old.digest)) { keys in
      // This batch is dropped. Noting entries in it shows that they can be noted when the record moves.
      let batch = try access.beginEntries(putting: [space.digest])
      for key in keys {
        let new = newKey(key)
        if try transaction.contains(new) {
          throw GarageError.identifierConflict(type: name, identifier: try text(of: key), oldName: old.name)
        }
        do {
          guard let record = try movedRecord(key) else { continue }
          if let batch { try access.note(new.bytes.span.bytes, record.span.bytes, in: batch) }
        } catch {
          if isFailureOfStore(error) { throw error }
          found.insert(key)
          failures.fail(name, try text(of: key), translated(error))
        }
      }
      return .continue
    }
    (staying, report) = (found, failures)
  }

  private mutating func moveRecords() throws {
    var count = 0
    try transaction.forEachKeyBlock(KeyLayout.records(tag: old.digest)) { keys in
      for key in keys where !staying.contains(key) {
        // If a unique index forbids a record, that is thrown, as an identifier under both names is. If the record stayed, all
        // references to it would have to keep the old name, which the new type may not know.
        guard let record = try movedRecord(key) else { continue }
        try access.moveRecord(MovedRecord(record, from: key, to: newKey(key)))
        count += 1
      }
      return .continue
    }
    report.rewritten += count
  }

  /// The record under the new name; nil if there is none.
  private func movedRecord(_ key: StorageKey) throws -> [UInt8]? {
    guard let record = try access.recordThatOpens(key, name) else { return nil }
    let isSubclass = space != concrete
    let changed = try objectKeys.withIdentifier(of: key.bytes.span.bytes, record.span.bytes, typeName: name) {
      try RecordSummary.record(
        record.span.bytes, tag: old.digest, keyIdentifier: $0, movedTo: space.digest,
        concreteTag: { $0 ?? (isSubclass ? concrete.digest : nil) },
        renaming: [old.digest: space.digest], except: keeping, typeName: name)
    }
    return changed ?? record
  }

  /// The identifier of a record, which may be damaged, as text.
  private func text(of key: StorageKey) throws -> String {
    let bytes = key.bytes
    return try access.withReplaceableValue(bytes.span.bytes) {
      objectKeys.identifierText(of: bytes.span.bytes, $0)
    }
  }

  // MARK: - References to them

  /// Tells which references keep the old name; nil if none does.
  private var keeping: ((UInt64, UnsafeRawBufferPointer) throws -> Bool)? {
    if staying.isEmpty { return nil }
    return { [staying, objectKeys] tag, identifier in
      try Identifier.withKeyForm(of: identifier) { identifier in
        try objectKeys.withStorageKey(tag: tag, identifier.bytes) { staying.contains(StorageKey($0)) }
      }
    }
  }

  /// The changed form of a record that names the old type; nil if it does not.
  private func changedRecord(_ key: RawSpan, _ record: RawSpan) throws -> Change? {
    let tag = KeyLayout.tag(inRecordKey: key)
    var isOfType = false
    let changed = try objectKeys.withIdentifier(of: key, record, typeName: name) { identifier in
      try RecordSummary.record(
        record, tag: tag, keyIdentifier: identifier, movedTo: tag,
        concreteTag: { concreteTag in
          // Records of the topmost class name no class.
          let isOfTopmost = concreteTag == nil && old == space && tag == space.digest
          guard concreteTag == old.digest || isOfTopmost, old != concrete else { return concreteTag }
          isOfType = true
          return concrete == space ? nil : concrete.digest
        }, renaming: moves ? [old.digest: space.digest] : [:], except: keeping, typeName: name)
    }
    if isOfType && tag != space.digest {
      throw GarageError.invalidTypeTag(
        type: name,
        reason: """
          Objects of "\(old.name)" share their identifiers with their superclass, and \(name) is no subclass of \
          that. Read them, delete them and park them as \(name).
          """)
    }
    return changed.map { ($0, isOfType) }
  }

  /// The changed form of a typed key's value that refers to the old type; nil if it does not. A damaged value is left as it is,
  /// for its readers to report.
  private func changedValue(_ key: RawSpan, _ value: RawSpan) throws -> Change? {
    do {
      let tags = [old.digest: space.digest]
      let changed = try RecordSummary.value(
        value, key: KeyLayout.checked(key), renaming: tags, except: keeping)
      return changed.map { ($0, false) }
    } catch is ValueDamage {
      return nil
    }
  }

  /// The changed bytes of an entry, and whether it is an object of the type.
  private typealias Change = (record: [UInt8], isOfType: Bool)

  /// Visits all entries in a range, and puts the changed form that `change` returns for some.
  private mutating func visit(
    _ range: StorageKeyRange, _ change: (TypeRenaming, RawSpan, RawSpan) throws -> Change?
  ) throws {
    if objectKeys.isSealed { return try visitOneByOne(range, change) }
    var range = range
    var isAtEnd = false
    while !isAtEnd {
      var changes: [(key: StorageKey, change: Change)] = []
      var byteCount = 0
      isAtEnd = true
      var report = self.report
      try transaction.scan(range, .forward) { key, record in
        if let changed = try reporting(key, record, &report, change) {
          changes.append((StorageKey(key), changed))
          byteCount += changed.record.count
        }
        if changes.count < 256 && byteCount < 8 << 20 { return .continue }
        isAtEnd = false
        return .stop
      }
      self.report = report
      // No bytes are lent any more, so the store may be changed.
      for (key, change) in changes { try put(change, for: key) }
      if let last = changes.last { range.lowerBound = last.key.bytes + [0] }
    }
  }

  /// Does the same if values are sealed. A value that does not open would end a scan; here it is reported.
  private mutating func visitOneByOne(
    _ range: StorageKeyRange, _ change: (TypeRenaming, RawSpan, RawSpan) throws -> Change?
  ) throws {
    var report = self.report
    try transaction.forEachKeyBlock(range) { keys in
      for key in keys {
        let bytes = key.bytes
        let changed = try access.withReplaceableValue(bytes.span.bytes) { record -> Change? in
          guard let record else { return nil }
          if record.byteCount == 0 {
            noteSealed(key, &report)
            return nil
          }
          return try reporting(bytes.span.bytes, record, &report, change)
        }
        if let changed { try put(changed, for: key) }
      }
      return .continue
    }
    self.report = report
  }

  /// The changed form of an entry; nil if it does not change, or if it is damaged, which is reported.
  private func reporting(
    _ key: RawSpan, _ record: RawSpan, _ report: inout MigrationReport,
    _ change: (TypeRenaming, RawSpan, RawSpan) throws -> Change?
  ) throws -> Change? {
    do {
      let changed = try change(self, key, record)
      if let changed {
        if changed.isOfType { report.rewritten += 1 } else { report.updatedReferences += 1 }
      }
      return changed
    } catch let error as GraphCodingError {
      // It is damaged, and is left for its readers to report. A record that did not move was reported already.
      if !staying.contains(StorageKey(key)) {
        report.fail(name, objectKeys.identifierText(of: key, record), translated(error))
      }
      return nil
    }
  }

  /// Reports an entry whose seal does not open, unless that was done already: it is not known what it refers to.
  private func noteSealed(_ key: StorageKey, _ report: inout MigrationReport) {
    let bytes = key.bytes
    if staying.contains(key) { return }
    if bytes.first == KeyLayout.recordPrefix {
      let identifier = objectKeys.identifierText(of: bytes.span.bytes, nil)
      report.fail(name, identifier, GarageError(sealDoesNotOpen: identifier, type: name))
    } else {
      let text = KeyName.text(ofKey: bytes.span.bytes)
      report.fail("key", text, GarageError.corruptValue(key: text, reason: "its seal does not open"))
    }
  }

  private func put(_ change: Change, for key: StorageKey) throws {
    if key.bytes.first == KeyLayout.recordPrefix {
      try access.putRecord(change.record.span.bytes, for: key.bytes.span.bytes)
    } else {
      try transaction.put(change.record, for: key)
    }
  }
}

internal import GarageCoding
internal import GarageDriver

extension Garage {
  /// Makes everything that was parked under an old type name an object of this type.
  ///
  /// `oldClassName` is the old type tag: the name that the type had, `MyApp.Person`, or declared (``TypeTagged``). A
  /// name without module is also looked for in the module of the new type. The records move as they are, with
  /// identifiers, times and sync statuses; `T` must read what they hold (``Evolving`` helps). References to the old
  /// name, in all records and in the values of typed keys, are changed to the new one, so `T` need not declare the
  /// old name as a former tag. For this all records are read once. Where the old name is that of a subclass, its
  /// objects become `T`s where they are; `T` must be a subclass of the same hierarchy.
  ///
  /// What is not changed: identifiers that are digests of values which refer to renamed objects. Such a value, parked
  /// again, is another record.
  ///
  /// It is done in one write, wholly or not at all. Damaged records are left as they are and reported.
  ///
  /// - Throws: ``GarageError/identifierConflict(type:identifier:oldName:)`` where an identifier exists under both
  ///   names, ``GarageError/invalidTypeTag(type:reason:)`` where objects of a subclass would need other identifiers,
  ///   ``GarageError/missingConformance(_:)``, ``GarageError/nestedWrite``, ``GarageError/storage(_:)``. Nothing is
  ///   changed then.
  @discardableResult
  public func migrateAll<T: Codable>(fromOldClassName oldClassName: String, to type: T.Type) throws
    -> MigrationReport
  {
    var names = [oldClassName]
    let own = String(reflecting: type)
    if !oldClassName.contains("."), let dot = own.firstIndex(of: ".") {
      names.append(own[...dot] + oldClassName)
    }
    return try withWriteAccess { access in
      var report = MigrationReport()
      for name in names { report.add(try TypeRenaming(access, from: TypeTag(name: name), to: type).run()) }
      return report
    }
  }

  /// Makes everything that was parked as one type an object of another type.
  ///
  /// - Throws: as ``migrateAll(fromOldClassName:to:)``, and ``GarageError/invalidTypeTag(type:reason:)`` for an old type
  ///   whose tag is in conflict.
  @discardableResult
  public func migrateAll<T: Codable>(from oldType: Any.Type, to type: T.Type) throws -> MigrationReport {
    try withWriteAccess { try TypeRenaming($0, from: TypeTag.of(oldType), to: type).run() }
  }
}

/// Moves everything from one type tag to another, in one transaction.
private struct TypeRenaming {
  private let access: WriteAccess
  private let old: TypeTag
  private let name: String
  /// The tags of the new type's identity space, and its own.
  private let space: TypeTag
  private let concrete: TypeTag
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
    if old == concrete { return report }
    var renaming = self
    try renaming.checkConflicts()
    for tag in [space, concrete] {
      let name = TextName(kind: .tag, digest: tag.digest)
      try StoreTexts.put(
        Array(tag.name.utf8), name, in: transaction, isSealed: objectKeys.isSealed)
      access.pending.newTexts.insert(name)
    }
    try renaming.moveRecords()
    try renaming.visit(KeyLayout.allRecords) { try $0.changedRecord($1, $2) }
    if moves { try renaming.visit(KeyLayout.allValues) { try $0.changedValue($1, $2) } }
    return renaming.report
  }

  /// The old name's records move to the new space, unless they are there: then the old name is that of a subclass.
  private var moves: Bool { old != space }

  private func checkConflicts() throws {
    guard moves else { return }
    try forEachBlock(KeyLayout.records(tag: old.digest)) { keys in
      for key in keys {
        let bytes = key.bytes.span.bytes
        let new = KeyLayout.record(tag: space.digest, sameIdentifierAs: bytes)
        if try transaction.contains(new) {
          let identifier = try transaction.withValue(for: key) { objectKeys.identifierText(of: bytes, $0) }
          throw GarageError.identifierConflict(type: name, identifier: identifier, oldName: old.name)
        }
      }
    }
  }

  private mutating func moveRecords() throws {
    guard moves else { return }
    var moved = MigrationReport()
    try forEachBlock(KeyLayout.records(tag: old.digest)) { keys in
      for key in keys {
        guard let record = try transaction.value(for: key) else { continue }
        let bytes = key.bytes.span.bytes
        do {
          let isSubclass = space != concrete
          let changed = try objectKeys.withIdentifier(of: bytes, record.span.bytes, typeName: name) {
            try RecordSummary.record(
              record.span.bytes, tag: old.digest, keyIdentifier: $0, movedTo: space.digest,
              concreteTag: { $0 ?? (isSubclass ? concrete.digest : nil) },
              renaming: [old.digest: space.digest], typeName: name)
          }
          let newKey = KeyLayout.record(tag: space.digest, sameIdentifierAs: bytes)
          try access.moveRecord(MovedRecord(changed ?? record, from: key, to: newKey))
          moved.rewritten += 1
        } catch {
          if isFailureOfStore(error) { throw error }
          moved.fail(name, objectKeys.identifierText(of: bytes, record.span.bytes), translated(error))
        }
      }
    }
    report.add(moved)
  }

  /// What becomes of a record that names the old type; nil where it does not.
  private func changedRecord(_ key: RawSpan, _ record: RawSpan) throws -> (record: [UInt8], isOfType: Bool)? {
    let tag = KeyLayout.tag(inRecordKey: key)
    var isOfType = false
    let changed = try objectKeys.withIdentifier(of: key, record, typeName: name) { identifier in
      try RecordSummary.record(
        record, tag: tag, keyIdentifier: identifier, movedTo: tag,
        concreteTag: { concreteTag in
          guard concreteTag == old.digest else { return concreteTag }
          isOfType = true
          return concrete == space ? nil : concrete.digest
        }, renaming: moves ? [old.digest: space.digest] : [:], typeName: name)
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

  /// What becomes of a typed key's value that refers to the old type; nil where it does not. A damaged one is left to
  /// whoever reads it.
  private func changedValue(_ key: RawSpan, _ value: RawSpan) throws -> (record: [UInt8], isOfType: Bool)? {
    do {
      let tags = [old.digest: space.digest]
      let changed = try RecordSummary.value(value, key: KeyLayout.checked(key), renaming: tags)
      return changed.map { ($0, false) }
    } catch is ValueDamage {
      return nil
    }
  }

  /// Visits all entries in a range and puts what `change` makes of them.
  private mutating func visit(
    _ range: StorageKeyRange,
    _ change: (TypeRenaming, RawSpan, RawSpan) throws -> (record: [UInt8], isOfType: Bool)?
  ) throws {
    var range = range
    var isAtEnd = false
    while !isAtEnd {
      var changes: [(key: StorageKey, record: [UInt8])] = []
      var byteCount = 0
      isAtEnd = true
      var report = self.report
      try transaction.scan(range, .forward) { key, record in
        do {
          if let changed = try change(self, key, record) {
            changes.append((StorageKey(key), changed.record))
            byteCount += changed.record.count
            if changed.isOfType { report.rewritten += 1 } else { report.updatedReferences += 1 }
          }
        } catch let error as GraphCodingError {
          // Damaged, and left to whoever reads it. What did not move was reported.
          if moves && KeyLayout.tag(inRecordKey: key) == old.digest { return .continue }
          report.fail(name, objectKeys.identifierText(of: key, record), translated(error))
        }
        if changes.count < 256 && byteCount < 8 << 20 { return .continue }
        isAtEnd = false
        return .stop
      }
      self.report = report
      // What was lent is given back: now the store may change.
      for (key, record) in changes {
        if key.bytes.first == KeyLayout.recordPrefix {
          try access.putRecord(record.span.bytes, for: key.bytes.span.bytes)
        } else {
          try transaction.put(record, for: key)
        }
      }
      if let last = changes.last { range.lowerBound = last.key.bytes + [0] }
    }
  }

  private func forEachBlock(_ range: StorageKeyRange, _ visit: ([StorageKey]) throws -> Void) throws {
    var range = range
    while true {
      var keys: [StorageKey] = []
      try transaction.scan(range, .forward) { key, _ in
        keys.append(StorageKey(key))
        return keys.count < 256 ? .continue : .stop
      }
      guard let last = keys.last else { return }
      try visit(keys)
      range.lowerBound = last.bytes + [0]
    }
  }
}

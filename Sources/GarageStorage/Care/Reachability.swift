internal import GarageCoding
internal import GarageDriver

/// Finds what cannot be reached from roots, in one state of a store.
///
/// In doubt a record counts as reached. If an object has several records, under former tags, all of them count. If a reference
/// leads to nothing, every record with the same identifier counts, whatever its type, because types may have been renamed. If a
/// record that was reached is damaged, the search throws, because it cannot be told what that one refers to.
struct Reachability {
  private let access: ReadAccess
  private let kinds: Set<ReferenceKind>
  private var progress: ProgressReporter
  private var index = RecordIndex()
  private var isReached: [Bool]
  /// Those that were reached and not read yet.
  private var waiting: [Int] = []
  private var names = OtherNames()
  /// Whether objects may have several records, under several names of their types.
  private let hasOtherNames: Bool

  init(
    _ access: ReadAccess, along kinds: Set<ReferenceKind>, _ progress: @escaping (CareProgress) throws -> Void
  ) throws {
    self.access = access
    self.kinds = kinds
    var index = RecordIndex()
    try access.transaction.scanKeys(KeyLayout.allRecords, .forward) { key in
      if KeyLayout.isRecord(key) { index.append(key) }
      return .continue
    }
    isReached = Array(repeating: false, count: index.count)
    var names = OtherNames()
    // What a type that was not met yet was called is not known.
    hasOtherNames = index.tags.contains { tag in (try? names.tags(beside: tag))?.count ?? 1 > 1 }
    self.names = names
    self.progress = ProgressReporter(total: index.count, progress)
    self.index = index
  }

  /// The keys of the records that no root reaches, in their order.
  mutating func unreached(from roots: [GarageRoot]) throws -> [StorageKey] {
    for root in roots { try reach(root) }
    while let number = waiting.popLast() {
      try progress.advance()
      try readReferences(of: number)
    }
    try progress.end()
    return isReached.indices.filter { !isReached[$0] }.map(index.key)
  }

  private mutating func reach(_ root: GarageRoot) throws {
    switch root {
    case .all(let type):
      func keys<T: Codable>(of type: T.Type) throws -> [StorageKey] {
        var keys: [StorageKey] = []
        try access.visitRecordKeys(type) { keys.append($0) }
        return keys
      }
      for key in try keys(of: type) { reach(index.number(of: key.bytes.span.bytes)) }
    case .allNamed(let name): try reachAll(named: access.tag(listedAs: name))
    case .object(let identity):
      try identity.identifier.bytes.withUnsafeBytes { try reach(identity.tag, $0) }
    case .keys:
      let transaction = access.transaction
      try transaction.scan(KeyLayout.allValues, .forward) { key, value in
        do {
          try RecordVerifier.forEachReference(inValueUnder: KeyLayout.checked(key), value) {
            kind, tag, identifier in
            if kinds.contains(kind) { try reach(tag, identifier) }
          }
        } catch let damage as ValueDamage {
          throw GarageError(damage, key: KeyName.text(ofKey: key))
        }
        return .continue
      }
    }
  }

  /// Objects of a class that share the identity space of its superclass bear their own tag in the record.
  private mutating func reachAll(named digest: UInt64) throws {
    for number in 0..<index.count {
      let key = index.key(number)
      if KeyLayout.tag(inRecordKey: key.bytes.span.bytes) == digest {
        reach(number)
        continue
      }
      let concrete = try access.transaction.withValue(for: key) { record -> UInt64? in
        guard let record else { return nil }
        return try access.garage.objectKeys.header(of: key.bytes.span.bytes, record, typeName: "").concreteTag
      }
      if concrete == digest { reach(number) }
    }
  }

  private mutating func reach(_ number: Int?) {
    guard let number, !isReached[number] else { return }
    isReached[number] = true
    waiting.append(number)
    if !hasOtherNames { return }
    // An older program may have parked the object again, beside the record that counts.
    for other in (try? names.keys(beside: index.key(number))) ?? [] {
      reach(index.number(of: other.bytes.span.bytes))
    }
  }

  private mutating func reach(_ tag: UInt64, _ identifier: UnsafeRawBufferPointer) throws {
    try Identifier.withKeyForm(of: identifier) { keyForm in
      try access.garage.objectKeys.withStorageKey(tag: tag, keyForm.bytes) { key in
        if let number = index.number(of: key) { return reach(number) }
        let rest = key.extracting(KeyLayout.identifierOffset...)
        for other in index.tags { reach(index.number(tag: other, rest)) }
      }
    }
  }

  private mutating func readReferences(of number: Int) throws {
    let key = index.key(number)
    let bytes = key.bytes.span.bytes
    try access.transaction.withValue(for: bytes) { record in
      guard let record else { return }
      let tag = KeyLayout.tag(inRecordKey: bytes)
      let typeName = try access.listedName(ofTag: tag)
      try access.garage.objectKeys.withIdentifier(of: bytes, record, typeName: typeName) { identifier in
        try RecordSummary.forEachReference(
          tag: tag, keyIdentifier: identifier, record: record, typeName: typeName
        ) { kind, target in
          guard kinds.contains(kind) else { return }
          try target.identifier.bytes.withUnsafeBytes { try reach(target.tag, $0) }
        }
      }
    }
  }
}

internal import GarageCoding
internal import GarageDriver

// Finding records without decoding them.

extension ReadAccess {
  // MARK: One record

  /// The key of the record of that type and identifier; nil where there is none, or one of another class.
  func storageKey<T: Codable>(of type: T.Type, _ identifier: Identifier) throws -> StorageKey? {
    let facts = try RecordTypeFacts.of(type)
    guard let key = try presentKey(facts.tags, identifier) else { return nil }
    return try isRecord(key, of: type, facts) ? key : nil
  }

  /// The key of the record of that identifier, under the first of these tags that has one; nil where there is none.
  func presentKey(_ tags: [UInt64], _ identifier: Identifier) throws -> StorageKey? {
    for tag in tags {
      let key = try garage.objectKeys.record(tag: tag, identifier)
      if try transaction.contains(key) { return key }
    }
    return nil
  }

  /// The key under which a record stands that was listed under `key` before: to park an object again moves its record from a
  /// former tag to the present one. Where the object was deleted, there is none under either.
  func presentKey(of key: StorageKey, _ facts: RecordTypeFacts) throws -> StorageKey {
    let bytes = key.bytes
    if facts.tags.count == 1 || KeyLayout.tag(inRecordKey: bytes.span.bytes) == facts.tag { return key }
    if try transaction.contains(bytes.span.bytes) { return key }
    return KeyLayout.record(tag: facts.tag, sameIdentifierAs: bytes.span.bytes)
  }

  /// The same for many keys, in one round trip where these are expensive.
  func presentKeys(of keys: [StorageKey], _ facts: RecordTypeFacts) throws -> [StorageKey] {
    if facts.tags.count == 1 { return keys }
    // Where a value does not open, a multi-get stops.
    if !fetchesAhead || garage.objectKeys.isSealed { return try keys.map { try presentKey(of: $0, facts) } }
    var present = keys
    try transaction.withValues(for: keys) { index, record in
      if record != nil { return }
      let listed = keys[index].bytes
      present[index] = KeyLayout.record(tag: facts.tag, sameIdentifierAs: listed.span.bytes)
    }
    return present
  }

  /// Whether the record with this key is the one of its identifier: no earlier one of the type's tags has another.
  func isCurrent(_ key: RawSpan, _ tags: [UInt64]) throws -> Bool {
    let own = KeyLayout.tag(inRecordKey: key)
    for tag in tags.prefix(while: { $0 != own }) {
      let earlier = KeyLayout.record(tag: tag, sameIdentifierAs: key)
      if try transaction.contains(earlier) { return false }
    }
    return true
  }

  /// Whether a record counts for no type that is known: those that had its tag before find the object under a later tag. An
  /// older program has parked it again, beside the record of the present one.
  func isSuperseded(_ key: StorageKey) throws -> Bool {
    let bytes = key.bytes
    let types = RecordTypeFacts.superseding(KeyLayout.tag(inRecordKey: bytes.span.bytes))
    if types.isEmpty { return false }
    return try types.allSatisfy { try !isCurrent(bytes.span.bytes, $0.tags) }
  }

  /// Whether a record in the type's identity space is of the type: of that class or a subclass.
  func isRecord<T: Codable>(
    _ key: StorageKey, of type: T.Type, _ facts: RecordTypeFacts
  ) throws -> Bool {
    if !facts.sharesSpaceWithSuperclass { return true }
    let bytes = key.bytes
    return try transaction.withValue(for: bytes.span.bytes) {
      try isRecord(bytes.span.bytes, $0, of: type, facts)
    }
  }

  /// The same for a record that is at hand.
  private func isRecord<T: Codable>(
    _ key: RawSpan, _ record: RawSpan?, of type: T.Type, _ facts: RecordTypeFacts
  ) throws -> Bool {
    guard let record else { return false }
    let concreteTag = try garage.objectKeys.header(of: key, record, typeName: facts.name).concreteTag
    // Without one the record is of the topmost class.
    guard let concreteTag else { return false }
    if let registered = garage.types.type(tag: concreteTag) { return registered is T.Type }
    if facts.ownTags.contains(concreteTag) { return true }
    throw try unregisteredClass(concreteTag, key: key, record, typeName: facts.name)
  }

  /// The error for a record of a class that the garage was not told about.
  func unregisteredClass(
    _ tag: UInt64, key: RawSpan, _ record: RawSpan?, typeName: String
  ) throws -> GarageError {
    let name = try garage.texts.text(TextName(kind: .tag, digest: tag), in: transaction)
    return .unregisteredClass(
      tag: name.map { String(decoding: $0, as: UTF8.self) } ?? hexadecimal(tag), type: typeName,
      identifier: garage.objectKeys.identifierText(of: key, record))
  }

  // MARK: All records of a type

  /// Counts the records of a type.
  func count<T: Codable>(_ type: T.Type) throws -> Int {
    let facts = try RecordTypeFacts.of(type)
    let tags = try presentTags(of: facts)
    if tags.count == 1 && !facts.sharesSpaceWithSuperclass {
      return try transaction.keyCount(in: KeyLayout.records(tag: tags[0]))
    }
    var count = 0
    try visitRecordKeys(type) { _ in count += 1 }
    return count
  }

  /// Visits the keys of all records of a type, in the order of their identifiers.
  func visitRecordKeys<T: Codable>(_ type: T.Type, _ visit: (StorageKey) throws -> Void) throws {
    let facts = try RecordTypeFacts.of(type)
    var keys = RecordKeyCursor(try presentTags(of: facts), in: transaction)
    guard facts.sharesSpaceWithSuperclass, garage.store.roundTripsAreExpensive else {
      while let key = try keys.next() { if try isRecord(key, of: type, facts) { try visit(key) } }
      return
    }
    while true {
      var block: [StorageKey] = []
      while block.count < 1000, let key = try keys.next() { block.append(key) }
      if block.isEmpty { return }
      var isOfType = Array(repeating: false, count: block.count)
      try transaction.withValues(for: block) { index, record in
        let key = block[index].bytes
        isOfType[index] = try isRecord(key.span.bytes, record, of: type, facts)
      }
      for (key, isOfType) in zip(block, isOfType) where isOfType { try visit(key) }
    }
  }

  /// The digests of the tags under which there are records: the type's own, and former ones where they are used.
  func presentTags(of facts: RecordTypeFacts) throws -> [UInt64] {
    if facts.tags.count == 1 { return facts.tags }
    return try facts.tags.filter { tag in
      if tag == facts.tag { return true }
      var isUsed = false
      try transaction.scanKeys(KeyLayout.records(tag: tag), .forward) { _ in
        isUsed = true
        return .stop
      }
      return isUsed
    }
  }
}

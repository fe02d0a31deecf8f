internal import GarageCoding
internal import GarageDriver

// Finding records without decoding them.

extension ReadAccess {
  /// The key of the record of that type and identifier; nil where there is none, or one of another class.
  func recordKey<T: Codable>(_ type: T.Type, _ identifier: Identifier) throws -> StorageKey? {
    let stored = try StoredType.of(type)
    for tag in stored.tags {
      let key = try garage.objectKeys.record(tag: tag, identifier)
      let isThere = try transaction.contains(key)
      if isThere { return try isRecord(key, of: type, stored) ? key : nil }
    }
    return nil
  }

  /// Counts the records of a type.
  func count<T: Codable>(_ type: T.Type) throws -> Int {
    let stored = try StoredType.of(type)
    let tags = try presentTags(of: stored)
    var count = 0
    if tags.count == 1 && !stored.sharesSpaceWithSuperclass {
      try transaction.scanKeys(KeyLayout.records(tag: tags[0]), .forward) { _ in
        count += 1
        return .continue
      }
    } else {
      try visitRecordKeys(type) { _ in count += 1 }
    }
    return count
  }

  /// Visits the keys of all records of a type, in the order of their identifiers.
  func visitRecordKeys<T: Codable>(_ type: T.Type, _ visit: (StorageKey) throws -> Void) throws {
    let stored = try StoredType.of(type)
    var keys = RecordKeys(try presentTags(of: stored), in: transaction)
    while let key = try keys.next() {
      if try isRecord(key, of: type, stored) { try visit(key) }
    }
  }

  /// The digests of the tags under which there are records: the type's own, and former ones where they are used.
  func presentTags(of stored: StoredType) throws -> [UInt64] {
    if stored.tags.count == 1 { return stored.tags }
    return try stored.tags.filter { tag in
      if tag == stored.tag { return true }
      var isUsed = false
      try transaction.scanKeys(KeyLayout.records(tag: tag), .forward) { _ in
        isUsed = true
        return .stop
      }
      return isUsed
    }
  }

  /// Whether a record in the type's identity space is of the type: of that class or a subclass.
  private func isRecord<T: Codable>(
    _ key: StorageKey, of type: T.Type, _ stored: StoredType
  ) throws -> Bool {
    if !stored.sharesSpaceWithSuperclass { return true }
    let bytes = key.bytes.span.bytes
    let concreteTag = try transaction.withValue(for: bytes) { record -> UInt64? in
      guard let record else { return nil }
      return try garage.objectKeys.header(of: bytes, record, typeName: stored.name).concreteTag
    }
    // Without one the record is of the topmost class.
    guard let concreteTag else { return false }
    if let known = garage.types.type(tag: concreteTag) { return known is T.Type }
    if try KnownTypes.tags(of: type).contains(concreteTag) { return true }
    let name = try garage.texts.text(TextName(kind: .tag, digest: concreteTag), in: transaction)
    throw GarageError.unregisteredClass(
      tag: name.map { String(decoding: $0, as: UTF8.self) } ?? hexadecimal(concreteTag),
      type: stored.name,
      identifier: try transaction.withValue(for: bytes) { garage.objectKeys.identifierText(of: bytes, $0) })
  }
}

internal import GarageCoding
internal import GarageDriver

// Finding records without decoding them.

extension TypeDescription {
  /// The digests of the tags under which there may be records, the present one first.
  var tagDigests: [UInt64] { [identityTag.digest] + formerTags.map(\.digest) }

  /// Whether the identity space holds objects of other classes than this one and its subclasses.
  var sharesSpaceWithSuperclass: Bool { isClass && tag != identityTag }
}

extension ReadAccess {
  /// The key of the record of that type and identifier; nil where there is none, or one of another class.
  func recordKey<T: Codable>(_ type: T.Type, _ identifier: Identifier) throws -> StorageKey? {
    let description = try TypeDescription.of(type)
    for tag in description.tagDigests {
      let key = KeyLayout.record(tag: tag, identifier)
      let isThere = try transaction.withValue(for: key) { $0 != nil }
      if isThere { return try isRecord(key, of: type, description) ? key : nil }
    }
    return nil
  }

  /// Counts the records of a type.
  func count<T: Codable>(_ type: T.Type) throws -> Int {
    let description = try TypeDescription.of(type)
    let tags = try presentTags(of: description)
    var count = 0
    if tags.count == 1 && !description.sharesSpaceWithSuperclass {
      try transaction.scan(KeyLayout.records(tag: tags[0]), .forward) { _, _ in
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
    let description = try TypeDescription.of(type)
    var keys = RecordKeys(try presentTags(of: description), in: transaction)
    while let key = try keys.next() {
      if try isRecord(key, of: type, description) { try visit(key) }
    }
  }

  /// The digests of the tags under which there are records: the type's own, and former ones where they are used.
  func presentTags(of description: TypeDescription) throws -> [UInt64] {
    try description.tagDigests.enumerated().filter { index, tag in
      if index == 0 { return true }
      var isUsed = false
      try transaction.scan(KeyLayout.records(tag: tag), .forward) { _, _ in
        isUsed = true
        return .stop
      }
      return isUsed
    }.map(\.element)
  }

  /// Whether a record in the type's identity space is of the type: of that class or a subclass.
  private func isRecord<T: Codable>(
    _ key: StorageKey, of type: T.Type, _ description: TypeDescription
  ) throws -> Bool {
    if !description.sharesSpaceWithSuperclass { return true }
    let bytes = key.bytes.span.bytes
    let identifier = bytes.extracting(KeyLayout.identifierOffset..<bytes.byteCount)
    let concreteTag = try transaction.withValue(for: bytes) { record -> UInt64? in
      guard let record else { return nil }
      return try RecordHeader(
        tag: KeyLayout.tag(inRecordKey: bytes), keyIdentifier: identifier, record: record,
        typeName: description.name
      ).concreteTag
    }
    // Without one the record is of the topmost class.
    guard let concreteTag else { return false }
    if let known = garage.types.type(tag: concreteTag) { return known is T.Type }
    if try KnownTypes.tags(of: type).contains(concreteTag) { return true }
    let name = try garage.texts.text(TextName(kind: .tag, digest: concreteTag), in: transaction)
    throw GarageError.unregisteredClass(
      tag: name.map { String(decoding: $0, as: UTF8.self) } ?? hexadecimal(concreteTag),
      type: description.name,
      identifier: Identifier.description(ofKeyBytes: [UInt8](copying: identifier)))
  }
}

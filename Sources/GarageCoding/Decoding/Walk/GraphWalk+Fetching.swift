// Finding records and texts: in the source, under the tags that a type has and had, and among what prototypes bring.

extension GraphWalk {
  /// Lends the key and the record with that number, nil where there is none, to be decoded. Both stay valid while other
  /// records are fetched.
  func withRecord(_ number: Int, _ body: (RecordKey, UnsafeRawBufferPointer?) throws -> Void) throws {
    try withKey(of: number) { key in
      if let record = kept.take(number) {
        defer { kept.giveBack() }
        return try body(key, record)
      }
      try fetch(key, number, body)
    }
  }

  /// The same, to be looked at and not decoded. The record is kept for the time when it is decoded, as long as there is room.
  func look(at number: Int, _ body: (RecordKey, UnsafeRawBufferPointer?) throws -> Void) throws {
    try withKey(of: number) { key in
      if let record = kept.record(of: number) { return try body(key, record) }
      try fetch(key, number) { key, record in
        // One that was found under a former tag has another key.
        if let record, formerTags.isEmpty { kept.keep(record, of: number) }
        try body(key, record)
      }
    }
  }

  /// Lends the key of a record, in memory that stays where it is while others are fetched.
  @inline(__always)
  private func withKey(of number: Int, _ body: (RecordKey) throws -> Void) throws {
    if keyDepth == keyBuffers.count {
      keyBuffers.append(.allocate(byteCount: Identifier.maximumKeyByteCount, alignment: 8))
    }
    let buffer = keyBuffers[keyDepth]
    keyDepth += 1
    defer { keyDepth -= 1 }
    let count = Identifier.withKeyForm(of: identities.identifier(of: number)) { form in
      if let base = form.baseAddress { buffer.copyMemory(from: base, byteCount: form.count) }
      return form.count
    }
    try body(
      RecordKey(
        tag: identities.tag(of: number), identifier: UnsafeRawBufferPointer(start: buffer, count: count)))
  }

  private func fetch(
    _ key: RecordKey, _ number: Int, _ body: (RecordKey, UnsafeRawBufferPointer?) throws -> Void
  ) throws {
    if try fetch(key, body) { return }
    if !formerTags.isEmpty {
      for tag in formerTags[key.tag] ?? [] {
        if try fetch(RecordKey(tag: tag, identifier: key.identifier), body) { return }
      }
    }
    if try !lentRecords.isEmpty && lend(key, body) { return }
    try body(key, nil)
  }

  /// Notes the objects that a prototype refers to: they are found where the source has none.
  func lend(_ records: [(key: [UInt8], record: [UInt8])]) {
    for (key, record) in records { lentRecords[key] = record }
  }

  private func lend(_ key: RecordKey, _ body: (RecordKey, UnsafeRawBufferPointer?) throws -> Void) throws
    -> Bool
  {
    guard let record = lentRecords[key.bytes] else { return false }
    try record.withUnsafeBytes { try body(key, $0) }
    return true
  }

  /// Lends the record with that key. False where there is none.
  @inline(__always)
  private func fetch(_ key: RecordKey, _ body: (RecordKey, UnsafeRawBufferPointer?) throws -> Void) throws
    -> Bool
  {
    try source.withRecord(tag: key.tag, keyIdentifier: key.identifier.bytes) { record in
      guard let record else { return false }
      try record.withUnsafeBytes { try body(key, $0) }
      return true
    }
  }

  /// Whether the source has an object, under this tag or one of those before it.
  func isInSource(_ identity: RecordIdentity, _ formerTags: [UInt64]) throws -> Bool {
    let identifier = identity.identifier.keyBytes
    return try identifier.withUnsafeBytes { identifier in
      for tag in [identity.tag] + formerTags {
        if try fetch(RecordKey(tag: tag, identifier: identifier), { _, _ in }) { return true }
      }
      return false
    }
  }

  func hasRecord(_ number: Int) throws -> Bool {
    if records[number].hasValue { return true }
    var isThere = false
    try look(at: number) { _, record in isThere = record != nil }
    return isThere
  }

  func shape(_ digest: UInt64) throws -> Permanent<Shape> {
    if let shape = ShapeRegistry.shape(digest: digest) { return shape }
    guard let text = try source.shapeText(digest) else {
      throw DamagedBytes(reason: "the shape it names is not in the store", offset: 0)
    }
    guard let shape = try ShapeRegistry.shape(text: text, digest: digest) else {
      throw DamagedBytes(reason: "the shape it names is damaged", offset: 0)
    }
    return shape
  }
}

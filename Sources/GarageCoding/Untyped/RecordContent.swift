/// A whole record without its Swift type: what it says about itself, and what it holds.
public struct RecordContent: Sendable {
  /// What the record says about itself.
  public var header: RecordHeader
  /// What it holds.
  public var value: RecordValue

  /// Reads a record.
  ///
  /// - Parameters:
  ///   - tag: the digest of the identity tag in the record's key.
  ///   - keyIdentifier: the identifier as the key holds it.
  ///   - record: the record's bytes.
  ///   - typeName: names the type in errors.
  ///   - shapeText: the text that the store has for the shape with that digest.
  /// - Throws: ``GraphCodingError/corrupt(type:identifier:reason:)`` or
  ///   ``GraphCodingError/newerFormat(type:identifier:version:)``, and what `shapeText` throws.
  public init(
    tag: UInt64, keyIdentifier: RawSpan, record: RawSpan, typeName: String,
    shapeText: (UInt64) throws -> [UInt8]?
  ) throws {
    header = try RecordHeader(tag: tag, keyIdentifier: keyIdentifier, record: record, typeName: typeName)
    value = try withParsedRecord(tag: tag, keyIdentifier, record, typeName) { parsed, _ in
      var shapes: [Unmanaged<Shape>] = []
      try parsed.forEachShape { digest in
        var shape = ShapeRegistry.shape(digest: digest)
        if shape == nil, let text = try shapeText(digest) {
          shape = try ShapeRegistry.shape(text: text, digest: digest)
        }
        guard let shape else {
          throw DamagedBody(reason: "a shape it names is not in the store, or damaged", offset: 0)
        }
        shapes.append(shape)
      }
      var references: [(RecordIdentity, ReferenceKind)] = []
      try parsed.forEachReference { kind, tag, identifier in
        references.append(
          (RecordIdentity(tag: tag, identifier: Identifier(unchecked: Array(identifier))), kind))
      }
      func entry<T>(_ table: [T], _ index: Int, _ name: String) throws -> T {
        guard index < table.count else {
          throw DamagedBody(reason: "\(name) \(index) is not in the record's table", offset: 0)
        }
        return table[index]
      }
      let reader = BodyReader(
        base: parsed.base, shape: { try entry(shapes, $0, "shape") },
        reference: { try entry(references, $0, "reference") })
      return try reader.value(at: parsed.body.lowerBound, end: parsed.body.upperBound)
    }
  }

  /// The record as it is to be put under a key. It needs no shapes.
  ///
  /// - Parameters:
  ///   - tag: the digest of the identity tag in the key.
  ///   - identifier: the object's identifier, whole.
  /// - Throws: ``GraphCodingError/nestingTooDeep(depth:)``, and `EncodingError` for what is too large.
  public func record(tag: UInt64, identifier: Identifier) throws -> [UInt8] {
    let (body, references) = try BodyWriter.body(of: value)
    var parts = RecordParts()
    parts.syncStatusFlags = header.syncStatus?.recordFlags ?? 0
    parts.time = header.modificationTime
    parts.fullIdentifier = identifier.isCut || header.fullIdentifier != nil ? identifier.bytes : nil
    parts.concreteTag = header.concreteTag
    parts.references = references
    parts.typeVersion = header.typeVersion
    return parts.record(tag: tag, keyIdentifier: identifier.keyBytes, body: body)
  }
}

/// The parts of a record that is put together without an encoder.
struct RecordParts {
  /// The bits of the flags that hold the sync status.
  var syncStatusFlags: UInt8 = 0
  var time: Int64 = 0
  var fullIdentifier: [UInt8]?
  var concreteTag: UInt64?
  var references: [(RecordIdentity, ReferenceKind)] = []
  var typeVersion = 0

  func record(tag: UInt64, keyIdentifier: [UInt8], body: [UInt8]) -> [UInt8] {
    var flags = syncStatusFlags
    var tables: [UInt8] = []
    if let fullIdentifier {
      flags |= RecordFormat.Flag.hasFullIdentifier
      appendVarint(UInt64(fullIdentifier.count), to: &tables)
      tables += fullIdentifier
    }
    if let concreteTag {
      flags |= RecordFormat.Flag.hasConcreteTag
      append(concreteTag, to: &tables)
    }
    if !references.isEmpty {
      flags |= RecordFormat.Flag.hasReferences
      appendReferences(to: &tables)
    }
    if typeVersion > 0 {
      flags |= RecordFormat.Flag.hasVersion
      appendVarint(UInt64(typeVersion), to: &tables)
    }
    var record: [UInt8] = [UInt8(RecordFormat.version), flags, 0, 0, 0, 0]
    for byte in 0..<6 { record.append(UInt8(truncatingIfNeeded: UInt64(max(0, time)) >> UInt64(byte * 8))) }
    record += tables
    record += body
    RecordParts.seal(&record, tag: tag, keyIdentifier: keyIdentifier)
    return record
  }

  private func append(_ digest: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: digest.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private func appendReferences(to bytes: inout [UInt8]) {
    var tags: [UInt64] = []
    var places: [UInt64: Int] = [:]
    for (identity, _) in references where places[identity.tag] == nil {
      places[identity.tag] = tags.count
      tags.append(identity.tag)
    }
    appendVarint(UInt64(tags.count), to: &bytes)
    for tag in tags { append(tag, to: &bytes) }
    appendVarint(UInt64(references.count), to: &bytes)
    for (identity, kind) in references {
      let place = places[identity.tag] ?? 0
      bytes.append(kind.rawValue << 6 | UInt8(min(place, 63)))
      if place >= 63 { appendVarint(UInt64(place), to: &bytes) }
      appendVarint(UInt64(identity.identifier.bytes.count), to: &bytes)
      bytes += identity.identifier.bytes
    }
  }

  /// Sets the checksum of a record that is to be put under a key.
  static func seal(_ record: inout [UInt8], tag: UInt64, keyIdentifier: [UInt8]) {
    seal(&record, key: withUnsafeBytes(of: tag.bigEndian) { Array($0) } + keyIdentifier)
  }

  /// - Parameter key: the key without its first byte.
  static func seal(_ record: inout [UInt8], key: [UInt8]) {
    let checksum = key.withUnsafeBytes { key in
      record.withUnsafeBytes { RecordFormat.checksum(key: key, record: $0) }
    }
    withUnsafeBytes(of: checksum.littleEndian) {
      record.replaceSubrange(RecordFormat.checksumOffset..<RecordFormat.timeOffset, with: $0)
    }
  }
}

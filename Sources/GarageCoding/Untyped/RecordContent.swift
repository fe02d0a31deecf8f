/// A whole record without its Swift type: its head, and its value.
public struct RecordContent: Sendable {
  /// What the record says about itself.
  public var header: RecordSummary
  /// What it holds.
  public var value: RecordValue
  /// The digests of the record's shapes, whose texts are in the store.
  private var shapes: Set<UInt64> = []

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
    header = try RecordSummary(tag: tag, keyIdentifier: keyIdentifier, record: record, typeName: typeName)
    (value, shapes) = try ParsedRecord.with(tag: tag, keyIdentifier, record, typeName) { parsed, _ in
      var shapes: Set<UInt64> = []
      try parsed.forEachShape { shapes.insert($0) }
      return (try RecordValue(parsed, shapeText), shapes)
    }
  }

  /// The record as it is to be put under a key of the same store. It needs no shapes but some of those that it had.
  ///
  /// - Parameters:
  ///   - tag: the digest of the identity tag in the key.
  ///   - identifier: the object's identifier, whole.
  /// - Throws: ``GraphCodingError/nestingTooDeep(depth:)``, and `EncodingError` for what is too large.
  public func record(tag: UInt64, identifier: Identifier) throws -> [UInt8] {
    let body = try BodyWriter.body(of: value, .stored(shapes))
    let tables = ListedTables(body)
    return identifier.bytes.withUnsafeBytes { whole in
      let parts = RecordParts(
        syncStatus: header.syncStatus, time: UInt64(max(0, header.modificationTime)),
        wholeIdentifier: identifier.isCut || header.wholeIdentifier != nil ? whole : nil,
        concreteTag: header.concreteTag, typeVersion: header.typeVersion)
      return body.bytes.withUnsafeBytes { body in
        Identifier.withKeyForm(of: whole) {
          parts.record(tables, body: body, under: CheckedKey(tag: tag, identifier: $0))
        }
      }
    }
  }
}

/// The tables of a record that is made without an encoder.
private final class ListedTables: RecordTables {
  private var identities = IdentityTable()
  private var entries = RawStack<ReferenceTable.Entry>()
  private var tags = ReferenceTags()
  private var shapes: [Permanent<Shape>]

  init(_ body: BodyWriter.Body) {
    shapes = body.shapes
    for (identity, kind) in body.references {
      let number = identity.identifier.bytes.withUnsafeBytes {
        identities.insert(tag: identity.tag, $0).number
      }
      entries.append(ReferenceTable.Entry(number: number, kind: kind))
    }
    tags.collect(entries.all, identities, lazy: identities)
  }

  deinit { entries.deallocate() }

  var hasReferences: Bool { !entries.isEmpty }
  var hasShapes: Bool { !shapes.isEmpty }
  func appendReferences(to bytes: inout ByteArena) {
    ReferenceTable.write(entries.all, identities, lazy: identities, tags, to: &bytes)
  }
  func appendShapes(to bytes: inout ByteArena) {
    shapes.withUnsafeMutableBufferPointer { ShapeTable.write($0, to: &bytes) }
  }
}

extension RecordValue {
  /// What the value of a typed key holds.
  ///
  /// - Parameter key: what a checksum covers of the key.
  /// - Throws: ``ValueDamage``, and what `shapeText` throws.
  package init(valueUnder key: CheckedKey, _ value: RawSpan, shapeText: (UInt64) throws -> [UInt8]?) throws {
    self = try value.withUnsafeBytes { value in
      try ValueDamage.naming { try RecordValue(ParsedRecord(valueUnder: key, value), shapeText) }
    }
  }

  /// What a record holds.
  ///
  /// - Throws: ``DamagedBytes``, and what `shapeText` throws.
  init(_ parsed: ParsedRecord, _ shapeText: (UInt64) throws -> [UInt8]?) throws {
    var shapes: [Permanent<Shape>] = []
    try parsed.forEachShape { digest in
      var shape = ShapeRegistry.shape(digest: digest)
      if shape == nil, let text = try shapeText(digest) {
        shape = try ShapeRegistry.shape(text: text, digest: digest)
      }
      guard let shape else {
        throw DamagedBytes(reason: "a shape it names is not in the store, or damaged", offset: 0)
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
        throw DamagedBytes(reason: "\(name) \(index) is not in the record's table", offset: 0)
      }
      return table[index]
    }
    let reader = BodyReader(
      base: parsed.base, shape: { try entry(shapes, $0, "shape") },
      reference: { try entry(references, $0, "reference") })
    self = try reader.value(at: parsed.body.lowerBound, end: parsed.body.upperBound)
  }
}

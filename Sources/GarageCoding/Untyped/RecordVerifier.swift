/// Reads records and the values of typed keys to their last byte, without their Swift types and without making values.
///
/// One verifier is used for many records of a store, because it remembers how many keys each shape has.
package final class RecordVerifier {
  @exclusivity(unchecked) private var shapeKeyCounts: [UInt64: Int] = [:]
  /// The numbers of keys of the current record's shapes.
  @exclusivity(unchecked) private var counts: [Int] = []
  /// The last shape. Records of a type stand together, and have the same shapes.
  @exclusivity(unchecked) private var lastShape: (digest: UInt64, keyCount: Int)?

  package init() {}

  /// Reads a record.
  ///
  /// - Parameters:
  ///   - tag: the digest of the identity tag in the record's key.
  ///   - keyIdentifier: the identifier in its key form.
  ///   - typeName: names the type in errors.
  ///   - shapeText: the text that the store has for the shape with that digest.
  ///   - visitReference: gets each reference of the record: its kind, the digest of the tag, and the whole identifier.
  /// - Returns: the record's summary.
  /// - Throws: ``GraphCodingError/corrupt(type:identifier:reason:)`` or
  ///   ``GraphCodingError/newerFormat(type:identifier:version:)``, and the errors of the closures.
  package func verify(
    tag: UInt64, keyIdentifier: RawSpan, record: RawSpan, typeName: String,
    shapeText: (UInt64) throws -> [UInt8]?,
    visitReference: (ReferenceKind, UInt64, UnsafeRawBufferPointer) throws -> Void
  ) throws -> RecordSummary {
    try ParsedRecord.with(tag: tag, keyIdentifier, record, typeName) { parsed, _ in
      if let whole = parsed.wholeIdentifier, Identifier(bytes: Array(parsed.bytes(whole))) == nil {
        throw DamagedBytes(reason: "the identifier that it holds is none", offset: whole.lowerBound)
      }
      try verify(parsed, shapeText, visitReference)
      return RecordSummary(parsed)
    }
  }

  /// Reads the value of a typed key.
  ///
  /// - Parameter key: the part of the key that a checksum covers.
  /// - Throws: ``ValueDamage``, and the errors of the closures.
  package func verify(
    valueUnder key: CheckedKey, _ value: RawSpan, shapeText: (UInt64) throws -> [UInt8]?,
    visitReference: (ReferenceKind, UInt64, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try value.withUnsafeBytes { value in
      try ValueDamage.naming { try verify(ParsedRecord(valueUnder: key, value), shapeText, visitReference) }
    }
  }

  private func verify(
    _ record: ParsedRecord, _ shapeText: (UInt64) throws -> [UInt8]?,
    _ visitReference: (ReferenceKind, UInt64, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    counts.removeAll(keepingCapacity: true)
    try record.forEachShape { digest in counts.append(try keyCount(digest, shapeText)) }
    var referenceCount = 0
    try record.forEachReference { kind, tag, identifier in
      referenceCount += 1
      try visitReference(kind, tag, identifier)
    }
    let body = BodyVerifier(base: record.base, shapeKeyCounts: counts, referenceCount: referenceCount)
    try body.verify(record.body.lowerBound, end: record.body.upperBound)
  }

  /// Whether a text is that of a shape: keys, each behind its length.
  package static func isShapeText(_ text: [UInt8]) -> Bool { ShapeText.read(text) != nil }

  private func keyCount(_ digest: UInt64, _ shapeText: (UInt64) throws -> [UInt8]?) throws -> Int {
    if let lastShape, lastShape.digest == digest { return lastShape.keyCount }
    if let count = shapeKeyCounts[digest] {
      lastShape = (digest, count)
      return count
    }
    guard let text = try shapeText(digest), let count = ShapeText.keyCount(of: text, digest: digest) else {
      throw DamagedBytes(reason: "a shape it names is not in the store, or damaged", offset: 0)
    }
    shapeKeyCounts[digest] = count
    return count
  }
}

extension RecordVerifier {
  /// Visits the references of a record, each with the digest of its tag, and reads nothing else of the record.
  ///
  /// - Returns: the record's summary.
  /// - Throws: ``GraphCodingError``, and the errors of `visit`.
  package static func forEachReference(
    tag: UInt64, keyIdentifier: RawSpan, record: RawSpan, _ visit: (ReferenceKind, UInt64) throws -> Void
  ) throws -> RecordSummary {
    try ParsedRecord.with(tag: tag, keyIdentifier, record, "") { parsed, _ in
      try parsed.forEachReference { kind, tag, _ in try visit(kind, tag) }
      return RecordSummary(parsed)
    }
  }

  /// Visits the references of a typed key's value, each with the digest of its tag and its whole identifier.
  ///
  /// - Throws: ``ValueDamage``, and the errors of `visit`.
  package static func forEachReference(
    inValueUnder key: CheckedKey, _ value: RawSpan,
    _ visit: (ReferenceKind, UInt64, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try value.withUnsafeBytes { value in
      try ValueDamage.naming { try ParsedRecord(valueUnder: key, value).forEachReference(visit) }
    }
  }
}

extension ShapeText {
  /// The number of keys in a text with this digest; nil if the text is damaged.
  fileprivate static func keyCount(of text: [UInt8], digest: UInt64) -> Int? {
    guard text.withUnsafeBytes({ ContentDigest.digest8(of: $0) }) == digest else { return nil }
    return read(text)?.count
  }
}

extension RecordVerifier {
  /// The coding keys in a shape's text; nil if it is damaged.
  package static func shapeKeys(_ text: [UInt8]) -> [String]? { ShapeText.read(text) }

  /// The text of a shape with these coding keys.
  package static func shapeText(_ keys: [String]) -> [UInt8] { ShapeText.write(keys) }

  /// The text of the shape with this digest, if this process has met it.
  package static func knownShapeText(_ digest: UInt64) -> [UInt8]? {
    ShapeRegistry.shape(digest: digest)?.object.text
  }
}

/// Knows the texts of the shapes that records name.
package protocol ShapeTexts: AnyObject {
  /// The text that the store has for the shape with that digest.
  func shapeText(_ digest: UInt64) throws -> [UInt8]?
}

/// A record whose fields are looked at where they stand, without being decoded. Valid as long as its bytes are lent.
///
/// Plain bits, because there are many of them: copies count no references.
package struct FieldRecord {
  let parsed: ParsedRecord
  private let texts: LentShapeTexts

  /// - Parameter texts: of an object that is there as long as the record's bytes are lent.
  @inline(__always)
  init(_ parsed: ParsedRecord, _ texts: LentShapeTexts) { (self.parsed, self.texts) = (parsed, texts) }

  /// Reads what stands before the body, and checks the record.
  ///
  /// - Parameters:
  ///   - tag: the digest of the identity tag in the record's key.
  ///   - keyIdentifier: the identifier as the key holds it.
  ///   - typeName: names the type in errors.
  ///   - texts: nil where no field is looked at.
  /// - Throws: ``GraphCodingError`` for a record that is damaged or newer; the errors of `body`.
  package static func with<R>(
    tag: UInt64, keyIdentifier: RawSpan, record: RawSpan, typeName: String, _ texts: (any ShapeTexts)?,
    _ body: (FieldRecord) throws -> R
  ) throws -> R {
    try withExtendedLifetime(texts) {
      try ParsedRecord.with(tag: tag, keyIdentifier, record, typeName) { parsed, _ in
        try body(FieldRecord(parsed, LentShapeTexts(texts)))
      }
    }
  }

  /// The same for a record that was just encoded, which is not checked.
  package static func withEncoded<R>(
    _ record: RawSpan, typeName: String, _ texts: any ShapeTexts, _ body: (FieldRecord) throws -> R
  ) throws -> R {
    try withExtendedLifetime(texts) {
      try record.withUnsafeBytes { bytes in
        do {
          return try body(FieldRecord(ParsedRecord(encoded: bytes), LentShapeTexts(texts)))
        } catch let error as DamagedBytes {
          throw GraphCodingError.corrupt(type: typeName, identifier: "", reason: error.reason)
        }
      }
    }
  }

  /// The same for several records, which stand among bytes.
  ///
  /// - Parameter place: gives where each of them stands. A closure and not a collection, because generic code that is not
  ///   specialized for the type of that took as long as looking at a field.
  package static func withEncoded(
    _ count: Int, at place: (Int) -> Range<Int>, in bytes: UnsafeRawBufferPointer, typeName: String,
    _ texts: any ShapeTexts, _ body: ([FieldRecord]) throws -> Void
  ) throws {
    try withExtendedLifetime(texts) {
      let lent = LentShapeTexts(texts)
      do {
        var records: [FieldRecord] = []
        records.reserveCapacity(count)
        for index in 0..<count {
          let record = UnsafeRawBufferPointer(rebasing: bytes[place(index)])
          records.append(FieldRecord(try ParsedRecord(encoded: record), lent))
        }
        try body(records)
      } catch let error as DamagedBytes {
        throw GraphCodingError.corrupt(type: typeName, identifier: "", reason: error.reason)
      }
    }
  }

  /// The digest of the object's own type tag, where it is not that of its identity space.
  package var concreteTag: UInt64? { parsed.concreteTag }

  /// The version that the object's type had when the object was parked.
  package var typeVersion: Int { parsed.typeVersion }

  /// Whether another record is the same behind the head, in which checksum and time stand. Then all fields are the same.
  package func isSame(as other: FieldRecord) -> Bool {
    guard parsed.head.flags == other.parsed.head.flags, parsed.body.upperBound == other.parsed.body.upperBound
    else { return false }
    let behindHead = RecordHead.byteCount..<parsed.body.upperBound
    return compareBytes(parsed.bytes(behindHead), other.parsed.bytes(behindHead)) == 0
  }

  func shape(_ digest: UInt64) throws -> Permanent<Shape> {
    if let known = ShapeRegistry.shape(digest: digest) { return known }
    if let text = try texts.texts?.shapeText(digest),
      let shape = try ShapeRegistry.shape(text: text, digest: digest)
    {
      return shape
    }
    throw DamagedBytes(reason: "a shape it names is not in the store, or damaged", offset: 0)
  }
}

extension FieldRecord {
  /// The identifier of the record's object, whose key form is given.
  package func identifier(keyForm: RawSpan) -> Identifier {
    if let whole = parsed.wholeIdentifier { return Identifier(unchecked: Array(parsed.bytes(whole))) }
    return keyForm.withUnsafeBytes { Identifier(unchecked: Array($0)) }
  }
}

extension TypeFacts {
  /// The version in which the type's values are encoded.
  package var currentVersion: Int { version }

  /// Whether values may have been encoded in an older form, with other keys, or with fewer.
  package var isEvolving: Bool { evolution != nil }

  /// Whether objects may be of subclasses.
  package var isOfClass: Bool { isClass }

  /// All older names of a coding key, the preferred one first.
  package func olderKeys(of key: String) -> [String] { evolution?.olderKeys(of: key) ?? [] }

  /// The older names of a coding key that no other key is or was: what stands under them in a value of the present version is this
  /// key's. The preferred one comes first.
  package func ownOlderKeys(of key: String) -> [String] { evolution?.ownOlderKeys(of: key) ?? [] }
}

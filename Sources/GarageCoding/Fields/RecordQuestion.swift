/// What is asked of the bytes of record after record of one type, for a query: whether they satisfy a condition, and what they
/// have in a field.
///
/// Nothing in it is generic. Who asks is another module, whose calls of generic code would take longer than the answers.
/// Belongs to one thread.
package final class RecordQuestion {
  private let question: FieldQuestion
  private let typeName: String
  /// The digests of the type's own tags.
  private let ownTags: [UInt64]
  private let sharesSpaceWithSuperclass: Bool
  private let version: Int
  private let texts: any ShapeTexts

  /// - Parameter ownTags: the digests of the type's own tags.
  package init(
    _ question: FieldQuestion, _ facts: TypeFacts, typeName: String, ownTags: [UInt64],
    sharesSpaceWithSuperclass: Bool, _ texts: any ShapeTexts
  ) {
    (self.question, self.typeName, self.ownTags) = (question, typeName, ownTags)
    (self.sharesSpaceWithSuperclass, version) = (sharesSpaceWithSuperclass, facts.version)
    self.texts = texts
  }

  /// Whether a record's object satisfies the condition.
  ///
  /// - Throws: ``GraphCodingError`` for a record that is damaged or newer.
  package func answer(tag: UInt64, keyIdentifier: RawSpan, record: RawSpan) throws -> FieldAnswer {
    try withFields(tag, keyIdentifier, record) { fields in
      if sharesSpaceWithSuperclass && fields.concreteTag == nil { return .no }
      if !isDecidable(fields) { return .unknown }
      return try question.answer(fields)
    }
  }

  /// What a record has in a field; nil where its bytes do not tell.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func value(
    _ lookup: FieldLookup, absentIsNull: Bool, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> FieldValue? {
    try withFields(tag, keyIdentifier, record) { fields in
      guard isDecidable(fields) else { return nil }
      switch try lookup.place(in: fields) {
      case .undecided: return nil
      case .absent: return absentIsNull ? .null : nil
      case .value(let place):
        if place.isNull { return absentIsNull ? .null : nil }
        return try place.value()
      }
    }
  }

  /// The integer of up to 64 bits that a record has in a field; nil where there is none, or its bytes do not tell.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func integer(
    _ lookup: FieldLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> Int64? {
    try withPlace(lookup, tag, keyIdentifier, record) { $0.narrowInteger }
  }

  /// The double that a record has in a field; nil as for an integer.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func double(
    _ lookup: FieldLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> Double? {
    try withPlace(lookup, tag, keyIdentifier, record) { $0.tag == BodyTag.double ? $0.double : nil }
  }

  /// The date that a record has in a field, in seconds since 2001-01-01 00:00 UTC; nil as for an integer.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func seconds(
    _ lookup: FieldLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> Double? {
    try withPlace(lookup, tag, keyIdentifier, record) { $0.tag == BodyTag.date ? $0.double : nil }
  }

  /// The text that a record has in a field; nil as for an integer.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func text(
    _ lookup: FieldLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> String? {
    try withPlace(lookup, tag, keyIdentifier, record) { try $0.textIfAny() }
  }

  /// Whether a record has a nil in a field, as its bytes tell.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func isNull(
    _ lookup: FieldLookup, absentIsNull: Bool, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> Bool {
    try withFields(tag, keyIdentifier, record) { fields in
      guard absentIsNull, isDecidable(fields) else { return false }
      return switch try lookup.place(in: fields) {
      case .undecided: false
      case .absent: true
      case .value(let place): place.isNull
      }
    }
  }

  /// Appends what records are sorted by, as bytes that sort so; false, and nothing is appended, where a record's bytes do not
  /// tell it.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func append(
    _ fields: [SortedField], tag: UInt64, keyIdentifier: RawSpan, record: RawSpan,
    to bytes: inout OrderedBytes
  ) throws -> Bool {
    try withFields(tag, keyIdentifier, record) { record in
      guard isDecidable(record) else { return false }
      let start = bytes.count
      for field in fields where !(try field.append(record, to: &bytes)) {
        bytes.truncate(to: start)
        return false
      }
      return true
    }
  }

  @inline(__always)
  private func withPlace<R>(
    _ lookup: FieldLookup, _ tag: UInt64, _ keyIdentifier: RawSpan, _ record: RawSpan,
    _ body: (FieldPlace) throws -> R?
  ) throws -> R? {
    try withFields(tag, keyIdentifier, record) { fields in
      guard isDecidable(fields), case .value(let place) = try lookup.place(in: fields) else { return nil }
      return try body(place)
    }
  }

  /// Whether the fields stand where those of the type do: the record is of no other class or version.
  @inline(__always)
  private func isDecidable(_ fields: borrowing FieldRecord) -> Bool {
    if let concreteTag = fields.concreteTag, !ownTags.contains(concreteTag) { return false }
    return fields.typeVersion == version
  }

  @inline(__always)
  private func withFields<R>(
    _ tag: UInt64, _ keyIdentifier: RawSpan, _ record: RawSpan, _ body: (FieldRecord) throws -> R
  ) throws -> R {
    try keyIdentifier.withUnsafeBytes { identifier in
      try record.withUnsafeBytes { record in
        let key = RecordKey(tag: tag, identifier: identifier)
        do {
          // The texts are held by this object.
          return try body(FieldRecord(try ParsedRecord(key, record), LentShapeTexts(texts)))
        } catch {
          throw key.naming(error, typeName)
        }
      }
    }
  }
}

/// A field that records are sorted by.
package struct SortedField {
  private let lookup: FieldLookup
  private let absentIsNull: Bool
  private let isAscending: Bool

  package init(_ lookup: FieldLookup, absentIsNull: Bool, isAscending: Bool) {
    (self.lookup, self.absentIsNull, self.isAscending) = (lookup, absentIsNull, isAscending)
  }

  /// Appends what a record has there; false where its bytes do not tell.
  @inline(__always)
  fileprivate func append(_ record: FieldRecord, to bytes: inout OrderedBytes) throws -> Bool {
    let start = bytes.count
    switch try lookup.place(in: record) {
    case .undecided: return false
    case .absent:
      if !absentIsNull { return false }
      bytes.append(.null)
    case .value(let place):
      if place.isNull {
        if !absentIsNull { return false }
        bytes.append(.null)
      } else if !(try bytes.appendScalar(place)) {
        return false
      }
    }
    if !isAscending { bytes.invert(from: start) }
    return true
  }
}

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// What a query asks of the bytes of record after record of one type: whether they satisfy a condition, and what they have in a
/// field.
///
/// Nothing in it is generic, because calls of generic code from another module would take longer than the answers. Belongs to
/// one thread.
package final class RecordQuestion {
  private let question: FieldQuestion
  private let classes: RecordClasses
  private let typeName: String
  private let sharesSpaceWithSuperclass: Bool
  /// Whether a record of the usual form is one of the type.
  private let isOfPlainRecords: Bool
  private let texts: any ShapeTexts
  /// Makes what is asked of a subclass's records, when the first of these is met.
  private let ofSubclass: (any Decodable.Type) -> FieldQuestion
  @exclusivity(unchecked) private var questionsOfSubclasses: [FieldQuestion?] = []

  package init(
    _ question: FieldQuestion, _ classes: RecordClasses, typeName: String, sharesSpaceWithSuperclass: Bool,
    _ texts: any ShapeTexts, ofSubclass: @escaping (any Decodable.Type) -> FieldQuestion
  ) {
    (self.question, self.classes, self.typeName) = (question, classes, typeName)
    self.sharesSpaceWithSuperclass = sharesSpaceWithSuperclass
    isOfPlainRecords = !sharesSpaceWithSuperclass && classes.haveNoVersion
    (self.texts, self.ofSubclass) = (texts, ofSubclass)
  }

  /// Whether a record's object satisfies the condition.
  ///
  /// - Throws: ``GraphCodingError`` for a record that is damaged or newer.
  package func answer(tag: UInt64, keyIdentifier: RawSpan, record: RawSpan) throws -> FieldAnswer {
    var isChecked = false
    if let answer = glance(tag, keyIdentifier, record, &isChecked, { question.quickAnswer($0) }) {
      return answer
    }
    return try answerByFields(tag, keyIdentifier, record, isChecked: isChecked)
  }

  /// The same for any record.
  @inline(never)
  private func answerByFields(
    _ tag: UInt64, _ keyIdentifier: RawSpan, _ record: RawSpan, isChecked: Bool = false
  ) throws -> FieldAnswer {
    try withFields(tag, keyIdentifier, record, isChecked: isChecked) { fields in
      if sharesSpaceWithSuperclass && fields.concreteTag == nil { return .no }
      switch classes.member(fields) {
      case .own: return try question.answer(fields)
      case .subclass(let index): return try question(ofSubclass: index).answer(fields)
      case .stranger: return .no
      case .unknown: return .unknown
      }
    }
  }

  @inline(never)
  private func question(ofSubclass index: Int) -> FieldQuestion {
    while questionsOfSubclasses.count < classes.subclasses.count { questionsOfSubclasses.append(nil) }
    if let known = questionsOfSubclasses[index] { return known }
    let made = ofSubclass(classes.subclasses[index])
    questionsOfSubclasses[index] = made
    return made
  }

  /// What a record has in a field, as far as its bytes tell.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func value(
    _ property: PropertyLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> StoredValue<FieldValue> {
    try withPlace(property, tag, keyIdentifier, record) { $0.isNull ? nil : try $0.value() }
  }

  /// The integer of up to 64 bits that a record has in a field, as far as its bytes tell.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func integer(
    _ property: PropertyLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> StoredValue<Int64> {
    try withPlace(property, tag, keyIdentifier, record) { $0.narrowInteger }
  }

  /// The double that a record has in a field, as far as its bytes tell.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func double(
    _ property: PropertyLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> StoredValue<Double> {
    try withPlace(property, tag, keyIdentifier, record) { $0.tag == BodyTag.double ? $0.double : nil }
  }

  /// The float that a record has in a field, as far as its bytes tell.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func float(
    _ property: PropertyLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> StoredValue<Float> {
    try withPlace(property, tag, keyIdentifier, record) { $0.tag == BodyTag.float ? $0.float : nil }
  }

  /// The decimal number that a record has in a field, as far as its bytes tell.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func decimal(
    _ property: PropertyLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> StoredValue<Decimal> {
    try withPlace(property, tag, keyIdentifier, record) { $0.tag == BodyTag.decimal ? $0.decimal : nil }
  }

  /// The truth value that a record has in a field, as far as its bytes tell.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func bool(
    _ property: PropertyLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> StoredValue<Bool> {
    try withPlace(property, tag, keyIdentifier, record) { place in
      place.tag == BodyTag.true ? true : place.tag == BodyTag.false ? false : nil
    }
  }

  /// The UUID that a record has in a field, as far as its bytes tell.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func uuid(
    _ property: PropertyLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> StoredValue<UUID> {
    try withPlace(property, tag, keyIdentifier, record) { place in
      guard place.tag == BodyTag.uuid, place.payload.count == 16 else { return nil }
      return UUID(uuid: place.payload.loadUnaligned(as: uuid_t.self))
    }
  }

  /// The date that a record has in a field, as far as its bytes tell.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func date(
    _ property: PropertyLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> StoredValue<Date> {
    try withPlace(property, tag, keyIdentifier, record) { place in
      place.tag == BodyTag.date ? Date(timeIntervalSinceReferenceDate: place.double) : nil
    }
  }

  /// The text that a record has in a field, as far as its bytes tell.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func text(
    _ property: PropertyLookup, tag: UInt64, keyIdentifier: RawSpan, record: RawSpan
  ) throws -> StoredValue<String> {
    try withPlace(property, tag, keyIdentifier, record) { try $0.textIfAny() }
  }

  /// Appends the values that records are sorted by, as bytes with the same order; false, and nothing is appended, where a
  /// record's bytes do not tell them.
  ///
  /// - Throws: as ``answer(tag:keyIdentifier:record:)``.
  package func append(
    _ fields: [SortedField], tag: UInt64, keyIdentifier: RawSpan, record: RawSpan,
    to bytes: inout OrderedBytes
  ) throws -> Bool {
    try withFields(tag, keyIdentifier, record) { record in
      let start = bytes.count
      for field in fields where !(try field.append(record, classes, to: &bytes)) {
        bytes.truncate(to: start)
        return false
      }
      return true
    }
  }

  @inline(__always)
  private func withPlace<R>(
    _ property: PropertyLookup, _ tag: UInt64, _ keyIdentifier: RawSpan, _ record: RawSpan,
    _ body: (FieldPlace) throws -> R?
  ) throws -> StoredValue<R> {
    var isChecked = false
    let told = glance(tag, keyIdentifier, record, &isChecked) { record in
      property.find(record).flatMap { try? RecordQuestion.stored($0, body) }
    }
    if let told { return told }
    return try withFields(tag, keyIdentifier, record, isChecked: isChecked) { fields in
      guard let found = try property.find(fields, classes) else { return .unknown }
      return try RecordQuestion.stored(found, body)
    }
  }

  @inline(__always)
  private static func stored<R>(
    _ found: PropertyLookup.Found, _ body: (FieldPlace) throws -> R?
  ) throws -> StoredValue<R> {
    switch found.place {
    case .undecided: return .unknown
    case .absent: return found.absentIsNull ? .null : .unknown
    case .value(let place):
      if let value = try body(place) { return .value(value) }
      return place.isNull && found.absentIsNull ? .null : .unknown
    }
  }

  /// The result of `body` for a record of the usual form; nil where that is nil, or the record is of another form or damaged.
  /// The general way is taken then, which also throws the errors.
  ///
  /// - Parameter isChecked: is true afterwards where the checksum was looked at, and is right.
  @inline(__always)
  private func glance<R>(
    _ tag: UInt64, _ keyIdentifier: RawSpan, _ record: RawSpan, _ isChecked: inout Bool,
    _ body: (PlainRecord) -> R?
  ) -> R? {
    if !isOfPlainRecords { return nil }
    return keyIdentifier.withUnsafeBytes { identifier in
      record.withUnsafeBytes { record in
        guard let plain = PlainRecord(record) else { return nil }
        // The checksum before anything else.
        isChecked = RecordChecksum.isRight(record, under: RecordKey(tag: tag, identifier: identifier).checked)
        return isChecked ? body(plain) : nil
      }
    }
  }

  @inline(__always)
  private func withFields<R>(
    _ tag: UInt64, _ keyIdentifier: RawSpan, _ record: RawSpan, isChecked: Bool = false,
    _ body: (FieldRecord) throws -> R
  ) throws -> R {
    try keyIdentifier.withUnsafeBytes { identifier in
      try record.withUnsafeBytes { record in
        let key = RecordKey(tag: tag, identifier: identifier)
        do {
          // The texts are held by this object.
          let parsed = try ParsedRecord(key, record, isChecked: isChecked)
          return try body(FieldRecord(parsed, LentShapeTexts(texts)))
        } catch {
          throw key.naming(error, typeName)
        }
      }
    }
  }
}

/// What the bytes of a record tell of a property.
package enum StoredValue<Value> {
  case value(Value)
  /// The property is nil.
  case null
  /// Only the object tells.
  case unknown
}

/// A field that records are sorted by.
package struct SortedField {
  private let property: PropertyLookup
  private let isAscending: Bool
  /// The kind of its values (`OrderedBytes.Kind`). Only those that are stored as such have a place among the others. Nil where it
  /// is not known.
  private let kind: UInt8?

  package init(_ property: PropertyLookup, isAscending: Bool, kind: UInt8?) {
    (self.property, self.isAscending, self.kind) = (property, isAscending, kind)
  }

  /// Appends what a record has there; false where its bytes do not tell, whatever was appended then.
  @inline(__always)
  fileprivate func append(
    _ record: FieldRecord, _ classes: RecordClasses, to bytes: inout OrderedBytes
  ) throws -> Bool {
    guard let found = try property.find(record, classes) else { return false }
    let start = bytes.count
    switch found.place {
    case .undecided: return false
    case .absent:
      if !found.absentIsNull { return false }
      bytes.append(.null)
    case .value(let place):
      if place.isNull {
        if !found.absentIsNull { return false }
        bytes.append(.null)
      } else if try !bytes.appendScalar(place) || !OrderedBytes.Kind.isOne(bytes[start], of: kind) {
        return false
      }
    }
    if !isAscending { bytes.invert(from: start) }
    return true
  }
}

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A scalar that fields are compared with, in the forms in which most fields are compared directly.
package struct FieldConstant: Sendable {
  package let value: FieldValue
  /// The value, where it is an integer of 64 bits.
  let integer: Int64?
  /// The UTF-8 of text whose scalars all come before the combining marks. Such text is equal to text with the same bytes, and
  /// to no other.
  let plainText: [UInt8]?
  /// The value, where it is compared as it stands.
  let plain: PlainConstant?

  package init(_ value: FieldValue) {
    self.value = value
    if case .number(.integer(let integer)) = value { self.integer = integer } else { integer = nil }
    plain = PlainConstant(value)
    if case .text(var text) = value {
      plainText = text.withUTF8 { utf8 in
        let utf8 = UnsafeRawBufferPointer(utf8)
        return isSurelyComposed(utf8) ? Array(utf8) : nil
      }
    } else {
      plainText = nil
    }
  }

  /// How the value that stands at a place compares with this one: negative where it is less, positive where it is more.
  ///
  /// - Returns: nil where they are of different kinds, or either is NaN.
  @inline(__always)
  func order(of place: FieldPlace) throws -> Int? {
    if let plain {
      switch plain.order(of: place) {
      case .less: return -1
      case .equal: return 0
      case .more: return 1
      case .none: return nil
      case .unknown: break
      }
    }
    if let plainText, let utf8 = place.utf8, isSurelyComposed(utf8) {
      return plainText.withUnsafeBytes { compareBytes(utf8, $0) }
    }
    return try slowOrder(of: place)
  }

  @inline(never)
  private func slowOrder(of place: FieldPlace) throws -> Int? {
    if case .reference(let identity) = value { return try place.order(ofReferenceBeside: identity) }
    guard let other = try place.value() else { return nil }
    return order(of: other)
  }

  /// The same of a value at hand.
  func order(of other: FieldValue) -> Int? {
    guard other.isComparable(to: value), !other.isNaN, !value.isNaN else { return nil }
    return other < value ? -1 : other == value ? 0 : 1
  }
}

extension GraphEncoder {
  /// The scalar that a record holds for a value; nil where it holds no scalar.
  ///
  /// - Throws: what encoding the value throws.
  package static func fieldValue<T: Encodable>(of value: T) throws -> FieldValue? {
    if let scalar = FieldValue.ofCommonType(value) { return scalar }
    return try GraphEncoder().withField(of: value) { try $0.value() }
  }

  /// Lends the value as a record would hold it.
  func withField<T: Encodable, R>(of value: T, _ body: (FieldPlace) throws -> R) throws -> R {
    try withRecord(of: value) { record in
      let (start, end) = (record.parsed.body.lowerBound, record.parsed.body.upperBound)
      return try body(
        FieldPlace(
          in: record.parsed, start: InlinePrefix.skipSyncStatus(record.parsed.base, start, end: end), end: end
        ))
    }
  }

  /// Lends a record that has the value in place of an object.
  func withRecord<T: Encodable, R>(of value: T, _ body: (FieldRecord) throws -> R) throws -> R {
    try [UInt8]().withUnsafeBytes { nothing in
      let key = CheckedKey(nothing)
      return try encode(value: value, key: key, fullKey: nil).bytes.withUnsafeBytes { bytes in
        // The shapes are those of this process.
        try body(FieldRecord(ParsedRecord(valueUnder: key, bytes), LentShapeTexts(nil)))
      }
    }
  }
}

extension FieldValue {
  /// What a record holds where a field has a value of one of the commonest types; nil for any other.
  package static func ofCommonType<T>(_ value: T) -> FieldValue? {
    if T.self == Int.self { return .number(.integer(Int64(Reinterpretation.same(value, as: Int.self)))) }
    if T.self == String.self { return .text(Reinterpretation.same(value, as: String.self)) }
    if T.self == Bool.self { return .bool(Reinterpretation.same(value, as: Bool.self)) }
    if T.self == Double.self { return .number(.double(Reinterpretation.same(value, as: Double.self))) }
    if T.self == Int64.self { return .number(.integer(Reinterpretation.same(value, as: Int64.self))) }
    if T.self == Int32.self { return .number(.integer(Int64(Reinterpretation.same(value, as: Int32.self)))) }
    if T.self == UUID.self { return .of(Reinterpretation.same(value, as: UUID.self)) }
    if T.self == Date.self {
      return .date(Reinterpretation.same(value, as: Date.self).timeIntervalSinceReferenceDate)
    }
    if T.self == Int?.self {
      return Reinterpretation.same(value, as: Int?.self).map { .number(.integer(Int64($0))) } ?? .null
    }
    if T.self == String?.self {
      return Reinterpretation.same(value, as: String?.self).map { .text($0) } ?? .null
    }
    if T.self == UUID?.self { return Reinterpretation.same(value, as: UUID?.self).map { .of($0) } ?? .null }
    return nil
  }

  private static func of(_ uuid: UUID) -> FieldValue { .uuid(withUnsafeBytes(of: uuid.uuid) { Array($0) }) }
}

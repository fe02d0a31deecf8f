#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Reads records that were made from another library's JSON. In these a date is text or a number, data are text in base 64, a
/// truth value may be a number, a text or number stands for the object that it identifies, and an empty array of objects may be
/// missing.
package protocol ForeignReading: AnyObject {
  /// The date that stands as this text.
  func date(text: String) throws -> Date
  /// The date that stands as this number.
  func date(number: Double) throws -> Date
}

extension GraphDecodingSession {
  /// A session that reads records made of another library's JSON, by ``GraphEncoder/record(of:syncStatus:referringTo:as:_:)``.
  package convenience init(
    source: any RecordSource, types: RegisteredTypes, userInfo: [CodingUserInfoKey: any Sendable],
    foreign: any ForeignReading
  ) {
    self.init(source: source, types: types, userInfo: userInfo)
    read(foreign)
  }
}

extension DecoderPointer {
  /// The identifier that the value at the cursor is the text of; nil where it is none, or the record none of
  /// another library's. Where there is one, the cursor stands behind it.
  func foreignIdentifier() throws -> String? {
    guard foreign != nil else { return nil }
    let tag = try tag()
    switch tag {
    case BodyTag.shortString..<BodyTag.smallReference, BodyTag.string8, BodyTag.string32:
      return try readString()
    case BodyTag.smallInteger..<BodyTag.shortString, BodyTag.int8...BodyTag.uint128:
      return String(try readInteger(Int128.self))
    default: return nil
    }
  }

  /// The number in the graph of the object that the text or number at the cursor identifies.
  @inline(never)
  func foreignReference(_ type: Any.Type) throws -> Int? {
    guard let id = try foreignIdentifier() else { return nil }
    let identity = try TypeDescription.identity(of: type, id: id)
    return identity.identifier.bytes.withUnsafeBytes { walk.number(tag: identity.tag, $0) }
  }

  /// The object that the text or number at the cursor identifies; nil where it identifies none.
  @inline(never)
  func readForeign<T: Decodable>(_ type: T.Type, _ facts: Permanent<TypeFacts>) throws -> T? {
    guard foreign != nil else { return nil }
    let path = childPath
    guard let number = try foreignReference(type) else { return nil }
    if let object = try walk.object(type, facts, number) { return object }
    throw missing(type, walk.identities.identity(of: number), path)
  }

  /// The same for a property that may be nil: the inner nil is a missing record.
  @inline(never)
  func findForeign<T: Decodable>(_ type: T.Type, _ facts: Permanent<TypeFacts>) throws -> T?? {
    guard let number = try foreignReference(type) else { return nil }
    return .some(try walk.object(type, facts, number))
  }

  /// The date at the cursor, which is none of this library's.
  @inline(never)
  func readForeignDate() throws -> Date {
    guard let foreign = self.foreign else { throw noDate() }
    if let text = try foreignText() { return try foreign.date(text: text) }
    switch try tag() {
    case BodyTag.smallInteger..<BodyTag.shortString, BodyTag.int8...BodyTag.double, BodyTag.decimal:
      return try foreign.date(number: readDouble())
    default: throw noDate()
    }
  }

  private func noDate() -> any Error {
    guard let tag = try? tag() else { return mismatch(Date.self) }
    return DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: childPath, debugDescription: "A Date was expected, but \(describe(tag)) was found."))
  }

  /// The data at the cursor, where they stand as text.
  @inline(never)
  func foreignData() throws -> Data? {
    guard foreign != nil, let text = try foreignText() else { return nil }
    return Data(base64Encoded: text)
  }

  /// The truth value at the cursor, where it is a number: what `NSNumber` makes of one.
  @inline(never)
  func readForeignBool() throws -> Bool {
    let tag = try tag()
    guard foreign != nil, tag == BodyTag.smallInteger || tag == BodyTag.smallInteger + 1 else {
      throw mismatch(Bool.self)
    }
    cursor += 1
    return tag == BodyTag.smallInteger + 1
  }

  private func foreignText() throws -> String? {
    switch try tag() {
    case BodyTag.shortString..<BodyTag.smallReference, BodyTag.string8, BodyTag.string32: try readString()
    default: nil
    }
  }
}

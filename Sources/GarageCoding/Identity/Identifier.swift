/// The kind of an identifier: its first byte.
///
/// Format: these numbers are stored and never change. The gaps leave room for kinds to come.
public enum IdentifierKind: UInt8, Sendable, Hashable, CaseIterable {
  /// The nil of an optional `id`.
  case none = 0x10
  /// An integer of any width and signedness.
  case integer = 0x20
  /// A `Date`.
  case date = 0x30
  /// A `UUID`.
  case uuid = 0x40
  /// A `String`, or the text of a `LosslessStringConvertible`.
  case string = 0x50
  /// The canonical encoding of any other `Codable & Hashable` type.
  case canonical = 0x60
  /// The digest of a value that is identified by its whole content.
  case digest = 0x70
}

/// Identifies an object among the objects of its type, by bytes that sort as the `id`s do.
///
/// Integers, dates and strings keep their natural order; integers of all widths have one order. Equal strings, composed or
/// decomposed, give the same identifier.
///
/// Format (numbers are big-endian):
/// ```
/// nil        | 10 | depth |                 depth: the optionals around the one that is nil
/// integer    | 20 | 80 + n | magnitude |    n bytes, as few as hold it; zero has none
///            | 20 | 80 - n | ~magnitude |   negative: n bytes of the ones' complement
/// date       | 30 | 8 bytes |               double, seconds since 2001-01-01 00:00 UTC: the sign bit
///                                           flipped when positive, all bits when negative
/// UUID       | 40 | 16 bytes |
/// string     | 50 | UTF-8 |                 in Unicode normalization form C
/// canonical  | 60 | canonical body |
/// digest     | 70 | 16 bytes |              the beginning of a SHA-256
/// ```
/// An identifier stands last in a key. In keys, an identifier of more than 239 bytes is cut, which only its length tells:
/// ```
/// | first 224 bytes | first 16 bytes of SHA-256 of the whole |     240 bytes
/// ```
public struct Identifier: Hashable, Sendable {
  /// The whole identifier, uncut: the kind, then the payload.
  public let bytes: [UInt8]

  /// The identifier with these bytes, as read from a record.
  ///
  /// - Returns: nil if they are no identifier: because of an unknown kind, a wrong length, or text that is not UTF-8.
  public init?(bytes: [UInt8]) {
    self.bytes = bytes
    guard bytes.withUnsafeBytes(Identifier.isWellFormed) else { return nil }
  }

  /// The identifier in a writer that has written exactly one.
  package init(_ writer: borrowing IdentifierWriter) { bytes = Array(writer.bytes) }

  init(unchecked bytes: [UInt8]) { self.bytes = bytes }

  /// The kind of the identifier.
  public var kind: IdentifierKind { bytes.first.flatMap(IdentifierKind.init) ?? .canonical }
}

extension Identifier {
  /// Hashes the bytes in one piece: an array hashes them one by one.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(bytes.count)
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}

extension Identifier: Comparable {
  /// The order of keys: integers by number, dates by time, strings as Swift orders them.
  public static func < (a: Identifier, b: Identifier) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }
}

// MARK: - In keys

extension Identifier {
  /// The most bytes that an identifier takes in a key, which is the length of a cut one.
  public static let maximumKeyByteCount = 240
  /// How many bytes of a cut identifier stand in front of its digest.
  package static let cutByteCount = 224

  /// Whether keys hold this identifier cut, so that its record has to hold it whole.
  public var isCut: Bool { Identifier.isCut(byteCount: bytes.count) }

  /// Whether bytes in a key are not the key form of any identifier. False for bytes of the length of a cut one, about which
  /// nothing can be said.
  package static func isDamaged(keyForm: RawSpan) -> Bool {
    keyForm.byteCount != maximumKeyByteCount
      && (isCut(byteCount: keyForm.byteCount) || !keyForm.withUnsafeBytes(isWellFormed))
  }

  /// Whether an identifier of this length is cut in keys.
  package static func isCut(byteCount: Int) -> Bool { byteCount >= maximumKeyByteCount }

  /// The identifier as it stands in keys: at most ``maximumKeyByteCount`` bytes.
  public var keyBytes: [UInt8] {
    guard isCut else { return bytes }
    var key: [UInt8] = []
    key.reserveCapacity(Identifier.maximumKeyByteCount)
    bytes.withUnsafeBytes { Identifier.appendKeyForm(of: $0, to: &key) }
    return key
  }

  /// Appends the key form of an identifier, given as its whole bytes.
  package static func appendKeyForm(of identifier: UnsafeRawBufferPointer, to key: inout [UInt8]) {
    guard isCut(byteCount: identifier.count) else {
      key.append(contentsOf: identifier)
      return
    }
    key.append(contentsOf: UnsafeRawBufferPointer(rebasing: identifier[..<cutByteCount]))
    let digest = ContentDigest.digest16(of: identifier)
    withUnsafeBytes(of: (digest.0.bigEndian, digest.1.bigEndian)) { key.append(contentsOf: $0) }
  }

  /// Lends the key form of an identifier, given as its whole bytes: itself, or a cut copy on the stack.
  @inline(__always)
  package static func withKeyForm<R>(
    of identifier: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    guard isCut(byteCount: identifier.count) else { return try body(identifier) }
    return try withUnsafeTemporaryAllocation(byteCount: maximumKeyByteCount, alignment: 8) { key in
      key.copyMemory(from: UnsafeRawBufferPointer(rebasing: identifier[..<cutByteCount]))
      let digest = ContentDigest.digest16(of: identifier)
      key.storeBytes(of: digest.0.bigEndian, toByteOffset: cutByteCount, as: UInt64.self)
      key.storeBytes(of: digest.1.bigEndian, toByteOffset: cutByteCount + 8, as: UInt64.self)
      return try body(UnsafeRawBufferPointer(key))
    }
  }
}

extension Identifier {
  /// Whether the bytes are the identifier of the number. Always false for a negative one.
  @inline(__always)
  static func isPositive(_ number: some FixedWidthInteger, _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= 2, bytes.count <= 10, bytes[0] == IdentifierKind.integer.rawValue,
      Int(bytes[1]) == 0x80 + bytes.count - 2, bytes.count == 2 || bytes[2] != 0
    else { return false }
    var magnitude: UInt64 = 0
    for index in 2..<bytes.count { magnitude = magnitude << 8 | UInt64(bytes[index]) }
    return number >= 0 && UInt64(truncatingIfNeeded: number) == magnitude
  }
}

// MARK: - From values

extension Identifier {
  /// The identifier of an `id`, by its type at run time. An `AnyHashable` gives the identifier of the value in it.
  ///
  /// - Parameter canonical: encodes an `id` that is of none of the simple kinds.
  /// - Throws: ``GraphCodingError`` for a type that cannot be an `id`, and the errors of `canonical`.
  package init(_ id: any Hashable, canonical: CanonicalEncoding) throws {
    func write<T: Hashable>(_ id: T) throws -> Identifier {
      let plan = try IdentifierPlan.of(T.self)
      return try withUnsafePointer(to: id) { try Identifier(at: $0, plan, canonical: canonical) }
    }
    // The type is asked for first, because the cast would wrap any value and take optionals apart.
    if type(of: id) == AnyHashable.self, let base = (id as? AnyHashable)?.base as? any Hashable {
      self = try write(base)
    } else {
      self = try write(id)
    }
  }

  private init(at value: UnsafeRawPointer, _ plan: IdentifierPlan, canonical: CanonicalEncoding) throws {
    var writer = IdentifierWriter(minimumCapacity: 64)
    try plan.write(at: value, to: &writer, canonical: canonical)
    self.init(writer)
  }

  /// The identifier for a value that a caller passes as an `id` of objects whose ids are of type `idType`.
  ///
  /// Text stands for integers and UUIDs, and these stand for their text, if one converts to the other without loss: `"7"`
  /// stands for an `Int`, but `"07"` does not. A value that does not convert keeps its own identifier, which names no object of
  /// that type.
  ///
  /// - Throws: ``GraphCodingError`` for types that cannot be an `id`, and the errors of `canonical`.
  package static func converting(
    _ value: any Hashable, toMatch idType: Any.Type, canonical: CanonicalEncoding
  ) throws -> Identifier {
    let target = try IdentifierPlan.of(idType)
    let given = try Identifier(value, canonical: canonical)
    guard [.string, .integer, .uuid].contains(given.kind), type(of: value) != idType else { return given }
    var writer = IdentifierWriter(minimumCapacity: 64)
    let converts = try target.write(text: given.description, givenAs: given.kind, to: &writer)
    return converts ? Identifier(writer) : given
  }
}

/// What an identifier holds: its first byte.
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

/// What identifies an object among those of its type, as bytes that sort as the `id`s do.
///
/// Integers, dates and strings keep their natural order; integers of all widths share one. Equal strings,
/// composed or decomposed, are one identifier.
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
/// An identifier stands last in a key. There one of more than 239 bytes is cut, and its length alone tells:
/// ```
/// | first 224 bytes | first 16 bytes of SHA-256 of the whole |     240 bytes
/// ```
public struct Identifier: Hashable, Sendable {
  /// The whole identifier, uncut: the kind, then the payload.
  public let bytes: [UInt8]

  /// The identifier of these bytes, as read from a record.
  ///
  /// - Returns: nil when they are none: an unknown kind, a wrong length, text that is not UTF-8.
  public init?(bytes: [UInt8]) {
    self.bytes = bytes
    guard bytes.withUnsafeBytes(Identifier.isWellFormed) else { return nil }
  }

  /// The identifier that a writer holds, which must have written just one.
  package init(_ writer: borrowing IdentifierWriter) { bytes = Array(writer.bytes) }

  init(unchecked bytes: [UInt8]) { self.bytes = bytes }

  /// What the identifier holds.
  public var kind: IdentifierKind { bytes.first.flatMap(IdentifierKind.init) ?? .canonical }
}

extension Identifier: Comparable {
  /// The order of keys: integers by number, dates by time, strings as Swift orders them.
  public static func < (a: Identifier, b: Identifier) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }
}

// MARK: - In keys

extension Identifier {
  /// The most bytes that an identifier takes in a key: the length of a cut one.
  public static let maximumKeyByteCount = 240
  /// How many bytes of a cut identifier stand before its digest.
  package static let cutByteCount = 224

  /// Whether a key holds this identifier cut, so that the record has to hold the whole.
  public var isCut: Bool { Identifier.isCut(byteCount: bytes.count) }

  /// Whether bytes that stand in a key are no identifier's key form. Of one that is cut nothing can be said.
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
  /// Whether the bytes are the identifier of a number that is not negative.
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
  /// The identifier of an `id`, by the type it has at run time; an `AnyHashable` is what it holds.
  ///
  /// - Parameter canonical: encodes an `id` that is none of the simple kinds.
  /// - Throws: ``GraphCodingError`` for a type that can be no `id`, and what `canonical` throws.
  package init(_ id: any Hashable, canonical: CanonicalEncoding) throws {
    func write<T: Hashable>(_ id: T) throws -> Identifier {
      let plan = try IdentifierPlan.of(T.self)
      return try withUnsafePointer(to: id) { try Identifier(at: $0, plan, canonical: canonical) }
    }
    // Ask for the type first: the cast would wrap any value, and take optionals apart.
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

  /// The identifier of an `id` that a caller passes where objects have ids of `idType`.
  ///
  /// Text stands for integers and UUIDs, and these for their text, where one converts to the other without
  /// loss: `"7"` where `id` is an `Int`, but not `"07"`. A value that does not convert keeps its own
  /// identifier, which names no object of that type.
  ///
  /// - Throws: ``GraphCodingError`` for types that can be no `id`, and what `canonical` throws.
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

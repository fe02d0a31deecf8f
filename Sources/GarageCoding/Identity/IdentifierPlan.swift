import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Encodes an `id` whose type is of no simple kind to bytes that depend only on its value.
package typealias CanonicalEncoding = (any Encodable) throws -> [UInt8]

/// How the values of one type become identifiers. It is decided once for each type, so that writing an identifier needs no
/// casts.
///
/// The first of these that fits is used: an integer; `String`; `UUID`; `Date`; `RawRepresentable` of these (its raw value may
/// be one, too); `LosslessStringConvertible` (its text); `Codable & Hashable` (its canonical bytes). An optional has the
/// identifier of the value in it, or that of nil.
///
/// Unchecked: nothing changes after `init`, and the closures capture only metatypes and other plans.
package struct IdentifierPlan: @unchecked Sendable {
  /// The kind of identifier that values of the type become, except nil.
  package let kind: IdentifierKind
  private let step: Step
  /// Whether the raw values of RawRepresentable types may be of this type.
  private let isSimple: Bool
  /// Writes the identifier of the value with this text, if there is one.
  private var writeLossless: ((String, inout IdentifierWriter) -> Bool)?

  /// Tells why the value at an address, which has that identifier, will have another one when it is read back; nil if it will
  /// not. It exists for the types for which this has to be checked.
  private(set) var fault: Fault?

  typealias Fault = (UnsafeRawPointer, UnsafeRawBufferPointer) -> String?
  /// Makes the value with an identifier at an address. Returns false if there is none.
  private var readOther: Read?
  private typealias Read = (Identifier, UnsafeMutableRawPointer) -> Bool
  private typealias Write = (UnsafeRawPointer, inout IdentifierWriter, CanonicalEncoding) throws -> Void

  private enum Step {
    case string, int, uint, int64, uint64, int32, uint32, uuid, date
    case other(Write)
  }

  private init(_ kind: IdentifierKind, _ step: Step, isSimple: Bool = true) {
    self.kind = kind
    self.step = step
    self.isSimple = isSimple
  }

  /// Writes the identifier of the value at an address, which must be of this plan's type.
  @inline(__always)
  package func write(
    at value: UnsafeRawPointer, to writer: inout IdentifierWriter, canonical: CanonicalEncoding
  ) throws {
    switch step {
    case .string: writer.write(string: value[as: String.self])
    case .int: writer.write(integer: Int64(value.load(as: Int.self)))
    case .uint: writer.write(integer: UInt64(value.load(as: UInt.self)))
    case .int64: writer.write(integer: value.load(as: Int64.self))
    case .uint64: writer.write(integer: value.load(as: UInt64.self))
    case .int32: writer.write(integer: Int64(value.load(as: Int32.self)))
    case .uint32: writer.write(integer: UInt64(value.load(as: UInt32.self)))
    case .uuid: writer.write(uuid: value.load(as: UUID.self))
    case .date: writer.write(date: value.load(as: Date.self))
    case .other(let write): try write(value, &writer, canonical)
    }
  }

  /// Makes the value of this plan's type that has an identifier, at an address with room for one.
  ///
  /// - Returns: false if there is no such value; the room is then still empty.
  func read(_ identifier: Identifier, to place: UnsafeMutableRawPointer) -> Bool {
    switch step {
    case .string: initialize(place, identifier.kind == .string ? identifier.description : nil)
    case .int: initialize(place, identifier.integer(Int.self))
    case .uint: initialize(place, identifier.integer(UInt.self))
    case .int64: initialize(place, identifier.integer(Int64.self))
    case .uint64: initialize(place, identifier.integer(UInt64.self))
    case .int32: initialize(place, identifier.integer(Int32.self))
    case .uint32: initialize(place, identifier.integer(UInt32.self))
    case .uuid: initialize(place, identifier.kind == .uuid ? UUID(uuidString: identifier.description) : nil)
    case .date: initialize(place, identifier.date)
    case .other: readOther?(identifier, place) ?? false
    }
  }

  /// Whether the identifier of the value at an address is certainly this one. If that cannot be seen quickly, the result is
  /// false, and the identifier has to be written to find out.
  @inline(__always)
  func isSurely(_ identifier: UnsafeRawBufferPointer, at value: UnsafeRawPointer) -> Bool {
    switch step {
    case .string:
      guard identifier.first == IdentifierKind.string.rawValue else { return false }
      let same = value[as: String.self].utf8.withContiguousStorageIfAvailable {
        utf8 in
        // Text in a record's key is already composed.
        compareBytes(UnsafeRawBufferPointer(utf8), UnsafeRawBufferPointer(rebasing: identifier[1...])) == 0
      }
      return same ?? false
    case .int: return Identifier.isPositive(value.load(as: Int.self), identifier)
    case .int64: return Identifier.isPositive(value.load(as: Int64.self), identifier)
    default: return false
    }
  }

  /// Writes the identifier that a text stands for. Returns false if it stands for none, or needs no conversion.
  func write(
    text: String, givenAs given: IdentifierKind, to writer: inout IdentifierWriter
  ) throws -> Bool {
    if let writeLossless { return writeLossless(text, &writer) }
    switch (kind, given) {
    case (.integer, .string):
      if let number = Int128(text), String(number) == text {
        try writer.write(anyInteger: number)
      } else if let number = UInt128(text), String(number) == text {
        try writer.write(anyInteger: number)
      } else {
        return false
      }
    case (.uuid, .string):
      guard let uuid = UUID(uuidString: text) else { return false }
      writer.write(uuid: uuid)
    case (.string, .integer), (.string, .uuid):
      writer.write(string: text)
    default:
      return false
    }
    return true
  }
}

extension IdentifierPlan {
  /// Whether an identifier made from a value of `type` may be that of an `id` of `idType`, whose plan this is.
  func suits(_ identifier: Identifier, of type: Any.Type, _ idType: Any.Type) -> Bool {
    func withoutOptionals(_ type: Any.Type) -> Any.Type {
      (type as? any OptionalIdentifier.Type).map { withoutOptionals($0.wrapped) } ?? type
    }
    if identifier.kind == .none { return idType is any OptionalIdentifier.Type }
    if withoutOptionals(type) == withoutOptionals(idType) { return true }
    if let writeLossless, identifier.kind == .string {
      var writer = IdentifierWriter(minimumCapacity: 64)
      return writeLossless(identifier.description, &writer)
    }
    // Only the type tells what canonical bytes mean.
    return identifier.kind == kind && kind != .canonical
  }
}

// MARK: - Making plans

extension IdentifierPlan {
  private static let known = Mutex<[ObjectIdentifier: IdentifierPlan]>([:])

  /// The plan for a type.
  ///
  /// - Throws: ``GraphCodingError/unsupportedIdentifier(type:)``.
  package static func of(_ type: Any.Type) throws -> IdentifierPlan {
    let key = ObjectIdentifier(type)
    if let plan = known.withLock({ $0[key] }) { return plan }
    guard let plan = make(for: type, depth: 0) else {
      throw GraphCodingError.unsupportedIdentifier(type: String(reflecting: type))
    }
    known.withLock { $0[key] = plan }
    return plan
  }

  private static func make(for type: Any.Type, depth: Int) -> IdentifierPlan? {
    // A type may be its own raw value, so the depth is limited.
    guard depth < 16 else { return nil }
    if let simple = simple(type) { return simple }
    if let optional = type as? any OptionalIdentifier.Type { return optional.plan(depth: depth) }
    if let raw = type as? any RawRepresentable.Type, let plan = byRawValue(raw, depth: depth) { return plan }
    if let float = type as? any (BinaryFloatingPoint & LosslessStringConvertible).Type {
      return byText(float: float)
    }
    if let text = type as? any LosslessStringConvertible.Type { return byText(text) }
    if let codable = type as? any (Codable & Hashable).Type { return byCanonicalBytes(codable) }
    return nil
  }

  private static func simple(_ type: Any.Type) -> IdentifierPlan? {
    switch ObjectIdentifier(type) {
    case ObjectIdentifier(String.self): IdentifierPlan(.string, .string)
    case ObjectIdentifier(Int.self): IdentifierPlan(.integer, .int)
    case ObjectIdentifier(UInt.self): IdentifierPlan(.integer, .uint)
    case ObjectIdentifier(Int64.self): IdentifierPlan(.integer, .int64)
    case ObjectIdentifier(UInt64.self): IdentifierPlan(.integer, .uint64)
    case ObjectIdentifier(Int32.self): IdentifierPlan(.integer, .int32)
    case ObjectIdentifier(UInt32.self): IdentifierPlan(.integer, .uint32)
    case ObjectIdentifier(UUID.self): IdentifierPlan(.uuid, .uuid)
    case ObjectIdentifier(Date.self): IdentifierPlan(.date, .date)
    default: (type as? any BinaryInteger.Type).map { anyInteger($0) }
    }
  }

  private static func anyInteger<T: BinaryInteger>(_: T.Type) -> IdentifierPlan {
    var plan = IdentifierPlan(
      .integer,
      .other { value, writer, _ in
        try writer.write(anyInteger: value[as: T.self])
      })
    plan.readOther = { initialize($1, $0.integer(T.self)) }
    return plan
  }

  private static func byRawValue<T: RawRepresentable>(_: T.Type, depth: Int) -> IdentifierPlan? {
    guard let raw = make(for: T.RawValue.self, depth: depth + 1), raw.isSimple else { return nil }
    var plan = IdentifierPlan(
      raw.kind,
      .other { value, writer, canonical in
        let rawValue = value[as: T.self].rawValue
        try withUnsafePointer(to: rawValue) { try raw.write(at: $0, to: &writer, canonical: canonical) }
      })
    plan.fault = { value, _ in rawValueFault(T.self, value, raw) }
    plan.readOther = { initialize($1, value(of: raw, $0).flatMap { T(rawValue: $0) }) }
    return plan
  }

  private static func byText<T: LosslessStringConvertible>(_: T.Type) -> IdentifierPlan {
    var plan = IdentifierPlan(
      .string,
      .other { value, writer, _ in
        writer.write(string: value[as: T.self].description)
      }, isSimple: false)
    plan.writeLossless = { text, writer in
      guard let value = T(text) else { return false }
      writer.write(string: value.description)
      return true
    }
    plan.readOther = { initialize($1, $0.kind == .string ? T($0.description) : nil) }
    return plan
  }

  /// As ``byText(_:)``, except that equal numbers have the same text (0.0 and -0.0), and all NaN as well.
  private static func byText<T: BinaryFloatingPoint & LosslessStringConvertible>(
    float: T.Type
  ) -> IdentifierPlan {
    func text(_ number: T) -> String { number.isNaN ? "nan" : (number + 0).description }
    var plan = IdentifierPlan(
      .string,
      .other { value, writer, _ in
        writer.write(string: text(value[as: T.self]))
      }, isSimple: false)
    plan.writeLossless = { given, writer in
      guard let number = T(given) else { return false }
      writer.write(string: text(number))
      return true
    }
    plan.readOther = { initialize($1, $0.kind == .string ? T($0.description) : nil) }
    return plan
  }

  private static func byCanonicalBytes<T: Codable & Hashable>(_: T.Type) -> IdentifierPlan {
    var plan = IdentifierPlan(
      .canonical,
      .other { value, writer, canonical in
        let bytes = try canonical(value[as: T.self])
        bytes.withUnsafeBytes { writer.write(canonical: $0) }
      }, isSimple: false)
    plan.fault = { canonicalFault(T.self, $0, $1) }
    plan.readOther = { initialize($1, $0.canonicalValue(T.self)) }
    return plan
  }

  /// The plan of an optional: nil has an identifier of its own, any other value that of the wrapped value.
  fileprivate static func optional<Wrapped>(_: Wrapped.Type, depth: Int) -> IdentifierPlan? {
    guard let wrapped = make(for: Wrapped.self, depth: depth + 1) else { return nil }
    // Optionals are no raw values of a simple kind, so only optionals can enclose this one.
    let nilDepth = UInt8(depth)
    var plan = IdentifierPlan(
      wrapped.kind,
      .other { value, writer, canonical in
        if let value = value[as: Wrapped?.self] {
          try withUnsafePointer(to: value) { try wrapped.write(at: $0, to: &writer, canonical: canonical) }
        } else {
          writer.writeNil(depth: nilDepth)
        }
      }, isSimple: false)
    plan.writeLossless = wrapped.writeLossless
    if depth > 0 || wrapped.fault != nil {
      plan.fault = { value, identifier in
        guard let value = value[as: Wrapped?.self] else {
          return depth == 0 ? nil : nestedNilFault
        }
        return withUnsafePointer(to: value) { wrapped.fault?($0, identifier) }
      }
    }
    plan.readOther = { identifier, place in
      if identifier.bytes == [IdentifierKind.none.rawValue, nilDepth] {
        return initialize(place, Wrapped?.none as Wrapped??)
      }
      return initialize(place, value(of: wrapped, identifier).map { Wrapped?.some($0) })
    }
    return plan
  }
}

/// Makes `value` at an address. Returns false if it is nil.
private func initialize<T>(_ place: UnsafeMutableRawPointer, _ value: T?) -> Bool {
  guard let value else { return false }
  place.initializeMemory(as: T.self, to: value)
  return true
}

/// The value that a plan, which must be that of its type, makes of an identifier.
private func value<T>(of plan: IdentifierPlan, _ identifier: Identifier) -> T? {
  withUnsafeTemporaryAllocation(of: T.self, capacity: 1) { room in
    guard let place = room.baseAddress, plan.read(identifier, to: UnsafeMutableRawPointer(place)) else {
      return nil
    }
    return place.move()
  }
}

/// Optionals, for a cast at run time.
protocol OptionalIdentifier {
  static var wrapped: Any.Type { get }
  var isNil: Bool { get }
  static func plan(depth: Int) -> IdentifierPlan?
}

extension Optional: OptionalIdentifier {
  static var wrapped: Any.Type { Wrapped.self }
  var isNil: Bool { self == nil }
  static func plan(depth: Int) -> IdentifierPlan? { IdentifierPlan.optional(Wrapped.self, depth: depth) }
}

internal import GarageCoding

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A property that a query gives: from the bytes of records where these tell, else of the objects.
final class QueryColumn<Root: Codable, Value: Codable> {
  /// What is made of a record's bytes with nothing in between, as an optional too.
  private enum Kind {
    case integer
    case double
    case text
    case date
    case other
  }

  private let property: KeyPath<Root, Value>
  private let field: StoredField?
  private let lookup: PropertyLookup?
  private let kind: Kind
  private let isOptional: Bool
  /// What stands for nil, of an optional property.
  private let null: Value?

  init(_ property: KeyPath<Root, Value>) {
    self.property = property
    field = QueryColumn.isReadable ? StoredField.of(property) : nil
    lookup = field.map { PropertyLookup($0, inSubclass: { StoredField.of(property, in: $0) }) }
    (kind, isOptional) =
      switch Value.self {
      case is Int.Type: (.integer, false)
      case is Int?.Type: (.integer, true)
      case is Double.Type: (.double, false)
      case is Double?.Type: (.double, true)
      case is String.Type: (.text, false)
      case is String?.Type: (.text, true)
      case is Date.Type: (.date, false)
      case is Date?.Type: (.date, true)
      default: (.other, false)
      }
    null = QueryColumn.none()
  }

  /// Where it stands in records, if values are made of what stands there.
  var storedField: StoredField? { field }

  /// Hands on what a match has there, unless its record is of another class. Handed on and not returned: generic code that
  /// returns an optional asks the runtime for its type, which takes longer than all that happens here.
  func visit(
    _ run: QueryRun<Root>, _ key: RawSpan, _ record: RawSpan, _ known: DecodedObject<Root>?,
    _ found: (consuming Value) throws -> Void
  ) throws {
    if known == nil, let lookup {
      let isThere =
        switch kind {
        case .integer: try hand(run.storedInteger(key, record, lookup), to: found)
        case .double: try hand(run.storedDouble(key, record, lookup), to: found)
        case .text: try hand(run.storedText(key, record, lookup), to: found)
        case .date:
          try hand(
            run.storedSeconds(key, record, lookup).map { Date(timeIntervalSinceReferenceDate: $0) }, to: found
          )
        case .other: false
        }
      if isThere { return }
    }
    try visitValue(run, key, record, known, found)
  }

  /// - Returns: whether the bytes tell it.
  @inline(__always)
  private func hand<Known>(
    _ stored: StoredValue<Known>, to found: (consuming Value) throws -> Void
  ) throws -> Bool {
    switch stored {
    case .value(let value) where isOptional: try found(Sameness.generic(Optional(value), as: Value.self))
    case .value(let value): try found(Sameness.generic(value, as: Value.self))
    case .null where isOptional: try found(Sameness.generic(nil as Known?, as: Value.self))
    case .null, .unknown: return false
    }
    return true
  }

  @inline(never)
  private func visitValue(
    _ run: QueryRun<Root>, _ key: RawSpan, _ record: RawSpan, _ known: DecodedObject<Root>?,
    _ found: (consuming Value) throws -> Void
  ) throws {
    if let value = try value(run, key, record, known) { try found(value) }
  }

  /// What a match has there; nil where its record is of another class.
  func value(
    _ run: QueryRun<Root>, _ key: RawSpan, _ record: RawSpan, _ known: DecodedObject<Root>?
  ) throws -> Value? {
    if let known { return known.object[keyPath: property] }
    if let field = try run.storedValue(key, record, lookup), let value = value(field) { return value }
    return try run.object(key, record).map { $0[keyPath: property] }
  }

  /// Whether values are made of fields without their `init(from:)`.
  private static var isReadable: Bool {
    switch unwrapped(Value.self) {
    case is Bool.Type, is String.Type, is Double.Type, is Float.Type, is Date.Type, is UUID.Type,
      is Data.Type,
      is Decimal.Type, is any FixedWidthInteger.Type:
      true
    default: false
    }
  }

  private func value(_ field: FieldValue) -> Value? {
    switch field {
    case .null: return null
    case .bool(let value): return value as? Value
    case .text(let value):
      return Value.self == String.self ? Sameness.generic(value, as: Value.self) : value as? Value
    case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds) as? Value
    case .data(let bytes): return Data(bytes) as? Value
    case .uuid(let bytes):
      return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) } as? Value
    case .number(.double(let value)):
      if Value.self == Double.self { return Sameness.generic(value, as: Value.self) }
      return unwrapped(Value.self) is Float.Type ? Float(value) as? Value : value as? Value
    case .number(.decimal(let value)): return value as? Value
    case .number(.integer(let value)):
      guard let type = unwrapped(Value.self) as? any FixedWidthInteger.Type else { return nil }
      return QueryColumn.integer(value, type) as? Value
    case .number(.wide), .reference: return nil
    }
  }

  private static func integer<N: FixedWidthInteger>(_ value: Int64, _: N.Type) -> N? { N(exactly: value) }

  /// Nil, where the property is optional.
  private static func none() -> Value? { (Value.self as? any OptionalValue.Type)?.nilValue as? Value }
}

private protocol OptionalValue {
  static var nilValue: Any { get }
}

extension Optional: OptionalValue {
  static var nilValue: Any { (nil as Wrapped?) as Any }
}

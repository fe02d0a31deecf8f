internal import GarageCoding

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A property that a query gives: from the bytes of records where these tell, else of the objects.
final class QueryColumn<Root: Codable, Value: Codable> {
  private let property: KeyPath<Root, Value>
  private let field: StoredField?
  private let lookup: FieldLookup?
  /// Whether it is an `Int`, as most are that are added up.
  private let isInteger = Value.self == Int.self

  init(_ property: KeyPath<Root, Value>) {
    self.property = property
    field = QueryColumn.isReadable ? StoredField.of(property) : nil
    lookup = field.map { FieldLookup($0.path) }
  }

  /// The integer that a match has there, of a property that is an `Int`; nil where its record is of another class.
  func integer(_ run: QueryRun<Root>, _ key: RawSpan, _ record: RawSpan, _ known: DecodedObject<Root>?) throws
    -> Int?
  {
    if known == nil, let lookup, let integer = try run.storedInteger(key, record, lookup) {
      return Int(integer)
    }
    return try value(run, key, record, known).map { Sameness.known($0, as: Int.self) }
  }

  /// Where it stands in records, if values are made of what stands there.
  var storedField: StoredField? { field }

  /// What a match has there; nil where its record is of another class.
  func value(
    _ run: QueryRun<Root>, _ key: RawSpan, _ record: RawSpan, _ known: DecodedObject<Root>?
  ) throws -> Value? {
    if let known { return known.object[keyPath: property] }
    if isInteger, let lookup, let integer = try run.storedInteger(key, record, lookup) {
      return Sameness.generic(Int(integer), as: Value.self)
    }
    if let field = try run.storedValue(key, record, lookup, field), let value = QueryColumn.value(field) {
      return value
    }
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

  private static func value(_ field: FieldValue) -> Value? {
    switch field {
    case .null: return none()
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
      return integer(value, type) as? Value
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

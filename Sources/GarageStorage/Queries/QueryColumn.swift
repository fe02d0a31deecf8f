internal import GarageCoding

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A property whose values a query gives: read from the bytes of records where these tell them, else from the objects.
final class QueryColumn<Root: Codable, Value: Codable> {
  /// The types whose values are made straight from a record's bytes, also where the property is an optional of such a type.
  private enum Kind {
    case int, int8, int16, int32, int64
    case uint, uint8, uint16, uint32, uint64
    case double, float, decimal
    case text, bool, date, uuid
    /// A case of an enum without payload. The first object that has a raw value shows which case it stands for.
    case textCase, integerCase
    case other
  }

  private let property: KeyPath<Root, Value>
  private let field: StoredField?
  /// Finds the property in records. Not to be used where `field` is nil; no optional itself, because each use of one would
  /// count a reference.
  private let lookup: PropertyLookup
  private let kind: Kind
  let isOptional: Bool
  /// The cases met, and their raw values.
  private var cases: [Value] = []
  private var caseTexts: [String] = []
  private var caseNumbers: [Int64] = []
  /// What stands for nil, of an optional property.
  private let null: Value?

  init(_ property: KeyPath<Root, Value>) {
    self.property = property
    let optional = Value.self as? any OptionalValue.Type
    let kind = QueryColumn.kind(optional?.wrappedType ?? Value.self)
    isOptional = optional != nil
    null = optional?.nilValue as? Value
    field = kind != .other || QueryColumn.isReadable ? StoredField.of(property) : nil
    self.kind = field == nil ? .other : kind
    lookup = PropertyLookup(
      field ?? StoredField(path: FieldPath([]), absentIsNull: false),
      inSubclass: { StoredField.of(property, in: $0) })
  }

  /// Whether records would tell the value, if it were known where the property stands in them.
  fileprivate var isMissed: Bool { field == nil && QueryColumn.isReadable }

  private static func kind(_ type: Any.Type) -> Kind {
    switch type {
    case is Int.Type: .int
    case is Int8.Type: .int8
    case is Int16.Type: .int16
    case is Int32.Type: .int32
    case is Int64.Type: .int64
    case is UInt.Type: .uint
    case is UInt8.Type: .uint8
    case is UInt16.Type: .uint16
    case is UInt32.Type: .uint32
    case is UInt64.Type: .uint64
    case is Double.Type: .double
    case is Float.Type: .float
    case is Decimal.Type: .decimal
    case is String.Type: .text
    case is Bool.Type: .bool
    case is Date.Type: .date
    case is UUID.Type: .uuid
    default: rawKind(type)
    }
  }

  /// The kind of an enum that its raw values tell, of which there are few.
  private static func rawKind(_ type: Any.Type) -> Kind {
    guard FieldComparability.isPlainEnum(type), let type = type as? any RawRepresentable.Type else {
      return .other
    }
    func raw<T: RawRepresentable>(_: T.Type) -> Any.Type { T.RawValue.self }
    switch raw(type) {
    case is String.Type: return .textCase
    case is any FixedWidthInteger.Type: return .integerCase
    default: return .other
    }
  }

  /// Where it stands in records, if values are made of what stands there.
  var storedField: StoredField? { field }

  /// The integers that its type holds, as far as they have 64 bits; nil where that is no type of integers.
  var integers: ClosedRange<Int64>? {
    func all<N: FixedWidthInteger>(_: N.Type) -> ClosedRange<Int64> { Int64(N.min)...Int64(clamping: N.max) }
    return switch kind {
    case .int, .int64: all(Int64.self)
    case .int8: all(Int8.self)
    case .int16: all(Int16.self)
    case .int32: all(Int32.self)
    case .uint, .uint64: all(UInt64.self)
    case .uint8: all(UInt8.self)
    case .uint16: all(UInt16.self)
    case .uint32: all(UInt32.self)
    case .double, .float, .decimal, .text, .bool, .date, .uuid, .textCase, .integerCase, .other: nil
    }
  }

  /// Whether its type is `Double`.
  var isOfDoubles: Bool { kind == .double }

  /// The integer of up to 64 bits that a match has there, as far as its bytes tell.
  func integer(_ run: QueryRun<Root>, _ key: RawSpan, _ record: RawSpan) throws -> StoredValue<Int64> {
    try run.asking(key, record) { question, tag, identifier in
      try question.integer(lookup, tag: tag, keyIdentifier: identifier, record: record)
    }
  }

  /// The double that a match has there, as far as its bytes tell.
  func double(_ run: QueryRun<Root>, _ key: RawSpan, _ record: RawSpan) throws -> StoredValue<Double> {
    try run.asking(key, record) { question, tag, identifier in
      try question.double(lookup, tag: tag, keyIdentifier: identifier, record: record)
    }
  }

  /// Hands on what a match has there, unless its record is of another class. Handed on and not returned: generic code that
  /// returns an optional asks the runtime for its type, which takes longer than all that happens here.
  func visit(
    _ run: QueryRun<Root>, _ key: RawSpan, _ record: RawSpan, _ known: DecodedObject<Root>?,
    _ found: (consuming Value) throws -> Void
  ) throws {
    if known == nil, kind != .other {
      let isThere = try run.asking(key, record) { question, tag, identifier in
        try visit(question, tag, identifier, record, found)
      }
      if isThere { return }
    }
    try visitValue(run, key, record, known, found)
  }

  /// - Returns: whether the bytes tell it.
  @inline(__always)
  private func visit(
    _ question: RecordQuestion, _ tag: UInt64, _ key: RawSpan, _ record: RawSpan,
    _ found: (consuming Value) throws -> Void
  ) throws -> Bool {
    func integer() throws -> StoredValue<Int64> {
      try question.integer(lookup, tag: tag, keyIdentifier: key, record: record)
    }
    func text() throws -> StoredValue<String> {
      try question.text(lookup, tag: tag, keyIdentifier: key, record: record)
    }
    switch kind {
    case .int: return try hand(integer(), as: Int.self, to: found)
    case .int8: return try hand(integer(), as: Int8.self, to: found)
    case .int16: return try hand(integer(), as: Int16.self, to: found)
    case .int32: return try hand(integer(), as: Int32.self, to: found)
    case .int64: return try hand(integer(), as: Int64.self, to: found)
    case .uint: return try hand(integer(), as: UInt.self, to: found)
    case .uint8: return try hand(integer(), as: UInt8.self, to: found)
    case .uint16: return try hand(integer(), as: UInt16.self, to: found)
    case .uint32: return try hand(integer(), as: UInt32.self, to: found)
    case .uint64: return try hand(integer(), as: UInt64.self, to: found)
    case .text: return try hand(text(), to: found)
    case .double:
      return try hand(question.double(lookup, tag: tag, keyIdentifier: key, record: record), to: found)
    case .float:
      return try hand(question.float(lookup, tag: tag, keyIdentifier: key, record: record), to: found)
    case .decimal:
      return try hand(question.decimal(lookup, tag: tag, keyIdentifier: key, record: record), to: found)
    case .bool:
      return try hand(question.bool(lookup, tag: tag, keyIdentifier: key, record: record), to: found)
    case .date:
      return try hand(question.date(lookup, tag: tag, keyIdentifier: key, record: record), to: found)
    case .uuid:
      return try hand(question.uuid(lookup, tag: tag, keyIdentifier: key, record: record), to: found)
    case .textCase:
      guard case .value(let raw) = try text(), let place = caseTexts.firstIndex(of: raw) else { return false }
      try found(cases[place])
      return true
    case .integerCase:
      guard case .value(let raw) = try integer(), let place = caseNumbers.firstIndex(of: raw) else {
        return false
      }
      try found(cases[place])
      return true
    case .other: return false
    }
  }

  @inline(__always)
  private func hand<N: FixedWidthInteger>(
    _ stored: StoredValue<Int64>, as type: N.Type, to found: (consuming Value) throws -> Void
  ) throws -> Bool {
    switch stored {
    case .value(let value):
      // A number that the property's type cannot hold is left to the decoder, which refuses it.
      guard let value = N(exactly: value) else { return false }
      return try hand(.value(value), to: found)
    case .null: return try hand(StoredValue<N>.null, to: found)
    case .unknown: return false
    }
  }

  @inline(__always)
  private func hand<Known>(
    _ stored: consuming StoredValue<Known>, to found: (consuming Value) throws -> Void
  ) throws -> Bool {
    switch consume stored {
    case .value(let value):
      if isOptional {
        try found(Sameness.generic(Optional(value), as: Value.self))
      } else {
        try found(Sameness.generic(value, as: Value.self))
      }
    case .null:
      if !isOptional { return false }
      try found(Sameness.generic(nil as Known?, as: Value.self))
    case .unknown: return false
    }
    return true
  }

  @inline(never)
  private func visitValue(
    _ run: QueryRun<Root>, _ key: RawSpan, _ record: RawSpan, _ known: DecodedObject<Root>?,
    _ found: (consuming Value) throws -> Void
  ) throws {
    guard let value = try value(run, key, record, known) else { return }
    if known == nil && (kind == .textCase || kind == .integerCase) { try noteCase(value, run, key, record) }
    try found(value)
  }

  /// Remembers which case a raw value stands for: the one that the object just decoded has, if encoding that case gives the
  /// same raw value. If not, the type's own code chose the case, and may choose by the rest of the object.
  private func noteCase(_ value: Value, _ run: QueryRun<Root>, _ key: RawSpan, _ record: RawSpan) throws {
    guard cases.count < QueryColumn.mostCases, let raw = try run.storedValue(key, record, lookup),
      try GraphEncoder.fieldValue(of: value) == raw
    else { return }
    switch raw {
    case .text(let text) where kind == .textCase: caseTexts.append(text)
    case .number(.integer(let number)) where kind == .integerCase: caseNumbers.append(number)
    default: return
    }
    cases.append(value)
  }

  /// How many cases are remembered. Values of further ones are read from objects.
  private static var mostCases: Int { 64 }

  /// What a match has there; nil where its record is of another class.
  func value(
    _ run: QueryRun<Root>, _ key: RawSpan, _ record: RawSpan, _ known: DecodedObject<Root>?
  ) throws -> Value? {
    if let known { return known.object[keyPath: property] }
    if field != nil, let stored = try run.storedValue(key, record, lookup), let value = value(stored) {
      return value
    }
    return try run.object(key, record).map { $0[keyPath: property] }
  }

  /// Whether values are made of what ``value(_:)`` gets.
  private static var isReadable: Bool {
    let type = unwrapped(Value.self)
    return kind(type) != .other || type is Data.Type || type is any FixedWidthInteger.Type
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
      // A number that the type cannot hold is no nil of an optional type, which a cast would make of nothing.
      guard let type = unwrapped(Value.self) as? any FixedWidthInteger.Type,
        let number = QueryColumn.integer(value, type)
      else { return nil }
      return number as? Value
    case .number(.wide), .reference: return nil
    }
  }

  private static func integer<N: FixedWidthInteger>(_ value: Int64, _: N.Type) -> N? { N(exactly: value) }
}

extension QueryRun {
  /// A property of what this finds.
  func column<Value: Codable>(_ property: KeyPath<Root, Value>) throws -> QueryColumn<Root, Value> {
    try access.makingUp(Root.self, facts, subclasses: subclasses) {
      let column = QueryColumn(property)
      return try column.isMissed && access.takeFieldSample(Root.self, facts) ? QueryColumn(property) : column
    }
  }
}

private protocol OptionalValue {
  static var wrappedType: Any.Type { get }
  static var nilValue: Any { get }
}

extension Optional: OptionalValue {
  static var wrappedType: Any.Type { Wrapped.self }
  static var nilValue: Any { (nil as Wrapped?) as Any }
}

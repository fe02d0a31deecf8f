/// A value of one of the types that most settings have. It is written and read without a coder, byte for byte as the coder
/// would.
///
/// No generic type is made, and nothing is allocated except a longer string. All else is left to the coder: a value of another
/// type, or one that was stored as another kind of number.
@usableFromInline
package enum PlainValue {
  case int(Int)
  case string(String)
  case bool(Bool)
  case double(Double)
  /// An optional of one of these types, without a value.
  case null

  /// The types that are known here.
  @usableFromInline
  package enum Kind: UInt8 {
    case other, int, string, bool, double
    case optionalInt, optionalString, optionalBool, optionalDouble

    /// The kind of a type. Inlined, so that the compiler decides it if it knows the type.
    @inlinable
    @inline(__always)
    package init<V>(_ type: V.Type) {
      if V.self == Int.self {
        self = .int
      } else if V.self == String.self {
        self = .string
      } else if V.self == Bool.self {
        self = .bool
      } else if V.self == Double.self {
        self = .double
      } else if V.self == Int?.self {
        self = .optionalInt
      } else if V.self == String?.self {
        self = .optionalString
      } else if V.self == Bool?.self {
        self = .optionalBool
      } else if V.self == Double?.self {
        self = .optionalDouble
      } else {
        self = .other
      }
    }
  }

  /// The value of that kind at an address.
  package init?(at address: UnsafeRawPointer, _ kind: Kind) {
    func optional<T>(_: T.Type) -> T? { address[as: T?.self] }
    switch kind {
    case .int: self = .int(address.load(as: Int.self))
    case .string: self = .string(address[as: String.self])
    case .bool: self = .bool(address.load(as: Bool.self))
    case .double: self = .double(address.load(as: Double.self))
    case .optionalInt: self = optional(Int.self).map { .int($0) } ?? .null
    case .optionalString: self = optional(String.self).map { .string($0) } ?? .null
    case .optionalBool: self = optional(Bool.self).map { .bool($0) } ?? .null
    case .optionalDouble: self = optional(Double.self).map { .double($0) } ?? .null
    case .other: return nil
    }
  }

  /// Initializes the memory at `place` with the value, which must be of that kind.
  package func initialize(_ place: UnsafeMutableRawPointer, _ kind: Kind) {
    let isOptional = kind.rawValue >= Kind.optionalInt.rawValue
    func initialize<T>(_ value: T) {
      if isOptional {
        place.initializeMemory(as: T?.self, to: value)
      } else {
        place.initializeMemory(as: T.self, to: value)
      }
    }
    switch self {
    case .int(let value): initialize(value)
    case .string(let value): initialize(value)
    case .bool(let value): initialize(value)
    case .double(let value): initialize(value)
    // A null has no record.
    case .null: break
    }
  }
}

// MARK: - Writing

extension PlainValue {
  /// The largest number of bytes of a plain value with its head.
  package static let maximumByteCount = RecordHead.valueByteCount + PlainBody.maximumByteCount

  /// Writes the record to be kept under the key into `buffer`, which has room for ``maximumByteCount``. Returns the number of
  /// bytes written; 0 if the coder is needed.
  package func write(key: CheckedKey, to buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    let body = writeBody(to: base + RecordHead.valueByteCount)
    if body == 0 { return 0 }
    let count = RecordHead.valueByteCount + body
    RecordHead.writeOfValue([], to: base)
    RecordChecksum.write(into: UnsafeMutableRawBufferPointer(start: base, count: count), under: key)
    return count
  }

  private func writeBody(to body: UnsafeMutableRawPointer) -> Int {
    switch self {
    case .int(let number): PlainBody.write(number, to: body)
    case .string(let string): PlainBody.write(string, to: body)
    case .bool(let value): PlainBody.write(value, to: body)
    case .double(let number): PlainBody.write(number, to: body)
    case .null: 0
    }
  }
}

// MARK: - Reading

extension PlainValue {
  /// Reads the record under a key as a value of that kind. Nil if the coder is needed, also to say what is wrong with the
  /// bytes.
  package init?(key: CheckedKey, record: RawSpan, _ kind: Kind) {
    let value = record.withUnsafeBytes { record -> PlainValue? in
      guard let body = PlainValue.body(key: key, record) else { return nil }
      return PlainValue(body: body, count: record.count - RecordHead.valueByteCount, kind)
    }
    guard let value else { return nil }
    self = value
  }

  /// Does the same for an integer, the most frequent kind, and writes it straight to its place.
  @inline(__always)
  package static func readInteger(
    key: CheckedKey, record: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer
  ) -> Bool {
    guard let body = body(key: key, record),
      let number = PlainBody.integer(body, record.count &- RecordHead.valueByteCount)
    else { return false }
    place.storeBytes(of: number, as: Int.self)
    return true
  }

  /// The beginning of the body, if the record is sound and may be a plain value.
  @inline(__always)
  private static func body(key: CheckedKey, _ record: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard record.count > RecordHead.valueByteCount, record.count <= PlainValue.maximumByteCount else {
      return nil
    }
    let base = record.baseAddress.unsafelyUnwrapped
    guard RecordHead.isOfPlainValue(base), RecordChecksum.isRight(record, under: key) else { return nil }
    return base + RecordHead.valueByteCount
  }

  private init?(body: UnsafeRawPointer, count: Int, _ kind: Kind) {
    switch kind {
    case .int, .optionalInt:
      guard let number = PlainBody.integer(body, count) else { return nil }
      self = .int(number)
    case .string, .optionalString:
      guard let string = PlainBody.string(body, count) else { return nil }
      self = .string(string)
    case .bool, .optionalBool:
      guard let value = PlainBody.bool(body, count) else { return nil }
      self = .bool(value)
    case .double, .optionalDouble:
      guard let number = PlainBody.double(body, count) else { return nil }
      self = .double(number)
    case .other: return nil
    }
  }
}

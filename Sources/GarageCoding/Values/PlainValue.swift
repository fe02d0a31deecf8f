/// A value as most settings are: written and read without a coder, byte for byte as the coder does.
///
/// No generic type is made on the way, and nothing is allocated but a longer string. What is not known here, a value
/// of another type or one that was stored as another kind of number, is left to the coder.
@usableFromInline
package enum PlainValue {
  case int(Int)
  case string(String)
  case bool(Bool)
  case double(Double)
  /// An optional of these without value.
  case null

  /// The types that are known here.
  @usableFromInline
  package enum Kind: UInt8 {
    case other, int, string, bool, double
    case optionalInt, optionalString, optionalBool, optionalDouble

    /// Which of the known types a type is. Inlined: the compiler decides it where it knows the type.
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

  /// Initializes what stands at `place` with the value, which is of that kind.
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
    // There is no record of those.
    case .null: break
    }
  }
}

// MARK: - Writing

extension PlainValue {
  /// The most that a plain value takes with its head.
  package static let maximumByteCount = RecordHead.valueByteCount + PlainBody.maximumByteCount

  /// Writes what is kept under the key into `buffer`, which has ``maximumByteCount``; returns how many bytes it is, and
  /// 0 where that takes the coder.
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
  /// Reads what is kept under a key as a value of that kind; nil where that takes the coder, also to say what is wrong
  /// with the bytes.
  package init?(key: CheckedKey, record: RawSpan, _ kind: Kind) {
    let value = record.withUnsafeBytes { record -> PlainValue? in
      guard let body = PlainValue.body(key: key, record) else { return nil }
      return PlainValue(body: body, count: record.count - RecordHead.valueByteCount, kind)
    }
    guard let value else { return nil }
    self = value
  }

  /// The same for an integer, the most frequent of all, straight to where there is room for it.
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

  /// Where the body of a sound record begins that may be a plain value.
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

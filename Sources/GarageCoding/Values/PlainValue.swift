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
    func optional<T>(_: T.Type) -> T? { address.assumingMemoryBound(to: T?.self).pointee }
    switch kind {
    case .int: self = .int(address.load(as: Int.self))
    case .string: self = .string(address.assumingMemoryBound(to: String.self).pointee)
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
  /// The most that a plain value takes with its header.
  package static let maximumByteCount = RecordFormat.valueFixedByteCount + 2 + 255

  /// Writes what is kept under the key into `buffer`, which has ``maximumByteCount``; returns how many bytes it is, and
  /// 0 where that takes the coder.
  ///
  /// - Parameter key: the key without its first byte.
  package func write(key: RawSpan, to buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    let body = writeBody(to: base + RecordFormat.valueFixedByteCount)
    if body == 0 { return 0 }
    let count = RecordFormat.valueFixedByteCount + body
    base.storeBytes(of: UInt8(RecordFormat.version), as: UInt8.self)
    base.storeBytes(of: 0, toByteOffset: 1, as: UInt8.self)
    let sealed = UnsafeRawBufferPointer(start: base, count: count)
    let checksum = key.withUnsafeBytes { RecordFormat.checksum(key: $0, record: sealed) }
    base.storeBytes(of: checksum.littleEndian, toByteOffset: RecordFormat.checksumOffset, as: UInt32.self)
    return count
  }

  private func writeBody(to body: UnsafeMutableRawPointer) -> Int {
    switch self {
    case .int(let number): return PlainValue.write(number, to: body)
    case .string(let string): return PlainValue.write(string, to: body)
    case .bool(let value):
      body.storeBytes(of: value ? BodyTag.true : BodyTag.false, as: UInt8.self)
      return 1
    case .double(let number):
      body.storeBytes(of: BodyTag.double, as: UInt8.self)
      (body + 1).storeBytes(of: number.bitPattern.littleEndian, as: UInt64.self)
      return 9
    case .null: return 0
    }
  }

  private static func write(_ number: Int, to body: UnsafeMutableRawPointer) -> Int {
    func store<N: FixedWidthInteger & BitwiseCopyable>(_ tag: UInt8, _ number: N) -> Int {
      body.storeBytes(of: tag, as: UInt8.self)
      (body + 1).storeBytes(of: number.littleEndian, as: N.self)
      return 1 + MemoryLayout<N>.size
    }
    if 0..<64 ~= number {
      body.storeBytes(of: BodyTag.smallInteger + UInt8(truncatingIfNeeded: number), as: UInt8.self)
      return 1
    }
    if let number = Int8(exactly: number) { return store(BodyTag.int8, number) }
    if let number = Int16(exactly: number) { return store(BodyTag.int16, number) }
    if let number = Int32(exactly: number) { return store(BodyTag.int32, number) }
    return store(BodyTag.int64, Int64(number))
  }

  private static func write(_ string: String, to body: UnsafeMutableRawPointer) -> Int {
    string.utf8.withContiguousStorageIfAvailable { utf8 in
      guard utf8.count < 256 else { return 0 }
      let text: UnsafeMutableRawPointer
      if utf8.count < 64 {
        body.storeBytes(of: BodyTag.shortString + UInt8(utf8.count), as: UInt8.self)
        text = body + 1
      } else {
        body.storeBytes(of: BodyTag.string8, as: UInt8.self)
        body.storeBytes(of: UInt8(utf8.count), toByteOffset: 1, as: UInt8.self)
        text = body + 2
      }
      if let source = utf8.baseAddress { text.copyMemory(from: source, byteCount: utf8.count) }
      return text - body + utf8.count
    } ?? 0
  }
}

// MARK: - Reading

extension PlainValue {
  /// Reads what is kept under a key as a value of that kind; nil where that takes the coder, also to say what is wrong
  /// with the bytes.
  ///
  /// - Parameter key: the key without its first byte.
  package init?(key: RawSpan, record: RawSpan, _ kind: Kind) {
    let value = record.withUnsafeBytes { record -> PlainValue? in
      guard let body = key.withUnsafeBytes({ PlainValue.body(key: $0, record) }) else { return nil }
      return PlainValue(body: body, count: record.count - RecordFormat.valueFixedByteCount, kind)
    }
    guard let value else { return nil }
    self = value
  }

  /// The same for an integer, the most frequent of all, straight to where there is room for it.
  @inline(__always)
  package static func readInteger(
    key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer
  ) -> Bool {
    guard let body = body(key: key, record),
      let number = integer(body.load(as: UInt8.self), body, record.count &- RecordFormat.valueFixedByteCount)
    else { return false }
    place.storeBytes(of: number, as: Int.self)
    return true
  }

  /// Where the body of a sound record begins that may be a plain value.
  @inline(__always)
  private static func body(key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer) -> UnsafeRawPointer?
  {
    guard record.count > RecordFormat.valueFixedByteCount, record.count <= PlainValue.maximumByteCount else {
      return nil
    }
    let base = record.baseAddress.unsafelyUnwrapped
    // The version, and no flags.
    guard base.loadUnaligned(as: UInt16.self) == UInt16(RecordFormat.version).littleEndian,
      RecordFormat.checksum(key: key, record: record)
        == UInt32(
          littleEndian: base.loadUnaligned(fromByteOffset: RecordFormat.checksumOffset, as: UInt32.self))
    else { return nil }
    return base + RecordFormat.valueFixedByteCount
  }

  private init?(body: UnsafeRawPointer, count: Int, _ kind: Kind) {
    let tag = body.load(as: UInt8.self)
    switch kind {
    case .int, .optionalInt:
      guard let number = PlainValue.integer(tag, body, count) else { return nil }
      self = .int(number)
    case .string, .optionalString:
      guard let string = PlainValue.string(tag, body, count) else { return nil }
      self = .string(string)
    case .bool, .optionalBool:
      guard count == 1, tag == BodyTag.true || tag == BodyTag.false else { return nil }
      self = .bool(tag == BodyTag.true)
    case .double, .optionalDouble:
      guard count == 9, tag == BodyTag.double else { return nil }
      let bits = body.loadUnaligned(fromByteOffset: 1, as: UInt64.self)
      self = .double(Double(bitPattern: UInt64(littleEndian: bits)))
    case .other: return nil
    }
  }

  private static func integer(_ tag: UInt8, _ body: UnsafeRawPointer, _ count: Int) -> Int? {
    func load<N: FixedWidthInteger & BitwiseCopyable>(_: N.Type) -> Int? {
      count == 1 + MemoryLayout<N>.size
        ? Int(exactly: N(littleEndian: body.loadUnaligned(fromByteOffset: 1, as: N.self))) : nil
    }
    switch tag {
    case BodyTag.smallInteger..<BodyTag.shortString: return count == 1 ? Int(tag & 0x3F) : nil
    case BodyTag.int8: return load(Int8.self)
    case BodyTag.int16: return load(Int16.self)
    case BodyTag.int32: return load(Int32.self)
    case BodyTag.int64: return load(Int64.self)
    default: return nil
    }
  }

  /// Text other than ASCII is left to the coder, which checks that it is text.
  private static func string(_ tag: UInt8, _ body: UnsafeRawPointer, _ count: Int) -> String? {
    let start: Int
    if tag & 0xC0 == BodyTag.shortString, count == 1 + Int(tag & 0x3F) {
      start = 1
    } else if tag == BodyTag.string8, count > 1,
      count == 2 + Int(body.load(fromByteOffset: 1, as: UInt8.self))
    {
      start = 2
    } else {
      return nil
    }
    let text = UnsafeRawBufferPointer(start: body + start, count: count - start)
    return isASCII(text) ? String(decoding: text, as: UTF8.self) : nil
  }
}

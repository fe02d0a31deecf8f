/// Reads the elements of an array.
struct UnkeyedReader: UnkeyedDecodingContainer {
  let state: DecoderPointer
  let serial: UInt64
  let nested: Permanent<NestedDecoding>?

  var codingPath: [any CodingKey] { state.codingPath(nested, serial) }

  private var frame: DecodingFrame { state.frame(of: nested) }
  var count: Int? { frame.serial == serial ? frame.count : nil }
  var currentIndex: Int { frame.serial == serial ? frame.next : 0 }
  var isAtEnd: Bool { frame.serial == serial ? frame.next >= frame.count : true }

  @inline(__always)
  private func inside<R>(_ body: () throws -> R) throws -> R {
    if nested == nil { return try body() }
    try state.enter(nested, serial)
    defer { state.leave(nested) }
    return try body()
  }

  /// Reads the next element, which must be there. One that fails stays the next.
  @inline(__always)
  private func read<R>(_ type: Any.Type, _ body: () throws -> R) throws -> R {
    try inside {
      try state.beginElement(type, serial: serial)
      let value = try body()
      state.advance()
      return value
    }
  }

  @inline(__always)
  private func readIfPresent<R>(_ type: Any.Type, _ body: () throws -> R?) throws -> R? {
    if isAtEnd { return nil }
    return try read(type) {
      if try state.tag() == BodyTag.null {
        state.cursor += 1
        return nil
      }
      return try body()
    }
  }

  mutating func decodeNil() throws -> Bool {
    try inside {
      try state.beginElement(Any?.self, serial: serial)
      guard try state.tag() == BodyTag.null else { return false }
      state.cursor += 1
      state.advance()
      return true
    }
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try read(type) { try state.readBool() } }
  mutating func decode(_ type: String.Type) throws -> String { try read(type) { try state.readString() } }
  mutating func decode(_ type: Double.Type) throws -> Double { try read(type) { try state.readDouble() } }
  mutating func decode(_ type: Float.Type) throws -> Float { try read(type) { try state.readFloat() } }
  mutating func decode(_ type: Int.Type) throws -> Int { try read(type) { try state.readInteger(type) } }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try read(type) { try state.readInteger(type) } }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try read(type) { try state.readInteger(type) } }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try read(type) { try state.readInteger(type) } }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try read(type) { try state.readInteger(type) } }
  mutating func decode(_ type: Int128.Type) throws -> Int128 {
    try read(type) { try state.readInteger(type) }
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try read(type) { try state.readInteger(type) } }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try read(type) { try state.readInteger(type) } }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try read(type) { try state.readInteger(type) }
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try read(type) { try state.readInteger(type) }
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try read(type) { try state.readInteger(type) }
  }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
    try read(type) { try state.readInteger(type) }
  }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if nested != nil { try state.enter(nested, serial) }
    defer { if nested != nil { state.leave(nested) } }
    try state.beginElement(type, serial: serial)
    let value = try state.readAny(type)
    state.advance()
    return value
  }
  mutating func decodeIfPresent<T: Decodable>(_ type: T.Type) throws -> T? {
    try readIfPresent(type) { try state.readTarget(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws
    -> KeyedDecodingContainer<Nested>
  {
    try next([String: Any].self) { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next([Any].self) { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try next((any Decoder).self) { $0 } }

  /// Reads the next element as a container. One that is none stays the next.
  private func next<R>(_ type: Any.Type, _ body: (ValueDecoder) throws -> R) throws -> R {
    let (nested, end) = try inside {
      try state.beginElement(type, serial: serial)
      return (try state.makeNested(), state.cursor)
    }
    let result = try body(state.decoder(nested))
    try inside {
      state.cursor = end
      state.advance()
    }
    return result
  }
}

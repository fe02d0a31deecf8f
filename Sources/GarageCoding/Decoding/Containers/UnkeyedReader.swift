/// Reads the elements of an array.
struct UnkeyedReader: UnkeyedDecodingContainer {
  let state: DecoderPointer
  let serial: UInt64

  var codingPath: [any CodingKey] { state.codingPath(serial) }

  /// The frame of this container, which need not be the current one; nil once its value is left.
  private var place: UnsafeMutablePointer<DecodingFrame>? {
    @inline(__always) get { state.frame.serial == serial ? state.framePlace : state.openFrame(serial) }
  }
  var count: Int? { place?.pointee.count }
  var currentIndex: Int { place?.pointee.next ?? 0 }
  var isAtEnd: Bool { place.map { $0.pointee.next >= $0.pointee.count } ?? true }

  /// Reads the next element, which must be there. One that fails stays the next.
  @inline(__always)
  private func read<R>(_ type: Any.Type, _ body: () throws -> R) throws -> R {
    try state.resume(serial)
    try state.beginElement(type)
    let value = try body()
    state.advance()
    return value
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
    try state.resume(serial)
    try state.beginElement(Any?.self)
    guard try state.tag() == BodyTag.null else { return false }
    state.cursor += 1
    state.advance()
    return true
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
    try state.resume(serial)
    try state.beginElement(type)
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
    let serial = try openNested([String: Any].self) { try $0.requestMap() }
    return state.boxes.container(type, serial, state)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    UnkeyedReader(state: state, serial: try openNested([Any].self) { try $0.requestArray() })
  }

  mutating func superDecoder() throws -> any Decoder {
    ValueDecoder(state: state, serial: try openNested((any Decoder).self) { _ in })
  }

  /// Opens the next element as a container. One that is none stays the next.
  @inline(__always)
  private func openNested(_ type: Any.Type, _ request: (DecoderPointer) throws -> Void) throws -> UInt64 {
    try state.resume(serial)
    try state.beginElement(type)
    let (next, offset) = (state.frame.next, state.frame.nextOffset)
    let nested = try state.openNested()
    do {
      try request(state)
    } catch {
      state.closeNested()
      (state.frame.next, state.frame.nextOffset) = (next, offset)
      throw error
    }
    return nested
  }
}

/// Reads the elements of an array.
///
/// It keeps its own place, which is not in the array's frame: so a copy goes on by itself. It is small enough to stand in an
/// existential without an allocation, and containers mostly do.
struct UnkeyedReader: UnkeyedDecodingContainer {
  let state: DecoderPointer
  let serial: UInt64
  /// The next element, and where it begins, from the first one on: an array that is read so has less than 4 GiB.
  private var next: UInt32 = 0
  private var nextOffset: UInt32 = 0

  init(state: DecoderPointer, serial: UInt64) {
    self.state = state
    self.serial = serial
  }

  var codingPath: [any CodingKey] { state.codingPath(serial) }

  /// The frame of this container, which need not be the current one; nil once its value is left.
  private var place: UnsafeMutablePointer<DecodingFrame>? {
    @inline(__always) get { state.frame.serial == serial ? state.framePlace : state.openFrame(serial) }
  }
  var count: Int? { place?.pointee.count }
  var currentIndex: Int { Int(next) }
  var isAtEnd: Bool { place.map { Int(next) >= $0.pointee.count } ?? true }

  /// Moves the cursor to the next element, which must be there.
  @inline(__always)
  private func begin(_ type: Any.Type) throws {
    try state.resume(serial)
    try state.beginElement(type, Int(next), at: state.frame.content &+ Int(nextOffset))
  }

  /// Called when the element was read and the cursor stands behind it. Only then is it no longer the next one.
  @inline(__always)
  private mutating func advance() {
    next &+= 1
    nextOffset = UInt32(truncatingIfNeeded: state.cursor &- state.frame.content)
  }

  /// Reads the next element, which must be there. One that fails stays the next.
  @inline(__always)
  private mutating func read<R>(_ type: Any.Type, _ body: (DecoderPointer) throws -> R) throws -> R {
    try begin(type)
    let value = try body(state)
    advance()
    return value
  }

  @inline(__always)
  private mutating func readIfPresent<R>(
    _ type: Any.Type, _ body: (DecoderPointer) throws -> R?
  ) throws -> R? {
    if isAtEnd { return nil }
    return try read(type) { state in
      if try state.tag() == BodyTag.null {
        state.cursor += 1
        return nil
      }
      return try body(state)
    }
  }

  mutating func decodeNil() throws -> Bool {
    try begin(Any?.self)
    guard try state.isNullOrGone() else { return false }
    state.cursor = try BodyScanner.skipValue(state.base, state.cursor, end: state.frame.end)
    advance()
    return true
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try read(type) { try $0.readBool() } }
  mutating func decode(_ type: String.Type) throws -> String { try read(type) { try $0.readString() } }
  mutating func decode(_ type: Double.Type) throws -> Double { try read(type) { try $0.readDouble() } }
  mutating func decode(_ type: Float.Type) throws -> Float { try read(type) { try $0.readFloat() } }
  mutating func decode(_ type: Int.Type) throws -> Int { try read(type) { try $0.readInteger(type) } }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try read(type) { try $0.readInteger(type) } }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try read(type) { try $0.readInteger(type) } }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try read(type) { try $0.readInteger(type) } }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try read(type) { try $0.readInteger(type) } }
  mutating func decode(_ type: Int128.Type) throws -> Int128 {
    try read(type) { try $0.readInteger(type) }
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try read(type) { try $0.readInteger(type) } }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try read(type) { try $0.readInteger(type) } }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try read(type) { try $0.readInteger(type) }
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try read(type) { try $0.readInteger(type) }
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try read(type) { try $0.readInteger(type) }
  }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
    try read(type) { try $0.readInteger(type) }
  }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try begin(type)
    let value = try state.readAny(type)
    advance()
    return value
  }
  mutating func decodeIfPresent<T: Decodable>(_ type: T.Type) throws -> T? {
    try readIfPresent(type) { try $0.readTarget(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws
    -> KeyedDecodingContainer<Nested>
  {
    let serial = try openNested([String: Any].self) { try $0.requestMap(isLook: true) }
    return state.boxes.container(type, serial, state)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    UnkeyedReader(state: state, serial: try openNested([Any].self) { try $0.requestArray(isLook: true) })
  }

  mutating func superDecoder() throws -> any Decoder {
    ValueDecoder(state: state, serial: try openNested((any Decoder).self) { _ in })
  }

  /// Opens the next element as a container. One that is none stays the next.
  @inline(__always)
  private mutating func openNested(
    _ type: Any.Type, _ request: (DecoderPointer) throws -> Void
  ) throws -> UInt64 {
    try begin(type)
    let content = state.frame.content
    let nested = try state.openNested()
    let end = state.frame.valueEnd
    do {
      try request(state)
    } catch {
      state.closeNested()
      throw error
    }
    next &+= 1
    nextOffset = UInt32(truncatingIfNeeded: end &- content)
    return nested
  }
}

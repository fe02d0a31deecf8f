/// The `Decoder` that user code sees: plain data, small enough to travel inside `any Decoder`.
struct ValueDecoder: Decoder {
  let state: DecoderPointer
  /// The frame this decoder was made for.
  let serial: UInt64
  /// The nested container it reads from; nil for the value that is being decoded.
  let nested: Permanent<NestedDecoding>?

  var codingPath: [any CodingKey] { state.codingPath(nested, serial) }

  var userInfo: [CodingUserInfoKey: Any] {
    if serial <= state.serialBefore { return [:] }
    return state.core.userInfo
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if nested == nil, state.frame.serial == serial {
      try state.requestMap()
      return state.boxes.container(type, serial, state)
    }
    try request { try $0.requestMap() }
    if nested == nil { return state.boxes.container(type, serial, state) }
    return KeyedDecodingContainer(
      KeyedReader<Key>(state, state.boxes.keys(type), serial: serial, nested: nested))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try request { try $0.requestArray() }
    return UnkeyedReader(state: state, serial: serial, nested: nested)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    SingleValueReader(state: state, serial: serial, nested: nested)
  }

  /// Runs `body` on this decoder's own value.
  func request<R>(_ body: (DecoderPointer) throws -> R) throws -> R {
    try state.enter(nested, serial)
    defer { state.leave(nested) }
    guard state.frame.serial == serial else { throw state.staleContainer([], serial) }
    return try body(state)
  }
}

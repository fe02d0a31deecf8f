/// The `Decoder` that user code sees: plain data, small enough to travel inside `any Decoder`.
struct ValueDecoder: Decoder {
  let state: DecoderPointer
  /// The frame this decoder was made for: of a value, or of a nested container.
  let serial: UInt64

  var codingPath: [any CodingKey] { state.codingPath(serial) }

  var userInfo: [CodingUserInfoKey: Any] {
    if serial <= state.serialBefore { return [:] }
    return state.core.userInfo
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try state.resume(serial)
    try state.requestMap()
    return state.boxes.container(type, serial, state)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try state.resume(serial)
    try state.requestArray()
    return UnkeyedReader(state: state, serial: serial)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    SingleValueReader(state: state, serial: serial)
  }

  /// Runs `body` on this decoder's own value.
  func request<R>(_ body: (DecoderPointer) throws -> R) throws -> R {
    try state.resume(serial)
    return try body(state)
  }
}

/// The `Encoder` that user code sees: plain data, small enough to travel inside `any Encoder`.
struct ValueEncoder: Encoder {
  let state: EncoderPointer
  /// The frame this encoder was made for.
  let serial: UInt64
  /// The nested container it writes to; nil for the value that is being encoded.
  let nested: Permanent<NestedEncoding>?

  var codingPath: [any CodingKey] { state.codingPath(nested, serial) }

  var userInfo: [CodingUserInfoKey: Any] {
    if serial <= state.serialBefore { return [:] }
    return state.core.userInfo
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    // What mostly is the case, without the detours.
    if nested == nil, state.frame.serial == serial,
      state.frame.kind == .empty
    {
      state.openMap()
      return state.boxes.container(type, serial, state)
    }
    do {
      try request { try $0.requestMap() }
    } catch {
      return KeyedEncodingContainer(FailedKeyedEncoding(error: error, codingPath: codingPath))
    }
    if nested == nil { return state.boxes.container(type, serial, state) }
    return KeyedEncodingContainer(
      KeyedWriter<Key>(state, state.boxes.keys(type), serial: serial, nested: nested))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    do {
      try request { try $0.requestArray() }
    } catch {
      return FailedEncoding(error: error, codingPath: codingPath)
    }
    return UnkeyedWriter(state: state, serial: serial, nested: nested)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleValueWriter(state: state, serial: serial, nested: nested)
  }

  /// Runs `body` on this encoder's own bytes.
  private func request(_ body: (EncoderPointer) throws -> Void) throws {
    try state.enter(nested, serial)
    defer { state.leave(nested) }
    guard state.frame.serial == serial else { throw state.staleContainer([], serial) }
    try body(state)
  }
}

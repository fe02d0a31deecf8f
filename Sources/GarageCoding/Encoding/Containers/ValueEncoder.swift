/// The `Encoder` that user code sees: plain data, small enough to travel inside `any Encoder`.
struct ValueEncoder: Encoder {
  let state: EncoderPointer
  /// The frame this encoder was made for: of a value, or of a nested container.
  let serial: UInt64

  var codingPath: [any CodingKey] { state.codingPath(serial) }

  var userInfo: [CodingUserInfoKey: Any] {
    if serial <= state.serialBefore { return [:] }
    return state.core.userInfo
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    // The usual case, in the shortest way.
    if state.frame.serial == serial, state.frame.kind == .empty {
      state.openMap()
      return state.boxes.container(type, serial, state)
    }
    do {
      try state.resume(serial)
      try state.requestMap()
    } catch {
      return KeyedEncodingContainer(FailedKeyedEncoding(error: error, codingPath: codingPath))
    }
    return state.boxes.container(type, serial, state)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    do {
      try state.resume(serial)
      try state.requestArray()
    } catch {
      return FailedEncoding(error: error, codingPath: codingPath)
    }
    return UnkeyedWriter(state: state, serial: serial)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleValueWriter(state: state, serial: serial)
  }
}

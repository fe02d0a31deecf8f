/// Writes the elements of an array.
struct UnkeyedWriter: UnkeyedEncodingContainer {
  let state: EncoderPointer
  let serial: UInt64
  let nested: Permanent<NestedEncoding>?

  var codingPath: [any CodingKey] { state.codingPath(nested, serial) }

  var count: Int {
    if let nested = nested?.object, !nested.isActive {
      return nested.serial == serial ? nested.output.frame.count : 0
    }
    return state.frame.serial == serial ? state.frame.count : 0
  }

  private func element(_ body: () throws -> Void) throws {
    try state.enter(nested, serial)
    defer { state.leave(nested) }
    try state.beginElement(serial: serial)
    try body()
  }

  func encodeNil() throws { try element { state.writeNull() } }
  func encode(_ value: Bool) throws { try element { state.write(value) } }
  func encode(_ value: String) throws { try element { try state.write(value) } }
  func encode(_ value: Double) throws { try element { state.write(value) } }
  func encode(_ value: Float) throws { try element { state.write(value) } }
  func encode(_ value: Int) throws { try element { state.write(integer: Int64(value)) } }
  func encode(_ value: Int8) throws { try element { state.write(integer: Int64(value)) } }
  func encode(_ value: Int16) throws { try element { state.write(integer: Int64(value)) } }
  func encode(_ value: Int32) throws { try element { state.write(integer: Int64(value)) } }
  func encode(_ value: Int64) throws { try element { state.write(integer: value) } }
  func encode(_ value: Int128) throws { try element { state.write(integer: value) } }
  func encode(_ value: UInt) throws { try element { state.write(integer: UInt64(value)) } }
  func encode(_ value: UInt8) throws { try element { state.write(integer: UInt64(value)) } }
  func encode(_ value: UInt16) throws { try element { state.write(integer: UInt64(value)) } }
  func encode(_ value: UInt32) throws { try element { state.write(integer: UInt64(value)) } }
  func encode(_ value: UInt64) throws { try element { state.write(integer: value) } }
  func encode(_ value: UInt128) throws { try element { state.write(integer: value) } }

  func encode<T: Encodable>(_ value: T) throws {
    try state.enter(nested, serial)
    defer { state.leave(nested) }
    // Not inside: who goes back to a mark in a coder that is another thread's by now takes back what that one wrote.
    guard state.frame.serial == serial else { throw state.staleContainer([], serial) }
    try state.attempt {
      try state.beginElement(serial: serial)
      try state.writeElement(value)
    }
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    switch makeNested() {
    case .success(let nested): state.encoder(nested).container(keyedBy: type)
    case .failure(let error):
      KeyedEncodingContainer(FailedKeyedEncoding(error: error, codingPath: codingPath))
    }
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    switch makeNested() {
    case .success(let nested): state.encoder(nested).unkeyedContainer()
    case .failure(let error): FailedEncoding(error: error, codingPath: codingPath)
    }
  }

  func superEncoder() -> any Encoder {
    switch makeNested() {
    case .success(let nested): state.encoder(nested)
    case .failure(let error): FailedEncoder(error: error, codingPath: codingPath)
    }
  }

  private func makeNested() -> Result<Permanent<NestedEncoding>, any Error> {
    Result {
      try state.enter(nested, serial)
      defer { state.leave(nested) }
      try state.beginElement(serial: serial)
      let index = state.frame.count - 1
      return try state.withChild(.index(index)) { try state.makeNested() }
    }
  }
}

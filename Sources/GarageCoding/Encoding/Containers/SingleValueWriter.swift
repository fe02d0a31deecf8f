/// Writes one value without a container around it.
struct SingleValueWriter: SingleValueEncodingContainer {
  let state: EncoderPointer
  let serial: UInt64

  var codingPath: [any CodingKey] { state.codingPath(serial) }

  private func single(_ body: () throws -> Void) throws {
    try state.resume(serial)
    try state.attempt {
      try state.beginSingle(serial: serial)
      try body()
    }
  }

  func encodeNil() throws { try single { state.writeNull() } }
  func encode(_ value: Bool) throws { try single { state.write(value) } }
  func encode(_ value: String) throws { try single { try state.write(value) } }
  func encode(_ value: Double) throws { try single { state.write(value) } }
  func encode(_ value: Float) throws { try single { state.write(value) } }
  func encode(_ value: Int) throws { try single { state.write(integer: Int64(value)) } }
  func encode(_ value: Int8) throws { try single { state.write(integer: Int64(value)) } }
  func encode(_ value: Int16) throws { try single { state.write(integer: Int64(value)) } }
  func encode(_ value: Int32) throws { try single { state.write(integer: Int64(value)) } }
  func encode(_ value: Int64) throws { try single { state.write(integer: value) } }
  func encode(_ value: Int128) throws { try single { state.write(integer: value) } }
  func encode(_ value: UInt) throws { try single { state.write(integer: UInt64(value)) } }
  func encode(_ value: UInt8) throws { try single { state.write(integer: UInt64(value)) } }
  func encode(_ value: UInt16) throws { try single { state.write(integer: UInt64(value)) } }
  func encode(_ value: UInt32) throws { try single { state.write(integer: UInt64(value)) } }
  func encode(_ value: UInt64) throws { try single { state.write(integer: value) } }
  func encode(_ value: UInt128) throws { try single { state.write(integer: value) } }
  func encode<T: Encodable>(_ value: T) throws { try single { try state.writeAny(value) } }
}

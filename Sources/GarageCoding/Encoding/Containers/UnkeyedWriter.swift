/// Writes the elements of an array.
struct UnkeyedWriter: UnkeyedEncodingContainer {
  let state: EncoderPointer
  let serial: UInt64

  var codingPath: [any CodingKey] { state.codingPath(serial) }

  /// The container need not be the current one.
  var count: Int { state.openFrame(serial)?.pointee.count ?? 0 }

  @inline(__always)
  private func element(_ body: () throws -> Void) throws {
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
    // Not inside ``attempt(_:)``: if the coder is another thread's by now, going back to a mark would take back what that
    // thread wrote.
    try state.resume(serial)
    let (facts, kind) = state.types.facts(of: T.self)
    if kind.isAlwaysScalar && !state.hasDateStrategy {
      // What fails here fails for good, so that there is nothing to go back to.
      return try element { _ = try state.writeScalar(value, kind) }
    }
    try state.attempt {
      try state.beginElement(serial: serial)
      try state.writeElement(value, facts, kind)
    }
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    do {
      return try openNested().container(keyedBy: type)
    } catch {
      return KeyedEncodingContainer(FailedKeyedEncoding(error: error, codingPath: codingPath))
    }
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    do {
      return try openNested().unkeyedContainer()
    } catch {
      return FailedEncoding(error: error, codingPath: codingPath)
    }
  }

  func superEncoder() -> any Encoder {
    do {
      return try openNested()
    } catch {
      return FailedEncoder(error: error, codingPath: codingPath)
    }
  }

  private func openNested() throws -> ValueEncoder {
    try state.beginElement(serial: serial)
    return ValueEncoder(state: state, serial: try state.openNested(.index(state.frame.count - 1)))
  }
}

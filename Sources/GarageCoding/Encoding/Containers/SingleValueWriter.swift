/// Writes one value without a container around it.
struct SingleValueWriter: SingleValueEncodingContainer {
  let state: EncoderPointer
  let serial: UInt64

  var codingPath: [any CodingKey] { state.codingPath(serial) }

  /// Writes a value without parts. What fails there fails for good, so that there is nothing to go back to.
  @inline(__always)
  private func plain(_ body: () throws -> Void) throws {
    try state.beginSingle(serial: serial)
    try body()
  }

  func encodeNil() throws { try plain { state.writeNull() } }
  func encode(_ value: Bool) throws { try plain { state.write(value) } }
  func encode(_ value: String) throws { try plain { try state.write(value) } }
  func encode(_ value: Double) throws { try plain { state.write(value) } }
  func encode(_ value: Float) throws { try plain { state.write(value) } }
  func encode(_ value: Int) throws { try plain { state.write(integer: Int64(value)) } }
  func encode(_ value: Int8) throws { try plain { state.write(integer: Int64(value)) } }
  func encode(_ value: Int16) throws { try plain { state.write(integer: Int64(value)) } }
  func encode(_ value: Int32) throws { try plain { state.write(integer: Int64(value)) } }
  func encode(_ value: Int64) throws { try plain { state.write(integer: value) } }
  func encode(_ value: Int128) throws { try plain { state.write(integer: value) } }
  func encode(_ value: UInt) throws { try plain { state.write(integer: UInt64(value)) } }
  func encode(_ value: UInt8) throws { try plain { state.write(integer: UInt64(value)) } }
  func encode(_ value: UInt16) throws { try plain { state.write(integer: UInt64(value)) } }
  func encode(_ value: UInt32) throws { try plain { state.write(integer: UInt64(value)) } }
  func encode(_ value: UInt64) throws { try plain { state.write(integer: value) } }
  func encode(_ value: UInt128) throws { try plain { state.write(integer: value) } }

  func encode<T: Encodable>(_ value: T) throws {
    // Before anything is touched: the coder may be another thread's by now.
    try state.resume(serial)
    let (facts, kind) = state.types.facts(of: T.self)
    if kind.isAlwaysScalar && !state.hasDateStrategy {
      return try plain { _ = try state.writeScalar(value, kind) }
    }
    try state.attempt {
      try state.beginSingle(serial: serial)
      if try state.writeScalar(value, kind) { return }
      try state.writeComposite(value, facts, kind)
    }
  }
}

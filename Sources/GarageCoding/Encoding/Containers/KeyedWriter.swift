/// Writes the fields of a map. Plain data: copying one, which generic code does often, costs nothing.
struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let state: EncoderPointer
  private let keys: KeyTablePointer
  /// Where the serial of this container's frame stands, if it is bound to one frame after another.
  private let binding: SerialBinding?
  private let ownSerial: UInt64

  /// A container whose binding somebody else keeps, to bind it again.
  init(_ state: EncoderPointer, _ keys: KeyTablePointer, binding: SerialBinding) {
    self.state = state
    self.keys = keys
    self.binding = binding
    ownSerial = 0
  }

  /// A container for one frame.
  init(_ state: EncoderPointer, _ keys: KeyTablePointer, serial: UInt64) {
    self.state = state
    self.keys = keys
    binding = nil
    ownSerial = serial
  }

  @inline(__always)
  private var serial: UInt64 { binding?.serial ?? ownSerial }

  var codingPath: [any CodingKey] { state.codingPath(serial) }

  @inline(__always)
  private func begin(_ key: Key) throws { try state.beginField(key, keys, serial: serial) }

  func encodeNil(forKey key: Key) throws {
    try begin(key)
    state.writeNull()
  }

  func encode(_ value: Bool, forKey key: Key) throws {
    try begin(key)
    state.write(value)
  }

  func encode(_ value: String, forKey key: Key) throws {
    try begin(key)
    try state.write(value)
  }

  func encode(_ value: Double, forKey key: Key) throws {
    try begin(key)
    state.write(value)
  }

  func encode(_ value: Float, forKey key: Key) throws {
    try begin(key)
    state.write(value)
  }

  @inline(__always)
  private func encode(integer value: Int64, _ key: Key) throws {
    try begin(key)
    state.write(integer: value)
  }

  @inline(__always)
  private func encode(integer value: UInt64, _ key: Key) throws {
    try begin(key)
    state.write(integer: value)
  }

  func encode(_ value: Int, forKey key: Key) throws { try encode(integer: Int64(value), key) }
  func encode(_ value: Int8, forKey key: Key) throws { try encode(integer: Int64(value), key) }
  func encode(_ value: Int16, forKey key: Key) throws { try encode(integer: Int64(value), key) }
  func encode(_ value: Int32, forKey key: Key) throws { try encode(integer: Int64(value), key) }
  func encode(_ value: Int64, forKey key: Key) throws { try encode(integer: value, key) }
  func encode(_ value: UInt, forKey key: Key) throws { try encode(integer: UInt64(value), key) }
  func encode(_ value: UInt8, forKey key: Key) throws { try encode(integer: UInt64(value), key) }
  func encode(_ value: UInt16, forKey key: Key) throws { try encode(integer: UInt64(value), key) }
  func encode(_ value: UInt32, forKey key: Key) throws { try encode(integer: UInt64(value), key) }
  func encode(_ value: UInt64, forKey key: Key) throws { try encode(integer: value, key) }

  func encode(_ value: Int128, forKey key: Key) throws {
    try begin(key)
    state.write(integer: value)
  }

  func encode(_ value: UInt128, forKey key: Key) throws {
    try begin(key)
    state.write(integer: value)
  }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    // Before anything is touched, because the coder may be another thread's by now.
    try state.resume(serial, key)
    let (facts, kind) = state.types.facts(of: T.self)
    if kind.isAlwaysScalar && !state.hasDateStrategy {
      // A failure here is final, so that no mark to go back to is needed.
      try begin(key)
      _ = try state.writeScalar(value, kind)
      return
    }
    if kind == .own, try encodeReference(value, key, facts) { return }
    try encodeComposite(value, key, facts, kind)
  }

  /// Writes a `Reference` whose identity is known, which cannot fail. False where the value is no such reference.
  @inline(__always)
  private func encodeReference<T>(_ value: T, _ key: Key, _ facts: Permanent<TypeFacts>) throws -> Bool {
    guard let target = facts.with({ $0.referenceTarget }),
      // The layout of a reference does not depend on its target.
      let identity = Reinterpretation.bits(of: value, as: Reference<Never>.self).knownIdentity
    else { return false }
    try begin(key)
    state.writeReference(to: identity, of: target, .lazy)
    return true
  }

  @inline(__always)
  private func encodeComposite<T: Encodable>(
    _ value: T, _ key: Key, _ facts: Permanent<TypeFacts>, _ kind: ValueKind
  ) throws {
    let mark = state.mark()
    try state.beginField(key, keys, serial: serial)
    if try state.writeScalar(value, kind) { return }
    do {
      state.setChild(key, keys)
      try state.writeComposite(value, facts, kind)
    } catch {
      state.rollBack(to: mark)
      throw error
    }
  }

  // MARK: - Nil is absent

  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: Int128?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }
  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    try lend(value) { (value: borrowing T) in
      try encode(copy value, forKey: key)
    } orIfNil: {
      try absent(key)
    }
  }

  private func absent(_ key: Key) throws {
    try state.writeAbsent(key, keys, serial: serial)
  }

  // MARK: - Containers inside

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
    -> KeyedEncodingContainer<Nested>
  {
    do {
      return try openNested(key, .map).container(keyedBy: type)
    } catch {
      return KeyedEncodingContainer(FailedKeyedEncoding(error: error, codingPath: codingPath))
    }
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    do {
      return try openNested(key, .array).unkeyedContainer()
    } catch {
      return FailedEncoding(error: error, codingPath: codingPath)
    }
  }

  func superEncoder(forKey key: Key) -> any Encoder {
    do {
      return try openNested(key, nil)
    } catch {
      return FailedEncoder(error: error, codingPath: codingPath)
    }
  }

  func superEncoder() -> any Encoder {
    do {
      // "super" need not be a case of the key type, so it always stands as an entry.
      try state.resume(serial, PathKey.super)
      state.beginEntry(PathKey.super.stringValue)
      let nested = try state.openNested(state.step(text: PathKey.super))
      return ValueEncoder(state: state, serial: nested)
    } catch {
      return FailedEncoder(error: error, codingPath: codingPath)
    }
  }

  /// A container of that kind for `key`: the one that was asked for before, or a new one. Without a kind always
  /// a new one.
  @inline(__always)
  private func openNested(_ key: Key, _ kind: EncodingFrame.Kind?) throws -> ValueEncoder {
    try state.resume(serial, key)
    if let kind, let nested = state.nested(key, keys, kind) {
      return ValueEncoder(state: state, serial: nested)
    }
    try state.beginField(key, keys, serial: serial)
    return ValueEncoder(state: state, serial: try state.openNested(state.step(key, keys), kind))
  }
}

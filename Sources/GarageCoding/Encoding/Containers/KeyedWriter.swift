/// Writes the fields of a map. Plain data: copying one, which generic code does often, costs nothing.
struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let state: EncoderPointer
  private let keys: KeyTablePointer
  /// Where the serial of this container's frame stands, if it is bound to one frame after another.
  private let binding: SerialBinding?
  private let ownSerial: UInt64
  private let nested: Permanent<NestedEncoding>?

  /// A container whose binding somebody else keeps, to bind it again.
  init(_ state: EncoderPointer, _ keys: KeyTablePointer, binding: SerialBinding) {
    self.state = state
    self.keys = keys
    self.binding = binding
    ownSerial = 0
    nested = nil
  }

  /// A container for one frame.
  init(_ state: EncoderPointer, _ keys: KeyTablePointer, serial: UInt64, nested: Permanent<NestedEncoding>?) {
    self.state = state
    self.keys = keys
    binding = nil
    ownSerial = serial
    self.nested = nested
  }

  @inline(__always)
  private var serial: UInt64 { binding?.serial ?? ownSerial }

  var codingPath: [any CodingKey] { state.codingPath(nested, serial) }

  /// Begins a field; a nested container's bytes are swapped in until ``end()``.
  @inline(__always)
  private func begin(_ key: Key) throws {
    if nested != nil { return try beginNested(key) }
    try state.beginField(key, keys, serial: serial)
  }

  @inline(never)
  private func beginNested(_ key: Key) throws {
    try state.enter(nested, serial)
    do {
      try state.beginField(key, keys, serial: serial)
    } catch {
      state.leave(nested)
      throw error
    }
  }

  @inline(__always)
  private func end() {
    if nested != nil { state.leave(nested) }
  }

  func encodeNil(forKey key: Key) throws {
    try begin(key)
    state.writeNull()
    end()
  }

  func encode(_ value: Bool, forKey key: Key) throws {
    try begin(key)
    state.write(value)
    end()
  }

  func encode(_ value: String, forKey key: Key) throws {
    // Without a `defer`, which is a function of its own.
    if nested == nil {
      try state.beginField(key, keys, serial: serial)
      return try state.write(value)
    }
    try encodeNested(value, key)
  }

  @inline(never)
  private func encodeNested(_ value: String, _ key: Key) throws {
    try beginNested(key)
    defer { state.leave(nested) }
    try state.write(value)
  }

  func encode(_ value: Double, forKey key: Key) throws {
    try begin(key)
    state.write(value)
    end()
  }

  func encode(_ value: Float, forKey key: Key) throws {
    try begin(key)
    state.write(value)
    end()
  }

  @inline(__always)
  private func encode(integer value: Int64, _ key: Key) throws {
    try begin(key)
    state.write(integer: value)
    end()
  }

  @inline(__always)
  private func encode(integer value: UInt64, _ key: Key) throws {
    try begin(key)
    state.write(integer: value)
    end()
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
    end()
  }

  func encode(_ value: UInt128, forKey key: Key) throws {
    try begin(key)
    state.write(integer: value)
    end()
  }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    if nested == nil {
      // Before anything is touched: the coder may be another thread's by now.
      guard state.frame.serial == serial else {
        throw state.staleContainer([key], serial)
      }
      let (facts, kind) = state.types.facts(of: T.self)
      if kind.isAlwaysScalar && !state.hasDateStrategy {
        // What fails here fails for good, so that there is nothing to go back to.
        try state.beginField(key, keys, serial: serial)
        _ = try state.writeScalar(value, kind)
        return
      }
      return try encodeComposite(value, key, facts, kind)
    }
    try state.enter(nested, serial)
    defer { state.leave(nested) }
    let (facts, kind) = state.types.facts(of: T.self)
    try encodeComposite(value, key, facts, kind)
  }

  @inline(__always)
  private func encodeComposite<T: Encodable>(
    _ value: T, _ key: Key, _ facts: Permanent<TypeFacts>, _ kind: ValueKind
  ) throws {
    let mark = state.mark()
    try state.beginField(key, keys, serial: serial)
    if try state.writeScalar(value, kind) { return }
    do {
      try state.setChild(key, keys)
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
    if let value { try encode(value, forKey: key) } else { try absent(key) }
  }

  private func absent(_ key: Key) throws {
    try state.enter(nested, serial)
    defer { state.leave(nested) }
    try state.writeAbsent(key, keys, serial: serial)
  }

  // MARK: - Containers inside

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
    -> KeyedEncodingContainer<Nested>
  {
    switch makeNested(key, .map) {
    case .success(let nested): state.encoder(nested).container(keyedBy: type)
    case .failure(let error):
      KeyedEncodingContainer(FailedKeyedEncoding(error: error, codingPath: codingPath))
    }
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    switch makeNested(key, .array) {
    case .success(let nested): state.encoder(nested).unkeyedContainer()
    case .failure(let error): FailedEncoding(error: error, codingPath: codingPath)
    }
  }

  func superEncoder(forKey key: Key) -> any Encoder {
    switch makeNested(key) {
    case .success(let nested): state.encoder(nested)
    case .failure(let error): FailedEncoder(error: error, codingPath: codingPath)
    }
  }

  func superEncoder() -> any Encoder {
    // "super" need not be a case of the key type, so it always stands as an entry.
    let made = Result {
      try state.enter(nested, serial)
      defer { state.leave(nested) }
      guard state.frame.serial == serial else {
        throw state.staleContainer([PathKey.super], serial)
      }
      return try state.withKey(PathKey.super) {
        state.beginEntry(PathKey.super.stringValue)
        return try state.makeNested()
      }
    }
    switch made {
    case .success(let nested): return state.encoder(nested)
    case .failure(let error): return FailedEncoder(error: error, codingPath: codingPath)
    }
  }

  /// A container of that kind for `key`: the one that was asked for before, or a new one. Without a kind always
  /// a new one.
  private func makeNested(_ key: Key, _ kind: EncodingFrame.Kind? = nil) -> Result<
    Permanent<NestedEncoding>, any Error
  > {
    Result {
      try state.enter(nested, serial)
      defer { state.leave(nested) }
      let field = kind.map { NestedEncoding.Field(frame: serial, key: key.stringValue, kind: $0) }
      if let field, state.frame.serial == serial, let nested = state.core.fields[field] {
        return nested
      }
      try state.beginField(key, keys, serial: serial)
      return try state.withKey(key, keys) { try state.makeNested(field) }
    }
  }
}

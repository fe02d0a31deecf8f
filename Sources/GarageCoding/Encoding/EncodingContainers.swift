/// Writes the fields of a map. Plain data: copying one, which generic code does often, costs nothing.
struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let state: EncoderPointer
  private let keys: KeyTablePointer
  /// Where the serial of this container's frame stands, if it is bound to one frame after another.
  private let binding: UnsafeMutablePointer<UInt64>?
  private let ownSerial: UInt64
  private let node: Unmanaged<EncodingNode>?

  /// A container whose binding somebody else keeps, to bind it again.
  init(_ state: EncoderPointer, _ keys: KeyTablePointer, binding: UnsafeMutablePointer<UInt64>) {
    self.state = state
    self.keys = keys
    self.binding = binding
    ownSerial = 0
    node = nil
  }

  /// A container for one frame.
  init(_ state: EncoderPointer, _ keys: KeyTablePointer, serial: UInt64, node: Unmanaged<EncodingNode>?) {
    self.state = state
    self.keys = keys
    binding = nil
    ownSerial = serial
    self.node = node
  }

  @inline(__always)
  private var serial: UInt64 { binding?.pointee ?? ownSerial }

  var codingPath: [any CodingKey] { state.codingPath(node, serial) }

  /// Begins a field; a nested container's bytes are swapped in until ``end()``.
  @inline(__always)
  private func begin(_ key: Key) throws {
    if node != nil { return try beginNested(key) }
    try state.beginField(key, keys, serial: serial)
  }

  @inline(never)
  private func beginNested(_ key: Key) throws {
    try state.enter(node, serial)
    do {
      try state.beginField(key, keys, serial: serial)
    } catch {
      state.leave(node)
      throw error
    }
  }

  @inline(__always)
  private func end() {
    if node != nil { state.leave(node) }
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
    if node == nil {
      try state.beginField(key, keys, serial: serial)
      return try state.write(value)
    }
    try encodeNested(value, key)
  }

  @inline(never)
  private func encodeNested(_ value: String, _ key: Key) throws {
    try beginNested(key)
    defer { state.leave(node) }
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
    if node == nil {
      // Before anything is touched: the coder may be another thread's by now.
      guard state.pointee.output.frame.pointee.serial == serial else {
        throw state.staleContainer([key], serial)
      }
      let (facts, kind) = state.pointee.types.facts(of: T.self)
      if kind.isAlwaysScalar && !state.pointee.hasDateStrategy {
        // What fails here fails for good, so that there is nothing to go back to.
        try state.beginField(key, keys, serial: serial)
        _ = try state.writeScalar(value, kind)
        return
      }
      return try encodeComposite(value, key, facts, kind)
    }
    try state.enter(node, serial)
    defer { state.leave(node) }
    let (facts, kind) = state.pointee.types.facts(of: T.self)
    try encodeComposite(value, key, facts, kind)
  }

  @inline(__always)
  private func encodeComposite<T: Encodable>(
    _ value: T, _ key: Key, _ facts: Unmanaged<TypeFacts>, _ kind: ValueKind
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
    try state.enter(node, serial)
    defer { state.leave(node) }
    try state.writeAbsent(key, keys, serial: serial)
  }

  // MARK: - Containers inside

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
    -> KeyedEncodingContainer<Nested>
  {
    switch makeNode(key, .map) {
    case .success(let node): state.encoder(node).container(keyedBy: type)
    case .failure(let error):
      KeyedEncodingContainer(FailedKeyedEncoding(error: error, codingPath: codingPath))
    }
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    switch makeNode(key, .array) {
    case .success(let node): state.encoder(node).unkeyedContainer()
    case .failure(let error): FailedEncoding(error: error, codingPath: codingPath)
    }
  }

  func superEncoder(forKey key: Key) -> any Encoder {
    switch makeNode(key) {
    case .success(let node): state.encoder(node)
    case .failure(let error): FailedEncoder(error: error, codingPath: codingPath)
    }
  }

  func superEncoder() -> any Encoder {
    // "super" need not be a case of the key type, so it always stands as an entry.
    let made = Result {
      try state.enter(node, serial)
      defer { state.leave(node) }
      guard state.pointee.output.frame.pointee.serial == serial else {
        throw state.staleContainer([PlainKey.super], serial)
      }
      return try state.withKey(PlainKey.super) {
        state.beginEntry(PlainKey.super.stringValue)
        return try state.makeNode()
      }
    }
    switch made {
    case .success(let node): return state.encoder(node)
    case .failure(let error): return FailedEncoder(error: error, codingPath: codingPath)
    }
  }

  /// A container of that kind for `key`: the one that was asked for before, or a new one. Without a kind always
  /// a new one.
  private func makeNode(_ key: Key, _ kind: EncodingFrame.Kind? = nil) -> Result<
    Unmanaged<EncodingNode>, any Error
  > {
    Result {
      try state.enter(node, serial)
      defer { state.leave(node) }
      let field = kind.map { EncodingNode.Field(frame: serial, key: key.stringValue, kind: $0) }
      if let field, state.pointee.output.frame.pointee.serial == serial, let node = state.core.fields[field] {
        return node
      }
      try state.beginField(key, keys, serial: serial)
      return try state.withKey(key, keys) { try state.makeNode(field) }
    }
  }
}

/// Writes the elements of an array.
struct UnkeyedWriter: UnkeyedEncodingContainer {
  let state: EncoderPointer
  let serial: UInt64
  let node: Unmanaged<EncodingNode>?

  var codingPath: [any CodingKey] { state.codingPath(node, serial) }

  var count: Int {
    if let node = node?.takeUnretainedValue(), !node.isActive {
      return node.serial == serial ? node.output.frame.pointee.count : 0
    }
    return state.pointee.output.frame.pointee.serial == serial ? state.pointee.output.frame.pointee.count : 0
  }

  private func element(_ body: () throws -> Void) throws {
    try state.enter(node, serial)
    defer { state.leave(node) }
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
    try state.enter(node, serial)
    defer { state.leave(node) }
    // Not inside: who goes back to a mark in a coder that is another thread's by now takes back what that one wrote.
    guard state.pointee.output.frame.pointee.serial == serial else { throw state.staleContainer([], serial) }
    try state.attempt {
      try state.beginElement(serial: serial)
      try state.writeElement(value)
    }
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    switch makeNode() {
    case .success(let node): state.encoder(node).container(keyedBy: type)
    case .failure(let error):
      KeyedEncodingContainer(FailedKeyedEncoding(error: error, codingPath: codingPath))
    }
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    switch makeNode() {
    case .success(let node): state.encoder(node).unkeyedContainer()
    case .failure(let error): FailedEncoding(error: error, codingPath: codingPath)
    }
  }

  func superEncoder() -> any Encoder {
    switch makeNode() {
    case .success(let node): state.encoder(node)
    case .failure(let error): FailedEncoder(error: error, codingPath: codingPath)
    }
  }

  private func makeNode() -> Result<Unmanaged<EncodingNode>, any Error> {
    Result {
      try state.enter(node, serial)
      defer { state.leave(node) }
      try state.beginElement(serial: serial)
      let index = state.pointee.output.frame.pointee.count - 1
      return try state.withChild(.index(index)) { try state.makeNode() }
    }
  }
}

/// Writes one value without a container around it.
struct SingleValueWriter: SingleValueEncodingContainer {
  let state: EncoderPointer
  let serial: UInt64
  let node: Unmanaged<EncodingNode>?

  var codingPath: [any CodingKey] { state.codingPath(node, serial) }

  private func single(_ body: () throws -> Void) throws {
    try state.enter(node, serial)
    defer { state.leave(node) }
    guard state.pointee.output.frame.pointee.serial == serial else { throw state.staleContainer([], serial) }
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

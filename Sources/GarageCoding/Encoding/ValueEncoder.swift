/// The `Encoder` that user code sees: plain data, small enough to travel inside `any Encoder`.
struct ValueEncoder: Encoder {
  let state: EncoderPointer
  /// The frame this encoder was made for.
  let serial: UInt64
  /// The nested container it writes to; nil for the value that is being encoded.
  let node: Unmanaged<EncodingNode>?

  var codingPath: [any CodingKey] { state.codingPath(node, serial) }

  var userInfo: [CodingUserInfoKey: Any] {
    if serial <= state.pointee.serialBefore { return [:] }
    return state.core.userInfo
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    // What mostly is the case, without the detours.
    if node == nil, state.pointee.output.frame.pointee.serial == serial,
      state.pointee.output.frame.pointee.kind == .empty
    {
      state.openMap()
      return state.pointee.boxes.container(type, serial, state)
    }
    do {
      try request { try $0.requestMap() }
    } catch {
      return KeyedEncodingContainer(FailedKeyedEncoding(error: error, codingPath: codingPath))
    }
    if node == nil { return state.pointee.boxes.container(type, serial, state) }
    return KeyedEncodingContainer(
      KeyedWriter<Key>(state, state.pointee.boxes.keys(type), serial: serial, node: node))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    do {
      try request { try $0.requestArray() }
    } catch {
      return FailedEncoding(error: error, codingPath: codingPath)
    }
    return UnkeyedWriter(state: state, serial: serial, node: node)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleValueWriter(state: state, serial: serial, node: node)
  }

  /// Runs `body` on this encoder's own bytes.
  private func request(_ body: (EncoderPointer) throws -> Void) throws {
    try state.enter(node, serial)
    defer { state.leave(node) }
    guard state.pointee.output.frame.pointee.serial == serial else { throw state.staleContainer([], serial) }
    try body(state)
  }
}

/// A container that could not be had: every operation throws why. `container(keyedBy:)` itself cannot throw.
struct FailedEncoding: UnkeyedEncodingContainer {
  let error: any Error
  let codingPath: [any CodingKey]
  var count: Int { 0 }

  func encodeNil() throws { throw error }
  func encode<T: Encodable>(_ value: T) throws { throw error }
  func nestedContainer<Key: CodingKey>(keyedBy: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(FailedKeyedEncoding(error: error, codingPath: codingPath))
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { FailedEncoder(error: error, codingPath: codingPath) }
}

/// The same, keyed.
struct FailedKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let error: any Error
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) throws { throw error }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw error }
  func nestedContainer<Nested: CodingKey>(keyedBy: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<
    Nested
  > {
    KeyedEncodingContainer(FailedKeyedEncoding<Nested>(error: error, codingPath: codingPath))
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    FailedEncoding(error: error, codingPath: codingPath)
  }
  func superEncoder() -> any Encoder { FailedEncoder(error: error, codingPath: codingPath) }
  func superEncoder(forKey key: Key) -> any Encoder { FailedEncoder(error: error, codingPath: codingPath) }
}

/// The same, for `superEncoder()`.
struct FailedEncoder: Encoder, SingleValueEncodingContainer {
  let error: any Error
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(FailedKeyedEncoding(error: error, codingPath: codingPath))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    FailedEncoding(error: error, codingPath: codingPath)
  }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }
  func encodeNil() throws { throw error }
  func encode<T: Encodable>(_ value: T) throws { throw error }
}

// MARK: - Coding paths

/// A coding key that is only a name or a position.
struct PlainKey: CodingKey {
  let stringValue: String
  let intValue: Int?
  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }
  init(intValue: Int) {
    stringValue = "Index \(intValue)"
    self.intValue = intValue
  }
  static let `super` = PlainKey(stringValue: "super")
}

extension UnsafeMutablePointer where Pointee == EncoderState {
  /// The path to the value being encoded, put together when somebody asks.
  var codingPath: [any CodingKey] {
    let base = pointee.output.node.map { $0.takeUnretainedValue().codingPath } ?? []
    let around = sequence(first: pointee.output.frame) { $0.pointee.outer }.dropFirst()
    return base + around.reversed().compactMap { key(of: $0.pointee.child) }
  }

  /// The path to a nested container, or to the value being encoded. Empty for one with a serial of a graph that is
  /// done: the coder may be another thread's by now.
  func codingPath(_ node: Unmanaged<EncodingNode>?, _ serial: UInt64) -> [any CodingKey] {
    if serial <= pointee.serialBefore { return [] }
    return node?.takeUnretainedValue().codingPath ?? codingPath
  }

  /// The path to the field or element being written.
  var childPath: [any CodingKey] {
    codingPath + (key(of: pointee.output.frame.pointee.child).map { [$0] } ?? [])
  }

  private func key(of step: PathStep) -> (any CodingKey)? {
    switch step {
    case .none: nil
    case .byte(let keys, let discriminator):
      keys.pointee.table.takeUnretainedValue().keys[Int(discriminator)]
    case .index(let index): PlainKey(intValue: index)
    case .key(let index):
      index < pointee.graph.pointee.pathKeys.count ? pointee.graph.pointee.pathKeys[index] : nil
    }
  }
}

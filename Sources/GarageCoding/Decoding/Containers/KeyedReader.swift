/// Reads the fields of a map. Plain data: copying one, which generic code does often, costs nothing.
struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let state: DecoderPointer
  private let keys: KeyTablePointer
  /// Where the serial of this container's frame stands, if it is bound to one frame after another.
  private let binding: SerialBinding?
  private let ownSerial: UInt64

  /// A container whose binding somebody else keeps, to bind it again.
  init(_ state: DecoderPointer, _ keys: KeyTablePointer, binding: SerialBinding) {
    self.state = state
    self.keys = keys
    self.binding = binding
    ownSerial = 0
  }

  /// A container for one frame.
  init(_ state: DecoderPointer, _ keys: KeyTablePointer, serial: UInt64) {
    self.state = state
    self.keys = keys
    binding = nil
    ownSerial = serial
  }

  @inline(__always)
  private var serial: UInt64 { binding?.serial ?? ownSerial }

  var codingPath: [any CodingKey] { state.codingPath(serial) }

  var allKeys: [Key] {
    do {
      return try state.allKeys(Key.self, keys, serial: serial)
    } catch {
      if error is DamagedBytes { _ = state.fail(error) }
      return []
    }
  }

  func contains(_ key: Key) -> Bool {
    do {
      return try state.find(key, keys, serial: serial)
    } catch {
      // Damage is not absence: this cannot throw, so the error is thrown later.
      if error is DamagedBytes { _ = state.fail(error) }
      return false
    }
  }

  func decodeNil(forKey key: Key) throws -> Bool {
    guard try state.find(key, keys, serial: serial) else {
      guard let value = try state.prototypeValue(key) else { throw notFound(key) }
      return value.isNull
    }
    return try state.isNullOrGone()
  }

  /// The value of a key that the map does not have: a prototype's, or an error.
  @inline(never)
  private func missing<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T {
    if let value = try state.readMissing(type, key) { return value }
    throw notFound(key)
  }

  /// Reads the value of a key; nil where it is absent or null.
  @inline(__always)
  private func readIfPresent<R>(_ key: Key, _ body: () throws -> R?) throws -> R? {
    guard try state.find(key, keys, serial: serial) else { return nil }
    if try state.tag() == BodyTag.null {
      state.cursor += 1
      state.advance()
      return nil
    }
    let value = try body()
    state.advance()
    return value
  }

  /// What a key without a value decodes to, for types that have such a value.
  @inline(never)
  private func absentValue<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T {
    // Asked for first: where T is an optional, a cast of nil would make one.
    if state.types.facts(of: T.self).1 == .own, let type = type as? any EmptyDecodable.Type,
      let value = type.empty as? T
    {
      return value
    }
    if state.foreign != nil, let empty = emptyReferences(type) { return empty }
    if let value = try state.readMissing(type, key) { return value }
    throw notFound(key)
  }

  private func notFound(_ key: Key) -> any Error { state.keyNotFound(key, keys) }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readBool()
    state.advance()
    return value
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readString()
    state.advance()
    return value
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readDouble()
    state.advance()
    return value
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readFloat()
    state.advance()
    return value
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readInteger(type)
    state.advance()
    return value
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readInteger(type)
    state.advance()
    return value
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readInteger(type)
    state.advance()
    return value
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readInteger(type)
    state.advance()
    return value
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readInteger(type)
    state.advance()
    return value
  }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readInteger(type)
    state.advance()
    return value
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readInteger(type)
    state.advance()
    return value
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readInteger(type)
    state.advance()
    return value
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readInteger(type)
    state.advance()
    return value
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readInteger(type)
    state.advance()
    return value
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readInteger(type)
    state.advance()
    return value
  }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    guard try state.find(key, keys, serial: serial) else { return try missing(type, key) }
    let value = try state.readInteger(type)
    state.advance()
    return value
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    guard try state.find(key, keys, serial: serial) else { return try absentValue(type, key) }
    let value = try state.readAny(type)
    state.advance()
    return value
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try readIfPresent(key) { try state.readBool() }
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try readIfPresent(key) { try state.readString() }
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try readIfPresent(key) { try state.readDouble() }
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try readIfPresent(key) { try state.readFloat() }
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try readIfPresent(key) { try state.readInteger(type) }
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try readIfPresent(key) { try state.readInteger(type) }
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try readIfPresent(key) { try state.readInteger(type) }
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try readIfPresent(key) { try state.readInteger(type) }
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try readIfPresent(key) { try state.readInteger(type) }
  }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try readIfPresent(key) { try state.readInteger(type) }
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try readIfPresent(key) { try state.readInteger(type) }
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try readIfPresent(key) { try state.readInteger(type) }
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try readIfPresent(key) { try state.readInteger(type) }
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try readIfPresent(key) { try state.readInteger(type) }
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try readIfPresent(key) { try state.readInteger(type) }
  }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try readIfPresent(key) { try state.readInteger(type) }
  }
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    guard try state.find(key, keys, serial: serial) else { return nil }
    if try state.tag() == BodyTag.null {
      state.cursor += 1
      state.advance()
      return nil
    }
    if try state.isSurelyThere(type) {
      let value = try state.readAny(type)
      state.advance()
      return value
    }
    let number = try state.loadTarget(type)
    if number >= 0 {
      let value = state.walk.loaded(type, number)
      state.advance()
      return value
    }
    return try readTargetIfPresent(type)
  }

  /// Reads a value of a type around a reference, or a reference to a record that is gone. A function of its own, because one
  /// that hands on an optional asks for the optional's metadata on each call.
  @inline(never)
  private func readTargetIfPresent<T: Decodable>(_ type: T.Type) throws -> T? {
    let value = try state.readTarget(type)
    state.advance()
    return value
  }

  // MARK: - Containers inside

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    let nested = try openNested(key)
    try state.requestMap(isLook: true)
    return state.boxes.container(type, nested, state)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    let nested = try openNested(key)
    try state.requestArray(isLook: true)
    return UnkeyedReader(state: state, serial: nested)
  }

  /// As with JSON, a key that is not there gives a decoder of null.
  func superDecoder(forKey key: Key) throws -> any Decoder {
    if try state.find(key, keys, serial: serial) { return decoder(try state.openNested()) }
    return try missingSuperDecoder(key)
  }

  func superDecoder() throws -> any Decoder {
    try state.resume(serial, PathKey.super)
    if try state.findText(PathKey.super.stringValue) { return decoder(try state.openNested()) }
    return try missingSuperDecoder(PathKey.super)
  }

  private func missingSuperDecoder(_ key: any CodingKey) throws -> any Decoder {
    if let value = try state.missingValue(key) { return decoder(state.openNested(value, key)) }
    return decoder(state.openNestedNull(key))
  }

  private func decoder(_ nested: UInt64) -> ValueDecoder { ValueDecoder(state: state, serial: nested) }

  @inline(__always)
  private func openNested(_ key: Key) throws -> UInt64 {
    if try state.find(key, keys, serial: serial) { return try state.openNested() }
    return try openMissing(key)
  }

  @inline(never)
  private func openMissing(_ key: Key) throws -> UInt64 {
    guard let value = try state.missingValue(key) else { throw notFound(key) }
    return state.openNested(value, key)
  }
}

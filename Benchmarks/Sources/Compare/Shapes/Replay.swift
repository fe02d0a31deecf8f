import Foundation

/// What objects encode, in the order in which they do, to be handed out again in that order: nothing is parsed, looked up or
/// checked, and texts are those that were encoded. What is left is what `Codable` itself takes to make the objects.
///
/// It serves types that decode what they encode, in the same order; keys are not kept, so that dictionaries, enums with payloads
/// and whatever else asks which keys there are find none.
final class Replay {
  @exclusivity(unchecked) fileprivate var words: [UInt64] = []
  @exclusivity(unchecked) fileprivate var texts: [String] = []
  @exclusivity(unchecked) private var nextWord = 0
  @exclusivity(unchecked) private var nextText = 0

  init<T: Encodable>(_ objects: [T]) throws {
    for object in objects { try object.encode(to: RecordingEncoder(replay: self)) }
  }

  /// Makes as many objects, from the first on.
  func objects<T: Decodable>(_ type: T.Type, count: Int) throws -> [T] {
    var objects: [T] = []
    try append(count, to: &objects)
    return objects
  }

  func append<T: Decodable>(_ count: Int, to objects: inout [T]) throws {
    (nextWord, nextText) = (0, 0)
    for _ in 0..<count { objects.append(try T(from: ReplayingDecoder(replay: self))) }
  }

  @inline(__always)
  fileprivate func word() throws -> UInt64 {
    guard nextWord < words.count else { throw WrongResult("more was decoded than was encoded") }
    defer { nextWord &+= 1 }
    return words[nextWord]
  }

  @inline(__always)
  fileprivate func text() throws -> String {
    guard nextText < texts.count else { throw WrongResult("more was decoded than was encoded") }
    defer { nextText &+= 1 }
    return texts[nextText]
  }

  fileprivate func note(_ value: some BinaryInteger) { words.append(UInt64(truncatingIfNeeded: value)) }
}

// MARK: - In

private struct RecordingEncoder: Encoder {
  let replay: Replay
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RecordingKeyedContainer<Key>(replay: replay))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    replay.note(0)
    return RecordingContainer(replay: replay, place: replay.words.count - 1)
  }
  func singleValueContainer() -> any SingleValueEncodingContainer { RecordingContainer(replay: replay, place: nil) }
}

private struct RecordingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let replay: Replay
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) { replay.note(0) }
  func encode(_ value: Bool, forKey key: Key) { replay.note(value ? 1 : 0) }
  func encode(_ value: String, forKey key: Key) { replay.texts.append(value) }
  func encode(_ value: Double, forKey key: Key) { replay.note(value.bitPattern) }
  func encode(_ value: Float, forKey key: Key) { replay.note(value.bitPattern) }
  func encode(_ value: Int, forKey key: Key) { replay.note(value) }
  func encode(_ value: Int8, forKey key: Key) { replay.note(value) }
  func encode(_ value: Int16, forKey key: Key) { replay.note(value) }
  func encode(_ value: Int32, forKey key: Key) { replay.note(value) }
  func encode(_ value: Int64, forKey key: Key) { replay.note(value) }
  func encode(_ value: UInt, forKey key: Key) { replay.note(value) }
  func encode(_ value: UInt8, forKey key: Key) { replay.note(value) }
  func encode(_ value: UInt16, forKey key: Key) { replay.note(value) }
  func encode(_ value: UInt32, forKey key: Key) { replay.note(value) }
  func encode(_ value: UInt64, forKey key: Key) { replay.note(value) }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try value.encode(to: RecordingEncoder(replay: replay)) }
  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    replay.note(value == nil ? 0 : 1)
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    replay.note(value == nil ? 0 : 1)
    if let value { encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    replay.note(value == nil ? 0 : 1)
    if let value { encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    replay.note(value == nil ? 0 : 1)
    if let value { encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    replay.note(value == nil ? 0 : 1)
    if let value { encode(value, forKey: key) }
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
    -> KeyedEncodingContainer<Nested>
  {
    RecordingEncoder(replay: replay).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    RecordingEncoder(replay: replay).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { RecordingEncoder(replay: replay) }
  func superEncoder(forKey key: Key) -> any Encoder { RecordingEncoder(replay: replay) }
}

private struct RecordingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
  let replay: Replay
  /// Where the number of elements stands.
  let place: Int?
  var codingPath: [any CodingKey] { [] }
  var count: Int { place.map { Int(replay.words[$0]) } ?? 0 }

  private func countOne() {
    if let place { replay.words[place] += 1 }
  }

  func encodeNil() {
    countOne()
    replay.note(0)
  }
  func encode(_ value: Bool) {
    countOne()
    replay.note(value ? 1 : 0)
  }
  func encode(_ value: String) {
    countOne()
    replay.texts.append(value)
  }
  func encode(_ value: Double) {
    countOne()
    replay.note(value.bitPattern)
  }
  func encode(_ value: Float) {
    countOne()
    replay.note(value.bitPattern)
  }
  func encode(_ value: Int) {
    countOne()
    replay.note(value)
  }
  func encode(_ value: Int8) {
    countOne()
    replay.note(value)
  }
  func encode(_ value: Int16) {
    countOne()
    replay.note(value)
  }
  func encode(_ value: Int32) {
    countOne()
    replay.note(value)
  }
  func encode(_ value: Int64) {
    countOne()
    replay.note(value)
  }
  func encode(_ value: UInt) {
    countOne()
    replay.note(value)
  }
  func encode(_ value: UInt8) {
    countOne()
    replay.note(value)
  }
  func encode(_ value: UInt16) {
    countOne()
    replay.note(value)
  }
  func encode(_ value: UInt32) {
    countOne()
    replay.note(value)
  }
  func encode(_ value: UInt64) {
    countOne()
    replay.note(value)
  }
  func encode<T: Encodable>(_ value: T) throws {
    countOne()
    try value.encode(to: RecordingEncoder(replay: replay))
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    countOne()
    return RecordingEncoder(replay: replay).container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    countOne()
    return RecordingEncoder(replay: replay).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { RecordingEncoder(replay: replay) }
}

// MARK: - Out

private struct ReplayingDecoder: Decoder {
  let replay: Replay
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(ReplayingKeyedContainer<Key>(replay: replay))
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    ReplayingElements(replay: replay, length: Int(truncatingIfNeeded: try replay.word()))
  }
  func singleValueContainer() -> any SingleValueDecodingContainer { ReplayingValue(replay: replay) }
}

private struct ReplayingKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let replay: Replay
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { false }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try replay.word() == 1 }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try replay.text() }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { Double(bitPattern: try replay.word()) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    Float(bitPattern: UInt32(truncatingIfNeeded: try replay.word()))
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { Int(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { Int8(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { Int16(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { Int32(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { Int64(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { UInt(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { UInt8(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { UInt16(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { UInt32(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { UInt64(truncatingIfNeeded: try replay.word()) }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try T(from: ReplayingDecoder(replay: replay)) }
  // The standard library would ask first whether there is such a key, and whether it is nil.
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try replay.word() == 0 ? nil : decode(type, forKey: key)
  }
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try replay.word() == 0 ? nil : decode(type, forKey: key)
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try replay.word() == 0 ? nil : decode(type, forKey: key)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try replay.word() == 0 ? nil : decode(type, forKey: key)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try replay.word() == 0 ? nil : decode(type, forKey: key)
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
    -> KeyedDecodingContainer<Nested>
  {
    ReplayingDecoder(replay: replay).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try ReplayingDecoder(replay: replay).unkeyedContainer()
  }
  func superDecoder() -> any Decoder { ReplayingDecoder(replay: replay) }
  func superDecoder(forKey key: Key) -> any Decoder { ReplayingDecoder(replay: replay) }
}

private struct ReplayingElements: UnkeyedDecodingContainer {
  let replay: Replay
  let length: Int
  var currentIndex = 0
  var codingPath: [any CodingKey] { [] }
  var count: Int? { length }
  var isAtEnd: Bool { currentIndex == length }

  mutating func decodeNil() -> Bool { false }
  mutating func decode(_ type: Bool.Type) throws -> Bool {
    currentIndex += 1
    return try replay.word() == 1
  }
  mutating func decode(_ type: String.Type) throws -> String {
    currentIndex += 1
    return try replay.text()
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    currentIndex += 1
    return Double(bitPattern: try replay.word())
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    currentIndex += 1
    return Float(bitPattern: UInt32(truncatingIfNeeded: try replay.word()))
  }
  mutating func decode(_ type: Int.Type) throws -> Int {
    currentIndex += 1
    return Int(truncatingIfNeeded: try replay.word())
  }
  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    currentIndex += 1
    return Int8(truncatingIfNeeded: try replay.word())
  }
  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    currentIndex += 1
    return Int16(truncatingIfNeeded: try replay.word())
  }
  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    currentIndex += 1
    return Int32(truncatingIfNeeded: try replay.word())
  }
  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    currentIndex += 1
    return Int64(truncatingIfNeeded: try replay.word())
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt {
    currentIndex += 1
    return UInt(truncatingIfNeeded: try replay.word())
  }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    currentIndex += 1
    return UInt8(truncatingIfNeeded: try replay.word())
  }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    currentIndex += 1
    return UInt16(truncatingIfNeeded: try replay.word())
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    currentIndex += 1
    return UInt32(truncatingIfNeeded: try replay.word())
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    currentIndex += 1
    return UInt64(truncatingIfNeeded: try replay.word())
  }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    currentIndex += 1
    return try T(from: ReplayingDecoder(replay: replay))
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
    currentIndex += 1
    return ReplayingDecoder(replay: replay).container(keyedBy: type)
  }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    currentIndex += 1
    return try ReplayingDecoder(replay: replay).unkeyedContainer()
  }
  mutating func superDecoder() -> any Decoder { ReplayingDecoder(replay: replay) }
}

private struct ReplayingValue: SingleValueDecodingContainer {
  let replay: Replay
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { false }
  func decode(_ type: Bool.Type) throws -> Bool { try replay.word() == 1 }
  func decode(_ type: String.Type) throws -> String { try replay.text() }
  func decode(_ type: Double.Type) throws -> Double { Double(bitPattern: try replay.word()) }
  func decode(_ type: Float.Type) throws -> Float { Float(bitPattern: UInt32(truncatingIfNeeded: try replay.word())) }
  func decode(_ type: Int.Type) throws -> Int { Int(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: Int8.Type) throws -> Int8 { Int8(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: Int16.Type) throws -> Int16 { Int16(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: Int32.Type) throws -> Int32 { Int32(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: Int64.Type) throws -> Int64 { Int64(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: UInt.Type) throws -> UInt { UInt(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { UInt8(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { UInt16(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { UInt32(truncatingIfNeeded: try replay.word()) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { UInt64(truncatingIfNeeded: try replay.word()) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: ReplayingDecoder(replay: replay)) }
}

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Decodes the content of a record, and notes what each type reads on the way.
///
/// A reference cannot be followed here: an optional with one is nil, and an array is without it.
struct StoredDecoder: Decoder {
  private let value: RecordValue
  /// From the value whose type decodes itself.
  private let path: [String]
  private let depth: Int
  /// Nil where reads are not to be noted.
  private let reads: StoredReads?
  private let surveyor: Surveyor?

  var codingPath: [any CodingKey] { path.map { PathKey(stringValue: $0) } }
  var userInfo: [CodingUserInfoKey: Any] { ProbeContext.current.userInfo }

  /// Decodes a value.
  ///
  /// - Throws: what `init(from:)` throws, and where it asks for something that is not there.
  static func decode<T: Decodable>(
    _ type: T.Type, _ value: RecordValue, _ surveyor: Surveyor? = nil
  ) throws -> T {
    try StoredDecoder(value: value, path: [], depth: 0, reads: nil, surveyor: surveyor).value(type)
  }

  /// The elements of a value.
  static func elements(_ value: RecordValue) throws -> any UnkeyedDecodingContainer {
    try StoredDecoder(value: value, path: [], depth: 0, reads: nil, surveyor: nil).unkeyedContainer()
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let fields = value.fields else { throw mismatch("It is no map.") }
    return KeyedDecodingContainer(StoredKeyedContainer<Key>(decoder: self, fields: fields))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let elements = value.behindMarks.arrayValue ?? value.behindMarks.byteValues else {
      throw mismatch("It is no array.")
    }
    reads?.arrays[path] = value
    return StoredUnkeyedContainer(decoder: self, elements: elements.filter { !$0.behindMarks.isReference })
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    StoredSingleValueContainer(decoder: self)
  }

  fileprivate func inner(_ key: String, _ value: RecordValue) -> StoredDecoder {
    StoredDecoder(value: value, path: path + [key], depth: depth + 1, reads: reads, surveyor: surveyor)
  }

  fileprivate var isNil: Bool { value.isNothing }

  fileprivate func noteAbsent(_ key: String, _ type: Any.Type?) { reads?.absent[path + [key]] = .some(type) }

  /// What a type reads here.
  fileprivate func read<T: Decodable>(_ type: T.Type) throws -> T {
    try surveyor?.countRead()
    let found = try self.value(type)
    reads?.all.append(StoredReads.Read(path: path, value: found, stored: value))
    return found
  }

  private func value<T: Decodable>(_ type: T.Type) throws -> T {
    // Two steps: nothing, cast to an optional type, would be a nil of that type.
    if let known = value.scalar(as: type) ?? value.part(as: type), let scalar = known as? T { return scalar }
    switch TypeFacts.of(type).object.kind {
    // URLComponents and index sets are written in a form that only this library's decoder reads. Any value of them does here.
    // (What links to an object reads itself from the object.)
    case .own where !(type is any LinkDecodable.Type):
      return try MadeUpValue.of(type, isSecond: false) as? T ?? FieldProbe.object(type).0
    case .bool, .string, .double, .float, .int, .int8, .int16, .int32, .int64, .int128, .uint, .uint8,
      .uint16, .uint32, .uint64, .uint128, .date, .decimal, .data, .uuid, .url:
      throw mismatch("It is no \(type).")
    default: break
    }
    guard depth < StoredDecoder.maximumDepth else {
      throw mismatch("There are too many values in each other.")
    }
    let reads = surveyor?.wants(type) ?? false ? StoredReads() : nil
    let inner = StoredDecoder(
      value: try presentForm(of: type), path: [], depth: depth + 1, reads: reads, surveyor: surveyor)
    let found = try T(from: inner)
    if let reads { surveyor?.note(found, reads) }
    return found
  }

  /// The value in the present form of its type.
  private func presentForm(of type: Any.Type) throws -> RecordValue {
    guard let evolution = TypeFacts.of(type).object.evolution else { return value }
    var (present, version) = (value, 0)
    if case .withSyncStatus(_, let inner) = present { present = inner }
    if case .versioned(let number, let inner) = present { (present, version) = (inner, number) }
    if version > evolution.version { throw mismatch("It is of a newer version.") }
    try evolution.upgrade(&present, from: version)
    let prototype = try evolution.prototype(ProbeContext.current.userInfo)?.value?.fields ?? [:]
    for (key, value) in prototype where present[key] == nil { present[key] = value }
    return present
  }

  private static let maximumDepth = 100

  fileprivate func mismatch(_ reason: String) -> any Error {
    DecodingError.dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: reason))
  }
}

/// What a value's type read to make it.
final class StoredReads {
  struct Read {
    /// From the value.
    var path: [String]
    /// What `decode` returned.
    var value: Any
    /// What is stored there.
    var stored: RecordValue
  }

  fileprivate(set) var all: [Read] = []
  /// What it looked for in vain, and as which type; nil for an unknown type.
  fileprivate(set) var absent: [[String]: Any.Type?] = [:]
  /// What it read element by element, by the path.
  fileprivate(set) var arrays: [[String]: RecordValue] = [:]
}

private struct StoredKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: StoredDecoder
  let fields: RecordFields
  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { fields.keys.compactMap { Key(stringValue: $0) } }

  /// - Parameter type: the type that is wanted there; nil if unknown.
  private func inner(_ key: String, _ type: Any.Type? = nil) throws -> StoredDecoder {
    guard let value = fields[key] else {
      decoder.noteAbsent(key, type)
      throw decoder.mismatch("There is nothing under \"\(key)\".")
    }
    return decoder.inner(key, value)
  }

  func contains(_ key: Key) -> Bool {
    if fields[key.stringValue] == nil { decoder.noteAbsent(key.stringValue, nil) }
    return fields[key.stringValue] != nil
  }
  func decodeNil(forKey key: Key) throws -> Bool { try inner(key.stringValue).isNil }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try inner(key.stringValue, type).read(type)
  }

  // Without these methods the defaults would refuse the types as not supported.
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try inner(key.stringValue).read(type) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try inner(key.stringValue).read(type)
  }

  private func readIfPresent<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T? {
    guard let value = fields[key.stringValue], !value.isNothing else {
      decoder.noteAbsent(key.stringValue, type)
      return nil
    }
    return try inner(key.stringValue).read(type)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try readIfPresent(type, key)
  }

  // Without these methods only the presence of the key would be asked for, and not the type.
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try readIfPresent(type, key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try readIfPresent(type, key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try readIfPresent(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try readIfPresent(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try readIfPresent(type, key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try readIfPresent(type, key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try readIfPresent(type, key) }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try readIfPresent(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try readIfPresent(type, key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try readIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try readIfPresent(type, key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try inner(key.stringValue).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try inner(key.stringValue).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try inner(PathKey.super.stringValue) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try inner(key.stringValue) }
}

private struct StoredUnkeyedContainer: UnkeyedDecodingContainer {
  let decoder: StoredDecoder
  let elements: [RecordValue]
  var currentIndex = 0
  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  private func element() throws -> StoredDecoder {
    if isAtEnd { throw decoder.mismatch("There are no more elements.") }
    return decoder.inner(FieldPath.element, elements[currentIndex])
  }

  private mutating func next<R>(_ read: (StoredDecoder) throws -> R) throws -> R {
    let found = try read(element())
    currentIndex += 1
    return found
  }

  mutating func decodeNil() throws -> Bool {
    let isNil = try element().isNil
    if isNil { currentIndex += 1 }
    return isNil
  }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next { try $0.read(type) } }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try next { try $0.read(type) } }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next { try $0.read(type) } }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { try next { try $0.container(keyedBy: type) } }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}

private struct StoredSingleValueContainer: SingleValueDecodingContainer {
  let decoder: StoredDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.isNil }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.read(type) }
  func decode(_ type: Int128.Type) throws -> Int128 { try decoder.read(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try decoder.read(type) }
}

extension RecordValue {
  fileprivate var isReference: Bool {
    if case .reference = self { true } else { false }
  }

  /// As an array; nil where it is no data.
  fileprivate var byteValues: [RecordValue]? {
    if case .data(let bytes) = self { bytes.map { .integer(Int64($0)) } } else { nil }
  }

  /// As the scalar that a date or a UUID reads itself from, with any decoder; nil where it is neither.
  fileprivate func part(as type: Any.Type) -> Any? {
    switch (behindMarks, type) {
    case (.date(let date), is Double.Type): date.timeIntervalSinceReferenceDate
    case (.uuid(let uuid), is String.Type): uuid.uuidString
    default: nil
    }
  }

  /// Whether it is nil here: a nil that was encoded, or an object that is not followed.
  fileprivate var isNothing: Bool { self == .null || behindMarks.isReference }
}

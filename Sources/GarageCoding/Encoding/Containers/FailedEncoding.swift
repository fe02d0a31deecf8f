/// A container that could not be had: every operation throws why. `container(keyedBy:)` itself cannot throw.
struct FailedEncoding: UnkeyedEncodingContainer {
  let error: any Error
  let codingPath: [any CodingKey]
  var count: Int { 0 }

  func encodeNil() throws { throw error }
  func encode<T: Encodable>(_ value: T) throws { throw error }
  func encode(_ value: Int128) throws { throw error }
  func encode(_ value: UInt128) throws { throw error }
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
  func encode(_ value: Int128, forKey key: Key) throws { throw error }
  func encode(_ value: UInt128, forKey key: Key) throws { throw error }
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
  func encode(_ value: Int128) throws { throw error }
  func encode(_ value: UInt128) throws { throw error }
}

import Foundation

/// An encoder that writes nothing: what `Codable` itself takes, whatever is done with the values. Like every coder it makes a box
/// for each keyed container, and follows what is no scalar into its own `encode(to:)`.
struct EmptyEncoder: Encoder {
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(EmptyKeyedContainer<Key>())
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { EmptyContainer() }
  func singleValueContainer() -> any SingleValueEncodingContainer { EmptyContainer() }
}

private struct EmptyKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) {}
  func encode(_ value: Bool, forKey key: Key) {}
  func encode(_ value: String, forKey key: Key) {}
  func encode(_ value: Double, forKey key: Key) {}
  func encode(_ value: Float, forKey key: Key) {}
  func encode(_ value: Int, forKey key: Key) {}
  func encode(_ value: Int8, forKey key: Key) {}
  func encode(_ value: Int16, forKey key: Key) {}
  func encode(_ value: Int32, forKey key: Key) {}
  func encode(_ value: Int64, forKey key: Key) {}
  func encode(_ value: Int128, forKey key: Key) {}
  func encode(_ value: UInt, forKey key: Key) {}
  func encode(_ value: UInt8, forKey key: Key) {}
  func encode(_ value: UInt16, forKey key: Key) {}
  func encode(_ value: UInt32, forKey key: Key) {}
  func encode(_ value: UInt64, forKey key: Key) {}
  func encode(_ value: UInt128, forKey key: Key) {}
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try value.encode(to: EmptyEncoder()) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
    -> KeyedEncodingContainer<Nested>
  {
    EmptyEncoder().container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { EmptyContainer() }
  func superEncoder() -> any Encoder { EmptyEncoder() }
  func superEncoder(forKey key: Key) -> any Encoder { EmptyEncoder() }
}

private struct EmptyContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
  var codingPath: [any CodingKey] { [] }
  var count: Int { 0 }

  func encodeNil() {}
  func encode(_ value: Bool) {}
  func encode(_ value: String) {}
  func encode(_ value: Double) {}
  func encode(_ value: Float) {}
  func encode(_ value: Int) {}
  func encode(_ value: Int8) {}
  func encode(_ value: Int16) {}
  func encode(_ value: Int32) {}
  func encode(_ value: Int64) {}
  func encode(_ value: Int128) {}
  func encode(_ value: UInt) {}
  func encode(_ value: UInt8) {}
  func encode(_ value: UInt16) {}
  func encode(_ value: UInt32) {}
  func encode(_ value: UInt64) {}
  func encode(_ value: UInt128) {}
  func encode<T: Encodable>(_ value: T) throws { try value.encode(to: EmptyEncoder()) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    EmptyEncoder().container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { EmptyContainer() }
  func superEncoder() -> any Encoder { EmptyEncoder() }
}

internal import GarageCoding
internal import GarageDriver

// Setting and removing the values of typed keys inside a transaction.

extension WriteAccess {
  /// Whether a key has a value. A sealed value has to open for that.
  func contains<K: KeyType>(_ key: K) throws -> Bool {
    try KeyName.with(key) { bytes, _ in try transaction.withValue(for: bytes) { $0 != nil } }
  }

  /// Whether there is a value to remove, also one that does not open.
  func hasSomething<K: KeyType>(_ key: K) throws -> Bool {
    try KeyName.with(key) { bytes, _ in try transaction.contains(bytes) }
  }

  /// Sets a key that observes changes.
  func change<K: KeyType>(_ key: K, to value: K.ValueType) throws where K.ValueType: Codable {
    try change(key, from: reading.value(of: key) ?? key.defaultValue, to: value)
  }

  /// Sets a key whose old value is known.
  func change<K: KeyType>(_ key: K, from old: K.ValueType, to value: K.ValueType) throws
  where K.ValueType: Codable {
    guard key.observesChanges else { return try setValue(value, of: key) }
    let new = key.processChange(old, newValue: value)
    key.willChange(old, newValue: new)
    try setValue(new, of: key)
    pending.hooks.afterCommit { key.didChange(old, newValue: new) }
  }

  /// Sets a key, whatever was stored.
  private func setValue<K: KeyType>(_ value: K.ValueType, of key: K) throws where K.ValueType: Codable {
    let isSet = try KeyName.withPlainRecord(of: value, key) { record, name in
      try putPlain(record, name, K.NamespaceType.self, isOutermost: K.NamespaceType.isOutermost)
    }
    if isSet { return }
    if isNil(value) { return try removeValue(of: key) }
    try putValue(garage.encoder.encode(value, of: key, dates: garage.dateEncodingStrategy), of: key)
  }

  /// Writes an encoded value, and parks the objects that it refers to.
  func putValue<K: KeyType>(_ value: EncodedValue, of key: K) throws {
    try put(value.graph)
    try KeyName.with(key) { bytes, _ in try transaction.put(value.bytes.span.bytes, for: bytes) }
    pending.hooks.note(K.NamespaceType.self)
  }

  /// Removes the values of all keys in the namespace with this prefix.
  func clear(prefix: [UInt8]) throws {
    if prefix.count < KeyName.cutByteCount {
      return try transaction.removeAll(in: KeyName.range(prefix: prefix))
    }
    var keys: [StorageKey] = []
    try reading.visitKeys(prefix: prefix) { key, _ in keys.append(key) }
    for key in keys { try transaction.remove(key) }
  }

  func removeValue<K: KeyType>(of key: K) throws {
    try KeyName.with(key) { bytes, _ in try transaction.remove(bytes) }
    pending.hooks.note(K.NamespaceType.self)
  }

  /// The value of a key; nil if it cannot be read.
  func readableValue<K: KeyType>(of key: K) throws -> K.ValueType? where K.ValueType: Codable {
    // A value with no bytes is one that does not open, because a stored value always has some.
    if try KeyName.with(key, { bytes, _ in try withReplaceableValue(bytes) { $0?.byteCount == 0 } }) {
      return nil
    }
    do { return try reading.value(of: key) } catch let error as StorageError { throw error } catch {
      return nil
    }
  }
}

extension GraphEncoder {
  /// - Parameter dates: how the dates of the objects that the value refers to are encoded, as where they are parked.
  func encode<K: KeyType>(
    _ value: K.ValueType, of key: K, dates: DateEncodingStrategy
  ) throws -> EncodedValue where K.ValueType: Codable {
    try KeyName.with(key) { bytes, full in
      // The encoder adds the first byte of the key itself, and the checksum does not cover it.
      try encode(value: value, key: KeyLayout.checked(bytes), fullKey: full, dates: dates)
    }
  }
}

/// Whether a value is nil: that removes a key.
func isNil<V>(_ value: V) -> Bool {
  guard let optional = value as? any OptionalObject else { return false }
  return optional.object == nil
}

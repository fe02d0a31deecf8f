internal import GarageCoding
internal import GarageDriver

// Reading and writing the values of typed keys inside a transaction.

extension ReadAccess {
  /// What is stored under a key of a plain type.
  enum StoredPlainValue {
    case absent
    case value(PlainValue)
    /// It takes the coder to read it, or to say what is wrong with it.
    case coded
  }

  func plainValue<K: KeyType>(of key: K, _ kind: PlainValue.Kind) throws -> StoredPlainValue {
    try KeyName.with(key) { bytes, full in
      if full != nil { return .coded }
      return try transaction.withValue(for: bytes) { record in
        guard let record else { return .absent }
        return PlainValue(key: KeyLayout.checked(bytes), record: record, kind).map { .value($0) } ?? .coded
      }
    }
  }

  /// The value that is stored under a key; nil where there is none.
  func value<K: KeyType>(of key: K) throws -> K.ValueType? where K.ValueType: Codable {
    let kind = PlainValue.kind(ObjectIdentifier(K.ValueType.self))
    if kind != .other {
      switch try plainValue(of: key, kind) {
      case .value(let value): return value.value(as: K.ValueType.self, kind)
      case .absent: return nil
      case .coded: break
      }
    }
    return try KeyName.with(key) { bytes, full in
      try transaction.withValue(for: bytes) { record in
        guard let record else { return nil }
        return try decode(K.ValueType.self, key, KeyLayout.checked(bytes), full, record)
      }
    }
  }

  @inline(never)
  private func decode<K: KeyType, V: Decodable>(
    _ type: V.Type, _ key: K, _ storedKey: CheckedKey, _ full: [UInt8]?, _ record: RawSpan
  ) throws -> V {
    do {
      return try decoding { try makeSession().0.value(type, key: storedKey, fullKey: full, record: record) }
    } catch let damage as ValueDamage {
      throw GarageError(damage, key: key.stringValue)
    } catch let error as any GarageOwnError {
      throw error
    } catch {
      throw GarageError.unreadableValue(
        key: key.stringValue, type: String(describing: type), reason: reason(of: error))
    }
  }

  /// Visits the keys in the namespace with this prefix, as they stand in the store and as a whole.
  func visitKeys(prefix: [UInt8], _ visit: (_ key: StorageKey, _ full: [UInt8]) -> Void) throws {
    // Behind the cut only the whole keys tell.
    let isCut = prefix.count >= KeyName.cutByteCount
    let range = isCut ? .prefix(Array(prefix[..<KeyName.cutByteCount])) : KeyName.range(prefix: prefix)
    try transaction.scan(range, .forward) { key, record in
      let storedKey = StorageKey(key)
      var full = storedKey.bytes
      if key.byteCount >= KeyName.maximumByteCount {
        do { full = try RecordHeader.fullKey(key: KeyLayout.checked(key), record: record) } catch let damage
          as ValueDamage
        {
          throw GarageError(damage, key: "\(storedKey)")
        }
      }
      if KeyName.isKey(full, inNamespace: prefix) { visit(storedKey, full) }
      return .continue
    }
  }
}

extension WriteAccess {
  /// Whether a key has a value, which opens where it is sealed.
  func contains<K: KeyType>(_ key: K) throws -> Bool {
    try KeyName.with(key) { bytes, _ in try transaction.withValue(for: bytes) { $0 != nil } }
  }

  /// Whether there is something to remove, also a value that does not open.
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
    guard key.observesChanges else { return try put(value, of: key) }
    let new = key.processChange(old, newValue: value)
    key.willChange(old, newValue: new)
    try put(new, of: key)
    pending.pointee.hooks.afterCommit { key.didChange(old, newValue: new) }
  }

  private func put<K: KeyType>(_ value: K.ValueType, of key: K) throws where K.ValueType: Codable {
    if let plain = PlainValue(value), try putPlain(plain, of: key) { return }
    try putCoded(value, of: key)
  }

  /// Writes a plain value, or removes what is there where it is null; false where it takes the coder.
  func putPlain<K: KeyType>(_ value: PlainValue, of key: K) throws -> Bool {
    if case .null = value {
      try removeValue(of: key)
      return true
    }
    let isWritten = try KeyName.with(key) { bytes, full in
      if full != nil { return false }
      return try withUnsafeTemporaryAllocation(byteCount: PlainValue.maximumByteCount, alignment: 8) {
        buffer in
        let count = value.write(key: KeyLayout.checked(bytes), to: buffer)
        if count == 0 { return false }
        try transaction.put(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes, for: bytes)
        return true
      }
    }
    if isWritten { pending.pointee.hooks.note(K.NamespaceType.self) }
    return isWritten
  }

  func putCoded<K: KeyType>(_ value: K.ValueType, of key: K) throws where K.ValueType: Codable {
    if isNil(value) { return try removeValue(of: key) }
    try put(garage.encode(value, of: key), of: key)
  }

  /// Writes an encoded value, and parks what it refers to.
  func put<K: KeyType>(_ value: EncodedValue, of key: K) throws {
    try put(value.graph)
    try KeyName.with(key) { bytes, _ in try transaction.put(value.bytes.span.bytes, for: bytes) }
    pending.pointee.hooks.note(K.NamespaceType.self)
  }

  func removeValue<K: KeyType>(of key: K) throws {
    try KeyName.with(key) { bytes, _ in try transaction.remove(bytes) }
    pending.pointee.hooks.note(K.NamespaceType.self)
  }

  /// The value of a key; nil where it cannot be read.
  func readableValue<K: KeyType>(of key: K) throws -> K.ValueType? where K.ValueType: Codable {
    // No value has no bytes: this one does not open.
    if try KeyName.with(key, { bytes, _ in try withReplaceableValue(bytes) { $0?.byteCount == 0 } }) {
      return nil
    }
    do { return try reading.value(of: key) } catch let error as StorageError { throw error } catch {
      return nil
    }
  }
}

extension Garage {
  func encode<K: KeyType>(_ value: K.ValueType, of key: K) throws -> EncodedValue where K.ValueType: Codable {
    try KeyName.with(key) { bytes, full in
      try encoder.encode(value: value, key: KeyLayout.checked(bytes), fullKey: full)
    }
  }
}

extension PlainValue {
  /// The value, where it is of a type that takes no coder.
  @inline(__always)
  init?<V>(_ value: V) {
    let kind = PlainValue.kind(ObjectIdentifier(V.self))
    if kind == .other { return nil }
    let plain = withUnsafePointer(to: value) { PlainValue(at: UnsafeRawPointer($0), kind) }
    guard let plain else { return nil }
    self = plain
  }
}

/// Whether a value is nil: that removes a key.
func isNil<V>(_ value: V) -> Bool {
  guard let optional = value as? any OptionalObject else { return false }
  return optional.object == nil
}

// MARK: - Errors

/// An error of ours, which says by itself what it is about.
private protocol GarageOwnError: Error {}
extension GarageError: GarageOwnError {}
extension StorageError: GarageOwnError {}
extension GraphCodingError: GarageOwnError {}

extension GarageError {
  init(_ damage: ValueDamage, key: String) {
    self =
      switch damage {
      case .corrupt(let reason): .corruptValue(key: key, reason: reason)
      case .newerFormat(let version): .newerRecordFormat(type: "key", identifier: key, version: version)
      }
  }
}

/// Why a value does not decode, and where in it.
private func reason(of error: any Error) -> String {
  let context: DecodingError.Context
  switch error {
  case DecodingError.typeMismatch(_, let found), DecodingError.valueNotFound(_, let found),
    DecodingError.keyNotFound(_, let found), DecodingError.dataCorrupted(let found):
    context = found
  default: return "\(error)"
  }
  // A record that the value refers to is named with the path in it.
  if let record = context.underlyingError as? UnreadableObject {
    return "\(context.debugDescription) (\(record))"
  }
  let path = context.codingPath.map(\.stringValue).joined(separator: ".")
  return path.isEmpty ? context.debugDescription : "\(context.debugDescription) (at \(path))"
}

package import GarageCoding
internal import GarageDriver

// Typed keys: values under names, in the same store and the same transactions as the objects.

extension GarageReading {
  /// The value of a key; its default if nothing is stored.
  ///
  /// - Throws: ``GarageError/corruptValue(key:reason:)`` if the stored bytes are damaged;
  ///   ``GarageError/unreadableValue(key:type:reason:)`` if the stored value does not decode as the key's type (both leave the
  ///   stored value as it is); for a value that refers to objects also as ``retrieve(_:identifier:)-(T.Type,T.ID)``;
  ///   ``GarageError/storage(_:)``.
  @inlinable
  public func get<K: KeyType>(_ key: K) throws -> K.ValueType where K.ValueType: Codable {
    let kind = PlainValue.Kind(K.ValueType.self)
    if kind != .other {
      return try PlainRoom.with { room in
        var found = PlainValue.Found.coded
        _ = try KeyName.withShort(key) { name in
          if let garage = Garage.itself(self) {
            found = try garage.readPlainOnce(name, kind, to: room.place)
          } else {
            try withRepeatableReadAccess { found = try $0.readPlain(name, kind, to: room.place) }
          }
        }
        switch found {
        case .value: return room.take(as: K.ValueType.self)
        case .nothing: return key.defaultValue
        case .coded: return try codedValue(of: key)
        }
      }
    }
    return try codedValue(of: key)
  }

  @usableFromInline
  func codedValue<K: KeyType>(of key: K) throws -> K.ValueType where K.ValueType: Codable {
    try withRepeatableReadAccess { try $0.value(of: key) ?? key.defaultValue }
  }

  /// Whether a value is stored under a key, even if it equals the default. Does not read the value.
  ///
  /// - Throws: ``GarageError/storage(_:)``.
  public func contains<K: KeyType>(_ key: K) throws -> Bool {
    try withRepeatableReadAccess { access in
      try KeyName.with(key) { bytes, _ in try access.transaction.contains(bytes) }
    }
  }

  /// The keys in a namespace, and in the namespaces inside it, under which values are stored.
  ///
  /// The keys of the namespace itself come first, then those of the namespaces in it, both in the order of their names.
  ///
  /// - Throws: ``GarageError/corruptValue(key:reason:)`` if the name of a very long key is damaged,
  ///   ``GarageError/storage(_:)``.
  public func storedKeys<N: Namespace>(in namespace: N.Type) throws -> [StoredKey] {
    try withRepeatableReadAccess { access in
      var keys: [StoredKey] = []
      try access.visitKeys(prefix: KeyName.prefix(of: namespace)) { _, full in
        if let parts = KeyName.parts(of: full) {
          keys.append(StoredKey(namespace: parts.namespace, stringValue: parts.name))
        }
      }
      return keys
    }
  }

  /// All keys under which values are stored.
  ///
  /// - Throws: as ``storedKeys(in:)``.
  public func storedKeys() throws -> [StoredKey] { try storedKeys(in: GlobalNamespace.self) }
}

extension GarageWriting {
  /// Sets the value of a key, and parks the objects that the value refers to, as ``park(_:)-(T)`` would. For a key whose value
  /// is optional, nil removes the stored value.
  ///
  /// ``KeyType`` describes which functions run, and in which order. A key that observes changes reads the old value first. If
  /// that cannot be read, the call throws as ``GarageReading/get(_:)`` does: ``remove(_:)`` the value then.
  ///
  /// - Throws: the errors of ``Namespace/preCommitHook()``, ``GarageError/nestedWrite``, `EncodingError` and other errors of
  ///   `encode(to:)`, ``GarageError/storage(_:)``. The stored value is then as before.
  @inlinable
  public func set<K: KeyType>(_ key: K, value: K.ValueType) throws where K.ValueType: Codable {
    if key.observesChanges { return try setObserved(key, value) }
    let isSet = try KeyName.withPlainRecord(of: value, key) { record, name in
      let (space, isOutermost) = (K.NamespaceType.self, K.NamespaceType.isOutermost)
      try withWriteAccess { try $0.putPlain(record, name, space, isOutermost: isOutermost) }
    }
    if !isSet { try setCoded(key, value) }
  }

  @usableFromInline
  func setObserved<K: KeyType>(_ key: K, _ value: K.ValueType) throws where K.ValueType: Codable {
    try withWriteAccess { try $0.change(key, to: value) }
  }

  @usableFromInline
  func setCoded<K: KeyType>(_ key: K, _ value: K.ValueType) throws where K.ValueType: Codable {
    if isNil(value) { return try withWriteAccess { try $0.removeValue(of: key) } }
    // Encoding runs users' code, so it is done outside the transaction.
    let encoded = try garage.encoding { try $0.encode(value, of: key, dates: garage.dateEncodingStrategy) }
    try withWriteAccess { try $0.putValue(encoded, of: key) }
  }

  /// Reads the value of a key, or its default, lets `body` change it, and sets it, all in one transaction.
  ///
  /// No other change comes in between. If the storage asks for another try, `body` runs again, so let it do nothing else.
  /// Inside `body` the garage shows the last commit and cannot be changed.
  ///
  /// ```swift
  /// let number = try garage.update(.launchCount) { count in
  ///   count += 1
  ///   return count
  /// }
  /// ```
  /// - Throws: the errors of `body`, and as ``GarageReading/get(_:)`` and ``set(_:value:)``. Nothing is changed then.
  @discardableResult
  public func update<K: KeyType, R>(_ key: K, _ body: (inout K.ValueType) throws -> R) throws -> R
  where K.ValueType: Codable {
    try withWriteAccess { access in
      let old = try access.reading.value(of: key) ?? key.defaultValue
      var new = old
      let result = try passingErrors { try body(&new) }
      try access.change(key, from: old, to: new)
      return result
    }
  }

  /// Removes the value of a key, so that the key has its default again. A value that cannot be read is removed, too. Does
  /// nothing if nothing is stored.
  ///
  /// For a key that observes changes, this is a change to its default, without ``KeyType/processChange(_:newValue:)``. If its
  /// value cannot be read, the key is not told.
  ///
  /// - Throws: the errors of ``Namespace/preCommitHook()``, ``GarageError/nestedWrite``, ``GarageError/storage(_:)``.
  public func remove<K: KeyType>(_ key: K) throws where K.ValueType: Codable {
    try withWriteAccess { access in
      guard try access.hasSomething(key) else { return }
      guard key.observesChanges, let old = try access.readableValue(of: key) else {
        return try access.removeValue(of: key)
      }
      let new = key.defaultValue
      key.willChange(old, newValue: new)
      try access.removeValue(of: key)
      access.pending.hooks.afterCommit { key.didChange(old, newValue: new) }
    }
  }

  /// Removes the values of all keys in a namespace and in the namespaces inside it.
  ///
  /// Runs the hooks of that namespace and of the namespaces around it. The hooks of the namespaces inside it, and the change
  /// functions of the keys, do not run, because it is not known which there are.
  ///
  /// - Throws: the errors of ``Namespace/preCommitHook()``, ``GarageError/nestedWrite``, ``GarageError/storage(_:)``, and as
  ///   ``GarageReading/storedKeys(in:)`` for a namespace whose names take 464 bytes or more.
  public func clear<N: Namespace>(_ namespace: N.Type) throws {
    try withWriteAccess { access in
      try access.clear(prefix: KeyName.prefix(of: namespace))
      access.pending.hooks.note(namespace)
    }
  }

  /// Removes the values of all keys. Objects stay.
  ///
  /// - Throws: as ``clear(_:)``.
  public func clear() throws { try clear(GlobalNamespace.self) }
}

/// The name of a key under which a value is stored.
public struct StoredKey: Hashable, Sendable, CustomStringConvertible {
  /// The names of the namespaces around the key, the outermost first.
  public var namespace: [String]
  /// The key's ``KeyType/stringValue``, in Unicode normalization form C.
  public var stringValue: String

  /// A name made of these parts.
  public init(namespace: [String], stringValue: String) {
    self.namespace = namespace
    self.stringValue = stringValue
  }

  /// The ``stringValue``.
  public var description: String { stringValue }
}

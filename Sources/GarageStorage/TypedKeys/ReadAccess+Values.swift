internal import GarageCoding
internal import GarageDriver

// Reading the values of typed keys inside a transaction.

extension ReadAccess {
  /// The value that is stored under a key; nil if there is none.
  func value<K: KeyType>(of key: K) throws -> K.ValueType? where K.ValueType: Codable {
    let kind = PlainValue.Kind(K.ValueType.self)
    if kind == .other { return try codedValue(of: key) }
    return try PlainRoom.with { room in
      var found = PlainValue.Found.coded
      _ = try KeyName.withShort(key) { name in found = try readPlain(name, kind, to: room.place) }
      switch found {
      case .value: return room.take(as: K.ValueType.self)
      case .nothing: return nil
      case .coded: return try codedValue(of: key)
      }
    }
  }

  private func codedValue<K: KeyType>(of key: K) throws -> K.ValueType? where K.ValueType: Codable {
    try KeyName.with(key) { bytes, full in
      try transaction.withValue(for: bytes) { record in
        guard let record else { return nil }
        return try decodeValue(K.ValueType.self, key, KeyLayout.checked(bytes), full, record)
      }
    }
  }

  @inline(never)
  private func decodeValue<K: KeyType, V: Decodable>(
    _ type: V.Type, _ key: K, _ storedKey: CheckedKey, _ full: [UInt8]?, _ record: RawSpan
  ) throws -> V {
    do {
      return try decoding {
        try makeSessionAndSource().0.value(type, key: storedKey, fullKey: full, record: record)
      }
    } catch let damage as ValueDamage {
      throw GarageError(damage, key: key.stringValue)
    } catch let error as any GarageOwnError {
      throw error
    } catch {
      throw GarageError.unreadableValue(
        key: key.stringValue, type: String(describing: type), reason: reason(of: error))
    }
  }

  /// Visits the keys in the namespace with this prefix, each as it stands in the store and whole.
  func visitKeys(prefix: [UInt8], _ visit: (_ key: StorageKey, _ full: [UInt8]) -> Void) throws {
    // For a prefix beyond the cut, only the whole keys tell whether they are in the namespace.
    let isCut = prefix.count >= KeyName.cutByteCount
    let range = isCut ? .prefix(Array(prefix[..<KeyName.cutByteCount])) : KeyName.range(prefix: prefix)
    try transaction.scan(range, .forward) { key, record in
      let storedKey = StorageKey(key)
      var full = storedKey.bytes
      if key.byteCount >= KeyName.maximumByteCount {
        do { full = try RecordSummary.fullKey(key: KeyLayout.checked(key), record: record) } catch let damage
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

// MARK: - Errors

/// An error of the library's own, which says by itself what it is about.
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

/// The reason why a value does not decode, with the place in the value.
private func reason(of error: any Error) -> String {
  let context: DecodingError.Context
  switch error {
  case DecodingError.typeMismatch(_, let found), DecodingError.valueNotFound(_, let found),
    DecodingError.keyNotFound(_, let found), DecodingError.dataCorrupted(let found):
    context = found
  default: return "\(error)"
  }
  // If the value refers to a record, that record is named together with the path in it.
  if let record = context.underlyingError as? UnreadableObject {
    return "\(context.debugDescription) (\(record))"
  }
  let path = context.codingPath.map(\.stringValue).joined(separator: ".")
  return path.isEmpty ? context.debugDescription : "\(context.debugDescription) (at \(path))"
}

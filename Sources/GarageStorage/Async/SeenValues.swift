internal import GarageCoding
internal import GarageDriver

/// The stored values that a key's value was made from, for a change that is valid only if all of them are still the same.
///
/// If the value holds objects with records of their own, the bytes under the key do not suffice: these bytes are then
/// references, which stay the same while the objects change.
struct SeenValues: Sendable {
  private let key: StorageKey
  /// The value stored under the key; nil if there is none.
  private let value: [UInt8]?
  /// The other values that were read, by key: the records that the value refers to, including missing ones.
  private let others: [StorageKey: [UInt8]?]

  init(_ key: StorageKey, _ value: [UInt8]?, others: [StorageKey: [UInt8]?] = [:]) {
    (self.key, self.value, self.others) = (key, value, others)
  }

  /// Whether a transaction sees the same values.
  func areThere(in transaction: any ReadTransaction) throws -> Bool {
    if try transaction.value(for: key) != value { return false }
    if others.isEmpty { return true }
    let keys = others.keys.sorted()
    var areSame = true
    try transaction.withValues(for: keys) { index, value in
      var now: [UInt8]?
      if let value { now = [UInt8](copying: value) }
      if now != others[keys[index]] ?? nil { areSame = false }
    }
    return areSame
  }
}

extension ReadAccess {
  /// The value of a key, nil if there is none, and the stored values that it was made from.
  ///
  /// - Parameter name: the key as it stands in the store.
  func seenValue<K: KeyType>(of key: K, _ name: StorageKey) throws -> (value: K.ValueType?, seen: SeenValues)
  where K.ValueType: Codable {
    // A plain value refers to no records.
    guard PlainValue.Kind(K.ValueType.self) == .other else {
      return (try value(of: key), SeenValues(name, try transaction.value(for: name)))
    }
    let seeing = SeeingTransaction(transaction, isSealed: garage.objectKeys.isSealed)
    return try withExtendedLifetime(seeing) {
      let value = try ReadAccess(garage: garage, transaction: seeing).value(of: key)
      return (value, seeing.seen(with: name))
    }
  }
}

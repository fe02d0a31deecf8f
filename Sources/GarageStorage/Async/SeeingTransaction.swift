internal import GarageDriver

/// Keeps copies of all values that are read through it.
final class SeeingTransaction: SealedValues {
  let base: any ReadTransaction
  private let isSealed: Bool
  /// The values by key; nil for a key without a value.
  private var values: [StorageKey: [UInt8]?] = [:]

  init(_ base: any ReadTransaction, isSealed: Bool) {
    self.base = base
    self.isSealed = isSealed
  }

  /// The values that were read, with that of `key` as the main one.
  func seen(with key: StorageKey) -> SeenValues {
    var others = values
    let value = others.removeValue(forKey: key) ?? nil
    return SeenValues(key, value, others: others)
  }

  private func note(_ key: StorageKey, _ value: RawSpan?) {
    var bytes: [UInt8]?
    if let value { bytes = [UInt8](copying: value) }
    values[key] = .some(bytes)
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try base.withValue(for: key) { value in
      note(StorageKey(key), value)
      return try body(value)
    }
  }

  func withReplaceableValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try base.withReplaceableValue(for: key, isSealed: isSealed) { value in
      note(StorageKey(key), value)
      return try body(value)
    }
  }

  func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    try base.withValues(for: keys) { index, value in
      note(keys[index], value)
      try visit(index, value)
    }
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try base.scan(range, direction) { key, value in
      note(StorageKey(key), value)
      return try visit(key, value)
    }
  }

  // Whether a key exists is not noted, because nothing is made from its value then.

  func contains(_ key: RawSpan) throws -> Bool { try base.contains(key) }

  func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan) throws -> ScanStep
  ) throws {
    try base.scanKeys(range, direction, visit)
  }
}

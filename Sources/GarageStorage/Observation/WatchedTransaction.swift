internal import GarageDriver

/// Notes the keys that are read, so that it is known which commits can change the result.
final class WatchedTransaction: SealedValues {
  let base: any ReadTransaction
  private let isSealed: Bool
  private(set) var interest = Interest()

  init(_ base: any ReadTransaction, isSealed: Bool) {
    self.base = base
    self.isSealed = isSealed
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    interest.note(key)
    return try base.withValue(for: key, body)
  }

  func withReplaceableValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    interest.note(key)
    return try base.withReplaceableValue(for: key, isSealed: isSealed, body)
  }

  func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    for key in keys { interest.note(key.bytes.span.bytes) }
    try base.withValues(for: keys, visit)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    interest.note(range)
    try base.scan(range, direction, visit)
  }

  func contains(_ key: RawSpan) throws -> Bool {
    interest.note(key)
    return try base.contains(key)
  }

  func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan) throws -> ScanStep
  ) throws {
    interest.note(range)
    try base.scanKeys(range, direction, visit)
  }
}

internal import GarageDriver

/// Notes which keys a transaction changes, for those who listen.
final class NotingTransaction: WriteTransaction, SealedValues, LookingRemoval, ManyRemoval, AnnouncedReading {
  /// Nil between two uses, when nobody has it.
  @exclusivity(unchecked) private var current: (any WriteTransaction)?
  /// The transaction that it passes everything to.
  var base: any WriteTransaction { current.unsafelyUnwrapped }
  private let isSealed: Bool
  private let hub: NewsHub
  @exclusivity(unchecked) private var log = ChangeLog()

  init(isSealed: Bool, _ hub: NewsHub) {
    self.isSealed = isSealed
    self.hub = hub
  }

  /// Begins to note the changes of a transaction.
  func begin(_ base: any WriteTransaction) { current = base }

  /// Releases the transaction, and the notes that were not taken.
  func end() {
    current = nil
    if !log.isEmpty { log = ChangeLog() }
  }

  /// Gives away the notes.
  func takeLog() -> ChangeLog {
    var taken = ChangeLog()
    swap(&taken, &log)
    return taken
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    try base.put(value, for: key)
    log.note(key, isRemoved: false, hub.filter)
  }

  func putAll(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    try base.putAll(entries, in: bytes)
    log.note(entries, in: bytes, isRemoved: false, hub.filter)
  }

  func remove(_ key: RawSpan) throws {
    try base.remove(key)
    log.note(key, isRemoved: true, hub.filter)
  }

  func removeAll(in range: StorageKeyRange) throws {
    try base.removeAll(in: range)
    log.note(range)
  }

  func removeEach(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    try base.removeMany(entries, in: bytes)
    log.note(entries, in: bytes, isRemoved: true, hub.filter)
  }

  func removeLooking(_ key: RawSpan) throws -> ValueBeginning? {
    let beginning: ValueBeginning?
    if let base = base as? any LookingRemoval {
      beginning = try base.removeLooking(key)
    } else {
      beginning = try base.withReplaceableValue(for: key, isSealed: isSealed) { value in
        guard let value else { return nil as ValueBeginning? }
        return value.withUnsafeBytes { ValueBeginning($0) }
      }
      if beginning != nil { try base.remove(key) }
    }
    if beginning != nil { log.note(key, isRemoved: true, hub.filter) }
    return beginning
  }

  func willGet(_ keys: [StorageKey]) -> Bool { (base as? any AnnouncedReading)?.willGet(keys) ?? false }

  func mayRemember(_ key: StorageKey) { (base as? any AnnouncedReading)?.mayRemember(key) }

  // MARK: Reading

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try base.withValue(for: key, body)
  }

  func withReplaceableValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try base.withReplaceableValue(for: key, isSealed: isSealed, body)
  }

  func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    try base.withValues(for: keys, visit)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try base.scan(range, direction, visit)
  }

  func contains(_ key: RawSpan) throws -> Bool { try base.contains(key) }

  func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan) throws -> ScanStep
  ) throws {
    try base.scanKeys(range, direction, visit)
  }
}

internal import GarageDriver

/// What unsaved changes delete, and must not where anybody refers to it (``ReferrersRule/deny``). It was asked for when it
/// was deleted, and is asked for again when that is saved: another garage may have parked a referrer in between. What is parked
/// again is not deleted any more, nor forbidden to be deleted later by another rule.
struct UnsavedDenials: Sendable {
  /// The deleted records, by the keys under which others may refer to them.
  private var targets: [StorageKey: StorageKey] = [:]
  /// The same the other way round.
  private var names: [StorageKey: [StorageKey]] = [:]
  private let garage: @Sendable () -> Garage?

  init(_ garage: Garage) {
    // Weak, because the garage holds the unsaved changes, and these hold this value.
    self.garage = { [weak garage] in garage }
  }

  /// - Parameter added: deleted records, by the keys by which others may refer to them. Of an object that had several, one.
  mutating func add(_ added: [StorageKey: StorageKey]) {
    for (name, key) in added where targets.updateValue(key, forKey: name) != key {
      names[key, default: []].append(name)
    }
  }

  /// Forgets the object that is referred to by a key, if there is one: it was parked again.
  mutating func forget(_ name: RawSpan) {
    guard let key = targets[StorageKey(name)] else { return }
    forget(key)
  }

  /// Forgets the objects that are referred to by keys in a range: all that is there goes, by a verb that asks for no rules.
  mutating func forget(_ range: StorageKeyRange) {
    for (name, key) in targets where range.contains(name) { forget(key) }
  }

  private mutating func forget(_ key: StorageKey) {
    for name in names.removeValue(forKey: key) ?? [] where targets[name] == key { targets[name] = nil }
  }

  /// Looks for objects that refer to deleted ones, in a transaction that has made only these changes.
  ///
  /// - Throws: ``GarageError/stillReferredTo(type:identifier:by:)``.
  func check(_ changes: UnsavedChanges, in transaction: any ReadTransaction) throws {
    guard let garage = garage() else { return }
    defer { withExtendedLifetime(garage) {} }
    let reading = ReadAccess(garage: garage, transaction: transaction)
    // An object that was parked again later, under any of its names, exists.
    var present: Set<StorageKey> = []
    for (name, key) in targets where try transaction.contains(name) { present.insert(key) }
    let deleted = targets.filter { !present.contains($0.value) }
    var denied: [StorageKey: [StorageKey]] = [:]
    try ReferrerSearch(reading).forEachReferrer(
      ofAny: deleted.keys,
      tellingSuperseded: { referrer, name, isSuperseded in
        // A referrer that was parked after the deletion, in the same garage, is not forbidden, saved or not.
        if isSuperseded || changes.change(of: referrer.bytes.span.bytes) != nil { return .continue }
        guard let key = deleted[name] else { return .continue }
        denied[key, default: []].append(referrer)
        // These are enough for the message.
        return denied[key, default: []].count > 3 ? .stop : .continue
      })
    if let (key, referrers) = denied.min(by: { $0.key < $1.key }) {
      throw try reading.stillReferred(key, referrers)
    }
  }
}

internal import GarageDriver

// An interim version, right but slow: the persistent tree takes its place with the memory driver.

/// Changes that are not saved yet: for each key its new value, or nil where it was removed.
struct UnsavedChanges: Sendable {
  fileprivate var values: [StorageKey: [UInt8]?] = [:]

  var isEmpty: Bool { values.isEmpty }

  /// Makes the changes in a transaction of the storage.
  func apply(to transaction: any WriteTransaction) throws {
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      if let value { try transaction.put(value, for: key) } else { try transaction.remove(key) }
    }
  }
}

/// Reads a storage through the changes that are not saved to it yet.
class OverlayReadTransaction: ReadTransaction {
  fileprivate var changes: UnsavedChanges
  private let base: any ReadTransaction
  fileprivate let info: StorageInfo
  fileprivate var state: TransactionState

  init(_ changes: UnsavedChanges, over base: any ReadTransaction, _ info: StorageInfo) {
    self.changes = changes
    self.base = base
    self.info = info
    state = TransactionState(driver: info.name)
  }

  func end() { state.end() }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: info.maximumKeyByteCount)
    state.lend()
    defer { state.takeBack() }
    guard let value = changes.values[StorageKey(key)] else { return try base.withValue(for: key, body) }
    guard let value else { return try body(nil) }
    return try body(value.span.bytes)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    var all: [StorageKey: [UInt8]] = [:]
    try base.scan(range, .forward) { key, value in
      all[StorageKey(key)] = [UInt8](copying: value)
      return .continue
    }
    for (key, value) in changes.values where range.contains(key) { all[key] = value }
    state.lend()
    defer { state.takeBack() }
    let keys = direction == .forward ? all.keys.sorted() : all.keys.sorted().reversed()
    for key in keys {
      let (key, value) = (key.bytes, all[key] ?? [])
      if try visit(key.span.bytes, value.span.bytes) == .stop { return }
    }
  }
}

/// Adds to the changes that are not saved yet, and reads through them.
final class OverlayWriteTransaction: OverlayReadTransaction, WriteTransaction {
  /// The changes, with this transaction's own.
  func commit() throws -> UnsavedChanges {
    if let error = state.firstError { throw error }
    return changes
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    try state.beginChange(.put)
    try state.checkKey(key, .put, limit: info.maximumKeyByteCount)
    try state.checkValue(value, limit: info.maximumValueByteCount)
    changes.values[StorageKey(key)] = .some([UInt8](copying: value))
  }

  func remove(_ key: RawSpan) throws {
    try state.beginChange(.remove)
    try state.checkKey(key, .remove, limit: info.maximumKeyByteCount)
    changes.values[StorageKey(key)] = .some(nil)
  }
}

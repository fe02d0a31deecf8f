internal import GarageDriver

/// Gets and scans on a tree that nobody changes meanwhile.
class MemoryReadTransaction: ReadTransaction {
  // Unchecked: one thread uses a transaction, and no access calls out.
  @exclusivity(unchecked) fileprivate final var tree: PersistentTree
  @exclusivity(unchecked) fileprivate final var state = TransactionState(driver: driverName)

  init(on tree: PersistentTree) { self.tree = tree }

  /// Makes every later operation throw, and lets the tree go: somebody may still hold the transaction.
  final func end() {
    state.end()
    tree = PersistentTree()
  }

  final func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: StorageInfo.guaranteedKeyByteCount)
    let value = tree.value(for: key)
    state.lend()
    defer { state.takeBack() }
    guard let value else { return try body(nil) }
    return try body(value.storage.span.bytes.extracting(value.range))
  }

  final func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    // The scan goes on on this copy when the transaction ends in the middle of it.
    let tree = tree
    state.lend()
    defer { state.takeBack() }
    try tree.scan(range, direction, visit)
  }
}

/// Gets, scans and changes on a tree of its own.
final class MemoryWriteTransaction: MemoryReadTransaction, WriteTransaction {
  /// The tree to commit. Throws the first failure of an operation, which forbids it.
  var changedTree: PersistentTree {
    get throws {
      if let error = state.firstError { throw error }
      return tree
    }
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    try state.beginChange(.put)
    try state.checkKey(key, .put, limit: StorageInfo.guaranteedKeyByteCount)
    try state.checkValue(value, limit: MemoryStorage.maximumValueByteCount)
    tree.put(value, for: key)
  }

  func remove(_ key: RawSpan) throws {
    try state.beginChange(.remove)
    try state.checkKey(key, .remove, limit: StorageInfo.guaranteedKeyByteCount)
    tree.remove(key)
  }

  func removeAll(in range: StorageKeyRange) throws {
    try state.beginChange(.remove)
    tree.removeAll(in: range)
  }
}

internal import GarageDriver

/// Gets and scans on a tree that is not changed meanwhile.
class MemoryReadTransaction: ReadTransaction {
  // Unchecked: one thread uses a transaction, and no access calls out.
  @exclusivity(unchecked) final var tree = PersistentTree()
  @exclusivity(unchecked) final var state = TransactionState(driver: driverName)
  /// The store's name for the state that the transaction sees. 0 if that has no name, as in a write transaction.
  @exclusivity(unchecked) final var stateName: UInt64 = 0

  /// Begins a transaction that is new or has ended, on `tree`.
  final func begin(on tree: PersistentTree, named name: UInt64) {
    self.tree = tree
    stateName = name
    state.beginAnew()
  }

  /// Makes every later operation throw, and releases the tree, because somebody may still hold the transaction.
  final func end() {
    state.end()
    tree = PersistentTree()
    stateName = 0
  }

  /// The tree that gets and scans look into.
  func visibleTree() -> PersistentTree { tree }

  @_specialize(where R == Void)
  final func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: StorageInfo.guaranteedKeyByteCount)
    // The tree does not change meanwhile, because nothing can be changed while bytes are lent.
    let tree = visibleTree()
    state.lend()
    defer { state.takeBack() }
    return try withExtendedLifetime(tree) {
      guard let value = tree.bytes(for: key) else { return try body(nil) }
      return try body(value.bytes)
    }
  }

  final func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    try withValuesInOnePlace(for: keys, visit)
  }

  final func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    // The scan goes on with this copy if the transaction ends in the middle of it.
    let tree = visibleTree()
    state.lend()
    defer { state.takeBack() }
    try tree.scan(range, direction, visit)
  }

  final func contains(_ key: RawSpan) throws -> Bool {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: StorageInfo.guaranteedKeyByteCount)
    let tree = visibleTree()
    return withExtendedLifetime(tree) { tree.bytes(for: key) != nil }
  }

  final func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (_ key: RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    let tree = visibleTree()
    state.lend()
    defer { state.takeBack() }
    try tree.scanKeys(range, direction, visit)
  }
}

extension MemoryReadTransaction: PlacedReading {
  final func withValues(
    at keys: [Range<Int>], in bytes: RawSpan, _ visit: (Int, RawSpan?) throws -> Void
  ) throws {
    try state.beginRead(.get)
    let tree = visibleTree()
    state.lend()
    defer { state.takeBack() }
    try withExtendedLifetime(tree) {
      try tree.forEachValue(at: keys, in: bytes) { index, value in
        // An invalid key throws when its turn comes.
        let key = bytes.extracting(keys[index])
        try state.checkKey(key, .get, limit: StorageInfo.guaranteedKeyByteCount)
        guard let value else { return try visit(index, nil) }
        try visit(index, value.bytes)
      }
    }
  }
}

extension MemoryReadTransaction: RangeCounting {
  final func count(in range: StorageKeyRange) throws -> Int {
    try state.beginRead(.scan)
    return visibleTree().count(in: range)
  }
}

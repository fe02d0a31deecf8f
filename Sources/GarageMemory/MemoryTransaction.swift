internal import GarageDriver

/// Gets and scans on a tree that nobody changes meanwhile.
class MemoryReadTransaction: ReadTransaction {
  // Unchecked: one thread uses a transaction, and no access calls out.
  @exclusivity(unchecked) fileprivate final var tree = PersistentTree()
  @exclusivity(unchecked) fileprivate final var state = TransactionState(driver: driverName)
  /// Whether the store uses it again.
  final let isPooled: Bool

  init(isPooled: Bool = true) { self.isPooled = isPooled }

  /// Makes a transaction that has ended, or was just made, one on `tree`.
  final func begin(on tree: PersistentTree) {
    self.tree = tree
    state.beginAnew()
  }

  /// Makes every later operation throw, and lets the tree go: somebody may still hold the transaction.
  final func end() {
    state.end()
    tree = PersistentTree()
  }

  /// What gets and scans look into.
  fileprivate func visibleTree() -> PersistentTree { tree }

  @_specialize(where R == Void)
  final func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: StorageInfo.guaranteedKeyByteCount)
    // The tree does not change meanwhile: nothing can be changed while bytes are lent.
    let tree = visibleTree()
    state.lend()
    defer { state.takeBack() }
    return try withExtendedLifetime(tree) {
      guard let value = tree.bytes(for: key) else { return try body(nil) }
      return try body(value.bytes)
    }
  }

  final func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    // The scan goes on on this copy when the transaction ends in the middle of it.
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

/// Gets, scans and changes.
///
/// A transaction that puts one small value, as most do, only notes it: the store itself then puts it into the committed
/// tree, which copies nothing as long as no reader looks on. For everything else there is a tree of its own.
final class MemoryWriteTransaction: MemoryReadTransaction, WriteTransaction {
  /// Outlives every transaction that is open, and no other looks at it.
  @exclusivity(unchecked) private unowned(unsafe) var store: MemoryStore?
  /// Whether `tree` is the committed one with the changes of this transaction. Else `note` holds them all.
  @exclusivity(unchecked) private var hasTree = false
  private let note = ChangeNote()

  deinit { note.deallocate() }

  /// Begins, on the thread that writes: nobody else changes the committed tree before the end.
  func begin(on store: MemoryStore) {
    self.store = store
    hasTree = false
    note.clear()
    state.beginAnew()
  }

  /// Makes every later operation throw, and returns the first failure, which forbids the commit.
  func finish() -> StorageError? { state.finish() }

  /// Makes the changes those of the store.
  func commit() {
    if hasTree {
      store.unsafelyUnwrapped.commit(tree)
    } else if !note.isEmpty {
      store.unsafelyUnwrapped.commit(note)
    }
  }

  private func takeTree() {
    if hasTree { return }
    hasTree = true
    tree = store.unsafelyUnwrapped.committed
    if !note.isEmpty { note.put(into: &tree) }
  }

  fileprivate override func visibleTree() -> PersistentTree {
    if !hasTree && note.isEmpty { return store.unsafelyUnwrapped.committed }
    takeTree()
    return tree
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    try state.beginChange(.put)
    try state.checkKey(key, .put, limit: StorageInfo.guaranteedKeyByteCount)
    try state.checkValue(value, limit: MemoryStorage.maximumValueByteCount)
    if !hasTree && note.isEmpty && note.set(value, for: key) { return }
    takeTree()
    tree.put(value, for: key)
  }

  func remove(_ key: RawSpan) throws {
    try state.beginChange(.remove)
    try state.checkKey(key, .remove, limit: StorageInfo.guaranteedKeyByteCount)
    takeTree()
    tree.remove(key)
  }

  func removeAll(in range: StorageKeyRange) throws {
    try state.beginChange(.remove)
    takeTree()
    tree.removeAll(in: range)
  }
}

/// One small value that is to be put, in memory that is used again and again.
struct ChangeNote {
  private static let byteCount = StorageInfo.guaranteedKeyByteCount + 513
  /// The lengths of key and value, then both.
  private let lengths = UnsafeMutablePointer<(key: Int, value: Int)>.allocate(capacity: 1)
  private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)

  init() { clear() }

  func deallocate() {
    lengths.deallocate()
    bytes.deallocate()
  }

  /// Keys have at least one byte.
  var isEmpty: Bool { lengths.pointee.key == 0 }

  func clear() { lengths.initialize(to: (0, 0)) }

  /// Notes a copy; false where there is no room for it.
  func set(_ value: RawSpan, for key: RawSpan) -> Bool {
    let (keyCount, valueCount) = (key.byteCount, value.byteCount)
    if keyCount + valueCount > Self.byteCount { return false }
    key.withUnsafeBytes { bytes.copyMemory(from: $0) }
    value.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[keyCount...]).copyMemory(from: $0) }
    lengths.pointee = (keyCount, valueCount)
    return true
  }

  func put(into tree: inout PersistentTree) {
    let (keyCount, valueCount) = lengths.pointee
    let key = UnsafeRawBufferPointer(rebasing: bytes[..<keyCount])
    let value = UnsafeRawBufferPointer(rebasing: bytes[keyCount..<(keyCount + valueCount)])
    tree.put(value.bytes, for: key.bytes)
  }
}

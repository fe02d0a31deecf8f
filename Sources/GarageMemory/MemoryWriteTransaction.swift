internal import GarageDriver

/// Gets, scans and changes.
///
/// Most transactions put one small value. Such a transaction only notes the change, and the store then puts it into the
/// committed tree, which copies nothing unless a reader uses that tree. For all other changes the transaction has a tree of its
/// own.
final class MemoryWriteTransaction: MemoryReadTransaction, WriteTransaction {
  /// It outlives every open transaction, and a transaction that is not open does not use it.
  @exclusivity(unchecked) private unowned(unsafe) var store: MemoryStore?
  /// Whether `tree` is the committed tree with this transaction's changes. If not, `note` holds all changes.
  @exclusivity(unchecked) private var hasTree = false
  private let note = ChangeNote()

  deinit { note.deallocate() }

  /// Begins on the thread that writes: until the end nobody else changes the committed tree.
  func begin(on store: MemoryStore) {
    self.store = store
    hasTree = false
    note.clear()
    state.beginAnew()
  }

  /// Makes every later operation throw, and returns the first failure, which forbids the commit.
  func finish() -> StorageError? { state.finish() }

  /// Makes the transaction's changes those of the store.
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

  override func visibleTree() -> PersistentTree {
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

  func putAll(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    try state.beginChange(.put)
    for entry in entries {
      try state.checkKey(bytes.extracting(entry.key), .put, limit: StorageInfo.guaranteedKeyByteCount)
      try state.checkValue(bytes.extracting(entry.value), limit: MemoryStorage.maximumValueByteCount)
    }
    if entries.isEmpty { return }
    takeTree()
    tree.putAll(entries, in: bytes)
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

extension MemoryWriteTransaction: ManyRemoval {
  func removeEach(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    try state.beginChange(.remove)
    for entry in entries {
      try state.checkKey(bytes.extracting(entry.key), .remove, limit: StorageInfo.guaranteedKeyByteCount)
    }
    if entries.isEmpty { return }
    takeTree()
    tree.removeEach(entries, in: bytes)
  }
}

extension MemoryWriteTransaction: LookingRemoval {
  func removeLooking(_ key: RawSpan) throws -> ValueBeginning? {
    try state.beginChange(.remove)
    try state.checkKey(key, .remove, limit: StorageInfo.guaranteedKeyByteCount)
    takeTree()
    guard let value = tree.bytes(for: key) else { return nil }
    let beginning = ValueBeginning(value)
    tree.remove(key)
    return beginning
  }
}

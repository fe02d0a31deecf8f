/// Ordered byte keys and their values in memory: a B+tree whose copies share the nodes that they have in common.
///
/// A copy is a snapshot and costs only a reference. A change copies those nodes on the way from the root to its leaf that
/// another copy still uses. The first change after a snapshot pays for that path; later changes find the nodes their own. Get,
/// put and remove are O(log n).
///
/// `MemoryStorage` keeps its entries in such a tree, and a garage its unsaved changes.
///
/// Keys have up to 2 GiB and may be empty; values have any length. Keys are ordered by unsigned bytes, a prefix before the keys
/// that it is a prefix of.
public struct PersistentTree: Sendable {
  /// Nil while the tree is empty.
  var root: TreeNode?
  /// How many keys the tree has.
  public private(set) var count = 0

  /// An empty tree.
  public init() {}

  /// Whether there are no entries.
  public var isEmpty: Bool { count == 0 }

  /// The value of `key`, or nil if there is none.
  public func value(for key: RawSpan) -> TreeBytes? {
    guard let (leaf, index) = find(key) else { return nil }
    return leaf._withUnsafeGuaranteedRef { $0.values[index] }
  }

  /// The bytes of the value of `key`, or nil if there is none. They last as long as this tree, or a copy of it, exists and is
  /// not changed.
  package func bytes(for key: RawSpan) -> UnsafeRawBufferPointer? {
    guard let (leaf, index) = find(key) else { return nil }
    return leaf._withUnsafeGuaranteedRef { $0.values.bytes(at: index) }
  }

  /// The leaf with `key`, and the key's place there. References are not counted on the way, because the root holds all nodes.
  private func find(_ key: RawSpan) -> (leaf: Unmanaged<TreeNode>, index: Int)? {
    guard let root else { return nil }
    var node = Unmanaged.passUnretained(root)
    while true {
      let (next, index): (Unmanaged<TreeNode>?, Int) = node._withUnsafeGuaranteedRef { node in
        let (index, isThere) = node.keys.position(of: key)
        if node.isLeaf { return (nil, isThere ? index : -1) }
        return (Unmanaged.passUnretained(node.children[isThere ? index + 1 : index]), index)
      }
      guard let next else { return index < 0 ? nil : (node, index) }
      node = next
    }
  }

  /// Shows every key in `range` with its value, in ascending or descending order, until `visit` returns `.stop`.
  public func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) rethrows {
    if let (leaf, stretch) = shortStretch(range) {
      _ = try leaf.visit(stretch, direction, visit)
      return
    }
    var cursor = TreeCursor(self, range, direction)
    while let leaf = cursor.leaf {
      if try leaf.visit(cursor.stretch, direction, visit) == .stop { return }
      cursor.moveToNextLeaf()
    }
  }

  /// Shows every key in `range`, in ascending or descending order, until `visit` returns `.stop`.
  public func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (_ key: RawSpan) throws -> ScanStep
  ) rethrows {
    if let (leaf, stretch) = shortStretch(range) {
      _ = try leaf.visitKeys(stretch, direction, visit)
      return
    }
    var cursor = TreeCursor(self, range, direction)
    while let leaf = cursor.leaf {
      if try leaf.visitKeys(cursor.stretch, direction, visit) == .stop { return }
      cursor.moveToNextLeaf()
    }
  }

  /// The one leaf that a range lies in, and the range's entries there; nil unless these are few and end before the leaf does.
  /// Making a cursor would take longer than visiting them.
  private func shortStretch(_ range: StorageKeyRange) -> (leaf: TreeNode, stretch: Range<Int>)? {
    guard let root, let upperBound = range.upperBound else { return nil }
    let lower = range.lowerBound.span.bytes
    var node = Unmanaged.passUnretained(root)
    while let child = node._withUnsafeGuaranteedRef({ node in
      node.isLeaf ? nil : Unmanaged.passUnretained(node.children[node.childIndex(for: lower)])
    }) {
      node = child
    }
    // Held from here on, so that nobody changes the leaf.
    let leaf = node.takeUnretainedValue()
    let start = leaf.keys.position(of: lower).index
    let last = min(start + 8, leaf.keys.count)
    var end = start
    while end < last, compareKeys(leaf.keys.bytes(at: end).bytes, upperBound.span.bytes) < 0 { end += 1 }
    return end < last ? (leaf, start..<end) : nil
  }

  /// The number of keys in `range`, counted a leaf at a time.
  package func count(in range: StorageKeyRange) -> Int {
    var count = 0
    var cursor = TreeCursor(self, range, .forward)
    while cursor.leaf != nil {
      count += cursor.stretch.count
      cursor.moveToNextLeaf()
    }
    return count
  }

  /// Stores `value` under `key`, and replaces the value that was there.
  ///
  /// - Parameter prefix: a byte to store in front of the value. Callers that mark their values so need not copy a large value
  ///   for it.
  public mutating func put(_ value: RawSpan, for key: RawSpan, prefix: UInt8? = nil) {
    if root == nil {
      root = TreeNode()
    } else if !isKnownUniquelyReferenced(&root) {
      root = TreeNode(copying: root.unsafelyUnwrapped)
    }
    let outcome = root.unsafelyUnwrapped.put(value, for: key, prefix: prefix)
    if outcome.isNew { count += 1 }
    if let split = outcome.split {
      root = TreeNode(root.unsafelyUnwrapped, split.separator, split.right)
    } else if outcome.isUnderfull {
      dropNeedlessRoots()
    }
  }

  /// Stores many values under their keys, and replaces the values that were there. The result is that of ``put(_:for:prefix:)``
  /// for one after another.
  ///
  /// Entries in ascending order of their keys are merged into the tree together, which takes a fraction of the time.
  ///
  /// - Parameters:
  ///   - entries: the places of each key and its value.
  ///   - bytes: the bytes that hold them.
  ///   - prefix: a byte to store in front of each value.
  public mutating func putAll(_ entries: [PlacedEntry], in bytes: RawSpan, prefix: UInt8? = nil) {
    AscendingEntries.forEachRun(entries, in: bytes, prefix: prefix) { merge($0) }
  }

  private mutating func merge(_ entries: AscendingEntries) {
    let root = uniqueRoot() ?? TreeNode()
    self.root = root
    var outcome = root.merge(entries)
    count += outcome.newCount
    while !outcome.splits.isEmpty {
      let top = TreeNode(self.root.unsafelyUnwrapped, outcome.splits)
      if outcome.isUnderfull { top.repairChildren() }
      outcome = TreeNode.MergeOutcome(splits: top.splitEvenly())
      self.root = top
    }
    dropNeedlessRoots()
  }

  /// Removes `key` and its value. Returns whether the key was there.
  @discardableResult
  public mutating func remove(_ key: RawSpan) -> Bool {
    // Looked for first, so that a missing key does not copy nodes.
    guard value(for: key) != nil, let root = uniqueRoot() else { return false }
    root.remove(key)
    count -= 1
    dropNeedlessRoots()
    return true
  }

  /// Removes many keys and their values. The result is that of ``remove(_:)`` for one after another.
  ///
  /// Keys in ascending order are removed from the tree together, which takes a fraction of the time.
  ///
  /// - Parameters:
  ///   - entries: the places of the keys. Their places of values are ignored.
  ///   - bytes: the bytes that hold the keys.
  package mutating func removeEach(_ entries: [PlacedEntry], in bytes: RawSpan) {
    AscendingEntries.forEachRun(entries, in: bytes, prefix: nil) { run in
      guard let root = uniqueRoot() else { return }
      count -= root.removeEach(run)
      dropNeedlessRoots()
    }
  }

  /// Removes every key in `range`, and returns how many there were. Whole branches are removed at once.
  @discardableResult
  public mutating func removeAll(in range: StorageKeyRange) -> Int {
    if range.isEmpty { return 0 }
    if range == .all {
      defer { self = PersistentTree() }
      return count
    }
    guard let root = uniqueRoot() else { return 0 }
    let removed = root.removeAll(from: range.lowerBound.span.bytes, to: range.upperBound?.span.bytes)
    count -= removed
    dropNeedlessRoots()
    return removed
  }

  /// The root, after copying it if another tree uses it, too.
  private mutating func uniqueRoot() -> TreeNode? {
    if root != nil, !isKnownUniquelyReferenced(&root) { root = TreeNode(copying: root!) }
    return root
  }

  /// Makes the tree less deep while its root has only one child, or removes a root that holds nothing.
  private mutating func dropNeedlessRoots() {
    while let root, !root.isLeaf, root.children.count == 1 { self.root = root.children[0] }
    if root?.isEmpty == true { root = nil }
  }
}

/// Bytes of a tree. They stay as they are for as long as this value exists, however the tree is changed.
public struct TreeBytes: Sendable {
  /// An array that holds the bytes, among others.
  public let storage: [UInt8]
  /// The place of the bytes in `storage`.
  public let range: Range<Int>

  /// The bytes without the first one, which must exist. For values with a prefix.
  public func dropFirst() -> TreeBytes {
    TreeBytes(storage: storage, range: range.lowerBound + 1..<range.upperBound)
  }
}

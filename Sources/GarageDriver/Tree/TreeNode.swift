/// A node of a ``PersistentTree``: a leaf, which holds keys and values, or a branch, which holds other nodes.
///
/// A node may be changed only by a tree that is its only user. A change makes each node on its way down the tree's own, with
/// `uniqueChild(at:)`. Copying a node copies three references; each of its arrays is copied by the first change to it.
final class TreeNode: @unchecked Sendable {
  // @unchecked: a node that two trees share, and so perhaps two threads, is no longer changed.

  /// In a leaf its keys. In a branch the separators: all keys in `children[i]` are smaller than `keys[i]`, and no key in
  /// `children[i + 1]` is.
  @exclusivity(unchecked) var keys: ByteList
  /// In a leaf the values of `keys`.
  @exclusivity(unchecked) var values: ValueList
  /// In a branch its children, one more than `keys`. In a leaf empty.
  @exclusivity(unchecked) var children: [TreeNode]
  /// The place in a leaf where the last entry was put. The next one often belongs there again, or behind it.
  @exclusivity(unchecked) var lastPlace = Int.max
  // Exclusivity is unchecked because a node's methods call only the tree's own code.

  init(keys: ByteList = ByteList(), values: ValueList = ValueList(), children: [TreeNode] = []) {
    self.keys = keys
    self.values = values
    self.children = children
  }

  convenience init(copying node: TreeNode) {
    self.init(keys: node.keys, values: node.values, children: node.children)
  }

  /// A branch with two children.
  convenience init(_ left: TreeNode, _ separator: [UInt8], _ right: TreeNode) {
    self.init(children: [left, right])
    keys.insert(separator.span.bytes, at: 0)
  }

  var isLeaf: Bool { children.isEmpty }
}

// MARK: - How full a node is

extension TreeNode {
  // Large enough that a scan changes leaves rarely, and small enough that copying a leaf is cheap.
  static let maximumLeafWeight = 8192
  static let minimumLeafWeight = maximumLeafWeight / 4
  static let maximumChildCount = 32
  static let minimumChildCount = maximumChildCount / 4
  /// How full nodes are made when many entries are written at once.
  static let targetLeafWeight = maximumLeafWeight * 3 / 4
  static let targetChildCount = maximumChildCount * 3 / 4
  /// What an entry weighs in addition to its bytes, so that a leaf of tiny entries does not get too many.
  static let entryWeight = 16

  /// The weight of a leaf's first `count` entries: their bytes, and ``entryWeight`` for each.
  func weight(ofFirst count: Int) -> Int {
    keys.start(of: count) + values.start(of: count) + count * Self.entryWeight
  }

  var weight: Int { weight(ofFirst: keys.count) }
  var isEmpty: Bool { isLeaf && keys.count == 0 }

  /// Whether the node must be split.
  var isOverfull: Bool {
    isLeaf
      ? weight > Self.maximumLeafWeight && keys.count > 1
      : children.count > Self.maximumChildCount
  }

  /// Whether the node must be joined with a neighbour, if it has one.
  ///
  /// Splitting never leaves such a node as long as keys are shorter than 1000 bytes.
  var isUnderfull: Bool {
    isLeaf ? weight < Self.minimumLeafWeight : children.count < Self.minimumChildCount
  }
}

// MARK: - Looking

extension TreeNode {
  /// The index of the child of a branch that may have `key`.
  func childIndex(for key: RawSpan) -> Int {
    let (index, isSeparator) = keys.position(of: key)
    return isSeparator ? index + 1 : index
  }

  /// The indices of those entries of a leaf that are in `range`.
  func entries(in range: StorageKeyRange) -> Range<Int> {
    let lower = range.lowerBound.isEmpty ? 0 : keys.position(of: range.lowerBound.span.bytes).index
    let upper = range.upperBound.map { keys.position(of: $0.span.bytes).index } ?? keys.count
    return lower..<max(lower, upper)
  }

  /// Shows entries of a leaf until `visit` returns `.stop`.
  func visit(
    _ stretch: Range<Int>, _ direction: ScanDirection,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) rethrows -> ScanStep {
    // The bytes are shown where they stand and are not held: the caller holds the leaf, so that nobody changes it.
    for step in 0..<stretch.count {
      let index = direction == .forward ? stretch.lowerBound + step : stretch.upperBound - 1 - step
      if try visit(keys.bytes(at: index).bytes, values.bytes(at: index).bytes) == .stop { return .stop }
    }
    return .continue
  }

  /// Shows the keys of entries in the same way.
  func visitKeys(
    _ stretch: Range<Int>, _ direction: ScanDirection, _ visit: (_ key: RawSpan) throws -> ScanStep
  ) rethrows -> ScanStep {
    let keys = keys
    for step in 0..<stretch.count {
      let index = direction == .forward ? stretch.lowerBound + step : stretch.upperBound - 1 - step
      if try visit(keys.bytes.span.bytes.extracting(keys.range(at: index))) == .stop { return .stop }
    }
    return .continue
  }
}

// MARK: - Putting

extension TreeNode {
  struct PutOutcome {
    var isNew: Bool
    /// Whether a smaller value in place of a larger one has left too little in the node.
    var isUnderfull: Bool
    /// The node that has to stand to the right of the node that was put into.
    var split: Split?
  }

  struct Split {
    var separator: [UInt8]
    var right: TreeNode
  }

  /// Puts an entry into the leaf it belongs to, and splits the nodes that become overfull.
  func put(_ value: RawSpan, for key: RawSpan, prefix: UInt8?) -> PutOutcome {
    let changed: Int
    var isNew: Bool
    if isLeaf {
      let (index, isThere) = keys.position(of: key, near: lastPlace)
      lastPlace = index
      if isThere, values.overwrite(value, prefix: prefix, at: index) {
        return PutOutcome(isNew: false, isUnderfull: false, split: nil)
      }
      changed = index
      isNew = !isThere
      if isNew { keys.insert(key, at: index) }
      values.put(value, prefix: prefix, at: index, isNew: isNew)
    } else {
      changed = childIndex(for: key)
      let outcome = uniqueChild(at: changed).put(value, for: key, prefix: prefix)
      if !outcome.isUnderfull && outcome.split == nil { return outcome }
      isNew = outcome.isNew
      if let split = outcome.split {
        keys.insert(split.separator.span.bytes, at: changed)
        children.insert(split.right, at: changed + 1)
      } else if outcome.isUnderfull {
        repairChild(at: changed)
      }
    }
    return PutOutcome(
      isNew: isNew, isUnderfull: isUnderfull, split: isOverfull ? split(changedAt: changed) : nil)
  }

  /// The child at `index`, after copying it if another node uses it, too.
  func uniqueChild(at index: Int) -> TreeNode {
    if !isKnownUniquelyReferenced(&children[index]) {
      children[index] = TreeNode(copying: children[index])
    }
    return children[index]
  }

  /// Moves the upper part of an overfull node into a new one.
  ///
  /// After a change at one end of the node, more changes are likely to follow there, so the part at that end stays small. In
  /// this way entries that are put in order fill their leaves to three quarters.
  func split(changedAt index: Int) -> Split {
    isLeaf
      ? splitLeaf(at: splitPosition(changedAt: index))
      : splitBranch(at: splitPosition(changedAt: index))
  }

  private func splitPosition(changedAt index: Int) -> Int {
    let count = isLeaf ? keys.count : children.count
    let least = isLeaf ? Self.minimumLeafWeight : Self.minimumChildCount
    let total = isLeaf ? weight : count
    func size(ofFirst position: Int) -> Int { isLeaf ? weight(ofFirst: position) : position }

    let last = count - 1
    // In a branch, the change was a split of the child at `index`, and the child behind that is new.
    let isAtEnd = index >= (isLeaf ? last : last - 1)
    switch index {
    case _ where isAtEnd: return (1...last).last { total - size(ofFirst: $0) >= least } ?? 1
    case 0: return (1...last).first { size(ofFirst: $0) >= least } ?? last
    default: return (1...last).first { size(ofFirst: $0) >= total / 2 } ?? last
    }
  }

  private func splitLeaf(at position: Int) -> Split {
    let right = TreeNode(keys: keys.splitOff(from: position), values: values.splitOff(from: position))
    return Split(separator: shortestSeparator(keys, right.keys), right: right)
  }

  private func splitBranch(at position: Int) -> Split {
    let right = TreeNode(keys: keys.splitOff(from: position), children: Array(children[position...]))
    children.removeSubrange(position...)
    let separator = [UInt8](copying: keys.bytes.span.bytes.extracting(keys.range(at: position - 1)))
    keys.remove(position - 1..<position)
    return Split(separator: separator, right: right)
  }
}

/// The shortest bytes that come after all of `left`, and not after any of `right`.
func shortestSeparator(_ left: ByteList, _ right: ByteList) -> [UInt8] {
  let last = left.bytes[left.range(at: left.count - 1)]
  let first = right.bytes[right.range(at: 0)]
  let common = zip(last, first).prefix { $0 == $1 }.count
  return Array(first.prefix(common + 1))
}

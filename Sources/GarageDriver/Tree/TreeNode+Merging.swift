// Putting many entries at once. One after another, each entry would search for its leaf and move the entries behind it there.
// Together they are merged with the entries of their leaves, and every leaf is written once.

/// Entries with ascending keys that are about to be put into a tree.
struct AscendingEntries {
  private let entries: UnsafeBufferPointer<PlacedEntry>
  private let bytes: UnsafeRawBufferPointer
  /// A byte to store in front of each value.
  let prefix: UInt8?

  /// - Parameters:
  ///   - entries: each one's key comes after that of the one before.
  ///   - bytes: must outlive this value, as `entries` must.
  init(_ entries: UnsafeBufferPointer<PlacedEntry>, in bytes: UnsafeRawBufferPointer, prefix: UInt8?) {
    (self.entries, self.bytes, self.prefix) = (entries, bytes, prefix)
  }

  /// Passes `visit` one run after another of entries whose keys ascend.
  static func forEachRun(
    _ entries: [PlacedEntry], in bytes: RawSpan, prefix: UInt8?, _ visit: (AscendingEntries) -> Void
  ) {
    bytes.withUnsafeBytes { bytes in
      entries.withUnsafeBufferPointer { entries in
        var start = 0
        while start < entries.count {
          var end = start + 1
          while end < entries.count,
            compareKeys(
              bytes.bytes.extracting(entries[end - 1].key), bytes.bytes.extracting(entries[end].key)) < 0
          { end += 1 }
          visit(
            AscendingEntries(
              UnsafeBufferPointer(rebasing: entries[start..<end]), in: bytes, prefix: prefix))
          start = end
        }
      }
    }
  }

  var indices: Range<Int> { entries.indices }
  var count: Int { entries.count }

  func key(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[entries[index].key])
  }

  func value(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[entries[index].value])
  }

  func part(_ range: Range<Int>) -> AscendingEntries {
    AscendingEntries(UnsafeBufferPointer(rebasing: entries[range]), in: bytes, prefix: prefix)
  }

  /// How much the weight of a leaf would grow by all of these entries, if none replaced another.
  var weight: Int {
    var weight = 0
    for index in indices {
      let valueCount = smallValueByteCount(index)
      weight += keyByteCount(index) + valueCount + TreeNode.entryWeight
    }
    return weight
  }

  func keyByteCount(_ index: Int) -> Int { entries[index].key.count }

  /// How many bytes a value takes among small values, with the prefix in front of it.
  func smallValueByteCount(_ index: Int) -> Int {
    let count = entries[index].value.count + (prefix == nil ? 0 : 1)
    return count > ValueList.maximumSmallByteCount ? 0 : count
  }

  /// Whether all values are small enough to stand in one array.
  var haveSmallValues: Bool {
    indices.allSatisfy {
      entries[$0].value.count + (prefix == nil ? 0 : 1) <= ValueList.maximumSmallByteCount
    }
  }

  var keysByteCount: Int { entries.reduce(0) { $0 + $1.key.count } }

  /// How many bytes all values take, with their prefixes.
  var valuesByteCount: Int { entries.reduce(prefix == nil ? 0 : count) { $0 + $1.value.count } }

  /// The place of the first entry whose key is not below `bound`.
  func place(of bound: RawSpan) -> Int {
    var (low, high) = (entries.startIndex, entries.endIndex)
    while low < high {
      let middle = (low + high) / 2
      if compareKeys(key(middle).bytes, bound) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension TreeNode {
  /// A branch over a node and those that were split from it.
  convenience init(_ left: TreeNode, _ splits: [Split]) {
    self.init(children: [left] + splits.map(\.right))
    for split in splits { keys.insert(split.separator.span.bytes, at: keys.count) }
  }

  struct MergeOutcome {
    var newCount = 0
    /// Whether smaller values in place of larger ones have left too little in the node.
    var isUnderfull = false
    /// The nodes that have to stand to the right of the one that was put into, in order.
    var splits: [Split] = []
  }

  /// Puts entries where they belong below this node, and splits the nodes that become overfull.
  func merge(_ entries: AscendingEntries) -> MergeOutcome {
    if entries.count == 1 {
      let outcome = put(entries.value(0).bytes, for: entries.key(0).bytes, prefix: entries.prefix)
      return MergeOutcome(
        newCount: outcome.isNew ? 1 : 0, isUnderfull: outcome.isUnderfull,
        splits: outcome.split.map { [$0] } ?? [])
    }
    return isLeaf ? mergeIntoLeaf(entries) : mergeIntoBranch(entries)
  }

  // MARK: - Leaves

  private func mergeIntoLeaf(_ entries: AscendingEntries) -> MergeOutcome {
    let (oldKeys, oldValues) = (keys, values)
    let oldCount = oldKeys.count
    let total = weight + entries.weight
    // Filled as full as entries that are put in order fill leaves: with room for more.
    let leafCount =
      total <= Self.maximumLeafWeight ? 1 : (total + Self.targetLeafWeight - 1) / Self.targetLeafWeight
    var merger = LeafMerger(leafWeight: leafCount == 1 ? nil : total / leafCount)
    var old = 0
    var newCount = entries.count
    var start = 0
    while start < entries.count {
      let key = entries.key(start).bytes
      // Entries that come in large numbers mostly belong behind all existing ones, or before them.
      let (place, isThere) =
        old == oldCount ? (oldCount, false) : oldKeys.position(of: key, near: oldCount - 1)
      merger.append(oldKeys, oldValues, old..<place)
      if isThere { newCount -= 1 }
      old = isThere ? place + 1 : place
      let end =
        old == oldCount
        ? entries.count
        : start + max(1, entries.part(start..<entries.count).place(of: oldKeys.bytes(at: old).bytes))
      merger.append(entries.part(start..<end))
      start = end
    }
    merger.append(oldKeys, oldValues, old..<oldCount)
    let leaves = merger.finish()
    (keys, values) = leaves[0]
    var outcome = MergeOutcome(newCount: newCount)
    for (left, right) in zip(leaves, leaves.dropFirst()) {
      outcome.splits.append(
        Split(
          separator: shortestSeparator(left.keys, right.keys),
          right: TreeNode(keys: right.keys, values: right.values)))
    }
    outcome.isUnderfull = isUnderfull || outcome.splits.contains { $0.right.isUnderfull }
    return outcome
  }

  // MARK: - Branches

  private func mergeIntoBranch(_ entries: AscendingEntries) -> MergeOutcome {
    var outcome = MergeOutcome()
    var splits: [(child: Int, splits: [Split])] = []
    var isRepairNeeded = false
    var place = 0
    while place < entries.count {
      let child = childIndex(for: entries.key(place).bytes)
      let rest = entries.part(place..<entries.count)
      let count = child < keys.count ? rest.place(of: keys.bytes(at: child).bytes) : rest.count
      let found = uniqueChild(at: child).merge(rest.part(0..<count))
      outcome.newCount += found.newCount
      if found.isUnderfull { isRepairNeeded = true }
      if !found.splits.isEmpty { splits.append((child, found.splits)) }
      place += count
    }
    insert(splits)
    if isRepairNeeded { repairChildren() }
    outcome.isUnderfull = isUnderfull
    outcome.splits = splitEvenly()
    return outcome
  }

  /// Joins children that have too little with their neighbours.
  func repairChildren() {
    for index in children.indices.reversed() { repairChild(at: index) }
  }

  /// Inserts new nodes behind the children that they were split from.
  private func insert(_ splits: [(child: Int, splits: [Split])]) {
    if splits.isEmpty { return }
    var (newKeys, newChildren) = (ByteList(), [TreeNode]())
    var next = 0
    for (child, splits) in splits {
      newChildren += children[next...child]
      newKeys.append(keys, next..<child)
      for split in splits {
        newKeys.insert(split.separator.span.bytes, at: newKeys.count)
        newChildren.append(split.right)
      }
      if child < keys.count { newKeys.append(keys, child..<child + 1) }
      next = child + 1
    }
    newChildren += children[next...]
    if next < keys.count { newKeys.append(keys, next..<keys.count) }
    (keys, children) = (newKeys, newChildren)
  }

  /// Moves the surplus of a branch into new ones of equal size.
  func splitEvenly() -> [Split] {
    if !isOverfull { return [] }
    let count = children.count
    let nodeCount = (count + Self.targetChildCount - 1) / Self.targetChildCount
    let (allKeys, allChildren) = (keys, children)
    var splits: [Split] = []
    for node in 0..<nodeCount {
      let (start, end) = (count * node / nodeCount, count * (node + 1) / nodeCount)
      var part = ByteList()
      part.append(allKeys, start..<end - 1)
      if node == 0 {
        (keys, children) = (part, Array(allChildren[start..<end]))
      } else {
        let separator = [UInt8](copying: allKeys.bytes.span.bytes.extracting(allKeys.range(at: start - 1)))
        splits.append(
          Split(separator: separator, right: TreeNode(keys: part, children: Array(allChildren[start..<end]))))
      }
    }
    return splits
  }
}

/// Writes leaves from entries that it is given in the order of their keys.
private struct LeafMerger {
  /// How much a leaf is to weigh; nil if there will be only one.
  private let leafWeight: Int?
  private var leaves: [(keys: ByteList, values: ValueList)] = []
  private var keys = ByteList()
  private var values = ValueList()

  init(leafWeight: Int?) { self.leafWeight = leafWeight }

  /// Whether another leaf has to be begun before so many bytes are added: this one is heavy enough, or has no room for them.
  private func isFull(_ weight: Int, for byteCount: Int) -> Bool {
    guard let leafWeight, weight > 0 else { return false }
    return weight >= leafWeight || weight + byteCount + TreeNode.entryWeight > TreeNode.maximumLeafWeight
  }

  private var weight: Int {
    keys.start(of: keys.count) + values.start(of: keys.count) + keys.count * TreeNode.entryWeight
  }

  private mutating func beginLeaf() {
    leaves.append((keys, values))
    (keys, values) = (ByteList(reservingAs: keys), ValueList(reservingAs: values))
  }

  /// Appends entries between which no other entry belongs, as many at a time as fit into a leaf.
  mutating func append(_ entries: AscendingEntries) {
    var start = 0
    while start < entries.count {
      var (end, weight) = (start, weight)
      while end < entries.count {
        let byteCount = entries.keyByteCount(end) + entries.smallValueByteCount(end)
        if isFull(weight, for: byteCount) { break }
        weight += byteCount + TreeNode.entryWeight
        end += 1
      }
      if end > start {
        let part = entries.part(start..<end)
        values.append(part, behind: keys.count)
        keys.appendKeys(of: part)
      }
      if end < entries.count { beginLeaf() }
      start = end
    }
  }

  /// Appends some of a leaf's entries.
  mutating func append(_ keys: ByteList, _ values: ValueList, _ indices: Range<Int>) {
    if leafWeight == nil {
      self.keys.append(keys, indices)
      self.values.append(values, indices)
      return
    }
    for index in indices {
      if isFull(weight, for: keys.range(at: index).count + values.small.range(at: index).count) {
        beginLeaf()
      }
      self.keys.append(keys, index..<index + 1)
      self.values.append(values, index..<index + 1)
    }
  }

  /// The leaves, of which there is at least one.
  mutating func finish() -> [(keys: ByteList, values: ValueList)] {
    if keys.count > 0 || leaves.isEmpty { leaves.append((keys, values)) }
    return leaves
  }
}

// Removes entries from nodes, and joins nodes that have too little left with their neighbours.

extension TreeNode {
  /// Removes an entry.
  func remove(_ key: RawSpan) {
    if isLeaf {
      let (index, isThere) = keys.position(of: key)
      if isThere { removeEntries(index..<index + 1) }
    } else {
      let index = childIndex(for: key)
      uniqueChild(at: index).remove(key)
      repairChild(at: index)
    }
  }

  /// Removes the entries of many keys, and returns how many of them there were.
  ///
  /// The node may be left as ``removeAll(from:to:)`` leaves it.
  func removeEach(_ keys: AscendingEntries) -> Int {
    isLeaf ? removeEachFromLeaf(keys) : removeEachFromBranch(keys)
  }

  private func removeEachFromLeaf(_ doomed: AscendingEntries) -> Int {
    var places: [Int] = []
    for index in doomed.indices {
      let (place, isThere) = keys.position(of: doomed.key(index).bytes)
      if isThere { places.append(place) }
    }
    // A few entries are taken out one by one. After the removal of many, the rest is written anew, each byte once.
    if places.count <= 4 {
      for place in places.reversed() { removeEntries(place..<place + 1) }
      return places.count
    }
    var (keptKeys, keptValues) = (ByteList(reservingAs: keys), ValueList(reservingAs: values))
    var start = 0
    for end in places + [keys.count] {
      keptKeys.append(keys, start..<end)
      keptValues.append(values, start..<end)
      start = end + 1
    }
    (keys, values) = (keptKeys, keptValues)
    return places.count
  }

  private func removeEachFromBranch(_ doomed: AscendingEntries) -> Int {
    var removed = 0
    var isRepairNeeded = false
    var place = 0
    while place < doomed.count {
      let child = childIndex(for: doomed.key(place).bytes)
      let rest = doomed.part(place..<doomed.count)
      let count = child < keys.count ? rest.place(of: keys.bytes(at: child).bytes) : rest.count
      let node = uniqueChild(at: child)
      removed += node.removeEach(rest.part(0..<count))
      if node.isUnderfull { isRepairNeeded = true }
      place += count
    }
    if isRepairNeeded { repairChildren() }
    return removed
  }

  /// Removes every entry from `lower`, included, to `upper`, excluded (nil: to the end), and returns their number.
  ///
  /// The node may be left empty, or with a single child that has too little in it. Its parent then repairs it.
  func removeAll(from lower: RawSpan, to upper: RawSpan?) -> Int {
    if isLeaf {
      let first = keys.position(of: lower).index
      let last = if let upper { keys.position(of: upper).index } else { keys.count }
      removeEntries(first..<last)
      return last - first
    }

    // Each bound may cut one child; the children between them are removed as a whole.
    let first = childIndex(for: lower)
    let last = if let upper { childIndex(for: upper) } else { children.count }
    if first == last {
      let removed = uniqueChild(at: first).removeAll(from: lower, to: upper)
      removeChildren(children[first].isEmpty ? first..<first + 1 : first..<first)
      repairChild(at: first)
      return removed
    }
    var removed = uniqueChild(at: first).removeAll(from: lower, to: nil)
    var doomed = (children[first].isEmpty ? first : first + 1)..<last
    if last < children.count {
      removed += uniqueChild(at: last).removeAll(from: RawSpan(), to: upper)
      if children[last].isEmpty { doomed = doomed.lowerBound..<last + 1 }
    }
    removed += children[doomed].reduce(0) { $0 + $1.entryCount }
    removeChildren(doomed)
    repairChild(at: doomed.lowerBound)
    repairChild(at: doomed.lowerBound - 1)
    return removed
  }

  /// Joins the child at `index` with neighbours until it is full enough, or no neighbour is left.
  func repairChild(at index: Int) {
    var index = index
    while children.indices.contains(index), children.count > 1, children[index].isUnderfull {
      index = max(index - 1, 0)
      if !joinChild(withNextAt: index) { return }
    }
  }

  /// Joins two children into one and returns true. If that one would be too large, makes two children of equal size and returns
  /// false.
  private func joinChild(withNextAt index: Int) -> Bool {
    let left = uniqueChild(at: index), right = children[index + 1]
    let separator = [UInt8](copying: keys.bytes.span.bytes.extracting(keys.range(at: index)))
    left.append(right, separator: separator)
    removeChildren(index + 1..<index + 2)
    if !left.isOverfull { return true }
    let split = left.split(changedAt: left.keys.count / 2)
    keys.insert(split.separator.span.bytes, at: index)
    children.insert(split.right, at: index + 1)
    return false
  }

  /// Takes over the contents of a node of the same height that stands to the right of this one.
  private func append(_ right: TreeNode, separator: [UInt8]) {
    if !isLeaf { keys.insert(separator.span.bytes, at: keys.count) }
    keys.append(right.keys)
    values.append(right.values)
    let seam = children.count
    children += right.children
    // A single child could not be repaired before, because it had no neighbour.
    repairChild(at: seam)
    repairChild(at: seam - 1)
  }

  /// How many entries there are in this node and below it.
  private var entryCount: Int { isLeaf ? keys.count : children.reduce(0) { $0 + $1.entryCount } }

  private func removeEntries(_ indices: Range<Int>) {
    if indices.isEmpty { return }
    keys.remove(indices)
    values.remove(indices)
  }

  /// Removes children, and the separators before them.
  private func removeChildren(_ indices: Range<Int>) {
    if indices.isEmpty { return }
    // The first child has no separator before it: there the separators behind are removed.
    let first = max(indices.lowerBound - 1, 0)
    keys.remove(first..<min(first + indices.count, keys.count))
    children.removeSubrange(indices)
  }
}

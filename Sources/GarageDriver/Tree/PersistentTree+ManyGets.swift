internal import CGarage

extension PersistentTree {
  /// Shows the value of each key, in the order of `keys`, or nil if there is none.
  ///
  /// A search for a value follows one address after another: to the leaf, to the leaf's arrays, to their contents. While one
  /// value is visited, the searches for the next three keys are each one step further. The memory that a step needs has arrived
  /// by then.
  ///
  /// - Parameters:
  ///   - keys: the places of the keys.
  ///   - bytes: the bytes that hold the keys.
  package func forEachValue(
    at keys: [Range<Int>], in bytes: RawSpan,
    _ visit: (_ index: Int, _ value: UnsafeRawBufferPointer?) throws -> Void
  ) rethrows {
    func leaf(_ index: Int) -> Unmanaged<TreeNode>? {
      index < keys.count ? self.leaf(for: bytes.extracting(keys[index])) : nil
    }
    func value(_ index: Int, in leaf: Unmanaged<TreeNode>?) -> UnsafeRawBufferPointer? {
      leaf?._withUnsafeGuaranteedRef { $0.value(for: bytes.extracting(keys[index])) }
    }
    var second = leaf(1)
    var third = leaf(2)
    second?._withUnsafeGuaranteedRef { $0.prefetchContents() }
    var current = value(0, in: leaf(0))
    for index in keys.indices {
      let fourth = leaf(index + 3)
      third?._withUnsafeGuaranteedRef { $0.prefetchContents() }
      let next = value(index + 1, in: second)
      try visit(index, current)
      (second, third, current) = (third, fourth, next)
    }
  }

  /// The leaf that would hold the key; its memory is prefetched. References are not counted, because the root holds all nodes.
  private func leaf(for key: RawSpan) -> Unmanaged<TreeNode>? {
    guard let root else { return nil }
    var node = Unmanaged.passUnretained(root)
    while let child = node._withUnsafeGuaranteedRef({ node in
      node.isLeaf ? nil : Unmanaged.passUnretained(node.children[node.childIndex(for: key)])
    }) {
      node = child
      // The child is prefetched even though it may be a branch, because branches are few.
      garage_prefetch(node.toOpaque())
      garage_prefetch(node.toOpaque() + 63)
    }
    return node
  }
}

extension TreeNode {
  /// The value of a key of this leaf, or nil if there is none. The value's memory is prefetched.
  fileprivate func value(for key: RawSpan) -> UnsafeRawBufferPointer? {
    let (index, isThere) = keys.position(of: key)
    if !isThere { return nil }
    let value = values.bytes(at: index)
    prefetchValue(value)
    return value
  }

  /// Prefetches the memory that a search in a leaf looks at.
  fileprivate func prefetchContents() {
    keys.prefetch(stringLines: 10)
    values.small.prefetch(stringLines: 0)
  }
}

internal import CGarage

extension PersistentTree {
  /// Shows the value of each key, in the order of `keys`, nil where there is none.
  ///
  /// The way to a value leads from address to address: the leaf, where in it its arrays stand, and what these have. While one
  /// value is visited, the next ones are each a step further on it, and what a step needs has come from memory by then.
  ///
  /// - Parameters:
  ///   - keys: where each key stands.
  ///   - bytes: what they stand in.
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

  /// The leaf that a key is in, if it is anywhere, which is asked for, too. Without counting references: the root holds all.
  private func leaf(for key: RawSpan) -> Unmanaged<TreeNode>? {
    guard let root else { return nil }
    var node = Unmanaged.passUnretained(root)
    while let child = node._withUnsafeGuaranteedRef({ node in
      node.isLeaf ? nil : Unmanaged.passUnretained(node.children[node.childIndex(for: key)])
    }) {
      node = child
      // Children may be branches, which are few.
      garage_prefetch(node.toOpaque())
      garage_prefetch(node.toOpaque() + 63)
    }
    return node
  }
}

extension TreeNode {
  /// The value of a key of a leaf, whose bytes are asked for; nil where it has none.
  fileprivate func value(for key: RawSpan) -> UnsafeRawBufferPointer? {
    let (index, isThere) = keys.position(of: key)
    if !isThere { return nil }
    let value = values.bytes(at: index)
    prefetchValue(value)
    return value
  }

  /// Asks for what a search in a leaf looks at.
  fileprivate func prefetchContents() {
    keys.prefetch(stringLines: 10)
    values.small.prefetch(stringLines: 0)
  }
}

/// A place in a ``PersistentTree`` that moves through a range of keys, entry by entry.
///
/// It keeps the tree as it was when the cursor was made. To visit a whole range, ``PersistentTree/scan(_:_:_:)`` is shorter and
/// faster; a cursor is for going through two ranges at a time.
public struct TreeCursor {
  private let range: StorageKeyRange
  private let direction: ScanDirection
  /// The branches above the leaf, from the root down, and the child that was taken in each.
  private var path: [(branch: TreeNode, child: Int)] = []
  /// The leaf the cursor is in; nil at the end.
  private(set) var leaf: TreeNode?
  /// The entries of the leaf that are in the range and still to come, including the current one.
  private(set) var stretch = 0..<0

  /// Stands at the first entry of `range`, or at the last one for a backward cursor.
  public init(_ tree: PersistentTree, _ range: StorageKeyRange, _ direction: ScanDirection) {
    self.range = range
    self.direction = direction
    guard let root = tree.root, !range.isEmpty else { return }
    descend(from: root, toBound: true)
    if stretch.isEmpty { moveToNextLeaf() }
  }

  /// Whether no entry is left.
  public var isAtEnd: Bool { leaf == nil }

  /// The key of the current entry, which must exist.
  public var key: TreeBytes {
    let keys = leaf!.keys
    return TreeBytes(storage: keys.bytes, range: keys.range(at: current))
  }

  /// The value of the current entry, which must exist.
  public var value: TreeBytes { leaf!.values[current] }

  /// Moves to the next entry, which is the next smaller one for a backward cursor.
  public mutating func moveToNext() {
    stretch = direction == .forward ? stretch.dropFirst() : stretch.dropLast()
    if stretch.isEmpty { moveToNextLeaf() }
  }

  private var current: Int { direction == .forward ? stretch.lowerBound : stretch.upperBound - 1 }

  /// Moves to the first entry of the next leaf.
  mutating func moveToNextLeaf() {
    guard let old = leaf else { return }
    leaf = nil
    // If the range ends inside the leaf that is left, none of it comes after that leaf.
    let isCut =
      direction == .forward
      ? old.entries(in: range).upperBound < old.keys.count
      : old.entries(in: range).lowerBound > 0
    if isCut { return }

    while let (branch, child) = path.popLast() {
      let next = direction == .forward ? child + 1 : child - 1
      guard branch.children.indices.contains(next) else { continue }
      path.append((branch, next))
      descend(from: branch.children[next], toBound: false)
      if stretch.isEmpty { leaf = nil }
      return
    }
  }

  /// Goes down to a leaf: to the one with the range's first bound, or to the nearest one.
  private mutating func descend(from node: TreeNode, toBound: Bool) {
    var node = node
    while !node.isLeaf {
      let child =
        switch direction {
        case .forward: toBound ? node.childIndex(for: range.lowerBound.span.bytes) : 0
        case .backward: toBound ? upperChild(of: node) : node.children.count - 1
        }
      path.append((node, child))
      node = node.children[child]
    }
    leaf = node
    stretch = node.entries(in: range)
  }

  private func upperChild(of node: TreeNode) -> Int {
    range.upperBound.map { node.childIndex(for: $0.span.bytes) } ?? node.children.count - 1
  }
}

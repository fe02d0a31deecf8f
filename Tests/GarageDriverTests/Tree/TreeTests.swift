import Testing

@testable import GarageDriver

/// The tree behind storages in memory keeps keys in order, and values as they were.
struct TreeTests {
  @Test func anEmptyTreeHasNothing() throws {
    var tree = PersistentTree()
    #expect(tree.isEmpty && tree[[]] == nil && tree.entries().isEmpty)
    let hasRemoved = tree.remove([1])
    let removedCounts = [tree.removeAll(in: .all), tree.removeAll(in: .prefix([1]))]
    #expect(!hasRemoved && removedCounts == [0, 0])
    #expect(TreeCursor(tree, .all, .backward).isAtEnd)
    try tree.check("empty")
  }

  @Test func ordersByUnsignedBytesAndPrefixesFirst() {
    let keys: [[UInt8]] = [
      [], [0], [0, 0], [0, 1], [1], [0x7F], [0x7F, 0xFF], [0x80], [0xFF], [0xFF, 0], [0xFF, 0xFF],
    ]
    var tree = PersistentTree()
    for key in keys.reversed() { tree.put(key, for: key) }
    #expect(tree.entries().map(\.key) == keys)
    #expect(tree.entries().map(\.value) == keys)
    #expect(tree.entries(.backward).map(\.key) == keys.reversed())
  }

  @Test func anEmptyValueIsAValue() {
    var tree = PersistentTree()
    tree.put([], for: [1])
    #expect(tree[[1]] == [] && tree[[2]] == nil && tree.count == 1)
    tree.put([7], for: [1])
    tree.put([], for: [1])
    #expect(tree[[1]] == [] && tree.count == 1)
  }

  @Test func aPrefixStandsInFrontOfTheValue() {
    var tree = PersistentTree()
    for count in [0, 1, 500, 1023, 1024, 5000] {
      let value = [UInt8](repeating: 9, count: count)
      tree.put(value, for: [1], prefix: 3)
      #expect(tree[[1]] == [3] + value)
    }
  }

  @Test func aLargeValueStaysWhereItIs() throws {
    var tree = PersistentTree()
    tree.put([UInt8](repeating: 1, count: 10_000_000), for: [1])
    let before = try #require(tree.bytes([1])).storage.withUnsafeBytes { $0.baseAddress }
    let snapshot = tree
    for number in 0..<2000 { tree.put([5, 6], for: key(number)) }
    let after = try #require(tree.bytes([1])).storage.withUnsafeBytes { $0.baseAddress }
    #expect(before == after)
    #expect(snapshot.count == 1 && tree.count == 2001)
    tree.put([2], for: [1])
    #expect(snapshot[[1]]?.count == 10_000_000 && tree[[1]] == [2])
  }

  @Test func bytesStayWhatTheyWereWhileTheTreeChanges() throws {
    var tree = PersistentTree()
    for number in 0..<3000 { tree.put([1, 2, 3], for: key(number)) }
    let lent = try #require(tree.bytes(key(1500)))
    for number in 0..<3000 { tree.put([4], for: key(number)) }
    tree.removeAll(in: .all)
    #expect(Array(lent.storage[lent.range]) == [1, 2, 3])
  }

  @Test func aCursorKeepsItsTree() {
    var tree = PersistentTree()
    for number in 0..<3000 { tree.put([1], for: key(number)) }
    var cursor = TreeCursor(tree, .all, .forward)
    var count = 0
    while !cursor.isAtEnd {
      tree.remove(key(count))
      count += 1
      cursor.moveToNext()
    }
    #expect(count == 3000 && tree.isEmpty)
  }

  @Test func aScanStopsWhenToldTo() {
    var tree = PersistentTree()
    for number in 0..<3000 { tree.put([1], for: key(number)) }
    for direction in ScanDirection.allCases {
      var count = 0
      tree.scan(.all, direction) { _, _ in
        count += 1
        return count == 1000 ? .stop : .continue
      }
      #expect(count == 1000)
    }
  }

  /// How many bytes of leaves, out of those they may have, the tree uses.
  private func occupancy(_ tree: PersistentTree) -> Double {
    var weights: [Int] = []
    func collect(_ node: TreeNode) {
      if node.isLeaf { weights.append(node.weight) } else { node.children.forEach(collect) }
    }
    if let root = tree.root { collect(root) }
    return Double(weights.reduce(0, +)) / Double(weights.count * TreeNode.maximumLeafWeight)
  }

  @Test func leavesAreWellFilled() throws {
    let value = [UInt8](repeating: 1, count: 100)
    var ascending = PersistentTree(), descending = ascending, shuffled = ascending
    for number in 0..<20_000 { ascending.put(value, for: key(number)) }
    for number in (0..<20_000).reversed() { descending.put(value, for: key(number)) }
    var random = SeededGenerator(seed: 1)
    for number in (0..<20_000).shuffled(using: &random) { shuffled.put(value, for: key(number)) }
    for tree in [ascending, descending, shuffled] { try tree.check("filled") }
    #expect(occupancy(ascending) > 0.7 && occupancy(descending) > 0.7 && occupancy(shuffled) > 0.6)
    #expect(ascending.depth == 3)
  }

  @Test func theTreeShrinksAsItsEntriesGo() throws {
    var tree = PersistentTree()
    for number in 0..<20_000 { tree.put([UInt8](repeating: 1, count: 100), for: key(number)) }
    var random = SeededGenerator(seed: 2)
    for (removed, number) in (0..<20_000).shuffled(using: &random).enumerated() {
      tree.remove(key(number))
      if removed % 999 == 0 {
        try tree.check("after \(removed)")
        #expect(tree.root!.isLeaf || occupancy(tree) > 0.25)
      }
      if removed == 19_990 { #expect(tree.depth == 1) }
    }
    #expect(tree.root == nil)
  }

  @Test func smallerValuesInPlaceOfLargerOnesLeaveNoHollowLeaves() throws {
    var tree = PersistentTree()
    for number in 0..<5000 { tree.put([UInt8](repeating: 1, count: 900), for: key(number)) }
    for number in 0..<5000 {
      tree.put([], for: key(number))
      if number % 500 == 0 { try tree.check("after \(number)") }
    }
    try tree.check("at the end")
    #expect(occupancy(tree) > 0.25)
  }

  @Test func takesKeysOfAnyLength() throws {
    var tree = PersistentTree()
    var model = TreeModel()
    var random = SeededGenerator(seed: 3)
    for step in 0..<400 {
      let length = [0, 10, 511, 8000, 50_000].randomElement(using: &random)!
      let key = [UInt8](repeating: UInt8.random(in: 0...3, using: &random), count: length)
      if step % 3 == 2 {
        let wasThere = tree.remove(key)
        let wasExpected = model.remove(key)
        #expect(wasThere == wasExpected)
      } else {
        tree.put([UInt8(step & 255)], for: key)
        model.put([UInt8(step & 255)], for: key)
      }
      try tree.check("step \(step)")
    }
    #expect(isSame(tree.entries(), model.entries))
  }
}

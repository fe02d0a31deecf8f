import Testing

@testable import GarageDriver

/// Random histories of a tree against an ordered array.
struct TreeHistoryTests {
  /// What the keys and values of a history look like.
  enum Shape: CaseIterable {
    /// Few keys, many hits.
    case crowded
    /// Keys that share long prefixes, some of them longer than a leaf.
    case longKeys
    /// Values of all sizes, also beyond what stands among others.
    case anyValues
    /// Many entries, so that the tree is several nodes deep.
    case manySmall
  }

  struct History {
    var shape: Shape
    var random: SeededGenerator

    mutating func key() -> [UInt8] {
      switch shape {
      case .crowded:
        return random.bytes(Int.random(in: 0...2, using: &random)).map { $0 & 0x87 }
      case .longKeys:
        let length = [0, 3, 300, 511, 511, 511, 900].randomElement(using: &random)!
        return [UInt8](repeating: 0xFF, count: length) + random.bytes(Int.random(in: 0...2, using: &random))
      case .anyValues:
        return random.bytes(2).map { $0 & 0x3F }
      case .manySmall:
        return GarageDriverTests.key(Int.random(in: 0..<40_000, using: &random))
      }
    }

    mutating func value() -> [UInt8] {
      let length =
        switch shape {
        case .crowded: Int.random(in: 0...900, using: &random)
        case .longKeys: Int.random(in: 0...50, using: &random)
        case .anyValues: [0, 1, 200, 1023, 1024, 1025, 5000, 100_000].randomElement(using: &random)!
        case .manySmall: Int.random(in: 0...3, using: &random)
        }
      return [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: length)
    }

    /// Entries to be put at once, mostly in the order of their keys.
    mutating func batch() -> [Entry] {
      let count = [0, 1, 2, 10, 200].randomElement(using: &random)!
      let entries = (0..<count).map { _ in (key: key(), value: value()) }
      return Int.random(in: 0..<4, using: &random) == 0
        ? entries : entries.sorted { precedes($0.key, $1.key) }
    }

    /// Keys to be removed at once, mostly in their order: those of a stretch, of any, or of none.
    mutating func doomedKeys(_ model: TreeModel) -> [[UInt8]] {
      var keys = (0..<[0, 1, 2, 10].randomElement(using: &random)!).map { _ in key() }
      if !model.entries.isEmpty {
        let start = Int.random(in: 0..<model.entries.count, using: &random)
        let length = [1, 3, 40, 400].randomElement(using: &random)!
        let step = [1, 1, 2, 9].randomElement(using: &random)!
        for index in stride(from: start, to: min(start + length, model.entries.count), by: step) {
          keys.append(model.entries[index].key)
        }
      }
      return Int.random(in: 0..<4, using: &random) == 0
        ? keys.shuffled(using: &random) : keys.sorted(by: precedes)
    }

    mutating func range() -> StorageKeyRange {
      let lower = Bool.random(using: &random) ? key() : []
      guard Int.random(in: 0..<3, using: &random) > 0 else { return StorageKeyRange(from: lower) }
      return StorageKeyRange(from: lower, to: key())
    }

    /// A range that is mostly short, so that not everything is gone at once.
    mutating func shortRange() -> StorageKeyRange {
      if Int.random(in: 0..<20, using: &random) == 0 { return range() }
      let lower = key()
      guard shape == .manySmall else { return StorageKeyRange(from: lower, to: lower + [0x40]) }
      let number = lower.reduce(0) { $0 << 8 | Int($1) }
      let length = [1, 30, 3000].randomElement(using: &random)!
      return StorageKeyRange(from: lower, to: GarageDriverTests.key(number + length))
    }
  }

  @Test(arguments: Shape.allCases, LongTests.areWanted ? 1...3 : 1...1)
  func agreesWithTheModel(_ shape: Shape, _ seed: Int) throws {
    var history = History(shape: shape, random: SeededGenerator(seed: UInt64(seed)))
    var tree = PersistentTree()
    var model = TreeModel()
    var snapshots: [(tree: PersistentTree, model: TreeModel)] = []
    if shape == .manySmall {
      for number in 0..<5000 {
        tree.put([], for: GarageDriverTests.key(7 * number))
        model.put([], for: GarageDriverTests.key(7 * number))
      }
    }
    // Phases of growth and of shrinking, so that nodes split and join.
    for step in 0..<3000 {
      let grows = step / 750 % 2 == 0
      let dice = Int.random(in: 0..<100, using: &history.random)
      if dice < (grows ? 75 : 20) {
        let (key, value) = (history.key(), history.value())
        tree.put(value, for: key)
        model.put(value, for: key)
      } else if dice < 95 {
        let key =
          Bool.random(using: &history.random)
          ? history.key() : model.entries.randomElement(using: &history.random)?.key ?? []
        let wasThere = tree.remove(key)
        let wasExpected = model.remove(key)
        try #require(wasThere == wasExpected, "seed \(seed), step \(step)")
      } else if dice < 97, !grows || step % 4 == 0 {
        let range = history.shortRange()
        let removed = tree.removeAll(in: range)
        let expected = model.removeAll(in: range)
        try #require(removed == expected, "seed \(seed), step \(step)")
      } else if dice == 97 {
        let doomed = history.doomedKeys(model)
        tree.removeEach(doomed)
        for key in doomed { _ = model.remove(key) }
        try tree.check("seed \(seed), step \(step), after \(doomed.count) were removed")
      } else if dice == 99 {
        let batch = history.batch()
        tree.putAll(batch)
        for (key, value) in batch { model.put(value, for: key) }
        try tree.check("seed \(seed), step \(step), after a batch of \(batch.count)")
      } else if dice == 98 {
        snapshots.append((tree, model))
        if snapshots.count > 4 { snapshots.removeFirst() }
      }
      if step % 149 == 0 { try check(tree, model, &history, "seed \(seed), step \(step)") }
    }
    try check(tree, model, &history, "seed \(seed), at the end")
    for (tree, model) in snapshots { try check(tree, model, &history, "seed \(seed), a snapshot") }
  }

  private func check(
    _ tree: PersistentTree, _ model: TreeModel, _ history: inout History, _ comment: Comment
  ) throws {
    try tree.check(comment)
    try #require(isSame(tree.entries(), model.entries), comment)
    for _ in 0..<2 {
      let range = history.range()
      let expected = model.entries[model.indices(in: range)]
      try #require(isSame(tree.entries(in: range), expected), comment)
      try #require(isSame(tree.entries(in: range, .backward), expected.reversed()), comment)
      try #require(isSame(tree.steppedEntries(in: range, .forward), expected), comment)
      try #require(isSame(tree.steppedEntries(in: range, .backward), expected.reversed()), comment)
      let key = history.key()
      try #require(tree[key] == model[key], comment)
    }
  }

  @Test(arguments: 1...2)
  func removingRangesLeavesAProperTree(_ seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var full = PersistentTree()
    for number in 0..<20_000 { full.put([1], for: key(number)) }
    try full.check("full")
    #expect(full.depth == 3)
    for round in 0..<12 {
      var tree = full
      var left = Set(0..<20_000)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let first = Int.random(in: 0..<20_000, using: &random)
        let last = Int.random(in: first...20_000, using: &random)
        let expected = (first..<last).count { left.remove($0) != nil }
        let range = StorageKeyRange(from: key(first), to: key(last))
        let removed = tree.removeAll(in: range)
        try #require(removed == expected, "seed \(seed), round \(round)")
        try tree.check("seed \(seed), round \(round), \(first)..<\(last)")
      }
      try #require(tree.entries().map(\.key) == left.sorted().map { key($0) }, "seed \(seed), round \(round)")
    }
    try #require(full.entries().count == 20_000)
  }

  /// Batches that are as large as the tree, or much larger or smaller, into one place or all over it.
  @Test(arguments: 1...2)
  func batchesLeaveAProperTree(_ seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    for round in 0..<(LongTests.areWanted ? 12 : 2) {
      var tree = PersistentTree()
      var model: [Int: [UInt8]] = [:]
      var snapshots: [(tree: PersistentTree, model: [Int: [UInt8]])] = []
      for step in 0..<6 {
        let count = [1, 30, 2000, 9000].randomElement(using: &random)!
        let distance = [1, 2, 40].randomElement(using: &random)!
        let first = Int.random(in: 0..<100_000, using: &random)
        let length = [0, 20, 900].randomElement(using: &random)!
        let batch = (0..<count).map { (key: first + $0 * distance, value: random.bytes(length)) }
        tree.putAll(batch.map { (key($0.key), $0.value) })
        for (key, value) in batch { model[key] = value }
        let comment: Comment = "seed \(seed), round \(round), step \(step)"
        try tree.check(comment)
        snapshots.append((tree, model))
        let share = [0.02, 0.5, 0.98, 1].randomElement(using: &random)!
        let doomed = model.keys.sorted().filter { _ in Double.random(in: 0..<1, using: &random) < share }
        tree.removeEach(doomed.map { key($0) })
        for key in doomed { model[key] = nil }
        try tree.check(comment)
        snapshots.append((tree, model))
      }
      for (tree, model) in snapshots {
        let expected = model.sorted { $0.key < $1.key }.map { (key: key($0.key), value: $0.value) }
        try #require(isSame(tree.entries(), expected), "seed \(seed), round \(round)")
      }
    }
  }
}

import Foundation
import Testing

@testable import GarageDriver

typealias Entry = (key: [UInt8], value: [UInt8])

extension PersistentTree {
  mutating func put(_ value: [UInt8], for key: [UInt8], prefix: UInt8? = nil) {
    put(value.span.bytes, for: key.span.bytes, prefix: prefix)
  }

  mutating func putAll(_ entries: [Entry]) {
    var bytes: [UInt8] = []
    let placed = entries.map { entry in
      let start = bytes.count
      bytes += entry.key + entry.value
      let middle = start + entry.key.count
      return PlacedEntry(key: start..<middle, value: middle..<bytes.count)
    }
    putAll(placed, in: bytes.span.bytes)
  }

  mutating func removeEach(_ keys: [[UInt8]]) {
    var bytes: [UInt8] = []
    let placed = keys.map { key in
      let start = bytes.count
      bytes += key
      return PlacedEntry(key: start..<bytes.count, value: 0..<0)
    }
    removeEach(placed, in: bytes.span.bytes)
  }

  @discardableResult
  mutating func remove(_ key: [UInt8]) -> Bool { remove(key.span.bytes) }

  func bytes(_ key: [UInt8]) -> TreeBytes? { value(for: key.span.bytes) }

  subscript(key: [UInt8]) -> [UInt8]? { bytes(key).map { Array($0.storage[$0.range]) } }

  func entries(in range: StorageKeyRange = .all, _ direction: ScanDirection = .forward) -> [Entry] {
    var entries: [Entry] = []
    scan(range, direction) { key, value in
      entries.append(([UInt8](copying: key), [UInt8](copying: value)))
      return .continue
    }
    return entries
  }

  /// The same by a cursor.
  func steppedEntries(in range: StorageKeyRange, _ direction: ScanDirection) -> [Entry] {
    var entries: [Entry] = []
    var cursor = TreeCursor(self, range, direction)
    while !cursor.isAtEnd {
      let (key, value) = (cursor.key, cursor.value)
      entries.append((Array(key.storage[key.range]), Array(value.storage[value.range])))
      cursor.moveToNext()
    }
    return entries
  }

  var depth: Int {
    var depth = 0
    var node = root
    while let next = node {
      depth += 1
      node = next.children.first
    }
    return depth
  }

  /// Every rule that a tree keeps, and that its entries alone do not show.
  func check(_ comment: Comment, _ location: SourceLocation = #_sourceLocation) throws {
    guard let root else {
      try #require(count == 0, comment, sourceLocation: location)
      return
    }
    try #require(!root.isEmpty && root.children.count != 1, comment, sourceLocation: location)
    // Longer keys than a driver takes may leave nodes that are less even.
    let isEven = !entries().contains { $0.key.count > 1000 }
    let found = try root.check(isRoot: true, isEven, height: depth, from: [], to: nil, comment, location)
    try #require(found == count, comment, sourceLocation: location)
  }
}

extension TreeNode {
  /// Checks the subtree, whose keys have to stand between two bounds, and counts its entries.
  fileprivate func check(
    isRoot: Bool, _ isEven: Bool, height: Int, from lower: [UInt8], to upper: [UInt8]?,
    _ comment: Comment, _ location: SourceLocation
  ) throws -> Int {
    func require(_ condition: Bool, _ rule: String) throws {
      if condition { return }
      try #require(condition, "\(rule); \(comment)", sourceLocation: location)
    }
    let list = (0..<keys.count).map { Array(keys.bytes[keys.range(at: $0)]) }
    for (left, right) in zip(list, list.dropFirst()) {
      try require(precedes(left, right), "keys ascend")
    }
    for key in list {
      try require(!precedes(key, lower), "no key before the lower bound")
      if let upper { try require(precedes(key, upper), "no key at the upper bound") }
    }
    if isEven {
      try require(!isOverfull, "no node is overfull")
      try require(isRoot || !isUnderfull, "no node but the root is underfull")
    }

    try require(isLeaf == (height == 1), "all leaves have one depth")
    if isLeaf {
      try require(values.small.count == keys.count, "each key has a value")
      return keys.count
    }
    try require(values.small.count == 0, "a branch has no values")
    try require(children.count == keys.count + 1, "separators stand between children")
    return try children.indices.reduce(0) { sum, index in
      sum
        + (try children[index].check(
          isRoot: false, isEven, height: height - 1, from: index == 0 ? lower : list[index - 1],
          to: index == list.count ? upper : list[index], comment, location))
    }
  }
}

/// What a tree has to hold: the same, in an ordered array.
struct TreeModel {
  private(set) var entries: [Entry] = []

  private func position(of key: [UInt8]) -> Int {
    var low = 0, high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if precedes(entries[middle].key, key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func put(_ value: [UInt8], for key: [UInt8]) {
    let index = position(of: key)
    if index < entries.count, entries[index].key == key {
      entries[index].value = value
    } else {
      entries.insert((key, value), at: index)
    }
  }

  mutating func remove(_ key: [UInt8]) -> Bool {
    let index = position(of: key)
    guard index < entries.count, entries[index].key == key else { return false }
    entries.remove(at: index)
    return true
  }

  func indices(in range: StorageKeyRange) -> Range<Int> {
    let lower = position(of: range.lowerBound)
    return lower..<max(lower, range.upperBound.map(position) ?? entries.count)
  }

  mutating func removeAll(in range: StorageKeyRange) -> Int {
    let indices = indices(in: range)
    entries.removeSubrange(indices)
    return indices.count
  }

  subscript(key: [UInt8]) -> [UInt8]? {
    let index = position(of: key)
    return index < entries.count && entries[index].key == key ? entries[index].value : nil
  }
}

func isSame(_ left: some Sequence<Entry>, _ right: some Sequence<Entry>) -> Bool {
  left.elementsEqual(right) { order($0.key, $1.key) == 0 && order($0.value, $1.value) == 0 }
}

func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool { order(left, right) < 0 }

/// The order of keys; by C, because element by element takes long in a debug build.
private func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
  let order = memcmp(left, right, min(left.count, right.count))
  return order != 0 ? Int(order) : left.count - right.count
}

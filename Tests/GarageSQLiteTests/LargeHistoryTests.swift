import Foundation
import GarageDriver
import GarageSQLite
import Testing

@Suite("SQLite: random histories of small and large values")
struct LargeHistoryTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("The store holds what a dictionary does, and no orphans", arguments: [1, 2, 3, 4, 5, 6, 7, 8])
  func history(seed: UInt64) throws {
    var history = LargeHistory(seed: seed)
    // Half of them begin with what an earlier version left.
    if seed % 2 == 0 {
      history.values = Dictionary(uniqueKeysWithValues: (0..<30).map { (key($0), history.value()) })
      try makeOldStore(folder.file(), history.values.map { ($0.key, $0.value) })
    }
    let storages = try (0..<2).map { _ in try SQLiteStorage(at: folder.file()) }
    for round in 0..<60 {
      let storage = storages[history.number(below: 2)]
      let before = history.values
      let commits = history.number(below: 4) > 0
      try storage.write { transaction in
        for _ in 0..<history.number(below: 12) { try history.change(transaction) }
        try history.compare(transaction)
        return commits ? .commit(()) : .rollBack(())
      }
      if !commits { history.values = before }
      try storages[round % 2].read { try history.compare($0) }
      if round % 10 == 9 { try RawDatabase(folder.file()).expectNoOrphans() }
    }
    for storage in storages { try storage.close() }
    try SQLiteStorage(at: folder.file()).read { try history.compare($0) }
    try RawDatabase(folder.file()).expectNoOrphans()
  }
}

/// What a store should hold, and the next changes of it.
private struct LargeHistory {
  var values: [StorageKey: [UInt8]] = [:]
  private let seed: UInt64
  private var state: UInt64

  init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  /// SplitMix64 (Steele, Lea, Flood 2014).
  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func number(below bound: Int) -> Int { Int(next() % UInt64(bound)) }

  mutating func value() -> [UInt8] {
    let sizes = [0, 20, 400, 975, 980, 985, 990, 995, 1000, 1100, 4050, 4100, 5000, 20_000, 300_000]
    return bytes(sizes[number(below: sizes.count)] + number(below: 5), number(below: 256))
  }

  private mutating func range() -> StorageKeyRange {
    let first = number(below: 40)
    let last = first + number(below: 6)
    return StorageKeyRange(from: key(first).bytes, to: number(below: 20) == 0 ? nil : key(last).bytes)
  }

  mutating func change(_ transaction: any WriteTransaction) throws {
    let key = key(number(below: 40))
    switch number(below: 100) {
    case 0..<60:
      let value = value()
      try transaction.put(value, for: key)
      values[key] = value
    case 60..<90:
      try transaction.remove(key)
      values[key] = nil
    case 90..<98:
      let range = range()
      try transaction.removeAll(in: range)
      values = values.filter { !range.contains($0.key) }
    case 98:
      try transaction.removeAll(in: .all)
      values = [:]
    default:
      #expect(try transaction.value(for: key) == values[key], "seed \(seed)")
    }
  }

  func compare(_ transaction: any ReadTransaction) throws {
    let expected = values.keys.sorted()
    for direction in ScanDirection.allCases {
      var position = 0
      let keys = direction == .forward ? expected : expected.reversed()
      try transaction.scan(.all, direction) { found, value in
        #expect(position < keys.count && StorageKey(found) == keys[position], "seed \(seed)")
        #expect([UInt8](copying: value) == values[StorageKey(found)], "seed \(seed)")
        position += 1
        return .continue
      }
      #expect(position == keys.count, "seed \(seed)")
    }
    var count = 0
    try transaction.scanKeys(.all, .forward) { _ in
      count += 1
      return .continue
    }
    #expect(count == expected.count, "seed \(seed)")
    for number in 0..<40 {
      #expect(try transaction.contains(key(number)) == (values[key(number)] != nil), "seed \(seed)")
    }
  }
}

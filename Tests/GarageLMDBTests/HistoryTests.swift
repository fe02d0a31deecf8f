import Foundation
import GarageDriver
import GarageLMDB
import Testing

/// Random histories against a sorted array: what this driver does in a way of its own — appending, deleting
/// through a cursor, dropping everything, cutting long bounds — mixed with everything else.
@Suite struct HistoryTests {
  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func matchesASortedModel(seed: UInt64) throws {
    try withTemporaryFolder { folder in
      var random = SplitMix(seed)
      var model: [StorageKey: [UInt8]] = [:]
      var storage = try LMDBStorage(at: folder)
      for step in 0..<60 {
        let place: Comment = "seed \(seed), step \(step)"
        let outcome: [StorageKey: [UInt8]] = try storage.write { transaction in
          var changed = model
          for _ in 0..<Int.random(in: 1...120, using: &random) {
            try change(transaction, &changed, &random)
          }
          try compare(transaction, changed, &random, place)
          return Int.random(in: 0..<4, using: &random) == 0 ? .rollBack(model) : .commit(changed)
        }
        model = outcome
        if Int.random(in: 0..<10, using: &random) == 0 {
          try storage.close()
          storage = try LMDBStorage(at: folder)
        }
        try storage.read { try compare($0, model, &random, place) }
      }
      try storage.close()
    }
  }

  private func change(
    _ transaction: any WriteTransaction, _ model: inout [StorageKey: [UInt8]], _ random: inout SplitMix
  ) throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0:
      try transaction.removeAll(in: .all)
      model = [:]
    case 1..<6:
      let range = randomRange(&random)
      try transaction.removeAll(in: range)
      model = model.filter { !range.contains($0.key) }
    case 6..<25:
      let key = model.keys.sorted().randomElement(using: &random) ?? randomKey(&random)
      try transaction.remove(key)
      model[key] = nil
    case 25..<45:
      // The largest key there is, and one more byte: an append.
      var bytes = model.keys.max()?.bytes ?? [0]
      if bytes.count < 511 { bytes.append(UInt8.random(in: 0...3, using: &random)) }
      try put(transaction, StorageKey(bytes), &model, &random)
    default:
      try put(transaction, randomKey(&random), &model, &random)
    }
  }

  private func put(
    _ transaction: any WriteTransaction, _ key: StorageKey, _ model: inout [StorageKey: [UInt8]],
    _ random: inout SplitMix
  ) throws {
    let largest = Int.random(in: 0..<20, using: &random) == 0 ? 20_000 : 300
    let count = Int.random(in: 0...largest, using: &random)
    let value = [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: count)
    try transaction.put(value, for: key)
    model[key] = value
  }

  private func compare(
    _ transaction: any ReadTransaction, _ model: [StorageKey: [UInt8]], _ random: inout SplitMix,
    _ place: Comment
  ) throws {
    let sorted = model.sorted { $0.key < $1.key }
    for _ in 0..<4 {
      let range = randomRange(&random)
      let expected = sorted.filter { range.contains($0.key) }
      for direction in ScanDirection.allCases {
        var found: [(StorageKey, [UInt8])] = []
        try transaction.scan(range, direction) { key, value in
          found.append((StorageKey(key), [UInt8](copying: value)))
          return .continue
        }
        if direction == .backward { found.reverse() }
        #expect(found.map(\.0) == expected.map(\.key), place)
        #expect(found.map(\.1) == expected.map(\.value), place)
      }
    }
    var keys = (0..<40).map { _ in randomKey(&random) } + sorted.prefix(40).map(\.key)
    if Bool.random(using: &random) { keys.sort() }
    try transaction.withValues(for: keys) { index, value in
      let found: [UInt8]? = if let value { [UInt8](copying: value) } else { nil }
      #expect(found == model[keys[index]], place)
    }
    for key in keys.prefix(20) { #expect(try transaction.value(for: key) == model[key], place) }
  }

  /// Few different bytes and lengths around the limits, so that keys meet and are prefixes of each other.
  private func randomBytes(_ lengths: [Int], _ random: inout SplitMix) -> [UInt8] {
    let alphabet: [UInt8] = [0, 1, 127, 128, 255]
    let length = lengths.randomElement(using: &random)!
    if length < 500 { return (0..<length).map { _ in alphabet.randomElement(using: &random)! } }
    let fill = alphabet.randomElement(using: &random)!
    return [UInt8](repeating: fill, count: length - 1) + [alphabet.randomElement(using: &random)!]
  }

  private func randomKey(_ random: inout SplitMix) -> StorageKey {
    StorageKey(randomBytes([1, 2, 3, 4, 5, 510, 511], &random))
  }

  private func randomRange(_ random: inout SplitMix) -> StorageKeyRange {
    let lengths = [0, 1, 2, 3, 510, 511, 512, 513, 2000]
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .all
    case 1: return StorageKeyRange(from: randomBytes(lengths, &random))
    case 2: return .prefix(randomBytes(lengths, &random))
    case 3: return StorageKeyRange(to: randomBytes(lengths, &random))
    default:
      let bounds = [randomBytes(lengths, &random), randomBytes(lengths, &random)]
      let sorted = bounds.sorted { $0.lexicographicallyPrecedes($1) }
      return StorageKeyRange(from: sorted[0], to: sorted[1])
    }
  }

  @Test func boundsMayBeLongerThanKeys() throws {
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      let edge = [UInt8](repeating: 7, count: 511)
      let before = Array(edge.dropLast()) + [6]
      let after = Array(edge.dropLast()) + [8]
      try storage.write { transaction in
        for key in [before, edge, after] { try transaction.put([1], for: StorageKey(key)) }
        return .commit(())
      }
      let long = edge + [0]
      #expect(try storage.keys(StorageKeyRange(from: long)) == [after])
      #expect(try storage.keys(StorageKeyRange(from: long), .backward) == [after])
      #expect(try storage.keys(StorageKeyRange(to: long)) == [before, edge])
      #expect(try storage.keys(StorageKeyRange(to: long), .backward) == [edge, before])
      #expect(try storage.keys(StorageKeyRange(from: edge, to: long), .backward) == [edge])
      #expect(try storage.keys(StorageKeyRange(from: [], to: [])) == [])
      let far = [UInt8](repeating: 255, count: 5000)
      #expect(try storage.keys(StorageKeyRange(to: far), .backward) == [after, edge, before])
      try storage.write { transaction in
        try transaction.removeAll(in: StorageKeyRange(from: long, to: far))
        return .commit(())
      }
      #expect(try storage.keys() == [before, edge])
      try storage.close()
    }
  }

  @Test func putsInAnyOrderEndUpSorted() throws {
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      var random = SplitMix(11)
      // Runs up, runs down, and shuffled: appending is tried, misses, pauses, and is tried again.
      let runs: [[Int]] = [
        Array(10_000..<12_000), (5_000..<7_000).reversed(), Array(0..<2_000).shuffled(using: &random),
        Array(12_000..<14_000), Array(7_000..<9_000),
      ]
      try storage.write { transaction in
        for number in runs.joined() {
          try transaction.put(Array("\(number)".utf8), for: StorageKey(number: number))
        }
        return .commit(())
      }
      let expected = runs.joined().sorted()
      #expect(try storage.keys() == expected.map { StorageKey(number: $0).bytes })
      for number in expected.shuffled(using: &random).prefix(500) {
        let value = try storage.read { try $0.value(for: StorageKey(number: number)) }
        #expect(value == Array("\(number)".utf8))
      }
      try storage.close()
    }
  }
}

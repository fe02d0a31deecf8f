import Foundation
import GarageConformance
import GarageDriver
import GarageSealing
import InsecureSealer
import Testing

/// What entries of indexes are removed with: many keys at once, where the driver knows a way.
@Suite("Removals of many keys")
struct ManyRemovalTests {
  typealias Engine = LookingRemovalTests.Engine

  private func remove(_ keys: [StorageKey], _ transaction: any WriteTransaction) throws {
    var bytes: [UInt8] = []
    let placed = keys.map { key in
      let start = bytes.count
      bytes += key.bytes
      return PlacedEntry(key: start..<bytes.count, value: 0..<0)
    }
    try transaction.removeMany(placed, in: bytes.span.bytes)
  }

  private func withStorage(
    _ engine: Engine, isSealed: Bool = false, _ body: (any StorageDriver) throws -> Void
  ) throws {
    try LookingRemovalTests.withStorage(engine) { storage in
      try body(isSealed ? SealedStorage(storage, sealer: InsecureTestSealer(key: 5)) : storage)
    }
  }

  @Test(
    "They remove what one removal after another does", arguments: Engine.allCases, [1, 2, 3, 4])
  func history(_ engine: Engine, seed: UInt64) throws {
    var random = Steps(state: seed)
    let sizes = [0, 1, 16, 300, 980, 5000, 200_000]
    try withStorage(engine, isSealed: seed == 4) { storage in
      var values: [StorageKey: [UInt8]] = [:]
      for round in 0..<40 {
        let before = values
        try storage.write { transaction in
          for _ in 0..<random.below(30) {
            if random.below(3) > 0 {
              let key = StorageKey([UInt8(random.below(4)), UInt8(random.below(60))])
              let value = [UInt8](
                repeating: UInt8(random.below(256)), count: sizes[random.below(sizes.count)])
              try transaction.put(value, for: key)
              values[key] = value
            } else {
              // Some are missing, and some come twice.
              var keys = (0..<random.below(40)).map { _ in
                StorageKey([UInt8(random.below(4)), UInt8(random.below(60))])
              }
              if random.below(3) > 0 { keys.sort() }
              try remove(keys, transaction)
              for key in keys { values[key] = nil }
            }
          }
          return random.below(4) > 0 ? .commit(()) : .rollBack(values = before)
        }
        var found: [StorageKey: [UInt8]] = [:]
        try storage.read { transaction in
          try transaction.scan(.all, .forward) { key, value in
            found[StorageKey(key)] = [UInt8](copying: value)
            return .continue
          }
        }
        #expect(found == values, "seed \(seed), round \(round)")
      }
    }
  }

  @Test("They keep the rules of every removal", arguments: Engine.allCases, [false, true])
  func rules(_ engine: Engine, isSealed: Bool) throws {
    try withStorage(engine, isSealed: isSealed) { storage in
      let keys = [StorageKey([1]), StorageKey([2]), StorageKey([3])]
      try storage.write { transaction in
        for key in keys { try transaction.put([1, 2, 3], for: key) }
        return .commit(())
      }
      #expect(throws: StorageError.self) {
        try storage.write { transaction in
          try transaction.withValue(for: keys[0]) { _ in try? remove(keys, transaction) }
          return .commit(())
        }
      }
      for bad in [StorageKey([]), StorageKey([UInt8](repeating: 1, count: 5000))] {
        #expect(throws: StorageError.self) {
          try storage.write { transaction in
            try? remove([keys[0], bad, keys[1]], transaction)
            return .commit(())
          }
        }
      }
      #expect(try storage.read { try $0.value(for: keys[0]) } == [1, 2, 3])
      var kept: (any WriteTransaction)?
      try storage.write { transaction in
        kept = transaction
        try remove([], transaction)
        try remove(keys, transaction)
        #expect(try !transaction.contains(keys[1]))
        try transaction.put([4], for: keys[1])
        return .commit(())
      }
      #expect(throws: StorageError.self) { try remove(keys, try #require(kept)) }
      #expect(try storage.read { try $0.value(for: keys[0]) } == nil)
      #expect(try storage.read { try $0.value(for: keys[1]) } == [4])
    }
  }
}

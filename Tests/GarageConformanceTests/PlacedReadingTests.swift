import GarageConformance
import GarageDriver
import GarageSealing
import InsecureSealer
import Testing

/// What records are read with to which an index leads: many keys that stand in one piece of memory.
@Suite("Gets of placed keys")
struct PlacedReadingTests {
  typealias Engine = LookingRemovalTests.Engine

  private func withStorage(
    _ engine: Engine, isSealed: Bool = false, _ body: (any StorageDriver) throws -> Void
  ) throws {
    try LookingRemovalTests.withStorage(engine) { storage in
      try body(isSealed ? SealedStorage(storage, sealer: InsecureTestSealer(key: 5)) : storage)
    }
  }

  private func get(
    _ keys: [StorageKey], _ transaction: any ReadTransaction, _ visit: (Int, [UInt8]?) throws -> Void
  ) throws {
    // They need not stand one behind another.
    var bytes: [UInt8] = [7, 7, 7]
    let places = keys.map { key in
      let start = bytes.count
      bytes += key.bytes + [9]
      return start..<start + key.bytes.count
    }
    try transaction.withPlacedValues(at: places, in: bytes.span.bytes) { index, value in
      if let value { try visit(index, [UInt8](copying: value)) } else { try visit(index, nil) }
    }
  }

  @Test("The engines know a way of their own", arguments: Engine.allCases)
  func isOffered(_ engine: Engine) throws {
    try withStorage(engine) { storage in
      try storage.read { #expect($0 is any PlacedReading) }
      try storage.write { transaction in
        #expect(transaction is any PlacedReading)
        return .commit(())
      }
    }
  }

  @Test("They find what one get after another does", arguments: Engine.allCases, [1, 2, 3, 4])
  func history(_ engine: Engine, seed: UInt64) throws {
    var random = Steps(state: seed)
    // Also such as have a table of their own in SQLite, which the first of them makes.
    let sizes = [0, 1, 16, 150, 300, 980, 5000, 70_000]
    func key() -> StorageKey { StorageKey([UInt8(random.below(4)), UInt8(random.below(60))]) }
    func check(_ values: [StorageKey: [UInt8]], _ transaction: any ReadTransaction, _ depth: Int) throws {
      // Some are missing, and some come twice.
      var keys = (0..<random.below(depth == 0 ? 70 : 30)).map { _ in key() }
      if random.below(2) > 0 { keys.sort() }
      var seen = 0
      try get(keys, transaction) { index, value in
        let isNext = index == seen && value == values[keys[index]]
        try #require(isNext, "seed \(seed), key \(index) of \(keys.count)")
        seen += 1
        if depth < 2, random.below(20) == 0 { try check(values, transaction, depth + 1) }
      }
      #expect(seen == keys.count, "seed \(seed)")
      var owned = 0
      try transaction.withValues(for: keys) { index, value in
        var copy: [UInt8]?
        if let value { copy = [UInt8](copying: value) }
        let isNext = index == owned && copy == values[keys[index]]
        try #require(isNext, "seed \(seed), owned key \(index) of \(keys.count)")
        owned += 1
      }
      #expect(owned == keys.count, "seed \(seed)")
    }
    try withStorage(engine, isSealed: seed == 4) { storage in
      var values: [StorageKey: [UInt8]] = [:]
      for _ in 0..<12 {
        let before = values
        try storage.write { transaction in
          for _ in 0..<random.below(40) {
            let key = key()
            if random.below(4) == 0 {
              try transaction.remove(key)
              values[key] = nil
            } else {
              let isAny = random.below(3) == 0
              let count = sizes[random.below(isAny ? sizes.count : 5)]
              let value = [UInt8](repeating: UInt8(random.below(256)), count: count)
              try transaction.put(value, for: key)
              values[key] = value
            }
          }
          // Of pages that are not written yet.
          try check(values, transaction, 0)
          return random.below(4) > 0 ? .commit(()) : .rollBack(values = before)
        }
        try storage.read { for _ in 0..<3 { try check(values, $0, 0) } }
      }
    }
  }

  @Test("They keep the rules of every get", arguments: Engine.allCases, [false, true])
  func rules(_ engine: Engine, isSealed: Bool) throws {
    struct Mine: Error {}
    try withStorage(engine, isSealed: isSealed) { storage in
      let keys = (0..<40).map { StorageKey([1, UInt8($0)]) }
      try storage.write { transaction in
        for key in keys { try transaction.put(key.bytes, for: key) }
        return .commit(())
      }
      for bad in [StorageKey([]), StorageKey([UInt8](repeating: 1, count: 5000))] {
        for count in [0, 1, 8, 17] {
          // What comes before it is lent, and then it forbids the commit.
          var seen: [Int] = []
          let error = #expect(throws: StorageError.self) {
            try storage.write { transaction in
              let wrong = keys[..<count] + [bad, keys[0]]
              try? get(Array(wrong), transaction) { index, _ in seen.append(index) }
              return .commit(())
            }
          }
          #expect(error?.kind == .invalidKey && seen == Array(0..<count), "\(count)")
          // Nobody comes to it.
          if count == 0 { continue }
          try storage.write { transaction in
            #expect(throws: Mine.self) {
              try get(keys[..<count] + [bad], transaction) { index, _ in
                if index == count - 1 { throw Mine() }
              }
            }
            return .commit(())
          }
        }
      }
      // Nothing is changed while bytes are lent, and everything may be behind it.
      let error = #expect(throws: StorageError.self) {
        try storage.write { transaction in
          try get(keys, transaction) { index, _ in if index == 9 { try? transaction.remove(keys[0]) } }
          return .commit(())
        }
      }
      #expect(error?.kind == .mutationWhileLent)
      var kept: (any ReadTransaction)?
      try storage.write { transaction in
        kept = transaction
        try get([], transaction) { _, _ in }
        try get(keys, transaction) { index, value in #expect(value == keys[index].bytes) }
        try transaction.remove(keys[3])
        try get(keys, transaction) { index, value in #expect(value == (index == 3 ? nil : keys[index].bytes))
        }
        return .commit(())
      }
      for count in [0, 1, 40] {
        let error = #expect(throws: StorageError.self) {
          try get(Array(keys[..<count]), try #require(kept)) { _, _ in }
        }
        #expect(error?.kind == .transactionClosed)
      }
    }
  }
}

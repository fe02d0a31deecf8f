import Foundation
import GarageConformance
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import Testing

/// What a garage counts keys with: what the engine knows without lending them.
@Suite("Counts of ranges")
struct RangeCountingTests {
  private func withStorage(_ engine: String, _ body: (any StorageDriver) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "garage-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let storage: any StorageDriver =
      switch engine {
      case "memory": MemoryStorage()
      case "sqlite": try SQLiteStorage(at: folder.appending(path: "store"))
      default: try LMDBStorage(at: folder)
      }
    try body(storage)
    try storage.close()
  }

  private func scanned(_ range: StorageKeyRange, _ transaction: any ReadTransaction) throws -> Int {
    var count = 0
    try transaction.scanKeys(range, .forward) { _ in
      count += 1
      return .continue
    }
    return count
  }

  @Test("They are what a scan visits", arguments: ["memory", "sqlite", "lmdb"], [1, 2, 3])
  func agreeWithScans(_ engine: String, seed: UInt64) throws {
    var random = Steps(state: seed)
    func key() -> [UInt8] {
      let count = [1, 2, 2, 3, 300, 511][random.below(6)]
      return (0..<count).map {
        $0 < 3 ? [0, 1, 7, 0xFE, 0xFF][random.below(5)] : UInt8(truncatingIfNeeded: $0)
      }
    }
    func range() -> StorageKeyRange {
      switch random.below(6) {
      case 0: .all
      case 1: StorageKeyRange(from: key())
      case 2: StorageKeyRange(to: key())
      case 3: .prefix(Array(key().prefix(2)))
      // Longer than any key.
      case 4: StorageKeyRange(from: key() + [UInt8](repeating: 3, count: 600), to: key())
      // Also such as cross.
      default: StorageKeyRange(from: key(), to: key())
      }
    }
    func check(_ transaction: any ReadTransaction) throws {
      let counting = try #require(transaction as? any RangeCounting)
      for _ in 0..<20 {
        let range = range()
        let (found, expected) = (try counting.count(in: range), try scanned(range, transaction))
        try #require(found == expected, "\(range), seed \(seed)")
      }
    }
    try withStorage(engine) { storage in
      for _ in 0..<25 {
        try storage.write { transaction in
          for _ in 0..<random.below(60) {
            let value = [UInt8](repeating: 1, count: [0, 5, 3000][random.below(3)])
            try transaction.put(value.span.bytes, for: key().span.bytes)
          }
          if random.below(3) == 0 { try transaction.removeAll(in: range()) }
          try check(transaction)
          return .commit(())
        }
        try storage.read { try check($0) }
      }
    }
  }

  @Test("They throw behind a transaction's end", arguments: ["memory", "sqlite", "lmdb"])
  func endWithTheTransaction(_ engine: String) throws {
    try withStorage(engine) { storage in
      var kept: (any RangeCounting)?
      try storage.read { kept = $0 as? any RangeCounting }
      let counting = try #require(kept)
      let error = #expect(throws: StorageError.self) { try counting.count(in: .all) }
      #expect(error?.kind == .transactionClosed)
    }
  }
}

import Foundation
import GarageConformance
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import Testing

/// What a garage deletes objects with: one look for the key, where the driver knows a way.
@Suite("Removals that look")
struct LookingRemovalTests {
  enum Engine: String, CaseIterable {
    case memory, sqlite, lmdb

    func open(in folder: URL) throws -> any StorageDriver {
      switch self {
      case .memory: MemoryStorage()
      case .sqlite: try SQLiteStorage(at: folder.appending(path: "store"))
      case .lmdb: try LMDBStorage(at: folder)
      }
    }
  }

  static func withStorage(_ engine: Engine, _ body: (any StorageDriver) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "garage-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let storage = try engine.open(in: folder)
    try body(storage)
    try storage.close()
  }

  private func remove(_ key: StorageKey, _ transaction: any WriteTransaction) throws -> [UInt8]? {
    let looking = try #require(transaction as? any LookingRemoval)
    return try looking.removeLooking(key.bytes.span.bytes)?.withBytes { [UInt8](copying: $0) }
  }

  @Test("They remove what any removal does, and tell how it began", arguments: Engine.allCases, [1, 2, 3, 4])
  func history(_ engine: Engine, seed: UInt64) throws {
    var random = Steps(state: seed)
    let sizes = [0, 1, 15, 16, 17, 300, 980, 1000, 5000, 200_000]
    let ramp = (0..<200_256).map { UInt8(truncatingIfNeeded: $0) }
    try Self.withStorage(engine) { storage in
      var values: [StorageKey: [UInt8]] = [:]
      for round in 0..<40 {
        let before = values
        try storage.write { transaction in
          for _ in 0..<random.below(60) {
            let key = StorageKey([UInt8(random.below(4)), UInt8(random.below(60))])
            switch random.below(10) {
            case 0..<5:
              let first = random.below(256)
              let value = Array(ramp[first..<first + sizes[random.below(sizes.count)]])
              try transaction.put(value, for: key)
              values[key] = value
            case 5..<9:
              let found = try remove(key, transaction)
              #expect(found == values[key].map { Array($0.prefix(16)) }, "seed \(seed), round \(round)")
              values[key] = nil
            default:
              try transaction.remove(key)
              values[key] = nil
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

  @Test("They keep the rules of every removal", arguments: Engine.allCases)
  func rules(_ engine: Engine) throws {
    try Self.withStorage(engine) { storage in
      let key = StorageKey([1])
      try storage.write { .commit(try $0.put([1, 2, 3], for: key)) }
      #expect(throws: StorageError.self) {
        try storage.write { transaction in
          try transaction.withValue(for: key) { _ in _ = try? remove(key, transaction) }
          return .commit(())
        }
      }
      #expect(throws: StorageError.self) {
        try storage.write { transaction in
          _ = try? remove(StorageKey([]), transaction)
          return .commit(())
        }
      }
      #expect(try storage.read { try $0.value(for: key) } == [1, 2, 3])
      var kept: (any WriteTransaction)?
      try storage.write { transaction in
        kept = transaction
        let found = (
          try remove(key, transaction), try remove(key, transaction), try transaction.contains(key)
        )
        #expect(found == ([1, 2, 3], nil, false))
        return .commit(())
      }
      #expect(throws: StorageError.self) { try remove(key, try #require(kept)) }
      #expect(try storage.read { try $0.value(for: key) } == nil)
    }
  }
}

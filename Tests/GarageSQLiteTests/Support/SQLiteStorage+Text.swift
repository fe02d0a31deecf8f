import GarageDriver
import GarageSQLite

func key(_ text: String) -> StorageKey { StorageKey(Array(text.utf8)) }

func key(_ number: Int) -> StorageKey {
  StorageKey((0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
}

extension SQLiteStorage {
  func put(_ value: [UInt8], _ text: String) throws {
    try write { transaction in
      try transaction.put(value, for: key(text))
      return .commit(())
    }
  }

  func value(_ text: String) throws -> [UInt8]? {
    try read { try $0.value(for: key(text)) }
  }

  func count() throws -> Int {
    try read { transaction in
      var count = 0
      try transaction.scan(.all, .forward) { _, _ in
        count += 1
        return .continue
      }
      return count
    }
  }
}

import Foundation
import GarageDriver
import GarageLMDB
import Testing

extension StorageKey {
  init(_ text: String) { self.init(Array(text.utf8)) }
  init(number: Int) { self.init(withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }) }
}

extension LMDBStorage {
  func put(_ value: [UInt8], _ key: String) throws {
    try write { transaction in
      try transaction.put(value, for: StorageKey(key))
      return .commit(())
    }
  }

  func get(_ key: String) throws -> [UInt8]? {
    try read { transaction in try transaction.value(for: StorageKey(key)) }
  }

  func keys(_ range: StorageKeyRange = .all, _ direction: ScanDirection = .forward) throws -> [[UInt8]] {
    try read { transaction in
      var keys: [[UInt8]] = []
      try transaction.scan(range, direction) { key, _ in
        keys.append([UInt8](copying: key))
        return .continue
      }
      return keys
    }
  }
}

/// What a child process does to make a store larger than others have mapped it.
func growStore(at path: String, _ key: String) throws {
  let storage = try LMDBStorage(at: URL(filePath: path), options: LMDBStorage.Options(mapByteCount: 1 << 30))
  try storage.put([UInt8](repeating: 5, count: 8 << 20), key)
  try storage.close()
}

func fileByteCount(_ folder: URL) throws -> Int {
  let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/data.mdb")
  return try #require(attributes[.size] as? Int)
}

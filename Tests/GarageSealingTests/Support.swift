import Foundation
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageSealing
import InsecureSealer
import Testing

/// The storages that are sealed in these tests.
enum SealedBase: String, CaseIterable, Sendable {
  case memory, sqlite, lmdb
}

/// Where a test keeps its store; it can be opened again, sealed and plain.
final class SealedPlace {
  let base: SealedBase
  let folder: URL
  private let memory = MemoryStorage()

  init(_ base: SealedBase) throws {
    self.base = base
    folder = FileManager.default.temporaryDirectory.appending(path: "garage-sealing-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func plain() throws -> any StorageDriver {
    let path = folder.appending(path: "store")
    return switch base {
    case .memory: MemoryStorage(sharing: memory)
    case .sqlite: try SQLiteStorage(at: path)
    case .lmdb: try LMDBStorage(at: path, options: LMDBStorage.Options(mapByteCount: 1 << 28))
    }
  }

  func sealed(_ sealer: some Sealer = InsecureTestSealer(key: 1), former: [any Sealer] = []) throws
    -> SealedStorage
  {
    try SealedStorage(plain(), sealer: sealer, formerSealers: former)
  }

  /// Every byte of every file of the store.
  func fileBytes() throws -> Data {
    var bytes = Data()
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      if let data = try? Data(contentsOf: file) { bytes += data }
    }
    return bytes
  }
}

extension StorageDriver {
  func put(_ entries: [String: String]) throws {
    try write { transaction in
      for (key, value) in entries.sorted(by: <) {
        try transaction.put(Array(value.utf8), for: StorageKey(Array(key.utf8)))
      }
      return .commit(())
    }
  }

  func put(raw value: [UInt8], for key: String) throws {
    try write { transaction in
      try transaction.put(value, for: StorageKey(Array(key.utf8)))
      return .commit(())
    }
  }

  func raw(_ key: String) throws -> [UInt8]? { try read { try $0.value(for: StorageKey(Array(key.utf8))) } }

  func text(_ key: String) throws -> String? { try raw(key).map { String(decoding: $0, as: UTF8.self) } }

  func entries() throws -> [String: String] {
    try read { transaction in
      var entries: [String: String] = [:]
      try transaction.scan(.all, .forward) { key, value in
        entries[String(decoding: [UInt8](copying: key), as: UTF8.self)] =
          String(decoding: [UInt8](copying: value), as: UTF8.self)
        return .continue
      }
      return entries
    }
  }
}

/// What a body throws as `StorageError`.
func storageError(_ body: () throws -> Void) -> StorageError? {
  do { try body() } catch { return error as? StorageError }
  return nil
}

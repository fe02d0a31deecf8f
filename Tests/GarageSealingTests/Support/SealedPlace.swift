import Foundation
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageSealing
import InsecureSealer

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

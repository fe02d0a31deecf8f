import Foundation
import GarageConformance
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageSealing
import GarageStorage
import InsecureSealer
import Synchronization

@testable import GarageChild

/// Where one test keeps its store, which can be opened again and again.
///
/// The folder goes when the process ends: a place may be released before the garage that works in it.
final class Place {
  let backend: Backend
  let plan = FaultPlan()
  let folder: URL
  /// What is in memory outlives its garages, and can be opened again.
  private let memory = MemoryStorage()

  init(_ backend: Backend) throws {
    self.backend = backend
    folder = FileManager.default.temporaryDirectory.appending(path: "garage-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    Place.folders.withLock { folders in
      if folders.isEmpty { atexit { Place.removeFolders() } }
      folders.append(folder)
    }
  }

  private static let folders = Mutex<[URL]>([])

  private static func removeFolders() {
    folders.withLock { for folder in $0 { try? FileManager.default.removeItem(at: folder) } }
  }

  var storePath: URL { folder.appending(path: "store") }

  /// Opens the storage.
  func open(readOnly: Bool = false) throws -> any StorageDriver {
    let base = try openBase(readOnly: readOnly)
    return switch backend {
    case .memory, .sqlite, .lmdb, .postgres, .postgresOneWriter: base
    case .faultyMemory, .faultySQLite, .faultyLMDB, .faultyPostgres: FaultyStorage(base, plan: plan)
    case .sealedSQLite, .sealedPostgres: try SealedStorage(base, sealer: InsecureTestSealer(key: 7))
    }
  }

  /// Opens the innermost storage, whatever is around it otherwise.
  func openBase(readOnly: Bool = false) throws -> any StorageDriver {
    switch backend {
    case .memory, .faultyMemory: memory
    case .sqlite, .faultySQLite, .sealedSQLite: try sqlite(readOnly)
    case .lmdb, .faultyLMDB: try lmdb(readOnly)
    case .postgres, .faultyPostgres, .sealedPostgres:
      try openStorage("postgres", at: storePath.path, readOnly: readOnly)
    case .postgresOneWriter: try openStorage("postgresOneWriter", at: storePath.path, readOnly: readOnly)
    }
  }

  private func lmdb(_ readOnly: Bool) throws -> LMDBStorage {
    try LMDBStorage(
      at: storePath,
      options: LMDBStorage.Options(mapByteCount: runsLongTests ? 1 << 32 : 1 << 28, isReadOnly: readOnly))
  }

  private func sqlite(_ readOnly: Bool) throws -> SQLiteStorage {
    var options = SQLiteStorage.Options()
    options.isReadOnly = readOnly
    return try SQLiteStorage(at: storePath, options: options)
  }

  func garage(_ types: [any Codable.Type] = [], userInfo: [CodingUserInfoKey: any Sendable] = [:]) throws
    -> Garage
  {
    try Garage(open(), types: types, userInfo: userInfo)
  }

  /// Closes the garage and opens the store again, as the next process would.
  func reopened(_ garage: Garage, _ types: [any Codable.Type] = []) throws -> Garage {
    try garage.close()
    return try self.garage(types)
  }
}

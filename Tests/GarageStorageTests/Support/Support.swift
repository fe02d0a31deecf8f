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
import Testing

/// The storages that every test of the garage runs over.
enum Backend: String, CaseIterable, Sendable {
  case memory, sqlite, lmdb
  /// Stacks: nothing fails in them unless the test says so.
  case faultyMemory, faultySQLite, faultyLMDB
  /// Sealed. Tests that look below the garage look into `open()`, and see the values opened. What the other
  /// drivers do below a seal is the conformance suite's to check.
  case sealedSQLite

  /// Each driver once, and sealed: for tests that take long.
  static let engines: [Backend] = [.memory, .sqlite, .lmdb, .sealedSQLite]
  static let durable: [Backend] = [.sqlite, .lmdb, .faultySQLite, .faultyLMDB, .sealedSQLite]
}

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
    case .memory, .sqlite, .lmdb: base
    case .faultyMemory, .faultySQLite, .faultyLMDB: FaultyStorage(base, plan: plan)
    case .sealedSQLite: try SealedStorage(base, sealer: InsecureTestSealer(key: 7))
    }
  }

  /// Opens the innermost storage, whatever is around it otherwise.
  func openBase(readOnly: Bool = false) throws -> any StorageDriver {
    switch backend {
    case .memory, .faultyMemory: memory
    case .sqlite, .faultySQLite, .sealedSQLite: try sqlite(readOnly)
    case .lmdb, .faultyLMDB: try lmdb(readOnly)
    }
  }

  private func lmdb(_ readOnly: Bool) throws -> LMDBStorage {
    try LMDBStorage(at: storePath, options: LMDBStorage.Options(mapByteCount: 1 << 28, isReadOnly: readOnly))
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

/// What a driver holds, for tests that look below the garage.
enum Driver {
  static func contents(_ driver: any StorageDriver, _ range: StorageKeyRange = .all) throws -> [StorageKey:
    [UInt8]]
  {
    try driver.read { transaction in
      var contents: [StorageKey: [UInt8]] = [:]
      try transaction.scan(range, .forward) { key, value in
        contents[StorageKey(key)] = [UInt8](copying: value)
        return .continue
      }
      return contents
    }
  }

  static func put(_ value: [UInt8], for key: [UInt8], _ driver: any StorageDriver) throws {
    try driver.write { transaction in
      try transaction.put(value, for: StorageKey(key))
      return .commit(())
    }
  }
}

/// A generator whose seed a failing test prints.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    // SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

import Foundation
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

@testable import GarageChild

/// Many who change one key at once.
@Suite(.serialized) struct KeyRaceTests {
  /// A folder for a hundred thousand commits: in memory where the system has such a place, for a disk takes
  /// milliseconds for each.
  private func withFolder(_ body: (URL) throws -> Void) throws {
    let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
    let isThere = FileManager.default.isWritableFile(atPath: memory.path)
    let folder = (isThere ? memory : FileManager.default.temporaryDirectory)
      .appending(path: "garage-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appending(path: "store"))
  }

  /// A storage whose commits do not wait for the disk, where the engine can do without.
  private func relaxed(_ backend: Backend, at url: URL) throws -> any StorageDriver {
    switch backend {
    case .sqlite, .sealedSQLite:
      var options = SQLiteStorage.Options()
      options.durability = .normal
      let storage = try SQLiteStorage(at: url, options: options)
      return backend == .sqlite ? storage : try SealedStorage(storage, sealer: InsecureTestSealer(key: 7))
    case .lmdb:
      return try LMDBStorage(
        at: url, options: LMDBStorage.Options(durability: .normal, mapByteCount: 1 << 28))
    case .postgres, .postgresOneWriter: return try openStorage(backend.rawValue, at: url.path)
    default: return MemoryStorage()
    }
  }

  @Test(arguments: Backend.engines)
  func aHundredThreadsCount(_ backend: Backend) throws {
    // Each is a commit of its own, and on a server some round trips.
    let count = backend.isPostgres ? 20 : runsLongTests ? 1000 : 200
    try withFolder { url throws in
      let garage = try Garage(relaxed(backend, at: url))
      try Threads.run(100) { _ in
        for _ in 0..<count { try garage.update(.launchCount) { $0 += 1 } }
      }
      #expect(try garage.get(.launchCount) == 100 * count)
      try garage.close()
    }
  }

  /// Some threads' changes are saved at once, others' join those that are not.
  @Test(arguments: Backend.allCases)
  func countingWithUnsavedChanges(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try Threads.run(10) { thread in
      for round in 0..<20 {
        if thread % 2 == 0 {
          try garage.update(.launchCount) { $0 += 1 }
        } else {
          try garage.withAutosaveDisabled { _ = try garage.update(.launchCount) { $0 += 1 } }
          if round % 10 == 0 { try garage.save() }
        }
      }
    }
    try garage.save()
    #expect(try garage.get(.launchCount) == 200)
  }

  @Test(arguments: Backend.shared)
  func fourProcessesCountToAHundredThousand(_ backend: Backend) throws {
    let count = backend.isPostgres ? 500 : 25_000
    try withFolder { url throws in
      let garage = try Garage(relaxed(backend, at: url))
      let children = try (0..<4).map { _ in try Child("count-key", backend.rawValue, url.path, "\(count)") }
      for child in children { #expect(try child.firstLine().hasPrefix("ready=")) }
      for child in children { try child.send("go") }
      for child in children { #expect(try child.wait()["counted"] == "\(count)") }
      #expect(try garage.get(Key<GlobalNamespace, Int>(id: "count", defaultValue: 0)) == 4 * count)
      try garage.close()
    }
  }
}

import Foundation
import GarageDriver
import GarageLMDB
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What happens where there is no more room: in the map, in the table of readers, on the disk.
@Suite struct OutOfRoomTests {
  @Test func aFullMapLosesOneTransactionOnly() throws {
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder, options: LMDBStorage.Options(mapByteCount: 1 << 20))
      try storage.put([1], "first")
      for large in [true, false] {
        let error = storageError {
          try storage.write { transaction in
            for number in 0..<(large ? 1 : 100_000) {
              let value = [UInt8](repeating: 1, count: large ? 2 << 20 : 300)
              try transaction.put(value, for: StorageKey(number: number))
            }
            return .commit(())
          }
        }
        #expect(error?.kind == .storageFull)
        #expect(error?.operation == .put)
        #expect(error?.message.contains("mapByteCount") == true)
        #expect(try storage.keys().count == (large ? 1 : 2))
        try storage.put([2], "second \(large)")
      }
      // Swallowing the error does not save the transaction.
      let swallowed = storageError {
        try storage.write { transaction in
          try transaction.put([3], for: StorageKey("lost"))
          try? transaction.put([UInt8](repeating: 1, count: 2 << 20), for: StorageKey("large"))
          return .commit(())
        }
      }
      #expect(swallowed?.kind == .storageFull)
      #expect(try storage.get("lost") == nil)
      try storage.close()

      let larger = try LMDBStorage(at: folder, options: LMDBStorage.Options(mapByteCount: 16 << 20))
      #expect(try larger.keys().count == 3)
      try larger.put([UInt8](repeating: 1, count: 2 << 20), "large")
      try larger.close()
      // A map smaller than the store is made as large as the store.
      let smaller = try LMDBStorage(at: folder, options: LMDBStorage.Options(mapByteCount: 1))
      #expect(try smaller.get("large")?.count == 2 << 20)
      try smaller.close()
    }
  }

  @Test func aFullMapCanBeEmptied() throws {
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder, options: LMDBStorage.Options(mapByteCount: 1 << 20))
      var count = 0
      var full: StorageError?
      while full == nil && count < 10_000 {
        do {
          try storage.put([UInt8](repeating: 1, count: 2000), "\(count)")
          count += 1
        } catch let error as StorageError {
          full = error
        }
      }
      #expect(full?.kind == .storageFull)
      #expect(try storage.keys().count == count)
      // Removing needs a few pages itself. Those that a commit frees serve the commit after the next.
      var removed = 0
      for number in 0..<count where removed < 100 {
        let done: Void? = try? storage.write { transaction in
          try transaction.remove(StorageKey("\(number)"))
          return .commit(())
        }
        if done != nil { removed += 1 }
      }
      #expect(removed > 0)
      try storage.put([1], "again")
      #expect(try storage.keys().count == count - removed + 1)
      try storage.close()
    }
  }

  @Test func theTableOfReadersHasAnEnd() throws {
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder, options: LMDBStorage.Options(maximumReaderCount: 4))
      try storage.put([1], "k")
      func nest(_ depth: Int) throws -> Int {
        try storage.read { transaction in
          #expect(try transaction.value(for: StorageKey("k")) == [1])
          return try nest(depth + 1)
        }
      }
      for _ in 0..<3 {
        let error = storageError { try nest(0) }
        #expect(error?.kind == .readersFull)
        #expect(error?.message.contains("maximumReaderCount") == true)
      }
      #expect(try storage.get("k") == [1])
      try storage.close()
    }
  }

  @Test func readsNestToSixtyFour() throws {
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      var deepest = 0
      func nest(_ depth: Int) throws {
        try storage.read { _ in
          deepest = depth
          try nest(depth + 1)
        }
      }
      #expect(storageError { try nest(1) }?.kind == .readersFull)
      #expect(deepest == 64)
      try storage.close()
    }
  }

  // MARK: - A full disk

  @Test(.enabled(if: TinyDisk.isPossible, "needs the right to mount a file system"))
  func aFullDiskLosesOneTransactionOnly() throws {
    let disk = try TinyDisk(byteCount: 2 << 20)
    defer { disk.remove() }
    for durability in LMDBStorage.Options.Durability.allCases {
      let place = disk.folder.appending(path: "\(durability)")
      let storage = try LMDBStorage(at: place, options: LMDBStorage.Options(durability: durability))
      try storage.put([1], "first")
      var kept = 0
      var full: StorageError?
      for number in 0..<100 where full == nil {
        do {
          try storage.put([UInt8](repeating: 1, count: 50_000), "\(number)")
          kept += 1
        } catch let error as StorageError {
          full = error
        }
      }
      #expect(full?.kind == .storageFull)
      #expect(kept > 0)
      #expect(try storage.keys().count == kept + 1)
      #expect(try storage.get("first") == [1])

      // Nothing new can be created here, and that is an error and no crash.
      let second = disk.folder.appending(path: "second")
      #expect(storageError { try LMDBStorage(at: second) }?.kind == .storageFull)
      // What is there opens nevertheless.
      try storage.close()
      let again = try LMDBStorage(at: place)
      #expect(try again.keys().count == kept + 1)
      try again.write { transaction in
        try transaction.remove(StorageKey("0"))
        return .commit(())
      }
      try again.put([2], "after")
      #expect(try again.get("after") == [2])
      try again.close()
      try FileManager.default.removeItem(at: place)
      // With room again, what could not be created can.
      let created = try LMDBStorage(at: second)
      try created.put([1], "k")
      try created.close()
      try FileManager.default.removeItem(at: second)
    }
  }
}

/// A file system of a few pages, in memory.
struct TinyDisk {
  let folder: URL

  static let isPossible: Bool = {
    guard geteuid() == 0, let disk = try? TinyDisk(byteCount: 1 << 20) else { return false }
    disk.remove()
    return true
  }()

  init(byteCount: Int) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "garage-disk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    do {
      try Self.run("mount", ["-t", "tmpfs", "-o", "size=\(byteCount)", "tmpfs", folder.path])
    } catch {
      try? FileManager.default.removeItem(at: folder)
      throw error
    }
  }

  func remove() {
    try? Self.run("umount", [folder.path])
    try? FileManager.default.removeItem(at: folder)
  }

  private static func run(_ name: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [name] + arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw POSIXError(.EPERM) }
  }
}

import CLMDB
import Foundation
import GarageDriver
import GarageLMDB
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Files that end too early. Reading a mapped page behind the end of its file ends the process, so what is
/// not noticed here would end the tests.
@Suite struct CutFileTests {
  /// A store with small values, values of several pages, and freed pages in between.
  private func fill(_ folder: URL) throws {
    let storage = try LMDBStorage(at: folder)
    for round in 0..<4 {
      try storage.write { transaction in
        for number in 0..<200 where number % 4 != round {
          let count = number % 10 == 0 ? 20_000 : 100
          let value = [UInt8](repeating: UInt8(number), count: count)
          try transaction.put(value, for: StorageKey(number: number * 7 + round))
        }
        return .commit(())
      }
    }
    try storage.close()
  }

  private func content(of storage: LMDBStorage) throws -> [StorageKey: [UInt8]] {
    try storage.read { transaction in
      var content: [StorageKey: [UInt8]] = [:]
      try transaction.scan(.all, .forward) { key, value in
        content[StorageKey(key)] = [UInt8](copying: value)
        return .continue
      }
      return content
    }
  }

  @Test func noticesACutFile() throws {
    try withTemporaryFolder { folder in
      try fill(folder)
      let storage = try LMDBStorage(at: folder)
      let expected = try content(of: storage)
      try storage.close()
      let file = folder.appending(path: "data.mdb")
      let data = try Data(contentsOf: file)
      var cuts = Array(stride(from: 4096, to: data.count, by: 4096))
      cuts += [1, 100, 4095, 4097, 8191, 8193, data.count - 1, data.count - 4095]
      var opened = 0
      for cut in cuts {
        try data.prefix(cut).write(to: file)
        do {
          // Where only free pages were cut off, the store is whole.
          let storage = try LMDBStorage(at: folder)
          #expect(try content(of: storage) == expected, "cut at \(cut)")
          try storage.put([1], "after")
          try storage.close()
          opened += 1
        } catch let error as StorageError {
          #expect([.corrupt, .notAStorage].contains(error.kind), "cut at \(cut): \(error)")
        }
      }
      #expect(opened < cuts.count / 10)
      try data.write(to: file)
      let again = try LMDBStorage(at: folder)
      #expect(try content(of: again) == expected)
      try again.close()
    }
  }

  /// However little is left of the file, it is a damaged store, and not somebody else's.
  @Test(arguments: [1, 2, 8, 11, 16, 20, 50, 100, 151, 152, 4095])
  func aFileOfFewBytesIsDamaged(_ count: Int) throws {
    try withTemporaryFolder { folder in
      try fill(folder)
      let file = folder.appending(path: "data.mdb")
      let data = try Data(contentsOf: file)
      try data.prefix(count).write(to: file)
      for isReadOnly in [false, true] {
        let error = storageError {
          try LMDBStorage(at: folder, options: LMDBStorage.Options(isReadOnly: isReadOnly))
        }
        #expect(error?.kind == .corrupt, "\(count) bytes: \(String(describing: error))")
        #expect(error?.message.contains("cut") == true)
      }
      #expect(try Data(contentsOf: file) == data.prefix(count))
    }
  }

  @Test(arguments: ["x", "text of another program", String(repeating: "long ", count: 100)])
  func aShortFileOfAnotherKindIsNoStore(_ text: String) throws {
    try withTemporaryFolder { folder in
      try Data(text.utf8).write(to: folder.appending(path: "data.mdb"))
      #expect(storageError { try LMDBStorage(at: folder) }?.kind == .notAStorage)
    }
  }

  @Test func opensAFileThatEndsWithPagesNeverWritten() throws {
    try withTemporaryFolder { folder in
      try fill(folder)
      let storage = try LMDBStorage(at: folder)
      try storage.write { transaction in
        try transaction.put([UInt8](repeating: 1, count: 3 << 20), for: StorageKey("gone"))
        try transaction.remove(StorageKey("gone"))
        try transaction.put([1], for: StorageKey("kept"))
        return .commit(())
      }
      let expected = try content(of: storage)
      try storage.close()

      // LMDB counts the pages that it took and gave back, and never wrote.
      let foreign = try ForeignEnvironment(at: folder)
      var environment = MDB_envinfo()
      mdb_env_info(foreign.env, &environment)
      foreign.close()
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/data.mdb")
      let byteCount = try #require(attributes[.size] as? Int)
      try #require(byteCount < (environment.me_last_pgno + 1) * 4096, "the test made no short file")

      let again = try LMDBStorage(at: folder)
      #expect(try content(of: again) == expected)
      try again.put([UInt8](repeating: 2, count: 4 << 20), "large")
      #expect(try again.get("large")?.count == 4 << 20)
      try again.close()
    }
  }

  @Test func beginsAgainWhereCreationWasInterrupted() throws {
    try withTemporaryFolder { folder in
      try ForeignEnvironment(at: folder).close()
      let file = folder.appending(path: "data.mdb")
      let first = try Data(contentsOf: file).prefix(4096)
      try first.write(to: file)
      let readOnly = LMDBStorage.Options(isReadOnly: true)
      #expect(storageError { try LMDBStorage(at: folder, options: readOnly) }?.kind == .notAStorage)
      let storage = try LMDBStorage(at: folder)
      try storage.put([1], "k")
      #expect(try storage.get("k") == [1])
      try storage.close()
    }
  }
}

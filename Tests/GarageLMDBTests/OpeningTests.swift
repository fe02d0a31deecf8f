import CLMDB
import Foundation
import GarageDriver
import GarageLMDB
import Testing

/// A store is made or opened where there is none or one, and everything else is refused and left alone.
@Suite struct OpeningTests {
  @Test func createsMissingFolders() throws {
    try withTemporaryFolder { folder in
      let place = folder.appending(path: "a/b/c")
      let storage = try LMDBStorage(at: place)
      try storage.put([1, 2], "k")
      try storage.close()
      let again = try LMDBStorage(at: place)
      #expect(try again.get("k") == [1, 2])
      try again.close()
    }
  }

  @Test func statesItsLimits() throws {
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      #expect(storage.info.name == "LMDB")
      #expect(storage.info.maximumKeyByteCount == 511)
      #expect(storage.info.maximumValueByteCount == 1 << 30)
      #expect(storage.info.isDurable && storage.info.readsDuringWrite && storage.info.isSharedAcrossProcesses)
      #expect(!storage.info.isReadOnly && !storage.info.roundTripsAreExpensive)
      // Never touched, so it costs no memory.
      let count = (1 << 30) + 1
      let large = try #require(calloc(count, 1))
      defer { free(large) }
      let error = storageError {
        try storage.write { transaction in
          try transaction.put(UnsafeRawBufferPointer(start: large, count: count).bytes, for: [1].span.bytes)
          return .commit(())
        }
      }
      #expect(error?.kind == .valueTooLarge)
      try storage.close()
    }
  }

  /// Whatever the numbers, they are taken as far as they can be meant, or refused with an error.
  @Test(arguments: [Int.max, Int.max - 1, Int.max >> 1, 1 << 49, 0, -1, Int.min])
  func opensWithAnyOptions(number: Int) throws {
    try withTemporaryFolder { folder in
      let mapping = LMDBStorage.Options(mapByteCount: number)
      if number > 0 {
        #expect(storageError { try LMDBStorage(at: folder, options: mapping) } != nil)
        // Nothing of the number is left in the store.
        try LMDBStorage(at: folder).put([1], "k")
      } else {
        try LMDBStorage(at: folder, options: mapping).put([1], "k")
      }
    }
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder, options: LMDBStorage.Options(maximumReaderCount: number))
      try storage.put([1], "k")
      #expect(try storage.get("k") == [1])
      try storage.close()
    }
  }

  @Test func refusesAFile() throws {
    try withTemporaryFolder { folder in
      let file = folder.appending(path: "file")
      try Data("text".utf8).write(to: file)
      #expect(storageError { try LMDBStorage(at: file) }?.kind == .notAStorage)
      #expect(storageError { try LMDBStorage(at: file.appending(path: "below")) }?.kind == .notFound)
      #expect(
        storageError { try LMDBStorage(at: URL(string: "https://example.org/store")!) }?.kind == .notFound)
      #expect(try Data(contentsOf: file) == Data("text".utf8))
    }
  }

  @Test func refusesAFolderInPlaceOfAFile() throws {
    try withTemporaryFolder { folder in
      let file = folder.appending(path: "data.mdb")
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
      for options in [LMDBStorage.Options(), LMDBStorage.Options(isReadOnly: true)] {
        let error = storageError { try LMDBStorage(at: folder, options: options) }
        #expect(error?.kind == .notAStorage)
        #expect(error?.message.contains("data.mdb") == true)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["data.mdb"])
    }
  }

  @Test(arguments: [1, 100, 151, 152, 5000, 100_000])
  func refusesADataFileOfAnotherKind(byteCount: Int) throws {
    try withTemporaryFolder { folder in
      let text = Data(String(repeating: "dear diary, ", count: byteCount / 12 + 1).utf8.prefix(byteCount))
      try text.write(to: folder.appending(path: "data.mdb"))
      for options in [LMDBStorage.Options(), LMDBStorage.Options(isReadOnly: true)] {
        let error = storageError { try LMDBStorage(at: folder, options: options) }
        #expect(error?.kind == .notAStorage)
        #expect(error?.message.contains(folder.path) == true)
      }
      #expect(try Data(contentsOf: folder.appending(path: "data.mdb")) == text)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["data.mdb"])
    }
  }

  @Test(
    "A store whose first pages did not all reach the disk is begun anew",
    arguments: [[0], [1], [0, 1]], [0, 512, 4096])
  func endedMaking(missingPages: [Int], missingByteCount: Int) throws {
    try withTemporaryFolder { folder in
      let foreign = try ForeignEnvironment(at: folder)
      foreign.close()
      let file = folder.appending(path: "data.mdb")
      let pageByteCount = Int(getpagesize())
      var content = try Data(contentsOf: file)
      try #require(content.count == 2 * pageByteCount)
      for page in missingPages {
        content.replaceSubrange(
          page * pageByteCount..<(page + 1) * pageByteCount, with: Data(count: pageByteCount))
      }
      content.removeLast(missingByteCount)
      try content.write(to: file)
      let readOnly = LMDBStorage.Options(isReadOnly: true)
      #expect(storageError { try LMDBStorage(at: folder, options: readOnly) }?.kind == .notAStorage)
      #expect(try Data(contentsOf: file) == content)
      let storage = try LMDBStorage(at: folder)
      try storage.put([1], "k")
      try storage.close()
      let again = try LMDBStorage(at: folder)
      #expect(try again.get("k") == [1])
      try again.close()
    }
  }

  @Test("Nothing is begun anew where something was committed, or where there are other bytes")
  func notEndedMaking() throws {
    let pageByteCount = Int(getpagesize())
    func refuses(_ content: Data, _ kind: StorageError.Kind) throws {
      try withTemporaryFolder { folder in
        let file = folder.appending(path: "data.mdb")
        try content.write(to: file)
        #expect(storageError { try LMDBStorage(at: folder) }?.kind == kind)
        #expect(try Data(contentsOf: file) == content)
      }
    }
    // One byte among zeros.
    var zeros = Data(count: 2 * pageByteCount)
    zeros[2 * pageByteCount - 1] = 1
    try refuses(zeros, .notAStorage)
    try refuses(Data(count: 2 * pageByteCount + 1), .notAStorage)
    // What is left of a store with a commit.
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      try storage.put([1], "k")
      try storage.close()
      let first = try Data(contentsOf: folder.appending(path: "data.mdb")).prefix(2 * pageByteCount)
      try refuses(Data(count: pageByteCount) + first.suffix(pageByteCount), .notAStorage)
    }
  }

  @Test func refusesTheStoreOfAnotherProgram() throws {
    try withTemporaryFolder { folder in
      let foreign = try ForeignEnvironment(at: folder)
      try foreign.write { txn, main in try ForeignEnvironment.put(txn, main, [1], [2]) }
      foreign.close()
      let before = try Data(contentsOf: folder.appending(path: "data.mdb"))
      #expect(storageError { try LMDBStorage(at: folder) }?.kind == .notAStorage)
      #expect(try Data(contentsOf: folder.appending(path: "data.mdb")) == before)
    }
  }

  @Test func refusesAMarkerThatIsNotOurs() throws {
    try withTemporaryFolder { folder in
      let foreign = try ForeignEnvironment(at: folder)
      try foreign.write { txn, main in
        try ForeignEnvironment.put(txn, main, Array("garage.format".utf8), Array("something else".utf8))
      }
      foreign.close()
      #expect(storageError { try LMDBStorage(at: folder) }?.kind == .notAStorage)
    }
  }

  @Test func takesAnEmptyEnvironment() throws {
    try withTemporaryFolder { folder in
      try ForeignEnvironment(at: folder).close()
      let readOnly = LMDBStorage.Options(isReadOnly: true)
      #expect(storageError { try LMDBStorage(at: folder, options: readOnly) }?.kind == .notAStorage)
      let storage = try LMDBStorage(at: folder)
      try storage.put([1], "k")
      #expect(try storage.get("k") == [1])
      try storage.close()
    }
  }

  @Test func refusesANewerFormat() throws {
    try withTemporaryFolder { folder in
      try LMDBStorage(at: folder).close()
      let foreign = try ForeignEnvironment(at: folder)
      try foreign.write { txn, main in
        try ForeignEnvironment.put(
          txn, main, Array("garage.format".utf8), Array("Garage\r\n".utf8) + [2, 0, 0, 0, 9])
      }
      foreign.close()
      let error = storageError { try LMDBStorage(at: folder) }
      #expect(error?.kind == .newerFormat)
      #expect(error?.message.contains("format 2") == true)
    }
  }

  @Test func refusesANewerVersionOfLMDB() throws {
    try withTemporaryFolder { folder in
      try LMDBStorage(at: folder).close()
      let file = folder.appending(path: "data.mdb")
      var data = try Data(contentsOf: file)
      data[20] = 2
      try data.write(to: file)
      #expect(storageError { try LMDBStorage(at: folder) }?.kind == .newerFormat)
    }
  }

  @Test func opensReadOnly() throws {
    try withTemporaryFolder { folder in
      let options = LMDBStorage.Options(isReadOnly: true)
      let missing = folder.appending(path: "missing")
      #expect(storageError { try LMDBStorage(at: missing, options: options) }?.kind == .notFound)
      #expect(storageError { try LMDBStorage(at: folder, options: options) }?.kind == .notFound)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])

      let writer = try LMDBStorage(at: folder)
      try writer.put([1], "k")
      try writer.close()
      let reader = try LMDBStorage(at: folder, options: options)
      #expect(reader.info.isReadOnly)
      #expect(try reader.get("k") == [1])
      #expect(storageError { try reader.put([2], "k") }?.kind == .readOnly)
      // A storage that writes may join in the same process, and is seen.
      let second = try LMDBStorage(at: folder)
      try second.put([3], "k")
      #expect(try reader.get("k") == [3])
      try second.close()
      #expect(try reader.get("k") == [3])
      try reader.close()
    }
  }

  @Test func reportsMissingPermission() async throws {
    try await withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      try storage.put([1], "k")
      try storage.close()
      let data = folder.appending(path: "data.mdb").path
      // Nobody else may write the file, nor add to the folder; then not even look into it.
      try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: data)
      try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        if geteuid() == 0 { try #require(seteuid(65534) == 0) }
        let folder = URL(filePath: path)
        #expect(storageError { try LMDBStorage(at: folder) }?.kind == .permissionDenied)
        let below = folder.appending(path: "below")
        #expect(storageError { try LMDBStorage(at: below) }?.kind == .permissionDenied)
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o000], ofItemAtPath: folder.path)
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        if geteuid() == 0 { try #require(seteuid(65534) == 0) }
        for options in [LMDBStorage.Options(), LMDBStorage.Options(isReadOnly: true)] {
          let error = storageError { try LMDBStorage(at: URL(filePath: path), options: options) }
          #expect(error?.kind == .permissionDenied)
        }
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: data)
      let again = try LMDBStorage(at: folder)
      #expect(try again.get("k") == [1])
      try again.close()
    }
  }

  @Test func opensByName() async throws {
    for name in ["", ".", "..", "a/b", "a\0b"] {
      #expect(storageError { try LMDBStorage(named: name) }?.kind == .notFound)
    }
    #if !canImport(Darwin)
      try await withTemporaryFolder { folder in
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
          setenv("XDG_DATA_HOME", path + "/data", 1)
          let storage = try LMDBStorage(named: "MyGarage")
          try storage.put([7], "k")
          try storage.close()
          let again = try LMDBStorage(at: URL(filePath: path + "/data/MyGarage"))
          #expect(try again.get("k") == [7])
          try again.close()
        }
      }
    #endif
  }
}

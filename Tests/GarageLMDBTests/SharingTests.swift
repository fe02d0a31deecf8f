import CLMDB
import Foundation
import GarageDriver
import GarageLMDB
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Several storages on one folder: in one process, where they must share LMDB's environment, and in several.
@Suite struct SharingTests {
  @Test func storagesOfOneProcessShareTheStore() throws {
    try withTemporaryFolder { folder in
      let place = folder.appending(path: "store")
      let first = try LMDBStorage(at: place)
      let link = folder.appending(path: "link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place)
      let second = try LMDBStorage(at: link)

      try first.put([1], "k")
      #expect(try second.get("k") == [1])
      try second.put([2], "k")
      #expect(try first.get("k") == [2])
      try first.write { transaction in
        try transaction.put([3], for: StorageKey("k"))
        #expect(try second.get("k") == [2])
        #expect(storageError { try second.put([4], "k") }?.kind == .nestedWrite)
        return .commit(())
      }
      #expect(try second.get("k") == [3])

      try first.read { transaction in
        try second.put([5], "k")
        #expect(try transaction.value(for: StorageKey("k")) == [3])
        // What closes is the value, not the environment.
        try second.close()
        #expect(try transaction.value(for: StorageKey("k")) == [3])
      }
      #expect(storageError { try second.get("k") }?.kind == .closed)
      #expect(try first.get("k") == [5])
      let third = try LMDBStorage(at: link)
      try first.close()
      #expect(try third.get("k") == [5])
      try third.close()
      try third.close()
    }
  }

  @Test func aStorageThatIsDroppedLetsGoOfTheStore() throws {
    try withTemporaryFolder { folder in
      for round in 0..<20 {
        let storage = try LMDBStorage(at: folder)
        try storage.put([UInt8(round)], "k")
      }
      // No environment is open any more: a second one on the same lock file would drop the locks of both.
      let foreign = try ForeignEnvironment(at: folder)
      var dead: Int32 = -1
      try check(mdb_reader_check(foreign.env, &dead))
      #expect(dead == 0)
      foreign.close()
      let storage = try LMDBStorage(at: folder)
      #expect(try storage.get("k") == [19])
      try storage.close()
    }
  }

  @Test func aFolderMadeAnewIsAnotherStore() throws {
    try withTemporaryFolder { folder in
      let place = folder.appending(path: "store")
      let old = try LMDBStorage(at: place)
      try old.put([1], "k")
      try FileManager.default.removeItem(at: place)
      let new = try LMDBStorage(at: place)
      #expect(try new.get("k") == nil)
      #expect(try old.get("k") == [1])
      try old.close()
      try new.put([2], "k")
      try new.close()
    }
  }

  /// What would be lost without a word is refused.
  @Test(arguments: ["folder", "file", "replaced"])
  func aCommitToADeletedStoreIsRefused(_ what: String) throws {
    try withTemporaryFolder { folder in
      let place = folder.appending(path: "store")
      let data = place.appending(path: "data.mdb")
      let old = try LMDBStorage(at: place)
      try old.put([1], "k")
      switch what {
      case "folder": try FileManager.default.removeItem(at: place)
      case "file": try FileManager.default.removeItem(at: data)
      default:
        let other = folder.appending(path: "other")
        try Data(contentsOf: data).write(to: other)
        try #require(rename(other.path, data.path) == 0)
      }
      for _ in 0..<2 {
        let error = storageError { try old.put([2], "k") }
        #expect(error?.kind == .notFound, "\(String(describing: error))")
        #expect(error?.message.contains(place.path) == true)
      }
      // Also where it goes in the middle of a write; reads go on on what is open.
      #expect(try old.get("k") == [1])
      try old.close()
      let new = try LMDBStorage(at: place)
      let error = storageError {
        try new.write { transaction in
          try transaction.put([3], for: StorageKey("k"))
          try FileManager.default.removeItem(at: place)
          return .commit(())
        }
      }
      #expect(error?.kind == .notFound)
      try new.close()
    }
  }

  @Test func aFolderThatWasMovedIsTheSameStore() throws {
    try withTemporaryFolder { folder in
      let (place, moved) = (folder.appending(path: "store"), folder.appending(path: "moved"))
      let storage = try LMDBStorage(at: place)
      try storage.put([1], "k")
      try FileManager.default.moveItem(at: place, to: moved)
      try storage.put([2], "k")
      #expect(try storage.integrityComplaints() == [])
      // What has taken its place is none of its business.
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
      try Data("text".utf8).write(to: place.appending(path: "data.mdb"))
      #expect(try storage.integrityComplaints() == [])
      try storage.close()
      let again = try LMDBStorage(at: moved)
      #expect(try again.get("k") == [2])
      try again.close()
    }
  }

  #if os(Linux)
    /// As in two containers that share a store, but not the numbers of their processes.
    @Test func aProcessOfTheSameNumberIsNamed() throws {
      try withTemporaryFolder { folder in
        let storage = try LMDBStorage(at: folder)
        try storage.put([1], "k")
        try storage.close()
        let file = open(folder.path + "/lock.mdb", O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        var region = flock()
        region.l_type = Int16(F_WRLCK)
        region.l_whence = Int16(SEEK_SET)
        region.l_start = off_t(getpid())
        region.l_len = 1
        // F_OFD_SETLK: a lock that belongs to the open file, and not to the process.
        try #require(fcntl(file, 37, &region) == 0)
        let error = storageError { try LMDBStorage(at: folder) }
        #expect(error?.kind == .busy)
        #expect(error?.message.contains("\(getpid())") == true)
        _ = close(file)
        let again = try LMDBStorage(at: folder)
        #expect(try again.get("k") == [1])
        try again.close()
      }
    }
  #endif

  @Test func openingAndClosingRaceWithoutLoss() throws {
    try withTemporaryFolder { folder in
      let rounds = 60
      let failures = Mutex<[String]>([])
      let threads = (0..<4).map { number in
        startThread {
          for round in 0..<rounds {
            do {
              let storage = try LMDBStorage(at: folder)
              try storage.put([1], "\(number)-\(round)")
              let count = try storage.keys(.prefix(Array("\(number)-".utf8))).count
              if count != round + 1 { failures.withLock { $0.append("\(number): \(count) of \(round + 1)") } }
              if round % 2 == 0 { try storage.close() }
            } catch {
              failures.withLock { $0.append("\(number): \(error)") }
            }
          }
        }
      }
      for thread in threads { thread.wait() }
      #expect(failures.withLock { $0 } == [])
      let storage = try LMDBStorage(at: folder)
      #expect(try storage.keys().count == 4 * rounds)
      try storage.close()
    }
  }

  @Test func aKeptTransactionIsNotUsedForTheNextReader() throws {
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      try storage.put([1], "k")
      var kept: [any ReadTransaction] = []
      for _ in 0..<5 {
        try storage.read { transaction in kept.append(transaction) }
        try storage.read { transaction in
          for old in kept {
            #expect(old !== transaction)
            #expect(storageError { try old.value(for: StorageKey("k")) }?.kind == .transactionClosed)
          }
          let value = try transaction.value(for: StorageKey("k"))
          #expect(value == [1])
        }
      }
      try storage.close()
      for old in kept {
        #expect(storageError { try old.value(for: StorageKey("k")) }?.kind == .transactionClosed)
      }
    }
  }

  @Test func readersOfManyThreadsAreServed() throws {
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      try storage.put([0], "k")
      let wrong = Atomic<Int>(0)
      let threads = (0..<100).map { _ in
        startThread {
          for _ in 0..<20 {
            let count = try? storage.read { transaction in
              let before = try transaction.value(for: StorageKey("k"))
              let nested = try storage.get("k")
              let after = try transaction.value(for: StorageKey("k"))
              return before == after && nested != nil ? 1 : 0
            }
            if count != 1 { wrong.wrappingAdd(1, ordering: .relaxed) }
          }
        }
      }
      for number in 1..<50 { try storage.put([UInt8(number)], "k") }
      for thread in threads { thread.wait() }
      #expect(wrong.load(ordering: .relaxed) == 0)
      try storage.close()
    }
  }

  // MARK: - Several processes

  @Test func processesThatOpenAndCloseAtOnceGetInNobodysWay() async throws {
    try await withTemporaryFolder { folder in
      let place = folder.appending(path: "store")
      // The first creates the store, under the eyes of the others. The last to close one takes down LMDB's
      // locks, maybe just when another has found them.
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<4 {
          group.addTask {
            await #expect(processExitsWith: .success) {
              [path = place.path as String, number = number as Int] in
              for round in 0..<100 {
                let storage = try LMDBStorage(at: URL(filePath: path))
                try storage.put([1], "\(number)-\(round)")
                try storage.close()
              }
            }
          }
        }
      }
      let storage = try LMDBStorage(at: place)
      #expect(try storage.keys().count == 400)
      try storage.close()
    }
  }

  @Test func followsAStoreThatAnotherProcessMadeLarger() async throws {
    try await withTemporaryFolder { folder in
      let small = LMDBStorage.Options(mapByteCount: 1 << 20)
      let storage = try LMDBStorage(at: folder, options: small)
      try storage.put([1], "k")
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        try growStore(at: path, "first")
      }
      // Reads and writes both meet the larger store first, one after the other.
      #expect(try storage.get("first")?.count == 8 << 20)
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        try growStore(at: path, "second")
      }
      try storage.put([2], "k")
      #expect(try storage.get("second")?.count == 8 << 20)
      try storage.put([UInt8](repeating: 9, count: 4 << 20), "own")
      #expect(try storage.get("own")?.count == 4 << 20)
      try storage.close()
    }
  }

  @Test func waitsForItsOwnReadersBeforeItMapsAnew() async throws {
    try await withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder, options: LMDBStorage.Options(mapByteCount: 1 << 20))
      try storage.put([1], "k")
      let isReading = DispatchSemaphore(value: 0)
      let mayEnd = DispatchSemaphore(value: 0)
      let seen = Mutex<[[UInt8]?]>([])
      let nested = Mutex<[StorageError?]>([])
      let reader = startThread {
        try? storage.read { transaction in
          isReading.signal()
          mayEnd.wait()
          // The old map is still there, and this thread is not made to wait for itself.
          let value = try transaction.value(for: StorageKey("k"))
          seen.withLock { $0.append(value) }
          let errors = [
            storageError { try storage.get("k") }, storageError { try storage.put([3], "k") },
          ]
          nested.withLock { $0 = errors }
        }
      }
      await isReading.waitOffThread()
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        try growStore(at: path, "grown")
      }
      let others = (0..<6).map { number in
        startThread {
          if number % 2 == 0 {
            let value = try? storage.get("grown")
            seen.withLock { $0.append(value.map { [UInt8($0.count >> 20)] }) }
          } else {
            try? storage.put([UInt8(number)], "number \(number)")
          }
        }
      }
      mayEnd.signal()
      reader.wait()
      for thread in others { thread.wait() }
      #expect(seen.withLock { $0.filter { $0 == [8] }.count } == 3)
      #expect(seen.withLock { $0.filter { $0 == [1] }.count } == 1)
      for error in nested.withLock({ $0 }) {
        #expect(error?.kind == .conflict)
        #expect(error?.isRetryable == true)
      }
      #expect(try storage.keys(.prefix(Array("number".utf8))).count == 3)
      #expect(try storage.get("k") == [1])
      try storage.close()
    }
  }

  @Test func aKilledReaderLosesItsSlot() async throws {
    try await withTemporaryFolder { folder in
      let options = LMDBStorage.Options(maximumReaderCount: 3)
      let storage = try LMDBStorage(at: folder, options: options)
      try storage.put([1], "k")
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
        let storage = try LMDBStorage(at: URL(filePath: path))
        try storage.read { _ in
          try storage.read { _ in _ = kill(getpid(), SIGKILL) }
        }
      }
      // This process holds one of the three slots; the dead one's two are found where they are missed.
      try storage.read { _ in
        try storage.read { _ in
          let value = try storage.get("k")
          #expect(value == [1])
        }
      }
      try storage.close()
    }
  }

  @Test func aKilledReaderDoesNotMakeTheFileGrow() async throws {
    try await withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      let value = [UInt8](repeating: 1, count: 100_000)
      func rewrite() throws {
        for _ in 0..<100 { try storage.put(value, "k") }
      }
      try rewrite()
      let before = try fileByteCount(folder)
      // The child opens the store, so its slots are there, and dead, while this process goes on.
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
        let storage = try LMDBStorage(at: URL(filePath: path))
        try storage.read { _ in _ = kill(getpid(), SIGKILL) }
      }
      try rewrite()
      // Without looking for dead readers it would be a hundred values more, ten megabytes.
      #expect(try fileByteCount(folder) < before + 40 * value.count)
      try storage.close()
    }
  }

  @Test func aKilledWriterLeavesNoTrace() async throws {
    try await withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      try storage.put([1], "k")
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
        let storage = try LMDBStorage(at: URL(filePath: path))
        try storage.write { transaction in
          try transaction.put([2], for: StorageKey("k"))
          try transaction.put([UInt8](repeating: 2, count: 1 << 20), for: StorageKey("l"))
          _ = kill(getpid(), SIGKILL)
          return .commit(())
        }
      }
      try storage.put([3], "m")
      #expect(try storage.keys() == [Array("k".utf8), Array("m".utf8)])
      #expect(try storage.get("k") == [1])
      try storage.close()
    }
  }

  @Test func aForkedChildLeavesTheEnvironmentAlone() async throws {
    try await withTemporaryFolder { folder in
      // In a process of its own: forking one with many threads is no good idea.
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        let folder = URL(filePath: path)
        var storage: LMDBStorage? = try LMDBStorage(at: folder)
        try storage!.put([1], "k")
        #expect(try storage!.foreignChangeMark() != nil)
        typealias Fork = @convention(c) () -> Int32
        let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: Fork.self)
        try storage!.read { transaction in
          let child = fork()
          if child == 0 {
            let error = storageError { try storage!.get("k") }
            let markError = storageError { try storage!.foreignChangeMark() }
            storage = nil
            // Opening it again is allowed.
            let own = try? LMDBStorage(at: folder)
            let value = try? own?.get("k")
            let written: Void? = try? own?.put([2], "child")
            try? own?.close()
            let isRight =
              error?.kind == .usedAfterFork && markError?.kind == .usedAfterFork && value == [1]
              && written != nil
            _exit(isRight ? 0 : 1)
          }
          var status: Int32 = 0
          #expect(waitpid(child, &status, 0) == child)
          #expect(status == 0)
          let value = try transaction.value(for: StorageKey("k"))
          #expect(value == [1])
        }
        #expect(try storage!.get("child") == [2])
        try storage!.put([3], "k")
        #expect(try storage!.get("k") == [3])
        try storage!.close()
      }
    }
  }
}

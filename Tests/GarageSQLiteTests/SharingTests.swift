import Foundation
import GarageDriver
import GarageSQLite
import Synchronization
import Testing

@Suite("SQLite: several connections on one file")
struct SharingTests: Sendable {
  let folder: TemporaryFolder
  let storage: SQLiteStorage

  init() throws {
    folder = try TemporaryFolder()
    storage = try SQLiteStorage(at: folder.file())
    try storage.put([0], "n")
  }

  @Test(
    "A snapshot is that of the entry, not of the first get, and stays through gets, scans and checkpoints")
  func snapshot() throws {
    let raw = try RawDatabase(folder.file())
    try storage.read { transaction in
      // Before the first get: from this process, and from outside.
      try storage.put([1], "n")
      try raw.run("INSERT INTO entries VALUES (x'7A', x'01')")
      #expect(try transaction.value(for: key("n")) == [0])
      for round in 0..<50 {
        try storage.write { writer in
          try writer.put([UInt8](repeating: UInt8(round), count: 100_000), for: key("n"))
          try writer.put([9], for: key(round))
          return .commit(())
        }
        _ = try? raw.run("PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try transaction.value(for: key("n")) == [0])
        #expect(try transaction.value(for: key(round)) == nil)
        var seen = 0
        try transaction.scan(.all, round % 2 == 0 ? .forward : .backward) { _, _ in
          seen += 1
          return .continue
        }
        #expect(seen == 1)
        // A read that begins now sees the last commit, and its end does not let go of this one.
        #expect(try storage.count() == round + 3)
      }
    }
    #expect(try storage.count() == 52)
  }

  @Test("A snapshot outlives the removal of everything")
  func removal() throws {
    try storage.write { writer in
      for number in 0..<5000 { try writer.put([UInt8](repeating: 1, count: 500), for: key(number)) }
      return .commit(())
    }
    try storage.read { transaction in
      try transaction.withValue(for: key(4000)) { value in
        try storage.write { writer in
          try writer.removeAll(in: .all)
          return .commit(())
        }
        for _ in 0..<3 { try storage.put([UInt8](repeating: 2, count: 1 << 20), "large") }
        guard let value else {
          Issue.record("the value is gone")
          return
        }
        #expect([UInt8](copying: value) == [UInt8](repeating: 1, count: 500))
        #expect(try transaction.value(for: key(4001)) == [UInt8](repeating: 1, count: 500))
      }
    }
    #expect(try storage.count() == 1)
  }

  @Test("Whoever waits longer than the busy timeout is told, and may try again")
  func busy() throws {
    var options = SQLiteStorage.Options()
    options.busyTimeout = .milliseconds(50)
    let hasty = try SQLiteStorage(at: folder.file(), options: options)
    let raw = try RawDatabase(folder.file())
    try raw.run("BEGIN IMMEDIATE")
    var hasRun = false
    let error = try expectError(.busy) {
      try hasty.write { _ in
        hasRun = true
        return .commit(())
      }
    }
    #expect(error.isRetryable && !hasRun)
    #expect(error.engineCode == 5)
    #expect(try hasty.value("n") == [0])
    try raw.run("COMMIT")
    try hasty.put([1], "n")
    #expect(try storage.value("n") == [1])
  }

  @Test("Whoever opens a copy that has no log yet waits no longer for its readers than the busy timeout says")
  func busyWithoutLog() throws {
    try storage.close()
    let raw = try RawDatabase(folder.file())
    try raw.run("VACUUM INTO '\(folder.file("copy.garage").path)'")
    let reader = try RawDatabase(folder.file("copy.garage"))
    #expect(try reader.run("PRAGMA journal_mode") == "delete")
    try reader.run("BEGIN")
    try reader.run("SELECT count(*) FROM entries")
    var options = SQLiteStorage.Options()
    options.busyTimeout = .milliseconds(300)
    let start = ContinuousClock.now
    let error = try expectError(.busy) {
      _ = try SQLiteStorage(at: folder.file("copy.garage"), options: options)
    }
    #expect(error.isRetryable)
    #expect(ContinuousClock.now - start < .seconds(6))
    try reader.run("COMMIT")
    #expect(try SQLiteStorage(at: folder.file("copy.garage"), options: options).value("n") == [0])
  }

  @Test("Whoever does not wait too long gets through")
  func patience() throws {
    let raw = try RawDatabase(folder.file())
    try raw.run("BEGIN IMMEDIATE")
    try raw.run("UPDATE entries SET value = x'05'")
    let box = Mutex<RawDatabase?>(nil)
    nonisolated(unsafe) let unsafeRaw = raw
    let thread = Thread {
      usleep(30_000)
      _ = try? unsafeRaw.run("COMMIT")
      box.withLock { $0 = nil }
    }
    thread.start()
    let before = try storage.write { writer in
      let before = try writer.value(for: key("n"))
      try writer.put([6], for: key("n"))
      return .commit(before)
    }
    #expect(before == [5])
  }

  @Test("Two values on one store share the writer, and see what the other committed")
  func twoValues() throws {
    let other = try SQLiteStorage(at: folder.file())
    try storage.write { _ in
      try expectError(.nestedWrite) { try other.put([1], "n") }
      #expect(try other.value("n") == [0])
      return .commit(())
    }
    DispatchQueue.concurrentPerform(iterations: 8) { index in
      for _ in 0..<50 {
        do {
          try (index % 2 == 0 ? storage : other).write { writer in
            let count = try writer.value(for: key("count")) ?? [0, 0]
            let next = (Int(count[0]) << 8 | Int(count[1])) + 1
            try writer.put([UInt8(next >> 8), UInt8(next & 255)], for: key("count"))
            return .commit(())
          }
        } catch { Issue.record(error) }
      }
    }
    #expect(try storage.value("count") == [1, 144])
    try other.close()
    #expect(try storage.value("count") == [1, 144])
  }

  @Test(
    "A file that is deleted while it is open is noticed by the next write, and its successor is another store"
  )
  func deleted() throws {
    try storage.read { _ in
      for end in ["", "-wal", "-shm"] {
        try FileManager.default.removeItem(at: folder.file("store.garage\(end)"))
      }
      let next = try SQLiteStorage(at: folder.file())
      #expect(try next.value("n") == nil)
      try next.put([9], "n")
      // The pool has no second connection and must not open one on the other file.
      try expectError(.notFound) { _ = try storage.value("n") }
    }
    try expectError(.notFound) { try storage.put([1], "n") }
    #expect(try storage.value("n") == [0])
    try storage.close()
    #expect(try SQLiteStorage(at: folder.file()).value("n") == [9])
  }

  @Test(
    "A poll for the commits of others makes no file where the store's is gone, and takes no other one for it")
  func polledWhenDeleted() throws {
    let raw = try RawDatabase(folder.file())
    try raw.run("DROP TABLE entries")
    // The engine's failure costs the writer its connection.
    #expect(throws: StorageError.self) { try storage.put([1], "n") }
    for end in ["", "-wal", "-shm"] {
      try FileManager.default.removeItem(at: folder.file("store.garage\(end)"))
    }
    try expectError(.notFound) { _ = try storage.foreignChangeMark() }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    let next = try SQLiteStorage(at: folder.file())
    try expectError(.notFound) { _ = try storage.foreignChangeMark() }
    try expectError(.notFound) { try storage.put([1], "n") }
    #expect(try next.value("n") == nil)
  }

  @Test("Many threads read and write at a time, and every read is of one commit")
  func threads() throws {
    let count = 20
    try storage.write { writer in
      for number in 0..<count { try writer.put([0], for: key(number)) }
      return .commit(())
    }
    DispatchQueue.concurrentPerform(iterations: 12) { index in
      do {
        for round in 0..<100 {
          if index < 2 {
            try storage.write { writer in
              for number in 0..<count { try writer.put([UInt8(index * 100 + round)], for: key(number)) }
              return round % 7 == 0 ? .rollBack(()) : .commit(())
            }
          } else {
            try storage.read { reader in
              let first = try reader.value(for: key(0))
              for number in 0..<count { #expect(try reader.value(for: key(number)) == first) }
            }
          }
        }
      } catch { Issue.record(error) }
    }
  }

  @Test("A child that was forked can neither use the storage nor open its file, and does no harm")
  func forked() throws {
    #if os(Linux)
      // The child has this thread alone. Where it inherits a lock that another one held, it is tried again.
      for _ in 0..<5 {
        var dropped: SQLiteStorage? = try SQLiteStorage(at: folder.file())
        try dropped?.put([2], "m")
        let child = forkProcess()
        if child == 0 {
          // Closing the parent's connections here would empty its log under its feet.
          dropped = nil
          exitProcess(childOutcome())
        }
        defer { withExtendedLifetime(dropped) {} }
        var status: Int32 = -1
        for _ in 0..<500 where waitpid(child, &status, WNOHANG) == 0 { usleep(10_000) }
        if status == -1 {
          kill(child, SIGKILL)
          waitpid(child, &status, 0)
          continue
        }
        #expect(status >> 8 & 0xFF == 0 && status & 0x7F == 0, "the child ended with \(status)")
        try storage.put([1], "n")
        #expect(try storage.value("n") == [1])
        #expect(try dropped?.value("m") == [2])
        return
      }
      Issue.record("no child came to its end")
    #endif
  }

  /// What the child finds: zero where all is as it should be.
  private func childOutcome() -> Int32 {
    func kind(_ body: () throws -> Void) -> StorageError.Kind? {
      do { try body() } catch { return (error as? StorageError)?.kind }
      return nil
    }
    if kind({ _ = try storage.read { _ in } }) != .usedAfterFork { return 1 }
    if kind({ try storage.put([7], "n") }) != .usedAfterFork { return 2 }
    if kind({ try storage.close() }) != .usedAfterFork { return 3 }
    if kind({ _ = try SQLiteStorage(at: folder.file()) }) != .usedAfterFork { return 4 }
    if kind({ _ = try storage.foreignChangeMark() }) != .usedAfterFork { return 5 }
    return 0
  }
}

#if os(Linux)
  // Swift hides `fork`, which is right everywhere but here.
  @_silgen_name("fork") private func forkProcess() -> Int32
  @_silgen_name("_exit") private func exitProcess(_ code: Int32) -> Never
#endif

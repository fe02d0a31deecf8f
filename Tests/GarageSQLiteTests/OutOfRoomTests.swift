import Foundation
import GarageDriver
import GarageSQLite
import Testing

@Suite("SQLite: room on disk, and the write-ahead log")
struct OutOfRoomTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func limited(_ pages: Int) throws -> SQLiteStorage {
    var options = SQLiteStorage.Options()
    options.maximumPageCount = pages
    return try SQLiteStorage(at: folder.file(), options: options)
  }

  @Test("A full store refuses a transaction whole, also where its body swallows the error and goes on")
  func full() throws {
    let storage = try limited(200)
    try storage.put([1], "kept")
    let error = try expectError(.storageFull) {
      try storage.write { writer in
        for number in 0..<1000 { try? writer.put([UInt8](repeating: 2, count: 4000), for: key(number)) }
        // SQLite has rolled back by now: this would be a commit of its own.
        try? writer.put([3], for: key("kept"))
        try? writer.remove(key("kept"))
        try? writer.removeAll(in: .all)
        let value = try? writer.value(for: key("kept"))
        #expect(value == nil, "a read after SQLite's own rollback")
        return .commit(())
      }
    }
    #expect(error.operation == .put && error.engineCode == 13)
    #expect(try storage.count() == 1)
    #expect(try storage.value("kept") == [1])
    try storage.put([4], "kept")
    // A body that does not swallow it gets the same, and its own error passes.
    try expectError(.storageFull) { try storage.put([UInt8](repeating: 2, count: 1 << 20), "large") }
    try storage.close()
    let roomy = try SQLiteStorage(at: folder.file())
    #expect(try roomy.value("kept") == [4])
    try roomy.put([UInt8](repeating: 2, count: 1 << 20), "large")
    #expect(try roomy.count() == 2)
    #expect(try RawDatabase(folder.file()).run("PRAGMA integrity_check") == "ok")
  }

  @Test(
    "On a full file system every acknowledged commit stays, the failed one leaves no trace, and room heals",
    .enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount a tmpfs"))
  func fullFileSystem() throws {
    let disk = try SmallFileSystem(byteCount: 4 << 20)
    let file = disk.url.appending(path: "store.garage")
    let ballast = disk.url.appending(path: "ballast")
    try Data(count: 1 << 20).write(to: ballast)
    let storage = try SQLiteStorage(at: file)
    var acknowledged = 0
    let error = try expectError(.storageFull) {
      while acknowledged < 10_000 {
        try storage.write { writer in
          try writer.put([UInt8](repeating: UInt8(acknowledged & 255), count: 3000), for: key(acknowledged))
          try writer.put(
            [UInt8](repeating: UInt8(acknowledged & 255), count: 3000), for: key(1_000_000 + acknowledged))
          return .commit(())
        }
        acknowledged += 1
      }
    }
    #expect(acknowledged > 10)
    #expect(error.message.contains("Free some room"))
    // One transaction larger than all there is: it fills the log before its commit.
    try expectError(.storageFull) { try storage.put([UInt8](repeating: 1, count: 8 << 20), "large") }
    #expect(try storage.count() == 2 * acknowledged)
    try FileManager.default.removeItem(at: ballast)
    try storage.put([1], "after")
    #expect(try storage.count() == 2 * acknowledged + 1)
    try storage.close()
    #expect(try SQLiteStorage(at: file).count() == 2 * acknowledged + 1)
    #expect(try RawDatabase(file).run("PRAGMA integrity_check") == "ok")
  }

  @Test(
    "No room for a new store is an error, and the file opens once there is some",
    .enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount a tmpfs"))
  func noRoomAtAll() throws {
    let disk = try SmallFileSystem(byteCount: 64 << 10)
    let ballast = disk.url.appending(path: "ballast")
    var count = 64 << 10
    while count > 0, (try? Data(count: count).write(to: ballast)) == nil { count -= 4096 }
    let file = disk.url.appending(path: "store.garage")
    try expectError(.storageFull) { _ = try SQLiteStorage(at: file) }
    try FileManager.default.removeItem(at: ballast)
    #expect(try SQLiteStorage(at: file).count() == 0)
  }

  @Test(
    "A file system that cannot be written is read as it is",
    .enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount a tmpfs"))
  func readOnlyFileSystem() throws {
    let disk = try SmallFileSystem(byteCount: 4 << 20)
    let file = disk.url.appending(path: "store.garage")
    let storage = try SQLiteStorage(at: file)
    try storage.put([1], "a")
    var options = SQLiteStorage.Options()
    options.isReadOnly = true
    let copy = try Data(contentsOf: disk.url.appending(path: "store.garage-wal"))
    try storage.close()
    try disk.makeReadOnly()
    #expect(try SQLiteStorage(at: file, options: options).value("a") == [1])
    try expectError(.permissionDenied) { _ = try SQLiteStorage(at: file) }
    try disk.makeWritable()
    try copy.write(to: disk.url.appending(path: "store.garage-wal"))
    try disk.makeReadOnly()
    try expectError(.permissionDenied) { _ = try SQLiteStorage(at: file, options: options) }
    try disk.makeWritable()
  }

  @Test("Readers that overlap do not let the log grow beyond its bound")
  func logStaysBounded() throws {
    var options = SQLiteStorage.Options()
    options.walCheckpointByteCount = 1 << 20
    let storage = try SQLiteStorage(at: folder.file(), options: options)
    let stop = Flag()
    let readers = DispatchGroup()
    let running = DispatchSemaphore(value: 0)
    // At any moment some reader has a snapshot open, so SQLite's own rule never starts the log afresh.
    for _ in 0..<3 {
      DispatchQueue.global().async(group: readers) {
        while !stop.isSet {
          do {
            try storage.read { transaction in
              _ = try transaction.value(for: key(0))
              running.signal()
              usleep(10_000)
            }
          } catch { Issue.record(error) }
        }
      }
    }
    for _ in 0..<6 { running.wait() }
    var largest = 0
    for number in 0..<300 {
      try storage.write { writer in
        try writer.put([UInt8](repeating: UInt8(number & 255), count: 100_000), for: key(number % 10))
        return .commit(())
      }
      largest = max(largest, folder.size("store.garage-wal"))
      usleep(1000)
    }
    stop.set()
    readers.wait()
    // 30 MB went through it.
    #expect(largest < 16 << 20, "the log grew to \(largest) bytes")
  }

  @Test("A reader that stays makes the log grow, commits go on, and afterwards it is given back")
  func longReader() throws {
    var options = SQLiteStorage.Options()
    options.walCheckpointByteCount = 1 << 20
    let storage = try SQLiteStorage(at: folder.file(), options: options)
    try storage.put([0], "n")
    try storage.read { reader in
      for number in 0..<100 { try storage.put([UInt8](repeating: UInt8(number), count: 100_000), "n") }
      #expect(try reader.value(for: key("n")) == [0])
      #expect(folder.size("store.garage-wal") > 8 << 20)
    }
    // The next attempt comes a threshold later.
    for number in 0..<12 { try storage.put([UInt8](repeating: UInt8(number), count: 100_000), "n") }
    #expect(folder.size("store.garage-wal") <= 2 << 20)
  }

  @Test("The log of one large transaction is emptied by its own commit")
  func largeTransaction() throws {
    let storage = try SQLiteStorage(at: folder.file())
    try storage.write { writer in
      for number in 0..<300 { try writer.put([UInt8](repeating: 1, count: 100_000), for: key(number)) }
      return .commit(())
    }
    #expect(folder.size("store.garage-wal") == 0)
    #expect(folder.size("store.garage") > 29_000_000)
    #expect(try storage.count() == 300)
  }
}

private final class Flag: @unchecked Sendable {
  private let lock = NSLock()
  private var value = false
  var isSet: Bool { lock.withLock { value } }
  func set() { lock.withLock { value = true } }
}

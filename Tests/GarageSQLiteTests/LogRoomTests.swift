import Foundation
import GarageDriver
import GarageSQLite
import Testing

/// The write-ahead log must not take the room that transactions need.
@Suite(
  "SQLite: the log on a small disk",
  .enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount a tmpfs"))
struct LogRoomTests {
  private func value(_ number: Int, count: Int = 200) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count)
  }

  @Test(
    "What is overwritten for ever fits on a disk that has room for it once",
    arguments: [(2 << 20, 200, 4000), (1 << 20, 3000, 1500), (8 << 20, 150_000, 200), (300 << 10, 200, 1000)])
  func overwriting(byteCount: Int, valueByteCount: Int, rounds: Int) throws {
    let disk = try SmallFileSystem(byteCount: byteCount)
    let file = disk.url.appending(path: "store.garage")
    let storage = try SQLiteStorage(at: file)
    for number in 0..<rounds { try storage.put(value(number, count: valueByteCount), "\(number % 10)") }
    for number in (rounds - 10)..<rounds {
      #expect(try storage.value("\(number % 10)") == value(number, count: valueByteCount))
    }
    try storage.write { transaction in
      try transaction.removeAll(in: .all)
      return .commit(())
    }
    #expect(try storage.count() == 0)
    try storage.close()
    #expect(try RawDatabase(file).run("PRAGMA integrity_check") == "ok")
  }

  @Test("A disk that others fill has the log to give back", arguments: [0, 64 << 10, 300 << 10])
  func othersFillTheDisk(free: Int) throws {
    let disk = try SmallFileSystem(byteCount: 16 << 20)
    let storage = try SQLiteStorage(at: disk.url.appending(path: "store.garage"))
    for number in 0..<200 { try storage.put(value(number), "\(number % 10)") }
    try disk.fill(leaving: free)
    // Once the first look at the disk is due again.
    usleep(30_000)
    for number in 0..<3000 { try storage.put(value(number), "\(number % 10)") }
    try storage.write { transaction in
      try transaction.removeAll(in: .prefix([]))
      return .commit(())
    }
    #expect(try storage.count() == 0)
  }

  @Test("An error for lack of room that the log had taken names the log, and the next try finds the room")
  func anotherTry() throws {
    let disk = try SmallFileSystem(byteCount: 8 << 20)
    let file = disk.url.appending(path: "store.garage")
    var storage = try SQLiteStorage(at: file)
    try storage.put(value(1, count: 930 << 10), "large")
    try storage.close()
    storage = try SQLiteStorage(at: file)
    // What makes the store larger is copied at once; what follows stays in the log.
    for count in [40 << 10, 1, 20 << 10, 20 << 10] { try storage.put(value(2, count: count), "b") }
    // Too little for the next one, and enough together with the log, which is not large enough to be emptied before.
    try disk.fill(leaving: 920 << 10)
    let error = try expectError(.storageFull) { try storage.put(value(3, count: 930 << 10), "large") }
    #expect(error.isRetryable && error.message.contains("\(file.path)-wal"), "\(error)")
    #expect(try storage.value("large") == value(1, count: 930 << 10))
    try storage.put(value(3, count: 930 << 10), "large")
    #expect(try storage.value("large") == value(3, count: 930 << 10))
    #expect(try storage.value("b") == value(2, count: 20 << 10))
  }

  @Test("Where a reader keeps the log, the error says so, and its end lets the call succeed")
  func readerInTheWay() throws {
    let disk = try SmallFileSystem(byteCount: 2 << 20)
    let storage = try SQLiteStorage(at: disk.url.appending(path: "store.garage"))
    try storage.put(value(0), "0")
    let error = try storage.read { reader in
      let error = try expectError(.storageFull) {
        for number in 0..<4000 { try storage.put(value(number), "\(number % 10)") }
      }
      #expect(try reader.value(for: key("0")) == value(0))
      return error
    }
    #expect(error.message.contains("store.garage-wal") && error.message.contains("reader"), "\(error)")
    #expect(!error.isRetryable, "its own read is in the way")
    for number in 0..<4000 { try storage.put(value(number), "\(number % 10)") }
  }

  @Test("A transaction that is larger than the disk is refused for good, and leaves the room as it was")
  func tooLarge() throws {
    let disk = try SmallFileSystem(byteCount: 2 << 20)
    let storage = try SQLiteStorage(at: disk.url.appending(path: "store.garage"))
    for number in 0..<50 { try storage.put(value(number), "\(number % 10)") }
    for attempt in 0..<3 {
      let error = try expectError(.storageFull) { try storage.put(value(0, count: 4 << 20), "large") }
      #expect(!error.isRetryable || attempt == 0, "\(error)")
      #expect(error.message.contains("Free some room"))
    }
    for number in 0..<50 { try storage.put(value(number), "\(number % 10)") }
    #expect(try storage.count() == 10)
  }

  @Test(
    "A store that cannot be compacted for lack of room gives back what the attempt took, and stays as it is")
  func noRoomToCompact() throws {
    let disk = try SmallFileSystem(byteCount: 16 << 20)
    let file = disk.url.appending(path: "store.garage")
    let storage = try SQLiteStorage(at: file)
    try storage.write { transaction in
      for number in 0..<6000 { try transaction.put(value(number, count: 900), for: key(number)) }
      return .commit(())
    }
    try storage.close()
    let again = try SQLiteStorage(at: file)
    try disk.fill(leaving: 2 << 20)
    let error = try expectError(.storageFull) { _ = try again.compact { _, _ in } }
    #expect(error.message.contains(file.path), "\(error)")
    var status = statvfs()
    #expect(statvfs(disk.url.path, &status) == 0)
    #expect(Int(status.f_bavail) * Int(status.f_frsize) > 1 << 20)
    #expect(try again.count() == 6000)
    try again.put([1], "a")
    #expect(try again.integrityComplaints() == [])
  }

  @Test("A log that was left behind does not keep the store from being opened on a full disk")
  func leftBehind() throws {
    let folder = try TemporaryFolder()
    let source = try SQLiteStorage(at: folder.file())
    for number in 0..<300 { try source.put(value(number), "\(number % 10)") }
    let disk = try SmallFileSystem(byteCount: 4 << 20)
    let file = disk.url.appending(path: "store.garage")
    try Data(contentsOf: folder.file()).write(to: file)
    try Data(contentsOf: folder.file("store.garage-wal")).write(
      to: disk.url.appending(path: "store.garage-wal"))
    try source.close()
    try disk.fill()
    let storage = try SQLiteStorage(at: file)
    #expect(try storage.count() == 10)
    #expect(try storage.value("9") == value(299))
    for number in 0..<300 { try storage.put(value(number), "\(number % 10)") }
  }
}

import Foundation
import GarageDriver
import GarageSQLite
import Testing

@Suite("SQLite: how a store gets its second table")
struct LargeUpgradeTests {
  let folder: TemporaryFolder
  let old: [(key: StorageKey, value: [UInt8])]

  init() throws {
    folder = try TemporaryFolder()
    old = (0..<40).map { number in (key(number), bytes(number % 4 == 0 ? 3000 : 100, number)) }
    try makeOldStore(folder.file(), old)
  }

  /// Copies the file and its log as a process leaves them that is killed now, and opens the copy.
  private func survivor(_ name: String) throws -> (storage: SQLiteStorage, raw: RawDatabase) {
    let copy = folder.file(name)
    for suffix in ["", "-wal"] {
      let file = folder.file().path + suffix
      if FileManager.default.fileExists(atPath: file) {
        try FileManager.default.copyItem(atPath: file, toPath: copy.path + suffix)
      }
    }
    return (try SQLiteStorage(at: copy), try RawDatabase(copy))
  }

  @Test("Who is killed in the transaction that adds the table leaves one table, and all that was there")
  func crash() throws {
    var options = SQLiteStorage.Options()
    // Pages go to the log long before the commit.
    options.cacheByteCount = 1 << 20
    let storage = try SQLiteStorage(at: folder.file(), options: options)
    try storage.write { transaction in
      for number in 0..<60 { try transaction.put(bytes(100_000, number), for: key(number)) }
      let size = try FileManager.default.attributesOfItem(atPath: folder.file().path + "-wal")[.size] as? Int
      #expect((size ?? 0) > 1 << 20)
      let (killed, raw) = try survivor("killed")
      #expect(try raw.run("PRAGMA user_version") == "1")
      try raw.expectNoOrphans()
      #expect(try killed.count() == old.count)
      for (key, value) in old { #expect(try killed.read { try $0.value(for: key) } == value) }
      // It gets its table when it is written again.
      try killed.put(bytes(5000, 1), "large")
      #expect(try raw.run("PRAGMA user_version") == "2")
      try raw.expectNoOrphans()
      return .commit(())
    }
    let (killed, raw) = try survivor("killed later")
    #expect(try raw.run("PRAGMA user_version") == "2")
    try raw.expectNoOrphans()
    #expect(try killed.count() == 60)
    #expect(try killed.read { try $0.value(for: key(59)) } == bytes(100_000, 59))
  }

  @Test("Views that other programs added read what they read before, and broken ones are in nobody's way")
  func foreignViews() throws {
    let raw = try RawDatabase(folder.file())
    try raw.run("CREATE VIEW sizes AS SELECT length(value) AS size FROM entries")
    try raw.run("CREATE VIEW broken AS SELECT * FROM gone")
    let storage = try SQLiteStorage(at: folder.file())
    try storage.put(bytes(50_000, 1), "large")
    #expect(try storage.value("large") == bytes(50_000, 1))
    let expected = old.reduce(50_000) { $0 + $1.value.count }
    #expect(try raw.run("SELECT sum(size) FROM sizes") == "\(expected)")
  }

  @Test("VACUUM leaves every large value with its key")
  func vacuum() throws {
    let storage = try SQLiteStorage(at: folder.file())
    for number in 0..<30 { try storage.put(bytes(10_000 + number, number), "\(number)") }
    try storage.write { transaction in
      for number in stride(from: 0, to: 30, by: 2) { try transaction.remove(key("\(number)")) }
      return .commit(())
    }
    let raw = try RawDatabase(folder.file())
    try raw.run("VACUUM")
    try raw.expectNoOrphans()
    for number in 0..<30 {
      #expect(try storage.value("\(number)") == (number % 2 == 0 ? nil : bytes(10_000 + number, number)))
    }
    try storage.put(bytes(9000, 1), "30")
    try raw.expectNoOrphans()
  }

  @Test("The longest keys have small and large values, too")
  func longKeys() throws {
    let storage = try SQLiteStorage(at: folder.file())
    let longest = StorageInfo.guaranteedKeyByteCount
    for count in [0, 1, 400, 480, 500, 1000, 5000] {
      let key = StorageKey(bytes(longest, count))
      try storage.write { .commit(try $0.put(bytes(count, 1), for: key)) }
      #expect(try storage.read { try $0.value(for: key) } == bytes(count, 1))
    }
    try RawDatabase(folder.file()).expectNoOrphans()
    // No entry of either table is larger than what SQLite keeps in one page of an index.
    let largest = try RawDatabase(folder.file()).run(
      "SELECT max(length(key) + length(value)) FROM keys WHERE key NOT IN (\(oldKeys)) AND typeof(value) = 'blob'"
    )
    #expect(try #require(largest.flatMap { Int($0) }) <= 4096 / 4)
  }

  private var oldKeys: String {
    old.map { "x'\($0.key)'" }.joined(separator: ", ")
  }

  @Test("A large value that is missing is called damage, in words")
  func words() throws {
    let storage = try SQLiteStorage(at: folder.file())
    try storage.put(bytes(5000, 1), "a")
    try RawDatabase(folder.file()).run("DELETE FROM large")
    let error = try expectError(.corrupt) { _ = try storage.value("a") }
    #expect(error.message.contains("malformed"), "\(error.message)")
  }
}

import Foundation
import GarageDriver
import GarageSQLite
import Testing

@Suite("SQLite: opening")
struct OpeningTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("A missing file and an empty one become a store that says what it is")
  func new() throws {
    try Data().write(to: folder.file("empty.garage"))
    for name in ["missing.garage", "empty.garage", "ütf ☃ %41?x=1#.garage"] {
      do {
        let storage = try SQLiteStorage(at: folder.file(name))
        try storage.put([1], "a")
      }
      let raw = try RawDatabase(folder.file(name))
      #expect(try raw.run("PRAGMA application_id") == String(0x4741_5247))
      #expect(try raw.run("PRAGMA user_version") == "1")
      #expect(try raw.run("PRAGMA journal_mode") == "wal")
      #expect(try raw.run("PRAGMA integrity_check") == "ok")
      #expect(try raw.run("SELECT count(*) FROM entries") == "1")
      #expect(try SQLiteStorage(at: folder.file(name)).value("a") == [1])
    }
  }

  @Test(
    "What is no store is refused and left as it is",
    arguments: ["text", "bytes", "one byte", "database", "empty database", "wal database", "other id"])
  func foreign(kind: String) throws {
    let file = folder.file()
    switch kind {
    case "text": try Data("Dear diary, today I parked my car.\n".utf8).write(to: file)
    case "bytes": try Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }).write(to: file)
    case "one byte": try Data([0]).write(to: file)
    case "database": try RawDatabase(file).run("CREATE TABLE notes (text)")
    case "empty database": try RawDatabase(file).run("VACUUM")
    case "wal database":
      let raw = try RawDatabase(file)
      try raw.run("PRAGMA journal_mode = WAL")
      try raw.run("CREATE TABLE notes (text)")
    default:
      let raw = try RawDatabase(file)
      try raw.run("PRAGMA application_id = 42")
      try raw.run("CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
    }
    let before = try Data(contentsOf: file)
    if kind == "empty database" && before.isEmpty { return }
    for options in [SQLiteStorage.Options(), readOnly, immutable] {
      let error = try expectError(.notAStorage) { _ = try SQLiteStorage(at: file, options: options) }
      #expect(error.operation == .open && error.message.contains(file.lastPathComponent))
      #expect(try Data(contentsOf: file) == before)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["store.garage"])
    }
  }

  @Test("A foreign database with commits in its log keeps them there")
  func foreignLog() throws {
    let raw = try RawDatabase(folder.file())
    try raw.run("PRAGMA journal_mode = WAL")
    try raw.run("CREATE TABLE notes (text)")
    try raw.run("INSERT INTO notes VALUES ('kept')")
    let log = try Data(contentsOf: folder.file("store.garage-wal"))
    #expect(!log.isEmpty)
    try expectError(.notAStorage) { _ = try SQLiteStorage(at: folder.file()) }
    #expect(try Data(contentsOf: folder.file("store.garage-wal")) == log)
    #expect(try raw.run("SELECT text FROM notes") == "kept")
  }

  @Test(
    "Whatever the times and numbers in the options are, they are taken as far as they can be meant",
    arguments: [.seconds(-3_000_000), .seconds(Int64.min), .seconds(Int64.max), .nanoseconds(-1)]
      as [Duration])
  func anyOptions(busyTimeout: Duration) throws {
    for number in [Int.min, -1, .max] {
      var options = SQLiteStorage.Options()
      options.busyTimeout = busyTimeout
      options.cacheByteCount = number
      options.memoryMapByteCount = number
      options.walCheckpointByteCount = number
      options.maximumIdleReaderCount = number
      let storage = try SQLiteStorage(at: folder.file(), options: options)
      try storage.put([1], "a")
      // More readers at a time than the one that is always kept.
      let value = try storage.read { _ in try storage.read { _ in try storage.value("a") } }
      #expect(value == [1])
      try storage.close()
    }
  }

  @Test("A newer format is refused, also where it is known from the log only")
  func newer() throws {
    do { try SQLiteStorage(at: folder.file()).put([1], "a") }
    let raw = try RawDatabase(folder.file())
    try raw.run("PRAGMA user_version = 3")
    try expectError(.newerFormat) { _ = try SQLiteStorage(at: folder.file()) }
    try expectError(.newerFormat) { _ = try SQLiteStorage(at: folder.file(), options: readOnly) }
    try raw.run("PRAGMA user_version = 1")
    #expect(try SQLiteStorage(at: folder.file()).value("a") == [1])
  }

  @Test("A store without its table is damaged")
  func noTable() throws {
    do { try SQLiteStorage(at: folder.file()).put([1], "a") }
    try RawDatabase(folder.file()).run("DROP TABLE entries")
    try expectError(.corrupt) { _ = try SQLiteStorage(at: folder.file()) }
  }

  @Test("A damaged file gives an error, and never another value")
  func damaged() throws {
    do {
      let storage = try SQLiteStorage(at: folder.file())
      try storage.write { transaction in
        for number in 0..<2000 { try transaction.put([UInt8](repeating: 1, count: 200), for: key(number)) }
        return .commit(())
      }
    }
    var bytes = try Data(contentsOf: folder.file())
    for index in 8192..<bytes.count { bytes[index] = 0xA5 }
    try bytes.write(to: folder.file())
    let storage = try SQLiteStorage(at: folder.file())
    try expectError(.corrupt) { _ = try storage.count() }
    try expectError(.corrupt) { _ = try storage.read { try $0.value(for: key(1000)) } }
    try expectError(.corrupt) {
      try storage.write { transaction in
        try? transaction.put([2], for: key(1000))
        return .commit(())
      }
    }
    try bytes.prefix(6000).write(to: folder.file("cut.garage"))
    let cut = try expectError(.corrupt) { _ = try SQLiteStorage(at: folder.file("cut.garage")).count() }
    #expect(cut.engineCode == 11)
  }

  @Test(
    "However little is left of a file, it is a damaged store",
    arguments: [1, 2, 15, 16, 50, 72, 100, 511, 512, 4095])
  func cutShort(count: Int) throws {
    do { try SQLiteStorage(at: folder.file()).put([1], "a") }
    let bytes = try Data(contentsOf: folder.file()).prefix(count)
    try bytes.write(to: folder.file())
    for options in [SQLiteStorage.Options(), readOnly, immutable] {
      let error = try expectError(.corrupt) {
        _ = try SQLiteStorage(at: folder.file(), options: options).value("a")
      }
      #expect(error.message.contains("damaged"))
    }
    #expect(try Data(contentsOf: folder.file()) == bytes)
  }

  @Test(
    "A short file of another kind is no store", arguments: ["x", "text", "SQLite format 4 is what this is"])
  func shortAndForeign(text: String) throws {
    try Data(text.utf8).write(to: folder.file())
    try expectError(.notAStorage) { _ = try SQLiteStorage(at: folder.file()) }
  }

  @Test("The file of a new store alone is what was made, at least")
  func copiedAlone() throws {
    let storage = try SQLiteStorage(at: folder.file())
    try storage.put([1], "made")
    try storage.put([2], "later")
    try Data(contentsOf: folder.file()).write(to: folder.file("copy.garage"))
    #expect(try SQLiteStorage(at: folder.file("copy.garage")).value("made") == [1])
    try storage.close()
  }

  @Test("Folders, missing folders, devices, other schemes and strange names")
  func places() throws {
    try expectError(.notAStorage) { _ = try SQLiteStorage(at: folder.url) }
    try expectError(.notFound) { _ = try SQLiteStorage(at: folder.file("no/store.garage")) }
    try expectError(.notFound) {
      _ = try SQLiteStorage(at: folder.file("no/store.garage"), options: readOnly)
    }
    try expectError(.notFound) { _ = try SQLiteStorage(at: folder.file(), options: readOnly) }
    try expectError(.notAStorage) { _ = try SQLiteStorage(at: URL(filePath: "/dev/null")) }
    try expectError(.notFound) { _ = try SQLiteStorage(at: #require(URL(string: "https://example.org/a"))) }
    try Data().write(to: folder.file("file"))
    try expectError(.notFound) { _ = try SQLiteStorage(at: folder.file("file/store.garage")) }
    let long = String(repeating: "n", count: 200)
    let deep = folder.url.appending(path: "\(long)/\(long)/\(long)")
    try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
    let error = try expectError(.notFound) { _ = try SQLiteStorage(at: deep.appending(path: "store.garage")) }
    #expect(error.message.contains("too long"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: deep.path).isEmpty)
    for length in [480, 490, 500, 505, 512] {
      let room = length - folder.url.path.utf8.count - 2
      let near = folder.file(String(repeating: "a", count: 200))
      try FileManager.default.createDirectory(at: near, withIntermediateDirectories: true)
      let file = near.appending(path: String(repeating: "b", count: room - 200))
      if length <= 500 {
        try SQLiteStorage(at: file).put([1], "a")
      } else {
        try expectError(.notFound) { try SQLiteStorage(at: file).put([1], "a") }
      }
    }
  }

  @Test("A store by name goes where the system keeps data")
  func named() throws {
    let name = "garage-test-\(UUID().uuidString)"
    let path = try DataFolder.path(forStoreNamed: name, driver: "test") + ".garage"
    defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
    do { try SQLiteStorage(named: name).put([1], "a") }
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(try SQLiteStorage(named: name).value("a") == [1])
    for bad in ["", ".", "..", "a/b", "a\0b"] {
      try expectError(.notFound) { _ = try SQLiteStorage(named: bad) }
    }
  }

  @Test("A path stays the same when the working folder changes, and links lead to one store")
  func links() throws {
    try FileManager.default.createDirectory(at: folder.file("real"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: folder.file("folder"), withDestinationURL: folder.file("real"))
    let missing = folder.file("real/store.garage")
    try FileManager.default.createSymbolicLink(at: folder.file("link"), withDestinationURL: missing)
    let first = try SQLiteStorage(at: folder.file("link"))
    try first.put([1], "a")
    let second = try SQLiteStorage(at: folder.file("folder/store.garage"))
    #expect(try second.value("a") == [1])
    #expect(FileManager.default.fileExists(atPath: folder.file("real/store.garage-wal").path))
    try first.write { _ in
      try expectError(.nestedWrite) { try second.put([2], "a") }
      return .commit(())
    }
  }
}

private var readOnly: SQLiteStorage.Options {
  var options = SQLiteStorage.Options()
  options.isReadOnly = true
  return options
}

private var immutable: SQLiteStorage.Options {
  var options = SQLiteStorage.Options()
  options.isImmutable = true
  return options
}

@Suite("SQLite: reading only, and permissions")
struct PermissionTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try SQLiteStorage(at: folder.file()).put([1], "a")
  }

  /// What a power loss, or a kill, leaves of a store that is just being made: the room for its pages, and the journal that
  /// says that there were none.
  @Test("A store whose making was ended opens")
  func endedMaking() throws {
    let folder = try TemporaryFolder()
    let journal = folder.url.appending(path: "store.garage-journal")
    // "The Rollback Journal" in https://sqlite.org/fileformat2.html: no pages, none before, sectors and pages of these sizes.
    var header: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    for number: UInt32 in [0, 7, 0, 512, 4096] {
      header += withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
    header += [UInt8](repeating: 0, count: 512 - header.count)
    try Data(count: 8192).write(to: folder.file())
    try Data(header).write(to: journal)
    do {
      let storage = try SQLiteStorage(at: folder.file())
      try storage.put([1], "key")
      #expect(try storage.value("key") == [1])
      try storage.close()
    }
    // Without the journal it may be anybody's.
    try Data(count: 8192).write(to: folder.file())
    try expectError(.notAStorage) { _ = try SQLiteStorage(at: folder.file()) }
    #expect(try Data(contentsOf: folder.file()) == Data(count: 8192))
  }

  @Test("A storage that only reads sees what others commit, and refuses to write")
  func reading() throws {
    let reader = try SQLiteStorage(at: folder.file(), options: readOnly)
    #expect(reader.info.isReadOnly)
    let error = try expectError(.readOnly) { try reader.put([2], "a") }
    #expect(error.operation == .write)
    let writer = try SQLiteStorage(at: folder.file())
    #expect(!writer.info.isReadOnly)
    try writer.put([2], "a")
    #expect(try reader.value("a") == [2])
    try reader.close()
    try expectError(.closed) { try reader.put([2], "a") }
  }

  @Test("An immutable storage leaves nothing beside the file, and refuses one with a log")
  func immutableStore() throws {
    let storage = try SQLiteStorage(at: folder.file(), options: immutable)
    #expect(try storage.value("a") == [1])
    #expect(storage.info.isReadOnly)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["store.garage"])
    try storage.close()
    let writer = try SQLiteStorage(at: folder.file())
    try writer.put([2], "a")
    try expectError(.permissionDenied) { _ = try SQLiteStorage(at: folder.file(), options: immutable) }
  }

  @Test(
    "A storage that only reads refuses a store that a writer left half changed, and says how to take that back"
  )
  func unfinishedTransaction() throws {
    let journal = folder.url.appending(path: "store.garage-journal")
    // What it takes back is one page, to what stood there. Its numbers: pages, sum, pages before, sector and page size.
    let content = try Data(contentsOf: folder.file())
    let pageByteCount = 4096
    var bytes: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    for number in [1, 0, UInt32(content.count / pageByteCount), 512, UInt32(pageByteCount)] {
      bytes += withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
    bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
    let page = Array(content[0..<pageByteCount])
    bytes += [0, 0, 0, 1] + page
    // Every 200th byte from the end, before the last of them.
    let sum = stride(from: pageByteCount - 200, to: 0, by: -200).reduce(UInt32(0)) { $0 &+ UInt32(page[$1]) }
    bytes += withUnsafeBytes(of: sum.bigEndian) { Array($0) }
    try Data(count: 1024).write(to: journal)
    #expect(try SQLiteStorage(at: folder.file(), options: immutable).value("a") == [1])
    try Data(bytes).write(to: journal)
    for options in [immutable, readOnly] {
      let error = try expectError(.permissionDenied) {
        _ = try SQLiteStorage(at: folder.file(), options: options)
      }
      #expect(
        error.message.contains("for writing once") && !error.message.contains("isImmutable"), "\(error)")
    }
    try SQLiteStorage(at: folder.file()).close()
    #expect(!FileManager.default.fileExists(atPath: journal.path))
    #expect(try SQLiteStorage(at: folder.file(), options: immutable).value("a") == [1])
  }

  @Test("A file or folder without permission is named, and opens once it has it")
  func permissions() throws {
    let manager = FileManager.default
    func set(_ mode: Int, _ url: URL) throws {
      try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    }
    defer { try? set(0o755, folder.url) }
    try set(0o000, folder.file())
    try asOrdinaryUser {
      try expectError(.permissionDenied) { _ = try SQLiteStorage(at: folder.file()) }
      try expectError(.permissionDenied) { _ = try SQLiteStorage(at: folder.file(), options: readOnly) }
    }
    try set(0o444, folder.file())
    try asOrdinaryUser { try expectError(.permissionDenied) { _ = try SQLiteStorage(at: folder.file()) } }
    try set(0o555, folder.url)
    try asOrdinaryUser {
      // The folder cannot take the log, which even reading needs.
      let error = try expectError(.permissionDenied) {
        _ = try SQLiteStorage(at: folder.file(), options: readOnly)
      }
      #expect(error.message.contains("isImmutable") && error.message.contains("-wal"), "\(error)")
      let other = try expectError(.permissionDenied) { _ = try SQLiteStorage(at: folder.file()) }
      #expect(other.message.contains("isImmutable"), "\(other)")
      #expect(try SQLiteStorage(at: folder.file(), options: immutable).value("a") == [1])
    }
    try set(0o666, folder.file())
    try asOrdinaryUser {
      let error = try expectError(.permissionDenied) { _ = try SQLiteStorage(at: folder.file()) }
      #expect(error.message.contains("isImmutable"), "\(error)")
      try expectError(.permissionDenied) { _ = try SQLiteStorage(at: folder.file("new.garage")) }
    }
    try set(0o000, folder.url)
    try asOrdinaryUser { try expectError(.permissionDenied) { _ = try SQLiteStorage(at: folder.file()) } }
    try set(0o777, folder.url)
    try asOrdinaryUser {
      let value = try SQLiteStorage(at: folder.file()).value("a")
      #expect(value == [1])
    }
  }
}

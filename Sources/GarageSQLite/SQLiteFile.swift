internal import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A store's file: how it is recognised, made, and opened by one connection after another.
///
/// The driver never opens the file by itself, not even to look at it: closing any descriptor of a file drops
/// all locks that the process has on it (POSIX), those of other SQLite connections included.
struct SQLiteFile: Sendable {
  /// `GARG`, at byte 68 of the file; other databases have other numbers there.
  static let applicationID = 0x4741_5247
  /// The format of a new store, at byte 60 of the file. It goes up with the first large value, and with anything that a newer
  /// driver writes and this one cannot read.
  static let formatVersion = SQLiteLayout.oneTable.format

  /// Absolute and free of links.
  let path: String
  let options: SQLiteStorage.Options
  /// Whether it is opened as a file that nobody changes.
  let isImmutable: Bool

  /// Looks at what is at `path`; throws where there cannot be a store.
  init(path: String, options: SQLiteStorage.Options) throws {
    self.options = options
    try Self.checkLibrary()
    if path.isEmpty || path.utf8.contains(0) {
      throw Self.error(.notFound, path, "This is no path. Give the path of a file.")
    }
    self.path = try Self.realPath(path)
    var status = stat()
    let exists = stat(self.path, &status) == 0
    if !exists && errno != ENOENT { throw Self.systemError(self.path, errno) }
    if !exists && options.onlyReads {
      throw Self.error(.notFound, self.path, "There is no such file. Open it for writing once to make it.")
    }
    if exists && status.st_mode & S_IFMT != S_IFREG {
      throw Self.error(.notAStorage, self.path, "A store is a file, and this is a folder or a device.")
    }
    if exists && status.st_size == 0 && options.onlyReads {
      throw Self.error(
        .notAStorage, self.path,
        "The file is empty: it holds no store yet. Open it for writing once to make one.")
    }
    isImmutable = options.onlyReads && (options.isImmutable || Self.isOnReadOnlyFileSystem(self.path))
    if isImmutable { try Self.checkComplete(self.path) }
    if exists && status.st_size > 0 { try probe() }
  }

  /// The identity of what is at the path now.
  var identity: FileIdentity? { FileIdentity(path: path) }

  // MARK: Opening

  /// Opens a connection that writes.
  ///
  /// - Parameter mayMake: whether the store is made where the file is new.
  func openWriter(mayMake: Bool) throws -> SQLiteConnection {
    do { return try openWriterOnce(mayMake: mayMake) } catch let error as StorageError
      where error.kind == .storageFull
    {
      // The log may take the room, if its last writer did not empty it.
      guard (try? emptyLogAlone()) != nil else { throw error }
      return try openWriterOnce(mayMake: mayMake)
    }
  }

  /// Empties the log without the file of shared memory beside it, for which there is no room. This works only while no other
  /// process has the store open.
  private func emptyLogAlone() throws {
    let connection = try connect(path, SQLITE_OPEN_READWRITE)
    defer { connection.close() }
    sqlite3_busy_timeout(connection.handle, options.busyMilliseconds)
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    try checkFormat(
      try connection.integer("PRAGMA application_id"), try connection.integer("PRAGMA user_version"))
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  private func openWriterOnce(mayMake: Bool) throws -> SQLiteConnection {
    let connection = try connect(path, SQLITE_OPEN_READWRITE | (mayMake ? SQLITE_OPEN_CREATE : 0))
    do {
      // SQLite opens a file that it may not write for reading, and would fail later.
      if sqlite3_db_readonly(connection.handle, "main") == 1 {
        throw Self.error(
          .permissionDenied, path,
          """
          The file cannot be written. Change that, or open it with isReadOnly, or with isImmutable where its folder \
          cannot be written and nobody changes the file.
          """)
      }
      try setUp(connection, cacheByteCount: options.cacheByteCount)
      try checkFormat(connection, orMake: mayMake)
      try useLog(connection)
      // If a companion file cannot be made, the first transaction fails. So one is run here.
      _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
      return connection
    } catch {
      connection.close()
      throw error
    }
  }

  /// Opens a connection that reads.
  func openReader() throws -> SQLiteConnection {
    let name = isImmutable ? Self.immutableName(path) : path
    let flags = SQLITE_OPEN_READONLY | (isImmutable ? SQLITE_OPEN_URI : 0)
    let connection = try connect(name, flags)
    do {
      try setUp(connection, cacheByteCount: options.cacheByteCount / 4)
      try checkFormat(connection, orMake: false)
      return connection
    } catch {
      connection.close()
      throw isImmutable ? error : companionError(error)
    }
  }

  /// The error for a reader. The file itself could be read when it was looked at, so it is making or writing the files beside
  /// it that is refused.
  private func companionError(_ error: any Error) -> any Error {
    guard var denied = error as? StorageError, denied.kind == .permissionDenied,
      denied.engineCode != Int(SQLiteFailure.unfinishedTransaction)
    else { return error }
    denied.message = """
      \(path): To read a store, SQLite needs the files \(path)-wal and -shm beside it, and may not make or use them \
      in this folder. Let the folder be written to, or, where nobody changes the file, as in an app's bundle, open \
      it with isImmutable.
      """
    return denied
  }

  private func connect(_ name: String, _ flags: Int32) throws -> SQLiteConnection {
    do {
      return try SQLiteConnection(path: path, name: name, flags: flags)
    } catch let error as StorageError where error.kind == .notFound {
      // The folder is there: it was looked up. SQLite's build for Unix has room for 512 bytes, endings such
      // as `-journal` included, and where it may not make the file, it names its second attempt's failure.
      if path.utf8.count > 500 {
        throw Self.error(.notFound, path, "The path is too long for SQLite. Choose one of up to 500 bytes.")
      }
      if identity != nil || flags & SQLITE_OPEN_CREATE == 0 { throw error }
      throw Self.error(
        .permissionDenied, path,
        "The file could not be made. Let its folder be written to, or choose another.")
    }
  }

  private func setUp(_ connection: SQLiteConnection, cacheByteCount: Int) throws {
    sqlite3_busy_timeout(connection.handle, options.busyMilliseconds)
    // As large as the library allows: SQLite cuts the number to its own limit.
    sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, Int32.max)
    let full = options.durability == .full
    // Until the log is in use: with a rollback journal, anything less may leave a store that cannot be opened after a loss of
    // power.
    try connection.execute("PRAGMA synchronous = FULL")
    // These two do something on Apple systems only, where an ordinary fsync stops at the disk's cache.
    try connection.execute("PRAGMA fullfsync = \(full ? 1 : 0)")
    try connection.execute("PRAGMA checkpoint_fullfsync = \(full ? 1 : 0)")
    try connection.execute("PRAGMA cache_size = \(-max(0, cacheByteCount) / 1024)")
    try connection.execute("PRAGMA mmap_size = \(max(0, options.memoryMapByteCount))")
  }

  private func useLog(_ connection: SQLiteConnection) throws {
    // Where several processes make or convert one file, SQLite may give up at once to avoid a deadlock.
    let mode = try retrying { try connection.execute("PRAGMA journal_mode = WAL") }
    if mode != "wal" {
      throw Self.error(
        .engine, path,
        """
        The file system offers no shared memory for SQLite's write-ahead log. Put the store on a local disk.
        """)
    }
    if options.durability == .normal { try connection.execute("PRAGMA synchronous = NORMAL") }
    try connection.execute("PRAGMA journal_size_limit = \(max(0, options.walCheckpointByteCount))")
    if let count = options.maximumPageCount { try connection.execute("PRAGMA max_page_count = \(count)") }
    connection.watchLog()
  }

  /// Runs `body` again while it is busy, until the busy timeout is over. SQLite may give up at once, or only after it has waited
  /// for that long itself.
  private func retrying<R>(_ body: () throws -> R) throws -> R {
    let end = ContinuousClock.now + .milliseconds(Int(options.busyMilliseconds))
    while true {
      do { return try body() } catch let error as StorageError where error.kind == .busy {
        if ContinuousClock.now >= end { throw error }
        usleep(5000)
      }
    }
  }

  // MARK: The format

  /// Looks at a file's header without locks and without touching it or its companions, and throws where it
  /// is plainly not a store of ours. Silent in doubt: another process may be just making it.
  private func probe() throws {
    let connection: SQLiteConnection
    do {
      connection = try SQLiteConnection(
        path: path, name: Self.immutableName(path), flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
    } catch let error as StorageError where error.kind == .permissionDenied {
      throw error
    } catch { return }
    defer { connection.close() }
    if connection.isCutShort() {
      throw Self.error(.corrupt, path, "The file is damaged: it was cut off. Restore a backup.")
    }
    // A new file is zeros until its first page is written. Until then there is a journal: if the writer was killed, or the
    // power went, SQLite empties the file again by it.
    if connection.beginsWithZeros(), access(path + "-journal", F_OK) == 0 { return }
    do {
      let applicationID = try connection.integer("PRAGMA application_id")
      try checkFormat(applicationID, try connection.integer("PRAGMA user_version"))
    } catch let error as StorageError {
      if error.kind == .notAStorage || error.kind == .newerFormat { throw error }
    }
  }

  private func checkFormat(_ connection: SQLiteConnection, orMake mayMake: Bool) throws {
    if mayMake, try connection.integer("PRAGMA page_count") == 0 { try make(connection) }
    try checkFormat(
      try connection.integer("PRAGMA application_id"), try connection.integer("PRAGMA user_version"))
    let layout = try layout(format: try connection.integer("PRAGMA user_version"), .open)
    let queries: [SQLiteQuery] = layout == .oneTable ? [.get] : [.get, .getLarge]
    do {
      for query in queries { sqlite3_finalize(try connection.prepare(query.sql(layout), .open)) }
    } catch let error as StorageError where error.kind == .engine {
      throw Self.error(
        .corrupt, path, "The file says that it is a store, but has no table. Restore a backup.")
    }
  }

  private func checkFormat(_ applicationID: Int, _ version: Int) throws {
    if applicationID != Self.applicationID {
      throw Self.error(
        .notAStorage, path,
        """
        This is an SQLite database, but not one that this driver made. It was left as it is; use another path.
        """)
    }
    _ = try layout(format: version, .open)
  }

  /// The layout of a store of format `version`; throws where that is newer than this driver.
  @inline(__always)
  func layout(format version: Int, _ operation: StorageError.Operation) throws -> SQLiteLayout {
    if let layout = SQLiteLayout(format: version) { return layout }
    throw newerFormat(version, operation)
  }

  /// The layout in a transaction that writes, which another process may have changed since the last one.
  func layout(of connection: SQLiteConnection) throws -> SQLiteLayout {
    let statement = try connection.take(.format, .write)
    defer { connection.giveBack(statement) }
    let code = sqlite3_step(statement.handle)
    if code != SQLITE_ROW { throw connection.failure(code, .write) }
    return try layout(format: Int(sqlite3_column_int(statement.handle, 0)), .write)
  }

  private func newerFormat(_ version: Int, _ operation: StorageError.Operation) -> StorageError {
    StorageError(
      .newerFormat, during: operation, driver: driverName,
      message: """
        \(path): The store has format \(version), and this version of the driver knows formats up to \
        \(SQLiteLayout.count). It was left as it is; use a newer version.
        """)
  }

  /// Makes the table, in one transaction, unless another process was faster.
  private func make(_ connection: SQLiteConnection) throws {
    try connection.execute("BEGIN EXCLUSIVE")
    do {
      // The transaction itself makes the first page, so that only a table shows that another process was here.
      if try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 {
        try connection.execute("PRAGMA application_id = \(Self.applicationID)")
        try connection.execute("PRAGMA user_version = \(Self.formatVersion)")
        try connection.execute(SQLiteLayout.make)
        connection.madeStore = true
      }
      try connection.execute("COMMIT")
    } catch {
      if connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
      throw error
    }
  }

  // MARK: The file system

  /// SQLite must be 3.33 or later (2020; it has upserts and `sqlite_schema`) and built for threads.
  private static func checkLibrary() throws {
    if sqlite3_threadsafe() == 0 || sqlite3_libversion_number() < 3_033_000 {
      throw StorageError(
        .engine, during: .open, driver: driverName,
        message: """
          SQLite \(String(cString: sqlite3_libversion())) is too old or was built without threads. \
          Install version 3.33 or later, built with SQLITE_THREADSAFE=1 or 2.
          """)
    }
  }

  /// The absolute path without links. The file may be missing, its folder not.
  private static func realPath(_ path: String) throws -> String {
    if let found = realpath(path, nil) {
      defer { free(found) }
      return String(cString: found)
    }
    if errno != ENOENT { throw systemError(path, errno) }
    var folder = ""
    var name = path[...]
    // Among the bytes: with a name that begins with a combining mark, the slash before it is no character by itself.
    let slash = UInt8(ascii: "/")
    while name.utf8.count > 1 && name.utf8.last == slash { name.unicodeScalars.removeLast() }
    if let place = name.utf8.lastIndex(of: slash) {
      let end = name.utf8.index(after: place)
      folder = String(name[..<end])
      name = name[end...]
    }
    guard let found = realpath(folder.isEmpty ? "." : folder, nil) else { throw systemError(path, errno) }
    defer { free(found) }
    let parent = String(cString: found)
    return parent.hasSuffix("/") ? parent + name : "\(parent)/\(name)"
  }

  /// Whether nobody can write below `path`, whatever the permissions are.
  private static func isOnReadOnlyFileSystem(_ path: String) -> Bool {
    var status = statvfs()
    return statvfs(path, &status) == 0 && UInt(status.f_flag) & UInt(ST_RDONLY) != 0
  }

  /// A file read without its write-ahead log would lack the commits that are only there. If it has a rollback journal, a writer
  /// was ended, and may have written a part of its changes.
  private static func checkComplete(_ path: String) throws {
    if mayHoldTransaction(path + "-journal") {
      throw error(
        .permissionDenied, path,
        """
        A writer was ended in the midst of a transaction (\(path)-journal), which cannot be taken back where nothing may \
        be written. Open and close the store for writing once, or copy both files to where that is possible.
        """)
    }
    var status = stat()
    if stat(path + "-wal", &status) == 0 && status.st_size > 0 {
      throw error(
        .permissionDenied, path,
        """
        The store has commits in its write-ahead log (\(path)-wal), which cannot be read where nothing may \
        be written. Open and close it for writing once, or copy both files to where that is possible.
        """)
    }
  }

  /// Whether a journal is one by which SQLite would take a transaction back. One that it kept after a commit is empty, or begins
  /// with a zero. SQLite has no locks on this file that closing it could drop.
  private static func mayHoldTransaction(_ journal: String) -> Bool {
    let file = open(journal, O_RDONLY | O_CLOEXEC)
    if file < 0 { return errno == EACCES }
    defer { close(file) }
    var first: UInt8 = 0
    return read(file, &first, 1) == 1 && first != 0
  }

  /// The URI that opens a file as one that nobody changes.
  private static func immutableName(_ path: String) -> String {
    let plain = Set("/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
    var name = "file:"
    for byte in path.utf8 {
      if plain.contains(byte) {
        name.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16)
        name += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return name + "?immutable=1"
  }

  static func error(_ kind: StorageError.Kind, _ path: String, _ message: String) -> StorageError {
    StorageError(kind, during: .open, driver: driverName, message: "\(path): \(message)")
  }

  /// The error for a system call about the file that failed.
  private static func systemError(_ path: String, _ code: Int32) -> StorageError {
    SQLiteFailure(code: SQLITE_CANTOPEN, systemError: code, text: "unable to open the file")
      .storageError(during: .open, path: path)
  }
}

public import GarageDriver

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

extension SQLiteStorage: BackingUp {
  /// How many pages are copied between two calls of the progress.
  private static let pagesInStep: Int32 = 256

  /// Makes a file at `path` that holds one committed state: page by page with `sqlite3_backup`, or written anew with
  /// `VACUUM INTO` where it is to be compact.
  ///
  /// All pages are read in one read transaction. Without one the copy would begin again with each commit, and never end beside
  /// a busy writer. With it the log cannot be emptied meanwhile, and grows. The copy has the permissions of the store's file.
  public func backUp(
    to path: String, compacting: Bool, progress: (_ completed: Int, _ total: Int) throws -> Void
  ) throws {
    try lifetime.withRead {
      try PartialStore.make(
        at: path, companions: ["-wal", "-shm", "-journal"], makesFile: true, driver: driverName
      ) {
        partial in
        let source = try readers.openConnection()
        defer { source.close() }
        if compacting {
          try Self.writeAnew(source, to: partial, progress)
        } else {
          try Self.copyPages(source, to: partial, progress)
        }
        try Self.finish(partial)
        letRead(partial)
      }
    }
  }

  /// Gives the copy the store's permissions for reading, and lets its owner write it. Where the file system knows no
  /// permissions there are none to give.
  private func letRead(_ copy: String) {
    var status = stat()
    if stat(readers.file.path, &status) == 0 { _ = chmod(copy, status.st_mode & 0o777 | 0o600) }
  }

  private static func copyPages(
    _ source: SQLiteConnection, to path: String, _ progress: (Int, Int) throws -> Void
  ) throws {
    let target = try SQLiteConnection(
      path: path, name: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    defer { target.close() }
    // Until it is complete nobody needs it, and then it is synced as a whole.
    try target.execute("PRAGMA journal_mode = OFF", .write)
    try target.execute("PRAGMA synchronous = OFF", .write)
    try source.execute("BEGIN", .read)
    // This takes the snapshot.
    try source.execute("SELECT count(*) FROM sqlite_schema", .read)
    guard let backup = sqlite3_backup_init(target.handle, "main", source.handle, "main") else {
      throw target.failure(sqlite3_errcode(target.handle), .write)
    }
    var isFinished = false
    defer { if !isFinished { sqlite3_backup_finish(backup) } }
    var code = SQLITE_OK
    while code == SQLITE_OK {
      code = sqlite3_backup_step(backup, pagesInStep)
      let total = Int(sqlite3_backup_pagecount(backup))
      if code == SQLITE_OK || code == SQLITE_DONE {
        try progress(total - Int(sqlite3_backup_remaining(backup)), total)
      }
    }
    isFinished = true
    let result = sqlite3_backup_finish(backup)
    if code != SQLITE_DONE { throw error(code, source, target) }
    if result != SQLITE_OK { throw error(result, source, target) }
    try source.execute("COMMIT", .read)
  }

  /// The error of the connection that failed: of the one that reads, or of the one that writes.
  private static func error(
    _ code: Int32, _ source: SQLiteConnection, _ target: SQLiteConnection
  ) -> StorageError {
    let isOfSource = sqlite3_errcode(source.handle) & 0xFF == code & 0xFF
    return isOfSource ? source.failure(code, .read) : target.failure(code, .write)
  }

  private static func writeAnew(
    _ source: SQLiteConnection, to path: String, _ progress: (Int, Int) throws -> Void
  ) throws {
    let pageByteCount = max(512, try source.integer("PRAGMA page_size"))
    let total = try source.integer("PRAGMA page_count") - (try source.integer("PRAGMA freelist_count"))
    let name = path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
    try progress(0, total)
    try SQLiteInterruption.run(on: source) {
      var status = stat()
      let byteCount = stat(path, &status) == 0 ? Int(status.st_size) : 0
      try progress(min(byteCount / pageByteCount, total), total)
    } _: {
      do { try source.execute("VACUUM INTO '\(name)'", .read) } catch var error as StorageError
        where error.kind == .storageFull
      {
        // SQLite speaks of the store, which is only read.
        error.operation = .write
        error.message = "\(path): There is no room left for the copy. Free some, or make the copy elsewhere."
        throw error
      }
    }
    try progress(total, total)
  }

  /// Sets the copy to use a log, as every store does: a storage that opens it for reading only could not.
  private static func finish(_ path: String) throws {
    let connection = try SQLiteConnection(path: path, name: path, flags: SQLITE_OPEN_READWRITE)
    defer { connection.close() }
    try connection.execute("PRAGMA journal_mode = WAL", .write)
    if try connection.integer("PRAGMA application_id") != SQLiteFile.applicationID {
      throw StorageError(
        .io, during: .write, driver: driverName,
        message:
          "\(path): What was written cannot be read again. Check the disk, and make the backup elsewhere.")
    }
  }
}

extension SQLiteStorage: Compacting {
  /// The bytes of the pages in the file's free list.
  ///
  /// - Throws: ``StorageError`` where the file cannot be opened or read.
  public func freeByteCount() throws -> Int? {
    try lifetime.withRead {
      let connection = try readers.openConnection()
      defer { connection.close() }
      return try connection.integer("PRAGMA freelist_count") * connection.integer("PRAGMA page_size")
    }
  }

  /// Writes the store anew (`VACUUM`), as its only writer, and empties the log.
  ///
  /// It needs as much free room as the store takes, in the folder for temporary files and beside the store. The room that it
  /// saves is given back with the first write after the last reader of an older state has ended.
  public func compact(progress: (_ completed: Int, _ total: Int) throws -> Void) throws -> CompactionResult {
    try lifetime.withWrite {
      guard let writer else {
        throw StorageError(
          .readOnly, during: .write, driver: driverName,
          message: "The storage was opened for reading only. Open it without that option to compact it.")
      }
      let before = diskByteCount
      try writer.runAlone { connection in
        let total = try connection.integer("PRAGMA page_count")
        let log = readers.file.path + "-wal"
        let pageByteCount = max(512, try connection.integer("PRAGMA page_size"))
        try progress(0, total)
        try SQLiteInterruption.run(on: connection) {
          // SQLite writes to the log only near the end: until then nothing tells how far it has come.
          var status = stat()
          let byteCount = stat(log, &status) == 0 ? Int(status.st_size) : 0
          try progress(min(byteCount / pageByteCount, total), total)
        } _: {
          try connection.execute("VACUUM", .write)
        }
      }
      return CompactionResult(byteCountBefore: before, byteCountAfter: diskByteCount)
    }
  }

  /// How much the file and its log take.
  private var diskByteCount: Int {
    ["", "-wal"].reduce(0) { sum, suffix in
      var status = stat()
      return stat(readers.file.path + suffix, &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
    }
  }
}

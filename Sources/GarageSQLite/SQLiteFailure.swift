package import GarageDriver

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

/// The driver's name in errors and in ``StorageInfo``.
let driverName = "SQLite"

/// What SQLite says about a call that failed.
package struct SQLiteFailure {
  /// The extended result code: https://sqlite.org/rescode.html
  package var code: Int32
  /// `errno` of the system call that failed last on the connection, 0 where there was none.
  package var systemError: Int32
  /// SQLite's own words.
  package var text: String

  /// `SQLITE_IOERR_CORRUPTFS`, which Swift does not import.
  private static let damagedFileSystem = SQLITE_IOERR | 33 << 8

  /// `SQLITE_READONLY_ROLLBACK`, which Swift does not import either.
  static let unfinishedTransaction = SQLITE_READONLY | 3 << 8

  package init(code: Int32, systemError: Int32 = 0, text: String) {
    self.code = code
    self.systemError = systemError
    self.text = text
  }

  /// The last failure on a connection.
  init(code: Int32, on handle: OpaquePointer?) {
    self.code = code
    guard let handle else {
      systemError = 0
      text = String(cString: sqlite3_errstr(code))
      return
    }
    // A connection remembers its last failure; a code that came from elsewhere is described by itself.
    let isLast = sqlite3_errcode(handle) & 0xFF == code & 0xFF
    if isLast { self.code = sqlite3_extended_errcode(handle) }
    systemError = sqlite3_system_errno(handle)
    text = String(cString: isLast ? sqlite3_errmsg(handle) : sqlite3_errstr(code))
    if self.code == Self.failedWrite, let path = sqlite3_db_filename(handle, "main"),
      Self.isAtSizeLimit(String(cString: path))
    {
      systemError = EFBIG
    }
  }

  /// `SQLITE_IOERR_WRITE`.
  private static let failedWrite = SQLITE_IOERR | 3 << 8

  /// Whether the file, or its log, is as large as this process may make it (`ulimit -f`). SQLite does not keep the system's
  /// error number of a write that failed because of that.
  private static func isAtSizeLimit(_ path: String) -> Bool {
    var limit = rlimit()
    #if canImport(Glibc)
      let code = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
      let code = getrlimit(RLIMIT_FSIZE, &limit)
    #endif
    if code != 0 { return false }
    // A write goes on up to the limit, and may have left at most a page of it.
    let largestPage: UInt64 = 1 << 16
    return [path, path + "-wal"].contains { path in
      var status = stat()
      return stat(path, &status) == 0
        && UInt64(clamping: status.st_size) + largestPage > UInt64(limit.rlim_cur)
    }
  }

  /// The failure as the protocol's error.
  package func storageError(during operation: StorageError.Operation, path: String) -> StorageError {
    let (kind, isRetryable, advice) = meaning
    return StorageError(
      kind, during: operation, driver: driverName, engineCode: Int(code), isRetryable: isRetryable,
      message: "\(path): \(text)\(systemText). \(advice)")
  }

  private var systemText: String {
    systemError == 0 || code & 0xFF == SQLITE_BUSY ? "" : " (\(String(cString: strerror(systemError))))"
  }

  private var meaning: (StorageError.Kind, isRetryable: Bool, advice: String) {
    if code == Self.damagedFileSystem { return damaged }
    if code == Self.unfinishedTransaction {
      return (
        .permissionDenied, false,
        """
        A writer was ended in the midst of a transaction. Open and close the store for writing once, which takes it back.
        """
      )
    }
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
      return (
        .busy, true,
        "Another process holds the store for longer than the busy timeout. Try again, or allow a longer one."
      )
    case SQLITE_FULL: return full
    case SQLITE_CORRUPT: return damaged
    case SQLITE_NOTADB:
      return (.notAStorage, false, "The file was not written by this driver. It was left as it is.")
    case SQLITE_TOOBIG:
      return (.valueTooLarge, false, "This build of SQLite takes no value of that size. Split it.")
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: return denied
    case SQLITE_CANTOPEN, SQLITE_IOERR: return systemMeaning
    case SQLITE_NOMEM:
      return (.engine, false, "Memory ran out. Use smaller values, or fewer at a time.")
    default:
      return (.engine, false, "This is a failure that the driver does not know; the code says more.")
    }
  }

  /// What a failed system call means.
  private var systemMeaning: (StorageError.Kind, isRetryable: Bool, advice: String) {
    switch systemError {
    case ENOSPC, EDQUOT, EFBIG: return full
    case EACCES, EPERM, EROFS: return denied
    case ENOENT, ENOTDIR:
      return (
        .notFound, false, "The file, or its folder, is not there. Create the folder, or check the path."
      )
    case ENAMETOOLONG:
      return (.notFound, false, "The name is too long, with `-journal` added to it. Choose a shorter one.")
    case EMFILE, ENFILE:
      return (
        .readersFull, true,
        "The process has too many files open. Close some, nest fewer reads, or raise its limit (ulimit -n)."
      )
    default:
      return (
        .io, false,
        "The file system failed below SQLite. Check the disk and what the system logged about it."
      )
    }
  }

  private var full: (StorageError.Kind, isRetryable: Bool, advice: String) {
    (
      .storageFull, false,
      "There is no room left; the transaction was rolled back. Free some room, then make the call again."
    )
  }

  private var denied: (StorageError.Kind, isRetryable: Bool, advice: String) {
    (
      .permissionDenied, false,
      """
      The file and its folder must be readable and writable. Change their permissions, or open with isReadOnly, or \
      with isImmutable where the folder cannot be written and nobody changes the file.
      """
    )
  }

  private var damaged: (StorageError.Kind, isRetryable: Bool, advice: String) {
    (.corrupt, false, "The file is damaged. Keep a copy of it, and restore a backup.")
  }
}

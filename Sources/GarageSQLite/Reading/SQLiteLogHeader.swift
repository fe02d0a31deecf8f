internal import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// What names the last commit: the header of the index to the write-ahead log, which all processes share in memory.
///
/// Every commit changes it before the commit returns: it has a number that each commit counts up, and the length of the log
/// (<https://sqlite.org/walformat.html#the_wal_index_header>). It is 48 bytes long, and a copy of it follows. A commit changes
/// the copy first. So as long as the header is the same, no commit has returned.
struct SQLiteLogHeader {
  private var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)

  /// The header as it stands; another process may be just changing it.
  init(at place: UnsafeRawPointer) {
    withUnsafeMutableBytes(of: &words) { SharedWords.copy(to: $0, from: place) }
  }

  /// Whether it is still the same.
  @inline(__always)
  func isSame(at place: UnsafeRawPointer) -> Bool {
    withUnsafeBytes(of: words) { SharedWords.areSame($0, at: place) }
  }
}

extension SQLiteConnection {
  /// Where the header stands for as long as this connection is open; nil where the log's index is not shared.
  ///
  /// Only for a connection that has read from the log, and so maps the index anyway.
  func findLogHeader() -> UnsafeRawPointer? {
    // If the file has no log, SQLite would make an index for one all the same, and keep it until the process ends.
    guard (try? execute("PRAGMA main.journal_mode", .read)) == "wal" else { return nil }
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK,
      let file = pointer, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
      let map = methods.pointee.xShmMap
    else { return nil }
    var region: UnsafeMutableRawPointer?
    let code = map(file, 0, SQLiteConnection.indexRegionByteCount, 0, &region)
    return code == SQLITE_OK ? region.map { UnsafeRawPointer($0) } : nil
  }

  /// What the index is mapped in pieces of.
  private static let indexRegionByteCount: Int32 = 32768
}

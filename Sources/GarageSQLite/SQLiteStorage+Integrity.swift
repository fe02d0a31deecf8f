public import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

extension SQLiteStorage: IntegrityChecking {
  /// How many complaints are listed at most.
  private static let maximumCount = 100

  /// What SQLite's `PRAGMA integrity_check` says, the first 100 complaints: pages that nothing or several things use, rows
  /// out of order, indexes that miss rows. It reads all of the file, on a connection of its own.
  ///
  /// - Throws: ``StorageError`` where the file cannot be opened or read.
  public func integrityComplaints() throws -> [String] {
    try lifetime.withRead {
      let connection = try readers.openConnection()
      defer { connection.close() }
      let statement = try connection.prepare("PRAGMA integrity_check(\(Self.maximumCount))", .read)
      defer { sqlite3_finalize(statement) }
      var complaints: [String] = []
      while true {
        switch sqlite3_step(statement) {
        case SQLITE_ROW:
          if let text = sqlite3_column_text(statement, 0) { complaints.append(String(cString: text)) }
        case SQLITE_DONE: return complaints == ["ok"] ? [] : complaints
        case let code:
          let error = connection.failure(code, .read)
          // A file that is too damaged to be checked is a finding, too.
          guard error.kind == .corrupt else { throw error }
          return complaints + [error.message]
        }
      }
    }
  }
}

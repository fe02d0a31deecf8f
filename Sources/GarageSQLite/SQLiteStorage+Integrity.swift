public import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

extension SQLiteStorage: IntegrityChecking {
  /// How many complaints are listed at most.
  private static let maximumCount = 100

  /// The first 100 complaints of SQLite's `PRAGMA integrity_check`: pages that are used by nothing, or more than once, rows out
  /// of order, indexes that miss rows. It reads all of the file, on a connection of its own.
  ///
  /// - Throws: ``StorageError`` where the file cannot be opened or read.
  public func integrityComplaints() throws -> [String] {
    try lifetime.withRead {
      let connection = try readers.openConnection()
      defer { connection.close() }
      // Each page is read once. If they were mapped, all would count as the process's memory.
      try connection.execute("PRAGMA mmap_size = 0", .read)
      let statement = try connection.prepare("PRAGMA integrity_check(\(Self.maximumCount))", .read)
      defer { sqlite3_finalize(statement) }
      var complaints: [String] = []
      while true {
        switch sqlite3_step(statement) {
        case SQLITE_ROW:
          if let text = sqlite3_column_text(statement, 0) { complaints.append(String(cString: text)) }
        case SQLITE_DONE: return try complaints == ["ok"] ? connection.complaintsOfUnusedPages() : complaints
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

extension SQLiteConnection {
  /// Complains of pages that neither a table nor the list of free pages leads to, where the newest entry of the schema is a
  /// view.
  ///
  /// SQLite's own check does not look for such pages then: it begins with the newest entry's root page, and takes the 0 of a
  /// view for the sign that it was asked about one table only. It says "ok" although all that a damaged root led to is gone.
  /// The newest entry is a view where another program added one, or where an older version of this driver made `entries` after
  /// `large`. If SQLite was built without `dbstat`, nothing can be said.
  fileprivate func complaintsOfUnusedPages() throws -> [String] {
    let newest =
      "SELECT 1 FROM sqlite_schema WHERE rowid = (SELECT max(rowid) FROM sqlite_schema) AND type = 'view'"
    guard
      try integer(newest) == 1,
      try integer("SELECT count(*) FROM pragma_module_list WHERE name = 'dbstat'") == 1
    else { return [] }
    // One snapshot: the number of pages may change between two statements.
    let unusedCount = try integer(
      """
      SELECT (SELECT page_count FROM pragma_page_count)
        - (SELECT freelist_count FROM pragma_freelist_count)
        - (SELECT page_count > 0x40000000 / page_size FROM pragma_page_count, pragma_page_size)
        - (SELECT count(*) FROM dbstat)
      """)
    return unusedCount > 0 ? ["\(unusedCount) pages are never used"] : []
  }
}

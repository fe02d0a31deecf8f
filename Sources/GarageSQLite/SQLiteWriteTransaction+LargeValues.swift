internal import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// Changes of entries that have a large value, or get one: both tables in one transaction.
extension SQLiteWriteTransaction {
  /// Whether the put or removal that ran last changed no entry: because the entry has a large value, or because there is none
  /// to remove.
  @inline(__always)
  var hasSpared: Bool { connection.layout != .oneTable && sqlite3_changes(connection.handle) == 0 }

  /// Stores a value in the table of large ones, and its number under the key.
  func putLarge(_ value: RawSpan, for key: RawSpan) throws {
    if connection.layout == .oneTable { try addLargeValues() }
    let id = try takeLargeID()
    try key.withUnsafeBytes { key in
      let changes = try change(.put, .put) { statement in
        let code = bind(key, at: 1, of: statement)
        return code == SQLITE_OK ? sqlite3_bind_int64(statement, 2, id) : code
      }
      // A key that already has a large value keeps its number.
      let query: SQLiteQuery = changes == 1 ? .insertLarge : .updateLarge
      guard let id = changes == 1 ? id : try largeID(of: key, .put) else {
        throw failed(SQLITE_CORRUPT, .put)
      }
      let written = try value.withUnsafeBytes { value in
        try change(query, .put) { statement in
          let code = sqlite3_bind_int64(statement, 1, id)
          return code == SQLITE_OK ? bind(value, at: 2, of: statement) : code
        }
      }
      if written != 1 { throw failed(SQLITE_CORRUPT, .put) }
    }
  }

  /// Stores a small value in place of a large one.
  func replaceLarge(with value: UnsafeRawBufferPointer, for key: UnsafeRawBufferPointer) throws {
    guard let id = try largeID(of: key, .put) else { throw failed(SQLITE_CORRUPT, .put) }
    try change(.removeLarge, .put) { sqlite3_bind_int64($0, 1, id) }
    try change(.replaceLarge, .put) { statement in
      let code = bind(key, at: 1, of: statement)
      return code == SQLITE_OK ? bind(value, at: 2, of: statement) : code
    }
  }

  /// Removes an entry that has a large value, and the value; nothing where there is no such entry.
  func removeLarge(of key: UnsafeRawBufferPointer) throws {
    guard let id = try largeID(of: key, .remove) else { return }
    try change(.removeLarge, .remove) { sqlite3_bind_int64($0, 1, id) }
    try change(.removePointer, .remove) { bind(key, at: 1, of: $0) }
  }

  /// Runs a change, and returns how many rows it changed.
  ///
  /// - Parameter bindAll: binds what the query asks for, and returns SQLite's code.
  @discardableResult
  func change(
    _ query: SQLiteQuery, _ operation: StorageError.Operation, _ bindAll: (OpaquePointer) -> Int32
  ) throws -> Int {
    let statement = try take(query, operation)
    defer { connection.giveBack(statement) }
    var code = bindAll(statement.handle)
    if code == SQLITE_OK { code = sqlite3_step(statement.handle) }
    if code != SQLITE_DONE { throw failed(code, operation) }
    return Int(sqlite3_changes(connection.handle))
  }

  /// The number of the large value of a key; nil where it has none.
  private func largeID(of key: UnsafeRawBufferPointer, _ operation: StorageError.Operation) throws -> Int64? {
    let statement = try take(.get, operation)
    defer { connection.giveBack(statement) }
    return try find(key, statement.handle) ? largeID(0, of: statement.handle) : nil
  }

  /// A number that no large value has: one more than the largest, which is asked for once in a transaction.
  private func takeLargeID() throws -> Int64 {
    if nextLargeID == nil {
      let statement = try take(.lastLarge, .put)
      defer { connection.giveBack(statement) }
      let code = sqlite3_step(statement.handle)
      if code != SQLITE_ROW { throw failed(code, .put) }
      // Without rows there is no largest number. SQLite then says 0 here.
      nextLargeID = max(0, sqlite3_column_int64(statement.handle, 0))
    }
    let (id, isBeyond) = nextLargeID.unsafelyUnwrapped.addingReportingOverflow(1)
    // No store has so many. Another program wrote that number.
    if isBeyond { throw failed(SQLITE_CORRUPT, .put) }
    nextLargeID = id
    return id
  }

  /// Gives the store its second table. A rollback takes it away again.
  private func addLargeValues() throws {
    do {
      for sql in SQLiteLayout.addLargeValues { try connection.execute(sql, .put) }
    } catch let error as StorageError {
      throw failed(error)
    }
    connection.layout = .withLargeValues
  }
}

internal import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// Shows the rows of a statement to Swift from within the statement: a function in its condition is called for each row, and
/// is true only where the statement is to end. One step then goes through all rows. In a scan of many, a row takes a tenth to a
/// fifth less time than if it is returned by a step of its own.
///
/// Other statements of the connection may run meanwhile. This one must not be reset before it has ended.
struct SQLiteRows {
  /// One row: what the statement calls the function with.
  struct Row {
    fileprivate let arguments: UnsafeMutablePointer<OpaquePointer?>

    /// The bytes of an argument, which are there until the function returns.
    @inline(__always)
    func bytes(_ index: Int) -> UnsafeRawBufferPointer {
      let start = sqlite3_value_blob(arguments[index])
      let count = start == nil ? 0 : Int(sqlite3_value_bytes(arguments[index]))
      return UnsafeRawBufferPointer(start: start, count: count)
    }

    /// The argument as a number; nil if it is something else.
    @inline(__always)
    func integer(_ index: Int) -> Int64? {
      sqlite3_value_type(arguments[index]) == SQLITE_INTEGER ? sqlite3_value_int64(arguments[index]) : nil
    }
  }

  /// The function's name. It takes a key and a value.
  static let function = "garage_visit"

  /// Returns whether to stop.
  fileprivate let visit: (Row) throws -> Bool
  fileprivate var error: (any Error)?

  private typealias Current = UnsafeMutablePointer<SQLiteRows>?

  /// Gives a connection the function. It shows its rows to what `current` leads to.
  static func install(
    on handle: OpaquePointer, _ current: UnsafeMutablePointer<UnsafeMutablePointer<SQLiteRows>?>
  ) -> Int32 {
    sqlite3_create_function_v2(
      handle, function, 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, current,
      { call, _, arguments in
        guard let arguments, let rows = sqlite3_user_data(call)?.assumingMemoryBound(to: Current.self).pointee
        else { return sqlite3_result_int(call, 1) }
        do {
          // Without a result it is NULL, which is not true.
          if try rows.pointee.visit(Row(arguments: arguments)) { sqlite3_result_int(call, 1) }
        } catch {
          rows.pointee.error = error
          sqlite3_result_int(call, 1)
        }
      }, nil, nil, nil)
  }
}

extension SQLiteConnection {
  /// Steps through `statement` and calls `visit` for each of its rows until that is true. Returns SQLite's code: done, or a row
  /// if `visit` was true.
  @inline(__always)
  func forEachRow(
    of statement: OpaquePointer, _ visit: (SQLiteRows.Row) throws -> Bool
  ) throws -> Int32 {
    try withoutActuallyEscaping(visit) { visit in
      var rows = SQLiteRows(visit: visit)
      return try withUnsafeMutablePointer(to: &rows) { place in
        // Another statement may show its rows while this one waits for its own visit.
        let outer = currentRows.pointee
        currentRows.pointee = place
        defer { currentRows.pointee = outer }
        let code = sqlite3_step(statement)
        if let error = place.pointee.error { throw error }
        return code
      }
    }
  }
}

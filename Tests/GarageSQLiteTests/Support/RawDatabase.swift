import CSQLite
import Foundation

/// SQLite without the driver, for databases that are not stores and for locks from outside.
final class RawDatabase {
  private var handle: OpaquePointer?

  struct Failure: Error { var code: Int32, text: String }

  init(_ url: URL) throws {
    let code = sqlite3_open(url.path, &handle)
    if code != SQLITE_OK { throw Failure(code: code, text: "open") }
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs SQL and returns the first column of its last row.
  @discardableResult
  func run(_ sql: String) throws -> String? {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
    defer { sqlite3_finalize(statement) }
    var result: String?
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: result = sqlite3_column_text(statement, 0).map { String(cString: $0) }
      case SQLITE_DONE: return result
      default: throw failure
      }
    }
  }

  private var failure: Failure {
    Failure(code: sqlite3_extended_errcode(handle), text: String(cString: sqlite3_errmsg(handle)))
  }
}

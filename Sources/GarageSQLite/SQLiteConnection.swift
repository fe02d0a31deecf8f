internal import GarageDriver
internal import Synchronization

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// One SQLite connection and its prepared statements.
///
/// It is opened without SQLite's own mutex and used by one thread at a time: by whoever took it from the
/// pool, or by the thread that is inside the writer's gate.
final class SQLiteConnection: @unchecked Sendable {
  /// A number that no other connection of this process has, or ever had.
  private let number = SQLiteConnection.lastNumber.add(1, ordering: .relaxed).newValue
  private static let lastNumber = Atomic<UInt64>(0)
  let path: String
  let handle: OpaquePointer
  /// Whether it made the store.
  var madeStore = false
  /// Whether the engine failed in a way that makes it unwise to use this connection again.
  private(set) var isSuspect = false
  /// Statements at rest, by query. One is taken for as long as its row is lent, so that what is read
  /// meanwhile uses another one: lent bytes belong to their statement. Kept behind an address, because
  /// checking access to a property for exclusivity costs as much as the rest of a get's way through Swift.
  private let atRest: UnsafeMutablePointer<[OpaquePointer]>
  /// Which tables there are in the state that the transaction sees. Set when the transaction begins.
  @exclusivity(unchecked) var layout = SQLiteLayout.oneTable
  private var isOpen = true
  /// The length of the write-ahead log after the last commit, in pages; SQLite writes it in a call-back.
  private let logPages: UnsafeMutablePointer<Int32>
  /// Where removals that look at the value they remove write down what they found.
  private let looked: UnsafeMutablePointer<SQLiteLook>
  private var canLook = false
  /// What shows the rows of the statement that runs; nil where none does. See ``SQLiteRows``.
  let currentRows: UnsafeMutablePointer<UnsafeMutablePointer<SQLiteRows>?>
  private var canShowRows = false

  /// Opens the file; `flags` are SQLite's for opening, `name` a path or `file:` URI.
  init(path: String, name: String, flags: Int32) throws {
    self.path = path
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let opened else {
      let failure = SQLiteFailure(code: code, on: opened)
      sqlite3_close(opened)
      throw failure.storageError(during: .open, path: path)
    }
    sqlite3_extended_result_codes(opened, 1)
    handle = opened
    atRest = .allocate(capacity: Self.slotCount)
    atRest.initialize(repeating: [], count: Self.slotCount)
    logPages = .allocate(capacity: 1)
    logPages.initialize(to: 0)
    looked = .allocate(capacity: 1)
    looked.initialize(to: SQLiteLook())
    currentRows = .allocate(capacity: 1)
    currentRows.initialize(to: nil)
  }

  deinit {
    atRest.deinitialize(count: Self.slotCount)
    atRest.deallocate()
    logPages.deallocate()
    looked.deallocate()
    currentRows.deallocate()
  }

  /// Finalizes the statements and closes the connection. All its statements must be at rest.
  func close() {
    if !isOpen { return }
    isOpen = false
    for slot in 0..<Self.slotCount {
      for statement in atRest[slot] { sqlite3_finalize(statement) }
      atRest[slot] = []
    }
    sqlite3_close_v2(handle)
  }

  // MARK: Statements

  /// A statement for `query`, which the caller has to itself until ``giveBack(_:)``.
  func take(_ query: SQLiteQuery, _ operation: StorageError.Operation) throws -> SQLiteStatement {
    let slot = query.rawValue * SQLiteLayout.count + layout.rawValue
    if let handle = atRest[slot].popLast() { return SQLiteStatement(handle: handle, slot: slot) }
    if query.showsRows, !canShowRows {
      let code = SQLiteRows.install(on: handle, currentRows)
      if code != SQLITE_OK { throw failure(code, operation) }
      canShowRows = true
    }
    return SQLiteStatement(handle: try prepare(query.sql(layout), operation), slot: slot)
  }

  /// Resets a statement and keeps it for the next use.
  func giveBack(_ statement: SQLiteStatement) {
    sqlite3_reset(statement.handle)
    if atRest[statement.slot].count < Self.maximumAtRest {
      atRest[statement.slot].append(statement.handle)
    } else {
      sqlite3_finalize(statement.handle)
    }
  }

  /// Enough for gets and scans nested as deep as real code goes; deeper ones are prepared anew.
  private static let maximumAtRest = 64
  private static let slotCount = SQLiteQuery.allCases.count * SQLiteLayout.count

  /// Resets all statements after a failure, because none may run while the log is emptied.
  func resetStatements() {
    var statement = sqlite3_next_stmt(handle, nil)
    while let running = statement {
      if sqlite3_stmt_busy(running) != 0 { sqlite3_reset(running) }
      statement = sqlite3_next_stmt(handle, running)
    }
  }

  func prepare(_ sql: String, _ operation: StorageError.Operation) throws -> OpaquePointer {
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else { throw failure(code, operation) }
    return statement
  }

  /// Where a removal that looks notes what it found.
  func look() throws -> UnsafeMutablePointer<SQLiteLook> {
    if !canLook {
      let code = SQLiteLook.install(on: handle, notingAt: looked)
      if code != SQLITE_OK { throw failure(code, .remove) }
      canLook = true
    }
    return looked
  }

  /// Runs a query that returns no rows and has no parameters.
  func run(_ query: SQLiteQuery, _ operation: StorageError.Operation) throws {
    let statement = try take(query, operation)
    let code = sqlite3_step(statement.handle)
    // The error is made first: resetting keeps its code, but not the system's error.
    let error = code == SQLITE_DONE ? nil : failure(code, operation)
    giveBack(statement)
    if let error { throw error }
  }

  /// Runs SQL that is needed once, and returns the first column of its first row.
  @discardableResult
  func execute(_ sql: String, _ operation: StorageError.Operation = .open) throws -> String? {
    let statement = try prepare(sql, operation)
    defer { sqlite3_finalize(statement) }
    switch sqlite3_step(statement) {
    case SQLITE_DONE: return nil
    case SQLITE_ROW: return sqlite3_column_text(statement, 0).map { String(cString: $0) }
    case let code: throw failure(code, operation)
    }
  }

  func integer(_ sql: String) throws -> Int {
    try execute(sql).flatMap { Int($0) } ?? 0
  }

  // MARK: State

  /// Names the state that the open transaction of this connection sees; nil where it cannot be told.
  var stateName: UInt64? {
    // SQLite changes this number when a transaction begins on another state than the last one did.
    var version: UInt32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return code == SQLITE_OK ? number << 32 | UInt64(version) : nil
  }

  /// Whether the file begins as an SQLite database does but has less than 512 bytes, which every database has.
  ///
  /// Read through SQLite's own handle: closing a descriptor of ours would drop the locks of other connections.
  func isCutShort() -> Bool {
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK,
      let file = pointer,
      let methods = file.pointee.pMethods
    else { return false }
    var count: Int64 = 0
    guard methods.pointee.xFileSize?(file, &count) == SQLITE_OK, count < 512 else { return false }
    let magic = Array("SQLite format 3\0".utf8)
    // For a file of one byte SQLite says 0; an empty file is not looked at.
    let known = min(max(1, Int(count)), magic.count)
    var bytes = [UInt8](repeating: 0, count: known)
    return methods.pointee.xRead?(file, &bytes, Int32(known), 0) == SQLITE_OK && bytes[...] == magic[..<known]
  }

  /// Whether the file begins with zeros where a database has its header.
  func beginsWithZeros() -> Bool {
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK,
      let file = pointer,
      let methods = file.pointee.pMethods
    else { return false }
    var bytes = [UInt8](repeating: 1, count: 100)
    return methods.pointee.xRead?(file, &bytes, Int32(bytes.count), 0) == SQLITE_OK
      && bytes.allSatisfy { $0 == 0 }
  }

  /// The error for a failed call on this connection.
  func failure(_ code: Int32, _ operation: StorageError.Operation) -> StorageError {
    let failure = SQLiteFailure(code: code, on: handle)
    switch failure.code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_FULL, SQLITE_TOOBIG: break
    default: isSuspect = true
    }
    return failure.storageError(during: operation, path: path)
  }

  /// Whether a `BEGIN` is in force. Some failures make SQLite roll back by itself.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// How many pages the store has, those in the log included; nil where that cannot be told.
  func pageCount() -> Int? {
    guard let statement = try? take(.pageCount, .commit) else { return nil }
    defer { giveBack(statement) }
    return sqlite3_step(statement.handle) == SQLITE_ROW ? Int(sqlite3_column_int64(statement.handle, 0)) : nil
  }

  /// The length of the write-ahead log after the last commit, in pages; 0 where that commit changed nothing,
  /// or the length was taken already.
  func takeLogPageCount() -> Int {
    defer { logPages.pointee = 0 }
    return Int(logPages.pointee)
  }

  /// Lets SQLite note the length of the log after each commit, in place of its own checkpoints.
  func watchLog() {
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        context?.assumingMemoryBound(to: Int32.self).pointee = pages
        return SQLITE_OK
      }, logPages)
  }
}

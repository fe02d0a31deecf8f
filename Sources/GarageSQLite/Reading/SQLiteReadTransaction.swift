package import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// Gets and scans on one connection.
class SQLiteReadTransaction: ReadTransaction {
  final let connection: SQLiteConnection
  /// Behind an address for the sake of speed: see ``SQLiteConnection``.
  final let state: UnsafeMutablePointer<TransactionState>
  /// Whether SQLite ended the transaction by itself, after a failure. Statements would then run outside any transaction.
  @exclusivity(unchecked) final var isAborted = false

  init(_ connection: SQLiteConnection) {
    self.connection = connection
    state = .allocate(capacity: 1)
    state.initialize(to: TransactionState(driver: driverName))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Makes a new transaction of an ended one that no other code holds.
  final func reopen() {
    state.pointee.beginAnew()
    isAborted = false
  }

  final func end() { state.pointee.end() }

  /// Ends, and returns the first failed operation.
  final func finish() -> StorageError? { state.pointee.finish() }

  @_specialize(where R == Void)
  final func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try begin(.get)
    try state.pointee.checkKey(key, .get, limit: StorageInfo.guaranteedKeyByteCount)
    let statement = try take(.get, .get)
    defer { connection.giveBack(statement) }
    return try key.withUnsafeBytes { key in
      let hasValue = try find(key, statement.handle)
      state.pointee.lend()
      defer { state.pointee.takeBack() }
      if !hasValue { return try body(nil) }
      if let id = largeID(0, of: statement.handle) { return try withLargeValue(id, .get, body) }
      return try body(column(0, of: statement.handle).bytes)
    }
  }

  final func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws {
    let isLarge = connection.layout != .oneTable
    let query: SQLiteQuery =
      switch direction {
      case .forward: .scanForward
      case .backward: range.upperBound == nil ? .scanBackward : .scanBackwardBelow
      }
    try walk(range, direction, query) { statement, end in
      try connection.forEachRow(of: statement) { row in
        let key = row.bytes(0)
        if end.isPassed(by: key) { return true }
        if isLarge, let id = row.integer(1) {
          return try withLargeValue(id, .scan) { try visit(key.bytes, $0.unsafelyUnwrapped) } == .stop
        }
        return try visit(key.bytes, row.bytes(1).bytes) == .stop
      }
    }
  }

  /// SQLite finds the key and does not read the value. The exception are large values that an earlier version stored beside
  /// their keys: of these it reads the ones whose keys it compares on the way.
  final func contains(_ key: RawSpan) throws -> Bool {
    try begin(.get)
    try state.pointee.checkKey(key, .get, limit: StorageInfo.guaranteedKeyByteCount)
    let statement = try take(.contains, .get)
    defer { connection.giveBack(statement) }
    return try key.withUnsafeBytes { try find($0, statement.handle) }
  }

  final func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (_ key: RawSpan) throws -> ScanStep
  ) throws {
    let query: SQLiteQuery =
      switch direction {
      case .forward: .keysForward
      case .backward: range.upperBound == nil ? .keysBackward : .keysBackwardBelow
      }
    // Many of these end at one of the first keys. For so few rows a step for each takes less time than SQLiteRows.
    try walk(range, direction, query) { statement, end in
      while true {
        let code = sqlite3_step(statement)
        if code != SQLITE_ROW { return code }
        let key = column(0, of: statement)
        if try end.isPassed(by: key) || visit(key.bytes) == .stop { return code }
      }
    }
  }

  /// Where a scan ends.
  private struct ScanEnd {
    /// The first key that is not wanted any more of a scan forward, the last one that is wanted of a scan backward; nil where all
    /// keys are wanted.
    var bound: UnsafeRawBufferPointer?
    var isForward: Bool

    @inline(__always)
    func isPassed(by key: UnsafeRawBufferPointer) -> Bool {
      guard let bound else { return false }
      let order = compareKeysByWords(key, bound)
      return isForward ? order >= 0 : order < 0
    }
  }

  /// Lets `go` go from one bound of the range to the other; it returns SQLite's last code.
  @inline(__always)
  private final func walk(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ query: SQLiteQuery,
    _ go: (OpaquePointer, ScanEnd) throws -> Int32
  ) throws {
    try begin(.scan)
    if range.isEmpty { return }
    let statement = try take(query, .scan)
    defer { connection.giveBack(statement) }
    state.pointee.lend()
    defer { state.pointee.takeBack() }
    let isForward = direction == .forward
    let first = isForward ? range.lowerBound : range.upperBound
    let last = isForward ? range.upperBound : range.lowerBound.isEmpty ? nil : range.lowerBound
    try (first ?? []).withUnsafeBytes { first in
      if query.hasBound {
        let code = bind(first, at: 1, of: statement.handle)
        if code != SQLITE_OK { throw failed(code, .scan) }
      }
      try (last ?? []).withUnsafeBytes { bound in
        let end = ScanEnd(bound: last == nil ? nil : bound, isForward: isForward)
        let code = try go(statement.handle, end)
        if code != SQLITE_ROW && code != SQLITE_DONE { throw failed(code, .scan) }
      }
    }
  }

  /// Steps to the row of `key`; false where there is none.
  @inline(__always)
  final func find(_ key: UnsafeRawBufferPointer, _ statement: OpaquePointer) throws -> Bool {
    var code = bind(key, at: 1, of: statement)
    if code == SQLITE_OK { code = sqlite3_step(statement) }
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw failed(code, .get)
  }

  // MARK: Large values

  /// The number of a large value, where a column has that in place of a value.
  @inline(__always)
  final func largeID(_ index: Int32, of statement: OpaquePointer) -> Int64? {
    if connection.layout == .oneTable || sqlite3_column_type(statement, index) != SQLITE_INTEGER {
      return nil
    }
    return sqlite3_column_int64(statement, index)
  }

  /// Lends the large value of a number. That bytes are lent is noted already.
  final func withLargeValue<R>(
    _ id: Int64, _ operation: StorageError.Operation, _ body: (RawSpan?) throws -> R
  ) throws -> R {
    let statement = try take(.getLarge, operation)
    defer { connection.giveBack(statement) }
    var code = sqlite3_bind_int64(statement.handle, 1, id)
    if code == SQLITE_OK { code = sqlite3_step(statement.handle) }
    // An entry is written with its large value and removed with it, in one transaction.
    if code == SQLITE_DONE { code = SQLITE_CORRUPT }
    if code != SQLITE_ROW { throw failed(code, operation) }
    return try body(column(0, of: statement.handle).bytes)
  }

  /// Binds the bounds of a range for as long as `body` runs.
  final func withBounds(
    of range: StorageKeyRange, on statement: OpaquePointer, _ operation: StorageError.Operation,
    _ body: () throws -> Void
  ) throws {
    try range.lowerBound.withUnsafeBytes { lower in
      let code = bind(lower, at: 1, of: statement)
      if code != SQLITE_OK { throw failed(code, operation) }
      guard let upperBound = range.upperBound else { return try body() }
      try upperBound.withUnsafeBytes { upper in
        let code = bind(upper, at: 2, of: statement)
        if code != SQLITE_OK { throw failed(code, operation) }
        try body()
      }
    }
  }

  @inline(__always)
  final func begin(_ operation: StorageError.Operation) throws {
    try state.pointee.beginRead(operation)
    if isAborted { throw aborted }
  }

  final func take(
    _ query: SQLiteQuery, _ operation: StorageError.Operation
  ) throws -> SQLiteStatement {
    do {
      return try connection.take(query, operation)
    } catch let error as StorageError {
      throw failed(error)
    }
  }

  /// Notes that a call of SQLite failed, and returns the error to throw.
  final func failed(_ code: Int32, _ operation: StorageError.Operation) -> StorageError {
    failed(connection.failure(code, operation))
  }

  func failed(_ error: StorageError) -> StorageError { state.pointee.failed(error) }

  /// The error that made SQLite end the transaction.
  final var aborted: StorageError {
    state.pointee.firstError
      ?? StorageError(
        .engine, during: .write, driver: driverName,
        message: "SQLite ended the transaction after a failure. Make it again from its beginning.")
  }
}

extension SQLiteStorage: StateNaming {
  package func stateName(of transaction: any ReadTransaction) -> UInt64? {
    guard let transaction = transaction as? SQLiteReadTransaction, !(transaction is SQLiteWriteTransaction)
    else {
      return nil
    }
    return transaction.connection.stateName
  }
}

extension SQLiteReadTransaction: RangeCounting {
  /// SQLite counts by itself. It also reads large values that an earlier version stored beside their keys.
  final func count(in range: StorageKeyRange) throws -> Int {
    try begin(.scan)
    if range.isEmpty { return 0 }
    let statement = try take(range.upperBound == nil ? .countFrom : .countBetween, .scan)
    defer { connection.giveBack(statement) }
    var count = 0
    try withBounds(of: range, on: statement.handle, .scan) {
      let code = sqlite3_step(statement.handle)
      if code != SQLITE_ROW { throw failed(code, .scan) }
      count = Int(sqlite3_column_int64(statement.handle, 0))
    }
    return count
  }
}

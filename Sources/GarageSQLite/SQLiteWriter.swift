internal import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// The connection that writes, its transactions, and the care for the write-ahead log.
final class SQLiteWriter: @unchecked Sendable {
  // @unchecked: used by the one thread that is inside the writer's gate.
  private let file: SQLiteFile
  private let identity: FileIdentity
  private let maximumValueByteCount: Int
  private var connection: SQLiteConnection?
  private var transaction: SQLiteWriteTransaction?
  private var log: LogPolicy

  init(
    _ connection: SQLiteConnection, file: SQLiteFile, identity: FileIdentity, maximumValueByteCount: Int
  ) throws {
    self.connection = connection
    self.file = file
    self.identity = identity
    self.maximumValueByteCount = maximumValueByteCount
    log = LogPolicy(
      pageByteCount: try connection.integer("PRAGMA page_size"),
      thresholdByteCount: file.options.walCheckpointByteCount)
  }

  /// Runs `body` in a transaction and ends it as it says.
  func run<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    let (connection, transaction) = try begin()
    let outcome: TransactionOutcome<R>
    do {
      outcome = try body(transaction)
    } catch {
      transaction.end()
      rollBack(connection)
      throw error
    }
    transaction.end()
    switch outcome {
    case .commit(let result):
      try commit(connection, transaction.firstError)
      return result
    case .rollBack(let result):
      rollBack(connection)
      return result
    }
  }

  func close() {
    transaction = nil
    connection?.close()
    connection = nil
  }

  private func begin() throws -> (SQLiteConnection, SQLiteWriteTransaction) {
    // A commit to a file that has no name any more would be lost without a word.
    if file.identity != identity { throw file.replaced(.write) }
    let connection = try self.connection ?? file.openWriter()
    self.connection = connection
    try connection.run(.begin, .write)
    // Whoever kept the last transaction must not see it come alive again.
    if transaction != nil, isKnownUniquelyReferenced(&transaction), let transaction {
      transaction.reopen()
      return (connection, transaction)
    }
    let transaction = SQLiteWriteTransaction(connection, maximumValueByteCount: maximumValueByteCount)
    self.transaction = transaction
    return (connection, transaction)
  }

  private func commit(_ connection: SQLiteConnection, _ firstError: StorageError?) throws {
    if let firstError {
      rollBack(connection)
      throw firstError
    }
    do {
      try connection.run(.commit, .commit)
    } catch {
      rollBack(connection)
      throw error
    }
    log.care(for: connection, busyMilliseconds: file.options.busyMilliseconds)
  }

  /// Leaves no trace of the transaction. Where the engine failed, the connection goes too: closing rolls
  /// back what is left, and the next write opens another.
  private func rollBack(_ connection: SQLiteConnection) {
    if connection.isInTransaction { try? connection.run(.rollBack, .rollBack) }
    if connection.isInTransaction || connection.isSuspect { close() }
  }
}

/// When the write-ahead log is copied into the file, and when it is emptied.
///
/// SQLite's own rule copies from a thousand pages on, but starts the log afresh only where no reader uses it:
/// readers that overlap let it grow without end.
private struct LogPolicy {
  /// SQLite's own default for copying.
  private static let copyPageCount = 1000
  /// How long an attempt to empty the log waits for readers.
  private static let patience: Int32 = 50

  private let emptyPageCount: Int
  /// From which length on the next attempt is made. One that fails moves it, so that a reader that stays
  /// makes writers wait once per threshold, not at each commit.
  private var nextPageCount: Int

  init(pageByteCount: Int, thresholdByteCount: Int) {
    emptyPageCount = max(1, thresholdByteCount / max(512, pageByteCount))
    nextPageCount = emptyPageCount
  }

  /// Called after a commit, which has succeeded whatever happens here.
  mutating func care(for connection: SQLiteConnection, busyMilliseconds: Int32) {
    let length = connection.takeLogPageCount()
    if length == 0 { return }
    if length < emptyPageCount { nextPageCount = emptyPageCount }
    if length >= nextPageCount {
      sqlite3_busy_timeout(connection.handle, min(Self.patience, busyMilliseconds))
      let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
      sqlite3_busy_timeout(connection.handle, busyMilliseconds)
      nextPageCount = code == SQLITE_OK ? emptyPageCount : length + emptyPageCount
    } else if length >= Self.copyPageCount {
      _ = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
  }
}

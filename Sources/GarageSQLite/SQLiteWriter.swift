internal import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// The connection that writes, and its transactions.
final class SQLiteWriter: @unchecked Sendable {
  // @unchecked: used by the one thread that is inside the writer's gate.
  private let file: SQLiteFile
  private let identity: FileIdentity
  private let maximumValueByteCount: Int
  private let largestEntryByteCount: Int
  private var connection: SQLiteConnection?
  private var transaction: SQLiteWriteTransaction?
  private let lifetime: StorageLifetime
  private let foreignCommits: SQLiteForeignCommits
  private var log: SQLiteLog

  init(
    _ connection: SQLiteConnection, file: SQLiteFile, identity: FileIdentity, maximumValueByteCount: Int,
    lifetime: StorageLifetime, foreignCommits: SQLiteForeignCommits
  ) throws {
    self.connection = connection
    self.file = file
    self.identity = identity
    self.maximumValueByteCount = maximumValueByteCount
    self.lifetime = lifetime
    self.foreignCommits = foreignCommits
    let pageByteCount = try connection.integer("PRAGMA page_size")
    largestEntryByteCount = SQLiteLayout.largestEntryByteCount(pageByteCount: pageByteCount)
    log = SQLiteLog(
      path: file.path, identity: identity, pageByteCount: pageByteCount,
      thresholdByteCount: file.options.walCheckpointByteCount,
      busyMilliseconds: file.options.busyMilliseconds,
      isNew: connection.madeStore)
  }

  /// Runs `body` in a transaction and ends it as it says.
  func run<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    let (connection, transaction) = try begin()
    return try runWrite(body, in: transaction) {
      transaction.finish()
    } commit: {
      try commit(connection)
    } rollBack: {
      rollBack(connection)
    }
  }

  /// How often others were found to have committed.
  func foreignCommitCount() throws -> UInt64 {
    try foreignCommits.count(asking: try connection ?? reopened(.read))
  }

  func close() {
    transaction = nil
    if let connection { foreignCommits.resign(connection) }
    connection?.close()
    connection = nil
  }

  /// Runs `body` on the connection outside of any transaction, and empties the log behind it.
  func runAlone(_ body: (SQLiteConnection) throws -> Void) throws {
    let connection = try openConnection()
    do { try body(connection) } catch {
      var error = error
      // What was written by then stands in the log, which now takes all the room there was.
      if let full = error as? StorageError, full.kind == .storageFull {
        error = relieve(connection, after: full)
      }
      rollBack(connection)
      throw error
    }
    log.emptyNow(connection)
  }

  private func openConnection() throws -> SQLiteConnection {
    // A commit to a file that was deleted or replaced would be lost without an error.
    if file.identity != identity { throw file.replaced(.write) }
    let connection = try connection ?? reopened(.write)
    foreignCommits.prepareCommit(on: connection)
    return connection
  }

  /// Opens a connection in place of one that was closed, on the very file that the storage was opened on.
  private func reopened(_ operation: StorageError.Operation) throws -> SQLiteConnection {
    if file.identity != identity { throw file.replaced(operation) }
    let opened = try file.openWriter(mayMake: false)
    // The file may have been replaced in between.
    if file.identity != identity {
      opened.close()
      throw file.replaced(operation)
    }
    connection = opened
    return opened
  }

  private func begin() throws -> (SQLiteConnection, SQLiteWriteTransaction) {
    let connection = try openConnection()
    log.careBefore(connection)
    do { try connection.run(.begin, .write) } catch let error as StorageError where error.kind == .storageFull
    {
      // No body has run yet, so the write can be tried again here.
      let relieved = relieve(connection, after: error)
      guard relieved.isRetryable, !connection.isSuspect else { throw relieved }
      try connection.run(.begin, .write)
    }
    do { connection.layout = try file.layout(of: connection) } catch {
      rollBack(connection)
      throw error
    }
    // If other code kept the last transaction, it must not be used again: it has to stay ended.
    if transaction != nil, isKnownUniquelyReferenced(&transaction), let transaction {
      transaction.reopen()
      transaction.nextLargeID = nil
      return (connection, transaction)
    }
    let transaction = SQLiteWriteTransaction(
      connection, of: self, maximumValueByteCount: maximumValueByteCount,
      largestEntryByteCount: largestEntryByteCount)
    self.transaction = transaction
    return (connection, transaction)
  }

  private func commit(_ connection: SQLiteConnection) throws {
    do {
      try connection.run(.commit, .commit)
    } catch {
      var error = error
      if let full = error as? StorageError, full.kind == .storageFull {
        error = relieve(connection, after: full)
      }
      rollBack(connection)
      throw error
    }
    log.careAfter(connection)
  }

  /// Rolls back a transaction that found no room, and empties the log, which may take that room. Returns the error to throw: a
  /// body runs only once, so trying again is up to the caller.
  func relieve(_ connection: SQLiteConnection, after error: StorageError) -> StorageError {
    connection.resetStatements()
    if connection.isInTransaction { try? connection.run(.rollBack, .rollBack) }
    return log.relieve(connection, after: error, isReading: lifetime.depthOnThisThread > 1)
  }

  /// Leaves no trace of the transaction. Where the engine failed, the connection goes too: closing rolls
  /// back what is left, and the next write opens another.
  private func rollBack(_ connection: SQLiteConnection) {
    if connection.isInTransaction { try? connection.run(.rollBack, .rollBack) }
    if connection.isInTransaction || connection.isSuspect { close() }
  }
}

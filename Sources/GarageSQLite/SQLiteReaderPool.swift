internal import GarageDriver
internal import Synchronization

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// The connections that read: as many as there are read transactions, and some that wait for the next ones.
final class SQLiteReaderPool: Sendable {
  let file: SQLiteFile
  private let identity: FileIdentity
  /// One reader that is had without the lock.
  private let hot = Reusable<SQLiteReader>()
  private let atRest = Mutex<[SQLiteReader]>([])
  private let watcher = Mutex(Watcher())

  /// The connection that is asked whether anybody committed: always the same one, because numbers of others mean nothing.
  private struct Watcher {
    var connection: SQLiteConnection?
    /// How many there have been.
    var number: UInt64 = 0
  }

  init(file: SQLiteFile, identity: FileIdentity) {
    self.file = file
    self.identity = identity
  }

  /// A reader for one transaction, which the caller owns until ``giveBack(_:)``. Never waits for another one to end.
  @inline(__always)
  func take() throws -> Unmanaged<SQLiteReader> {
    try hot.take { try takeAnother() }
  }

  /// Takes a reader back, which has ended.
  @inline(__always)
  func giveBack(_ reader: Unmanaged<SQLiteReader>) {
    let isSound = reader._withUnsafeGuaranteedRef { !$0.isSuspect }
    if !hot.giveBack(reader, keeping: isSound) { keepOrClose(reader.takeRetainedValue()) }
  }

  private func keepOrClose(_ reader: SQLiteReader) {
    if reader.isSuspect { return reader.close() }
    let isKept = atRest.withLock { atRest in
      if atRest.count >= max(0, file.options.maximumIdleReaderCount - 1) { return false }
      atRest.append(reader)
      return true
    }
    if !isKept { reader.close() }
  }

  /// Closes the readers at rest; none is in use any more.
  func close() {
    if let reader = hot.remove() { reader.takeRetainedValue().close() }
    let readers = atRest.withLock { atRest in
      defer { atRest = [] }
      return atRest
    }
    for reader in readers { reader.close() }
    watcher.withLock { watcher in
      watcher.connection?.close()
      watcher.connection = nil
    }
  }

  /// Gives up the readers without closing them.
  func leak() {
    _ = hot.remove()
    for reader in atRest.withLock({ $0 }) { _ = Unmanaged.passRetained(reader) }
    if let connection = watcher.withLock({ $0.connection }) { _ = Unmanaged.passRetained(connection) }
  }

  /// What changes when anybody commits; nil while another thread asks.
  func dataVersion() throws -> UInt64? {
    try watcher.withLockIfAvailable { watcher in
      if watcher.connection == nil {
        watcher.connection = try openConnection()
        watcher.number += 1
      }
      guard let connection = watcher.connection else { return nil }
      do {
        let version = UInt64(clamping: try connection.integer("PRAGMA data_version"))
        return watcher.number << 48 | version & (1 << 48 - 1)
      } catch {
        connection.close()
        watcher.connection = nil
        throw error
      }
    } ?? nil
  }

  private func takeAnother() throws -> SQLiteReader {
    if let reader = atRest.withLock({ $0.popLast() }) { return reader }
    return try SQLiteReader(openConnection(), file: file)
  }

  /// A connection of the caller's own, for what goes through the whole store.
  func openConnection() throws -> SQLiteConnection {
    let connection = try file.openReader()
    // The path may lead to another file by now, whose contents must not be mixed with this one's.
    if file.identity != identity {
      connection.close()
      throw file.replaced(.read)
    }
    return connection
  }
}

/// A connection that reads, with the transaction that it lends out.
final class SQLiteReader: @unchecked Sendable {
  // @unchecked: used by the one thread that took it from the pool.
  private let connection: SQLiteConnection
  private let file: SQLiteFile
  /// Holds a snapshot while it stands on a row. It costs less than BEGIN and COMMIT, and a deferred BEGIN
  /// would take the snapshot only at the first get. It reads the format from the header: no table is opened for it.
  private let pin: OpaquePointer
  private var transaction: SQLiteReadTransaction

  init(_ connection: SQLiteConnection, file: SQLiteFile) throws {
    self.connection = connection
    self.file = file
    do {
      pin = try connection.prepare("PRAGMA user_version", .read)
    } catch {
      connection.close()
      throw error
    }
    transaction = SQLiteReadTransaction(connection)
    transaction.end()
  }

  var isSuspect: Bool { connection.isSuspect }

  /// Pins the last commit. ``end()`` follows, also after an error.
  func begin() throws -> SQLiteReadTransaction {
    let code = sqlite3_step(pin)
    if code != SQLITE_ROW { throw connection.failure(code, .read) }
    connection.layout = try file.layout(format: Int(sqlite3_column_int(pin, 0)), .read)
    // Whoever kept the last transaction must not see it come alive again.
    if isKnownUniquelyReferenced(&transaction) {
      transaction.reopen()
    } else {
      transaction = SQLiteReadTransaction(connection)
    }
    return transaction
  }

  func end() {
    transaction.end()
    sqlite3_reset(pin)
  }

  func close() {
    sqlite3_finalize(pin)
    connection.close()
  }
}

extension SQLiteFile {
  /// The error where the path leads to another file than at the time of opening.
  func replaced(_ operation: StorageError.Operation) -> StorageError {
    StorageError(
      .notFound, during: operation, driver: driverName,
      message: """
        \(path): The file was moved, deleted or replaced while it was open. \
        Close the storage and open it again.
        """)
  }
}

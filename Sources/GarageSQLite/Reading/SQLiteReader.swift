internal import GarageDriver
internal import Synchronization

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// A connection that reads, with the transaction that it lends out.
final class SQLiteReader: @unchecked Sendable {
  // @unchecked: used by the one thread that took it from the pool.
  private let connection: SQLiteConnection
  private let file: SQLiteFile
  /// Holds a snapshot while it stands on a row. It costs less than BEGIN and COMMIT, and a deferred BEGIN
  /// would take the snapshot only at the first get. It reads the format from the header: no table is opened for it.
  private let pin: OpaquePointer
  private var transaction: SQLiteReadTransaction

  private let clock: SQLiteRestingReads.Clock
  /// What the pinned state is; nil where none is pinned, or where it must not rest.
  private var pinned: (state: SQLiteLogHeader, tick: UInt64)?
  /// Where the last commit is named; nil where it is not known, or never will be.
  private var header: UnsafeRawPointer?
  private var hasSoughtHeader: Bool
  /// How many reads found that none may rest.
  private var restlessCount = 0

  /// So many reads of one reader begin the thread that lets it rest: not worth it for a few.
  private static let readsBeforeRest = 64

  init(_ connection: SQLiteConnection, file: SQLiteFile, _ clock: SQLiteRestingReads.Clock) throws {
    self.connection = connection
    self.file = file
    self.clock = clock
    // A file that nobody changes has no log.
    hasSoughtHeader = file.isImmutable
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

  /// Whether so many reads came that it is worth to let them rest.
  var wantsRest: Bool { restlessCount >= Self.readsBeforeRest }

  /// Begins on the last commit. ``end()`` follows, also after an error.
  func begin() throws -> SQLiteReadTransaction {
    if !hasLastCommit { try pinLastCommit() }
    // Whoever kept the last transaction must not see it come alive again.
    if isKnownUniquelyReferenced(&transaction) {
      transaction.reopen()
    } else {
      transaction = SQLiteReadTransaction(connection)
    }
    return transaction
  }

  /// Whether what the last read saw is still the last commit.
  @inline(__always)
  private var hasLastCommit: Bool {
    guard let pinned, let header else { return false }
    return pinned.tick == clock.now.load(ordering: .relaxed) && pinned.state.isSame(at: header)
  }

  private func pinLastCommit() throws {
    _ = endResting()
    let tick = clock.now.load(ordering: .relaxed)
    // Known only where nobody commits from before until after it is pinned.
    let before = tick == 0 ? nil : header.map { SQLiteLogHeader(at: $0) }
    let code = sqlite3_step(pin)
    if code != SQLITE_ROW { throw connection.failure(code, .read) }
    connection.layout = try file.layout(format: Int(sqlite3_column_int(pin, 0)), .read)
    if tick == 0 {
      restlessCount += 1
    } else {
      restlessCount = 0
      if let before, let header, before.isSame(at: header) { pinned = (before, tick) }
      if !hasSoughtHeader {
        hasSoughtHeader = true
        header = connection.findLogHeader()
      }
    }
  }

  /// Ends the transaction. Its state stays for the next one where that may come soon.
  func end() {
    transaction.end()
    endUnlessResting()
  }

  /// Ends what it keeps, if it may not keep it.
  @inline(__always)
  func endUnlessResting() {
    if let pinned, pinned.tick == clock.now.load(ordering: .relaxed) { return }
    pinned = nil
    sqlite3_reset(pin)
  }

  /// Ends what it keeps; false where that is nothing. To be called while no transaction is open.
  func endResting() -> Bool {
    if pinned == nil { return false }
    pinned = nil
    sqlite3_reset(pin)
    return true
  }

  func close() {
    sqlite3_finalize(pin)
    connection.close()
  }
}

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
  /// The pinned state; nil where none is pinned, or where the reader must not keep it.
  private var pinned: (state: SQLiteLogHeader, tick: UInt64)?
  /// Where the last commit is named; nil where it is not known, or never will be.
  private var header: UnsafeRawPointer?
  private var hasSoughtHeader: Bool
  /// How many reads were not allowed to rest.
  private var restlessCount = 0

  /// After so many reads of one reader the thread is started that lets it rest. For a few it does not pay.
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

  /// Whether so many reads came that it pays to let them rest.
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
    // The state is known only if nobody commits between reading the header and pinning the state.
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

  /// Ends the kept state, if the reader may not keep it any longer.
  @inline(__always)
  func endUnlessResting() {
    if let pinned, pinned.tick == clock.now.load(ordering: .relaxed) { return }
    pinned = nil
    sqlite3_reset(pin)
  }

  /// Ends the kept state; false where there is none. To be called while no transaction is open.
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

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
  let identity: FileIdentity
  /// What says to the readers whether they may rest.
  let clock = SQLiteRestingReads.Clock()
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

  /// Ends the transaction of a reader, and takes it back.
  @inline(__always)
  func giveBack(_ reader: Unmanaged<SQLiteReader>) {
    let (isSound, wantsRest) = reader._withUnsafeGuaranteedRef {
      $0.end()
      return (!$0.isSuspect, $0.wantsRest)
    }
    if !hot.giveBack(reader, keeping: isSound) { keepOrClose(reader.takeRetainedValue()) }
    if wantsRest { SQLiteRestingReads.shared.begin(for: self) }
  }

  private func keepOrClose(_ reader: SQLiteReader) {
    if reader.isSuspect { return reader.close() }
    let isKept = atRest.withLock { atRest in
      if atRest.count >= max(0, file.options.maximumIdleReaderCount - 1) { return false }
      // Whoever ends what rests has been here, or comes.
      reader.endUnlessResting()
      atRest.append(reader)
      return true
    }
    if !isKept { reader.close() }
  }

  /// Ends what the readers keep that are not in use; tells how many kept something, and whether the hot one is in use.
  func endResting() -> (count: Int, isOneInUse: Bool) {
    var count = 0
    let isFree = hot.withResting { if $0.endResting() { count += 1 } }
    atRest.withLock { for reader in $0 where reader.endResting() { count += 1 } }
    return (count, !isFree)
  }

  /// Closes the readers at rest; none is in use any more.
  func close() {
    SQLiteRestingReads.shared.remove(self)
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
    return try SQLiteReader(openConnection(), file: file, clock)
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

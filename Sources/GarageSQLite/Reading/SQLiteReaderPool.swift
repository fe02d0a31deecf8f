internal import GarageDriver
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The connections that read: as many as there are read transactions, and some that wait for the next ones.
final class SQLiteReaderPool: Sendable {
  let file: SQLiteFile
  let identity: FileIdentity
  /// Tells the readers whether they may rest.
  let clock = SQLiteRestingReads.Clock()
  /// One reader that can be taken without the lock.
  private let hot = Reusable<SQLiteReader>()
  private let atRest = Mutex<[SQLiteReader]>([])
  /// Whether resting reads are being ended, for which the hot reader is taken for a moment.
  private let isEnding = Atomic<Bool>(false)
  /// The connection that is asked whether others committed, where there is none that writes.
  private let watcher = Mutex<SQLiteConnection?>(nil)
  private let foreignCommits: SQLiteForeignCommits

  init(file: SQLiteFile, identity: FileIdentity, foreignCommits: SQLiteForeignCommits) {
    self.file = file
    self.identity = identity
    self.foreignCommits = foreignCommits
  }

  /// A reader for one transaction, which the caller owns until ``giveBack(_:)``. Never waits for another one to end.
  @inline(__always)
  func take() throws -> Unmanaged<SQLiteReader> {
    if isEnding.load(ordering: .relaxed) { waitForEnding() }
    return try hot.take { try takeAnother() }
  }

  /// Waits a moment for it: to open another connection instead would take longer, and two files.
  @inline(never)
  private func waitForEnding() {
    for _ in 0..<100 where isEnding.load(ordering: .relaxed) { sched_yield() }
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
      if atRest.count >= max(1, file.options.maximumIdleReaderCount) - 1 { return false }
      // The thread that ends resting reads may have passed already.
      reader.endUnlessResting()
      atRest.append(reader)
      return true
    }
    if !isKept { reader.close() }
  }

  /// Ends the states kept by readers that are not in use. Returns how many kept one, and whether the hot reader is in use.
  func endResting() -> (count: Int, isOneInUse: Bool) {
    var count = 0
    isEnding.store(true, ordering: .relaxed)
    let isFree = hot.withResting { if $0.endResting() { count += 1 } }
    isEnding.store(false, ordering: .relaxed)
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
    watcher.withLock { closeWatcher(&$0) }
  }

  /// Gives up the readers without closing them.
  func leak() {
    _ = hot.remove()
    for reader in atRest.withLock({ $0 }) { _ = Unmanaged.passRetained(reader) }
    if let connection = watcher.withLock({ $0 }) { _ = Unmanaged.passRetained(connection) }
  }

  /// How often others were found to have committed, for the thread that is inside the writers' gate.
  func foreignCommitCount() throws -> UInt64 {
    // Opening it as immutable was a promise that nobody changes it, and commits in a log are not seen.
    if file.isImmutable { return 0 }
    return try watcher.withLock { watcher in
      let connection = try watcher ?? openConnection()
      watcher = connection
      do { return try foreignCommits.count(asking: connection) } catch {
        closeWatcher(&watcher)
        throw error
      }
    }
  }

  private func closeWatcher(_ watcher: inout SQLiteConnection?) {
    guard let connection = watcher else { return }
    foreignCommits.resign(connection)
    connection.close()
    watcher = nil
  }

  private func takeAnother() throws -> SQLiteReader {
    if let reader = atRest.withLock({ $0.popLast() }) { return reader }
    return try SQLiteReader(openConnection(), file: file, clock)
  }

  /// A connection for the caller alone, for work that goes through the whole store.
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

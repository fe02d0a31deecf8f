internal import CLMDB
internal import GarageDriver
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// One open LMDB environment, and the read transactions that are kept for reuse.
///
/// A process must not open one environment twice: ``SharedStores`` sees to it that all storages on one folder
/// share a connection.
final class LMDBConnection: @unchecked Sendable {
  // @unchecked: LMDB's environment is made for many threads; what it leaves to its users to protect is done
  // under `gate` (one writer) and `pool`.

  /// The folder, as it was named when it was first opened; for messages.
  let path: String
  /// Lets one thread of the process write, whichever storage it comes through.
  let gate = WriterGate()
  let dbi: MDB_dbi
  let maximumKeyByteCount: Int
  /// Whether the environment itself could only be opened for reading.
  let isReadOnly: Bool

  private let env: OpaquePointer
  fileprivate let committed: LMDBCommittedState
  /// LMDB's descriptor of `data.mdb`; -1 where it does not tell.
  private let dataFile: Int32
  /// The read transaction that was given back last: the address of an ``LMDBReadTransaction`` that is owned here, or one of the
  /// two values below. Most reads get by with two exchanges of this word and take no lock, because the transaction rests
  /// without leaving the lifetime that it entered. For that reason, and because the slot can be blocked, it is no ``Reusable``.
  private let hotSlot = Atomic<UInt>(emptySlot)
  private static let emptySlot: UInt = 0
  /// Blocks the slot: no transaction is taken from it or left there, so that all come together in the pool.
  private static let blockedSlot: UInt = 1
  private let pool = Mutex(Pool())
  /// Commits since the last search for readers that died. Only the writer counts.
  private let commitCount = Atomic<Int>(0)
  private let ownCommits = Mutex(OwnCommits())

  /// The commits of this process, among those that LMDB counts.
  private struct OwnCommits {
    /// How many have committed.
    var count: UInt64 = 0
    /// The number of one that is committing; 0 where none is.
    var begun: UInt64 = 0
  }

  private struct Pool {
    /// Addresses of transactions that are owned here, and have ended.
    var idle: [UInt] = []
    /// How many transactions there are, idle, in the hot slot, and in use.
    var count = 0
    /// How many threads wait until all transactions are idle, so that the map can be replaced.
    var mapWaiters = 0
    /// How often the map was replaced.
    var mapGeneration = 0
    /// Why there is no map any more.
    var failure: StorageError?
  }

  /// How many idle transactions are kept. Each holds a slot in the table of readers.
  private static let maximumIdleCount = 64
  /// A reader that was killed keeps its pages from being used again, and so lets the file grow, until its slot is freed. To
  /// look for such readers costs a system call for each other process that reads.
  private static let commitsBetweenReaderChecks = 16

  init(_ environment: OpenedEnvironment, path: String) {
    env = environment.env
    committed = LMDBCommittedState(environment.env)
    var descriptor: mdb_filehandle_t = -1
    dataFile = mdb_env_get_fd(environment.env, &descriptor) == MDB_SUCCESS ? descriptor : -1
    dbi = environment.dbi
    isReadOnly = environment.isReadOnly
    maximumKeyByteCount = Int(mdb_env_get_maxkeysize(env))
    self.path = path
  }

  /// Closes the environment. No transaction may be open.
  func close() {
    let hot = hotSlot.exchange(Self.blockedSlot, ordering: .acquiring)
    pool.withLock { pool in
      if hot > Self.blockedSlot { pool.idle.append(Self.leaving(hot)) }
      for address in pool.idle { Self.transaction(at: address).discard() }
      pool.idle = []
    }
    committed.giveUpSlot()
    mdb_env_close(env)
  }

  // MARK: - Reading

  /// A read transaction on the last committed state, which the caller owns until ``endRead(_:)``.
  @inline(__always)
  func beginRead(_ lifetime: StorageLifetime) throws -> Unmanaged<LMDBReadTransaction> {
    let address = hotSlot.load(ordering: .relaxed)
    if address > Self.blockedSlot, lifetime.resumeRead() {
      if hotSlot.compareExchange(expected: address, desired: Self.emptySlot, ordering: .acquiring).exchanged {
        let transaction = Self.reference(at: address)
        let isReady = transaction._withUnsafeGuaranteedRef {
          $0.isEntered(lifetime) && $0.renew() == MDB_SUCCESS
        }
        if isReady { return transaction }
        putBack(transaction.takeRetainedValue())
      }
      lifetime.pauseRead()
    }
    return try enterRead(lifetime)
  }

  @inline(never)
  private func enterRead(_ lifetime: StorageLifetime) throws -> Unmanaged<LMDBReadTransaction> {
    try lifetime.beginRead()
    do {
      endRestingRead()
      let transaction = try beginReadSlowly(lifetime)
      transaction.entered = lifetime
      return Unmanaged.passRetained(transaction)
    } catch {
      lifetime.endRead()
      throw error
    }
  }

  /// Ends a read transaction. The object is used again, unless other code kept it.
  @inline(__always)
  func endRead(_ ended: Unmanaged<LMDBReadTransaction>, _ lifetime: StorageLifetime) {
    ended._withUnsafeGuaranteedRef { transaction in
      transaction.state.end()
      mdb_txn_reset(transaction.txn)
    }
    lifetime.pauseRead()
    var address = UInt(bitPattern: ended.toOpaque())
    if !ended.isOnlyReference { address = Self.address(owning: ended.takeRetainedValue().successor()) }
    let slot = hotSlot.compareExchange(
      expected: Self.emptySlot, desired: address, ordering: .releasing)
    if !slot.exchanged { putBack(Self.transaction(at: address)) }
  }

  /// Moves what rests in the slot to the pool, so that the lifetime it entered can end.
  func endRestingRead() {
    let address = hotSlot.load(ordering: .relaxed)
    if address > Self.blockedSlot,
      hotSlot.compareExchange(expected: address, desired: Self.emptySlot, ordering: .acquiring).exchanged
    {
      putBack(Self.transaction(at: address))
    }
  }

  private func beginReadSlowly(_ lifetime: StorageLifetime) throws -> LMDBReadTransaction {
    var searchedForDeadReaders = false
    while true {
      let (idle, generation) = try takeIdle(lifetime)
      var code: Int32
      if let idle {
        code = idle.renew()
        if code == MDB_SUCCESS { return idle }
        putBack(idle)
      } else {
        var txn: OpaquePointer?
        code = mdb_txn_begin(env, nil, UInt32(MDB_RDONLY), &txn)
        if code == MDB_SUCCESS, let txn {
          code = committed.settle(txn)
          if code == MDB_SUCCESS { return LMDBReadTransaction(txn: txn, connection: self) }
          mdb_txn_abort(txn)
        }
        pool.withLock { $0.count -= 1 }
      }
      switch code {
      case MDB_MAP_RESIZED:
        try mapAgain(lifetime, since: generation, during: .read)
      case MDB_READERS_FULL
      where !searchedForDeadReaders && (clearDeadReaders() > 0 || committed.giveUpSlot()):
        searchedForDeadReaders = true
      default:
        throw error(code, during: .read)
      }
    }
  }

  /// An idle transaction, or nil and the right to make one. Waits while the map is about to be replaced, unless this thread has
  /// a transaction open already: the replacing thread waits for that one.
  private func takeIdle(
    _ lifetime: StorageLifetime
  ) throws -> (transaction: LMDBReadTransaction?, mapGeneration: Int) {
    while true {
      let isNested = lifetime.depthOnThisThread > 1
      let taken = try pool.withLock { pool -> (UInt, Int)? in
        if let failure = pool.failure { throw failure }
        if pool.mapWaiters > 0 && !isNested { return nil }
        if let address = pool.idle.popLast() { return (address, pool.mapGeneration) }
        pool.count += 1
        return (Self.emptySlot, pool.mapGeneration)
      }
      if let (address, generation) = taken {
        return (address == Self.emptySlot ? nil : Self.transaction(at: address), generation)
      }
      usleep(100)
    }
  }

  /// Keeps a transaction that has ended for later, or gives it up when there are enough.
  private func putBack(_ transaction: LMDBReadTransaction) {
    transaction.leave()
    let isKept = pool.withLock { pool in
      if pool.idle.count >= Self.maximumIdleCount && pool.mapWaiters == 0 {
        pool.count -= 1
        return false
      }
      pool.idle.append(Self.address(owning: transaction))
      return true
    }
    if !isKept { transaction.discard() }
  }

  private static func transaction(at address: UInt) -> LMDBReadTransaction {
    reference(at: address).takeRetainedValue()
  }

  private static func reference(at address: UInt) -> Unmanaged<LMDBReadTransaction> {
    // Never null: the slot and the pool hold nothing but what `address(owning:)` returned.
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: address)!)
  }

  /// The address of a transaction from the slot, which is to rest in the pool.
  private static func leaving(_ address: UInt) -> UInt {
    reference(at: address)._withUnsafeGuaranteedRef { $0.leave() }
    return address
  }

  private static func address(owning transaction: LMDBReadTransaction) -> UInt {
    UInt(bitPattern: Unmanaged.passRetained(transaction).toOpaque())
  }

  // MARK: - Writing

  /// Begins the write transaction, on the thread that holds `gate`; nil where the map has to be replaced
  /// first, outside the gate, by ``mapAgain(_:since:during:)``.
  ///
  /// Waits without limit for a writer in another process.
  func beginWrite(_ durability: LMDBStorage.Options.Durability) throws -> LMDBWriteTransaction? {
    if let failure = pool.withLock({ $0.failure }) { throw failure }
    var txn: OpaquePointer?
    let code = mdb_txn_begin(env, nil, 0, &txn)
    if code == MDB_MAP_RESIZED { return nil }
    guard code == MDB_SUCCESS, let txn else { throw error(code, during: .write) }
    // LMDB 0.9 heeds this flag in the environment alone. Only the writer reads it, and that is us.
    mdb_env_set_flags(env, UInt32(MDB_NOMETASYNC), durability == .normal ? 1 : 0)
    return LMDBWriteTransaction(txn: txn, connection: self)
  }

  /// Commits, or throws, having rolled back.
  func commit(_ transaction: LMDBWriteTransaction) throws {
    // A commit to a file that was deleted or replaced would be lost without an error.
    if isDeleted {
      rollBack(transaction)
      throw StorageError.storeIsGone(path, during: .commit)
    }
    let number = UInt64(mdb_txn_id(transaction.txn))
    let hasChanged = transaction.hasChanged
    if hasChanged { ownCommits.withLock { $0.begun = number } }
    let code = mdb_txn_commit(transaction.txn)
    // LMDB does not count a commit that failed, or that changed nothing. Another process may have committed under its number
    // by now.
    let isCounted = code == MDB_SUCCESS && hasChanged && committed.lastWritten >= number
    ownCommits.withLock { own in
      own.begun = 0
      if isCounted { own.count += 1 }
    }
    if code != MDB_SUCCESS { throw error(code, during: .commit) }
    let count = commitCount.wrappingAdd(1, ordering: .relaxed).newValue
    if count % Self.commitsBetweenReaderChecks == 0 { clearDeadReaders() }
  }

  /// How many transactions others have committed; nil if that cannot be told at the moment.
  ///
  /// - Throws: why there is no map any more.
  func foreignCommitCount() throws -> UInt64? {
    // Asked inside the lock: no transaction of this process is counted meanwhile, and none begins to commit.
    try ownCommits.withLock { own in
      guard let last = try withMap({ committed.number }) ?? numberThroughIdleRead() else { return nil }
      // No other process commits before the one that is committing here has.
      let isCommitted = own.begun > 0 && last >= own.begun
      return last &- own.count &- (isCommitted ? 1 : 0)
    }
  }

  /// The number of the last state that is committed, where all slots are taken: asked by a read transaction that waits for its next
  /// use. Nil where there is none.
  private func numberThroughIdleRead() -> UInt64? {
    endRestingRead()
    return pool.withLock { pool in
      guard pool.failure == nil, let address = pool.idle.last else { return nil }
      return Self.reference(at: address)._withUnsafeGuaranteedRef { transaction in
        let code = mdb_txn_renew(transaction.txn)
        let number = UInt64(mdb_txn_id(transaction.txn))
        if code == MDB_SUCCESS { mdb_txn_reset(transaction.txn) }
        return code == MDB_SUCCESS || code == MDB_MAP_RESIZED ? number : nil
      }
    }
  }

  func rollBack(_ transaction: LMDBWriteTransaction) {
    mdb_txn_abort(transaction.txn)
  }

  // MARK: - As a whole

  /// Copies the last committed state to a file that is open for writing, and returns what LMDB says.
  func copy(to file: Int32, _ flags: UInt32) -> Int32 { mdb_env_copyfd2(env, file, flags) }

  /// The size of a page; how many pages the file has, which may be more than the map has, because others may have added some;
  /// and the size of the map.
  ///
  /// - Throws: why there is no map any more.
  var size: (pageByteCount: Int, pageCount: Int, mapByteCount: Int) {
    get throws {
      try withMap {
        var (info, statistics) = (MDB_envinfo(), MDB_stat())
        mdb_env_info(env, &info)
        mdb_env_stat(env, &statistics)
        return (max(512, Int(statistics.ms_psize)), info.me_last_pgno &+ 1, info.me_mapsize)
      }
    }
  }

  /// Runs `body`, which asks LMDB for something that stands in the map, outside of any transaction. The map is not replaced
  /// meanwhile.
  private func withMap<R>(_ body: () -> R) throws -> R {
    try pool.withLock { pool in
      if let failure = pool.failure { throw failure }
      return body()
    }
  }

  /// Brings what was committed to the disk; the error where that fails.
  func sync() throws {
    let code = mdb_env_sync(env, 1)
    if code != MDB_SUCCESS { throw error(code, during: .write) }
  }

  var environment: OpaquePointer { env }

  /// LMDB's descriptor of `data.mdb`; -1 where it does not tell.
  var descriptor: Int32 { dataFile }

  /// The oldest state before `state` that is being read, by any process; `state` itself where none is.
  func oldestState(before state: UInt64) -> UInt64 {
    clearDeadReaders()
    // LMDB prints a line for each reader: process, thread, and the number of the state or a dash.
    final class Lines { var text = "" }
    let lines = Lines()
    mdb_reader_list(
      env,
      { line, context in
        guard let line, let context else { return 0 }
        Unmanaged<Lines>.fromOpaque(context).takeUnretainedValue().text += String(cString: line)
        return 0
      }, Unmanaged.passUnretained(lines).toOpaque())
    let numbers = lines.text.split(separator: "\n").compactMap { line -> UInt64? in
      let words = line.split(whereSeparator: \.isWhitespace)
      return words.count == 3 ? UInt64(words[2]) : nil
    }
    return min(state, numbers.min() ?? state)
  }

  // MARK: - The map

  /// How often the map was replaced, for ``mapAgain(_:since:during:)``.
  var mapGeneration: Int { pool.withLock { $0.mapGeneration } }

  /// Replaces the map by one as large as another process has made it, unless that was done since
  /// `generation`.
  ///
  /// LMDB asks that no transaction of this process uses the map. So none may begin for a while, and this thread waits for those
  /// that are open. If it has one open itself, it throws `conflict`, and the caller can try again when that one has ended.
  /// Between the looks at the pool the gate is free, because an open read that is waited for may be about to write.
  func mapAgain(
    _ lifetime: StorageLifetime, since generation: Int, during operation: StorageError.Operation
  ) throws {
    if lifetime.depthOnThisThread > 1 { throw StorageError.mapHasGrown(path, during: operation) }
    pool.withLock { $0.mapWaiters += 1 }
    defer {
      pool.withLock { pool in
        pool.mapWaiters -= 1
        if pool.mapWaiters == 0 && pool.failure == nil {
          _ = hotSlot.compareExchange(
            expected: Self.blockedSlot, desired: Self.emptySlot, ordering: .releasing)
        }
      }
    }
    while try !gate.withWriter(driver: driverName, { try replaceMapIfIdle(since: generation) }) {
      usleep(100)
    }
  }

  private func replaceMapIfIdle(since generation: Int) throws -> Bool {
    try pool.withLock { pool in
      if let failure = pool.failure { throw failure }
      if pool.mapGeneration != generation { return true }
      let hot = hotSlot.exchange(Self.blockedSlot, ordering: .acquiring)
      if hot > Self.blockedSlot { pool.idle.append(Self.leaving(hot)) }
      if pool.idle.count < pool.count { return false }
      let code = mdb_env_set_mapsize(env, 0)
      if code != MDB_SUCCESS {
        // The old map is gone, and LMDB would read at its old place.
        pool.failure = error(code, during: .read)
        throw pool.failure!
      }
      pool.mapGeneration += 1
      return true
    }
  }

  // MARK: - Errors

  /// The error to throw for what LMDB returned.
  func error(_ code: Int32, during operation: StorageError.Operation) -> StorageError {
    var error = StorageError.lmdb(code, during: operation, path: path)
    // LMDB reports a write that was cut short, as on a full disk, in the same way as a broken disk.
    if code == EIO && isDiskFull { error = StorageError.lmdb(ENOSPC, during: operation, path: path) }
    // Pages that a dead reader held are free from the next transaction on.
    if code == MDB_MAP_FULL && clearDeadReaders() > 0 { error.isRetryable = true }
    return error
  }

  /// Frees the slots of readers whose processes are dead, and returns how many there were.
  @discardableResult
  private func clearDeadReaders() -> Int {
    var count: Int32 = 0
    return mdb_reader_check(env, &count) == MDB_SUCCESS ? Int(count) : 0
  }

  /// Whether the data file was deleted, or replaced, while it was open. One that was moved with its folder is not.
  private var isDeleted: Bool {
    var status = stat()
    return dataFile >= 0 && fstat(dataFile, &status) == 0 && status.st_nlink == 0
  }

  private var isDiskFull: Bool {
    var status = statvfs()
    // A short write leaves less than a few pages.
    return (dataFile >= 0 ? fstatvfs(dataFile, &status) : statvfs(path, &status)) == 0
      && UInt64(status.f_bavail) < (1 << 20) / max(1, UInt64(status.f_frsize))
  }
}

extension LMDBReadTransaction {
  @inline(__always)
  fileprivate final func isEntered(_ lifetime: StorageLifetime) -> Bool {
    entered === lifetime
  }

  /// Leaves the lifetime that it entered.
  fileprivate final func leave() {
    entered?.leaveResting()
    entered = nil
  }

  /// Makes a transaction that has ended one on the last committed state; returns what LMDB says.
  @inline(__always)
  fileprivate final func renew() -> Int32 {
    var code = mdb_txn_renew(txn)
    if code == MDB_SUCCESS { code = connection.committed.settle(txn) }
    if code == MDB_SUCCESS { state.beginAnew() }
    return code
  }

  /// Gives back to LMDB what belongs to a read transaction that has ended.
  fileprivate final func discard() {
    if let cursor = idleCursor { mdb_cursor_close(cursor) }
    mdb_txn_abort(txn)
  }

  /// A new object for the next reader, because other code kept this one, and would use that reader's transaction through it.
  fileprivate final func successor() -> LMDBReadTransaction {
    let successor = LMDBReadTransaction(txn: txn, connection: connection)
    successor.idleCursor = idleCursor
    successor.entered = entered
    successor.state.end()
    return successor
  }
}

#if PostgreSQL
  public import GarageDriver
  internal import Synchronization

  /// A store in a PostgreSQL database, shared between threads, processes and machines.
  ///
  /// It has a few tables (``Options/name``), which are made where there are none and the role may make tables. Reads and
  /// writes work on snapshots of the server's. By default several writes run at a time, and one that fits into no
  /// order with the others throws ``StorageError/Kind/conflict`` (``StorageInfo/writersConflict``).
  ///
  /// Each transaction takes a connection (``Options/maximumConnectionCount``). Where the answer to a commit is lost, the
  /// storage connects again and finds out what became of it: the write returns where it was committed, and throws
  /// ``StorageError/Kind/disconnected`` where it was not. ``StorageError/Kind/outcomeUnknown`` is thrown only where no
  /// server answers for ``Options/resolveTimeout``.
  ///
  /// A commit waits for what the server waits for: its disk, unless `synchronous_commit` is off there, and its
  /// standbys, if replication is synchronous.
  ///
  /// Values have up to 1 000 000 000 bytes. Those above 512 KiB are kept in pieces. One value at a time is in memory
  /// as a whole, in pages of scans only those up to 16 KiB.
  ///
  /// A storage that was opened before `fork()` throws in the child, which may open one of its own. There is no error and
  /// no log of this driver's with a password in it; passwords, certificates and `sslmode` are libpq's matter.
  public final class PostgreSQLStorage: DeferredReading, Sendable {
    /// Durable, shared between processes, with readers that go on during a write.
    public let info: StorageInfo

    let lifetime: StorageLifetime
    private let process = ProcessMark()
    private let store: SharedStore<WriterGate>
    private let pool: PostgreSQLPool
    private let opening: PostgreSQLOpening
    private let trips = PostgreSQLTrips()
    private let memory = PostgreSQLMemory()
    private let writeCount = Atomic<Int>(0)

    /// The largest value, in bytes.
    public static let maximumValueByteCount = 1_000_000_000

    /// The gates by the stores' identities, which come from the server.
    private static let stores = SharedStores<WriterGate> { _ in }

    /// Opens the store in the database that `url` leads to, and makes it where there is none.
    ///
    /// - Parameters:
    ///   - url: a connection URL of libpq's, such as `postgresql://user@host:5432/database`, or its `key=value` form.
    ///   - options: see there.
    /// - Throws: ``StorageError/Kind/notFound`` where there is no such database,
    ///   ``StorageError/Kind/permissionDenied``, ``StorageError/Kind/disconnected`` where no server answers,
    ///   ``StorageError/Kind/notAStorage`` where the tables are somebody else's, ``StorageError/Kind/newerFormat``,
    ///   ``StorageError/Kind/readersFull`` where the server takes no more connections.
    public init(_ url: String, options: Options = Options()) throws {
      let options = options.bounded
      let opening = try PostgreSQLOpening(url, options, trips)
      let (first, facts) = try opening.open()
      self.opening = opening
      let writersConflict = facts.writers == .several
      store = Self.stores.open(facts.identity) { WriterGate(isShared: writersConflict) }
      lifetime = StorageLifetime(driver: driverName, gate: store.connection)
      info = StorageInfo(
        name: driverName, maximumKeyByteCount: StorageInfo.guaranteedKeyByteCount,
        maximumValueByteCount: Self.maximumValueByteCount, isDurable: true, readsDuringWrite: true,
        isSharedAcrossProcesses: true, roundTripsAreExpensive: true, isReadOnly: options.isReadOnly,
        writersConflict: writersConflict)
      pool = PostgreSQLPool(options, place: opening.place, holding: first) {
        () throws(PostgreSQLFailure) in try opening.connect(to: facts)
      }
      self.facts = facts
    }

    private let facts: PostgreSQLOpening.Facts

    deinit {
      // A forked child has its parent's connections, which see to that themselves.
      pool.close()
    }

    /// How many times this storage has waited for an answer of the server's, connecting included.
    ///
    /// Over a network these waits take the time: many commands are sent together, and answered together.
    public var roundTripCount: Int { trips.current }

    /// Runs `body` on the last commit, on a connection of its own.
    ///
    /// Throws ``StorageError/Kind/readersFull`` 64 deep on one thread, or where there is no connection to be had,
    /// ``StorageError/Kind/disconnected``, and ``StorageError/Kind/conflict`` where several write.
    public func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
      try lifetime.withRead {
        let connection = try begin(.read) { connection throws(PostgreSQLFailure) in
          connection.send(.beginRead)
          connection.send(.snapshot)
          try connection.receive(0)
        }
        return try read(body, on: connection)
      }
    }

    /// As ``read(_:)``, but for the moment: `body` sees the state of its first operation, with which the beginning goes to the
    /// server. That is one trip less.
    public func deferredRead<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
      try lifetime.withRead {
        // This call is one of them.
        let connection = try pool.take(mayWait: lifetime.depthOnThisThread <= 1, .read)
        connection.send(.beginRead)
        return try read(body, on: connection)
      }
    }

    private func read<R>(
      _ body: (any ReadTransaction) throws -> R, on connection: PostgreSQLConnection
    ) throws -> R {
      let transaction = PostgreSQLReadTransaction(connection, place: opening.place)
      defer {
        transaction.end()
        // Nothing was changed, and the answer is not waited for.
        connection.ignoreDiscarded()
        connection.sendEnd(.commit)
        pool.giveBack(connection)
      }
      return try body(transaction)
    }

    /// Runs `body`, then commits or rolls back as it says.
    ///
    /// Throws ``StorageError/Kind/conflict`` where several write and this one fits into no order with the others,
    /// ``StorageError/Kind/busy`` where another transaction held what this one needs for longer than
    /// ``Options/lockTimeout``, ``StorageError/Kind/disconnected``, and ``StorageError/Kind/outcomeUnknown``.
    public func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
      if info.isReadOnly { throw readOnlyError() }
      return try lifetime.withWrite {
        let isLocked = !info.writersConflict
        let connection = try begin(.write) { [facts] connection throws(PostgreSQLFailure) in
          // Where several write, the transaction begins with the first thing that is sent.
          if !isLocked { return }
          connection.send(.beginWrite)
          withUnsafeBytes(of: facts.lockNumber.bigEndian) { connection.send(.lock, [$0]) }
          try connection.receive(0)
        }
        defer {
          forgetTokens(connection)
          pool.giveBack(connection)
        }
        let transaction = PostgreSQLWriteTransaction(
          connection, place: opening.place, hasBegun: isLocked, memory)
        func checkedBody(_: any WriteTransaction) throws -> TransactionOutcome<R> {
          try transaction.checkingRecalled { try body(transaction) }
        }
        return try runWrite(checkedBody, in: transaction) {
          transaction.finish()
        } commit: {
          try commit(transaction)
        } rollBack: {
          transaction.rollBack()
        }
      }
    }

    /// Removes old tokens now and then. Only the next user of the connection waits for that.
    private func forgetTokens(_ connection: PostgreSQLConnection) {
      let count = writeCount.wrappingAdd(1, ordering: .relaxed).newValue
      guard count.isMultiple(of: PostgreSQLToken.commitsBetween), !connection.isLost else { return }
      connection.send(.forgetTokens, isIgnored: true)
      connection.sendBatch()
    }

    /// Waits for the transactions of other threads, then closes the connections.
    public func close() throws {
      try lifetime.close {
        pool.close()
        try store.close()
      }
    }

    private func readOnlyError() -> StorageError {
      StorageError(
        .readOnly, during: .write, driver: driverName,
        message:
          "\(opening.place): The storage was opened for reading only. Open it without isReadOnly to write.")
    }

    // MARK: Transactions

    /// A connection on which a transaction has begun; on another one where one that rested turns out to be lost.
    private func begin(
      _ operation: StorageError.Operation,
      _ start: (PostgreSQLConnection) throws(PostgreSQLFailure) -> Void
    ) throws -> PostgreSQLConnection {
      // This call is one of them.
      let mayWait = lifetime.depthOnThisThread <= 1
      var triesLeft = 1 + PostgreSQLPool.maximumLostCount
      while true {
        let connection = try pool.take(mayWait: mayWait, operation)
        do {
          try start(connection)
          return connection
        } catch {
          triesLeft -= 1
          let isToRepeat = connection.isLost && !error.isSilence
          if !connection.isLost { connection.sendEnd(.rollBack) }
          pool.giveBack(connection)
          guard isToRepeat, triesLeft > 0 else {
            throw error.storageError(during: operation, at: opening.place)
          }
        }
      }
    }

    private func commit(_ transaction: PostgreSQLWriteTransaction) throws {
      switch transaction.commit() {
      case .committed: return
      case .failed(let failure): throw failure.storageError(during: .commit, at: opening.place)
      case .unknown(let token, let failure):
        switch opening.outcome(of: token, facts) {
        case .committed: return
        case .notCommitted: throw failure.storageError(during: .commit, at: opening.place)
        case .unknown(let last):
          throw StorageError(
            .outcomeUnknown, during: .commit, driver: driverName,
            message: """
              \(opening.place): The connection was lost during the commit, and no server could be asked since then \
              (\(last.text)). The changes are committed or they are not: look when the server is there again.
              """)
        }
      }
    }
  }

  extension PostgreSQLStorage: ClosedTelling {
    package var isClosed: Bool? { lifetime.isClosed }
  }
#endif

#if PostgreSQL
  extension PostgreSQLStorage {
    /// How a storage uses PostgreSQL. The defaults suit most stores.
    public struct Options: Sendable, Hashable {
      /// How many write at a time.
      public enum Writers: String, Sendable, Hashable, CaseIterable {
        /// Any number of writers, under PostgreSQL's isolation level `SERIALIZABLE`. A write that fits into no order with the
        /// others throws ``StorageError/Kind/conflict`` and is to be made again, which a garage does by itself.
        case several
        /// One at a time, among all processes, by a lock of the server. It is slower if many write, but writes never come into
        /// conflict. A write waits for the others up to ``Options/lockTimeout``.
        case one
      }

      /// The name of the store in its database. The default is `garage`, whose tables are `garage_kv`, `garage_piece`,
      /// `garage_token` and `garage_store`. Up to 52 bytes.
      public var name = "garage"

      /// How many write at a time. The default is ``Writers/several``.
      ///
      /// It is decided when the store is made. Storages that open it later use the same, and ignore this option.
      public var writers: Writers = .several

      /// Whether the storage only reads. Nothing is made then, and every write throws ``StorageError/Kind/readOnly``.
      ///
      /// The server may then be a standby. A standby shows what the writing server had committed a little earlier. It does not
      /// know which writes ran beside each other, so a reader there may see one of two writes before the other although they
      /// were ordered the other way round.
      public var isReadOnly = false

      /// How many connections the storage has at a time. The default is 40. A transaction takes one. A thread that opens a
      /// transaction inside another one gets a connection beyond that number at once. All others wait, up to ``lockTimeout``,
      /// after which ``StorageError/Kind/readersFull`` is thrown.
      ///
      /// The server has its own limit for all its clients (`max_connections`, 100 by default).
      public var maximumConnectionCount = 40

      /// How many connections are kept for later transactions. The default is 16.
      public var maximumIdleConnectionCount = 16

      /// How long a transaction waits for another one's lock before it throws ``StorageError/Kind/busy``, and how long it waits
      /// for a connection. The default is 10 seconds, the maximum about 24 days.
      public var lockTimeout: Duration = .seconds(10)

      /// How long making a connection may take. The default is 10 seconds, the maximum about 24 days. `connect_timeout` in the
      /// URL takes precedence.
      public var connectTimeout: Duration = .seconds(10)

      /// How long the server may take to answer after everything was sent. The default is 5 minutes, the maximum about 24 days.
      /// After that the connection is given up: the call throws ``StorageError/Kind/disconnected``, or, if it was a commit, the
      /// server is asked what became of it. So nothing waits for ever, neither for a server that hangs nor for a standby that a
      /// commit waits for. Allow more time if one call removes or reads so much that it takes longer.
      public var answerTimeout: Duration = .seconds(300)

      /// How long a write whose commit was not answered goes on asking what became of it, before it throws
      /// ``StorageError/Kind/outcomeUnknown``. The default is 60 seconds, the maximum about 24 days.
      public var resolveTimeout: Duration = .seconds(60)

      /// The defaults.
      public init() {}

      /// The same options with times that fit into the milliseconds of the system's calls.
      var bounded: Options {
        func bounded(_ time: Duration) -> Duration { min(max(.zero, time), .milliseconds(Int32.max)) }
        var options = self
        options.lockTimeout = bounded(lockTimeout)
        options.connectTimeout = bounded(connectTimeout)
        options.answerTimeout = bounded(answerTimeout)
        options.resolveTimeout = bounded(resolveTimeout)
        return options
      }

      /// The lock timeout in milliseconds, for options that are ``bounded``.
      var lockMilliseconds: Int32 {
        let (seconds, attoseconds) = lockTimeout.components
        // 0 would mean no limit.
        return max(1, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000))
      }
    }
  }
#endif

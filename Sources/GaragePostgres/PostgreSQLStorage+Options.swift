#if PostgreSQL
  extension PostgreSQLStorage {
    /// How a storage uses PostgreSQL. The defaults suit most stores.
    public struct Options: Sendable, Hashable {
      /// Who writes at a time.
      public enum Writers: String, Sendable, Hashable, CaseIterable {
        /// Any number of writers, under PostgreSQL's isolation level `SERIALIZABLE`: one that fits into no order with the
        /// others throws ``StorageError/Kind/conflict`` and is to be made again, as a garage does by itself.
        case several
        /// One at a time, among all processes, by a lock of the server: slower where many write, and never in conflict. Others
        /// wait up to ``Options/lockTimeout``.
        case one
      }

      /// The name of the store in its database, `garage` unless told: its tables are `garage_kv`, `garage_piece`,
      /// `garage_token` and `garage_store`. Up to 52 bytes.
      public var name = "garage"

      /// Who writes at a time; ``Writers/several`` unless told.
      ///
      /// Decided when the store is made, for all that open it later; this option of theirs is ignored.
      public var writers: Writers = .several

      /// Whether the storage only reads: nothing is made, and every write throws ``StorageError/Kind/readOnly``.
      ///
      /// The server may be a standby then. It shows what the writing server had committed a little earlier. A standby does not
      /// know which writes ran beside each other, so a reader there may see one of two writes before the other although they
      /// were ordered the other way round.
      public var isReadOnly = false

      /// How many connections the storage has at a time, 40 unless told. A transaction takes one. A thread that is inside a
      /// transaction already gets one beyond that number where it opens another; all others wait, up to
      /// ``lockTimeout``, after which ``StorageError/Kind/readersFull`` is thrown.
      ///
      /// The server has a limit of its own for all its clients (`max_connections`, 100 by default).
      public var maximumConnectionCount = 40

      /// How many connections are kept for later transactions; 16 unless told.
      public var maximumIdleConnectionCount = 16

      /// How long a transaction waits for what another one holds, before it throws ``StorageError/Kind/busy``, and for a
      /// connection; 10 seconds unless told, at most about 24 days.
      public var lockTimeout: Duration = .seconds(10)

      /// How long a connection may take to be made; 10 seconds unless told, at most about 24 days. `connect_timeout` in the URL counts more.
      public var connectTimeout: Duration = .seconds(10)

      /// How long the server may take to answer once everything was sent; 5 minutes unless told, at most about 24 days. Then
      /// the connection is given up: ``StorageError/Kind/disconnected``, or, where that was a commit, the server is asked what became of it. So
      /// nothing waits for ever, neither for a server that hangs nor for a standby that a commit waits for. Allow more
      /// where one call removes or reads so much that it takes longer.
      public var answerTimeout: Duration = .seconds(300)

      /// How long a write whose commit was not answered goes on asking what became of it, before it throws
      /// ``StorageError/Kind/outcomeUnknown``; 60 seconds unless told, at most about 24 days.
      public var resolveTimeout: Duration = .seconds(60)

      /// The defaults.
      public init() {}

      /// The same with times that can be counted in milliseconds, as the system's calls take them.
      var bounded: Options {
        func bounded(_ time: Duration) -> Duration { min(max(.zero, time), .milliseconds(Int32.max)) }
        var options = self
        options.lockTimeout = bounded(lockTimeout)
        options.connectTimeout = bounded(connectTimeout)
        options.answerTimeout = bounded(answerTimeout)
        options.resolveTimeout = bounded(resolveTimeout)
        return options
      }

      /// Of options that are ``bounded``.
      var lockMilliseconds: Int32 {
        let (seconds, attoseconds) = lockTimeout.components
        // 0 would be without limit.
        return max(1, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000))
      }
    }
  }
#endif

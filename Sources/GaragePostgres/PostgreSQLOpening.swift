#if PostgreSQL
  internal import GarageDriver

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  /// Finds or makes a store in a database, and connects to it later, too.
  struct PostgreSQLOpening: Sendable {
    /// Numbers of the server that tell a store from others, wherever it is connected from.
    struct Identity: Sendable, Hashable {
      var system: Int
      var database: Int
      var table: Int

      /// These numbers as columns of a query, whose first parameter is the name of the table of entries.
      static let columns = """
        to_regclass($1)::oid::int8, (SELECT system_identifier FROM pg_control_system()),
          (SELECT oid::int8 FROM pg_database WHERE datname = current_database())
        """

      /// Takes it from a row; nil where there is no such table.
      init?(_ result: PostgreSQLResult, from column: Int32) {
        guard result.rowCount == 1, !result.isNull(0, column) else { return nil }
        table = result.integer(0, column)
        system = result.integer(0, column + 1)
        database = result.integer(0, column + 2)
      }
    }

    /// The facts of a store that is there.
    struct Facts: Sendable {
      var identity: Identity
      var writers: PostgreSQLStorage.Options.Writers

      /// The second number of the lock for the only writer.
      var lockNumber: Int32 { Int32(truncatingIfNeeded: identity.table) }
    }

    /// What became of a transaction.
    enum Outcome {
      case committed
      case notCommitted
      case unknown(PostgreSQLFailure)
    }

    private let address: PostgreSQLAddress
    private let options: PostgreSQLStorage.Options
    private let tables: PostgreSQLTables
    private let trips: PostgreSQLTrips
    /// The store, in words that name no password.
    var place: String { "\(address.place), store \(options.name)" }

    /// The oldest server whose planner has the settings that this driver needs.
    private static let minimumServerVersion = 120_000

    init(_ url: String, _ options: PostgreSQLStorage.Options, _ trips: PostgreSQLTrips) throws {
      address = try PostgreSQLAddress(url, timeout: options.connectTimeout)
      self.options = options
      self.trips = trips
      tables = PostgreSQLTables(name: options.name)
      guard 1...PostgreSQLTables.maximumNameByteCount ~= options.name.utf8.count, !options.name.contains("\0")
      else {
        throw StorageError(
          .notFound, during: .open, driver: driverName,
          message: """
            "\(options.name)" cannot be the name of a store. Give it 1 to \(PostgreSQLTables.maximumNameByteCount) \
            bytes.
            """)
      }
    }

    /// Connects to a store that is there.
    ///
    /// - Parameter answerTimeout: how long an answer may take; by default as the options say.
    func connect(
      to facts: Facts, answerTimeout: Duration? = nil
    ) throws(PostgreSQLFailure) -> PostgreSQLConnection {
      var options = options
      if let answerTimeout { options.answerTimeout = answerTimeout }
      let connection = try address.connect(options, trips)
      try connection.prepare(tables, facts)
      return connection
    }

    /// Connects, and makes the store where there is none.
    func open() throws -> (PostgreSQLConnection, Facts) {
      do {
        let connection = try address.connect(options, trips)
        let facts = try self.facts(connection)
        try connection.prepare(tables, facts)
        if !options.isReadOnly {
          connection.send(.forgetTokens, isIgnored: true)
          connection.sendBatch()
        }
        return (connection, facts)
      } catch let failure as PostgreSQLFailure {
        throw failure.storageError(during: .open, at: place)
      }
    }

    private func facts(_ connection: PostgreSQLConnection) throws -> Facts {
      let server = try connection.query(
        "SELECT current_setting('server_version_num')::int4, pg_is_in_recovery()::int4, to_regclass($1) IS NULL",
        [tables.facts])
      if server.integer(0, 0) < Self.minimumServerVersion {
        throw error(
          .engine,
          "The server has version \(server.integer(0, 0) / 10_000), and 12 or later is needed. Update it.")
      }
      if server.integer(0, 2) != 0 {
        if options.isReadOnly {
          throw error(.notFound, "There is no store of that name in this database. Check both names.")
        }
        if server.integer(0, 1) != 0 {
          throw error(
            .notFound, "There is no store, and a standby cannot make one. Connect to the server that writes.")
        }
        try create(connection)
      }
      return try read(connection)
    }

    private func read(_ connection: PostgreSQLConnection) throws -> Facts {
      let result: PostgreSQLResult
      do {
        result = try connection.query(
          """
          SELECT version, shards, writers, \(Identity.columns)
          FROM \(tables.facts)
          """, [tables.entries])
      } catch {
        // A column is missing: the table belongs to another program.
        guard error.state == "42703" else { throw error }
        throw notAStorage("its table \(tables.facts) is somebody else's")
      }
      guard let identity = Identity(result, from: 3) else {
        throw notAStorage("its tables are not whole")
      }
      let version = result.integer(0, 0)
      guard version == PostgreSQLTables.version, result.integer(0, 1) == 1,
        let writers = PostgreSQLStorage.Options.Writers(rawValue: result.text(0, 2))
      else {
        throw error(
          .newerFormat,
          """
          The store has version \(version) with \(result.integer(0, 1)) shards, and this version of the driver knows \
          version \(PostgreSQLTables.version) with one. Nothing was changed. Update the library.
          """)
      }
      return Facts(identity: identity, writers: writers)
    }

    /// Makes the tables, all or none. Others that are about to make them wait, and then find them.
    private func create(_ connection: PostgreSQLConnection) throws(PostgreSQLFailure) {
      _ = try connection.query("BEGIN")
      do {
        _ = try connection.query(
          "SELECT pg_advisory_xact_lock(\(PostgreSQLTables.lockClass), hashtext($1))", [tables.facts])
        // The query reads a table, so that the server locks one. Otherwise it would look at what it cached before the wait.
        let look = try connection.query(
          "SELECT to_regclass($1) IS NULL FROM pg_class LIMIT 1", [tables.facts])
        if look.integer(0, 0) != 0 {
          try connection.execute(tables.creation(options.writers))
        }
        _ = try connection.query("COMMIT")
      } catch {
        _ = try? connection.query("ROLLBACK")
        throw error
      }
    }

    private func notAStorage(_ reason: String) -> StorageError {
      error(
        .notAStorage, "This is no store of this library: \(reason). Nothing was changed. Choose another name."
      )
    }

    private func error(_ kind: StorageError.Kind, _ message: String) -> StorageError {
      StorageError(kind, during: .open, driver: driverName, message: "\(place): \(message)")
    }

    // MARK: Commits without an answer

    /// What became of a transaction whose commit was not answered.
    ///
    /// It does not suffice to look for the token, because the commit may still be on its way. Inserting it waits for a
    /// transaction that has inserted it and has not ended. If the token was not there, it now is: the transaction would have to
    /// insert it a second time, and so can never commit.
    ///
    /// The answer to this may be lost, too. So a token that was inserted here is marked as a claim, and asking again does not
    /// take it for the commit's. And a commit that the server has, but not yet the standbys that it has to wait for, does not
    /// count yet: this waits for them.
    func outcome(of token: PostgreSQLToken, _ facts: Facts) -> Outcome {
      let end = ContinuousClock.now + options.resolveTimeout
      var pause: UInt32 = 5_000
      while true {
        do throws(PostgreSQLFailure) {
          let left = max(.seconds(1), end - .now)
          let connection = try connect(to: facts, answerTimeout: min(options.answerTimeout, left))
          token.bytes.withUnsafeBytes {
            connection.send(.claimToken, [$0])
            connection.send(.awaitStandbys, [$0])
            connection.send(.lookForClaim, [$0])
          }
          return try connection.receive(1)[0].rowCount == 0 ? .committed : .notCommitted
        } catch {
          if ContinuousClock.now >= end { return .unknown(error) }
        }
        usleep(pause)
        pause = min(pause * 2, 500_000)
      }
    }
  }
#endif

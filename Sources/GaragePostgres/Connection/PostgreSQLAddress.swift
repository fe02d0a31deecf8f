#if PostgreSQL
  internal import CPostgreSQL
  internal import GarageDriver

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  /// The server and the user of a connection URL, as libpq reads it.
  struct PostgreSQLAddress: Sendable {
    private let url: String
    private let password: String?
    /// Server, port and database, in words that name no password.
    let place: String
    private let hosts: PostgreSQLHosts
    /// How long each host may take.
    private let timeout: Duration
    /// Longer than any wait, and short enough to be counted in milliseconds.
    private static let maximumSeconds = 1_000_000

    /// - Parameter timeout: how long a connection may take to be made where the URL says nothing of it.
    init(_ url: String, timeout: Duration) throws {
      self.url = url
      var message: UnsafeMutablePointer<CChar>?
      guard let settings = PQconninfoParse(url, &message) else {
        // libpq's own words may quote from it, the password included.
        PQfreemem(message)
        throw StorageError(
          .notFound, during: .open, driver: driverName,
          message: """
            The text is no connection URL. Give one such as postgresql://user@host:5432/database, with unusual \
            characters in percent escapes.
            """)
      }
      defer { PQconninfoFree(settings) }
      var values: [String: String] = [:]
      var setting = settings
      while let keyword = setting.pointee.keyword {
        if let value = setting.pointee.val { values[String(cString: keyword)] = String(cString: value) }
        setting += 1
      }
      password = values["password"]
      let host = values["host"] ?? values["hostaddr"] ?? "the local server"
      let port = values["port"].map { ":\($0)" } ?? ""
      place = host + port + (values["dbname"].map { "/\($0)" } ?? "")
      let seconds = values["connect_timeout"].flatMap { Int($0) } ?? 0
      hosts = PostgreSQLHosts(values)
      let namedCount = host.split(separator: ",", omittingEmptySubsequences: false).count
      self.timeout =
        seconds > 0
        ? .seconds(min(max(2, seconds), Self.maximumSeconds) * namedCount) / hosts.count
        : timeout / hosts.count
    }

    /// Text of libpq or the server without the password, should it be in there.
    static func cleaned(_ text: String, of password: String?) -> String {
      let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
      guard let password, !password.isEmpty else { return line }
      return line.replacing(password, with: "***")
    }

    /// Makes a connection, with the settings that the driver needs.
    func connect(_ options: PostgreSQLStorage.Options, _ trips: PostgreSQLTrips) throws(PostgreSQLFailure)
      -> PostgreSQLConnection
    {
      trips.count()
      StandardStreams.takeClosedPlaces()
      let handle = try openHandle()
      let connection = PostgreSQLConnection(
        handle, password: password, answerTimeout: options.answerTimeout, trips)
      let settings = [
        // A plan made for an empty table scans all of it, and goes on doing so when there is much in it. Scans that are
        // made to look expensive would be compiled, which takes half a second.
        ("plan_cache_mode", "force_generic_plan"), ("jit", "off"), ("enable_seqscan", "off"),
        ("enable_bitmapscan", "off"),
        ("default_transaction_isolation", "read committed"), ("default_transaction_read_only", "off"),
        ("default_transaction_deferrable", "off"), ("client_encoding", "UTF8"),
        ("enable_indexscan", "on"), ("lock_timeout", "\(options.lockMilliseconds)"),
        ("idle_in_transaction_session_timeout", "0"), ("statement_timeout", "0"),
        ("transaction_timeout", "0"),
      ]
      let rows = settings.map { "('\($0.0)', '\($0.1)')" }
      // Older servers do not have all of them.
      _ = try connection.query(
        """
        SELECT set_config(name, value, false) FROM (VALUES \(rows.joined(separator: ", "))) AS s (name, value)
        WHERE current_setting(name, true) IS NOT NULL
        """)
      return connection
    }

    /// A connection to the first host that takes it.
    private func openHandle() throws(PostgreSQLFailure) -> OpaquePointer {
      var refusals: [PostgreSQLFailure] = []
      for attempt in hosts.attempts() {
        let handle = try start(attempt)
        do throws(PostgreSQLFailure) {
          try finish(handle)
          hosts.noteConnected(attempt)
          return handle
        } catch {
          PQfinish(handle)
          refusals.append(error)
          if !PostgreSQLHosts.isToGoOn(after: error) { break }
        }
      }
      throw PostgreSQLHosts.summary(of: refusals)
    }

    private func start(_ attempt: PostgreSQLHosts.Attempt) throws(PostgreSQLFailure) -> OpaquePointer {
      // The settings of the URL come later, and count.
      let settings = [
        ("fallback_application_name", "Garage"), ("tcp_user_timeout", "30000"), ("keepalives_idle", "30"),
        ("keepalives_interval", "5"), ("keepalives_count", "3"), ("dbname", url),
      ]
      let texts = (settings + attempt.settings).map { (strdup($0.0), strdup($0.1)) }
      defer {
        for (keyword, value) in texts {
          free(keyword)
          free(value)
        }
      }
      let keywords: [UnsafePointer<CChar>?] = texts.map { $0.0.map { UnsafePointer($0) } } + [nil]
      let values: [UnsafePointer<CChar>?] = texts.map { $0.1.map { UnsafePointer($0) } } + [nil]
      guard let handle = PQconnectStartParams(keywords, values, 1) else {
        throw PostgreSQLFailure(text: "There is not enough memory for a connection", isOfConnection: true)
      }
      // So that the message of a server that refuses names the kind of failure, which nothing else tells.
      PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
      return handle
    }

    /// Waits until the connection is made.
    private func finish(_ handle: OpaquePointer) throws(PostgreSQLFailure) {
      let end = ContinuousClock.now + timeout
      var next = PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
      while next != PGRES_POLLING_OK {
        if next == PGRES_POLLING_FAILED { throw refusal(of: handle) }
        let left = (end - ContinuousClock.now).components
        let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
        if milliseconds <= 0 {
          throw PostgreSQLFailure(text: "The server did not answer in time", isOfConnection: true)
        }
        let events = Int16(next == PGRES_POLLING_READING ? POLLIN : POLLOUT)
        var look = pollfd(fd: PQsocket(handle), events: events, revents: 0)
        if poll(&look, 1, Int32(clamping: milliseconds)) > 0 { next = PQconnectPoll(handle) }
      }
      PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    }

    /// Why a connection was not made: the server's words come as `FATAL:  53300: sorry, …`.
    private func refusal(of handle: OpaquePointer) -> PostgreSQLFailure {
      let text = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
      // Failures that libpq finds out by itself have no SQLSTATE.
      var state = PQconnectionNeedsPassword(handle) == 1 ? "28P01" : nil
      var lines: [String] = []
      for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("LOCATION:") {
        var words = line.split(separator: " ", omittingEmptySubsequences: true)
        if let index = words.firstIndex(where: Self.isState) {
          state = String(words[index].dropLast())
          words.remove(at: index)
        }
        lines.append(words.joined(separator: " "))
      }
      return PostgreSQLFailure(
        state: state, text: Self.cleaned(lines.joined(separator: " "), of: password), isOfConnection: true)
    }

    private static func isState(_ word: Substring) -> Bool {
      word.utf8.count == 6 && word.hasSuffix(":")
        && word.dropLast().utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
        && word.utf8.first.map { (48...57).contains($0) || $0 == 88 || $0 == 70 || $0 == 72 || $0 == 80 }
          == true
        && word != "FATAL:" && word != "PANIC:"
    }
  }
#endif

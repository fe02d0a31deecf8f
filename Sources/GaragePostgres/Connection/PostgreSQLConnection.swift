#if PostgreSQL
  internal import CPostgreSQL
  internal import GarageDriver
  internal import Synchronization

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  /// One connection to the server, on which commands are sent one after another and answered in that order.
  ///
  /// It is used by one thread at a time: by whoever took it from the pool. Commands are queued by ``send(_:_:)``, and
  /// ``receive(_:)`` ends a batch of them and waits for its answers: that is one round trip, however many commands
  /// there are.
  final class PostgreSQLConnection: @unchecked Sendable {
    // @unchecked: see above.

    /// An answer that is still to come.
    private enum Awaited: Equatable {
      case command
      /// A command that was sent before anybody asks for its answer, by its number.
      case ahead(Int)
      /// The same, when its answer is not wanted any more. If it fails, the transaction has failed all the same.
      case discarded
      /// A command whose failure does not matter any more.
      case ignored
      /// A command that ends a transaction and is not waited for. If it fails, later commands would run inside that
      /// transaction, so the connection is given up.
      case ending
      case endOfBatch
    }

    private let handle: OpaquePointer
    private let process = ProcessMark()
    private let trips: PostgreSQLTrips
    private var awaited: [Awaited] = []
    /// Answers to commands that were sent ahead, by their numbers.
    private var answeredAhead: [Int: PostgreSQLResult] = [:]
    private var lastNumberAhead = 0
    private var firstFailure: PostgreSQLFailure?
    /// Whether the connection is gone.
    private(set) var isLost = false
    private let password: String?
    /// How long an answer may take.
    private let answerTimeout: Duration

    /// The server's time when ``openedAt`` was now.
    private var serverMilliseconds: Int64 = 0
    private let openedAt = ContinuousClock.now

    /// Takes over a connection that libpq has made.
    init(_ handle: OpaquePointer, password: String?, answerTimeout: Duration, _ trips: PostgreSQLTrips) {
      self.handle = handle
      self.password = password
      self.answerTimeout = answerTimeout
      self.trips = trips
      // The default prints what the server notes to standard error.
      PQsetNoticeReceiver(handle, { _, _ in }, nil)
    }

    deinit {
      // The parent of a forked process goes on using it; to finish it here would end its session.
      if process.isOfThisProcess { PQfinish(handle) }
    }

    // MARK: One query at a time, before there are statements

    /// Runs SQL whose parameters are text.
    func query(_ sql: String, _ parameters: [String] = [], isBinary: Bool = true) throws(PostgreSQLFailure)
      -> PostgreSQLResult
    {
      trips.count()
      let code = withTexts(parameters) { values in
        PQsendQueryParams(handle, sql, Int32(parameters.count), nil, values, nil, nil, isBinary ? 1 : 0)
      }
      return try lastAnswer(code)
    }

    /// Runs several commands, in one round trip.
    func execute(_ commands: [String]) throws(PostgreSQLFailure) {
      trips.count()
      _ = try lastAnswer(PQsendQuery(handle, commands.joined(separator: ";\n")))
    }

    /// The answer to the last of the commands that were sent: of the one that failed, where one did.
    private func lastAnswer(_ code: Int32) throws(PostgreSQLFailure) -> PostgreSQLResult {
      guard code == 1 else { throw lost() }
      var last: PostgreSQLResult?
      while awaitAnswer(), let answer = PQgetResult(handle) { last = PostgreSQLResult(answer) }
      if let silence = firstFailure {
        firstFailure = nil
        throw silence
      }
      guard let last else { throw lost() }
      if let failure = failure(of: last) { throw failure }
      return last
    }

    private func withTexts<R>(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> R) -> R {
      func descend(_ index: Int, _ values: [UnsafePointer<CChar>?]) -> R {
        if index == texts.count { return body(values) }
        return texts[index].withCString { descend(index + 1, values + [$0]) }
      }
      return descend(0, [])
    }

    /// Prepares all statements, in one round trip; from then on ``send(_:_:)`` and ``receive(_:)`` are to be used.
    ///
    /// - Throws: also where the tables are not those of the store that was opened: names lead elsewhere when a search path or a
    ///   host's address is changed, or when tables are made anew.
    func prepare(_ tables: PostgreSQLTables, _ facts: PostgreSQLOpening.Facts) throws(PostgreSQLFailure) {
      let server = try query(
        """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8, pg_is_in_recovery()::int4,
          \(PostgreSQLOpening.Identity.columns)
        """, [tables.entries])
      guard PostgreSQLOpening.Identity(server, from: 2) == facts.identity else {
        throw PostgreSQLFailure(
          state: PostgreSQLFailure.otherStore, text: "Another store is there than the one that was opened")
      }
      serverMilliseconds = Int64(server.integer(0, 0))
      let isStandby = server.integer(0, 1) != 0
      guard PQenterPipelineMode(handle) == 1 else { throw lost() }
      for statement in PostgreSQLStatement.allCases {
        let sql = statement.sql(
          tables, writersConflict: facts.writers == .several, isStandby: isStandby)
        guard PQsendPrepare(handle, statement.rawValue, sql, 0, nil) == 1 else { throw lost() }
        awaited.append(.command)
      }
      _ = try receive(0)
    }

    // MARK: Batches

    /// Queues a command; it is sent with its batch, or earlier where there is much of it.
    func send(
      _ statement: PostgreSQLStatement, _ parameters: [UnsafeRawBufferPointer] = [], isIgnored: Bool = false
    ) {
      send(statement, parameters, isIgnored ? .ignored : .command)
    }

    /// Ends a transaction without waiting for the answer.
    func sendEnd(_ statement: PostgreSQLStatement) {
      send(statement, [], .ending)
      sendBatch()
    }

    private func send(
      _ statement: PostgreSQLStatement, _ parameters: [UnsafeRawBufferPointer], _ kind: Awaited
    ) {
      if isLost { return }
      // An empty buffer may have no address, which would stand for null.
      let values = parameters.map {
        ($0.baseAddress ?? nowhere).map { $0.assumingMemoryBound(to: CChar.self) }
      }
      let lengths = parameters.map { Int32($0.count) }
      let formats = [Int32](repeating: 1, count: parameters.count)
      let code = PQsendQueryPrepared(
        handle, statement.rawValue, Int32(parameters.count), values, lengths, formats, 1)
      if code == 1 { awaited.append(kind) } else { noteLost() }
    }

    /// Ends a batch whose answers are left for later: the server begins with it meanwhile.
    func sendBatch() {
      if isLost { return }
      if PQpipelineSync(handle) == 1 { awaited.append(.endOfBatch) } else { noteLost() }
    }

    /// Ends the batch, waits for everything that was sent, and returns the last answers.
    ///
    /// - Parameter count: how many answers.
    /// - Throws: the first failure since the last call.
    @discardableResult
    func receive(_ count: Int) throws(PostgreSQLFailure) -> [PostgreSQLResult] {
      sendBatch()
      trips.count()
      let results = settle(keeping: count)
      if let failure = firstFailure {
        firstFailure = nil
        throw failure
      }
      if results.count < count { throw lost() }
      return results
    }

    /// As ``receive(_:)`` for a batch whose last command ends the transaction. Returns the outcome that the server reports,
    /// even if the connection was lost right after that, and the first failure.
    func receiveEnd() -> (tag: String?, failure: PostgreSQLFailure?) {
      sendBatch()
      trips.count()
      let end = settle(keeping: 1).last
      defer { firstFailure = nil }
      return (end.flatMap { $0.status == PGRES_COMMAND_OK ? $0.tag : nil }, firstFailure)
    }

    /// Waits for everything that was sent in batches. Failures are left to be thrown by ``receive(_:)``.
    ///
    /// - Parameter count: how many of the last answers are returned.
    @discardableResult
    func settle(keeping count: Int = 0) -> [PostgreSQLResult] {
      var results: [PostgreSQLResult] = []
      var left = awaited.count { $0 == .command }
      for each in awaited {
        if isLost { break }
        switch each {
        case .endOfBatch: receiveEndOfBatch()
        case .command, .ahead, .discarded, .ignored, .ending:
          guard let result = receiveAnswer() else { break }
          if each == .ignored { continue }
          if each == .ending {
            if result.status != PGRES_COMMAND_OK { noteLost() }
            continue
          }
          if let failure = failure(of: result), firstFailure == nil { firstFailure = failure }
          if case .ahead(let number) = each { answeredAhead[number] = result }
          guard each == .command else { continue }
          left -= 1
          if left < count { results.append(result) }
        }
      }
      awaited.removeAll(keepingCapacity: true)
      if isLost && firstFailure == nil { firstFailure = lost() }
      return results
    }

    /// The answer to one command. Nil where the connection is lost.
    private func receiveAnswer() -> PostgreSQLResult? {
      guard awaitAnswer(), let first = PQgetResult(handle) else {
        noteLost()
        return nil
      }
      let result = PostgreSQLResult(first)
      // Behind each answer comes nothing, once. A lost connection may answer more.
      while awaitAnswer(), let more = PQgetResult(handle) {
        PQclear(more)
        if PQstatus(handle) == CONNECTION_BAD { break }
      }
      if PQstatus(handle) == CONNECTION_BAD { noteLost() }
      return result
    }

    private func receiveEndOfBatch() {
      guard awaitAnswer(), let answer = PQgetResult(handle) else { return noteLost() }
      if PQresultStatus(answer) != PGRES_PIPELINE_SYNC { noteLost() }
      PQclear(answer)
    }

    /// Waits until `PQgetResult` need not: false where that took too long, and the connection is given up.
    private func awaitAnswer() -> Bool {
      if PQisBusy(handle) == 0 { return true }
      let end = ContinuousClock.now + answerTimeout
      while PQisBusy(handle) != 0 {
        let left = (end - ContinuousClock.now).components
        let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
        if milliseconds <= 0 {
          giveUp()
          return false
        }
        var look = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        // If the connection is gone, `PQgetResult` says so, and why.
        if poll(&look, 1, Int32(clamping: milliseconds)) > 0, PQconsumeInput(handle) == 0 { return true }
      }
      return true
    }

    private func giveUp() {
      noteLost()
      if firstFailure == nil {
        firstFailure = PostgreSQLFailure(
          text: "The server did not answer within \(answerTimeout)", isOfConnection: true,
          isSilence: true)
      }
    }

    /// The failure that a result reports, or nil.
    private func failure(of result: PostgreSQLResult) -> PostgreSQLFailure? {
      switch result.status {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_PIPELINE_SYNC, PGRES_EMPTY_QUERY: return nil
      // It comes behind a failure in the same batch, which was noted before.
      case PGRES_PIPELINE_ABORTED: return firstFailure ?? PostgreSQLFailure(text: "The batch was given up")
      default:
        // If something ends its session, the server says so before it closes the connection.
        let isOfConnection = PQstatus(handle) == CONNECTION_BAD || result.isOfSession
        if isOfConnection { noteLost() }
        return PostgreSQLFailure(
          state: result.state, text: cleaned(result.message), isOfConnection: isOfConnection)
      }
    }

    /// How many batches are not answered yet, as far as is known here.
    var awaitedBatchCount: Int { awaited.count { $0 == .endOfBatch } }

    /// Waits for the answers to what was sent in batches.
    ///
    /// - Throws: the first failure since the last call.
    func receiveEarlier() throws(PostgreSQLFailure) {
      trips.count()
      settle()
      if let failure = firstFailure {
        firstFailure = nil
        throw failure
      }
    }

    // MARK: Ahead

    /// Sends a command whose answer is asked for later, by the number that this returns. The server begins with it
    /// meanwhile, and other commands may be sent and answered.
    func sendAhead(_ statement: PostgreSQLStatement, _ parameters: [UnsafeRawBufferPointer]) -> Int {
      lastNumberAhead += 1
      send(statement, parameters, .ahead(lastNumberAhead))
      sendBatch()
      return lastNumberAhead
    }

    /// The answer to what was sent ahead.
    func receiveAhead(_ number: Int) throws(PostgreSQLFailure) -> PostgreSQLResult {
      if answeredAhead[number] == nil { try receiveEarlier() }
      guard let result = answeredAhead.removeValue(forKey: number) else { throw lost() }
      // The failure may have been thrown by another question meanwhile, and swallowed there. There are no rows in any case.
      if let failure = failure(of: result) { throw failure }
      return result
    }

    /// Drops a command that was sent ahead and is not needed.
    func discardAhead(_ number: Int) {
      answeredAhead[number] = nil
      if let index = awaited.firstIndex(of: .ahead(number)) { awaited[index] = .discarded }
    }

    /// Keeps answers that this transaction has not waited for from the next one.
    func ignoreDiscarded() {
      for (index, each) in awaited.enumerated() where each == .discarded { awaited[index] = .ignored }
    }

    /// Drops all answers that are still to come.
    func ignoreAnswers() {
      // Later commands must not be skipped because something before them failed.
      if let last = awaited.last, last != .endOfBatch { sendBatch() }
      awaited = awaited.map { $0 == .command ? .ignored : $0 }
      firstFailure = nil
    }

    // MARK: State

    /// Whether it can be used again: nobody has closed it at the other end.
    func isAlive() -> Bool {
      if isLost || !process.isOfThisProcess { return false }
      // Reads what the server sent unasked: a farewell, for instance, after which the next look finds the end.
      for _ in 0..<Self.maximumLookCount {
        var look = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        if poll(&look, 1, 0) == 0 { return true }
        if PQconsumeInput(handle) == 0 || PQstatus(handle) == CONNECTION_BAD {
          noteLost()
          return false
        }
      }
      return true
    }

    /// As often as something is there to be read: more than a server says unasked.
    private static let maximumLookCount = 16

    /// The time by the server's clock, about.
    var serverTime: Int64 {
      let passed = ContinuousClock.now - openedAt
      return serverMilliseconds + passed.components.seconds * 1000
    }

    /// Gives up the connection: nothing that is sent from now on arrives.
    func noteLost() {
      if isLost { return }
      isLost = true
      // The server has to end the open transaction, because others wait for it. And closing the connection must not wait for
      // unsent data.
      if process.isOfThisProcess, PQsocket(handle) >= 0 { shutdown(PQsocket(handle), Int32(SHUT_RDWR)) }
    }

    private func lost() -> PostgreSQLFailure {
      noteLost()
      let text = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
      return PostgreSQLFailure(
        text: text.isEmpty ? "The connection was lost" : cleaned(text), isOfConnection: true)
    }

    private func cleaned(_ text: String) -> String { PostgreSQLAddress.cleaned(text, of: password) }
  }

  /// Where an empty buffer is.
  private nonisolated(unsafe) let nowhere: UnsafeRawPointer? = UnsafeRawPointer(
    UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))
#endif

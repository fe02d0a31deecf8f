#if PostgreSQL
  internal import Dispatch
  internal import GarageDriver
  internal import Synchronization

  /// The connections of one storage: each is one transaction's, or rests until the next one.
  ///
  /// A thread that is inside a transaction on the store never waits for a connection, because the threads that have them may be
  /// waiting for this one: it gets one more, or an error. Other threads wait up to the lock timeout, if there are as many
  /// connections as the options allow.
  final class PostgreSQLPool: Sendable {
    private struct State {
      var resting: [PostgreSQLConnection] = []
      /// The connections at rest, in use, and just being made.
      var count = 0
      var waiting: [DispatchSemaphore] = []
      var isClosed = false
    }

    /// How many connections in a row may turn out to be lost before that is taken for the server's state.
    static let maximumLostCount = 20

    private let state = Mutex(State())
    private let options: PostgreSQLStorage.Options
    private let make: @Sendable () throws(PostgreSQLFailure) -> PostgreSQLConnection
    private let place: String

    init(
      _ options: PostgreSQLStorage.Options, place: String, holding first: PostgreSQLConnection,
      _ make: @escaping @Sendable () throws(PostgreSQLFailure) -> PostgreSQLConnection
    ) {
      self.options = options
      self.place = place
      self.make = make
      state.withLock {
        $0.resting = [first]
        $0.count = 1
      }
    }

    /// A connection for one transaction; ``giveBack(_:)`` has to follow.
    ///
    /// - Parameter mayWait: whether the calling thread has none yet.
    func take(mayWait: Bool, _ operation: StorageError.Operation) throws -> PostgreSQLConnection {
      let end = ContinuousClock.now + options.lockTimeout
      while true {
        let (resting, turn) = state.withLock { state -> (PostgreSQLConnection?, DispatchSemaphore?) in
          if let connection = state.resting.popLast() { return (connection, nil) }
          if !mayWait || state.count < max(1, options.maximumConnectionCount) {
            state.count += 1
            return (nil, nil)
          }
          return (nil, enqueue(in: &state))
        }
        if let resting {
          if resting.isAlive() { return resting }
          forgetOne()
        } else if let turn {
          try wait(for: turn, until: end, operation, nil)
        } else {
          do { return try make() } catch {
            // There may be room when another thread of this process gives a connection back; other processes do not tell.
            let others = forgetOne()
            let isFull = error.state == "53300"
            guard isFull, mayWait, others > 0 else {
              throw error.storageError(during: operation, at: place)
            }
            try wait(for: state.withLock { enqueue(in: &$0) }, until: end, operation, error)
          }
        }
      }
    }

    private func enqueue(in state: inout State) -> DispatchSemaphore {
      let turn = DispatchSemaphore(value: 0)
      state.waiting.append(turn)
      return turn
    }

    private func wait(
      for turn: DispatchSemaphore, until end: ContinuousClock.Instant, _ operation: StorageError.Operation,
      _ refusal: PostgreSQLFailure?
    ) throws {
      let left = (end - ContinuousClock.now).components
      let nanoseconds = left.seconds * 1_000_000_000 + left.attoseconds / 1_000_000_000
      if turn.wait(timeout: .now() + .nanoseconds(Int(max(0, nanoseconds)))) == .success { return }
      let isLate = state.withLock { state in
        guard let index = state.waiting.firstIndex(where: { $0 === turn }) else { return false }
        state.waiting.remove(at: index)
        return true
      }
      // Its turn came just now.
      if !isLate { return }
      if let refusal { throw refusal.storageError(during: operation, at: place) }
      throw StorageError(
        .readersFull, during: operation, driver: driverName, isRetryable: true,
        message: """
          \(place): All \(options.maximumConnectionCount) connections of this storage were in use for too long. End \
          transactions sooner, or allow more with maximumConnectionCount.
          """)
    }

    /// Ends a use. A connection that is lost, or one too many, is closed.
    func giveBack(_ connection: PostgreSQLConnection) {
      // Closed outside of the lock, where it is.
      _ = state.withLock { state -> PostgreSQLConnection? in
        let isKept =
          !connection.isLost && !state.isClosed
          && (state.resting.count < options.maximumIdleConnectionCount || !state.waiting.isEmpty)
        if isKept { state.resting.append(connection) } else { state.count -= 1 }
        wakeOne(in: &state)
        return isKept ? nil : connection
      }
    }

    /// Counts one less, and returns how many there are.
    @discardableResult
    private func forgetOne() -> Int {
      state.withLock { state in
        state.count -= 1
        wakeOne(in: &state)
        return state.count
      }
    }

    private func wakeOne(in state: inout State) {
      if !state.waiting.isEmpty { state.waiting.removeFirst().signal() }
    }

    /// Closes the connections at rest: all there are, when no transaction is open.
    func close() {
      _ = state.withLock { state in
        state.isClosed = true
        defer { state.resting = [] }
        state.count -= state.resting.count
        return state.resting
      }
    }
  }
#endif

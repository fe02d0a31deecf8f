internal import GarageDriver
internal import Synchronization

/// What all storages of this process on one file share.
final class SQLiteShare: Sendable {
  /// Lets one of their threads at a time write.
  let gate = WriterGate()
  let foreignCommits = SQLiteForeignCommits()
}

/// Counts how often somebody outside of this process was found to have committed to a file.
///
/// SQLite tells a connection whether any other one has committed (`PRAGMA data_version`), but not whether that one
/// belongs to the same process. So one connection of the process watches at a time, and another one that is about to
/// commit takes the watch over: it asks for its own number first, and then looks through the one before for the last time.
/// Where that one finds nothing, nobody else had committed until then, and what is committed later changes the new one's
/// number. So nothing falls between the two; and wherever that is in doubt, it counts.
///
/// All but ``resign(_:)`` is for the thread that is inside the writers' gate: nobody of this process commits meanwhile, and
/// nobody uses the connection that watches.
final class SQLiteForeignCommits: Sendable {
  /// The connection that watches.
  private struct Watch: @unchecked Sendable {
    // @unchecked: the pointer leads to memory that the connection keeps for as long as it is open.
    let connection: SQLiteConnection
    /// Where it finds the header of the log's index.
    let header: UnsafeRawPointer?
    /// What that was before the number was asked for.
    private var state: SQLiteLogHeader?
    private var version: Int

    init(_ connection: SQLiteConnection) throws {
      self.connection = connection
      header = connection.findLogHeader()
      state = header.map { SQLiteLogHeader(at: $0) }
      version = try connection.integer("PRAGMA data_version")
    }

    /// Whether another connection has committed since it was asked last.
    mutating func look() throws -> Bool {
      // Where nobody committed at all, nothing has to be asked, which takes system calls.
      if let header, let state, state.isSame(at: header) { return false }
      let state = header.map { SQLiteLogHeader(at: $0) }
      let version = try connection.integer("PRAGMA data_version")
      self.state = state
      if version == self.version { return false }
      self.version = version
      return true
    }

    /// Whether both see the same commits: all connections of a process to one file have one map of the log's index, and
    /// none where there is no log.
    func looks(atTheSameAs other: Watch) -> Bool { header == other.header }
  }

  private struct State: Sendable {
    /// Nil until somebody asks, and where the one that watched was closed.
    var watch: Watch?
    var count: UInt64 = 0

    /// The watch stays where it is if that throws: it loses nothing by that.
    mutating func look() throws {
      if try watch?.look() ?? true { count += 1 }
    }

    mutating func takeOver(_ connection: SQLiteConnection) throws {
      // Its own number first: see above.
      let next = try Watch(connection)
      // Nobody knows what was committed while nobody watched.
      var isFound = true
      if watch?.looks(atTheSameAs: next) == true { isFound = (try? watch?.look()) ?? true }
      if isFound { count += 1 }
      watch = next
    }
  }

  // Closing is not inside the gate.
  private let state = Mutex(State())

  /// How often others were found to have committed, now that `connection` has looked, too.
  func count(asking connection: SQLiteConnection) throws -> UInt64 {
    try state.withLock { state in
      if state.watch?.connection === connection {
        try state.look()
      } else {
        try state.takeOver(connection)
      }
      return state.count
    }
  }

  /// Lets `connection` watch, which is about to commit: to the one that watches, its commits would be those of others.
  func prepareCommit(on connection: SQLiteConnection) {
    state.withLock { state in
      // Nothing to do before anybody asks.
      guard let watch = state.watch, watch.connection !== connection else { return }
      // If it fails, its commit will count.
      try? state.takeOver(connection)
    }
  }

  /// Takes the watch from a connection that is about to close. The next one to watch cannot know what it missed.
  func resign(_ connection: SQLiteConnection) {
    state.withLock { state in
      if state.watch?.connection === connection { state.watch = nil }
    }
  }
}

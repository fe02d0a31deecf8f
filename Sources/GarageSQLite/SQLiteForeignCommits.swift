internal import GarageDriver
internal import Synchronization

/// What all storages of this process on one file share.
final class SQLiteShare: Sendable {
  /// Lets one of this process's threads at a time write to the file.
  let gate = WriterGate()
  let foreignCommits = SQLiteForeignCommits()
}

/// Counts how often others than this process were found to have committed to a file.
///
/// SQLite tells a connection whether any other one has committed (`PRAGMA data_version`), but not whether that one belongs to
/// the same process. So one connection of the process watches at a time, and another one that is about to commit takes the
/// watch over. It asks for its own number first, and then lets the former watcher look for the last time. If that finds
/// nothing, nobody else had committed until then, and any later commit changes the new watcher's number. So nothing falls
/// between the two. Whenever it is in doubt, a commit of others is counted.
///
/// All but ``resign(_:)`` may be called only by the thread that is inside the writers' gate: no other thread of this process
/// commits meanwhile, or uses the connection that watches.
final class SQLiteForeignCommits: Sendable {
  /// The connection that watches.
  private struct Watch: @unchecked Sendable {
    // @unchecked: the pointer leads to memory that the connection keeps for as long as it is open.
    let connection: SQLiteConnection
    /// Where it finds the header of the log's index.
    let header: UnsafeRawPointer?
    /// What that header was before the number was asked for.
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
      // If nobody has committed at all, SQLite need not be asked, which takes system calls.
      if let header, let state, state.isSame(at: header) { return false }
      let state = header.map { SQLiteLogHeader(at: $0) }
      let version = try connection.integer("PRAGMA data_version")
      self.state = state
      if version == self.version { return false }
      self.version = version
      return true
    }

    /// Whether both see the same commits. All connections of a process to one file share one map of the log's index; without a
    /// log there is none.
    func looks(atTheSameAs other: Watch) -> Bool { header == other.header }
  }

  private struct State: Sendable {
    /// Nil until the first question, and after the connection that watched was closed.
    var watch: Watch?
    var count: UInt64 = 0

    /// If this throws, the watch stays with the connection that has it, and nothing is lost.
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

  /// Looks through `connection`, and returns how often others were found to have committed.
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

  /// Lets `connection` watch, because it is about to commit. To another watcher its commits would look like those of others.
  func prepareCommit(on connection: SQLiteConnection) {
    state.withLock { state in
      // Nothing to do before anybody asks.
      guard let watch = state.watch, watch.connection !== connection else { return }
      // If this fails, the commit will be counted as one of others.
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

internal import GarageDriver
internal import Synchronization

/// What this process has of one folder: at most one connection, and the number of storages that use it.
///
/// LMDB environments opened twice in one process read each other's pages wrongly, and closing one drops the
/// file locks of both. The registry holds stores weakly, which alone would leave a gap: a store could be
/// gone while its environment is still being closed. So storages are counted, and the last one closes the
/// environment under the same lock under which the next one would open it.
final class LMDBStore: Sendable {
  private struct State {
    var connection: LMDBConnection?
    var userCount = 0
  }
  private let state = Mutex(State())

  private static let registry = StoreRegistry<LMDBStore>()

  /// The store whose data file has `identity`. The file, not the folder: an open one keeps its number for
  /// itself, while that of a deleted folder may be given to the next one.
  static func store(for identity: FileIdentity) throws -> LMDBStore {
    try registry.entry(for: identity) { LMDBStore() }
  }

  /// The open connection, or the one that `open` makes. ``disconnect(_:)`` must follow.
  func connect(_ open: () throws -> LMDBConnection) throws -> LMDBConnection {
    try state.withLock { state in
      if let connection = state.connection {
        state.userCount += 1
        return connection
      }
      let connection = try open()
      state = State(connection: connection, userCount: 1)
      return connection
    }
  }

  /// Ends one use of `connection`; the last one closes the environment.
  ///
  /// What a forked child got from its parent is left as it is: closing it would take the parent's slots.
  func disconnect(_ connection: LMDBConnection) {
    if !connection.process.isOfThisProcess { return }
    state.withLock { state in
      guard state.connection === connection else { return }
      state.userCount -= 1
      if state.userCount == 0 {
        connection.close()
        state.connection = nil
      }
    }
  }
}

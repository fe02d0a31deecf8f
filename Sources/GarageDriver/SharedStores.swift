internal import Synchronization

/// The stores that a process has open, each with one connection that all driver values on it share.
///
/// A driver keeps one of these for good, and each of its values one ``SharedStore``:
/// ```swift
/// private static let stores = SharedStores<MyConnection> { try $0.close() }
/// private let store: SharedStore<MyConnection>
/// …
/// store = try Self.stores.open(identity) { try MyConnection(path) }
/// ```
/// The first value on a store opens the connection, the last one closes it. If one thread opens the store while the last value
/// ends on another thread, the store is either closed first and then opened, or it stays open. So no engine ever has it open
/// twice, and no value gets a connection that is about to close. A weak reference cannot ensure that: it is gone before the
/// connection is closed.
///
/// A forked child does not get the connections of its parent, and leaves them as they are (``isInherited(_:)``).
public final class SharedStores<Connection: Sendable>: Sendable {
  /// One store. Its lock is held while it is opened and while it is closed, so that neither holds up other stores.
  fileprivate final class Entry: Sendable {
    struct State: Sendable {
      var connection: Connection?
      var userCount = 0
    }
    let state = Mutex(State())
  }

  fileprivate struct Place: Hashable, @unchecked Sendable {
    // @unchecked: the identity was given as Sendable.
    let identity: AnyHashable
    let process = ProcessMark()
  }

  private struct Held: Sendable {
    let entry: Entry
    /// How many values have the store, or are about to. It stays the store's entry as long as there is one.
    var holderCount = 0
  }

  private let entries = Mutex<[Place: Held]>([:])
  private let release: @Sendable (Connection) throws -> Void

  /// - Parameter release: closes a connection that no value uses any more.
  public init(closing release: @escaping @Sendable (Connection) throws -> Void) { self.release = release }

  /// Returns one value's share in the store with this identity. If no value has the store yet, `open` makes the connection.
  ///
  /// - Parameters:
  ///   - identity: tells stores apart: a ``FileIdentity``, or a name if there are no files.
  ///   - open: runs under the lock of that store, so that no other thread opens or closes the store meanwhile.
  public func open(
    _ identity: some Hashable & Sendable, _ open: () throws -> Connection
  ) rethrows -> SharedStore<Connection> {
    let place = Place(identity: AnyHashable(identity))
    let entry = entries.withLock { entries in
      let entry = entries[place]?.entry ?? Entry()
      entries[place, default: Held(entry: entry)].holderCount += 1
      return entry
    }
    do {
      let connection = try entry.state.withLock { state in
        let connection = try state.connection ?? open()
        state.connection = connection
        state.userCount += 1
        return connection
      }
      return SharedStore(connection, in: self, place, entry)
    } catch {
      letGo(place)
      throw error
    }
  }

  /// Whether the store was open when this process was forked. An engine that cannot open the store again must then refuse to.
  public func isInherited(_ identity: some Hashable & Sendable) -> Bool {
    let identity = AnyHashable(identity)
    return entries.withLock { entries in
      entries.keys.contains { $0.identity == identity && !$0.process.isOfThisProcess }
    }
  }

  /// Whether a value of this process has the store.
  package func isOpen(_ identity: some Hashable & Sendable) -> Bool {
    let identity = AnyHashable(identity)
    return entries.withLock { entries in
      entries.keys.contains { $0.identity == identity && $0.process.isOfThisProcess }
    }
  }

  fileprivate func end(_ place: Place, _ entry: Entry) throws {
    // A connection that a child got from its parent stays open, and is held here for as long as the child lives.
    if !place.process.isOfThisProcess { return }
    defer { letGo(place) }
    try entry.state.withLock { state in
      state.userCount -= 1
      guard state.userCount == 0, let connection = state.connection else { return }
      state.connection = nil
      try release(connection)
    }
  }

  private func letGo(_ place: Place) {
    entries.withLock { entries in
      entries[place]?.holderCount -= 1
      if entries[place]?.holderCount == 0 { entries[place] = nil }
    }
  }
}

/// One driver value's share in a store. Other values in the same process may have the store open, too.
public final class SharedStore<Connection: Sendable>: Sendable {
  /// The connection that all values on the store share.
  public let connection: Connection
  private let stores: SharedStores<Connection>
  private let place: SharedStores<Connection>.Place
  private let entry: SharedStores<Connection>.Entry
  private let hasEnded = Atomic<Bool>(false)

  fileprivate init(
    _ connection: Connection, in stores: SharedStores<Connection>, _ place: SharedStores<Connection>.Place,
    _ entry: SharedStores<Connection>.Entry
  ) {
    self.connection = connection
    self.stores = stores
    self.place = place
    self.entry = entry
  }

  deinit { try? close() }

  /// Ends this value's use of the store; the last value closes the connection. Does nothing when called again, and nothing in a
  /// forked child.
  public func close() throws {
    if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
    try stores.end(place, entry)
  }
}

public import GarageDriver
internal import Synchronization

/// A store in memory, for unit tests and previews. It is the driver to read before you write one.
///
/// It keeps every promise of ``GarageDriver/StorageDriver``. Its content is lost when the process ends.
///
/// In essence it is a ``GarageDriver/PersistentTree``, whose copies share the nodes that they have in common. A reader takes a
/// copy of the committed tree. That costs one reference, and later commits do not change the copy. The writer takes a copy,
/// too, and changes it: a commit publishes the copy, a roll-back drops it. Only a single small value takes a shorter way
/// (`MemoryWriteTransaction`).
///
/// Keys have up to 511 bytes. Values have up to 512 MiB, and 64 KiB more for storages that wrap this one
/// (``maximumValueByteCount``). So a program that works with this driver works with every other one. If memory runs out, the
/// process ends.
public final class MemoryStorage: StorageDriver {
  /// The driver's facts.
  public let info = StorageInfo(
    name: driverName,
    maximumKeyByteCount: StorageInfo.guaranteedKeyByteCount,
    maximumValueByteCount: maximumValueByteCount,
    isDurable: false, readsDuringWrite: true, isSharedAcrossProcesses: false)

  /// The largest value: the size that every driver accepts, and 64 KiB more. So a storage that wraps this one and adds bytes to
  /// its values accepts values of that size, too.
  public static let maximumValueByteCount = StorageInfo.guaranteedValueByteCount + (1 << 16)

  let store: MemoryStore
  private let lifetime: StorageLifetime

  /// Holds the store that was opened by a name.
  private let named: SharedStore<MemoryStore>?

  /// The value with which this one is closed, see ``SeparableStorage``.
  private let outer: MemoryStorage?

  private init(_ store: MemoryStore, _ named: SharedStore<MemoryStore>? = nil) {
    self.store = store
    self.named = named
    outer = nil
    lifetime = StorageLifetime(driver: driverName, gate: store.gate)
  }

  private init(within outer: MemoryStorage) {
    store = outer.store
    named = outer.named
    self.outer = outer
    lifetime = StorageLifetime(within: outer.lifetime)
  }

  deinit {
    if let outer { lifetime.leave(outer.lifetime) }
  }

  /// Makes an empty store.
  public convenience init() { self.init(MemoryStore()) }

  /// Opens the store called `name`. All values that a process opens under one name share one content.
  ///
  /// The content exists as long as any of these values is held, closed ones included. So a test can close a store and open it
  /// again, as it would a file.
  public convenience init(named name: String) {
    let named = Self.stores.open(name) { MemoryStore() }
    self.init(named.connection, named)
  }

  private static let stores = SharedStores<MemoryStore> { _ in }

  /// Opens the store of another value, which may be closed. Both share one content and have one writer at a time.
  public convenience init(sharing other: MemoryStorage) { self.init(other.store, other.named) }

  /// Runs `body` on the last committed state.
  @_specialize(where R == Void)
  public func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try lifetime.withRead {
      let transaction = store.beginRead()
      defer { store.endRead(transaction) }
      return try transaction._withUnsafeGuaranteedRef { try body($0) }
    }
  }

  /// Runs `body` as the writer. Readers see its changes after the commit.
  @_specialize(where R == Bool)
  public func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try lifetime.withWrite {
      let transaction = store.beginWrite()
      defer { store.endWrite() }
      return try transaction._withUnsafeGuaranteedRef { transaction in
        try runWrite(body, in: transaction) {
          transaction.finish()
        } commit: {
          transaction.commit()
        } rollBack: {
        }
      }
    }
  }

  /// Ends this value's use of the store. The content stays as long as the value is held, and ``init(sharing:)`` opens it again.
  public func close() throws {
    try lifetime.close {}
  }
}

extension MemoryStorage: StateNaming {
  package func stateName(of transaction: any ReadTransaction) -> UInt64? {
    guard let name = (transaction as? MemoryReadTransaction)?.stateName, name != 0 else { return nil }
    return name
  }
}

extension MemoryStorage: ClosedTelling {
  package var isClosed: Bool? { lifetime.isClosed }
}

extension MemoryStorage: SeparableStorage {
  package func separated() -> (any StorageDriver)? { MemoryStorage(within: self) }
}

let driverName = "Memory"

/// What the values on one store share: the committed tree, and the gate that lets one thread write.
final class MemoryStore: @unchecked Sendable {
  // @unchecked: the transactions in `readers` and `writer` are used by one thread at a time.
  let gate = WriterGate()
  private let state = Mutex(State(name: MemoryStore.lastNumber.add(1, ordering: .relaxed).newValue << 40))
  private let readers = Reusable<MemoryReadTransaction>()
  /// The write transaction, for the thread that is inside the gate.
  @exclusivity(unchecked) private var writer = MemoryWriteTransaction()

  private struct State: Sendable {
    var tree = PersistentTree()
    /// The name of the committed state. It differs for each commit and each store: the store's number stands in front of the
    /// commit's.
    var name: UInt64
  }

  private static let lastNumber = Atomic<UInt64>(0)

  var committed: PersistentTree { state.withLock { $0.tree } }

  func commit(_ changed: PersistentTree) {
    // Taken out of the lock, so that no reader waits while nodes are freed that nobody needs any more.
    _ = state.withLock { state in
      defer { state.tree = changed }
      state.name &+= 1
      return state.tree
    }
  }

  /// Commits a single change: in place if no reader has the tree, and otherwise on copies of a few nodes.
  func commit(_ change: ChangeNote) {
    state.withLock { state in
      change.put(into: &state.tree)
      state.name &+= 1
    }
  }

  // MARK: Transactions

  /// Returns a transaction that belongs to the caller until ``endRead(_:)``, which has to follow.
  func beginRead() -> Unmanaged<MemoryReadTransaction> {
    let transaction = readers.take { MemoryReadTransaction() }
    let (tree, name) = state.withLock { ($0.tree, $0.name) }
    transaction._withUnsafeGuaranteedRef { $0.begin(on: tree, named: name) }
    return transaction
  }

  func endRead(_ transaction: Unmanaged<MemoryReadTransaction>) {
    transaction._withUnsafeGuaranteedRef { $0.end() }
    // If somebody kept the transaction, it must not be used again: it would come to life in that one's hands.
    if !readers.giveBack(transaction, keeping: transaction.isOnlyReference) { transaction.release() }
  }

  /// Called on the thread inside the gate. The transaction belongs to the caller until ``endWrite()``, which has to follow.
  func beginWrite() -> Unmanaged<MemoryWriteTransaction> {
    writer.begin(on: self)
    return Unmanaged.passUnretained(writer)
  }

  func endWrite() {
    writer.end()
    // The same for the writer. It needs no ``Reusable``, because the gate lets one thread in at a time.
    if !isKnownUniquelyReferenced(&writer) { writer = MemoryWriteTransaction() }
  }
}

public import GarageDriver
internal import Synchronization

/// A store in memory, for unit tests and previews, and the driver to read before writing one.
///
/// It keeps every promise of ``GarageDriver/StorageDriver``, and what it stores is gone with the process.
///
/// All there is to it is a ``GarageDriver/PersistentTree``, whose copies share what they have in common. A reader
/// takes a copy of the committed tree, which costs a reference, and nothing that is committed later reaches it.
/// The writer takes one too and changes it; to commit is to publish that copy, to roll back is to forget it. Only a
/// single small value takes a shorter way (`MemoryWriteTransaction`).
///
/// Keys have up to 511 bytes and values up to 512 MiB, and 64 KiB for what wraps it (``maximumValueByteCount``), so
/// that a program that works with this driver works with every other one. Where the memory does not suffice, the process ends.
public final class MemoryStorage: StorageDriver {
  /// What this driver is and can do.
  public let info = StorageInfo(
    name: driverName,
    maximumKeyByteCount: StorageInfo.guaranteedKeyByteCount,
    maximumValueByteCount: maximumValueByteCount,
    isDurable: false, readsDuringWrite: true, isSharedAcrossProcesses: false)

  /// The largest value: what every driver takes, and 64 KiB more, so that a storage which wraps this one and adds
  /// to its values takes as much, too.
  public static let maximumValueByteCount = StorageInfo.guaranteedValueByteCount + (1 << 16)

  let store: MemoryStore
  private let lifetime: StorageLifetime

  /// Holds the store of a name.
  private let named: SharedStore<MemoryStore>?

  /// The value that this one is closed with, see ``SeparableStorage``.
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

  /// Opens the store called `name`: all values made with one name in a process have one content.
  ///
  /// It is there for as long as any of them is held, closed ones included. With it, a test can close a store and
  /// open it again as it would a file.
  public convenience init(named name: String) {
    let named = Self.stores.open(name) { MemoryStore() }
    self.init(named.connection, named)
  }

  private static let stores = SharedStores<MemoryStore> { _ in }

  /// Opens the store of another value, which may be closed: both have one content and one writer at a time.
  public convenience init(sharing other: MemoryStorage) { self.init(other.store, other.named) }

  /// Runs `body` on the state that was committed last.
  @_specialize(where R == Void)
  public func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try lifetime.withRead {
      let transaction = store.beginRead()
      defer { store.endRead(transaction) }
      return try transaction._withUnsafeGuaranteedRef { try body($0) }
    }
  }

  /// Runs `body` as the writer; readers see the changes from the commit on.
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

  /// Ends the use of the store by this value. The content stays for as long as the value is held, and
  /// ``init(sharing:)`` opens it again.
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
    /// Another one with each commit, and in each store: the number of the store stands before that of the commit.
    var name: UInt64
  }

  private static let lastNumber = Atomic<UInt64>(0)

  var committed: PersistentTree { state.withLock { $0.tree } }

  func commit(_ changed: PersistentTree) {
    // Handed out of the lock, so that no reader waits while what nobody needs any more is freed.
    _ = state.withLock { state in
      defer { state.tree = changed }
      state.name &+= 1
      return state.tree
    }
  }

  /// The same with a single change: in place, where no reader has the tree, else on copies of a few nodes.
  func commit(_ change: ChangeNote) {
    state.withLock { state in
      change.put(into: &state.tree)
      state.name &+= 1
    }
  }

  // MARK: Transactions

  /// A transaction that is the caller's until ``endRead(_:)``, which has to follow.
  func beginRead() -> Unmanaged<MemoryReadTransaction> {
    let transaction = readers.take { MemoryReadTransaction() }
    let (tree, name) = state.withLock { ($0.tree, $0.name) }
    transaction._withUnsafeGuaranteedRef { $0.begin(on: tree, named: name) }
    return transaction
  }

  func endRead(_ transaction: Unmanaged<MemoryReadTransaction>) {
    transaction._withUnsafeGuaranteedRef { $0.end() }
    // Whoever kept it must not see it come alive again.
    if !readers.giveBack(transaction, keeping: transaction.isOnlyReference) { transaction.release() }
  }

  /// On the thread that is inside the gate, until ``endWrite()``, which has to follow.
  func beginWrite() -> Unmanaged<MemoryWriteTransaction> {
    writer.begin(on: self)
    return Unmanaged.passUnretained(writer)
  }

  func endWrite() {
    writer.end()
    // The same for the writer, which needs no room of its own: the gate lets one thread in at a time.
    if !isKnownUniquelyReferenced(&writer) { writer = MemoryWriteTransaction() }
  }
}

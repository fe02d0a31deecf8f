public import GarageDriver
internal import Synchronization

/// A store in memory, for unit tests and previews, and the driver to read before writing one.
///
/// It keeps every promise of ``GarageDriver/StorageDriver``, and what it stores is gone with the process.
///
/// All there is to it is a ``GarageDriver/PersistentTree``, whose copies share what they have in common. A reader
/// takes a copy of the committed tree, which costs a reference, and nothing that is committed later reaches it.
/// The writer takes one too and changes it; to commit is to publish that copy, to roll back is to forget it.
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

  private let store: MemoryStore
  private let lifetime: StorageLifetime

  private init(_ store: MemoryStore) {
    self.store = store
    lifetime = StorageLifetime(driver: driverName, gate: store.gate)
  }

  /// Makes an empty store.
  public convenience init() { self.init(MemoryStore()) }

  /// Opens the store called `name`: all values made with one name in a process have one content.
  ///
  /// It is there for as long as any of them is held, closed ones included. With it, a test can close a store and
  /// open it again as it would a file.
  public convenience init(named name: String) { self.init(MemoryStore.named(name)) }

  /// Opens the store of another value, which may be closed: both have one content and one writer at a time.
  public convenience init(sharing other: MemoryStorage) { self.init(other.store) }

  /// Runs `body` on the state that was committed last.
  public func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try lifetime.withRead {
      let transaction = MemoryReadTransaction(on: store.committed)
      defer { transaction.end() }
      return try body(transaction)
    }
  }

  /// Runs `body` on a copy of the state, which takes its place on commit.
  public func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try lifetime.withWrite {
      let transaction = MemoryWriteTransaction(on: store.committed)
      defer { transaction.end() }
      switch try body(transaction) {
      case .rollBack(let result):
        return result
      case .commit(let result):
        store.commit(try transaction.changedTree)
        return result
      }
    }
  }

  /// Ends the use of the store by this value. The content stays for as long as the value is held, and
  /// ``init(sharing:)`` opens it again.
  public func close() throws {
    try lifetime.close {}
  }
}

let driverName = "Memory"

/// What the values on one store share: the committed tree, and the gate that lets one thread write.
private final class MemoryStore: Sendable {
  let gate = WriterGate()
  private let tree = Mutex(PersistentTree())

  var committed: PersistentTree { tree.withLock { $0 } }

  func commit(_ changed: PersistentTree) {
    // Handed out of the lock, so that no reader waits while what nobody needs any more is freed.
    _ = tree.withLock { tree in
      defer { tree = changed }
      return tree
    }
  }
}

// MARK: - Stores by name

extension MemoryStore {
  private struct Name: Hashable {
    var text: String
    /// A forked child has stores of its own: a thread that it does not have may hold the parent's locks.
    var process = ProcessMark()
  }
  private struct WeakStore: Sendable {
    weak let store: MemoryStore?
  }
  private static let stores = Mutex<[Name: WeakStore]>([:])

  static func named(_ text: String) -> MemoryStore {
    let name = Name(text: text)
    return stores.withLock { stores in
      if let store = stores[name]?.store { return store }
      stores = stores.filter { $0.value.store != nil }
      let store = MemoryStore()
      stores[name] = WeakStore(store: store)
      return store
    }
  }
}

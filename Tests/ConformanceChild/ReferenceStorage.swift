import GarageDriver
import Synchronization

/// The simplest driver that keeps every rule: a sorted array, and a file that every commit writes anew.
///
/// It is the base of the mutants and the measure of the suite itself, and shares no data structure with any other
/// driver. `breaking` makes a mutant of it; without, every line that mentions a mutation does nothing.
final class ReferenceStorage: StorageDriver {
  let info: StorageInfo
  private let store: ReferenceStore
  private let lifetime: StorageLifetime
  private let mode: Mode
  private let mutation: Mutation?
  private let isClosed = Atomic<Bool>(false)

  /// What a reference storage is, so that every branch of the suite has a driver that takes it.
  enum Mode: Sendable {
    /// A file that several processes use.
    case shared
    /// A file that one process has to itself.
    case exclusive
    /// No file. The path is a name, and the store lives while some value is open.
    case inMemory
    /// As `shared`, but a reader waits for the writer of its process to end.
    case waitingReaders
  }

  /// Opens the store at `path`.
  init(path: String, _ mode: Mode = .shared, breaking mutation: Mutation? = nil) throws {
    info = StorageInfo(
      name: "Reference", maximumKeyByteCount: 511, maximumValueByteCount: 1 << 31,
      isDurable: mode != .inMemory,
      readsDuringWrite: mode != .waitingReaders,
      isSharedAcrossProcesses: mode == .shared || mode == .waitingReaders)
    self.mutation = mutation
    self.mode = mode
    store = try ReferenceStore.at(path, mode, breaking: mutation)
    try store.retain()
    let hasOwnGate = mutation == .nestedWriteThroughASecondValue
    lifetime = StorageLifetime(driver: info.name, gate: hasOwnGate ? WriterGate() : store.gate)
  }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try withReadLifetime {
      if mode == .waitingReaders || mutation == .readersWaitForTheWriter || store.keepsReadersOut {
        store.waitForWriter()
      }
      let transaction = ReferenceReadTransaction(
        store, mutation == .snapshotFromFirstGet ? nil : try store.current(), info, mutation)
      defer { transaction.end() }
      return try body(transaction)
    }
  }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try withWriteLifetime {
      try store.withWriter {
        let transaction = ReferenceWriteTransaction(store, try store.current(), info, mutation)
        defer {
          transaction.end()
          store.keepsReadersOut = false
        }
        return try finish(transaction) { try body(transaction) }
      }
    }
  }

  func close() throws {
    if mutation == .closeInsideATransaction && lifetime.isInsideTransaction { return }
    if mutation == .closeDoesNotWait {
      isClosed.store(true, ordering: .relaxed)
      return
    }
    try lifetime.close { store.release() }
  }

  deinit { try? close() }

  /// Runs the body, then commits or leaves everything as it was.
  private func finish<R>(
    _ transaction: ReferenceWriteTransaction, _ body: () throws -> TransactionOutcome<R>
  ) throws -> R {
    do {
      switch try body() {
      case .commit(let result):
        if let error = transaction.poison {
          if mutation == .swallowedCommitError {
            return result
          } else if mutation != .ignoredPoison {
            throw error
          }
        }
        try store.publish(transaction.entries)
        return result
      case .rollBack(let result):
        if mutation == .lostRollBack { try store.publish(transaction.entries) }
        if mutation == .dirtyRead { try store.publish(transaction.before) }
        return result
      }
    } catch {
      if mutation == .lostRollBackOfErrors { try store.publish(transaction.entries) }
      throw error
    }
  }

  private func withReadLifetime<R>(_ body: () throws -> R) throws -> R {
    switch mutation {
    case .unnoticedFork, .usableAfterClose, .readsWithoutLimit: return try body()
    default:
      try checkClosed(.read)
      return try lifetime.withRead(body)
    }
  }

  private func withWriteLifetime<R>(_ body: () throws -> R) throws -> R {
    switch mutation {
    case .unnoticedFork, .usableAfterClose, .nestedWriteDeadlock: return try store.withPlainLock(body)
    case .twoWriters: return try lifetime.withRead(body)
    default:
      try checkClosed(.write)
      return try lifetime.withWrite(body)
    }
  }

  private func checkClosed(_ operation: StorageError.Operation) throws {
    guard isClosed.load(ordering: .relaxed) else { return }
    throw StorageError(
      .closed, during: operation, driver: info.name, message: "The storage was closed. Open it again.")
  }
}

extension ReferenceStorage: DeferredReading {
  /// Takes the state with the first operation.
  func deferredRead<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    func readOne() throws -> R {
      if mode == .waitingReaders { store.waitForWriter() }
      let transaction = ReferenceReadTransaction(
        store, nil, info, mutation == .deferredReadWithoutSnapshot ? .driftingSnapshot : mutation)
      defer { transaction.end() }
      return try body(transaction)
    }
    return mutation == .deferredReadAfterClose ? try readOne() : try withReadLifetime(readOne)
  }
}

extension ReferenceStorage: BackingUp {
  /// Writes the entries of one commit to another file.
  func backUp(
    to path: String, compacting: Bool, progress: (_ completed: Int, _ total: Int) throws -> Void
  ) throws {
    if mode == .inMemory {
      throw StorageError.notSupported(
        "make a backup by itself", by: info.name, during: .read, "Copy it entry by entry.")
    }
    try withReadLifetime {
      var entries = try store.current()
      if mutation == .backupInItsPlace {
        try store.save(entries, at: path)
        return try progress(entries.count, entries.count)
      }
      try PartialStore.make(at: path, makesFile: true, driver: info.name) { partial in
        try progress(0, entries.count)
        if mutation == .backupOfTwoStates { entries = store.half(of: entries, over: try store.current()) }
        try store.save(entries, at: partial)
        try progress(entries.count, entries.count)
      }
    }
  }
}

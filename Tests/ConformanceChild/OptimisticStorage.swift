import GarageDriver
import Synchronization

/// The simplest driver whose writers run beside each other: in memory, on snapshots. A commit is refused where anything
/// that the write has read, or looked for and not found, was changed by a commit since its snapshot.
///
/// `breaking` makes a mutant of it that refuses too little.
final class OptimisticStorage: StorageDriver {
  let info = StorageInfo(
    name: "Optimistic", maximumKeyByteCount: 511, maximumValueByteCount: 1 << 31, isDurable: false,
    readsDuringWrite: true, isSharedAcrossProcesses: false, writersConflict: true)
  private let store: SharedStore<OptimisticStore>
  private let lifetime: StorageLifetime
  private let mutation: Mutation?

  private static let stores = SharedStores<OptimisticStore> { _ in }

  init(named name: String, breaking mutation: Mutation? = nil) {
    store = Self.stores.open(name) { OptimisticStore() }
    lifetime = StorageLifetime(driver: info.name, gate: store.connection.gate)
    self.mutation = mutation
  }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try lifetime.withRead {
      let transaction = OptimisticTransaction(store.connection, info, nil)
      defer { _ = transaction.finish() }
      return try body(transaction)
    }
  }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try lifetime.withWrite {
      let transaction = OptimisticTransaction(store.connection, info, mutation)
      return try runWrite(body, in: transaction) {
        transaction.finish()
      } commit: {
        try store.connection.commit(transaction, mutation)
      } rollBack: {
      }
    }
  }

  func close() throws { try lifetime.close {} }
}

/// What the values on one store share.
final class OptimisticStore: Sendable {
  struct Commit: Sendable {
    var number = 0
    var tree = PersistentTree()
  }

  private struct State: Sendable {
    var last = Commit()
    var tryCount = 0
    /// The commit that changed a key last, and whether that commit had read anything.
    var changes: [StorageKey: (number: Int, isBlind: Bool)] = [:]
  }

  let gate = WriterGate(isShared: true)
  private let state = Mutex(State())

  var current: Commit { state.withLock(\.last) }

  func commit(_ transaction: OptimisticTransaction, _ mutation: Mutation?) throws {
    try state.withLock { state in
      state.tryCount += 1
      let isStale = state.changes.contains { key, change in
        if change.number <= transaction.snapshot { return false }
        switch mutation {
        case .snapshotWriters: return transaction.changes[key] != nil
        case .readCommittedWriters: return false
        case .unseenRanges: return transaction.keys.contains(key)
        case .unseenBlindWrites: return !change.isBlind && transaction.hasRead(key)
        default: return transaction.hasRead(key)
        }
      }
      if isStale || mutation == .refusesAtWhim && state.tryCount.isMultiple(of: 5) {
        throw StorageError(
          .conflict, during: .commit, driver: "Optimistic", isRetryable: true,
          message: "Another write changed what this one has read. Make the call again.")
      }
      state.last.number += 1
      let isBlind = transaction.keys.isEmpty && transaction.ranges.isEmpty
      for (key, value) in transaction.changes {
        state.changes[key] = (state.last.number, isBlind)
        if let value {
          state.last.tree.put(value.span.bytes, for: key.bytes.span.bytes)
        } else {
          state.last.tree.remove(key.bytes.span.bytes)
        }
      }
    }
  }
}

/// A snapshot, own changes, and what was read: all that a commit is checked by.
final class OptimisticTransaction: WriteTransaction {
  private let store: OptimisticStore
  private let info: StorageInfo
  private let mutation: Mutation?
  private var tree: PersistentTree
  private var state: TransactionState
  private(set) var snapshot: Int
  private(set) var keys: Set<StorageKey> = []
  private(set) var ranges: [StorageKeyRange] = []
  private(set) var changes: [StorageKey: [UInt8]?] = [:]

  init(_ store: OptimisticStore, _ info: StorageInfo, _ mutation: Mutation?) {
    self.store = store
    self.info = info
    self.mutation = mutation
    let commit = store.current
    tree = commit.tree
    snapshot = commit.number
    state = TransactionState(driver: info.name)
  }

  func finish() -> StorageError? { state.finish() }

  func hasRead(_ key: StorageKey) -> Bool {
    keys.contains(key) || ranges.contains { $0.contains(key) }
  }

  /// What is seen: the snapshot, or, by a mutant, what is committed at the moment; and own changes.
  private func visible() -> PersistentTree {
    guard mutation == .readCommittedWriters else { return tree }
    var tree = store.current.tree
    for (key, value) in changes {
      if let value {
        tree.put(value.span.bytes, for: key.bytes.span.bytes)
      } else {
        tree.remove(key.bytes.span.bytes)
      }
    }
    return tree
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try state.beginRead(.get)
    try state.checkKey(key, .get, limit: info.maximumKeyByteCount)
    keys.insert(StorageKey(key))
    let tree = visible()
    state.lend()
    defer { state.takeBack() }
    return try withExtendedLifetime(tree) {
      guard let value = tree.bytes(for: key) else { return try body(nil) }
      return try body(value.bytes)
    }
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try state.beginRead(.scan)
    ranges.append(range)
    let tree = visible()
    state.lend()
    defer { state.takeBack() }
    try tree.scan(range, direction, visit)
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    try state.beginChange(.put)
    try state.checkKey(key, .put, limit: info.maximumKeyByteCount)
    try state.checkValue(value, limit: info.maximumValueByteCount)
    changes.updateValue([UInt8](copying: value), forKey: StorageKey(key))
    tree.put(value, for: key)
  }

  func remove(_ key: RawSpan) throws {
    try state.beginChange(.remove)
    try state.checkKey(key, .remove, limit: info.maximumKeyByteCount)
    changes.updateValue(nil, forKey: StorageKey(key))
    tree.remove(key)
  }
}

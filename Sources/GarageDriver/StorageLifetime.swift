internal import CGarage
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Counts the transactions of one driver value, so that `close` can wait for them. It also keeps the rules that are the same
/// for every engine: closed, forked, nested too deep, one writer.
///
/// A driver wraps the body of its `read` in ``withRead(_:)``, that of its `write` in ``withWrite(_:)``, and the release of its
/// resources in ``close(_:)``. Entering and leaving cost one atomic addition each.
public final class StorageLifetime: Sendable {
  /// The limit of nested `read` calls on one thread.
  public static let maximumReadDepth = 64

  private let driver: String
  private let gate: WriterGate
  private let forkCount: UInt32
  /// Twice the number of open transactions, plus one when closed.
  private let state = Atomic<Int>(0)
  private let closing = Mutex<Bool>(false)
  /// The lifetimes that end no later than this one.
  private let inner = Mutex<[StorageLifetime]>([])

  /// The lifetime of one driver value, named in errors as `driver`, on the store that `gate` belongs to.
  public init(driver: String, gate: WriterGate = WriterGate()) {
    garage_watch_forks()
    self.driver = driver
    self.gate = gate
    forkCount = garage_fork_count()
  }

  /// The lifetime of another value on the store of `outer`. Closing `outer` closes this one first; closing this one leaves
  /// `outer` open. ``leave(_:)`` has to follow when the value goes.
  package init(within outer: StorageLifetime) {
    driver = outer.driver
    gate = outer.gate
    forkCount = outer.forkCount
    outer.inner.withLock { $0.append(self) }
    // Checked only now that `outer` knows this one, so that one of the two sees the other.
    if outer.isClosed { state.store(1, ordering: .relaxed) }
  }

  /// Ends what ``init(within:)`` began.
  package func leave(_ outer: StorageLifetime) {
    outer.inner.withLock { $0.removeAll { $0 === self } }
  }

  /// Runs `body` as a read transaction, under the rules of ``StorageDriver``.
  @inlinable
  @inline(__always)
  public func withRead<R>(_ body: () throws -> R) throws -> R {
    try beginRead()
    defer { endRead() }
    return try body()
  }

  /// Runs `body` as the write transaction, under the rules of ``StorageDriver``.
  @inlinable
  @inline(__always)
  public func withWrite<R>(_ body: () throws -> R) throws -> R {
    try beginWrite()
    defer { endWrite() }
    return try body()
  }

  /// Runs `body` as a call that ``close(_:)`` waits for, but that is no transaction. It is for values that work on a storage
  /// and are closed apart from it.
  ///
  /// Throws ``StorageError/Kind/closed``. Calls nest to any depth. A fork is noticed by the storage's transaction, not here.
  @inlinable
  @inline(__always)
  public func withCall<R>(_ body: () throws -> R) throws -> R {
    try beginCall()
    defer { endCall() }
    return try body()
  }

  @usableFromInline
  package func beginCall() throws {
    // A fork is noticed by the storage's transaction, which follows.
    if state.wrappingAdd(2, ordering: .acquiring).oldValue & 1 == 1 {
      leave()
      throw closedError(.read)
    }
    // Not marked as a read, because the depth of reads is limited; and without the gate, which belongs to the storage.
    garage_push_transaction(identity, true)
  }

  @usableFromInline
  package func endCall() {
    garage_pop_transaction()
    leave()
  }

  @usableFromInline
  package func beginRead() throws {
    try enter(.read)
    if garage_transaction_count() > 0 {
      do { try checkDepth() } catch {
        leave()
        throw error
      }
    }
    garage_push_transaction(identity, false)
  }

  @usableFromInline
  package func endRead() {
    garage_pop_transaction()
    leave()
  }

  @usableFromInline
  func beginWrite() throws {
    try enter(.write)
    do { if gate.isShared { try checkWritesOfThisThread() } else { try gate.begin(driver: driver) } } catch {
      leave()
      throw error
    }
    garage_push_transaction(identity, true)
  }

  @usableFromInline
  func endWrite() {
    garage_pop_transaction()
    if !gate.isShared { gate.end() }
    leave()
  }

  /// Begins a read in place of a resting one, which has entered already; see ``leaveResting()``. Returns false, with nothing
  /// begun, if `beginRead()` is needed.
  package func resumeRead() -> Bool {
    if garage_transaction_count() > 0 || isClosed || garage_fork_count() != forkCount { return false }
    garage_push_transaction(identity, false)
    return true
  }

  /// Ends a read that stays entered, for ``resumeRead()``. A driver that keeps a transaction for the next read so saves two
  /// atomic additions.
  package func pauseRead() { garage_pop_transaction() }

  /// Leaves on behalf of a read that was ended by ``pauseRead()`` and is not to be resumed.
  package func leaveResting() { leave() }

  /// Lets no new transaction begin, waits for the open ones, and runs `release` once, in the call that comes first. Further
  /// calls wait for that one and return.
  public func close(_ release: () throws -> Void) throws { try close(endingResting: {}, release) }

  /// Closes as ``close(_:)`` does. `endResting` has to end the reads that rest, and runs again as often as one may have come to
  /// rest.
  package func close(endingResting endResting: () -> Void, _ release: () throws -> Void) throws {
    if garage_fork_count() != forkCount { throw forked(.close) }
    let inner = inner.withLock { $0 }
    if isInsideTransaction || inner.contains(where: \.isInsideTransaction) {
      throw StorageError(
        .closeInsideTransaction, during: .close, driver: driver,
        message: """
          The calling thread is inside a transaction of this storage, and closing would wait for it forever. \
          Let the transaction end, then close.
          """)
    }
    try closing.withLock { isReleased in
      if isReleased { return }
      state.bitwiseOr(1, ordering: .acquiringAndReleasing)
      for lifetime in self.inner.withLock({ $0 }) { try lifetime.close {} }
      endResting()
      while state.load(ordering: .acquiring) > 1 {
        usleep(200)
        endResting()
      }
      isReleased = true
      try release()
    }
  }

  /// Throws ``StorageError/Kind/usedAfterFork`` in a child that was forked after this value was made: for those who would wait
  /// there for a thread of the parent.
  package func checkNotForked(_ operation: StorageError.Operation) throws {
    if garage_fork_count() != forkCount { throw forked(operation) }
  }

  /// Whether ``close(_:)`` was called.
  public var isClosed: Bool { state.load(ordering: .relaxed) & 1 == 1 }

  /// Whether the calling thread is inside a transaction of this value.
  public var isInsideTransaction: Bool {
    (0..<garage_transaction_count()).contains { garage_transaction_at($0).lifetime == identity }
  }

  /// How many transactions the calling thread has open on this store, through any of the driver values that share its
  /// ``WriterGate``.
  public var depthOnThisThread: Int {
    var depth = 0
    for index in 0..<garage_transaction_count() {
      guard let opener = garage_transaction_at(index).lifetime else { continue }
      // A lifetime with an open transaction is alive, because the call that opened the transaction holds it.
      let lifetime = Unmanaged<StorageLifetime>.fromOpaque(opener).takeUnretainedValue()
      if lifetime.gate === gate { depth += 1 }
    }
    return depth
  }

  private var identity: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

  private func enter(_ operation: StorageError.Operation) throws {
    let before = state.wrappingAdd(2, ordering: .acquiring).oldValue
    if before & 1 == 1 {
      leave()
      throw closedError(operation)
    }
    if garage_fork_count() != forkCount {
      leave()
      throw forked(operation)
    }
  }

  private func closedError(_ operation: StorageError.Operation) -> StorageError {
    StorageError(
      .closed, during: operation, driver: driver,
      message: "The storage was closed. Open it again to use it.")
  }

  private func leave() { state.wrappingSubtract(2, ordering: .releasing) }

  /// Throws if the calling thread is inside a write on this store. A gate that lets one writer through would notice that
  /// itself.
  private func checkWritesOfThisThread() throws {
    for index in 0..<garage_transaction_count() {
      let transaction = garage_transaction_at(index)
      guard transaction.is_write, let opener = transaction.lifetime else { continue }
      let lifetime = Unmanaged<StorageLifetime>.fromOpaque(opener).takeUnretainedValue()
      if lifetime.gate === gate { throw WriterGate.nestedWrite(driver: driver) }
    }
  }

  private func checkDepth() throws {
    var depth = 0
    for index in 0..<garage_transaction_count() {
      let transaction = garage_transaction_at(index)
      if transaction.lifetime == identity && !transaction.is_write { depth += 1 }
    }
    if depth >= Self.maximumReadDepth {
      throw StorageError(
        .readersFull, during: .read, driver: driver,
        message: """
          Read transactions are nested \(depth) deep on this thread, which is the limit. \
          Pass the open transaction on instead of opening another inside it.
          """)
    }
  }

  private func forked(_ operation: StorageError.Operation) -> StorageError {
    StorageError(
      .usedAfterFork, during: operation, driver: driver,
      message: """
        The storage was opened before this process was forked, and its locks and files do not survive that. \
        Open it after the fork, or start the child with exec.
        """)
  }
}

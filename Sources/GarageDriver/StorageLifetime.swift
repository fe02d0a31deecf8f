internal import CGarage
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Counts the transactions of one driver value, so that `close` can wait for them, and keeps the rules that
/// are the same for every engine: closed, forked, nested too deep, one writer.
///
/// A driver wraps the body of its `read` and `write` in ``withRead(_:)`` and ``withWrite(_:)``, and the giving
/// back of its resources in ``close(_:)``. Entering and leaving cost one atomic addition each.
public final class StorageLifetime: Sendable {
  /// The limit of nested `read` calls on one thread.
  public static let maximumReadDepth = 64

  private let driver: String
  private let gate: WriterGate
  private let forkCount: UInt32
  /// Twice the number of open transactions, plus one when closed.
  private let state = Atomic<Int>(0)
  private let closing = Mutex<Bool>(false)

  /// The lifetime of one driver value, named in errors as `driver`, on the store that `gate` belongs to.
  public init(driver: String, gate: WriterGate = WriterGate()) {
    garage_watch_forks()
    self.driver = driver
    self.gate = gate
    forkCount = garage_fork_count()
  }

  /// Runs `body` as a read transaction, on the terms of ``StorageDriver``.
  @inline(__always)
  public func withRead<R>(_ body: () throws -> R) throws -> R {
    try enter(.read)
    defer { leave() }
    var mark = ThreadMark(lifetime: identity, isWrite: false, outer: garage_thread_transactions())
    if mark.outer != nil { try checkDepth(mark.outer) }
    return try withUnsafeMutablePointer(to: &mark) { mark in
      garage_set_thread_transactions(mark)
      defer { garage_set_thread_transactions(mark.pointee.outer) }
      return try body()
    }
  }

  /// Runs `body` as the write transaction, on the terms of ``StorageDriver``.
  public func withWrite<R>(_ body: () throws -> R) throws -> R {
    try enter(.write)
    defer { leave() }
    return try gate.withWriter(driver: driver) {
      var mark = ThreadMark(lifetime: identity, isWrite: true, outer: garage_thread_transactions())
      return try withUnsafeMutablePointer(to: &mark) { mark in
        garage_set_thread_transactions(mark)
        defer { garage_set_thread_transactions(mark.pointee.outer) }
        return try body()
      }
    }
  }

  /// Lets no transaction begin any more, waits for those that are open, and runs `release`: once, by whichever
  /// call comes first. Further calls wait for that one and return.
  public func close(_ release: () throws -> Void) throws {
    if garage_fork_count() != forkCount { throw forked(.close) }
    if isInsideTransaction {
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
      while state.load(ordering: .acquiring) > 1 { usleep(200) }
      isReleased = true
      try release()
    }
  }

  /// Whether ``close(_:)`` was called.
  public var isClosed: Bool { state.load(ordering: .relaxed) & 1 == 1 }

  /// Whether the calling thread is inside a transaction of this value.
  public var isInsideTransaction: Bool {
    var next = garage_thread_transactions()
    while let mark = next?.assumingMemoryBound(to: ThreadMark.self) {
      if mark.pointee.lifetime == identity { return true }
      next = mark.pointee.outer
    }
    return false
  }

  /// How many transactions the calling thread has open on this store, through whichever driver value that
  /// shares its ``WriterGate``.
  public var depthOnThisThread: Int {
    var depth = 0
    var next = garage_thread_transactions()
    while let mark = next?.assumingMemoryBound(to: ThreadMark.self) {
      // A lifetime with an open transaction is alive: the call that opened it holds it.
      let lifetime = Unmanaged<StorageLifetime>.fromOpaque(mark.pointee.lifetime).takeUnretainedValue()
      if lifetime.gate === gate { depth += 1 }
      next = mark.pointee.outer
    }
    return depth
  }

  private var identity: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

  private func enter(_ operation: StorageError.Operation) throws {
    let before = state.wrappingAdd(2, ordering: .acquiring).oldValue
    if before & 1 == 1 {
      leave()
      throw StorageError(
        .closed, during: operation, driver: driver,
        message: "The storage was closed. Open it again to use it.")
    }
    if garage_fork_count() != forkCount {
      leave()
      throw forked(operation)
    }
  }

  private func leave() { state.wrappingSubtract(2, ordering: .releasing) }

  private func checkDepth(_ outer: UnsafeMutableRawPointer?) throws {
    var depth = 0
    var next = outer
    while let mark = next?.assumingMemoryBound(to: ThreadMark.self) {
      if mark.pointee.lifetime == identity && !mark.pointee.isWrite { depth += 1 }
      next = mark.pointee.outer
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

/// One open transaction of the calling thread; it lives in the stack frame of the call that opened it.
private struct ThreadMark {
  var lifetime: UnsafeRawPointer
  var isWrite: Bool
  var outer: UnsafeMutableRawPointer?
}

internal import CGarage
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Lets one thread of the process at a time write to a store, and knows which thread that is.
///
/// All driver values on one store share one gate (``SharedStores`` finds it). So a nested write is recognised through any of
/// them. The mark is the thread, not a task-local value: a child task inherits such a value, and its write is not nested.
public final class WriterGate: @unchecked Sendable {
  // @unchecked: a mutex at a fixed address, and an atomic.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let holder = Atomic<UInt>(0)
  /// Whether it lets any number of writers through, for engines that order the writes themselves
  /// (``StorageInfo/writersConflict``). A write inside a write on one thread is still refused, by ``StorageLifetime``, which
  /// knows the transactions that the thread has open.
  public let isShared: Bool

  /// A gate that nobody holds.
  ///
  /// - Parameter isShared: whether it lets any number of writers through.
  public init(isShared: Bool = false) {
    self.isShared = isShared
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Whether the calling thread is inside ``withWriter(_:driver:)``.
  public var isHeldByThisThread: Bool { holder.load(ordering: .relaxed) == currentThread() }

  /// Waits for the thread that writes, then runs `body` as the writer.
  ///
  /// Throws ``StorageError/Kind/nestedWrite`` if the calling thread already is the writer.
  public func withWriter<R>(driver: String, _ body: () throws -> R) throws -> R {
    try begin(driver: driver)
    defer { end() }
    return try body()
  }

  /// Waits for the thread that writes, and makes the calling thread the writer until ``end()``.
  package func begin(driver: String) throws {
    let thread = currentThread()
    try checkNotNested(thread, driver: driver)
    pthread_mutex_lock(mutex)
    holder.store(thread, ordering: .relaxed)
  }

  /// Makes the calling thread the writer, without waiting. Returns whether it did; then ``end()`` has to follow on the same
  /// thread.
  ///
  /// Throws ``StorageError/Kind/nestedWrite`` if the calling thread already is the writer.
  package func beginIfFree(driver: String) throws -> Bool {
    let thread = currentThread()
    try checkNotNested(thread, driver: driver)
    guard pthread_mutex_trylock(mutex) == 0 else { return false }
    holder.store(thread, ordering: .relaxed)
    return true
  }

  /// Ends what ``begin(driver:)`` or ``beginIfFree(driver:)`` began.
  package func end() {
    holder.store(0, ordering: .relaxed)
    pthread_mutex_unlock(mutex)
  }

  private func checkNotNested(_ thread: UInt, driver: String) throws {
    // Relaxed is enough: the only value that matters is one that this thread itself stored.
    if holder.load(ordering: .relaxed) == thread { throw Self.nestedWrite(driver: driver) }
  }

  static func nestedWrite(driver: String) -> StorageError {
    StorageError(
      .nestedWrite, during: .write, driver: driver,
      message: """
        This thread is already inside a write transaction on this store, and a second one would wait for \
        itself. Use the transaction that is open, or let it end first.
        """)
  }
}

/// A number for the calling thread: unique among living threads, and never zero.
private func currentThread() -> UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #elseif canImport(Musl)
    UInt(bitPattern: UnsafeRawPointer(pthread_self()))
  #else
    UInt(pthread_self())
  #endif
}

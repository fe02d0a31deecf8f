/// A place that keeps byte keys in order, with their values, in transactions.
///
/// This protocol is all that a backend has to offer. A garage stores all its data — records, index entries, sync statuses,
/// typed keys — as keys and values that it makes itself. A driver knows nothing of `Codable`, types or identifiers.
/// `Docs/WritingADriver.md` leads from nothing to a driver that passes `GarageConformance`, which checks every sentence below.
/// Read `MemoryStorage` first.
///
/// ## What every driver promises
///
/// Transactions
/// - The body of ``read(_:)`` and ``write(_:)`` runs exactly once per call. If the engine wants another try, the call throws a
///   ``StorageError`` whose `isRetryable` is true; it never runs the body again.
/// - An error that the body throws is thrown by the call unchanged, as the same error.
/// - A write whose body throws, or returns ``TransactionOutcome/rollBack(_:)``, leaves no trace. A write that throws has
///   not committed, except with ``StorageError/Kind/outcomeUnknown``.
/// - Committed writes have the effect of running one after another. A write that begins after another one returned comes later.
///   Unless ``StorageInfo/writersConflict`` is true, a write's body runs as the store's only writer. If it is true, writes run
///   beside each other. A write that fits into no such order throws a retryable ``StorageError/Kind/conflict``, from any
///   operation or from the commit, and leaves no trace. What a body has read counts only once its write has returned. Now and
///   then an engine refuses a write that would have fitted, even if no other write runs: callers make it again.
/// - A write that returns has committed. Every later transaction sees it, in this process and in others that the driver shares
///   its store with. If ``StorageInfo/isDurable`` is true, it is also seen by whoever opens the store after the process was
///   killed.
/// - A reader sees exactly one committed state until its body ends: that of the moment when the call to `read` entered its
///   body. What is committed in between stays invisible to it, also before its first get. That state is the effect of some of
///   the writes, in the order that they have for each other. If ``StorageInfo/writersConflict`` is true, a read that could not
///   see such a state may throw a retryable ``StorageError/Kind/conflict`` instead.
/// - Reads inside a write transaction see that transaction's own changes.
/// - If ``StorageInfo/readsDuringWrite`` is true, readers neither wait for the writer nor block it.
/// - Once an operation of a write transaction has failed with a ``StorageError``, the transaction is poisoned: its commit rolls
///   back and throws the first such error, even if the body swallowed it. An operation on a transaction that has ended does not
///   count as an operation of it, and poisons nothing.
///
/// Nesting
/// - A transaction belongs to its closure and to the thread that runs it. After the closure has returned, every operation
///   throws ``StorageError/Kind/transactionClosed``, also one that would find nothing.
/// - On one thread, `read` inside `read` and `read` inside `write` are served at once and see the last commit; `write` inside
///   `read` is served, too. None of them waits for a connection or a slot that the same thread holds.
/// - Gets and scans nest inside each other's closures to any depth. Calls to `read` nest 64 deep on one
///   thread; beyond that, or beyond what the engine can do, they throw ``StorageError/Kind/readersFull``.
/// - `write` inside `write` on one thread throws ``StorageError/Kind/nestedWrite``, also through a second driver value on the
///   same store. (A write that waits for *another* thread's write, while that one waits for this one, deadlocks: do not wait
///   for other threads inside a write.)
///
/// Lent bytes
/// - The bytes that a closure is lent stay as they are until that closure returns, whatever is read meanwhile.
/// - While such a closure runs, every change through the same transaction throws ``StorageError/Kind/mutationWhileLent``. It
///   does so whether there was a value or not, and even if the change would change nothing: a put of the value that is there, a
///   removal of a missing key, a range without keys.
///
/// Keys and values
/// - Keys have 1 to ``StorageInfo/maximumKeyByteCount`` bytes (at least 511). Any other key throws
///   ``StorageError/Kind/invalidKey``, on get, put and remove alike. Keys are ordered by unsigned bytes; a prefix comes before
///   the keys that it is a prefix of.
/// - Values have 0 to ``StorageInfo/maximumValueByteCount`` bytes (at least 512 MiB); larger ones throw
///   ``StorageError/Kind/valueTooLarge``. An empty value is a value, distinct from none.
///
/// Life
/// - ``close()`` waits for the transactions of other threads, and may be called again. On a thread that is inside a transaction
///   of this driver it throws ``StorageError/Kind/closeInsideTransaction``. Later transactions throw
///   ``StorageError/Kind/closed``.
/// - A driver that was opened before `fork()` throws ``StorageError/Kind/usedAfterFork`` in the child.
public protocol StorageDriver: Sendable {
  /// Facts about this driver, the same for its whole life.
  var info: StorageInfo { get }

  /// Runs `body` on one committed state of the store: the effect of some of the writes, in their order.
  ///
  /// If ``StorageInfo/writersConflict`` is true, it may throw ``StorageError/Kind/conflict``.
  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R

  /// Runs `body`, then commits or rolls back, as `body` returns. Committed writes have the effect of running one after another.
  ///
  /// Unless ``StorageInfo/writersConflict`` is true, `body` runs as the store's only writer, and the call waits for other
  /// writers; how long it waits for one in another process, the driver documents. If it is true, writes run beside each other,
  /// and one that fits into no order with the others throws a retryable ``StorageError/Kind/conflict``.
  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R

  /// Ends this value's use of the store, and gives back the resources that it holds.
  func close() throws
}

/// A transaction's view of the store. Not `Sendable`, on purpose: it lives on one thread, inside one closure.
public protocol ReadTransaction: AnyObject {
  /// Lends `body` the value of `key`, or nil if there is none.
  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R

  /// Lends the value of each key, in the order of `keys`, with the key's position in that array.
  ///
  /// Any order and repeated keys are allowed; ascending keys are served fastest. An invalid key throws when its turn comes,
  /// after the values of the keys before it were lent. The default asks for one key after another.
  func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws

  /// Lends every key in `range` with its value, in ascending or descending order, until `visit` returns `.stop`.
  ///
  /// A bound of the range may have any length: it may be empty, or longer than a key may be.
  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws

  /// Whether there is a value of `key`, as ``withValue(for:_:)`` tells, but for engines that need not read the value to know.
  /// The default asks for the value.
  func contains(_ key: RawSpan) throws -> Bool

  /// Lends every key in `range` as ``scan(_:_:_:)`` does, but without its value. The default scans.
  func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (_ key: RawSpan) throws -> ScanStep
  ) throws
}

/// A transaction that also changes the store. It sees its own changes.
public protocol WriteTransaction: ReadTransaction {
  /// Stores `value` under `key`, and replaces the value that was there.
  func put(_ value: RawSpan, for key: RawSpan) throws

  /// Stores many values under their keys, and replaces the values that were there. The result is that of ``put(_:for:)`` for
  /// one after another: if two have the same key, the later one stays.
  ///
  /// Any order is allowed; ascending keys are served fastest. The default puts one after another.
  ///
  /// - Parameters:
  ///   - entries: the places of each key and its value.
  ///   - bytes: the bytes that hold them.
  func putAll(_ entries: [PlacedEntry], in bytes: RawSpan) throws

  /// Removes `key` and its value. A missing key is no error.
  func remove(_ key: RawSpan) throws

  /// Removes every key in `range`. The default scans the range and removes the keys that it finds.
  func removeAll(in range: StorageKeyRange) throws
}

/// The order in which a scan visits keys.
public enum ScanDirection: Sendable, Hashable, CaseIterable {
  /// Smallest key first.
  case forward
  /// Largest key first.
  case backward
}

/// Whether a scan goes on after a visit.
public enum ScanStep: Sendable, Hashable {
  case `continue`
  case stop
}

extension ReadTransaction {
  /// Asks for one key after another.
  public func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    // With no keys to ask for, any get throws what this call has to throw, for instance after the transaction's end.
    if keys.isEmpty { return try withValue(for: neutralKey) { _ in } }
    for index in keys.indices {
      let key = keys[index]
      try withValue(for: key.bytes.span.bytes) { value in try visit(index, value) }
    }
  }

  /// Asks for the value.
  public func contains(_ key: RawSpan) throws -> Bool { try withValue(for: key) { $0 != nil } }

  /// Scans, and leaves the values out.
  public func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (_ key: RawSpan) throws -> ScanStep
  ) throws {
    try scan(range, direction) { key, _ in try visit(key) }
  }
}

extension WriteTransaction {
  /// Puts one after another.
  ///
  /// With no entries it removes a missing key instead, so that it throws what every change throws.
  public func putAll(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    if entries.isEmpty { return try changeNothing(knownMissing: StorageKeyRange(from: [], to: [])) }
    for entry in entries { try put(bytes.extracting(entry.value), for: bytes.extracting(entry.key)) }
  }

  /// Scans the range in blocks and removes the keys that it finds.
  ///
  /// If it finds none, it removes a missing key instead, so that it throws what every change throws.
  public func removeAll(in range: StorageKeyRange) throws {
    // Collected in blocks, because nothing may change while the scan lends its bytes.
    let blockCount = 1024
    var rest = range
    var keys: [StorageKey] = []
    var hasRemoved = false
    repeat {
      keys.removeAll(keepingCapacity: true)
      try scan(rest, .forward) { key, _ in
        keys.append(StorageKey(key))
        return keys.count < blockCount ? .continue : .stop
      }
      for key in keys {
        try remove(key)
        hasRemoved = true
      }
      if let last = keys.last { rest.lowerBound = last.bytes + [0] }
    } while keys.count == blockCount
    if !hasRemoved { try changeNothing(knownMissing: range) }
  }

  /// Makes a change that has no effect, but throws what any change throws: while bytes are lent, after the transaction's end,
  /// and if the engine fails.
  ///
  /// - Parameter range: a range without keys.
  private func changeNothing(knownMissing range: StorageKeyRange) throws {
    let lower = StorageKey(range.lowerBound)
    let isKey = 1...StorageInfo.guaranteedKeyByteCount ~= lower.bytes.count
    if isKey && range.contains(lower) { return try remove(lower) }
    // The range is empty, or begins where no key can be. So another key is taken, and put back as it was.
    if let value = try value(for: neutralKey) {
      try put(value, for: neutralKey)
    } else {
      try remove(neutralKey)
    }
  }
}

/// A key that every driver accepts and hardly any store has: 16 random bytes.
private let neutralKey = StorageKey([
  0xD3, 0x5E, 0x07, 0x8A, 0xB1, 0x4C, 0xF6, 0x29, 0x90, 0x6D, 0xE2, 0x3B, 0x71, 0xAF, 0x18, 0xC4,
])

// MARK: - The same with owned bytes

extension ReadTransaction {
  /// Lends `body` the value of `key`, or nil if there is none.
  @inlinable
  public func withValue<R>(for key: StorageKey, _ body: (RawSpan?) throws -> R) throws -> R {
    try withValue(for: key.bytes.span.bytes, body)
  }

  /// Whether there is a value of `key`.
  @inlinable
  public func contains(_ key: StorageKey) throws -> Bool { try contains(key.bytes.span.bytes) }

  /// A copy of the value of `key`, or nil if there is none.
  @inlinable
  public func value(for key: StorageKey) throws -> [UInt8]? {
    try withValue(for: key) { value in
      guard let value else { return nil }
      return [UInt8](copying: value)
    }
  }
}

extension WriteTransaction {
  /// Stores `value` under `key`, and replaces the value that was there.
  @inlinable
  public func put(_ value: [UInt8], for key: StorageKey) throws {
    try put(value.span.bytes, for: key.bytes.span.bytes)
  }

  /// Removes `key` and its value. A missing key is no error.
  @inlinable
  public func remove(_ key: StorageKey) throws {
    try remove(key.bytes.span.bytes)
  }
}

extension [UInt8] {
  /// The bytes of `span`, copied.
  @inlinable
  public init(copying span: RawSpan) {
    self = span.withUnsafeBytes { [UInt8]($0) }
  }
}

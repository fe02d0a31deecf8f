/// A place that keeps byte keys in order, and their values, in transactions.
///
/// This protocol is all a backend has to offer. A garage stores everything it keeps — records, index
/// entries, sync statuses, typed keys — as keys and values of its own making; a driver knows nothing of
/// `Codable`, types or identifiers. `Docs/WritingADriver.md` leads from nothing to a driver that passes
/// `GarageConformance`, which checks every sentence below; `MemoryStorage` is the one to read first.
///
/// ## What every driver promises
///
/// Transactions
/// - The body of ``read(_:)`` and ``write(_:)`` runs exactly once per call. Where the engine wants another
///   try, the call throws a ``StorageError`` whose `isRetryable` is true; it never runs the body again.
/// - An error that the body throws leaves the call unchanged, as the same error.
/// - A write whose body throws, or returns ``TransactionOutcome/rollBack(_:)``, leaves no trace. A write that throws has
///   not committed, except with ``StorageError/Kind/outcomeUnknown``.
/// - What commits has the effect of running the writes one after another; one that begins after another returned comes
///   later. Unless ``StorageInfo/writersConflict``, a write's body runs as the store's only writer. Where it is, writes
///   run beside each other, and one that fits into no such order throws ``StorageError/Kind/conflict``, `isRetryable`,
///   from any operation or the commit, and leaves no trace. What a body read counts only once its write returned.
///   Now and then an engine refuses one that would have fitted, too, also of who writes alone: callers make it again.
/// - A write that returns has committed: every later transaction, in this process and in others that the
///   driver shares its store with, sees it; and if ``StorageInfo/isDurable``, so does whoever opens the
///   store after the process was killed.
/// - A reader sees exactly one committed state, that of the moment the call to `read` entered its body,
///   until its body ends. What is committed in between stays invisible to it, also before its first get.
///   That state is the effect of some of the writes, in the order that they have for each other; where
///   ``StorageInfo/writersConflict``, a read that could not see such a state may throw
///   ``StorageError/Kind/conflict`` instead, `isRetryable`.
/// - Reads inside a write transaction see that transaction's own changes.
/// - Where ``StorageInfo/readsDuringWrite``, readers neither wait for the writer nor block it.
/// - Once any operation of a write transaction failed with a ``StorageError``, the transaction is poisoned:
///   its commit rolls back and throws the first such error, even if the body swallowed it.
///   An operation on a transaction that is over is no operation of it, and poisons nothing.
///
/// Nesting
/// - A transaction belongs to its closure and to the thread that runs it. Used afterwards, every operation
///   throws ``StorageError/Kind/transactionClosed``, also one that would find nothing.
/// - On one thread: `read` inside `read` and `read` inside `write` are served at once and see the last commit;
///   `write` inside `read` is served. None of them waits for a connection or a slot that the same thread holds.
/// - Gets and scans nest inside each other's closures to any depth. Calls to `read` nest 64 deep on one
///   thread; beyond that, or beyond what the engine can do, they throw ``StorageError/Kind/readersFull``.
/// - `write` inside `write` on one thread throws ``StorageError/Kind/nestedWrite``, also through a second
///   driver value on the same store. (A write that waits for *another* thread's write, which in turn waits
///   for this one, deadlocks: do not wait for other threads inside a write.)
///
/// Lent bytes
/// - The bytes handed to a closure stay as they are until that closure returns, whatever else is read meanwhile.
/// - While such a closure runs, every change through the same transaction throws
///   ``StorageError/Kind/mutationWhileLent``, whether there was a value or not, and also where it would change
///   nothing: a put of what is there, a removal of what is not, a range without keys.
///
/// Keys and values
/// - Keys have 1 to ``StorageInfo/maximumKeyByteCount`` bytes (at least 511), any others throw
///   ``StorageError/Kind/invalidKey``, on get, put and remove alike. They are ordered by unsigned bytes,
///   a prefix before what it is a prefix of.
/// - Values have 0 to ``StorageInfo/maximumValueByteCount`` bytes (at least 512 MiB); larger ones throw
///   ``StorageError/Kind/valueTooLarge``. An empty value is a value, distinct from none.
///
/// Life
/// - ``close()`` waits for the transactions of other threads, throws
///   ``StorageError/Kind/closeInsideTransaction`` on a thread that is inside one of this driver, and may be
///   called again. Later transactions throw ``StorageError/Kind/closed``.
/// - A driver that was opened before `fork()` throws ``StorageError/Kind/usedAfterFork`` in the child.
public protocol StorageDriver: Sendable {
  /// Facts about this driver, the same for its whole life.
  var info: StorageInfo { get }

  /// Runs `body` on one committed state of the store: the effect of some of the writes, in their order.
  ///
  /// Where ``StorageInfo/writersConflict``, it may throw ``StorageError/Kind/conflict``.
  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R

  /// Runs `body`, then commits or rolls back as it says. What commits has the effect of running the writes one after
  /// another.
  ///
  /// Unless ``StorageInfo/writersConflict``, `body` runs as the store's only writer, and the call waits for other
  /// writers; how long, when they are in another process, is the driver's to document. Where it is, writes run beside
  /// each other, and one that fits into no order with the others throws ``StorageError/Kind/conflict``, `isRetryable`.
  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R

  /// Ends the use of the store by this value and gives back what it holds.
  func close() throws
}

/// What one transaction sees. Not `Sendable`, on purpose: it lives on one thread, inside one closure.
public protocol ReadTransaction: AnyObject {
  /// Lends the value of `key` to `body`, or nil where there is none.
  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R

  /// Lends the value of each key, in the order of `keys`, with the key's position in that array.
  ///
  /// Any order and repeated keys are allowed; ascending keys are served fastest. What is no key throws when it is its
  /// turn: the values of those before it were lent. The default asks for one key after another.
  func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws

  /// Lends every key in `range` with its value, in key order or against it, until `visit` says stop.
  ///
  /// A bound of the range may have any length, also none or more than a key may have.
  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws

  /// Whether there is a value of `key`: what ``withValue(for:_:)`` tells, for engines that need not read the value
  /// for it. The default asks for the value.
  func contains(_ key: RawSpan) throws -> Bool

  /// Lends every key in `range` as ``scan(_:_:_:)`` does, without its value. The default scans.
  func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (_ key: RawSpan) throws -> ScanStep
  ) throws
}

/// A transaction that also changes the store. It sees its own changes.
public protocol WriteTransaction: ReadTransaction {
  /// Stores `value` under `key`, in place of what was there.
  func put(_ value: RawSpan, for key: RawSpan) throws

  /// Stores many values, each in place of what was under its key: what ``put(_:for:)`` does of one after another, so that of
  /// two with the same key the later one stays.
  ///
  /// Any order is allowed; ascending keys are served fastest. The default puts one after another.
  ///
  /// - Parameters:
  ///   - entries: where each key and its value stand.
  ///   - bytes: what they stand in.
  func putAll(_ entries: [PlacedEntry], in bytes: RawSpan) throws

  /// Removes `key` and its value. A missing key is no error.
  func remove(_ key: RawSpan) throws

  /// Removes every key in `range`. The default scans the range and removes what it finds.
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
    // Where nothing is asked for, any get throws what this has to throw, as after the transaction's end.
    if keys.isEmpty { return try withValue(for: neutralKey) { _ in } }
    for index in keys.indices {
      let key = keys[index]
      try withValue(for: key.bytes.span.bytes) { value in try visit(index, value) }
    }
  }

  /// Asks for the value.
  public func contains(_ key: RawSpan) throws -> Bool { try withValue(for: key) { $0 != nil } }

  /// Scans, and leaves the values.
  public func scanKeys(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (_ key: RawSpan) throws -> ScanStep
  ) throws {
    try scan(range, direction) { key, _ in try visit(key) }
  }
}

extension WriteTransaction {
  /// Puts one after another.
  ///
  /// Where there is nothing to put it removes a key that is not there, so that it throws what every change throws.
  public func putAll(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    if entries.isEmpty { return try changeNothing(knownMissing: StorageKeyRange(from: [], to: [])) }
    for entry in entries { try put(bytes.extracting(entry.value), for: bytes.extracting(entry.key)) }
  }

  /// Scans the range in blocks and removes what it finds.
  ///
  /// Where it finds nothing it removes a key that is not there, so that it throws what every change throws.
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

  /// Makes a change that has no effect. It throws what any change throws: while bytes are lent, after the
  /// transaction's end, on an engine that fails.
  ///
  /// - Parameter range: where there is no key.
  private func changeNothing(knownMissing range: StorageKeyRange) throws {
    let lower = StorageKey(range.lowerBound)
    let isKey = 1...StorageInfo.guaranteedKeyByteCount ~= lower.bytes.count
    if isKey && range.contains(lower) { return try remove(lower) }
    // The range is empty, or begins where no key can be: any key will do that is put back as it was.
    if let value = try value(for: neutralKey) {
      try put(value, for: neutralKey)
    } else {
      try remove(neutralKey)
    }
  }
}

/// A key that every driver takes and hardly any store has: 16 random bytes.
private let neutralKey = StorageKey([
  0xD3, 0x5E, 0x07, 0x8A, 0xB1, 0x4C, 0xF6, 0x29, 0x90, 0x6D, 0xE2, 0x3B, 0x71, 0xAF, 0x18, 0xC4,
])

// MARK: - The same with owned bytes

extension ReadTransaction {
  /// Lends the value of `key` to `body`, or nil where there is none.
  @inlinable
  public func withValue<R>(for key: StorageKey, _ body: (RawSpan?) throws -> R) throws -> R {
    try withValue(for: key.bytes.span.bytes, body)
  }

  /// Whether there is a value of `key`.
  @inlinable
  public func contains(_ key: StorageKey) throws -> Bool { try contains(key.bytes.span.bytes) }

  /// A copy of the value of `key`, or nil where there is none.
  @inlinable
  public func value(for key: StorageKey) throws -> [UInt8]? {
    try withValue(for: key) { value in
      guard let value else { return nil }
      return [UInt8](copying: value)
    }
  }
}

extension WriteTransaction {
  /// Stores `value` under `key`, in place of what was there.
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

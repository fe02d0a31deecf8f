/// The bookkeeping that is the same for every transaction: whether it is open, whether bytes are lent, and whether it has
/// failed.
///
/// A transaction class keeps one as a stored property and calls it around each operation.
public struct TransactionState {
  private let driver: String
  @usableFromInline var isOpen = true
  /// The number of running closures that bytes are lent to.
  @usableFromInline var lentDepth = 0
  /// Whether a closure runs that bytes are lent to.
  package var isLending: Bool { lentDepth > 0 }
  /// The first failure of an operation of this transaction. It forbids the commit.
  public private(set) var firstError: StorageError?
  /// Whether there is a ``firstError``.
  @usableFromInline var hasFailed = false

  /// The state of a transaction that begins. Errors name it as one of `driver`.
  public init(driver: String) { self.driver = driver }

  /// Called before a get or scan.
  @inlinable
  public mutating func beginRead(_ operation: StorageError.Operation) throws {
    if !isOpen { throw closedError(operation) }
  }

  /// Called before a put or remove. Throws while bytes are lent.
  @inlinable
  public mutating func beginChange(_ operation: StorageError.Operation) throws {
    if !isOpen { throw closedError(operation) }
    if lentDepth > 0 { throw lentError(operation) }
  }

  /// Called before a closure is lent bytes. ``takeBack()`` follows when the closure has returned or thrown.
  @inlinable
  public mutating func lend() { lentDepth += 1 }
  /// Called when a closure that was lent bytes has returned or thrown.
  @inlinable
  public mutating func takeBack() { lentDepth -= 1 }

  /// Notes a failed operation, and returns its error for the caller to throw.
  public mutating func failed(_ error: StorageError) -> StorageError {
    if firstError == nil {
      firstError = error
      hasFailed = true
    }
    return error
  }

  /// Called when the transaction's closure has ended. Every later operation throws.
  @inlinable
  public mutating func end() { isOpen = false }

  /// Ends as ``end()`` does, and returns the first failure, which forbids the commit.
  @inlinable
  public mutating func finish() -> StorageError? {
    isOpen = false
    return hasFailed ? firstError : nil
  }

  /// Makes an ended transaction, which nobody else may hold, begin anew.
  @inlinable
  public mutating func beginAnew() {
    isOpen = true
    lentDepth = 0
    if hasFailed { forgetFailure() }
  }

  @usableFromInline
  mutating func forgetFailure() {
    firstError = nil
    hasFailed = false
  }

  /// Checks the length of a key. The error names `operation`.
  @inlinable
  public mutating func checkKey(_ key: RawSpan, _ operation: StorageError.Operation, limit: Int) throws {
    if key.byteCount == 0 || key.byteCount > limit { throw keyError(key.byteCount, operation, limit) }
  }

  /// Checks the limit of a value.
  @inlinable
  public mutating func checkValue(_ value: RawSpan, limit: Int) throws {
    if value.byteCount > limit { throw valueError(value.byteCount, limit) }
  }

  @usableFromInline
  func closedError(_ operation: StorageError.Operation) -> StorageError {
    StorageError(
      .transactionClosed, during: operation, driver: driver,
      message: """
        The transaction ended with its closure and cannot be used any more. \
        Do the work inside the closure, or open another transaction.
        """)
  }

  @usableFromInline
  mutating func lentError(_ operation: StorageError.Operation) -> StorageError {
    failed(
      StorageError(
        .mutationWhileLent, during: operation, driver: driver,
        message: """
          Nothing can be changed inside a closure that a get or scan of the same transaction lends bytes to. \
          Copy what you need, let the closure return, then make the change.
          """))
  }

  @usableFromInline
  mutating func keyError(_ count: Int, _ operation: StorageError.Operation, _ limit: Int) -> StorageError {
    failed(
      StorageError(
        .invalidKey, during: operation, driver: driver,
        message: "A key of \(count) bytes was given; keys have 1 to \(limit) bytes."))
  }

  @usableFromInline
  mutating func valueError(_ count: Int, _ limit: Int) -> StorageError {
    failed(
      StorageError(
        .valueTooLarge, during: .put, driver: driver,
        message:
          "A value of \(count) bytes was given; values have up to \(limit) bytes. Split it, or keep it in a file."
      ))
  }
}

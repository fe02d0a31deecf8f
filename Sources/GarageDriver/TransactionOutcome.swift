/// How the body of a write wants its transaction to end, and what the call returns.
public enum TransactionOutcome<R> {
  case commit(R)
  case rollBack(R)
}

extension TransactionOutcome: Sendable where R: Sendable {}

/// Runs the body of a `write` in a transaction that has begun, and ends the transaction as the body returns. Every driver needs
/// the same.
///
/// ```swift
/// try lifetime.withWrite {
///   let transaction = MyTransaction(try connection.begin())
///   return try runWrite(body, in: transaction) {
///     transaction.state.finish()
///   } commit: {
///     try connection.commit()
///   } rollBack: {
///     connection.rollBack()
///   }
/// }
/// ```
/// An error of the body rolls back and is thrown unchanged. A commit after a failed operation rolls back and throws the
/// first failure, even if the body swallowed it.
///
/// - Parameters:
///   - body: runs once.
///   - transaction: the transaction that `body` is given.
///   - end: makes every later operation of the transaction throw, and returns the transaction's first failure
///     (``TransactionState/finish()``).
///   - commit: commits the changes. If it throws, it must have rolled back.
///   - rollBack: undoes the changes.
@inlinable
@inline(__always)
public func runWrite<R>(
  _ body: (any WriteTransaction) throws -> TransactionOutcome<R>, in transaction: some WriteTransaction,
  end: () -> StorageError?, commit: () throws -> Void, rollBack: () -> Void
) throws -> R {
  let outcome: TransactionOutcome<R>
  do {
    outcome = try body(transaction)
  } catch {
    _ = end()
    rollBack()
    throw error
  }
  let firstError = end()
  switch outcome {
  case .rollBack(let result):
    rollBack()
    return result
  case .commit(let result):
    if let firstError {
      rollBack()
      throw firstError
    }
    try commit()
    return result
  }
}

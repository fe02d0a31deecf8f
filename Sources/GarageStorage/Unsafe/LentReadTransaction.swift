internal import GarageDriver

// The objects that a verb works on, without counting references: a get of a small value takes about as long as counting three.
//
// Invariant: the garage, the transaction and the pending commit exist until the closure returns that was given the access. It
// holds because an access is made only inside the driver's `read` or `write`, in a method of the garage or of another access,
// which has all three until that call returns. Verbs pass their access on as an argument, and do not store it. `GarageReader`
// and `GarageWriter` do store it, and `end()` takes it from them before that closure returns: later calls throw
// ``GarageError/transactionEnded`` (`TransactionTests`).

/// The garage and the transaction of a verb that reads.
struct LentReadTransaction {
  unowned(unsafe) let garage: Garage
  unowned(unsafe) let transaction: any ReadTransaction
  /// The pending commit of the writer whose transaction it is; nil if nothing can be changed.
  let pending: LentPendingCommit?
}

/// The garage and the transaction of a verb that changes.
struct LentWriteTransaction {
  unowned(unsafe) let garage: Garage
  unowned(unsafe) let transaction: any WriteTransaction
  let pending: LentPendingCommit
}

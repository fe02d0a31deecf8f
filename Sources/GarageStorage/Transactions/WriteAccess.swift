internal import GarageDriver

/// A transaction that changes the store, for the verbs that do so. It is valid inside the closure that it was passed to.
public struct WriteAccess {
  private let lent: LentWriteTransaction

  @inline(__always)
  init(garage: Garage, transaction: any WriteTransaction, pending: LentPendingCommit) {
    lent = LentWriteTransaction(garage: garage, transaction: transaction, pending: pending)
  }

  var garage: Garage { @inline(__always) get { lent.garage } }
  var transaction: any WriteTransaction { @inline(__always) get { lent.transaction } }

  /// What has to be known or done when the transaction has committed.
  var pending: PendingCommit {
    @inline(__always) _read { yield lent.pending.value }
    @inline(__always) nonmutating _modify { yield &lent.pending.value }
  }

  /// The same transaction, for reading.
  var reading: ReadAccess { ReadAccess(garage: garage, transaction: transaction, pending: lent.pending) }
}

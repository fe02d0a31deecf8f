internal import CLMDB
package import GarageDriver

extension LMDBStorage: StateNaming {
  /// The number of the commit that the transaction sees. Readers see a number only when it is committed, and no other commit
  /// gets it then.
  package func stateName(of transaction: any ReadTransaction) -> UInt64? {
    guard let transaction = transaction as? LMDBReadTransaction, !transaction.isWrite,
      transaction.connection === connection,
      // For a transaction that has ended, LMDB may have freed the memory that tells the number.
      (try? transaction.state.beginRead(.get)) != nil
    else { return nil }
    // Never 0, which stands for no name.
    return UInt64(mdb_txn_id(transaction.txn)) &+ 1
  }
}

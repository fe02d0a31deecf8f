internal import CLMDB
package import GarageDriver

extension LMDBStorage: StateNaming {
  /// The number of the commit that the transaction sees: readers see a number only once it is committed, and no other one then
  /// gets it.
  package func stateName(of transaction: any ReadTransaction) -> UInt64? {
    guard let transaction = transaction as? LMDBReadTransaction, !transaction.isWrite,
      transaction.connection === connection,
      // Of one that has ended LMDB may have freed what tells the number.
      (try? transaction.state.beginRead(.get)) != nil
    else { return nil }
    // Never 0, which stands for no name.
    return UInt64(mdb_txn_id(transaction.txn)) &+ 1
  }
}

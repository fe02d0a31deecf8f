/// A storage that tells at little cost whether two of its transactions see the same state.
///
/// For who has found something out in one transaction, and would have to look each time whether it is still so.
package protocol StateNaming: StorageDriver {
  /// Names the state that a read transaction of this value sees: where the names of two are equal, so is all that they see.
  /// Equal states may have several names. Nil where it cannot be told, as in a transaction that writes, or of another storage.
  func stateName(of transaction: any ReadTransaction) -> UInt64?
}

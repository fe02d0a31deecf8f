/// A storage that tells at little cost whether two of its transactions see the same state.
///
/// A caller that has found something out in one transaction can so tell whether it still holds in the next.
package protocol StateNaming: StorageDriver {
  /// Names the state that a read transaction of this value sees. Two transactions with equal names see the same entries; equal
  /// states may have several names. Nil if it cannot be told, for instance in a write transaction, or in a transaction of
  /// another storage.
  func stateName(of transaction: any ReadTransaction) -> UInt64?
}

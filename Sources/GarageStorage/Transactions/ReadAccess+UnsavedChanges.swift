internal import GarageDriver

// A verb may work on a transaction that notes what it does, or holds copies, in front of the real one. The unsaved changes are
// found through it, because index entries of a record that has some must not be relied on.

extension ReadAccess {
  /// Names the state that is read; nil where the storage has no name for it, or where more is seen than the storage holds.
  var stateName: UInt64? { garage.store.naming?.stateName(of: transaction) }

  /// Whether records have unsaved changes, so that no entry can be relied on.
  ///
  /// - Parameter state: the name of the state, if the caller has it.
  func hasUnsavedRecords(_ state: UInt64?) -> Bool {
    // A state with a name is seen by a transaction of the storage's own.
    state == nil && unsavedChanges?.hasChange(in: KeyLayout.allRecords) == true
  }

  /// The unsaved changes that are read through; nil where all that is read is saved.
  var unsavedChanges: UnsavedChanges? {
    var transaction = transaction
    while true {
      switch transaction {
      case let overlay as OverlayReadTransaction: return overlay.changes
      case let fetched as FetchedTransaction: return fetched.unsavedChanges
      case let noting as NotingTransaction: transaction = noting.base
      case let watched as WatchedTransaction: transaction = watched.base
      case let seeing as SeeingTransaction: transaction = seeing.base
      default: return nil
      }
    }
  }
}

extension WriteAccess {
  /// The transaction that adds to the unsaved changes; nil where changes go to the storage.
  var overlay: OverlayWriteTransaction? {
    if let noting = transaction as? NotingTransaction { return noting.base as? OverlayWriteTransaction }
    return transaction as? OverlayWriteTransaction
  }
}

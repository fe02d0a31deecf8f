internal import GarageDriver

// Who stands between a verb and its transaction, to note what it does or to hold copies, hides no unsaved changes: what an
// index says of a record that has some is not to be relied on.

extension ReadAccess {
  /// Names the state that is read; nil where the storage has no name for it, or where more is seen than the storage holds.
  var stateName: UInt64? { garage.store.naming?.stateName(of: transaction) }

  /// Whether records have changes that are not saved, so that no entry answers for its record.
  ///
  /// - Parameter state: the name of the state, for who has asked for it.
  func hasUnsavedRecords(_ state: UInt64?) -> Bool {
    // What has a name is a transaction of the storage's own.
    state == nil && unsavedChanges?.hasChange(in: KeyLayout.allRecords) == true
  }

  /// The unsaved changes through which is read; nil where all that is read is saved.
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

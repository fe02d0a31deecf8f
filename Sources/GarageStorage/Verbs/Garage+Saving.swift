internal import GarageDriver
internal import Synchronization

extension Garage {
  /// Whether a change is in the store when its call returns; true from the beginning.
  ///
  /// While it is false, changes stay in this garage: its own reads see them, those of other processes and of
  /// other garages on the same store do not. ``save()`` brings them to the store all at once, and
  /// ``discardUnsavedChanges()`` drops them. They are lost when the garage goes.
  ///
  /// Setting it to true again saves nothing by itself. The next change that is made while it is true, also one of
  /// ``write(retrying:_:)``, saves what is unsaved, too, in the same commit: all of it in the order in which it was
  /// made. Where that throws, nothing reaches the store, and what was unsaved before still is.
  ///
  /// A change that stays unsaved waits for other writers of the store as one that is saved does, and a storage that is
  /// opened for reading only refuses it.
  ///
  /// Reads as false inside a closure of ``withAutosaveDisabled(_:)``.
  public var isAutosaveEnabled: Bool {
    get { autosave.load(ordering: .relaxed) && !isAutosaveSuspended }
    set { autosave.store(newValue, ordering: .relaxed) }
  }

  /// Runs `body`, whose changes through this garage stay unsaved until ``save()``.
  ///
  /// Applies to `body` on the calling task alone, not to other tasks, nor to those that `body` begins, and ends
  /// with it, also when it throws. Saves nothing: what `body` changed before it threw is there, unsaved. It is saved by
  /// ``save()``, or along with the next change that is made outside, by whichever task.
  ///
  /// - Throws: what `body` throws.
  public func withAutosaveDisabled<R>(_ body: () throws -> R) rethrows -> R {
    unsavedScopeCount.add(1, ordering: .relaxed)
    defer { unsavedScopeCount.subtract(1, ordering: .relaxed) }
    return try TaskScope.with(.autosaveDisabled, of: self, body)
  }

  /// Whether there are changes that are not in the store yet.
  public var hasUnsavedChanges: Bool { store.hasUnsavedChanges }

  /// Writes all unsaved changes to the store, in one transaction. Does nothing where there are none.
  ///
  /// What other processes changed meanwhile under the same identities is overwritten.
  ///
  /// - Throws: ``GarageError/nestedWrite`` inside a closure of ``write(retrying:_:)``,
  ///   ``GarageError/notUnique(index:value:existing:)`` and ``GarageError/stillReferredTo(type:identifier:by:)`` where
  ///   other garages' changes forbid it, ``GarageError/storage(_:)``. The changes stay then, unsaved, and can be saved
  ///   again.
  public func save() throws {
    try translatingErrors {
      // There may be nothing to save, and so nobody else to ask.
      try checkOpen()
      try retrying(nil, store.gate) {
        try beginCall()
        defer { endCall() }
        try store.save()
      }
    }
  }

  /// Drops all changes that are not in the store yet.
  ///
  /// Waits for another thread's write that adds to them or saves them. A write of the calling thread that built upon
  /// them and is still running throws ``GarageError/unsavedChangesDiscarded`` at its end.
  public func discardUnsavedChanges() { store.discardUnsavedChanges() }

  private var isAutosaveSuspended: Bool {
    // Looking the task up costs more than all else; mostly no closure is running.
    if unsavedScopeCount.load(ordering: .relaxed) == 0 { return false }
    return TaskScope.innermost(of: self) { if case .autosaveDisabled = $0 { true } else { nil } } ?? false
  }
}

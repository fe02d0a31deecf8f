internal import GarageDriver
internal import Synchronization

extension Garage {
  /// Whether a change is in the store when its call returns. True by default.
  ///
  /// While it is false, changes stay in this garage. Its own reads see them; other processes, and other garages on the same
  /// store, do not. ``save()`` writes them to the store all at once, and ``discardUnsavedChanges()`` drops them. They are lost
  /// when the garage goes.
  ///
  /// Setting it to true again saves nothing by itself. The next change that is made while it is true, also one of
  /// ``write(retrying:_:)``, saves the unsaved changes as well, in the same commit and in the order in which they were made. If
  /// that throws, nothing reaches the store, and the earlier changes are still unsaved.
  ///
  /// A change that stays unsaved also waits for other writers of the store. A storage that is opened for reading only refuses
  /// it.
  ///
  /// Inside a closure of ``withAutosaveDisabled(_:)`` its value is false.
  public var isAutosaveEnabled: Bool {
    get { autosave.load(ordering: .relaxed) && !isAutosaveSuspended }
    set { autosave.store(newValue, ordering: .relaxed) }
  }

  /// Runs `body`. The changes that it makes through this garage stay unsaved until ``save()``.
  ///
  /// Applies to `body` on the calling task alone, not to other tasks, nor to those that `body` begins. It ends with `body`,
  /// also when `body` throws, and saves nothing: the changes that `body` made before it threw are there, unsaved. They are
  /// saved by ``save()``, or along with the next change that any task makes outside of such a closure.
  ///
  /// - Throws: the errors of `body`.
  public func withAutosaveDisabled<R>(_ body: () throws -> R) rethrows -> R {
    unsavedScopeCount.add(1, ordering: .relaxed)
    defer { unsavedScopeCount.subtract(1, ordering: .relaxed) }
    return try TaskScope.with(.autosaveDisabled, of: self, body)
  }

  /// Whether there are changes that are not in the store yet.
  public var hasUnsavedChanges: Bool { store.hasUnsavedChanges }

  /// Writes all unsaved changes to the store, in one transaction. Does nothing if there are none.
  ///
  /// Changes that other processes have made meanwhile under the same identities are overwritten.
  ///
  /// - Throws: ``GarageError/nestedWrite`` inside a closure of ``write(retrying:_:)``;
  ///   ``GarageError/notUnique(index:value:existing:)`` and ``GarageError/stillReferredTo(type:identifier:by:)`` if the changes
  ///   of other garages forbid it; ``GarageError/storage(_:)``. The changes then stay unsaved, and can be saved again.
  public func save() throws {
    try translatingErrors {
      // Without unsaved changes nothing below would check that the garage is open.
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
  /// Waits for another thread's write that adds to the unsaved changes or saves them. A write of the calling thread that
  /// builds upon them and is still running throws ``GarageError/unsavedChangesDiscarded`` at its end.
  public func discardUnsavedChanges() { store.discardUnsavedChanges() }

  private var isAutosaveSuspended: Bool {
    // Looking up the task costs more than the rest of this function, and mostly no closure is running.
    if unsavedScopeCount.load(ordering: .relaxed) == 0 { return false }
    return TaskScope.innermost(of: self) { if case .autosaveDisabled = $0 { true } else { nil } } ?? false
  }
}

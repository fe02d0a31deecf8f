internal import GarageDriver
internal import Synchronization

/// A storage with the changes before it that are not saved yet.
///
/// A transaction either works on the storage itself, or on the storage *and* the unsaved changes: it reads
/// through them and, where it writes, adds to them. It does so while there are any, or when the caller does not
/// want its change saved at once.
///
/// Three rules keep this consistent and free of deadlocks:
/// - One thread at a time changes the storage or the unsaved changes: the one that holds `gate`.
/// - Nobody waits for the gate who holds the storage's writer, and nobody waits for the storage's writer who holds
///   the gate. A write to the storage only *tries* the gate, from inside its transaction; where it is taken, the
///   transaction is rolled back before it did anything, and the thread waits with empty hands.
/// - A reader takes the unsaved changes first and then the storage. If they were saved or discarded in between
///   (`generation`), it begins again.
final class SavingStore: Sendable {
  let driver: any StorageDriver
  private let driverName: String
  /// Whether the storage may wait for another process before it asks for another try.
  let isSharedAcrossProcesses: Bool
  /// As its driver says, which is asked once.
  let roundTripsAreExpensive: Bool
  private let gate = WriterGate()
  private let process = ProcessMark()
  private let unsaved = Mutex(Unsaved())
  /// Whether there are unsaved changes: what most transactions have to know, without a lock.
  private let isUnsaved = Atomic<Bool>(false)

  private struct Unsaved: Sendable {
    /// A persistent tree, so that a snapshot of it is one more reference to its root.
    var changes = UnsavedChanges()
    /// How often changes were saved or discarded.
    var generation = 0
    /// What is to run around the commit that saves them.
    var hooks = CommitHooks()
  }

  /// What became of a transaction that may have met a state it was not meant for.
  private enum Attempt<R> {
    case done(R)
    /// Nothing was done: the unsaved changes came or went meanwhile.
    case stale
  }

  init(_ driver: any StorageDriver) {
    self.driver = driver
    let info = driver.info
    driverName = info.name
    isSharedAcrossProcesses = info.isSharedAcrossProcesses
    roundTripsAreExpensive = info.roundTripsAreExpensive
  }

  var hasUnsavedChanges: Bool { isUnsaved.load(ordering: .acquiring) }

  // MARK: - Transactions

  /// Runs `body` on one state of the storage and the unsaved changes.
  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    while hasUnsavedChanges {
      let seen = unsaved.withLock { $0 }
      let attempt: Attempt<R> = try driver.read { base in
        guard unsaved.withLock({ $0.generation }) == seen.generation else { return .stale }
        let transaction = OverlayReadTransaction(seen.changes, over: base, driver.info)
        defer { transaction.end() }
        return .done(try body(transaction))
      }
      if case .done(let result) = attempt { return result }
    }
    // What the storage holds is a state of the whole, whether or not unsaved changes come up now.
    return try driver.read(body)
  }

  /// Runs `body` as the only writer; its changes become part of the storage, or of the unsaved changes.
  ///
  /// - Parameters:
  ///   - autosaves: whether the changes go to the storage where there are no unsaved ones that they have to join.
  ///   - pending: its hooks run before the commit, or wait with the changes for that of ``save()``. Those that
  ///     run after a commit are left to the caller.
  /// - Returns: whether the changes are in the storage.
  func write(
    autosaves: Bool, _ pending: UnsafeMutablePointer<WriteAccess.Pending>,
    _ body: (any WriteTransaction) throws -> Void
  ) throws -> Bool {
    while true {
      if autosaves && !hasUnsavedChanges {
        if try writeThrough(pending, body) { return true }
        // Somebody is making unsaved changes: wait until they are made.
        try withGate {}
      } else if try writeUnsaved(autosaves: autosaves, pending, body) {
        return false
      }
    }
  }

  /// False where unsaved changes came meanwhile: nothing was done then.
  private func writeThrough(
    _ pending: UnsafeMutablePointer<WriteAccess.Pending>, _ body: (any WriteTransaction) throws -> Void
  ) throws -> Bool {
    // Given back after the commit, not within the transaction.
    var holdsGate = false
    defer { if holdsGate { gate.end() } }
    return try driver.write { transaction in
      holdsGate = try gate.beginIfFree(driver: driverName)
      guard holdsGate, !hasUnsavedChanges else { return .rollBack(false) }
      try body(transaction)
      try pending.pointee.hooks.runBeforeCommit()
      return .commit(true)
    }
  }

  /// False where there are no unsaved changes any more: nothing was done then.
  private func writeUnsaved(
    autosaves: Bool, _ pending: UnsafeMutablePointer<WriteAccess.Pending>,
    _ body: (any WriteTransaction) throws -> Void
  ) throws -> Bool {
    try withGate {
      // Where everything was saved while this thread waited, there is nothing to join any more.
      if autosaves && !hasUnsavedChanges { return false }
      let before = unsaved.withLock { $0 }
      let changes = try driver.read { base in
        let transaction = OverlayWriteTransaction(before.changes, over: base, driver.info)
        defer { transaction.end() }
        try body(transaction)
        return try transaction.commit()
      }
      try unsaved.withLock { unsaved in
        if unsaved.generation != before.generation { throw GarageError.unsavedChangesDiscarded }
        unsaved.changes = changes
        if !changes.isEmpty { unsaved.hooks.append(pending.pointee.hooks) }
        isUnsaved.store(!changes.isEmpty, ordering: .releasing)
      }
      return true
    }
  }

  /// Waits for the gate, holding nothing, and runs `body` as the one that changes.
  private func withGate<R>(_ body: () throws -> R) throws -> R {
    // In a forked child the gate may be held by a thread that is not there: the driver says what is wrong.
    if !process.isOfThisProcess { try driver.read { _ in } }
    return try gate.withWriter(driver: driverName, body)
  }

  // MARK: - Saving

  /// Writes the unsaved changes to the storage in one transaction, and runs the hooks that wait for that. They stay
  /// as they are where that fails.
  func save() throws {
    while hasUnsavedChanges {
      if let hooks = try saveOnce() {
        hooks.runAfterCommit()
      } else {
        try withGate {}
      }
    }
  }

  /// Returns the hooks to run after the commit; nil where somebody is making changes.
  private func saveOnce() throws -> CommitHooks? {
    var holdsGate = false
    defer { if holdsGate { gate.end() } }
    let hooks: CommitHooks? = try driver.write { transaction in
      holdsGate = try gate.beginIfFree(driver: driverName)
      guard holdsGate else { return .rollBack(nil) }
      let saved = unsaved.withLock { $0 }
      try saved.hooks.runBeforeCommit()
      // A hook may have discarded them.
      if unsaved.withLock({ $0.generation }) != saved.generation { throw GarageError.unsavedChangesDiscarded }
      try saved.changes.apply(to: transaction)
      return .commit(saved.hooks)
    }
    if hooks != nil { forgetChanges() }
    return hooks
  }

  /// Drops the unsaved changes, after the write of another thread that is just adding to them.
  ///
  /// Inside a write that adds to them, on the same thread, they are dropped at once, and that write fails.
  func discardUnsavedChanges() {
    do {
      try withGate { forgetChanges() }
    } catch {
      // This thread holds the gate, or nobody who could give it back is in this process.
      forgetChanges()
    }
  }

  private func forgetChanges() {
    unsaved.withLock { unsaved in
      unsaved.changes = UnsavedChanges()
      unsaved.hooks = CommitHooks()
      unsaved.generation += 1
      isUnsaved.store(false, ordering: .releasing)
    }
  }
}

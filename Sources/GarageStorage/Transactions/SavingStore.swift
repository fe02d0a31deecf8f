internal import GarageDriver
internal import Synchronization

/// A storage, and in front of it the changes that are not saved yet.
///
/// A transaction either works on the storage itself, or on the storage *and* the unsaved changes: while there are any,
/// readers see through them, and a write saves them together with its own changes, or adds to them.
///
/// Three rules keep this consistent and free of deadlocks (`Docs/Decisions/0005-unsaved-changes.md`):
/// - One thread at a time changes the storage, or the unsaved changes of any garage on it: the thread that is inside the
///   storage's own `write`, even if that is rolled back in the end. So there is one gate for each store, and a write inside
///   a write is recognised through whichever garage it comes. Where the storage lets several write at a time, `gate` is
///   entered first: writes that leave unsaved changes alone share it, and one that touches them has it alone.
/// - Saved changes are forgotten after the commit, when the storage's writer is free again. Until then the thread that
///   saved them holds `commitGate`. It waits for nothing meanwhile, so other threads may wait for it.
/// - A reader takes the unsaved changes first and then the storage. If they were saved or discarded in between
///   (`generation`), or are just being committed together with others, it begins again.
final class SavingStore: Sendable {
  let driver: any StorageDriver
  /// The driver, if it can save round trips.
  private let deferred: (any DeferredReading)?
  /// Whether a read may have to be repeated. A deferred read notices only with its first operation that its connection was
  /// lost; other reads notice it before they begin, and take another connection.
  let repeatsReads: Bool
  /// The driver, if it tells whether two transactions see the same state.
  let naming: (any StateNaming)?
  private let driverName: String
  /// The listeners for changes.
  let news: NewsHub
  private let sharedNews: SharedNewsHub
  private let idleNoting = Reusable<NotingTransaction>()
  /// The number of the garage.
  private let garage: UInt64
  private let isSealed: Bool
  /// Whether the storage may wait for another process before it asks for another try.
  let isSharedAcrossProcesses: Bool
  /// As the driver says; asked once.
  let roundTripsAreExpensive: Bool
  /// The queue for the next commit; nil where commits do not wait for a disk, and need not be shared.
  let commits: CommitQueue?
  /// The gate of writes, where the storage lets several write at a time; nil where the storage itself lets only one.
  let gate: SharingGate?
  /// The places in which writes of tasks run that are in no queue.
  let writePlaces: WorkerPlaces
  /// How many threads write or wait to write, where there is no queue that knows it.
  private let writerCount = Atomic<Int>(0)
  /// Held from just before unsaved changes are committed until they are forgotten.
  private let commitGate = WriterGate()
  private let unsaved = Mutex(Unsaved())
  /// Whether there are unsaved changes. Most transactions have to know that, so it takes no lock.
  private let isUnsaved = Atomic<Bool>(false)

  private struct Unsaved: Sendable {
    /// A persistent tree, so that a snapshot of it is one more reference to its root.
    var changes = UnsavedChanges()
    /// How often changes were saved or discarded.
    var generation = 0
    /// Whether they are just being committed together with other changes. The storage may then show newer values than the
    /// unsaved ones.
    var isCommitting = false
    /// What is to run around the commit that saves them.
    var hooks = CommitHooks()
  }

  /// The result of a read that may have met a state that it must not see.
  private enum Attempt<R> {
    case done(R)
    /// Nothing was done: the unsaved changes were saved or discarded meanwhile.
    case stale
  }

  /// Makes the index entries of records when they are saved.
  private let indexing: Indexing

  init(_ driver: any StorageDriver, _ indexing: Indexing, garage: UInt64) {
    self.driver = driver
    naming = driver as? any StateNaming
    self.indexing = indexing
    self.garage = garage
    sharedNews = SharedNewsHub.of(driver)
    news = sharedNews.hub
    let info = driver.info
    let savesTrips = info.roundTripsAreExpensive || info.writersConflict
    deferred = savesTrips ? driver as? any DeferredReading : nil
    repeatsReads = deferred != nil || info.writersConflict
    driverName = info.name
    isSealed = info.isSealed
    isSharedAcrossProcesses = info.isSharedAcrossProcesses
    roundTripsAreExpensive = info.roundTripsAreExpensive
    commits = info.isDurable ? CommitQueue(info) : nil
    gate = info.writersConflict ? SharingGate(driver, name: info.name) : nil
    // Writes that run beside each other take a connection each, and there are not many more for reads. Of writes that the
    // storage runs one after another, only one need wait for it on a thread, so that reads and other garages have the rest.
    writePlaces = info.writersConflict ? .forReads : WorkerPlaces(1)
  }

  /// Whether a write would not have to wait for another one, where there is no queue.
  var isWriterFree: Bool { writerCount.load(ordering: .relaxed) == 0 }

  var hasUnsavedChanges: Bool { isUnsaved.load(ordering: .acquiring) }

  // MARK: - Reading

  /// Runs `body` on one state of the storage and the unsaved changes.
  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    while hasUnsavedChanges {
      let seen = unsaved.withLock { $0 }
      let attempt: Attempt<R> = try driver.read { base in
        let isCurrent = unsaved.withLock { $0.generation == seen.generation && !$0.isCommitting }
        guard isCurrent else { return .stale }
        let transaction = OverlayReadTransaction(seen.changes, over: base, driver.info)
        defer { transaction.end() }
        return .done(try body(transaction))
      }
      if case .done(let result) = attempt { return result }
      // Outside of the transaction, because the commit might wait for that.
      try waitForCommit()
    }
    // The storage holds a whole state, whether or not unsaved changes are made now.
    return try driver.read(body)
  }

  /// The same for a body that does nothing that others could see before its first operation: the storage may show the state of
  /// the time of that operation.
  func readDeferred<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    guard let deferred, !hasUnsavedChanges else { return try read(body) }
    return try deferred.deferredRead(body)
  }

  /// Waits until changes that are just being committed are forgotten. That takes no other lock.
  private func waitForCommit() throws { try commitGate.withWriter(driver: driverName) {} }

  // MARK: - Writing

  /// Runs `body` as the only writer; its changes become part of the storage, or of the unsaved changes.
  ///
  /// - Parameters:
  ///   - autosaves: whether the changes go to the storage, and all unsaved ones before them in the same commit.
  ///   - pending: its hooks run before the commit, or wait with the changes for the one that saves them. Those that
  ///     run after a commit are left to the caller, who finds there also what waited with changes saved now.
  /// - Returns: whether the changes are in the storage. Where it throws, they are nowhere, and what was unsaved before
  ///   still is.
  func write(
    autosaves: Bool, _ pending: LentPendingCommit,
    _ body: (any WriteTransaction) throws -> Void
  ) throws -> Bool {
    if commits == nil { writerCount.add(1, ordering: .relaxed) }
    defer { if commits == nil { writerCount.subtract(1, ordering: .relaxed) } }
    var heard = HeardChanges(news)
    do {
      try entering(alone: !autosaves) {
        if autosaves {
          try writeThrough(pending, &heard, body)
        } else {
          try writeUnsaved(pending, &heard, body)
        }
      }
    } catch {
      heard.tellIfUnknown(after: error, from: garage)
      throw error
    }
    heard.tell(from: garage, isUnsaved: !autosaves)
    return autosaves
  }

  /// Runs `body`, which writes, where the storage would let others write beside it: alone where there are unsaved changes
  /// or it needs to be, else beside others.
  @inline(__always)
  private func entering(alone: Bool, _ body: () throws -> Void) throws {
    guard let gate else { return try body() }
    try SavingStore.enter(gate, alone: alone || hasUnsavedChanges, body) { hasUnsavedChanges }
  }

  private static func enter(
    _ gate: SharingGate, alone: Bool, _ body: () throws -> Void, unless needsAlone: () -> Bool
  ) throws {
    if alone { return try gate.enter(alone: true, body) }
    // No unsaved changes are made as long as other writes are inside.
    let isDone = try gate.enter(alone: false) {
      if needsAlone() { return false }
      try body()
      return true
    }
    if !isDone { try gate.enter(alone: true, body) }
  }

  private func writeThrough(
    _ pending: LentPendingCommit, _ heard: inout HeardChanges,
    _ body: (any WriteTransaction) throws -> Void
  ) throws {
    var saving: Saving?
    defer { saving?.end(in: self) }
    let isSaved = try driver.write { transaction in
      if pending.value.isRepeated { rememberIndexes(in: transaction) }
      if let tag = pending.value.onlyTag, try !settledUnsavedChanges(), heard.goesUnheard(tag) {
        try body(transaction)
        try pending.value.hooks.runBeforeCommit()
        return .commit(true)
      }
      try heard.noting(transaction, isSealed: isSealed, idleNoting) { transaction in
        if try settledUnsavedChanges() {
          saving = try save(pending, before: body, in: transaction)
        } else {
          try body(transaction)
          try pending.value.hooks.runBeforeCommit()
        }
      }
      return .commit(true)
    }
    saving?.isCommitted = isSaved
  }

  /// Runs `body` as the only writer, and commits; false, and nothing has run, where there are unsaved changes, which
  /// would have to be saved with it.
  func writeShared(_ body: (any WriteTransaction) throws -> Void) throws -> Bool {
    var heard = HeardChanges(news)
    func write() throws -> Bool {
      try driver.write { transaction in
        if try settledUnsavedChanges() { return .rollBack(false) }
        rememberIndexes(in: transaction)
        try heard.noting(transaction, isSealed: isSealed, idleNoting, body)
        return .commit(true)
      }
    }
    do {
      let isCommitted = if let gate { try gate.enter(alone: false, write) } else { try write() }
      if isCommitted { heard.tell(from: garage, isUnsaved: false) }
      return isCommitted
    } catch {
      heard.tellIfUnknown(after: error, from: garage)
      throw error
    }
  }

  /// Saves the round trip in which a write finds out which indexes there are, if the write is repeated should its knowledge be
  /// out of date.
  @inline(__always)
  private func rememberIndexes(in transaction: any WriteTransaction) {
    if gate == nil { return }
    (transaction as? any AnnouncedReading)?.mayRemember(IndexCatalog.key)
  }

  private func writeUnsaved(
    _ pending: LentPendingCommit, _ heard: inout HeardChanges,
    _ body: (any WriteTransaction) throws -> Void
  ) throws {
    _ = try driver.write { base in
      _ = try settledUnsavedChanges()
      let before = unsaved.withLock { $0 }
      let transaction = OverlayWriteTransaction(before.changes, over: base, driver.info)
      defer { transaction.end() }
      try heard.noting(transaction, isSealed: isSealed, idleNoting, body)
      let changes = try transaction.commit()
      try unsaved.withLock { unsaved in
        if unsaved.generation != before.generation { throw GarageError.unsavedChangesDiscarded }
        unsaved.changes = changes
        // Changes that cancel each other out are saved by no commit. Their hooks must not run with the next one.
        if changes.isEmpty {
          unsaved.hooks = CommitHooks()
        } else {
          unsaved.hooks.append(pending.value.hooks)
        }
        isUnsaved.store(!changes.isEmpty, ordering: .releasing)
      }
      return .rollBack(false)
    }
  }

  /// Whether there are unsaved changes. For a thread that is the storage's writer: no other thread adds any meanwhile.
  private func settledUnsavedChanges() throws -> Bool {
    if !hasUnsavedChanges { return false }
    // The writer before may be about to forget them.
    try waitForCommit()
    return hasUnsavedChanges
  }

  /// Runs `body` when it is the calling thread's turn to commit.
  @inline(__always)
  func inTurn<R>(_ body: () throws -> R) throws -> R {
    guard let commits, gate == nil, !CommitQueue.isPassed else { return try body() }
    try commits.begin()
    defer { commits.end() }
    return try body()
  }

  // MARK: - Saving

  /// Writes the unsaved changes to the storage in one transaction, and runs the hooks that wait for that. They stay
  /// as they are where that fails.
  func save() throws {
    if !hasUnsavedChanges { return }
    var pending = PendingCommit()
    var heard = HeardChanges(news)
    do {
      try inTurn {
        try LentPendingCommit.with(&pending) { pending in
          try entering(alone: true) { try writeThrough(pending, &heard) { _ in } }
        }
      }
    } catch {
      heard.tellIfUnknown(after: error, from: garage)
      throw error
    }
    heard.tell(from: garage, isUnsaved: false)
    pending.hooks.runAfterCommit()
  }

  /// Makes the unsaved changes in a transaction, and then those of `body`.
  private func save(
    _ pending: LentPendingCommit, before body: (any WriteTransaction) throws -> Void,
    in transaction: any WriteTransaction
  ) throws -> Saving {
    let saved = unsaved.withLock { $0 }
    try indexing.apply(saved.changes, to: transaction)
    try saved.changes.denials?.check(saved.changes, in: transaction)
    try body(transaction)
    var hooks = saved.hooks
    hooks.append(pending.value.hooks)
    try hooks.runBeforeCommit()
    pending.value.hooks = hooks
    try commitGate.begin(driver: driverName)
    do {
      try unsaved.withLock { unsaved in
        // `body` or a hook may have discarded them.
        if unsaved.generation != saved.generation { throw GarageError.unsavedChangesDiscarded }
        unsaved.isCommitting = true
      }
    } catch {
      commitGate.end()
      throw error
    }
    return Saving(generation: saved.generation)
  }

  /// Unsaved changes that are being saved, from just before the commit on.
  private struct Saving {
    /// The generation of the changes.
    let generation: Int
    var isCommitted = false

    func end(in store: SavingStore) {
      let isCommitted = isCommitted
      store.unsaved.withLock { unsaved in
        // If they were discarded meanwhile, through a write of another garage, there may be others by now.
        if isCommitted && unsaved.generation == generation { store.forget(&unsaved) }
        unsaved.isCommitting = false
      }
      store.commitGate.end()
    }
  }

  /// Drops the unsaved changes, after the write of another thread that is just adding to them.
  ///
  /// Called inside a write of the same thread that builds upon them, it drops them at once, and that write fails.
  func discardUnsavedChanges() {
    if !hasUnsavedChanges { return }
    do {
      try entering(alone: true) {
        _ = try driver.write { _ in
          if try settledUnsavedChanges() { forgetChanges() }
          return .rollBack(false)
        }
      }
    } catch {
      // Either this thread is the writer, or the storage refuses all writes. In both cases no other thread adds to them.
      forgetChanges()
    }
    if news.isHeard { news.tell(.everything, from: garage, isUnsaved: true) }
  }

  private func forgetChanges() { unsaved.withLock { forget(&$0) } }

  private func forget(_ unsaved: inout Unsaved) {
    unsaved.changes = UnsavedChanges()
    unsaved.hooks = CommitHooks()
    unsaved.generation += 1
    unsaved.isCommitting = false
    isUnsaved.store(false, ordering: .releasing)
  }
}

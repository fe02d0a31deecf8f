internal import GarageDriver
internal import Synchronization

// How the changes of tasks reach the storage: they are queued, and a thread of the library's waits for the disk.

extension Garage {
  /// Commits a body of bytes, together with the changes that others commit at the same time. It runs on another thread, perhaps
  /// more than once, and must not run users' code.
  ///
  /// - Parameters:
  ///   - autosaves: whether it commits at once; nil for the garage's present setting.
  ///   - own: the caller's hooks that run after the commit, with those of the unsaved changes that are saved along. Asked for when
  ///     it is done.
  /// - Throws: the errors of `body`; `CancellationError` if the task was cancelled before anybody began with it.
  nonisolated(nonsending)
    func submitBytes(
      byteCount: Int = 0, autosaves: Bool? = nil, with own: () -> CommitHooks = { CommitHooks() },
      _ body: @escaping (WriteAccess) throws -> Void
    ) async throws
  {
    // Unsaved changes would be saved along with it, and bring hooks, which must not run in a commit for several callers.
    guard let queue = store.commits, autosaves ?? isAutosaveEnabled, !store.hasUnsavedChanges else {
      return try await submit(autosaves: autosaves, with: own, body)
    }
    try await retryingInTask(isClocked: store.isSharedAcrossProcesses, store.gate) { _ in
      try await wait(in: queue, .bytes(body), byteCount: byteCount, with: own)
    }
  }

  /// Commits a body in a transaction of its own, on a thread of the library's unless the storage never makes it wait.
  ///
  /// - Parameters:
  ///   - isLong: whether the body may go through many objects. Then it runs on a thread of the library's in any case.
  ///   - own: as for ``submitBytes(byteCount:autosaves:with:_:)``.
  /// - Throws: the errors of `body`; `CancellationError` if the task was cancelled before the body began.
  nonisolated(nonsending)
    func submit<R>(
      retrying attempts: Int? = nil, autosaves: Bool? = nil, isLong: Bool = false,
      with own: () -> CommitHooks = { CommitHooks() }, _ body: @escaping (WriteAccess) throws -> R
    ) async throws -> R
  {
    var settings = CallSettings(of: self)
    if let autosaves { settings.autosaves = autosaves }
    return try await retryingInTask(attempts, isClocked: store.isSharedAcrossProcesses, store.gate) { alone in
      let result = CarriedResult<R>()
      let hooks = CarriedResult<CommitHooks>()
      let commit: (Cancellation?) throws -> Void = { [self, settings] cancellation in
        func commit() throws -> CommitHooks? {
          try settings.apply(to: self) {
            var pending = PendingCommit()
            pending.isRepeated = attempts.map { $0 > 0 } ?? true
            let isSaved = try commitKeepingHooks(&pending, inTurnOf: nil, autosaves: settings.autosaves) {
              // The transaction may have waited for another writer of the storage.
              try cancellation?.check()
              result.value = try body($0)
            }
            return isSaved ? pending.hooks : nil
          }
        }
        hooks.value =
          if alone, let gate = store.gate { try gate.enter(alone: true, commit) } else { try commit() }
      }
      try await run(commit, isLong: isLong)
      var after = hooks.value ?? CommitHooks()
      after.append(own())
      after.runAfterCommit()
      return result.value.unsafelyUnwrapped
    }
  }

  /// Runs a transaction in turn: in the task if the storage never makes it wait, and otherwise on a thread of the library's.
  ///
  /// - Parameter transaction: if it gets a ``Cancellation``, it has to check that before it begins.
  nonisolated(nonsending)
    private func run(_ transaction: @escaping (Cancellation?) throws -> Void, isLong: Bool) async throws
  {
    if let queue = store.commits, store.gate == nil {
      return try await wait(in: queue, .transaction { try transaction(nil) }, byteCount: 0)
    }
    try Task.checkCancellation()
    if !isLong && store.gate == nil && !store.roundTripsAreExpensive && store.isWriterFree {
      return try transaction(nil)
    }
    let cancellation = Cancellation()
    let carried = Carried(transaction)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        store.writePlaces.run {
          continuation.resume(
            with: Result {
              try cancellation.check()
              return try carried.value(cancellation)
            })
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// Waits in the queue until the work is done. Cancelling removes the job, as long as nobody has begun it.
  nonisolated(nonsending)
    private func wait(
      in queue: CommitQueue, _ work: CommitJob.Work, byteCount: Int,
      with own: () -> CommitHooks = { CommitHooks() }
    ) async throws
  {
    try Task.checkCancellation()
    let submitted = Mutex<CommitJob?>(nil)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let job = CommitJob(of: self, work, byteCount: byteCount) { continuation.resume(with: $0) }
        submitted.withLock { $0 = job }
        queue.submit(job)
        // The task was cancelled before there was a job to remove.
        if Task.isCancelled, queue.cancel(job) { job.settle(CancellationError()) }
      }
    } onCancel: {
      if let job = submitted.withLock({ $0 }), queue.cancel(job) { job.settle(CancellationError()) }
    }
    // The hooks of changes that were made, but not saved, while the job waited.
    var after = submitted.withLock { $0 }?.hooks ?? CommitHooks()
    after.append(own())
    after.runAfterCommit()
  }
}

/// Does as ``retrying(_:isClocked:_:_:)``, but no thread sleeps.
///
/// - Parameter body: is told whether it should be the storage's only writer.
nonisolated(nonsending)
  func retryingInTask<R>(
    _ attempts: Int? = nil, isClocked: Bool, _ gate: SharingGate?,
    _ body: nonisolated(nonsending) (_ alone: Bool) async throws -> R
  ) async throws -> R
{
  var retries = Retries(attempts, isClocked: isClocked, expectsConflicts: gate != nil)
  while true {
    do { return try await body(retries.needsToBeAlone) } catch {
      guard let pause = retries.pause(after: error) else { throw translated(error) }
      do { try await Task.sleep(for: .microseconds(pause)) } catch { throw translated(error) }
    }
  }
}

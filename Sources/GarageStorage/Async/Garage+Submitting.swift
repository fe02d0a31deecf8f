internal import GarageDriver
internal import Synchronization

// How the changes of tasks reach the storage: they are queued, and a thread of the library's waits for the disk.

extension Garage {
  /// Commits a body of bytes, together with what others commit at the same time. It runs elsewhere, perhaps more than once, and
  /// must not run users' code.
  ///
  /// - Throws: what `body` throws; `CancellationError` where the task was cancelled before anybody had begun with it.
  nonisolated(nonsending)
    func submitBytes(byteCount: Int = 0, _ body: @escaping (WriteAccess) throws -> Void) async throws
  {
    // Unsaved changes are saved with it and bring hooks, which must not run in a commit for several callers.
    guard let queue = store.commits, isAutosaveEnabled, !store.hasUnsavedChanges else {
      return try await submit(body)
    }
    try await retryingInTask(isClocked: store.isSharedAcrossProcesses, store.gate) { _ in
      try await wait(in: queue, .bytes(body), byteCount: byteCount)
    }
  }

  /// Commits a body in a transaction of its own, which runs elsewhere unless nothing is waited for.
  ///
  /// - Parameter isLong: whether the body may go through many objects: then it runs elsewhere in any case.
  /// - Throws: what `body` throws; `CancellationError` where the task was cancelled before that had begun.
  nonisolated(nonsending)
    func submit<R>(
      retrying attempts: Int? = nil, autosaves: Bool? = nil, isLong: Bool = false,
      _ body: @escaping (WriteAccess) throws -> R
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
              // It may have waited for another writer of the storage.
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
      hooks.value?.runAfterCommit()
      return result.value.unsafelyUnwrapped
    }
  }

  /// Runs a transaction in turn: here where the storage waits for nothing, else on a thread of the library's.
  ///
  /// - Parameter transaction: has to ask the ``Cancellation``, where it gets one, before it begins.
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

  /// Waits in the queue until the work is done. Cancelling takes the job out, as long as it was not begun.
  nonisolated(nonsending)
    private func wait(in queue: CommitQueue, _ work: CommitJob.Work, byteCount: Int) async throws
  {
    try Task.checkCancellation()
    let submitted = Mutex<CommitJob?>(nil)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let job = CommitJob(of: self, work, byteCount: byteCount) { continuation.resume(with: $0) }
        submitted.withLock { $0 = job }
        queue.submit(job)
        // The task was cancelled before there was a job to take out.
        if Task.isCancelled, queue.cancel(job) { job.settle(CancellationError()) }
      }
    } onCancel: {
      if let job = submitted.withLock({ $0 }), queue.cancel(job) { job.settle(CancellationError()) }
    }
    // The hooks of changes that were made without saving while the job waited.
    submitted.withLock { $0 }?.hooks.runAfterCommit()
  }
}

/// As ``retrying(_:isClocked:_:_:)``, without a thread that sleeps.
///
/// - Parameter body: is told whether it should have the storage's writing to itself.
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

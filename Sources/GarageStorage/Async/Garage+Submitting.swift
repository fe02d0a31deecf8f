internal import GarageDriver
internal import Synchronization

// How the changes of tasks reach the storage: they are queued, and a thread of the library's waits for the disk.

extension Garage {
  /// Commits a body of bytes, which runs elsewhere, no code of users', and perhaps again: together with what others
  /// commit at the same time.
  ///
  /// - Throws: what `body` throws; `CancellationError` where the task was cancelled before anybody had begun with it.
  nonisolated(nonsending)
    func submitBytes(byteCount: Int = 0, _ body: @escaping (WriteAccess) throws -> Void) async throws
  {
    guard let queue = store.commits, isAutosaveEnabled else { return try await submit(body) }
    try await retryingInTask(isClocked: store.isSharedAcrossProcesses) {
      try await wait(in: queue, .bytes(body), byteCount: byteCount)
    }
  }

  /// Commits a body in a transaction of its own, which runs elsewhere unless nothing is waited for.
  nonisolated(nonsending)
    func submit<R>(
      retrying attempts: Int = 10, autosaves: Bool? = nil, _ body: @escaping (WriteAccess) throws -> R
    ) async throws -> R
  {
    var settings = CallSettings(of: self)
    if let autosaves { settings.autosaves = autosaves }
    return try await retryingInTask(attempts, isClocked: store.isSharedAcrossProcesses) {
      let result = CarriedResult<R>()
      let hooks = CarriedResult<CommitHooks>()
      let commit: () throws -> Void = { [self, settings] in
        hooks.value = try settings.apply(to: self) {
          try commitKeepingHooks(inTurnOf: nil, autosaves: settings.autosaves) { result.value = try body($0) }
        }
      }
      try await run(commit)
      hooks.value?.runAfterCommit()
      return result.value.unsafelyUnwrapped
    }
  }

  /// Runs a transaction in turn: here where the storage waits for nothing, else on a thread of the library's.
  nonisolated(nonsending)
    private func run(_ transaction: @escaping () throws -> Void) async throws
  {
    if let queue = store.commits {
      return try await wait(in: queue, .transaction(transaction), byteCount: 0)
    }
    try Task.checkCancellation()
    if !store.roundTripsAreExpensive && store.isWriterFree { return try transaction() }
    let carried = Carried(transaction)
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      WorkerThreads.shared.run { continuation.resume(with: Result { try carried.value() }) }
    }
  }

  /// Waits in the queue until the work is done. Cancelling takes it out as long as nobody has begun with it.
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
        // Cancelled before there was a job to take out.
        if Task.isCancelled, queue.cancel(job) { job.settle(CancellationError()) }
      }
    } onCancel: {
      if let job = submitted.withLock({ $0 }), queue.cancel(job) { job.settle(CancellationError()) }
    }
  }
}

/// As ``retrying(_:isClocked:_:)``, without a thread that sleeps.
nonisolated(nonsending)
  func retryingInTask<R>(
    _ attempts: Int = 10, isClocked: Bool, _ body: nonisolated(nonsending) () async throws -> R
  ) async throws -> R
{
  do {
    var start = isClocked ? ContinuousClock.now : nil
    var pause = 500
    for _ in 0..<max(0, attempts) {
      do { return try await body() } catch {
        guard GarageError.isRetryable(error) else { throw error }
        let now = ContinuousClock.now
        guard now - (start ?? now) < .seconds(2) else { throw error }
        if start == nil { start = now }
        try await Task.sleep(for: .microseconds(Int.random(in: pause / 2...pause)))
        pause = min(pause * 2, 100_000)
      }
    }
    return try await body()
  } catch {
    throw translated(error)
  }
}

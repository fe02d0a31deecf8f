internal import Dispatch

/// Work that a caller waiting in a ``CommitQueue`` wants to have committed.
///
/// Unchecked: only the holder of the turn uses the jobs that it took, and each caller waits until its job is settled.
final class CommitJob: @unchecked Sendable {
  enum Work {
    /// Puts and removes bytes. Any thread may run it, repeatedly, and together with others.
    case bytes((WriteAccess) throws -> Void)
    /// A transaction of its own, which a thread of the library's runs.
    case transaction(() throws -> Void)
    /// A transaction of its own, which the waiting thread runs.
    case ofWaitingThread
  }

  /// The reason why a waiting thread goes on.
  enum Wake {
    /// The turn is the thread's: it commits its own job and those behind it.
    case turn
    /// The job was committed by another thread, or failed there.
    case settled((any Error)?)
  }

  private enum Waiter {
    case thread(DispatchSemaphore)
    case task(garage: Garage, (Result<Void, any Error>) -> Void)
  }

  /// About how many bytes it writes.
  let byteCount: Int
  private var work: Work?
  private let waiter: Waiter
  /// The hooks to run after the commit, if unsaved changes were saved along with the job. The caller runs them when it no
  /// longer has the turn, because hooks may wait for any thread or actor, and may read task-local values.
  var hooks = CommitHooks()
  private var wake = Wake.turn
  /// What the queue finds the job by while it waits there. Used under the queue's lock only.
  var ticket: WaitingLine<CommitJob>.Ticket?

  /// A job of a thread that waits in ``wait()``.
  init(ofThread work: Work, byteCount: Int = 0) {
    self.work = work
    self.byteCount = byteCount
    waiter = .thread(DispatchSemaphore(value: 0))
  }

  /// A job of a task. `resume` tells the task its outcome: once, on any thread.
  init(
    of garage: Garage, _ work: Work, byteCount: Int,
    _ resume: @escaping (Result<Void, any Error>) -> Void
  ) {
    self.work = work
    self.byteCount = byteCount
    waiter = .task(garage: garage, resume)
  }

  /// The garage of a waiting task; nil for a thread, which commits by itself.
  var garageOfTask: Garage? {
    if case .task(let garage, _) = waiter { garage } else { nil }
  }

  var isBytes: Bool {
    if case .bytes = work { true } else { false }
  }

  // MARK: - For the holder of the turn

  /// Runs a job of bytes.
  func run(_ access: WriteAccess) throws {
    if case .bytes(let body) = work { try body(access) }
  }

  /// Runs the transaction of a job that has its own. The returned outcome then settles the job.
  func runTransaction() -> (any Error)? {
    guard case .transaction(let body) = work else { return nil }
    do { try body() } catch { return error }
    return nil
  }

  /// Wakes the waiting thread and gives it the turn.
  func giveTurn() {
    if case .thread(let semaphore) = waiter { semaphore.signal() }
  }

  /// Lets the caller go on. The job must not be used any more.
  func settle(_ error: (any Error)?) {
    work = nil
    switch waiter {
    case .thread(let semaphore):
      wake = .settled(error)
      semaphore.signal()
    case .task(_, let resume): resume(error.map { .failure($0) } ?? .success(()))
    }
  }

  // MARK: - For the waiting thread

  /// Waits until it is the job's turn or the job is settled.
  func wait() -> Wake {
    if case .thread(let semaphore) = waiter { semaphore.wait() }
    return wake
  }

  /// Releases the closures of the job. A thread that has the turn calls it when it is done.
  func end() { work = nil }
}

internal import Dispatch

/// What a caller that waits in a ``CommitQueue`` wants to be committed.
///
/// Unchecked: only the holder of the turn uses the jobs that it took, and each caller waits until its job is settled.
final class CommitJob: @unchecked Sendable {
  enum Work {
    /// Puts and removes bytes; may be run by any thread, again and again, and together with others.
    case bytes((WriteAccess) throws -> Void)
    /// A transaction of its own, which a thread of the library's makes.
    case transaction(() throws -> Void)
    /// A transaction of its own, which the waiting thread makes.
    case ofWaitingThread
  }

  /// Why a waiting thread goes on.
  enum Wake {
    /// It is the thread's turn: it commits, for itself and for those behind it.
    case turn
    /// Its job was committed by another thread, or has failed there.
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
  /// What has to run after the commit if unsaved changes were saved with the job. The caller runs it when it has no turn any
  /// more, because it may wait for any thread or actor, and reads task-local values.
  var hooks = CommitHooks()
  private var wake = Wake.turn

  /// That of a thread that waits in ``wait()``.
  init(ofThread work: Work, byteCount: Int = 0) {
    self.work = work
    self.byteCount = byteCount
    waiter = .thread(DispatchSemaphore(value: 0))
  }

  /// The job of a task, which is told by `resume`: once, by any thread.
  init(
    of garage: Garage, _ work: Work, byteCount: Int,
    _ resume: @escaping (Result<Void, any Error>) -> Void
  ) {
    self.work = work
    self.byteCount = byteCount
    waiter = .task(garage: garage, resume)
  }

  /// The garage of a task that waits; nil for a thread, which leads by itself.
  var garageOfTask: Garage? {
    if case .task(let garage, _) = waiter { garage } else { nil }
  }

  var isBytes: Bool {
    if case .bytes = work { true } else { false }
  }

  // MARK: - For whoever has the turn

  /// Runs a job of bytes.
  func run(_ access: WriteAccess) throws {
    if case .bytes(let body) = work { try body(access) }
  }

  /// Makes the transaction of a job that has one of its own. Its outcome then settles the job.
  func runTransaction() -> (any Error)? {
    guard case .transaction(let body) = work else { return nil }
    do { try body() } catch { return error }
    return nil
  }

  /// Wakes the thread that waits, to lead.
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

  /// Releases the closures of the job. For a thread that has the turn, when it is done.
  func end() { work = nil }
}

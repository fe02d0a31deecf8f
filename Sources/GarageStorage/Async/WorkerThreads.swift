internal import Dispatch
internal import GarageDriver
internal import Synchronization

/// Threads of the library's own. They wait for engines, which tasks must not do.
///
/// A thread is started if none is idle, and ends when it has been idle for a while. Work that many may ask for at a time has a
/// limited number of places (``WorkerPlaces``), or waits in a ``CommitQueue``.
///
/// The system may give no thread: it has a limit, or no memory for a stack. Then the work is done where it is asked for.
final class WorkerThreads: Sendable {
  static let shared = WorkerThreads {
    // Users' code runs there, and may nest deeply.
    DetachedThread.start(stackByteCount: 8 << 20, $0)
  }

  /// Unchecked: only the one who takes a worker from the idle ones uses it.
  private final class Worker: @unchecked Sendable {
    let wake = DispatchSemaphore(value: 0)
    var job: (@Sendable () -> Void)?
  }

  private struct State: Sendable {
    var idle: [Worker] = []
    var process = ProcessMark()
  }

  private let state = Mutex(State())

  private static let idleSeconds = 2

  private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool

  /// - Parameter startThread: runs a closure on a new thread, or returns false if there is none.
  init(starting startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool) {
    self.startThread = startThread
  }

  /// Runs `job` on a thread that runs nothing else until it returns. If there is no such thread, runs it here, before this call
  /// returns: a job that nobody runs would be waited for for ever.
  func run(_ job: @escaping @Sendable () -> Void) {
    if !runElsewhere(job) { TaskScope.withoutSettings(job) }
  }

  /// Runs `job` on a thread that runs nothing else until it returns. Returns false, and does not run it, if there is no such
  /// thread.
  func runElsewhere(_ job: @escaping @Sendable () -> Void) -> Bool {
    let worker = state.withLock { state -> Worker? in
      // Threads do not survive a fork.
      if !state.process.isOfThisProcess { state = State() }
      guard let worker = state.idle.popLast() else { return nil }
      worker.job = job
      return worker
    }
    if let worker {
      worker.wake.signal()
      return true
    }
    let new = Worker()
    new.job = job
    return startThread { self.work(new) }
  }

  private func work(_ worker: Worker) {
    while true {
      worker.job?()
      worker.job = nil
      state.withLock { $0.idle.append(worker) }
      let isNeeded = worker.wake.wait(timeout: .now() + .seconds(WorkerThreads.idleSeconds)) == .success
      if isNeeded { continue }
      let isIdle = state.withLock { state in
        guard let index = state.idle.firstIndex(where: { $0 === worker }) else { return false }
        state.idle.remove(at: index)
        return true
      }
      if isIdle { return }
      // Somebody took this worker at the last moment.
      worker.wake.wait()
    }
  }
}

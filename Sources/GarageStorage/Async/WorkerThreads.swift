internal import Dispatch
internal import Foundation
internal import GarageDriver
internal import Synchronization

/// Threads of the library's own. They wait for engines, which tasks must not do.
///
/// A thread is started if none is idle, and ends when it has been idle for a while. Work that many may ask for at a time has a
/// limited number of places (``WorkerPlaces``), or waits in a ``CommitQueue``.
final class WorkerThreads: Sendable {
  static let shared = WorkerThreads()

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

  /// Runs `job` on a thread that runs nothing else until it returns.
  func run(_ job: @escaping @Sendable () -> Void) {
    let worker = state.withLock { state -> Worker? in
      // Threads do not survive a fork.
      if !state.process.isOfThisProcess { state = State() }
      guard let worker = state.idle.popLast() else { return nil }
      worker.job = job
      return worker
    }
    if let worker { worker.wake.signal() } else { start(job) }
  }

  private func start(_ job: @escaping @Sendable () -> Void) {
    let worker = Worker()
    worker.job = job
    let thread = Thread { self.work(worker) }
    thread.name = "Garage"
    // Users' code runs here, and may nest deeply.
    thread.stackSize = 8 << 20
    thread.start()
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

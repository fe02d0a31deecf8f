internal import GarageDriver
internal import Synchronization

/// A limited number of places on the library's threads, for jobs of one kind. Jobs beyond that number wait here, in the order
/// in which they came, without a thread.
final class WorkerPlaces: Sendable {
  /// The places for reads, shared by all garages.
  static let forReads = WorkerPlaces(32)

  private struct State: Sendable {
    var process = ProcessMark()
    var runningCount = 0
    var waiting = WaitingLine<@Sendable () -> Void>()
  }

  private let count: Int
  private let state = Mutex(State())

  init(_ count: Int) { self.count = count }

  /// Runs `job` on a thread that runs nothing else until it returns, as soon as there is a place.
  func run(_ job: @escaping @Sendable () -> Void) {
    let mayRun = state.withLock { state in
      // Threads do not survive a fork, so their places are free.
      if !state.process.isOfThisProcess { state = State() }
      if state.runningCount == count {
        state.waiting.append(job)
        return false
      }
      state.runningCount += 1
      return true
    }
    if mayRun { WorkerThreads.shared.run { self.runAll(job) } }
  }

  private func runAll(_ first: @Sendable () -> Void) {
    first()
    while let next = nextJob() { next() }
  }

  private func nextJob() -> (@Sendable () -> Void)? {
    state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil { state.runningCount -= 1 }
      return next
    }
  }
}

internal import GarageDriver
internal import Synchronization

/// Somebody who waits for news. Holds what was missed, merged, so that a slow one costs no more memory than a quick one.
final class NewsListener: Sendable {
  private struct State: Sendable {
    /// Nil: everything that comes is kept until it is known what is of interest.
    var interest: Interest?
    var missed = KeyChanges()
    var sources: Set<GarageChanges.Source> = []
    var isEnded = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  /// The number of the garage that it listens to.
  let garage: UInt64
  /// Says whether other processes have changed the garage's store; nil where none can.
  let signal: (any ChangeSignaling)?
  private let state: Mutex<State>

  init(_ garage: Garage, interest: Interest? = nil) {
    self.garage = garage.number
    let driver = garage.store.driver
    signal = driver.info.isSharedAcrossProcesses ? driver as? any ChangeSignaling : nil
    state = Mutex(State(interest: interest))
  }

  /// Tells it of a commit.
  func tell(_ changes: KeyChanges, _ source: GarageChanges.Source) {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if let interest = state.interest, !changes.concern(interest) { return nil }
      state.missed.add(changes)
      state.sources.insert(source)
      // Without an interest it reads, and does not wait.
      return state.waiting.take()
    }
    waiting?.resume()
  }

  /// Tells it that the garage is closed.
  func end() {
    let waiting = state.withLock { state in
      state.isEnded = true
      return state.waiting.take()
    }
    waiting?.resume()
  }

  /// Waits until there is something; returns what was missed, and nil when the task was cancelled or the garage closed.
  nonisolated(nonsending)
    func next() async -> (changes: KeyChanges, sources: Set<GarageChanges.Source>)?
  {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let isReady = state.withLock { state in
          if !state.missed.isEmpty || state.isEnded || Task.isCancelled { return true }
          state.waiting = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.take() }?.resume()
    }
    return state.withLock { state in
      if state.missed.isEmpty { return nil }
      defer { (state.missed, state.sources) = (KeyChanges(), []) }
      return (state.missed, state.sources)
    }
  }

  /// Keeps all that comes from here on, and forgets what came before: it is about to read.
  func beginReading() {
    state.withLock { state in
      state.interest = nil
      (state.missed, state.sources) = (KeyChanges(), [])
    }
  }

  /// Keeps of what came meanwhile, and of all that comes, what concerns what was read.
  func endReading(_ interest: Interest) {
    state.withLock { state in
      state.interest = interest
      if !state.missed.concern(interest) { (state.missed, state.sources) = (KeyChanges(), []) }
    }
  }
}

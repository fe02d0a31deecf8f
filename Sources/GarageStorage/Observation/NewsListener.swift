internal import GarageDriver
internal import Synchronization

/// Somebody who waits for news. Holds what was missed, merged, so that a slow one costs no more memory than a quick one.
final class NewsListener: Sendable {
  private struct State: Sendable {
    /// Nil: everything that comes is kept until it is known what is of interest.
    var interest: Interest?
    var missed = MissedChanges()
    /// Whether there is news, where that is all that anybody asks.
    var isConcerned = false
    var sources: Set<GarageChanges.Source> = []
    var isEnded = false
    var waiting: CheckedContinuation<Void, Never>?
    /// Whether it rests before it waits for more. Whoever parks thousands of objects, batch after batch, would wake it for
    /// each of them, and that takes as long as fifty objects.
    var rests = false
    var lastNews: ContinuousClock.Instant?

    /// It rests from the time on when it hears of hundreds of objects twice within the time of a rest.
    mutating func noteNews() {
      let now = ContinuousClock.now
      rests = missed.isMuch && (rests || lastNews.map { now - $0 < NewsListener.rest } ?? false)
      lastNews = now
    }

    var hasNews: Bool { isConcerned || !missed.isEmpty }

    mutating func forget() { (missed, isConcerned, sources) = (MissedChanges(), false, []) }
  }

  /// The number of the garage that it listens to.
  let garage: UInt64
  /// Says whether other processes have changed the garage's store; nil where none can.
  let signal: (any ChangeSignaling)?
  /// The storage of the garage, which others may close, where it signals nothing.
  let storage: ObjectIdentifier?
  /// Whether it is asked what changed, and not only whether anything did.
  private let keepsChanges: Bool
  /// Whether it knows already that there is news, and asks for no more than that. Says without a lock what `state` says: a slow
  /// one is told once, however many commits there are.
  private let knows = Atomic<Bool>(false)
  private let state: Mutex<State>

  /// How long it rests where one large commit follows the other: longer than a commit of thousands of objects takes, and half of
  /// the time that a picture stays on a screen.
  private static let rest = Duration.milliseconds(8)

  init(_ garage: Garage, keepsChanges: Bool = false) {
    self.garage = garage.number
    self.keepsChanges = keepsChanges
    let driver = garage.store.driver
    storage = NewsHub.silentStorage(driver)
    signal = driver.info.isSharedAcrossProcesses ? driver as? any ChangeSignaling : nil
    state = Mutex(State(interest: keepsChanges ? .everything : nil))
  }

  /// Whether one more commit would be nothing new to it.
  ///
  /// Asked behind the commit. One who forgets its news does so before it reads, so what it reads next has the commit, or it
  /// has forgotten them before this is asked.
  @inline(__always)
  var isToldAlready: Bool { knows.load(ordering: .sequentiallyConsistent) }

  /// Tells it of a commit, which need not concern it.
  func tell(_ log: ChangeLog, _ source: GarageChanges.Source) {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.isConcerned { return nil }
      if keepsChanges {
        state.missed.add(log)
        state.sources.insert(source)
      } else if let interest = state.interest {
        if !log.concerns(interest) { return nil }
        state.isConcerned = true
        knows.store(true, ordering: .sequentiallyConsistent)
      } else {
        // It reads, and does not wait.
        state.missed.add(log)
      }
      return state.waiting.take()
    }
    waiting?.resume()
  }

  /// Whether it was told that the garage is closed.
  var isEnded: Bool { state.withLock { $0.isEnded } }

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
    func next() async -> (changes: MergedChanges, sources: Set<GarageChanges.Source>)?
  {
    if state.withLock({ $0.rests }) {
      // A task that was cancelled does not.
      try? await Task.sleep(for: NewsListener.rest)
      // Where nothing came meanwhile that was for nothing, and to sleep takes longer than to be woken.
      state.withLock { $0.rests = $0.hasNews }
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let isReady = state.withLock { state in
          if state.hasNews || state.isEnded || Task.isCancelled { return true }
          state.waiting = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.take() }?.resume()
    }
    let news = state.withLock { state -> (missed: MissedChanges, sources: Set<GarageChanges.Source>)? in
      if !state.hasNews { return nil }
      defer { forget(&state) }
      state.noteNews()
      return (state.missed, state.sources)
    }
    return news.map { (MergedChanges($0.missed), $0.sources) }
  }

  /// Keeps all that comes from here on, and forgets what came before: it is about to read.
  func beginReading() {
    state.withLock { state in
      state.interest = nil
      forget(&state)
    }
  }

  /// Keeps of what came meanwhile, and of all that comes, what concerns what was read.
  func endReading(_ interest: Interest) {
    state.withLock { state in
      state.interest = interest
      let isConcerned = state.missed.concern(interest)
      forget(&state)
      state.isConcerned = isConcerned
      knows.store(isConcerned, ordering: .sequentiallyConsistent)
    }
  }

  private func forget(_ state: inout State) {
    state.forget()
    knows.store(false, ordering: .sequentiallyConsistent)
  }
}

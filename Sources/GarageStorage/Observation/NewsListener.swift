internal import GarageDriver
internal import Synchronization

/// Waits for news. It keeps the changes that were missed, merged, so that a slow listener takes no more memory than a quick
/// one.
final class NewsListener: Sendable {
  private struct State: Sendable {
    /// Nil: all changes are kept until the interest is known.
    var interest: Interest?
    var missed = MissedChanges()
    /// Whether there is news, for a listener that wants to know only that.
    var isConcerned = false
    var sources: Set<GarageChanges.Source> = []
    var isEnded = false
    var waiting: CheckedContinuation<Void, Never>?
    /// Whether it rests before it waits for more. A writer that parks thousands of objects in many batches would otherwise wake
    /// it after each batch, and waking takes as long as parking fifty objects.
    var rests = false
    var lastNews: ContinuousClock.Instant?

    /// It begins to rest when it hears of hundreds of objects twice within the time of a rest.
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
  /// Tells whether other processes have changed the garage's store; nil if none can.
  let signal: (any ChangeSignaling)?
  /// Tells whether somebody closed the storage of the garage; nil if that cannot be told.
  let closing: (any ClosedTelling)?
  /// The storage of the garage, if that signals no changes: others may close it.
  let storage: ObjectIdentifier?
  /// Whether it is asked which changes there were, and not only whether there were any.
  private let keepsChanges: Bool
  /// Whether it knows already that there is news, and wants to know no more than that. It tells without a lock what `state`
  /// says. A slow listener is so told once, however many commits there are.
  private let knows = Atomic<Bool>(false)
  private let state: Mutex<State>

  /// How long it rests when one large commit follows another. That is longer than a commit of thousands of objects takes, and
  /// half as long as a picture stays on a screen.
  private static let rest = Duration.milliseconds(8)

  init(_ garage: Garage, keepsChanges: Bool = false) {
    self.garage = garage.number
    self.keepsChanges = keepsChanges
    let driver = garage.store.driver
    storage = NewsHub.silentStorage(driver)
    signal = driver.info.isSharedAcrossProcesses ? driver as? any ChangeSignaling : nil
    let closing = driver as? any ClosedTelling
    self.closing = closing?.isClosed == nil ? nil : closing
    state = Mutex(State(interest: keepsChanges ? .everything : nil))
  }

  /// Whether something is to be looked for while it listens that nobody would tell it of.
  var mustLook: Bool { signal != nil || closing != nil }

  /// Whether one more commit would be nothing new to it.
  ///
  /// Asked after the commit. A listener forgets its news before it reads. So either its next read sees the commit, or it has
  /// forgotten the news before this is asked.
  @inline(__always)
  var isToldAlready: Bool { knows.load(ordering: .sequentiallyConsistent) }

  /// Tells it of a commit, which may or may not concern it.
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
        // It is reading, and does not wait.
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

  /// Waits until there is news. Returns the missed changes; nil when the task was cancelled or the garage closed.
  nonisolated(nonsending)
    func next() async -> (changes: MergedChanges, sources: Set<GarageChanges.Source>)?
  {
    if state.withLock({ $0.rests }) {
      // A task that was cancelled does not rest.
      try? await Task.sleep(for: NewsListener.rest)
      // If nothing came meanwhile, the rest was in vain, and sleeping takes longer than being woken.
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

  /// Called before a read. Keeps all changes from here on, and forgets those before.
  func beginReading() {
    state.withLock { state in
      state.interest = nil
      forget(&state)
    }
  }

  /// Called after a read. Keeps the changes that concern what was read, of those that came meanwhile and of all later ones.
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

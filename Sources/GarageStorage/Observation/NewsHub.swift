internal import Foundation
internal import GarageDriver
internal import Synchronization

/// Tells listeners what the garages of this process commit to one store. While anybody listens, it also looks for commits of
/// others, and whether somebody closed a storage.
final class NewsHub: Sendable {
  private struct State: Sendable {
    var listeners: [ObjectIdentifier: NewsListener] = [:]
    var index = NewsIndex()
    /// The last mark of each garage's storage, by the garage's number.
    var lastMarks: [UInt64: UInt64] = [:]
    var isPolling = false
  }

  /// How often commits of others are looked for.
  static let pollMilliseconds: UInt32 = 100
  /// How soon they are looked for again if a storage could not tell, because it was just being written to. It may be so nearly
  /// all the time.
  private static let busyMilliseconds: UInt32 = 5

  private let state = Mutex(State())
  /// Tells without a lock which changes nobody wants to hear of.
  let filter = NewsFilter()
  private let listenerCount = Atomic<Int>(0)
  private let lastNumber = Atomic<UInt64>(0)

  /// Whether changes have to be noted.
  @inline(__always)
  var isHeard: Bool { listenerCount.load(ordering: .acquiring) > 0 }

  // MARK: Listening

  /// Adds a listener, which is told of everything from here on.
  func add(_ listener: NewsListener) {
    listenerCount.add(1, ordering: .sequentiallyConsistent)
    // Done before the listener reads: a commit that this mark does not cover changes the mark again.
    let mark = listener.signal.flatMap { try? $0.foreignChangeMark() }
    let mustPoll = state.withLock { state in
      state.listeners[ObjectIdentifier(listener)] = listener
      state.index.set(.everything, of: listener, filter)
      if let mark, state.lastMarks[listener.garage] == nil { state.lastMarks[listener.garage] = mark }
      if state.isPolling || !listener.mustLook { return false }
      state.isPolling = true
      return true
    }
    if mustPoll, !WorkerThreads.shared.runElsewhere({ self.poll() }) { pollInTask() }
  }

  /// Restricts a listener that was added: from here on it is told only of changes that concern `interest`.
  func set(_ interest: Interest, of listener: NewsListener) {
    state.withLock { $0.index.set(interest, of: listener, filter) }
  }

  func remove(_ listener: NewsListener) {
    let wasThere = state.withLock { state in
      state.index.set(nil, of: listener, filter)
      return state.listeners.removeValue(forKey: ObjectIdentifier(listener)) != nil
    }
    if wasThere { listenerCount.subtract(1, ordering: .relaxed) }
  }

  /// Ends all listeners of a garage, or those of another garage on the storage that was closed with it.
  ///
  /// It takes the lock even if there are none: a listener that is added afterwards then sees that the garage is closed.
  func end(garage: UInt64, closing driver: (any StorageDriver)? = nil) {
    let storage = driver.flatMap { NewsHub.silentStorage($0) }
    let all = state.withLock { state in
      state.listeners.values.filter { $0.garage == garage || storage != nil && $0.storage == storage }
    }
    for listener in all { listener.end() }
  }

  /// The storage, if it signals no changes, so that it is not polled; nil if it does, or if it is no object.
  static func silentStorage(_ driver: any StorageDriver) -> ObjectIdentifier? {
    if let driver = driver as? any ChangeSignaling, driver.signalsChanges { return nil }
    return NewsOrigin.of(driver)
  }

  // MARK: Telling

  /// The number of a commit, for a thread that is about to make it.
  func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

  /// Tells of a commit.
  ///
  /// - Parameter isUnsaved: whether only the garage itself sees the changes.
  func tell(_ log: ChangeLog, from garage: UInt64, isUnsaved: Bool = false) {
    if log.isEmpty || !filter.mayConcern(log) { return }
    let concerned = state.withLock { $0.index.concerned(by: log) }
    for listener in concerned where !isUnsaved || listener.garage == garage {
      listener.tell(log, listener.garage == garage ? .thisGarage : .thisProcess)
    }
  }

  // MARK: Others

  private func poll() {
    while let pause = pollOnce() { usleep(pause * 1000) }
  }

  /// Does the same where there is no thread for it. One look does not wait for anybody.
  private func pollInTask() {
    Task.detached { [self] in
      while let pause = pollOnce() { try? await Task.sleep(for: .milliseconds(pause)) }
    }
  }

  /// Looks whether others have committed, or closed a storage. Returns in how many milliseconds to look again; nil if nobody
  /// listens any more.
  private func pollOnce() -> UInt32? {
    let looking = state.withLock { state -> [NewsListener] in
      // One of each garage, as they all would see the same.
      let looking = Dictionary(
        state.listeners.values.lazy.filter { $0.mustLook }.map { ($0.garage, $0) }, uniquingKeysWith: { $1 })
      if looking.isEmpty { state.isPolling = false }
      state.lastMarks = state.lastMarks.filter { looking[$0.key]?.signal != nil }
      return Array(looking.values)
    }
    if looking.isEmpty { return nil }
    var isBusy = false
    for one in looking {
      let garage = one.garage
      if one.closing?.isClosed == true {
        end(garage: garage)
        continue
      }
      guard let signal = one.signal else { continue }
      let found: UInt64?
      do { found = try signal.foreignChangeMark() } catch {
        // Closed by another garage on the storage, or by somebody who uses the storage itself.
        if (error as? StorageError)?.kind == .closed { end(garage: garage) }
        continue
      }
      guard let mark = found else {
        if signal.signalsChanges { isBusy = true }
        continue
      }
      let listeners = state.withLock { state -> [NewsListener] in
        if state.lastMarks.updateValue(mark, forKey: garage) == mark { return [] }
        return state.listeners.values.filter { $0.garage == garage }
      }
      for listener in listeners { listener.tell(.everything, .anotherProcess) }
    }
    return isBusy ? NewsHub.busyMilliseconds : NewsHub.pollMilliseconds
  }
}

internal import Dispatch
internal import GarageDriver
internal import Synchronization

/// The gate of a garage's writes to a storage whose writes run beside each other (`StorageInfo.writersConflict`): it lets in
/// any number at a time, or one alone.
///
/// A write is let in alone if it saves unsaved changes, adds to them or drops them, or if it has been in conflict too often.
/// The gate is entered before the storage's transaction begins, in order of coming, and belongs to a thread: a write of a
/// thread that is inside goes through, and is left to the storage to refuse. A thread that is inside a transaction already asks
/// the storage before it waits here, because two threads in the gates of two garages on one store would wait for each other for
/// ever.
final class SharingGate: Sendable {
  private struct State {
    var sharerCount = 0
    var isTakenAlone = false
    var waiting: [(isAlone: Bool, semaphore: DispatchSemaphore)] = []
  }

  private let state = Mutex(State())
  /// Marks the threads that are inside. Never closed.
  private let lifetime: StorageLifetime

  /// Throws where the storage would refuse the calling thread a write.
  private let checkWrite: @Sendable () throws -> Void

  init(_ driver: any StorageDriver, name: String) {
    lifetime = StorageLifetime(driver: name)
    checkWrite = { _ = try driver.write { _ in .rollBack(()) } }
  }

  /// Whether the calling thread is inside.
  var isEntered: Bool { lifetime.isInsideTransaction }

  /// Runs `body` alone, or beside others that are not.
  func enter<R>(alone: Bool, _ body: () throws -> R) throws -> R {
    if isEntered { return try body() }
    if !admitAtOnce(alone: alone) {
      if CommitQueue.isPassed { try checkWrite() }
      wait(alone: alone)
    }
    defer { leave(alone: alone) }
    return try lifetime.withCall(body)
  }

  /// Lets the thread in if it need not wait.
  private func admitAtOnce(alone: Bool) -> Bool { state.withLock { Self.admitAtOnce(alone, &$0) } }

  private static func admitAtOnce(_ alone: Bool, _ state: inout State) -> Bool {
    let isFree = !state.isTakenAlone && (!alone || state.sharerCount == 0)
    // Behind the threads that wait already, so that none waits for ever.
    guard isFree && state.waiting.isEmpty else { return false }
    admit(alone, &state)
    return true
  }

  private func wait(alone: Bool) {
    let semaphore = state.withLock { state -> DispatchSemaphore? in
      if Self.admitAtOnce(alone, &state) { return nil }
      let semaphore = DispatchSemaphore(value: 0)
      state.waiting.append((alone, semaphore))
      return semaphore
    }
    semaphore?.wait()
  }

  private func leave(alone: Bool) {
    state.withLock { state in
      if alone { state.isTakenAlone = false } else { state.sharerCount -= 1 }
      while let first = state.waiting.first {
        if state.isTakenAlone || (first.isAlone && state.sharerCount > 0) { return }
        Self.admit(first.isAlone, &state)
        state.waiting.removeFirst().semaphore.signal()
      }
    }
  }

  private static func admit(_ alone: Bool, _ state: inout State) {
    if alone { state.isTakenAlone = true } else { state.sharerCount += 1 }
  }
}

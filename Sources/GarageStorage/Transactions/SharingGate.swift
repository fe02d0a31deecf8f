internal import Dispatch
internal import GarageDriver
internal import Synchronization

/// Who writes through a garage to a storage whose writes run beside each other (`StorageInfo.writersConflict`): any number
/// at a time, or one alone.
///
/// Alone is who saves unsaved changes, adds to them or drops them, and who has been in conflict too often. It is entered
/// before the storage's transaction begins, in order of coming, and belongs to a thread: what is asked for inside goes
/// through. So a write inside a write is the storage's to refuse.
final class SharingGate: Sendable {
  private struct State {
    var sharerCount = 0
    var isTakenAlone = false
    var waiting: [(isAlone: Bool, semaphore: DispatchSemaphore)] = []
  }

  private let state = Mutex(State())
  /// Marks the threads that are inside. Never closed.
  private let lifetime: StorageLifetime

  init(driver: String) { lifetime = StorageLifetime(driver: driver) }

  /// Whether the calling thread is inside.
  var isEntered: Bool { lifetime.isInsideTransaction }

  /// Runs `body` alone, or beside others that are not.
  func enter<R>(alone: Bool, _ body: () throws -> R) throws -> R {
    if isEntered { return try body() }
    wait(alone: alone)
    defer { leave(alone: alone) }
    return try lifetime.withCall(body)
  }

  private func wait(alone: Bool) {
    let semaphore = state.withLock { state -> DispatchSemaphore? in
      let isFree = !state.isTakenAlone && (!alone || state.sharerCount == 0)
      // Behind those that wait already, so that nobody waits for ever.
      if isFree && state.waiting.isEmpty {
        Self.admit(alone, &state)
        return nil
      }
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

internal import GarageDriver
internal import Synchronization

/// Lets one task at a time change a key that several tasks change at once.
final class KeyTurns: Sendable {
  private struct Waiter: Sendable {
    let number: UInt64
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State: Sendable {
    var lastNumber: UInt64 = 0
    /// The waiting tasks, by key. A key that is listed is taken.
    var waiters: [StorageKey: WaitingLine<Waiter>] = [:]
    /// The tasks that were cancelled before they began to wait.
    var cancelled: Set<UInt64> = []
  }

  private let state = Mutex(State())

  /// Waits for the turn of a key. ``end(_:)`` has to follow, unless this throws.
  ///
  /// - Throws: `CancellationError`.
  nonisolated(nonsending)
    func wait(for key: StorageKey) async throws
  {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<Void, any Error>? = state.withLock { state in
          if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
          if state.waiters[key] == nil {
            state.waiters[key] = WaitingLine()
            return .success(())
          }
          state.waiters[key]?.append(Waiter(number: number, continuation: continuation))
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> Waiter? in
        let waiter = state.waiters[key]?.remove { $0.number == number }
        if waiter == nil { state.cancelled.insert(number) }
        return waiter
      }
      waiter?.continuation.resume(throwing: CancellationError())
    }
    state.withLock { _ = $0.cancelled.remove(number) }
  }

  /// Gives the turn to the next.
  func end(_ key: StorageKey) {
    let next = state.withLock { state -> Waiter? in
      let first = state.waiters[key]?.popFirst()
      if first == nil { state.waiters[key] = nil }
      return first
    }
    next?.continuation.resume()
  }
}

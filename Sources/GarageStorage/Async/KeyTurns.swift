internal import GarageDriver
internal import Synchronization

/// Lets one task at a time change a key that several tasks change at once.
final class KeyTurns: Sendable {
  private typealias Line = WaitingLine<CheckedContinuation<Void, any Error>>

  private struct State: Sendable {
    var lastNumber: UInt64 = 0
    /// The waiting tasks, by key. A key that is listed is taken.
    var lines: [StorageKey: Line] = [:]
    /// The places of the waiting tasks, by their numbers.
    var tickets: [UInt64: Line.Ticket] = [:]
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
          if state.lines[key] == nil {
            state.lines[key] = Line()
            return .success(())
          }
          state.tickets[number] = state.lines[key]?.append(continuation)
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        let ticket = state.tickets.removeValue(forKey: number)
        let waiter = ticket.flatMap { state.lines[key]?.remove($0) }
        if waiter == nil { state.cancelled.insert(number) }
        return waiter
      }
      waiter?.resume(throwing: CancellationError())
    }
    state.withLock { state in
      state.cancelled.remove(number)
      state.tickets[number] = nil
    }
  }

  /// Gives the turn to the next.
  func end(_ key: StorageKey) {
    let next = state.withLock { state in
      let first = state.lines[key]?.popFirst()
      if first == nil { state.lines[key] = nil }
      return first
    }
    next?.resume()
  }
}

internal import Dispatch
internal import Foundation
internal import Synchronization

/// Pieces of work that a call shares with the machine's other cores.
///
/// The caller makes the pieces, one after another. Tasks do them as they come; the caller does those that nobody has begun
/// when there are too many of them, and when it is through. So nobody waits for work that nobody does: a call on one of
/// the few threads that tasks share hangs nothing, and goes on alone where no other thread is free.
///
/// The tasks see the task-local values of the caller, which users' code may ask for, and bear the marks of the caller's
/// transactions: whoever waited for one of these to end would wait for the caller, which waits for the tasks.
final class SharedWork<Piece: AnyObject & Sendable>: Sendable {
  private struct State: Sendable {
    /// Pieces that nobody has begun, in their order.
    var waiting: [Piece] = []
    /// Tasks that were begun and have not found that there is nothing to do, and those that are at a piece.
    var helperCount = 0
    var busyCount = 0
    /// Whether the caller waits for the last of these.
    var isAwaited = false
    /// Does a piece; nil when all is over, so that a task which comes late holds nothing of the caller's.
    var work: (@Sendable (Piece) -> Void)?
  }

  private let state = Mutex(State())
  private let transactions = OpenTransactions()
  private let lastEnded = DispatchSemaphore(value: 0)

  /// How many pieces wait before the caller does one itself: enough that no task finds none.
  private static var maximumWaitingCount: Int { 2 * CoreCount.helpers + 1 }

  /// - Parameter work: does a piece; on any thread. Is let go by ``end()``.
  init(_ work: @escaping @Sendable (Piece) -> Void) {
    state.withLock { $0.work = work }
  }

  /// Adds a piece, and does one where too many wait.
  func add(_ piece: Piece) {
    let (needsHelper, hasTooMany) = state.withLock { state in
      state.waiting.append(piece)
      let needsHelper = state.helperCount < min(CoreCount.helpers, state.waiting.count)
      if needsHelper { state.helperCount += 1 }
      return (needsHelper, state.waiting.count > SharedWork.maximumWaitingCount)
    }
    if needsHelper { Task { help() } }
    if hasTooMany, let (piece, work) = next(isHelper: false) { work(piece) }
  }

  /// Does what nobody has begun, and waits for what others have.
  func finish() {
    while let (piece, work) = next(isHelper: false) { work(piece) }
    let isAwaited = state.withLock { state in
      state.isAwaited = state.busyCount > 0
      return state.isAwaited
    }
    if isAwaited { lastEnded.wait() }
  }

  /// Drops what nobody has begun, and waits for what others have. Has to be called once, last.
  func end() {
    state.withLock { $0.waiting = [] }
    finish()
    state.withLock { $0.work = nil }
  }

  private func help() {
    while let (piece, work) = next(isHelper: true) {
      transactions.marking { work(piece) }
      let isLast = state.withLock { state in
        state.busyCount -= 1
        return state.busyCount == 0 && state.isAwaited
      }
      if isLast { lastEnded.signal() }
    }
  }

  private func next(isHelper: Bool) -> (piece: Piece, work: @Sendable (Piece) -> Void)? {
    state.withLock { state in
      guard let work = state.work, !state.waiting.isEmpty else {
        if isHelper { state.helperCount -= 1 }
        return nil
      }
      if isHelper { state.busyCount += 1 }
      return (state.waiting.removeFirst(), work)
    }
  }
}

/// The cores of this machine.
enum CoreCount {
  /// How many besides that of the caller work for one call. More than these wait for the caller to read.
  static let helpers = min(ProcessInfo.processInfo.activeProcessorCount - 1, 3)
}

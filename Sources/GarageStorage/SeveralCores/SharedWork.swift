internal import Dispatch
internal import Foundation
internal import Synchronization

/// Pieces of work that a call shares with the machine's other cores.
///
/// The caller makes the pieces one after another, and tasks do them as they come. The caller itself does pieces that nobody has
/// begun, when too many of them wait and when it has made the last. So nobody waits for a piece that nobody does. A call on one
/// of the few threads that tasks share blocks nothing, and works alone if no other thread is free.
///
/// The tasks see the caller's task-local values, which users' code may ask for. Their threads are marked with the caller's
/// transactions: waiting for one of these to end would be waiting for the caller, which waits for the tasks.
final class SharedWork<Piece: AnyObject & Sendable>: Sendable {
  private struct State: Sendable {
    /// The pieces that nobody has begun, in their order.
    var waiting: [Piece] = []
    /// How many tasks were begun and have not yet found that there is nothing to do, and how many of them work on a piece.
    var helperCount = 0
    var busyCount = 0
    /// Whether the caller waits for the last of these tasks.
    var isAwaited = false
    /// Does a piece. It is nil when everything is over, so that a late task holds nothing of the caller's.
    var work: (@Sendable (Piece) -> Void)?
  }

  private let state = Mutex(State())
  private let transactions = OpenTransactions()
  private let lastEnded = DispatchSemaphore(value: 0)

  /// How many pieces wait before the caller does one itself. It is enough that every task finds one.
  private static var maximumWaitingCount: Int { 2 * CoreCount.helpers + 1 }

  /// - Parameter work: does a piece, on any thread. It is released by ``end()``.
  init(_ work: @escaping @Sendable (Piece) -> Void) {
    state.withLock { $0.work = work }
  }

  /// Adds a piece. Does a piece if too many wait.
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

  /// Does the pieces that nobody has begun, and waits for those that others have.
  func finish() {
    while let (piece, work) = next(isHelper: false) { work(piece) }
    let isAwaited = state.withLock { state in
      state.isAwaited = state.busyCount > 0
      return state.isAwaited
    }
    if isAwaited { lastEnded.wait() }
  }

  /// Drops the pieces that nobody has begun, and waits for those that others have. It has to be called once, last.
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
  /// How many other cores work for one call at most. More than these would wait for the caller to read.
  static let helpers = min(ProcessInfo.processInfo.activeProcessorCount - 1, 3)
}

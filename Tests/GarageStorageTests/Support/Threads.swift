import Dispatch
import Foundation
import Synchronization

/// Threads of their own: dispatch queues have no more than there are processors.
enum Threads {
  /// Runs `body` on so many threads, all at once, and waits for all; throws the first error.
  static func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let group = DispatchGroup()
    let first = ErrorBox()
    for index in 0..<count {
      group.enter()
      Thread.detachNewThread {
        do { try body(index) } catch { first.set(error) }
        group.leave()
      }
    }
    group.wait()
    if let error = first.value { throw error }
  }

  private final class ErrorBox: Sendable {
    private let error = Mutex<(any Error)?>(nil)
    func set(_ error: any Error) { self.error.withLock { $0 = $0 ?? error } }
    var value: (any Error)? { error.withLock { $0 } }
  }
}

/// Runs `body` on that many threads at once, and waits for all. Throws the first error of one.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ thread: Int) throws -> Void) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for thread in 0..<count {
      group.addTask {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
          Thread.detachNewThread { continuation.resume(with: Result { try body(thread) }) }
        }
      }
    }
    try await group.waitForAll()
  }
}

import Foundation
import Testing

/// Runs `body` on a thread with a stack of 512 KiB, as threads have on Apple systems.
func onSmallStack<R>(_ body: @escaping () throws -> R) throws -> R {
  let outcome = ThreadOutcome<R>(body)
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    outcome.run()
    done.signal()
  }
  thread.stackSize = 512 << 10
  thread.start()
  done.wait()
  return try #require(outcome.result).get()
}

private final class ThreadOutcome<R>: @unchecked Sendable {
  private let body: () throws -> R
  private(set) var result: Result<R, any Error>?
  init(_ body: @escaping () throws -> R) { self.body = body }
  func run() { result = Result { try body() } }
}

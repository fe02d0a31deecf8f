import Dispatch
import Foundation

/// A thread of its own that runs `body`.
func startThread(_ body: @escaping @Sendable () -> Void) -> RunningThread {
  let running = RunningThread()
  let thread = Thread {
    body()
    running.finished.signal()
  }
  thread.stackSize = 1 << 20
  thread.start()
  return running
}

struct RunningThread: Sendable {
  let finished = DispatchSemaphore(value: 0)
  func wait() { finished.wait() }
}

extension DispatchSemaphore {
  /// Waits from an asynchronous function.
  func waitOffThread() async {
    await withCheckedContinuation { continuation in
      Thread { [self] in
        wait()
        continuation.resume()
      }.start()
    }
  }
}

internal import Dispatch

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// An event that happens once, and that other threads can wait for.
final class Signal: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func raise() { semaphore.signal() }

  func wait() {
    semaphore.wait()
    semaphore.signal()
  }

  /// Whether it happened within so many seconds.
  func wait(seconds: Double) -> Bool {
    guard semaphore.wait(timeout: .now() + seconds) == .success else { return false }
    semaphore.signal()
    return true
  }
}

/// Lets the calling thread sleep.
func pause(milliseconds: Int) { pauseMicroseconds(milliseconds * 1000) }

/// Lets the calling thread sleep.
func pauseMicroseconds(_ count: Int) { usleep(UInt32(count)) }

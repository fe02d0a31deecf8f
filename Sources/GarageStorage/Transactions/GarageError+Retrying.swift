internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Runs `body` again where an engine asks for another try: with growing pauses, up to `attempts` times, and
/// none beyond two seconds after the beginning, since engines wait by themselves before they ask.
///
/// - Parameter isClocked: false where nothing waits: the seconds then count from the first failure, and a call that
///   succeeds at once need not ask for the time.
func retrying<R>(_ attempts: Int = 10, isClocked: Bool = true, _ body: () throws -> R) throws -> R {
  var start = isClocked ? ContinuousClock.now : nil
  var pause: UInt32 = 500
  for _ in 0..<max(0, attempts) {
    do { return try body() } catch {
      guard GarageError.isRetryable(error) else { throw error }
      let now = ContinuousClock.now
      guard now - (start ?? now) < .seconds(2) else { throw error }
      if start == nil { start = now }
      usleep(UInt32.random(in: pause / 2...pause))
      pause = min(pause * 2, 100_000)
    }
  }
  return try body()
}

extension GarageError {
  /// Whether the driver says so, directly or through a verb in a closure of the user's.
  static func isRetryable(_ error: any Error) -> Bool {
    switch error {
    case let error as StorageError: error.isRetryable
    case let error as GarageError: error.isRetryable
    case let error as UsersError: isRetryable(error.error)
    default: false
    }
  }
}

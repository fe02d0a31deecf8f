internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Runs `body` again where an engine asks for another try: with growing pauses, up to ten times, and
/// none beyond two seconds after the beginning, since engines wait by themselves before they ask.
///
/// Where writes run beside each other, a conflict is nothing unusual, and engines do not wait before they tell. So
/// there are up to a hundred tries after conflicts, for ten seconds; and from the third one on no other write of the
/// garage runs meanwhile.
///
/// - Parameters:
///   - attempts: how often at most, conflicts included, where a caller says so.
///   - isClocked: false where nothing waits: the seconds then count from the first failure, and a call that
///     succeeds at once need not ask for the time.
///   - gate: where writes run beside each other.
///   - expectsConflicts: whether they run beside each other, where there is no gate yet.
///   - isRead: whether `body` only reads. A read is in no other call's way, so no try of it excludes writes.
func retrying<R>(
  _ attempts: Int? = nil, isClocked: Bool = true, _ gate: SharingGate? = nil,
  expectsConflicts: Bool = false, isRead: Bool = false, _ body: () throws -> R
) throws -> R {
  var retries = Retries(
    attempts, isClocked: isClocked, expectsConflicts: expectsConflicts || gate != nil)
  while true {
    do {
      guard !isRead, retries.needsToBeAlone, let gate else { return try body() }
      return try gate.enter(alone: true, body)
    } catch {
      guard let pause = retries.pause(after: error) else { throw error }
      usleep(pause)
    }
  }
}

/// How often, and how soon, a call is made again.
struct Retries {
  private let expectsConflicts: Bool
  /// A plain number. Only the runtime knows how large a `ContinuousClock.Instant` is, and would be asked each time that a value
  /// with one is copied or released, which is in each write.
  private var start: UInt64?
  private var nextPause: UInt32 = 500
  private var failuresLeft: Int
  private var conflictsLeft: Int
  private var conflictCount = 0

  /// The longest pause between two tries, in microseconds.
  private static let longestPause: UInt32 = 100_000

  init(_ attempts: Int?, isClocked: Bool, expectsConflicts: Bool) {
    self.expectsConflicts = expectsConflicts
    start = isClocked ? Self.now : nil
    failuresLeft = max(0, attempts ?? 10)
    conflictsLeft = max(0, attempts ?? 100)
  }

  /// Nanoseconds of a clock that never goes back.
  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Whether no other write of this garage should run beside the next try.
  var needsToBeAlone: Bool { conflictCount >= 3 }

  /// How long to wait before the next try, in microseconds; nil where there is none.
  mutating func pause(after error: any Error) -> UInt32? {
    guard GarageError.isRetryable(error) else { return nil }
    let now = Self.now
    let passed = Duration.nanoseconds(now - (start ?? now))
    if start == nil { start = now }
    if expectsConflicts && GarageError.isConflict(error) {
      conflictCount += 1
      conflictsLeft -= 1
      // However long other writes took, there has to be at least one try without any beside it.
      guard conflictsLeft >= 0, passed < .seconds(10) || conflictCount < 5 else { return nil }
    } else {
      failuresLeft -= 1
      guard failuresLeft >= 0, passed < .seconds(2) else { return nil }
    }
    defer { nextPause = min(nextPause * 2, Self.longestPause) }
    return UInt32.random(in: nextPause / 2...nextPause)
  }
}

extension GarageError {
  /// Whether another transaction came first, as a driver says, directly or through a verb in a closure of the user's.
  static func isConflict(_ error: any Error) -> Bool { isOf(.conflict, error) }

  /// Whether a driver could not find out what became of a commit.
  static func isOutcomeUnknown(_ error: any Error) -> Bool { isOf(.outcomeUnknown, error) }

  private static func isOf(_ kind: StorageError.Kind, _ error: any Error) -> Bool {
    switch error {
    case let error as StorageError: error.kind == kind
    case GarageError.storage(let error): error.kind == kind
    case let error as UsersError: isOf(kind, error.error)
    default: false
    }
  }

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

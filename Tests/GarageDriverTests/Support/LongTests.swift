import Foundation

/// Tests of full size that take minutes.
enum LongTests {
  /// Whether they run: `GARAGE_LONG_TESTS=1`.
  static let areWanted = ProcessInfo.processInfo.environment["GARAGE_LONG_TESTS"] == "1"
}

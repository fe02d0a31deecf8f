import Foundation

/// Whether tests of full size run that take minutes: `GARAGE_LONG_TESTS=1`.
let runsLongTests = ProcessInfo.processInfo.environment["GARAGE_LONG_TESTS"] == "1"

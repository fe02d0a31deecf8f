/// The reason why the demo ends early: a message for standard error, and the exit code.
struct DemoError: Error, Equatable {
  var message: String
  var exitCode: Int32

  /// The command line is wrong (`EX_USAGE` of sysexits.h).
  static func usage(_ message: String) -> DemoError { DemoError(message: message, exitCode: 64) }

  /// The input or the store is wrong, or a name in them.
  static func failed(_ message: String) -> DemoError { DemoError(message: message, exitCode: 1) }
}

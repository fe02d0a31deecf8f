import Foundation
import Testing

/// The other process: `GarageChild`, built beside the test bundle.
///
/// No `Process`: where a test run has more than 1300 files open, and tests that wait keep theirs, Foundation on Linux may read behind
/// the end of the memory in which it lists them before each start, and end the run.
final class Child {
  private let (input, output, errors) = (Pipe(), Pipe(), Pipe())
  private let identifier: pid_t
  /// How it ended, as `waitpid` says.
  private var end: Int32?

  /// Where the programs are that were built with the tests.
  static let folder: URL = {
    #if canImport(Darwin)
      Bundle(for: Child.self).bundleURL.deletingLastPathComponent()
    #else
      (Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]))
        .deletingLastPathComponent()
    #endif
  }()

  /// Starts a process with these arguments.
  ///
  /// - Parameter program: the name of an executable that was built with the tests.
  init(_ arguments: String..., program: String = "GarageChild") throws {
    let path = Child.folder.appendingPathComponent(program).path
    identifier = try Child.start(
      path, arguments, input.fileHandleForReading, output.fileHandleForWriting, errors.fileHandleForWriting)
    // Each end has one owner: so the other side learns when this one is gone.
    for handle in [input.fileHandleForReading, output.fileHandleForWriting, errors.fileHandleForWriting] {
      try handle.close()
    }
  }

  private static func start(
    _ path: String, _ arguments: [String], _ input: FileHandle, _ output: FileHandle, _ errors: FileHandle
  ) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, handle) in [input, output, errors].enumerated() {
      posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, Int32(number))
    }
    // The pipes of other children, which would never end.
    #if canImport(Darwin)
      var attributes: posix_spawnattr_t?
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
    #else
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      // Swift's overlay of glibc does not have it.
      typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
      let symbol = try #require(dlsym(nil, "posix_spawn_file_actions_addclosefrom_np"))
      _ = unsafeBitCast(symbol, to: CloseFrom.self)(&actions, 3)
    #endif
    var texts = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for text in texts { free(text) } }
    var identifier: pid_t = 0
    let code = posix_spawn(&identifier, path, &actions, &attributes, &texts, environ)
    if code != 0 { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
    return identifier
  }

  /// Waits until it has ended; returns how, as `waitpid` says.
  @discardableResult
  private func waitForEnd() -> Int32 {
    if let end { return end }
    var end: Int32 = 0
    while waitpid(identifier, &end, 0) < 0 && errno == EINTR {}
    self.end = end
    return end
  }

  /// Sends a line.
  func send(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// Waits for the first line, which ends with a line feed.
  func firstLine() throws -> String {
    String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
  }

  /// Ends the process at once, as `kill -9` does, when it has printed so many bytes; returns all that it printed.
  func kill(after byteCount: Int) throws -> String {
    var text = Data()
    while text.count < byteCount {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { break }
      text += more
    }
    Foundation.kill(identifier, SIGKILL)
    waitForEnd()
    text += try output.fileHandleForReading.readToEnd() ?? Data()
    return String(decoding: text, as: UTF8.self)
  }

  /// Ends the process at once, whatever it is doing.
  func kill() {
    Foundation.kill(identifier, SIGKILL)
    waitForEnd()
  }

  /// Waits for the process to end well; returns what it printed since.
  func lines() throws -> String {
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let end = waitForEnd()
    let message = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let signal = end & 0x7F
    #expect(end == 0, "\(signal == 0 ? "status \(end >> 8)" : "signal \(signal)"): \(message)")
    return text
  }

  /// Waits for the process to end well; returns what it printed since, by name.
  @discardableResult
  func wait() throws -> [String: String] {
    let pairs = try lines().split(whereSeparator: \.isWhitespace).compactMap { word -> (String, String)? in
      let parts = word.split(separator: "=", maxSplits: 1)
      return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }
    return Dictionary(pairs) { _, last in last }
  }
}

/// Whether tests of full size run that take minutes: `GARAGE_LONG_TESTS=1`.
let runsLongTests = ProcessInfo.processInfo.environment["GARAGE_LONG_TESTS"] == "1"

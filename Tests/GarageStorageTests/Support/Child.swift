import Foundation
import Synchronization
import Testing

/// The other process: `GarageChild`, built beside the test bundle.
///
/// No `Process`: where a test run has more than 1300 files open, and tests that wait keep theirs, Foundation on Linux may read behind
/// the end of the memory in which it lists them before each start, and end the run.
final class Child {
  private let (input, output, errors) = (Pipe(), Pipe(), Pipe())
  private let end: End

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
    end = End(
      try Child.start(
        path, arguments, input.fileHandleForReading, output.fileHandleForWriting, errors.fileHandleForWriting)
    )
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
    end.kill()
    _ = end.wait()
    text += try output.fileHandleForReading.readToEnd() ?? Data()
    return String(decoding: text, as: UTF8.self)
  }

  /// Ends the process at once, whatever it is doing.
  func kill() {
    end.kill()
    _ = end.wait()
  }

  /// Waits for the process to end well; returns what it printed since.
  func lines() throws -> String {
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let end = self.end.wait()
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

/// How a process ends. A thread waits for that from the start: as long as one has ended that nobody has waited for, the testing
/// library, which waits for the processes of exit tests, asks for ended processes again and again and keeps a core busy.
private final class End: Sendable {
  private let identifier: pid_t
  /// What `waitpid` says, once it has ended.
  private let status = Mutex<Int32?>(nil)
  private let hasEnded = DispatchSemaphore(value: 0)

  init(_ identifier: pid_t) {
    self.identifier = identifier
    let thread = Thread { [self] in
      // Without taking it away, so that nobody kills another process that has its identifier.
      var information = siginfo_t()
      while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
      status.withLock { status in
        var end: Int32 = 0
        while waitpid(identifier, &end, 0) < 0 && errno == EINTR {}
        status = end
      }
      hasEnded.signal()
    }
    thread.stackSize = 256 << 10
    thread.start()
  }

  /// Ends it at once, if it has not ended yet.
  func kill() { status.withLock { status in if status == nil { _ = Foundation.kill(identifier, SIGKILL) } } }

  /// Waits until it has ended; returns how.
  func wait() -> Int32 {
    hasEnded.wait()
    // For whoever waits next.
    hasEnded.signal()
    return status.withLock { $0 ?? 0 }
  }
}

/// Whether tests of full size run that take minutes: `GARAGE_LONG_TESTS=1`.
let runsLongTests = ProcessInfo.processInfo.environment["GARAGE_LONG_TESTS"] == "1"

import Foundation
import Testing

/// The other process: `GarageChild`, built beside the test bundle.
final class Child {
  private let process = Process()
  private let (input, output, errors) = (Pipe(), Pipe(), Pipe())

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
    process.executableURL = Child.folder.appendingPathComponent(program)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    try process.run()
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
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    text += try output.fileHandleForReading.readToEnd() ?? Data()
    return String(decoding: text, as: UTF8.self)
  }

  /// Ends the process at once, whatever it is doing.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits for the process to end well; returns what it printed since.
  func lines() throws -> String {
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    let message = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let end = "\(process.terminationReason == .exit ? "status" : "signal") \(process.terminationStatus)"
    #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(end): \(message)")
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

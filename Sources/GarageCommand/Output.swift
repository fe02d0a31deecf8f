import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Lines for standard output and standard error.
enum Output {
  /// Writes a line to standard output. If that fails, as on a full disk, the command says so and ends.
  static func write(_ text: String) {
    guard let code = writeAll(text + "\n", to: STDOUT_FILENO) else { return }
    complain("standard output cannot be written: \(String(cString: strerror(code)))")
    end(CommandFailure.findingStatus)
  }

  /// Writes a line to standard error, if anybody reads it. Text from a store cannot control the terminal.
  static func complain(_ text: String) {
    _ = writeAll("garage: " + withoutControls(text) + "\n", to: STDERR_FILENO)
  }

  /// The text with each control character replaced by its number, except line ends.
  private static func withoutControls(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      scalar.properties.generalCategory == .control && scalar != "\n"
        ? "\\u{\(String(scalar.value, radix: 16, uppercase: true))}" : String(scalar)
    }.joined()
  }

  static func end(_ status: Int32) -> Never { exit(status) }

  /// The text as it is, or quoted if it has characters that could control a terminal.
  static func quotedIfOdd(_ text: String) -> String {
    text.unicodeScalars.contains { $0.properties.generalCategory == .control } ? text.debugDescription : text
  }

  /// Writes JSON with sorted keys, in several lines.
  static func json(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    write(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  /// Writes JSON in one line, for answers of several lines.
  static func jsonLine(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    write(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  /// Writes columns: numbers to the right, the last column as it is.
  static func table(_ rows: [[String]]) {
    guard let first = rows.first else { return }
    let widths = first.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for row in rows {
      let cells = row.indices.map { column in
        column == row.count - 1
          ? row[column] : String(repeating: " ", count: widths[column] - row[column].count) + row[column]
      }
      write(cells.joined(separator: "  "))
    }
  }
}

/// Shows how far a long command is, on a terminal only.
struct ProgressLine {
  private let isShown = isatty(STDERR_FILENO) == 1
  private let title: String

  init(_ title: String) { self.title = title }

  func show(_ completed: Int, of total: Int) {
    guard isShown, total > 0 else { return }
    _ = writeAll("\r\(title) \(completed * 100 / total) %", to: STDERR_FILENO)
  }

  func end() {
    if isShown { _ = writeAll("\r\u{1B}[K", to: STDERR_FILENO) }
  }
}

/// Writes a whole text to a file. Returns the number of the system's error if that fails.
private func writeAll(_ text: String, to file: Int32) -> Int32? {
  var rest = ArraySlice(Array(text.utf8))
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    if count >= 0 {
      rest = rest.dropFirst(count)
    } else if errno == EAGAIN {
      // Somebody else has made the file nonblocking.
      var look = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
      _ = poll(&look, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return nil
}

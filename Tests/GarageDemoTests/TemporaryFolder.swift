import Foundation

/// A folder for one test, removed at its end.
struct TemporaryFolder {
  private let url: URL

  static func with<R>(_ body: (TemporaryFolder) throws -> R) throws -> R {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "garage-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    return try body(TemporaryFolder(url: url))
  }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Writes `text` to a new file and returns its path.
  func file(_ name: String, _ text: String) -> String {
    let path = path(name)
    _ = FileManager.default.createFile(atPath: path, contents: Data(text.utf8))
    return path
  }
}

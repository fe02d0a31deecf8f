import Foundation

/// A folder that is deleted with its owner.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "garage-sqlite-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String = "store.garage") -> URL { url.appending(path: name) }

  func size(_ name: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file(name).path)
    return (attributes?[.size] as? Int) ?? 0
  }
}

import Foundation

/// The sources of the checks.
enum CheckSources {
  /// Every file in `Sources/GarageConformance/Checks`, whatever folder it is in. No two have the same name.
  static func files() throws -> [URL] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let folder = root.appendingPathComponent("Sources/GarageConformance/Checks")
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
      .map { folder.appendingPathComponent($0) }
  }
}

import Foundation
import GarageDriver
import Testing

/// What stands where a store is to be made, or where it stands until it is complete.
@Suite struct PartialStoreTests {
  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "garage-partial-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  private func make(_ url: URL) throws {
    try PartialStore.make(at: url.path, makesFile: true, driver: "Test") { path in
      try Data("whole".utf8).write(to: URL(filePath: path))
    }
  }

  /// A file, and links that lead to nothing or to themselves, are in the way of the folder. They are named, and left alone.
  @Test(arguments: ["file", "link to nothing", "link to itself"])
  func somethingInThePlaceOfTheFolder(_ kind: String) throws {
    try withFolder { folder in
      let place = folder.appending(path: "copy")
      let partial = place.path + PartialStore.suffix
      switch kind {
      case "file": try Data("mine".utf8).write(to: URL(filePath: partial))
      case "link to nothing":
        try FileManager.default.createSymbolicLink(
          atPath: partial, withDestinationPath: folder.path + "/nothing")
      default: try FileManager.default.createSymbolicLink(atPath: partial, withDestinationPath: partial)
      }
      let error = try expectError(.alreadyThere) { try make(place) }
      #expect(error.message.contains(partial))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["copy.partial"])
      // With that moved away it is made.
      try FileManager.default.removeItem(atPath: partial)
      try make(place)
      #expect(try Data(contentsOf: place) == Data("whole".utf8))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["copy"])
    }
  }

  /// A link to a folder leads to where there is room for it.
  @Test func aLinkToAFolderServesAsOne() throws {
    try withFolder { folder in
      let place = folder.appending(path: "copy")
      let other = folder.appending(path: "other")
      try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
      try FileManager.default.createSymbolicLink(
        atPath: place.path + PartialStore.suffix, withDestinationPath: other.path)
      try make(place)
      #expect(try Data(contentsOf: place) == Data("whole".utf8))
      #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == [])
    }
  }
}

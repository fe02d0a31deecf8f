import Foundation
import GarageDriver
import Testing

struct RegistryTests {
  private final class Shared: Sendable {}

  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "garage-driver-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  @Test func oneFileHasOneIdentityUnderAllItsNames() throws {
    try withFolder { folder in
      let file = folder.appending(path: "file"), other = folder.appending(path: "other")
      try Data([1]).write(to: file)
      try Data([1]).write(to: other)
      let soft = folder.appending(path: "soft"), hard = folder.appending(path: "hard")
      try FileManager.default.createSymbolicLink(at: soft, withDestinationURL: file)
      try FileManager.default.linkItem(at: file, to: hard)
      let identity = try #require(FileIdentity(path: file.path))
      #expect(FileIdentity(path: soft.path) == identity)
      #expect(FileIdentity(path: hard.path) == identity)
      #expect(FileIdentity(path: other.path) != identity)
      #expect(FileIdentity(path: folder.appending(path: "none").path) == nil)
    }
  }

  @Test func anEntryIsSharedWhileItIsUsed() throws {
    try withFolder { folder in
      let registry = StoreRegistry<Shared>()
      let identity = try #require(FileIdentity(path: folder.path))
      let elsewhere = try #require(FileIdentity(path: "/"))
      var made = 0
      func make() -> Shared {
        made += 1
        return Shared()
      }
      var first: Shared? = try registry.entry(for: identity, make: make)
      let second: Shared? = try registry.entry(for: identity, make: make)
      #expect(first === second && made == 1)
      #expect(try registry.entry(for: elsewhere, make: make) !== first)
      #expect(made == 2)
      first = nil
      #expect(try registry.entry(for: identity, make: make) === second && made == 2)
    }
  }

  @Test func anEntryGoesWithItsLastUser() throws {
    let registry = StoreRegistry<Shared>()
    let identity = try #require(FileIdentity(path: "/"))
    weak var first: Shared?
    do {
      let entry = try registry.entry(for: identity) { Shared() }
      first = entry
      #expect(first != nil)
      withExtendedLifetime(entry) {}
    }
    #expect(first == nil)
    var hasMade = false
    _ = try registry.entry(for: identity) {
      hasMade = true
      return Shared()
    }
    #expect(hasMade)
  }

  @Test func anEntryThatCouldNotBeMadeIsNone() throws {
    struct Stop: Error {}
    let registry = StoreRegistry<Shared>()
    let identity = try #require(FileIdentity(path: "/"))
    #expect(throws: Stop.self) { try registry.entry(for: identity) { throw Stop() } }
    _ = try registry.entry(for: identity) { Shared() }
    #expect(!registry.isInherited(identity))
  }

  @Test func aStoreByNameIsInTheFolderForData() throws {
    let path = try DataFolder.path(forStoreNamed: "my store", driver: "Test")
    #expect(path.hasPrefix("/") && path.hasSuffix("/my store"))
    for name in ["", ".", "..", "a/b", "a\0b"] {
      try expectError(.notFound) { _ = try DataFolder.path(forStoreNamed: name, driver: "Test") }
    }
  }

  @Test func foldersAreMade() throws {
    try withFolder { folder in
      let path = folder.appending(path: "a/b/c").path
      try DataFolder.create(at: path, driver: "Test")
      try DataFolder.create(at: path, driver: "Test")
      var isFolder: ObjCBool = false
      #expect(FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue)
      let file = folder.appending(path: "file")
      try Data().write(to: file)
      try expectError(.notFound) { try DataFolder.create(at: file.path, driver: "Test") }
      try expectError(.notFound) { try DataFolder.create(at: file.path + "/inside", driver: "Test") }
    }
  }
}

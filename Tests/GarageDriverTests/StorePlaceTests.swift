import Foundation
import GarageDriver
import Testing

/// A store is recognised by its file, whatever path leads there, and found by its name.
struct StorePlaceTests {
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
      // The accent and the slash before it are one character.
      let accented = folder.path + "/d/\u{301}e"
      try DataFolder.create(at: accented, driver: "Test")
      #expect(FileIdentity(path: accented) != nil)
      var isFolder: ObjCBool = false
      #expect(FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue)
      let file = folder.appending(path: "file")
      try Data().write(to: file)
      try expectError(.notFound) { try DataFolder.create(at: file.path, driver: "Test") }
      try expectError(.notFound) { try DataFolder.create(at: file.path + "/inside", driver: "Test") }
    }
  }

  @Test func aStoreFolderIsMadeAndLookedAt() throws {
    try withFolder { folder in
      let store = StoreFolder(atPath: folder.appending(path: "a/store").path, driver: "Test")
      try expectError(.notFound) { try store.prepare(mayMake: false) }
      try store.prepare(mayMake: true)
      try store.prepare(mayMake: false)
      try expectError(.notFound) { _ = try store.identity(of: "data", mayMake: false) }
      let identity = try store.identity(of: "data", mayMake: true)
      #expect(try store.identity(of: "data", mayMake: false) == identity)
      #expect(FileIdentity(path: store.path + "/data") == identity)
      store.sync()
      let file = StoreFolder(atPath: store.path + "/data", driver: "Test")
      try expectError(.notAStorage) { try file.prepare(mayMake: true) }
      let below = StoreFolder(atPath: store.path + "/data/below", driver: "Test")
      try expectError(.notFound) { try below.prepare(mayMake: true) }
      let kinds: [(Int32, StorageError.Kind)] = [
        (ENOSPC, .storageFull), (EACCES, .permissionDenied), (EROFS, .permissionDenied), (ENOENT, .notFound),
        (EIO, .io), (EMFILE, .io), (EISDIR, .notAStorage),
      ]
      for (code, kind) in kinds {
        let error = store.error(code, during: .write)
        #expect(error.kind == kind && error.operation == .write && error.engineCode == Int(code))
        #expect(error.message.contains(store.path))
      }
    }
  }
}

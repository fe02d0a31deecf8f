import Foundation
import GarageDriver
import GarageSQLite
import Testing

/// The disk is full in the midst of a write, which SQLite then rolls back by itself, be it for a page that it cannot read.
@Suite(
  "SQLite: room that is lost in the midst of a write",
  .enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount a tmpfs"))
struct RoomLostMidwayTests {
  private let disk: SmallFileSystem
  private let storage: SQLiteStorage

  init() throws {
    disk = try SmallFileSystem(byteCount: 8 << 20)
    var options = SQLiteStorage.Options()
    // Whatever is read, a changed page has to leave the cache for it.
    options.cacheByteCount = 64 << 10
    options.memoryMapByteCount = 0
    storage = try SQLiteStorage(at: disk.url.appending(path: "store.garage"), options: options)
    for number in 0..<20 {
      try storage.put([UInt8](repeating: UInt8(number), count: 30_000), "large-\(number)")
    }
  }

  /// Changes more than the cache holds.
  private func fillCache(_ writer: any WriteTransaction) throws {
    for number in 0..<600 { try writer.put([UInt8](repeating: 7, count: 500), for: key("small-\(number)")) }
  }

  /// How many pages change behind the one that has the key decides what SQLite finds no room for: it keeps a tenth of its cache for
  /// pages that are not changed.
  @Test("Nothing commits of a write whose removal cannot look at a large value", arguments: 0..<24)
  func removal(_ changeCount: Int) throws {
    let error = try expectError(.storageFull) {
      try storage.write { writer in
        try fillCache(writer)
        _ = try writer.contains(key("large-3"))
        for number in 0..<changeCount {
          try writer.put([UInt8](repeating: 8, count: 900), for: key("small-\(number * 20)"))
          _ = try writer.contains(key("large-3"))
        }
        try disk.fill()
        _ = try? #require(writer as? any LookingRemoval).removeLooking(key("large-3").bytes.span.bytes)
        try? writer.put([9], for: key("later"))
        return .commit(())
      }
    }
    #expect(error.operation == .remove)
    #expect(try storage.count() == 20)
    #expect(try storage.value("large-3")?.count == 30_000)
    #expect(try storage.value("later") == nil)
    try storage.close()
  }

  @Test("A scan of keys ends where a get in it finds no room, and begins not again") func scan() throws {
    var seen: [[UInt8]] = []
    try expectError(.storageFull) {
      try storage.write { writer in
        try fillCache(writer)
        try writer.scanKeys(.all, .forward) { key in
          seen.append([UInt8](copying: key))
          if seen.count == 3 {
            try disk.fill()
            for number in 0..<20 {
              _ = try? writer.value(for: StorageKey(Array("large-\(number)".utf8)))
            }
          }
          return .continue
        }
        return .commit(())
      }
    }
    #expect(Set(seen).count == seen.count)
    #expect(try storage.count() == 20)
    try storage.close()
  }

  @Test("Lent bytes stay while a get finds no room") func lending() throws {
    try expectError(.storageFull) {
      try storage.write { writer in
        try fillCache(writer)
        try writer.withValue(for: key("large-1").bytes.span.bytes) { bytes in
          try disk.fill()
          for number in 2..<20 { _ = try? writer.value(for: key("large-\(number)")) }
          let isAsBefore = bytes?.withUnsafeBytes { $0.count == 30_000 && $0.allSatisfy { $0 == 1 } }
          #expect(isAsBefore == true)
        }
        return .commit(())
      }
    }
    #expect(try storage.count() == 20)
    try storage.close()
  }
}

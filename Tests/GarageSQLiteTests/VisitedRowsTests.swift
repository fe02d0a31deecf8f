import Foundation
import GarageDriver
import GarageSQLite
import Testing

/// Rows are visited while SQLite is inside their statement: what may happen there, and must not harm it.
@Suite("SQLite: inside of a visit")
struct VisitedRowsTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private struct Thrown: Error, Equatable { var depth: Int }

  private func value(_ number: Int, count: Int = 20) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count)
  }

  /// Scans inside of scans, each from another end, with a get in each visit; the innermost one throws.
  private func descend(_ depth: Int, of most: Int, _ reader: some ReadTransaction) throws {
    var visited = 0
    try reader.scan(.all, depth.isMultiple(of: 2) ? .forward : .backward) { entry, _ in
      visited += 1
      let found = try reader.withValue(for: entry) { $0?.byteCount }
      #expect(found != nil)
      if depth == most { throw Thrown(depth: depth) }
      if visited == 3 {
        try descend(depth + 1, of: most, reader)
      } else {
        // Whatever it throws inside stays inside.
        do { try reader.scanKeys(.all, .forward) { _ in throw Thrown(depth: -depth) } } catch let error
          as Thrown
        {
          #expect(error == Thrown(depth: -depth))
        }
      }
      return .continue
    }
  }

  @Test("Scans inside of scans end with the error that was thrown, and the next ones are whole")
  func scansInsideOfScans() throws {
    let storage = try SQLiteStorage(at: folder.file())
    for number in 0..<40 { try storage.put(value(number), "\(number)") }
    // One with a large value, so that both tables are read.
    try storage.put(value(1, count: 50_000), "large")
    for most in [0, 1, 7, 80] {
      #expect(throws: Thrown(depth: most)) { try storage.read { try descend(0, of: most, $0) } }
      #expect(throws: Thrown(depth: most)) {
        try storage.write { writer in
          try descend(0, of: most, writer)
          return .commit(())
        }
      }
      #expect(try storage.count() == 41)
    }
  }

  @Test(
    "A write that finds no room in the middle of a scan fails, harms nothing, and room heals",
    .enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount a tmpfs"),
    arguments: [3, 17, 40])
  func noRoomInsideOfAScan(step: Int) throws {
    let disk = try SmallFileSystem(byteCount: 8 << 20)
    let file = disk.url.appending(path: "store.garage")
    var options = SQLiteStorage.Options()
    // What is read pushes what was written out of such a cache, and into the log.
    options.cacheByteCount = 256 << 10
    let storage = try SQLiteStorage(at: file, options: options)
    try storage.write { writer in
      for number in 0..<2000 { try writer.put(value(number, count: 900), for: key(number)) }
      return .commit(())
    }
    let ballast = try disk.fill()
    try expectError(.storageFull) {
      try storage.write { writer in
        for round in 0..<200 {
          try writer.put(value(round + 1, count: 900), for: key(round * step))
          try writer.scan(.all, .forward) { entry, bytes in
            let count = try writer.withValue(for: entry) { $0?.byteCount }
            #expect(count == bytes.byteCount)
            return .continue
          }
        }
        return .commit(())
      }
    }
    #expect(try storage.count() == 2000)
    try FileManager.default.removeItem(at: ballast)
    try storage.put(value(7), "after")
    #expect(try storage.count() == 2001)
    #expect(try storage.read { try $0.value(for: key(step)) } == value(step, count: 900))
    try storage.close()
    #expect(try RawDatabase(file).run("PRAGMA integrity_check") == "ok")
  }
}

internal import GarageDriver

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

enum RoomChecks {
  /// Adds checks of writes that find no room, in a child whose files may not grow: a full disk on a small scale.
  static func add(to topic: inout CheckTopic) {
    #if os(Linux) || os(macOS) || os(FreeBSD)
      let rule =
        "A write for which there is no room throws a StorageError, leaves no trace, and never ends the process."
      let shapes: [(name: String, byteCount: Int, writes: Int, putsInEach: Int)] = [
        ("one-large-value", 3 << 20, 3, 1), ("large-values", 64 << 10, 400, 1),
        ("many-small-values", 100, 3, 40_000), ("many-writes", 8000, 1500, 3),
      ]
      for shape in shapes {
        topic.add("no-room-for-\(shape.name)", rule, where: .isDurable) { fixture in
          let (child, place) = try fixture.startChildWithoutRoom()
          let answer = child.ask("fill \(shape.byteCount) \(shape.writes) \(shape.putsInEach)")
          if answer == "never" { return fixture.skip(hasRoom) }
          let words = answer.split(separator: " ").map(String.init)
          guard words.count == 2, let writeCount = Int(words[0]), isNoRoom(words[1]) else {
            throw fixture.failure("write to throw storageFull, or io", answer)
          }
          let count = "\(2 + writeCount * shape.putsInEach)"
          try fixture.expectEqual(child.ask("count"), count, "the number of keys that the child then finds")
          try fixture.expectContents(at: place, count: count, after: child)
        }
      }

      // The larger sizes are more than an engine keeps in memory, so that it writes, and fails, before the commit.
      for (byteCount, total) in [(100, 4 << 20), (5000, 64 << 20), (300_000, 64 << 20)] {
        topic.add(
          "no-room-swallowed-with-\(byteCount)-bytes",
          "Once any operation failed, also in the engine, the commit throws the first such error.",
          where: .isDurable
        ) { fixture in
          let (child, place) = try fixture.startChildWithoutRoom()
          let answer = child.ask("swallow \(byteCount) \(total / byteCount)")
          if answer == "never" { return fixture.skip(hasRoom) }
          let words = answer.split(separator: " ").map(String.init)
          try fixture.expect(
            words.count == 2 && ["first", "at-commit"].contains(words[0]) && isNoRoom(words[1]),
            "the commit to throw the error of the put that failed", seen: answer)
          try fixture.expectEqual(child.ask("count"), "2", "the number of keys that the child then finds")
          try fixture.expectContents(at: place, count: "2", after: child)
        }
      }
    #endif
  }
}

#if os(Linux) || os(macOS) || os(FreeBSD)
  private let hasRoom = "the driver had room, although no file of its process could grow: it writes elsewhere"

  private func isNoRoom(_ kind: String) -> Bool {
    // An engine that does not know such a limit reports it as another failure of writing.
    ["storageFull", "io", "engine"].contains(kind)
  }

  extension Fixture {
    /// A child with a store of two keys. Its files may grow to one MiB more than the size that the largest has now.
    fileprivate func startChildWithoutRoom(file: StaticString = #fileID, line: UInt = #line) throws
      -> (ChildProcess, ConformancePlace)
    {
      let place = newPlace()
      let child = try startChild(at: place, file: file, line: line)
      try expectEqual(child.ask("put a 1"), "ok", "the child's put, with room", file: file, line: line)
      try expectEqual(child.ask("put b 2"), "ok", "the child's put, with room", file: file, line: line)
      let folder = place.url.deletingLastPathComponent()
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      let largest =
        files.compactMap { path in
          let attributes = try? FileManager.default.attributesOfItem(
            atPath: folder.appendingPathComponent(path).path)
          guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
          return attributes?[.size] as? Int
        }
        .max() ?? 0
      try expectEqual(child.ask("limit \(largest + (1 << 20))"), "ok", "the limit", file: file, line: line)
      return (child, place)
    }

    /// Expects so many keys in the store that the child leaves, and that the store takes writes again.
    fileprivate func expectContents(
      at place: ConformancePlace, count: String, after child: ChildProcess, file: StaticString = #fileID,
      line: UInt = #line
    ) throws {
      try expectEqual(child.ask("exit"), "ok", "the child's end", file: file, line: line)
      child.kill()
      let storage = try open(place, file: file, line: line)
      let seen = try storage.read { try $0.keys().count }
      try expectEqual("\(seen)", count, "the number of keys that are left", file: file, line: line)
      let values = [try storage.text("a"), try storage.text("b")]
      try expectEqual(values, ["1", "2"], "what was there before", file: file, line: line)
      try storage.put(["a": "with room again"], file: file, line: line)
      let value = try storage.text("a")
      try expectEqual(value, "with room again", "a put with room", file: file, line: line)
    }
  }
#endif

internal import GarageDriver

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

enum OpeningChecks {
  /// Adds checks of the other effects of opening: which store it finds, and what it keeps open.
  static func add(to topic: inout CheckTopic) {
    addPathChecks(to: &topic)
    addDescriptorChecks(to: &topic)
  }
}

private func addPathChecks(to topic: inout CheckTopic) {
  let rule = "All values on one store share its commits and its writer, by whichever path it was opened."
  for (name, path) in otherPaths {
    topic.add("one-store-\(name)", rule) { fixture in
      // Made by the plain path and found by the other one, and the other way round.
      for isMadeByOther in [false, true] {
        let place = fixture.newPlace()
        let other = ConformancePlace(name: place.name, path: try path(place))
        let first = try fixture.open(isMadeByOther ? other : place)
        try first.put(["a": "1"])
        let second = try fixture.open(isMadeByOther ? place : other)
        try fixture.expectContents(of: second, ["a": "1"], "the store by its second path, \(other.path)")
        try second.put(["b": "2"])
        try fixture.expectContents(of: first, ["a": "1", "b": "2"], "the store by its first path")
        for (outer, inner) in [(first, second), (second, first)] {
          try outer.commit { transaction in
            try transaction.set("a", "changed")
            try fixture.expectContents(
              of: inner, ["a": "1", "b": "2"], "a read inside the write, by another path")
            try fixture.expectError(.nestedWrite, from: "a write inside a write, by another path") {
              try inner.put(["c": "3"])
            }
            try transaction.set("a", "1")
          }
        }
        try fixture.expectContents(of: second, ["a": "1", "b": "2"], "the store by its second path")
      }
    }
  }

  topic.add("one-store-through-a-link-to-itself", rule + " A link to the store itself may be refused.") {
    fixture in
    let place = fixture.newPlace()
    let first = try fixture.open(place)
    try first.put(["a": "1"])
    let link = place.path + "-link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: place.path)
    let second: any StorageDriver
    do { second = try fixture.open(ConformancePlace(name: place.name, path: link)) } catch is StorageError {
      return
    }
    try fixture.expectContents(of: second, ["a": "1"], "the store by a link")
    try first.commit { transaction in
      try transaction.set("b", "2")
      try fixture.expectError(.nestedWrite, from: "a write inside a write, by a link") {
        try second.put(["c": "3"])
      }
    }
    try second.put(["c": "3"])
    try fixture.expectContents(of: first, ["a": "1", "b": "2", "c": "3"], "the store by its path")
  }
}

/// Other spellings of a place's path.
private let otherPaths: [(String, @Sendable (ConformancePlace) throws -> String)] = [
  (
    "through-a-linked-folder",
    { place in
      let folder = place.url.deletingLastPathComponent()
      let link = folder.appendingPathComponent("link-\(place.url.lastPathComponent)").path
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
      return "\(link)/\(place.url.lastPathComponent)"
    }
  ),
  (
    "by-a-detour",
    { place in
      let folder = place.url.deletingLastPathComponent().path
      let detour = "detour-\(place.url.lastPathComponent)"
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(detour)", withIntermediateDirectories: true)
      return "\(folder)/./\(detour)/..//\(place.url.lastPathComponent)"
    }
  ),
  (
    "by-a-relative-path",
    { place in
      let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
      return String(repeating: "../", count: depth) + place.path.drop { $0 == "/" }
    }
  ),
]

private func addDescriptorChecks(to topic: inout CheckTopic) {
  topic.add(
    "opening-and-closing-leak-nothing", "close gives back what the value holds, file descriptors included."
  ) {
    fixture in
    let count = 24
    #if os(Linux) || os(macOS) || os(FreeBSD)
      if fixture.options.childExecutable != nil {
        // Done in a child, where nobody else opens anything meanwhile.
        let child = try fixture.startChild(at: fixture.newPlace())
        let answer = child.ask("leak \(count)")
        guard let leakCount = Int(answer) else {
          throw fixture.failure("the child to open \(count) times", answer)
        }
        // A few may belong to the runtime.
        return try fixture.expect(
          leakCount < count / 4, "as many open descriptors as before \(count) times of opening and closing",
          seen: "\(leakCount) more")
      }
    #endif
    // Other tests open and close files of their own in this process meanwhile, so the result of most rounds counts.
    var (cleanCount, leakCount) = (0, 0)
    while cleanCount < 4 && leakCount < 4 {
      let leaked = try ChildCommands.leakedDescriptorCount(count, fixture.newPlace()) {
        try fixture.openUntracked($0)
      }
      if leaked < count / 2 { cleanCount += 1 } else { leakCount += 1 }
    }
    try fixture.expect(
      leakCount < 4, "as many open descriptors as before \(count) times of opening and closing",
      seen: "at least \(count / 2) more, \(leakCount) times out of \(cleanCount + leakCount)")
  }
}

internal import GarageDriver
internal import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

enum ClaimChecks {
  /// A driver's ``StorageInfo`` must claim neither too much nor too little. The checks of each promise find claims that are too
  /// large; these find claims that are too small, which would let a driver skip checks.
  static func add(to topic: inout CheckTopic) {
    addDurabilityChecks(to: &topic)
    addWaitingChecks(to: &topic)
    addSealingChecks(to: &topic)
  }
}

private func addDurabilityChecks(to topic: inout CheckTopic) {
  let rule = "isDurable says whether a committed write survives the end of the process that made it."
  topic.add("what-passes-is-in-no-file", rule, where: .isNotDurable) { fixture in
    let place = fixture.newPlace()
    let storage = try fixture.open(place)
    try storage.put(["a": "1", "b": "2"])
    for moment in ["while the store was open", "after it was closed"] {
      // The present content of the files is what a process that ended now would leave.
      let copy = try fixture.copy(of: place)
      let seen = (try? fixture.open(copy).read { try $0.entries() }) ?? []
      try fixture.expect(
        seen != [Entry("a", "1"), Entry("b", "2")],
        "isDurable to be true, or files without what was committed",
        seen: "a copy of the files, made \(moment), that holds everything")
      try storage.close()
    }
  }

  #if os(Linux) || os(macOS) || os(FreeBSD)
    topic.add("what-passes-ends-with-its-process", rule, where: .isNotDurable && .hasChild) { fixture in
      var survivalCount = 0
      for round in 0..<3 {
        fixture.atStep(round)
        let place = fixture.newPlace()
        let child = try fixture.startChild(at: place)
        try fixture.expectEqual(child.ask("put a \(round)"), "ok", "the child's put")
        child.kill()
        let storage = try fixture.openUntracked(place)
        if try storage.text("a") == "\(round)" { survivalCount += 1 }
        try storage.close()
      }
      try fixture.expect(
        survivalCount < 3, "isDurable to be true, or a commit to be lost with its process",
        seen: "three processes killed right after a commit, which was there each time")
    }
  #endif
}

private func addWaitingChecks(to topic: inout CheckTopic) {
  topic.add(
    "waiting-readers-wait", "readsDuringWrite says whether readers neither wait for the writer nor block it.",
    where: .readersWait
  ) { fixture in
    let storage = try fixture.newStore(holding: ["a": "old"])
    // Long enough for a reader that does not wait. A reader that waits makes the check take that long.
    let patience = 3.0
    let (reader, passes) = try storage.commit { transaction in
      try transaction.set("a", "new")
      let reader = Worker { _ = try storage.text("a") }
      return (reader, reader.wait(seconds: patience))
    }
    try reader.join()
    // It is enough that one of the two waits.
    guard passes else { return }
    let (begun, written) = (Signal(), Signal())
    let waitedInVain = Atomic<Bool>(false)
    let blocker = Worker {
      try storage.read { _ in
        begun.raise()
        if !written.wait(seconds: patience) { waitedInVain.store(true, ordering: .sequentiallyConsistent) }
      }
    }
    begun.wait()
    try storage.put(["a": "newer"])
    written.raise()
    try blocker.join()
    try fixture.expect(
      waitedInVain.load(ordering: .sequentiallyConsistent),
      "readsDuringWrite to be true, or somebody to wait",
      seen: "a reader that ended during a write, and a write that ended during a read")
  }
}

private func addSealingChecks(to topic: inout CheckTopic) {
  topic.add(
    "sealed-values-are-in-no-file", "isSealed says whether values are encrypted before they are stored.",
    where: .isSealed
  ) {
    fixture in
    let place = fixture.newPlace()
    let storage = try fixture.open(place)
    let (small, large) = (PatternlessBytes.slice(0, 40), PatternlessBytes.slice(100, 40_000))
    try storage.commit { transaction in
      try transaction.put(small.bytes, for: [1].span.bytes)
      try transaction.put(large.bytes, for: [2].span.bytes)
    }
    for moment in ["while the store was open", "after it was closed"] {
      for file in try fixture.files(at: place) {
        guard let content = try? Data(contentsOf: file) else { continue }
        for value in [small, large] {
          let isPlain = content.withUnsafeBytes { holds($0, Array(value.prefix(32))) }
          try fixture.expect(
            !isPlain, "no file with the bytes of a value",
            seen: "\(file.lastPathComponent) holds them, \(moment)")
        }
      }
      try storage.close()
    }
  }
}

/// Whether `bytes` contain `wanted` anywhere.
private func holds(_ bytes: UnsafeRawBufferPointer, _ wanted: [UInt8]) -> Bool {
  guard let base = bytes.baseAddress, bytes.count >= wanted.count else { return false }
  let first = UInt64(littleEndian: wanted.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
  var offset = 0
  while offset &+ wanted.count <= bytes.count {
    if UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) == first,
      bytes[offset..<(offset + wanted.count)].elementsEqual(wanted)
    {
      return true
    }
    offset &+= 1
  }
  return false
}

extension Fixture {
  /// The files of a store: the one at its path, and those beside it whose names begin with its name.
  fileprivate func roots(at place: ConformancePlace) throws -> [String] {
    let folder = place.url.deletingLastPathComponent().path
    let name = place.url.lastPathComponent
    return try FileManager.default.contentsOfDirectory(atPath: folder).filter { other in
      // Not the files of store-10 for store-1.
      other.hasPrefix(name) && other.dropFirst(name.count).first?.isNumber != true
    }
  }

  /// All files of a store, including those in its folder.
  fileprivate func files(at place: ConformancePlace) throws -> [URL] {
    try roots(at: place).flatMap { root in
      let url = place.url.deletingLastPathComponent().appendingPathComponent(root)
      let inside = (try? FileManager.default.subpathsOfDirectory(atPath: url.path)) ?? []
      return [url] + inside.map { url.appendingPathComponent($0) }
    }
  }

  /// A place with a copy of the files of the store at another place.
  fileprivate func copy(of place: ConformancePlace) throws -> ConformancePlace {
    let copy = newPlace()
    let folder = place.url.deletingLastPathComponent()
    for root in try roots(at: place) {
      let name = copy.url.lastPathComponent + root.dropFirst(place.url.lastPathComponent.count)
      // Sockets and similar files are not copied.
      try? FileManager.default.copyItem(
        at: folder.appendingPathComponent(root), to: folder.appendingPathComponent(name))
    }
    return copy
  }
}

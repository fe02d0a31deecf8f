internal import GarageDriver
internal import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Checks of `BackingUp`, `Compacting` and `IntegrityChecking`, for drivers that conform to them. They check nothing on other
/// drivers, nor on decorators that throw `notSupported` because the driver they wrap does not conform.
enum CareChecks {
  static func add(to topic: inout CheckTopic) {
    addBackupChecks(to: &topic)
    addEndedBackupChecks(to: &topic)
    addCompactionChecks(to: &topic)
    addClosedChecks(to: &topic)
    addIntegrityChecks(to: &topic)
  }
}

private func addBackupChecks(to topic: inout CheckTopic) {
  for isCompacting in [false, true] {
    topic.add(
      "a-\(isCompacting ? "compact-" : "")backup-is-of-one-commit",
      "A backup holds one committed state, whatever others write meanwhile, and holds up nobody."
    ) { fixture in
      let storage = try fixture.newStore()
      let generation = Atomic<Int>(0)
      let isOver = Atomic<Bool>(false)
      @Sendable func putNext() throws {
        let next = generation.load(ordering: .sequentiallyConsistent) + 1
        try storage.commit { transaction in
          for number in 0..<60 { try transaction.put(number: number, version: UInt32(next)) }
        }
        generation.store(next, ordering: .sequentiallyConsistent)
      }
      try putNext()
      guard try fixture.backUp(storage, to: fixture.newPlace(), compacting: isCompacting) else { return }
      let writer = Worker {
        while !isOver.load(ordering: .sequentiallyConsistent) {
          try putNext()
          pause(milliseconds: 1)
        }
      }
      defer { isOver.store(true, ordering: .sequentiallyConsistent) }
      let place = fixture.newPlace()
      var callCount = 0
      try fixture.backUp(storage, to: place, compacting: isCompacting) { _, _ in
        callCount += 1
        // `progress` may be called once or often. The writer goes on before the backup does.
        if callCount > 1 { return }
        let start = generation.load(ordering: .sequentiallyConsistent)
        for _ in 0..<20_000 where generation.load(ordering: .sequentiallyConsistent) < start + 2 {
          if writer.wait(seconds: 0) { break }
          pause(milliseconds: 1)
        }
        let written = generation.load(ordering: .sequentiallyConsistent) - start
        try fixture.expect(
          written >= 2 || writer.wait(seconds: 0), "others to write during a backup",
          seen: "one that waits for it")
      }
      isOver.store(true, ordering: .sequentiallyConsistent)
      try writer.join()
      try fixture.expect(callCount > 0, "progress to be told", seen: "no call")
      let versions = try fixture.open(place).read { transaction in
        try transaction.entries().map { $0.value.dropFirst(4).map(\.self) }
      }
      try fixture.expectEqual(versions.count, 60, "the number of entries in the backup")
      try fixture.expect(
        Set(versions).count == 1, "60 entries of one generation", seen: "\(Set(versions).count) generations")
    }
  }
}

private func addEndedBackupChecks(to topic: inout CheckTopic) {
  topic.add(
    "a-backup-that-is-ended-leaves-nothing",
    "What progress throws ends a backup unchanged, and nothing is left at its place."
  ) { fixture in
    let storage = try fixture.newStore()
    try storage.commit { transaction in
      for number in UInt8(0)..<200 { try transaction.put(pattern(4000), for: StorageKey([number])) }
    }
    guard try fixture.backUp(storage, to: fixture.newPlace(), compacting: false) else { return }
    for isCompacting in [false, true] {
      let place = fixture.newPlace()
      let error = TestError()
      try fixture.expectUnchanged(error, from: "a backup whose progress throws") {
        try fixture.backUp(storage, to: place, compacting: isCompacting) { _, _ in throw error }
      }
      try fixture.expectEqual(try fixture.fileNames(at: place), [], "what is left of a backup that was ended")
      try fixture.backUp(storage, to: place, compacting: isCompacting)
      let count = try fixture.open(place).read { try $0.keys().count }
      try fixture.expectEqual(count, 200, "the number of keys in the next backup to that place")
    }
    try fixture.expectEqual(try storage.read { try $0.keys().count }, 200, "the number of keys in the store")
  }

  topic.add("a-backup-replaces-nothing", "Where its place is taken, a backup throws alreadyThere.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    guard try fixture.backUp(storage, to: fixture.newPlace(), compacting: false) else { return }
    let place = fixture.newPlace()
    let content = Data(bytes("somebody else's"))
    try content.write(to: place.url)
    for isCompacting in [false, true] {
      try fixture.expectError(.alreadyThere, from: "a backup to a place that is taken") {
        try fixture.backUp(storage, to: place, compacting: isCompacting)
      }
      try fixture.expect(
        try Data(contentsOf: place.url) == content, "what was there before", seen: "something else")
    }
    let own = fixture.newPlace()
    try fixture.backUp(storage, to: own, compacting: false)
    try storage.put(["a": "2"])
    try fixture.expectError(.alreadyThere, from: "a backup to the place of another one") {
      try fixture.backUp(storage, to: own, compacting: false)
    }
    try fixture.expectContents(of: try fixture.open(own), ["a": "1"], "the first backup")
  }
}

private func addCompactionChecks(to topic: inout CheckTopic) {
  topic.add(
    "compacting-changes-nothing", "What a store holds is the same when it was compacted. Readers go on."
  ) {
    fixture in
    let storage = try fixture.newStore()
    guard let compacting = storage as? any Compacting else { return }
    var expected: [Entry] = []
    try storage.commit { transaction in
      for number in UInt8(0)..<240 { try transaction.put(pattern(3000), for: StorageKey([number])) }
    }
    try storage.commit { transaction in
      for number in UInt8(0)..<240 {
        if number % 3 == 0 {
          expected.append(Entry(key: [number], value: pattern(3000)))
        } else {
          try transaction.remove(StorageKey([number]))
        }
      }
    }
    guard try fixture.compact(compacting) else { return }
    func expectAll(_ entries: [Entry], _ transaction: any ReadTransaction, _ what: String) throws {
      let seen = try transaction.entries()
      try fixture.expect(
        seen == entries, "\(entries.count) entries \(what)", seen: "\(seen.count) entries, or others")
    }
    try storage.read { try expectAll(expected, $0, "after the store was compacted") }

    // Once more beside a reader, which sees the state before a write that comes first.
    let (begun, isOver) = (Signal(), Signal())
    let before = expected
    let reader = Worker {
      defer { begun.raise() }
      try storage.read { transaction in
        begun.raise()
        isOver.wait()
        let seen = try transaction.entries()
        try fixture.expect(
          seen == before, "what an earlier reader sees to stay", seen: "\(seen.count) entries, or others")
      }
    }
    defer { isOver.raise() }
    begun.wait()
    if !storage.info.readsDuringWrite { isOver.raise() }
    try storage.commit { try $0.removeAll(in: StorageKeyRange(from: [100])) }
    expected.removeAll { $0.key[0] >= 100 }
    try fixture.compact(compacting)
    isOver.raise()
    try reader.join()
    try storage.read { try expectAll(expected, $0, "after it was compacted beside a reader") }

    // An error of `progress` ends the call, if there is any progress to report.
    let error = TestError()
    do { try fixture.compact(compacting) { _, _ in throw error } } catch let thrown as TestError {
      try fixture.expect(thrown === error, "what progress threw", seen: "another error")
    }
    try storage.commit { try $0.put([1], for: StorageKey([250])) }
    expected.append(Entry(key: [250], value: [1]))
    try storage.read { try expectAll(expected, $0, "after compacting was ended") }
  }
}

private func addClosedChecks(to topic: inout CheckTopic) {
  topic.add("not-after-close", "After close, a backup and compacting throw closed.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    let canBackUp = try fixture.backUp(storage, to: fixture.newPlace(), compacting: false)
    let compacting = storage as? any Compacting
    let canCompact = try compacting.map { try fixture.compact($0) } ?? false
    try storage.close()
    if canBackUp {
      let place = fixture.newPlace()
      try fixture.expectError(.closed, from: "a backup after close") {
        try fixture.backUp(storage, to: place, compacting: false)
      }
      try fixture.expectEqual(
        try fixture.fileNames(at: place), [], "what is left of a backup that was refused")
    }
    if canCompact, let compacting {
      try fixture.expectError(.closed, from: "compacting after close") { try fixture.compact(compacting) }
    }
  }
}

private func addIntegrityChecks(to topic: inout CheckTopic) {
  topic.add(
    "a-sound-store-has-no-complaints", "Where all is well, IntegrityChecking complains about nothing."
  ) {
    fixture in
    let storage = try fixture.newStore()
    guard let checking = storage as? any IntegrityChecking else { return }
    try fixture.expectEqual(try checking.integrityComplaints(), [], "the complaints about an empty store")
    var random = fixture.random()
    for round in 0..<8 {
      fixture.atStep(round)
      try storage.write { transaction in
        for _ in 0..<150 {
          let key = StorageKey([UInt8(random.below(200)), UInt8(random.below(3))])
          switch random.below(4) {
          case 0: try transaction.remove(key)
          case 1: try transaction.put(pattern(random.below(20_000)), for: key)
          default: try transaction.put(pattern(random.below(200)), for: key)
          }
        }
        if round % 3 == 2 { try transaction.removeAll(in: StorageKeyRange(from: [50], to: [90])) }
        return round % 4 == 3 ? .rollBack(()) : .commit(())
      }
      if round == 5, let compacting = storage as? any Compacting { try fixture.compact(compacting) }
      try fixture.expectEqual(try checking.integrityComplaints(), [], "the complaints about a sound store")
    }
  }
}

extension Fixture {
  /// Lets a storage make a copy. Returns false if it cannot.
  @discardableResult
  fileprivate func backUp(
    _ storage: any StorageDriver, to place: ConformancePlace, compacting: Bool, file: StaticString = #fileID,
    line: UInt = #line, progress: (Int, Int) throws -> Void = { _, _ in }
  ) throws -> Bool {
    guard let backingUp = storage as? any BackingUp else { return false }
    return try whereSupported(file, line) {
      try backingUp.backUp(to: place.path, compacting: compacting, progress: progress)
    }
  }

  /// Lets a storage give back space. Returns false if it cannot.
  @discardableResult
  fileprivate func compact(
    _ storage: any Compacting, file: StaticString = #fileID, line: UInt = #line,
    progress: (Int, Int) throws -> Void = { _, _ in }
  ) throws -> Bool {
    try whereSupported(file, line) { _ = try storage.compact(progress: progress) }
  }

  private func whereSupported(_ file: StaticString, _ line: UInt, _ body: () throws -> Void) throws -> Bool {
    do {
      try located(file, line, body)
      return true
    } catch let error as StorageError where error.kind == .notSupported {
      return false
    }
  }
}

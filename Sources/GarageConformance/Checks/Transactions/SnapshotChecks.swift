internal import GarageDriver
internal import Synchronization

private let rule =
  "A reader sees exactly one committed state, that of the moment the call to read entered its body."

/// Checks that a reader sees one committed state, from its beginning to its end.
enum SnapshotChecks {
  static func add(to topic: inout CheckTopic) {
    addSnapshotBeginChecks(to: &topic)
    addSnapshotLifeChecks(to: &topic)
    addManySnapshotChecks(to: &topic)
    addReaderBesideWriterChecks(to: &topic)
    addWriterBesideReaderChecks(to: &topic)
    LongSnapshotChecks.add(to: &topic)
  }
}

private func addSnapshotBeginChecks(to topic: inout CheckTopic) {
  topic.add(
    "begins-on-entry", "What is committed in between stays invisible, also before a reader's first get."
  ) {
    fixture in
    let place = fixture.newPlace()
    let storage = try fixture.open(place)
    let second = try fixture.open(place)
    try storage.put(["a": "old"])
    for writer in [storage, second] {
      try writer.put(["a": "old"])
      try storage.read { transaction in
        try writer.put(["a": "new", "b": "new"])
        try fixture.expectEqual(try transaction.text("a"), "old", "the first get")
        try fixture.expectEqual(try transaction.text("b"), nil, "a get of what came later")
        try fixture.expectEqual(try transaction.keys(), ["a"], "a scan")
      }
      try fixture.expectEqual(try storage.text("a"), "new", "the next reader's get")
      try writer.commit { try $0.delete("b") }
    }
  }

  topic.add(
    "begins-on-entry-for-scans", "What is committed in between stays invisible, also before a first scan."
  ) {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "old", "b": "old"])
    try storage.read { transaction in
      try storage.commit { transaction in
        try transaction.delete("a")
        try transaction.set("c", "new")
      }
      try fixture.expectEqual(
        try transaction.entries(), [Entry("a", "old"), Entry("b", "old")], "the first scan")
    }
  }
}

private func addSnapshotLifeChecks(to topic: inout CheckTopic) {
  topic.add("lasts-to-the-end", rule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "0", "b": "0"])
    try storage.read { transaction in
      for round in 1...50 {
        try fixture.expectEqual(try transaction.text("a"), "0", "a get after \(round - 1) commits")
        try storage.put(["a": "\(round)", "c-\(round)": "new"])
        try fixture.expectEqual(try transaction.entries(), [Entry("a", "0"), Entry("b", "0")], "a scan")
        try fixture.expectEqual(try transaction.texts(["a", "c-1"]), ["0: 0", "1: none"], "a multi-get")
      }
    }
    try fixture.expectEqual(try storage.text("a"), "50", "the next reader's get")
  }

  topic.add("keeps-what-is-removed", rule) { fixture in
    let storage = try fixture.newStore()
    let value = pattern(20_000)
    try storage.commit { transaction in
      for number in 0..<50 { try transaction.put(value, for: StorageKey([UInt8(number)])) }
    }
    try storage.read { transaction in
      try storage.commit { try $0.removeAll(in: .all) }
      // Space that was given back would be used again here.
      try storage.commit { transaction in
        for number in 100..<200 {
          try transaction.put(pattern(19_000 + number), for: StorageKey([UInt8(number)]))
        }
      }
      let seen = try transaction.entries()
      try fixture.expectEqual(
        seen.map(\.key), (0..<50).map { [UInt8($0)] }, "the keys that were removed later")
      try fixture.expect(seen.allSatisfy { $0.value == value }, "each with its value", seen: "other values")
    }
  }

  topic.add("holds-while-a-scan-runs", rule) { fixture in
    let storage = try fixture.newStore()
    try storage.commit { transaction in
      for number in 0..<100 { try transaction.set("key-\(digits(number))", "old") }
    }
    var count = 0
    try storage.read { transaction in
      try transaction.scan(.all, .forward) { key, value in
        try storage.put(["key-\(digits(99 - count))": "new", "key-\(digits(count))x": "new"])
        try fixture.expectEqual("\(text(key)): \(text(value))", "key-\(digits(count)): old", "visit \(count)")
        count += 1
        return .continue
      }
    }
    try fixture.expectEqual(count, 100, "the number of visits")
  }
}

private func addManySnapshotChecks(to topic: inout CheckTopic) {
  topic.add("many-at-a-time", rule) { fixture in
    let storage = try fixture.newStore()
    /// Opens a reader on each of 20 states, and reads from all of them while all are open.
    func open(_ open: [any ReadTransaction]) throws {
      if open.count < 20 {
        try storage.put(["generation": "\(open.count)", "key-\(open.count)": "\(open.count)"])
        try storage.read { transaction in try descend(open + [transaction]) }
      }
      for (generation, transaction) in open.enumerated() {
        try fixture.expectEqual(
          try transaction.text("generation"), "\(generation)", "the reader's generation")
        try fixture.expectEqual(try transaction.keys().count, generation + 2, "the reader's number of keys")
      }
    }
    func descend(_ transactions: [any ReadTransaction]) throws { try open(transactions) }
    try open([])
  }

  topic.add(
    "a-read-in-a-write-sees-the-last-commit", "read inside write is served at once and sees the last commit."
  ) {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "committed"])
    try storage.commit { writer in
      try writer.set("a", "own")
      try storage.read { reader in
        try fixture.expectEqual(try reader.text("a"), "committed", "a get in a read inside the write")
        try writer.set("b", "own")
        try fixture.expectEqual(try reader.keys(), ["a"], "a scan after another put")
      }
      try fixture.expectEqual(try writer.keys(), ["a", "b"], "what the write itself sees")
    }
  }

  topic.add("is-of-one-commit", "A reader sees exactly one committed state: all of a commit or nothing.") {
    fixture in
    let storage = try fixture.newStore()
    try inParallel(3) { thread in
      for generation in 1...40 {
        if thread == 0 {
          try storage.commit { transaction in
            for key in 0..<60 { try transaction.set("key-\(digits(key))", "\(generation)") }
          }
        } else {
          let values = try storage.read { try Set($0.entries().map(\.value)) }
          try fixture.expect(values.count <= 1, "60 keys of one generation", seen: "\(values.map(readable))")
        }
      }
    }
  }
}

private func addReaderBesideWriterChecks(to topic: inout CheckTopic) {
  topic.add("ignores-another-thread", rule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "old"])
    let writer = try storage.read { transaction in
      let writer = Worker { try storage.put(["a": "new", "b": "new"]) }
      // A driver whose readers block writers lets this one through later.
      if storage.info.readsDuringWrite { try writer.join() }
      try fixture.expectEqual(try transaction.entries(), [Entry("a", "old")], "what the reader sees")
      return writer
    }
    try writer.join()
    try fixture.expectContents(of: storage, ["a": "new", "b": "new"])
  }

  topic.add(
    "readers-pass-the-writer", "Where readsDuringWrite, readers do not wait for the writer.",
    where: .readsDuringWrite
  ) {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "old"])
    try storage.commit { transaction in
      try transaction.set("a", "new")
      // This thread waits for the readers, so a reader that waited for this write would never end.
      try inParallel(4) { _ in
        try fixture.expectEqual(try storage.text("a"), "old", "what another thread reads during the write")
      }
      try transaction.set("b", "new")
    }
    try fixture.expectContents(of: storage, ["a": "new", "b": "new"])
  }
}

private func addWriterBesideReaderChecks(to topic: inout CheckTopic) {
  topic.add(
    "the-writer-passes-readers", "Where readsDuringWrite, readers do not block the writer.",
    where: .readsDuringWrite
  ) {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "old"])
    let ready = [Signal(), Signal()]
    let written = Signal()
    let readers = (0..<2).map { number in
      Worker {
        // Done even if the engine refuses to read.
        defer { ready[number].raise() }
        try storage.read { transaction in
          ready[number].raise()
          written.wait()
          try fixture.expectEqual(try transaction.text("a"), "old", "what an earlier reader sees")
        }
      }
    }
    defer { written.raise() }
    ready.forEach { $0.wait() }
    for round in 0..<20 { try storage.put(["a": "\(round)"]) }
    written.raise()
    for reader in readers { try reader.join() }
  }

  topic.add(
    "waiting-readers-see-a-commit",
    "Where not readsDuringWrite, a reader that waited sees a committed state.",
    where: .readersWait
  ) {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "old"])
    let begun = Signal()
    let reader = try storage.commit { transaction in
      try transaction.set("a", "new")
      try transaction.set("b", "new")
      let reader = Worker {
        begun.raise()
        let seen = try storage.read { try $0.entries() }
        let states = [[Entry("a", "old")], [Entry("a", "new"), Entry("b", "new")]]
        try fixture.expect(states.contains(seen), "one of two committed states", seen: "\(seen)")
      }
      begun.wait()
      return reader
    }
    try reader.join()
    try fixture.expectContents(of: storage, ["a": "new", "b": "new"])
  }
}

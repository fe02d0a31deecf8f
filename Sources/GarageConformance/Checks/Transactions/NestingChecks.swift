internal import GarageDriver

/// Checks of calls inside calls.
enum NestingChecks {
  static func add(to topic: inout CheckTopic) {
    addServedChecks(to: &topic)
    addNestedWriteChecks(to: &topic)
    addSeparateWriteChecks(to: &topic)
    addReadDepthChecks(to: &topic)
    addClosureDepthChecks(to: &topic)
  }
}

private func addServedChecks(to topic: inout CheckTopic) {
  topic.add("read-in-read", "read inside read is served at once and sees the last commit.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try storage.read { outer in
      try storage.read { inner in try fixture.expectEqual(try inner.text("a"), "1", "the inner reader's get")
      }
      try storage.put(["a": "2"])
      try storage.read { inner in
        try fixture.expectEqual(try inner.text("a"), "2", "the inner reader's get after a commit")
        try fixture.expectEqual(try outer.text("a"), "1", "the outer reader's get inside the inner one")
      }
      try fixture.expectEqual(try outer.text("a"), "1", "the outer reader's get")
    }
  }

  topic.add("read-in-write", "read inside write is served at once.") { fixture in
    let place = fixture.newPlace()
    let storage = try fixture.open(place)
    let second = try fixture.open(place)
    try storage.commit { transaction in
      for round in 0..<50 {
        try transaction.set("a", "\(round)")
        try fixture.expectContents(of: storage, [:], "a read inside the write")
        try fixture.expectContents(of: second, [:], "a read through a second value")
      }
    }
    try fixture.expectContents(of: storage, ["a": "49"])
  }

  topic.add("write-in-read", "write inside read is served.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try storage.read { _ in
      try storage.read { _ in try storage.put(["b": "2"]) }
      try storage.write { transaction in
        try transaction.set("c", "lost")
        return .rollBack(())
      }
      try fixture.expectContents(of: storage, ["a": "1", "b": "2"], "a read inside the read")
    }
    try fixture.expectContents(of: storage, ["a": "1", "b": "2"])
  }

  topic.add("write-in-a-get", "write inside read is served, also while the reader's bytes are lent.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    try storage.read { transaction in
      try transaction.lend("a") { value in
        try storage.put(["a": "a longer value than before", "c": "3"])
        try fixture.expectEqual(ownedText(value), "1", "the lent bytes")
      }
      try transaction.withValues(for: [StorageKey(bytes("a")), StorageKey(bytes("b"))]) { position, value in
        try storage.put(["b": "\(position)"])
        try fixture.expectEqual(ownedText(value), "\(position + 1)", "the lent bytes")
      }
    }
    try fixture.expectContents(of: storage, ["a": "a longer value than before", "b": "1", "c": "3"])
  }
}

private let nestedWriteRule = "write inside write on one thread throws nestedWrite"

private func addNestedWriteChecks(to topic: inout CheckTopic) {
  topic.add("write-in-write", nestedWriteRule + ".") { fixture in
    let storage = try fixture.newStore()
    var hasRun = false
    try storage.commit { transaction in
      try transaction.set("a", "1")
      try fixture.expectError(.nestedWrite, from: "a write inside a write") {
        try storage.commit { _ in hasRun = true }
      }
      try transaction.set("b", "2")
    }
    try fixture.expect(!hasRun, "the inner body not to run", seen: "it ran")
    try fixture.expectContents(of: storage, ["a": "1", "b": "2"])
    try storage.put(["c": "3"])
  }

  topic.add(
    "write-in-write-through-a-second-value",
    nestedWriteRule + ", also through a second driver value on the same store."
  ) {
    fixture in
    let place = fixture.newPlace()
    let storage = try fixture.open(place)
    let second = try fixture.open(place)
    try storage.commit { transaction in
      try transaction.set("a", "1")
      try fixture.expectError(.nestedWrite, from: "a write inside a write") { try second.put(["b": "2"]) }
    }
    try second.put(["c": "3"])
    try fixture.expectContents(of: storage, ["a": "1", "c": "3"])
  }

  topic.add("write-in-read-in-write", nestedWriteRule + ", whatever lies between.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try storage.commit { transaction in
      _ = try storage.read { _ in
        try fixture.expectError(.nestedWrite, from: "a write in a read in a write") {
          try storage.put(["b": "2"])
        }
      }
      _ = try transaction.lend("a") { _ in
        try fixture.expectError(.nestedWrite, from: "a write in a get in a write") {
          try storage.put(["b": "2"])
        }
      }
    }
    try fixture.expectContents(of: storage, ["a": "1"])
  }
}

private func addSeparateWriteChecks(to topic: inout CheckTopic) {
  topic.add("write-in-write-on-another-store", "A write on another store is no nested one.") { fixture in
    let one = try fixture.newStore()
    let other = try fixture.newStore()
    try one.commit { transaction in
      try transaction.set("a", "1")
      try other.put(["b": "2"])
      try other.read { reader in try fixture.expectEqual(try reader.keys(), ["b"], "the other store") }
    }
    try fixture.expectContents(of: one, ["a": "1"], "the outer store")
    try fixture.expectContents(of: other, ["b": "2"], "the inner store")
  }

  topic.add(
    "writes-of-threads-wait",
    "Unless writersConflict, write waits for other writers; only one on the same thread is nested.",
    where: .oneWriter
  ) {
    fixture in
    let storage = try fixture.newStore()
    let begun = Signal()
    let writer = try storage.commit { transaction in
      let writer = Worker {
        begun.raise()
        try storage.commit { transaction in
          try fixture.expectEqual(try transaction.text("a"), "1", "what the second writer sees of the first")
          try transaction.set("b", "2")
        }
      }
      begun.wait()
      pause(milliseconds: 20)
      try transaction.set("a", "1")
      return writer
    }
    try writer.join()
    try fixture.expectContents(of: storage, ["a": "1", "b": "2"])
  }
}

private func addReadDepthChecks(to topic: inout CheckTopic) {
  topic.add(
    "reads-nest-64-deep", "Calls to read nest 64 deep on one thread; beyond that they throw readersFull."
  ) {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    func descend(_ depth: Int) throws {
      try storage.read { transaction in
        if depth < 64 {
          try descend(depth + 1)
        } else {
          try fixture.expectError(.readersFull, from: "a read at depth 65") { _ = try storage.text("a") }
        }
        try fixture.expectEqual(try transaction.text("a"), "1", "a get at depth \(depth)")
      }
    }
    try descend(1)
    // Everything was given back, so it works again.
    try descend(1)
  }

  topic.add("a-write-under-64-reads", "write inside read is served, however deep the reads are.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "old"])
    func descend(_ depth: Int) throws {
      try storage.read { transaction in
        if depth < 64 { try descend(depth + 1) } else { try storage.put(["a": "new"]) }
        try fixture.expectEqual(try transaction.text("a"), "old", "a get at depth \(depth)")
      }
    }
    try descend(1)
    try fixture.expectEqual(try storage.text("a"), "new", "a get afterwards")
  }

  topic.add(
    "reads-nest-on-two-threads",
    "Calls to read nest 64 deep on one thread, whatever other threads do, or as deep as the engine can."
  ) {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try inParallel(2) { _ in
      func descend(_ depth: Int) throws {
        try storage.read { transaction in
          do {
            if depth < 64 { try descend(depth + 1) }
          } catch let error as StorageError where error.kind == .readersFull {}
          try fixture.expectEqual(try transaction.text("a"), "1", "a get at depth \(depth)")
        }
      }
      try descend(1)
    }
  }
}

private func addClosureDepthChecks(to topic: inout CheckTopic) {
  topic.add("gets-nest-200-deep", "Gets nest inside each other's closures to any depth.") { fixture in
    let storage = try fixture.newStore()
    try storage.commit { transaction in
      for number in 0..<200 { try transaction.set("key-\(digits(number))", "value \(number)") }
    }
    func descend(_ depth: Int, _ transaction: any ReadTransaction, _ key: (Int) -> Int) throws {
      if depth == 200 { return }
      let number = key(depth)
      try transaction.lend("key-\(digits(number))") { value in
        try descend(depth + 1, transaction, key)
        try fixture.expectEqual(ownedText(value), "value \(number)", "the bytes lent at depth \(depth)")
      }
    }
    for key: (Int) -> Int in [{ $0 }, { _ in 7 }, { $0 % 2 }] {
      try storage.read { try descend(0, $0, key) }
      try storage.commit { try descend(0, $0, key) }
    }
  }

  topic.add("scans-nest-100-deep", "Scans nest inside each other's closures to any depth.") { fixture in
    let storage = try fixture.newStore()
    try storage.commit { transaction in
      for number in 0..<100 { try transaction.set("key-\(digits(number))", "value \(number)") }
    }
    func descend(_ depth: Int, _ transaction: any ReadTransaction) throws {
      if depth == 100 { return }
      let direction: ScanDirection = depth % 2 == 0 ? .forward : .backward
      var visits = 0
      try transaction.scan(.prefix(bytes("key-\(digits(depth))")), direction) { key, value in
        visits += 1
        try descend(depth + 1, transaction)
        let seen = "\(text(key)): \(text(value))"
        try fixture.expectEqual(
          seen, "key-\(digits(depth)): value \(depth)", "the bytes lent at depth \(depth)")
        return .continue
      }
      try fixture.expectEqual(visits, 1, "the number of visits at depth \(depth)")
    }
    try storage.read { try descend(0, $0) }
    try storage.commit { try descend(0, $0) }
  }

  topic.add("one-range-scanned-inside-itself", "Scans nest, also over the same range.") { fixture in
    let storage = try fixture.newStore()
    try storage.commit { transaction in for number in 0..<20 { try transaction.set("\(digits(number))", "x") }
    }
    try storage.read { transaction in
      var pairs: [String] = []
      try transaction.scan(.all, .forward) { outer, _ in
        try transaction.scan(.all, .backward) { inner, _ in
          pairs.append("\(text(outer))-\(text(inner))")
          return .continue
        }
        return .continue
      }
      let expected = (0..<20).flatMap { outer in (0..<20).reversed().map { "\(digits(outer))-\(digits($0))" }
      }
      try fixture.expectEqual(pairs, expected, "the pairs of keys")
    }
  }
}

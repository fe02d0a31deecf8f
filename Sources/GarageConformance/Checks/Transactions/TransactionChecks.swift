internal import GarageDriver
internal import Synchronization

/// Checks of commits, of rolling back, and of errors.
enum TransactionChecks {
  static func add(to topic: inout CheckTopic) {
    addResultChecks(to: &topic)
    addErrorChecks(to: &topic)
    addRollBackChecks(to: &topic)
    addCommitChecks(to: &topic)
  }
}

private func addResultChecks(to topic: inout CheckTopic) {
  topic.add("a-new-store-is-empty", "A store at a place where there was nothing holds nothing.") { fixture in
    try fixture.expectContents(of: try fixture.newStore(), [:])
  }

  topic.add("read-runs-its-body-once", "The body of read runs exactly once per call.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    var count = 0
    let value = try storage.read { transaction in
      count += 1
      return try transaction.text("a")
    }
    try fixture.expectEqual(count, 1, "the number of times the body ran")
    try fixture.expectEqual(value, "1", "what read returns")
  }

  topic.add("write-runs-its-body-once", "The body of write runs exactly once per call.") { fixture in
    let storage = try fixture.newStore()
    var count = 0
    let committed = try storage.write { transaction in
      count += 1
      try transaction.set("a", "1")
      return .commit(17)
    }
    try fixture.expectEqual(count, 1, "the number of times a committing body ran")
    try fixture.expectEqual(committed, 17, "what a committing write returns")
    let rolledBack = try storage.write { _ in
      count += 1
      return .rollBack("given up")
    }
    try fixture.expectEqual(count, 2, "the number of times two bodies ran")
    try fixture.expectEqual(rolledBack, "given up", "what write returns from .rollBack")
  }

  topic.add("a-failing-body-runs-once", "The body runs exactly once per call, also where it throws.") {
    fixture in
    let storage = try fixture.newStore()
    var count = 0
    try fixture.swallowing {
      try storage.write { transaction -> TransactionOutcome<Void> in
        count += 1
        try transaction.set("a", "1")
        throw StorageError(.busy, during: .put, driver: "test", isRetryable: true, message: "Try again.")
      }
    }
    try fixture.swallowing {
      try storage.read { _ in
        count += 1
        throw StorageError(.conflict, during: .get, driver: "test", isRetryable: true, message: "Try again.")
      }
    }
    try fixture.expectEqual(count, 2, "the number of times two bodies ran that throw retryable errors")
  }

  topic.add("optional-results-come-back", "read and write return what their bodies return, nil included.") {
    fixture in
    let storage = try fixture.newStore()
    let none: Int? = try storage.read { _ in nil }
    try fixture.expectEqual(none, nil, "what read returns")
    let some: Int? = try storage.write { _ in .commit(5) }
    try fixture.expectEqual(some, 5, "what write returns")
  }
}

private func addErrorChecks(to topic: inout CheckTopic) {
  topic.add("read-passes-errors-on", "An error that the body throws leaves the call unchanged.") { fixture in
    let storage = try fixture.newStore()
    let error = TestError()
    try fixture.expectUnchanged(error, from: "read") { try storage.read { _ in throw error } }
    try fixture.expectUnchanged(error, from: "a get's closure in read") {
      try storage.read { transaction in try transaction.lend("a") { _ in throw error } }
    }
    try storage.put(["a": "1"])
    try fixture.expectContents(of: storage, ["a": "1"])
  }

  topic.add("write-passes-errors-on", "An error that the body throws leaves the call unchanged.") { fixture in
    let storage = try fixture.newStore()
    let error = TestError()
    try fixture.expectUnchanged(error, from: "write") {
      try storage.write { _ -> TransactionOutcome<Void> in throw error }
    }
    try fixture.expectUnchanged(error, from: "a get's closure in write") {
      try storage.commit { transaction in try transaction.lend("a") { _ in throw error } }
    }
  }

  topic.add("storage-errors-of-the-body-pass", "An error that the body throws leaves the call unchanged.") {
    fixture in
    let storage = try fixture.newStore()
    let error = StorageError(
      .io, during: .scan, driver: "another", engineCode: 99, message: "A test's own error.")
    let calls: [(String, () throws -> Void)] = [
      ("read", { try storage.read { _ in throw error } }),
      ("write", { try storage.write { _ -> TransactionOutcome<Void> in throw error } }),
    ]
    for (name, call) in calls {
      do {
        try call()
        throw fixture.failure("\(name) to throw its body's error", "no error")
      } catch let seen as StorageError where !fixture.isRefusal(seen) {
        try fixture.expectEqual(seen, error, "the error that leaves \(name)")
      }
    }
  }
}

private func addRollBackChecks(to topic: inout CheckTopic) {
  let changes: [(String, @Sendable (any WriteTransaction) throws -> Void)] = [
    ("put", { try $0.set("d", "new") }),
    ("overwrite", { try $0.set("b", "changed") }),
    ("remove", { try $0.delete("b") }),
    ("remove-all", { try $0.removeAll(in: .all) }),
    (
      "many-changes",
      { transaction in
        for number in 0..<3000 {
          try transaction.set("many-\(digits(number))", String(repeating: "x", count: 200))
        }
        try transaction.delete("a")
      }
    ),
  ]
  for (name, change) in changes {
    topic.add("roll-back-undoes-\(name)", "A write that returns .rollBack leaves no trace.") { fixture in
      let place = fixture.newPlace()
      let storage = try fixture.open(place)
      try storage.put(["a": "1", "b": "2", "c": "3"])
      try storage.write { transaction in
        try change(transaction)
        return .rollBack(())
      }
      try fixture.expectContents(of: storage, ["a": "1", "b": "2", "c": "3"])
      try fixture.expectContents(
        of: try fixture.open(place), ["a": "1", "b": "2", "c": "3"], "a second value")
    }

    topic.add("throwing-undoes-\(name)", "A write whose body throws leaves no trace.") { fixture in
      let place = fixture.newPlace()
      let storage = try fixture.open(place)
      try storage.put(["a": "1", "b": "2", "c": "3"])
      let error = TestError()
      try fixture.expectUnchanged(error, from: "write") {
        try storage.write { transaction -> TransactionOutcome<Void> in
          try change(transaction)
          throw error
        }
      }
      try fixture.expectContents(of: storage, ["a": "1", "b": "2", "c": "3"])
      try fixture.expectContents(
        of: try fixture.open(place), ["a": "1", "b": "2", "c": "3"], "a second value")
    }
  }

  topic.add("writes-follow-a-roll-back", "A write that was rolled back leaves no trace.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try storage.write { transaction in
      try transaction.set("b", "lost")
      return .rollBack(())
    }
    try? storage.commit { transaction in
      try transaction.set("c", "lost")
      throw TestError()
    }
    try storage.put(["d": "4"])
    try fixture.expectContents(of: storage, ["a": "1", "d": "4"])
  }
}

private func addCommitChecks(to topic: inout CheckTopic) {
  topic.add("commits-are-seen", "A write that returns has committed: every later transaction sees it.") {
    fixture in
    let place = fixture.newPlace()
    let storage = try fixture.open(place)
    let second = try fixture.open(place)
    try storage.put(["a": "1"])
    try fixture.expectContents(of: storage, ["a": "1"])
    try fixture.expectContents(of: second, ["a": "1"], "a second value on the store")
    try second.put(["b": "2"])
    try fixture.expectContents(of: storage, ["a": "1", "b": "2"], "the first value")
    try fixture.expectEqual(try storage.commit { try $0.text("b") }, "2", "a get in a later write")
  }

  topic.add("commits-are-seen-by-threads", "Every later transaction sees a committed write, on any thread.") {
    fixture in
    let storage = try fixture.newStore()
    for round in 0..<20 {
      try storage.put(["a": "\(round)"])
      try inParallel(2) { _ in try fixture.expectEqual(try storage.text("a"), "\(round)", "the value of a") }
    }
  }

  topic.add("a-thousand-commits", "Every later transaction sees a committed write.") { fixture in
    let storage = try fixture.newStore()
    for number in 0..<1000 {
      try storage.put(["key-\(digits(number % 100))": "\(number)"])
    }
    let expected = (0..<100).map { Entry("key-\(digits($0))", "\(900 + $0)") }
    try fixture.expectEqual(try storage.read { try $0.entries() }, expected, "the entries after 1000 commits")
  }

  topic.add("an-empty-write-commits", "A write that changes nothing commits.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    for _ in 0..<10 { try storage.commit { _ in } }
    try fixture.expectContents(of: storage, ["a": "1"])
  }

  topic.add("nothing-is-seen-before-commit", "A reader sees exactly one committed state.") { fixture in
    let place = fixture.newPlace()
    let storage = try fixture.open(place)
    let second = try fixture.open(place)
    try storage.put(["a": "1"])
    try storage.commit { transaction in
      try transaction.set("a", "2")
      try transaction.set("b", "2")
      try fixture.expectContents(of: storage, ["a": "1"], "a read inside the write")
      try fixture.expectContents(of: second, ["a": "1"], "a read inside the write, through a second value")
    }
    try fixture.expectContents(of: storage, ["a": "2", "b": "2"])
  }

  topic.add("stores-are-separate", "Stores at different places share nothing.") { fixture in
    let one = try fixture.newStore(holding: ["a": "1"])
    let other = try fixture.newStore(holding: ["b": "2"])
    try fixture.expectContents(of: one, ["a": "1"], "the first store")
    try fixture.expectContents(of: other, ["b": "2"], "the second store")
  }
}

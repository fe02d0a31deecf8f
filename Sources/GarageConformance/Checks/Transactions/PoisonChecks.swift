internal import GarageDriver

private let rule = """
  Once any operation of a write transaction failed, its commit rolls back and throws the first such error, even if \
  the body swallowed it.
  """

/// Checks that a transaction does not commit after one of its operations failed.
enum PoisonChecks {
  static func add(to topic: inout CheckTopic) {
    addFailingOperationChecks(to: &topic)
    addPoisonScopeChecks(to: &topic)
    addVisitorErrorChecks(to: &topic)
  }
}

private func addFailingOperationChecks(to topic: inout CheckTopic) {
  let empty = StorageKey([UInt8]())
  let failures: [(String, StorageError.Kind, @Sendable (any WriteTransaction) throws -> Void)] = [
    ("put", .invalidKey, { try $0.put([1], for: empty) }),
    ("remove", .invalidKey, { try $0.remove(empty) }),
    ("get", .invalidKey, { _ = try $0.value(for: empty) }),
    ("multi-get", .invalidKey, { try $0.withValues(for: [StorageKey([1]), empty]) { _, _ in } }),
    (
      "put-while-lent", .mutationWhileLent,
      { transaction in
        try transaction.lend("a") { _ in try transaction.set("b", "2") }
      }
    ),
    (
      "remove-in-a-scan", .mutationWhileLent,
      { transaction in
        try transaction.scan(.all, .forward) { _, _ in
          try transaction.delete("a")
          return .continue
        }
      }
    ),
  ]
  for (name, kind, fail) in failures {
    topic.add("by-a-failed-\(name)", rule) { fixture in
      let storage = try fixture.newStore(holding: ["a": "1"])
      var hasEnded = false
      try fixture.expectError(kind, from: "a write whose body swallowed a failed \(name)") {
        try storage.commit { transaction in
          try transaction.set("before", "lost")
          try fixture.expectError(kind, from: name) { try fail(transaction) }
          try? transaction.set("behind", "lost")
          hasEnded = true
        }
      }
      try fixture.expect(hasEnded, "the body to run to its end", seen: "it did not")
      try fixture.expectContents(of: storage, ["a": "1"])
      try storage.put(["b": "2"])
      try fixture.expectContents(of: storage, ["a": "1", "b": "2"], "the store after the next write")
    }
  }

  topic.add("by-too-large-a-value", rule, where: .limitsValues) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try withOversizedValue(for: storage) { value in
      try fixture.expectError(.valueTooLarge, from: "a write whose body swallowed a failed put") {
        try storage.commit { transaction in
          try transaction.set("before", "lost")
          try? transaction.put(value, for: [1].span.bytes)
        }
      }
    }
    try fixture.expectContents(of: storage, ["a": "1"])
  }

  topic.add("throws-the-first-error", rule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    let error = try fixture.expectError(.mutationWhileLent, from: "a write with two failures") {
      try storage.commit { transaction in
        try transaction.lend("a") { _ in try? transaction.set("b", "2") }
        try? transaction.put([1], for: empty)
      }
    }
    try fixture.expectEqual(error.operation, .put, "the operation that failed first")
  }
}

private func addPoisonScopeChecks(to topic: inout CheckTopic) {
  let empty = StorageKey([UInt8]())
  topic.add("yields-to-the-bodys-own-error", "An error that the body throws leaves the call unchanged.") {
    fixture in
    let storage = try fixture.newStore()
    let error = TestError()
    try fixture.expectUnchanged(error, from: "a poisoned write whose body throws") {
      try storage.commit { transaction in
        try? transaction.put([1], for: empty)
        throw error
      }
    }
  }

  topic.add("lets-roll-back-return", "Only a commit throws what poisoned the transaction.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    let result = try storage.write { transaction in
      try transaction.set("b", "lost")
      try? transaction.put([1], for: empty)
      return .rollBack(7)
    }
    try fixture.expectEqual(result, 7, "what a poisoned write returns from .rollBack")
    try fixture.expectContents(of: storage, ["a": "1"])
  }

  topic.add("ends-with-the-transaction", "Poison belongs to one transaction.") { fixture in
    let storage = try fixture.newStore()
    for number in 0..<5 {
      try? storage.commit { transaction in try? transaction.put([1], for: empty) }
      try storage.put(["key-\(number)": "kept"])
    }
    try fixture.expectEqual(try storage.read { try $0.keys().count }, 5, "the number of committed keys")
  }

  topic.add("does-not-touch-readers", "Only a write transaction is poisoned.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    let seen = try storage.read { transaction in
      _ = try? transaction.value(for: empty)
      return try transaction.text("a")
    }
    try fixture.expectEqual(seen, "1", "what a read returns after a failed get")
  }

  topic.add("not-by-a-read-inside", "Only the transaction's own operations poison it.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try storage.commit { transaction in
      try transaction.set("b", "2")
      try storage.read { reader in _ = try? reader.value(for: empty) }
      try? storage.put(["c": "nested"])
    }
    try fixture.expectContents(of: storage, ["a": "1", "b": "2"])
  }

  topic.add("not-by-an-ended-transaction", "An operation on a transaction that is over poisons nothing.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    var ended: (any WriteTransaction)?
    try storage.commit { ended = $0 }
    try storage.commit { transaction in
      try transaction.set("b", "2")
      try? ended?.set("c", "lost")
      _ = try? ended?.text("a")
    }
    try fixture.expectContents(of: storage, ["a": "1", "b": "2"])
  }
}

private func addVisitorErrorChecks(to topic: inout CheckTopic) {
  let key = StorageKey(bytes("a"))
  /// Operations that lend bytes, or nil, to a closure that throws.
  let operations: [(String, @Sendable (any ReadTransaction, StorageError) throws -> Void)] = [
    ("a get", { transaction, error in try transaction.withValue(for: key) { _ in throw error } }),
    (
      "a get of nothing",
      { transaction, error in try transaction.withValue(for: StorageKey(bytes("none"))) { _ in throw error } }
    ),
    (
      "a multi-get",
      { transaction, error in try transaction.withValues(for: [key, key]) { _, _ in throw error } }
    ),
    (
      "a scan forward", { transaction, error in try transaction.scan(.all, .forward) { _, _ in throw error } }
    ),
    (
      "a scan backward",
      { transaction, error in try transaction.scan(.all, .backward) { _, _ in throw error } }
    ),
    (
      "a scan of keys forward",
      { transaction, error in try transaction.scanKeys(.all, .forward) { _ in throw error } }
    ),
    (
      "a scan of keys backward",
      { transaction, error in try transaction.scanKeys(.all, .backward) { _ in throw error } }
    ),
    (
      "a get in a scan",
      { transaction, error in
        try transaction.scan(.all, .forward) { _, _ in
          try transaction.withValue(for: key) { _ in throw error }
          return .continue
        }
      }
    ),
  ]
  topic.add(
    "not-by-a-visitors-error",
    "What a closure throws that bytes are lent to leaves the operation unchanged, and is no failure of it."
  ) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    let own = StorageError(
      .io, during: .scan, driver: "another", engineCode: 99, isRetryable: true,
      message: "What the closure threw. Look at the other storage.")
    func check(_ transaction: any ReadTransaction) throws {
      for (name, operation) in operations {
        do {
          try operation(transaction, own)
        } catch let error where !fixture.isRefusal(error) {
          try fixture.expect(
            error as? StorageError == own, "\(name) to pass on \(own)", seen: "\(error)")
          continue
        }
        throw fixture.failure("\(name) to pass on what its closure threw", "no error")
      }
      try fixture.expectEqual(try transaction.keys(), ["a", "b"], "the keys after all of these errors")
    }
    try storage.read { try check($0) }
    try storage.commit { transaction in
      try check(transaction)
      try transaction.set("c", "3")
    }
    try fixture.expectContents(of: storage, ["a": "1", "b": "2", "c": "3"])
  }
}

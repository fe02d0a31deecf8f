internal import GarageDriver
internal import Synchronization

private let rule = "What commits has the effect of running the writes one after another."

/// Checks of writes that run beside each other, or try to: what each has read must still hold when it commits.
enum ConflictChecks {
  static func add(to topic: inout CheckTopic) {
    addSkewChecks(to: &topic)
    addPhantomChecks(to: &topic)
    addMovedSumChecks(to: &topic)
    addCrossingChecks(to: &topic)
    addSeveralWriterChecks(to: &topic)
    addRefusalChecks(to: &topic)
    addOrderChecks(to: &topic)
    addWhimChecks(to: &topic)
  }
}

/// A meeting of two writers: both have read before one of them changes anything.
private final class Meeting: Sendable {
  private let arrived = [Signal(), Signal()]
  private let canMeet: Bool

  /// - Parameter storage: if its writes do not run beside each other, nobody waits for the other one.
  init(of storage: any StorageDriver) { canMeet = storage.info.writersConflict }

  /// Waits for the other one, but not for ever, because a driver may let that one wait for this write.
  func meet(_ thread: Int) {
    arrived[thread].raise()
    if canMeet { _ = arrived[1 - thread].wait(seconds: 1) }
  }
}

private func addSkewChecks(to topic: inout CheckTopic) {
  let ways: [(String, @Sendable (any ReadTransaction) throws -> Int)] = [
    ("gets", { transaction in try ["a", "b"].count { try transaction.text($0) != nil } }),
    (
      "multi-get",
      { transaction in
        var count = 0
        try transaction.withValues(for: [StorageKey(bytes("a")), StorageKey(bytes("b"))]) { _, value in
          if value != nil { count += 1 }
        }
        return count
      }
    ),
    (
      "contains", { transaction in try ["a", "b"].count { try transaction.contains(StorageKey(bytes($0))) } }
    ),
  ]
  for (name, count) in ways {
    // Two are on call, and each may leave as long as the other one stays.
    topic.add("no-write-skew-by-\(name)", rule) { fixture in
      for round in 0..<5 {
        fixture.atStep(round)
        let storage = try fixture.newStore(holding: ["a": "on call", "b": "on call"])
        let meeting = Meeting(of: storage)
        try inParallel(2) { thread in
          try again {
            try storage.commit { transaction in
              let isOther = try count(transaction) == 2
              meeting.meet(thread)
              if isOther { try transaction.delete(thread == 0 ? "a" : "b") }
            }
          }
        }
        let left = try storage.read { try $0.keys().count }
        try fixture.expectEqual(left, 1, "the number of those on call, of whom one has to stay")
      }
    }
  }
}

private func addPhantomChecks(to topic: inout CheckTopic) {
  let scans: [(String, @Sendable (any ReadTransaction, StorageKeyRange) throws -> Int)] = [
    ("scans", { transaction, range in try transaction.keys(in: range).count }),
    (
      "key-scans",
      { transaction, range in
        var count = 0
        try transaction.scanKeys(range, .backward) { _ in
          count += 1
          return .continue
        }
        return count
      }
    ),
  ]
  // First one room that two want; then two rooms, where each wants the other room to be empty.
  for (name, count) in scans {
    for areaCount in 1...2 {
      topic.add("no-phantoms-by-\(name)-of-\(areaCount)-ranges", rule) { fixture in
        for round in 0..<5 {
          fixture.atStep(round)
          let storage = try fixture.newStore()
          let meeting = Meeting(of: storage)
          try inParallel(2) { thread in
            let (seen, changed) = areaCount == 1 ? (0, 0) : (thread, 1 - thread)
            try again {
              try storage.commit { transaction in
                let isFree = try count(transaction, .prefix(bytes("room-\(seen)-"))) == 0
                meeting.meet(thread)
                if isFree { try transaction.set("room-\(changed)-\(thread)", "booked") }
              }
            }
          }
          let booked = try storage.read { try $0.keys() }
          try fixture.expectEqual(
            booked.count, 1, "the number of bookings, of which the first forbids the second")
        }
      }
    }
  }
}

private func addMovedSumChecks(to topic: inout CheckTopic) {
  topic.add("moved-sums-stay", rule) { fixture in
    let storage = try fixture.newStore()
    let accountCount = 8
    try storage.commit { transaction in
      for account in 0..<accountCount { try transaction.set("account-\(account)", "100") }
    }
    @Sendable func sum(_ transaction: any ReadTransaction) throws -> Int {
      try transaction.entries().reduce(0) { $0 + (Int(String(decoding: $1.value, as: UTF8.self)) ?? 0) }
    }
    _ = fixture.random()
    let seed = fixture.options.seed
    let writersLeft = Atomic<Int>(3)
    try inParallel(4) { thread in
      if thread == 3 {
        while writersLeft.load(ordering: .sequentiallyConsistent) > 0 {
          let seen = try again { try storage.read(sum) }
          try fixture.expectEqual(seen, accountCount * 100, "the sum that a reader sees")
        }
        return
      }
      defer { writersLeft.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
      var random = SeededRandom(seed: seed &+ UInt64(thread))
      for _ in 0..<40 {
        let (from, amount) = (random.below(accountCount), random.below(20))
        let to = (from + 1 + random.below(accountCount - 1)) % accountCount
        try again {
          try storage.commit { transaction in
            let source = Int(try transaction.text("account-\(from)") ?? "") ?? 0
            let target = Int(try transaction.text("account-\(to)") ?? "") ?? 0
            try transaction.set("account-\(from)", "\(source - amount)")
            try transaction.set("account-\(to)", "\(target + amount)")
          }
        }
      }
    }
    try fixture.expectEqual(try storage.read(sum), accountCount * 100, "the sum at the end")
  }
}

private func addCrossingChecks(to topic: inout CheckTopic) {
  topic.add("crossing-orders-end", "Writes that change the same keys in other orders end, all of them.") {
    fixture in
    for round in 0..<3 {
      fixture.atStep(round)
      let storage = try fixture.newStore(holding: ["a": "0", "b": "0"])
      let meeting = Meeting(of: storage)
      try inParallel(2) { thread in
        let keys = thread == 0 ? ["a", "b"] : ["b", "a"]
        try again {
          try storage.commit { transaction in
            for key in keys {
              try transaction.set(key, "\((Int(try transaction.text(key) ?? "") ?? 0) + 1)")
              // If the driver collects changes, reading something else makes it send them.
              _ = try transaction.keys(in: .prefix(bytes("none")))
              meeting.meet(thread)
            }
          }
        }
      }
      try fixture.expectContents(of: storage, ["a": "2", "b": "2"])
    }
  }
}

private func addSeveralWriterChecks(to topic: inout CheckTopic) {
  topic.add(
    "writers-of-other-keys-go-on", "Where writersConflict, writes run beside each other.",
    where: .writersConflict
  ) {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "0"])
    try storage.commit { transaction in
      try transaction.set("a", "1")
      _ = try transaction.text("x")
      let writer = Worker { try again { try storage.put(["b": "2"]) } }
      try fixture.expect(
        writer.wait(seconds: 20), "another thread's write of another key to end during this one",
        seen: "it did not")
      try writer.join()
      try transaction.set("c", "3")
    }
    try fixture.expectContents(of: storage, ["a": "1", "b": "2", "c": "3"])
  }

}

private func addRefusalChecks(to topic: inout CheckTopic) {
  let refusal = "A write that fits into no order throws conflict, isRetryable, and leaves no trace."
  topic.add("a-lost-update-is-refused", refusal, where: .writersConflict) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    var isOvertaken = false
    let error = try fixture.expectError(.conflict, from: "a write whose value was changed meanwhile") {
      try storage.commit { transaction in
        let seen = try transaction.text("a") ?? ""
        try Worker { try again { try storage.put(["a": "2"]) } }.join()
        isOvertaken = true
        try transaction.set("a", seen + "1")
        try transaction.set("b", "lost")
      }
    }
    try fixture.expect(error.isRetryable, "conflict to be retryable", seen: "it is not")
    // The write was refused before there was a reason to, which proves nothing.
    if !isOvertaken { throw error }
    try fixture.expectContents(of: storage, ["a": "2"])
    try storage.put(["a": "3"])
    try fixture.expectContents(of: storage, ["a": "3"], "the store after the next write")
  }

  topic.add("a-stale-write-is-refused", refusal, where: .writersConflict) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "1"])
    var isOvertaken = false
    let error = try fixture.expectError(
      .conflict, from: "a write that read what another one changed, and the other way"
    ) {
      try storage.commit { transaction in
        _ = try transaction.text("a")
        try Worker {
          try again {
            try storage.commit { other in
              _ = try other.text("b")
              try other.set("a", "2")
            }
          }
        }
        .join()
        isOvertaken = true
        try transaction.set("b", "2")
      }
    }
    if !isOvertaken { throw error }
    try fixture.expectContents(of: storage, ["a": "2", "b": "1"])
  }

  topic.add("a-swallowed-conflict-still-counts", refusal, where: .writersConflict) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    var isOvertaken = false
    let error = try fixture.expectError(
      .conflict, from: "a write whose body swallowed what its operations threw"
    ) {
      try storage.commit { transaction in
        _ = try transaction.text("a")
        try Worker { try again { try storage.put(["a": "2"]) } }.join()
        isOvertaken = true
        try? transaction.set("a", "lost")
        _ = try? transaction.keys()
        try? transaction.set("b", "lost")
      }
    }
    if !isOvertaken { throw error }
    try fixture.expectContents(of: storage, ["a": "2"])
  }
}

private func addOrderChecks(to topic: inout CheckTopic) {
  topic.add(
    "readers-see-the-order-of-writes",
    "A reader sees the effect of some of the writes, in the order that they have for each other.",
    where: .writersConflict
  ) { fixture in
    // A fee is due if both accounts are empty. A transaction that read both before the deposit comes before the deposit. A
    // reader that has seen only the deposit says that the deposit came first.
    let storage = try fixture.newStore(holding: ["current": "0", "savings": "0"])
    var seen: [String?] = []
    do {
      try storage.commit { transaction in
        let isEmpty = try ["current", "savings"].allSatisfy { try transaction.text($0) == "0" }
        try Worker { try storage.put(["savings": "20"]) }.join()
        seen = try storage.read { try [$0.text("current"), $0.text("savings")] }
        try transaction.set("current", isEmpty ? "-11" : "-10")
      }
    } catch let error as StorageError where error.kind == .conflict {
      return try fixture.expect(error.isRetryable, "conflict to be retryable", seen: "it is not")
    }
    let last = try storage.read { try [$0.text("current"), $0.text("savings")] }
    try fixture.expect(
      seen != ["0", "20"] || last != ["-11", "20"],
      "an order of the writes that the reader and the end agree on",
      seen: "a reader that saw the deposit alone, and then the fee of a withdrawal before it")
  }
}

private func addWhimChecks(to topic: inout CheckTopic) {
  topic.add(
    "who-writes-alone-is-hardly-refused", "Now and then an engine refuses one that would have fitted, too.",
    where: .writersConflict
  ) { fixture in
    let storage = try fixture.newStore()
    var refusedCount = 0
    for round in 0..<100 {
      do {
        try storage.commit { transaction in
          let sum = try transaction.keys(in: .prefix(bytes("a"))).count
          _ = try transaction.text("a\(round / 2)")
          try transaction.set("a\(round)", "\(sum)")
        }
        _ = try storage.read { try $0.keys() }
      } catch let error where fixture.isRefusal(error) {
        refusedCount += 1
      }
    }
    try fixture.expect(
      refusedCount <= 10, "at most 10 of 100 writes to be refused, beside which there was nothing",
      seen: "\(refusedCount)")
  }
}

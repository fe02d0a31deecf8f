internal import GarageDriver
internal import Synchronization

/// Checks with several threads at a time.
enum RaceChecks {
  static func add(to topic: inout CheckTopic) {
    addInvariantChecks(to: &topic)
    addReaderChecks(to: &topic)
    addCounterChecks(to: &topic)
    addCrowdChecks(to: &topic)
    addClosingRaceChecks(to: &topic)
  }
}

private func addInvariantChecks(to topic: inout CheckTopic) {
  let rule = "A reader sees exactly one committed state, whatever the writer does."
  topic.add("the-sum-stays", rule) { fixture in
    let storage = try fixture.newStore()
    let accountCount = 20
    try storage.commit { transaction in
      for account in 0..<accountCount { try transaction.set("account-\(digits(account))", "100") }
    }
    let isOver = Atomic<Bool>(false)
    try inParallel(4) { thread in
      if thread == 0 {
        defer { isOver.store(true, ordering: .relaxed) }
        var random = SeededRandom(seed: fixture.options.seed)
        for _ in 0..<300 {
          try transfer(in: storage, random.below(accountCount), random.below(accountCount), &random)
        }
      } else {
        while !isOver.load(ordering: .relaxed) {
          let sums = try storage.read {
            try [sum($0, byGets: false, accountCount), sum($0, byGets: true, accountCount)]
          }
          try fixture.expectEqual(sums, [2000, 2000], "the sums by scan and by gets")
        }
      }
    }
    let total = try storage.read { try sum($0, byGets: false, accountCount) }
    try fixture.expectEqual(total, 2000, "the sum at the end")
  }

  topic.add("one-generation", rule) { fixture in
    let storage = try fixture.newStore()
    let isOver = Atomic<Bool>(false)
    try inParallel(4) { thread in
      if thread == 0 {
        defer { isOver.store(true, ordering: .relaxed) }
        for generation in 1...150 {
          try storage.commit { transaction in
            // Keys come and go, and values change their lengths.
            for key in 0..<80 where (key + generation) % 7 != 0 {
              let value = "\(generation)" + String(repeating: " ", count: (key * generation) % 300)
              try transaction.set("key-\(digits(key))", value)
            }
            for key in 0..<80 where (key + generation) % 7 == 0 {
              try transaction.delete("key-\(digits(key))")
            }
          }
        }
      } else {
        try watchGenerations(storage, fixture, isOver)
      }
    }
  }

}

private func addReaderChecks(to topic: inout CheckTopic) {
  topic.add("roll-backs-are-never-seen", "A write that rolls back leaves no trace, nor shows one meanwhile.")
  { fixture in
    let storage = try fixture.newStore(holding: ["a": "good", "b": "good"])
    let isOver = Atomic<Bool>(false)
    try inParallel(3) { thread in
      if thread == 0 {
        defer { isOver.store(true, ordering: .relaxed) }
        for round in 0..<200 {
          try storage.write { transaction in
            try transaction.set("a", round % 2 == 0 ? "bad" : "good")
            try transaction.set("bad-\(round)", "bad")
            try transaction.removeAll(in: .prefix(bytes("bad")))
            try transaction.set("c-\(round % 2)", round % 2 == 0 ? "bad" : "good")
            return round % 2 == 0 ? .rollBack(()) : .commit(())
          }
        }
      } else {
        while !isOver.load(ordering: .relaxed) {
          let values = try storage.read { try Set($0.entries().map { readable($0.value) }) }
          try fixture.expectEqual(values, ["\"good\""], "the values that a reader sees")
        }
      }
    }
  }

  topic.add("eight-readers", "Any number of threads read at a time.") { fixture in
    let storage = try fixture.newStore()
    try storage.commit { transaction in
      for number in 0..<500 {
        try transaction.put(pattern(number * 7), for: StorageKey(bytes("key-\(digits(number))")))
      }
    }
    try inParallel(8) { thread in
      var random = SeededRandom(seed: UInt64(thread))
      for _ in 0..<300 {
        let number = random.below(500)
        try storage.read { transaction in
          try transaction.lend("key-\(digits(number))") { value in
            let seen = owned(value)
            try fixture.expect(seen == pattern(number * 7), "value \(number)", seen: "other bytes")
          }
        }
      }
    }
  }
}

private func addCrowdChecks(to topic: inout CheckTopic) {
  topic.add(
    "a-hundred-readers-at-a-time", "What is beyond the engine's limit throws readersFull, and nothing else."
  ) {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    let arrived = Atomic<Int>(0)
    let all = Signal()
    try inParallel(100) { _ in
      func arrive() {
        if arrived.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue == 100 { all.raise() }
      }
      do {
        try storage.read { transaction in
          arrive()
          all.wait()
          try fixture.expectEqual(try transaction.text("a"), "1", "a get beside 99 other readers")
        }
      } catch let error as StorageError where error.kind == .readersFull {
        arrive()
      } catch let refusal where fixture.isRefusal(refusal) {
        arrive()
        throw refusal
      }
    }
    try storage.put(["a": "2"])
    try fixture.expectContents(of: storage, ["a": "2"])
  }

  topic.add("twenty-values-on-one-store", "All values on one store see the same, however many there are.") {
    fixture in
    let place = fixture.newPlace()
    let storages = try (0..<20).map { _ in try fixture.open(place) }
    try inParallel(5) { thread in
      for number in 0..<4 { try increment("counter", in: storages[thread * 4 + number]) }
    }
    for storage in storages { try fixture.expectContents(of: storage, ["counter": "20"]) }
    for storage in storages.dropLast() { try storage.close() }
    try increment("counter", in: storages[19])
    try fixture.expectContents(of: storages[19], ["counter": "21"])
  }
}

/// Moves up to 20 from one account to another, in one transaction.
private func transfer(in storage: any StorageDriver, _ from: Int, _ to: Int, _ random: inout SeededRandom)
  throws
{
  let amount = random.below(20)
  try storage.commit { transaction in
    let source = Int(try transaction.text("account-\(digits(from))") ?? "") ?? 0
    try transaction.set("account-\(digits(from))", "\(source - amount)")
    let target = Int(try transaction.text("account-\(digits(to))") ?? "") ?? 0
    try transaction.set("account-\(digits(to))", "\(target + amount)")
  }
}

private func sum(_ transaction: any ReadTransaction, byGets: Bool, _ accountCount: Int) throws -> Int {
  if byGets {
    return try (0..<accountCount).reduce(0) { sum, account in
      sum + (Int(try transaction.text("account-\(digits(account))") ?? "") ?? 0)
    }
  }
  return try transaction.entries().reduce(0) { $0 + (Int(String(decoding: $1.value, as: UTF8.self)) ?? 0) }
}

/// Reads until `isOver`. All values must be of one generation, by scan and by multi-get, and none older than the last one read.
private func watchGenerations(
  _ storage: any StorageDriver, _ fixture: Fixture, _ isOver: borrowing Atomic<Bool>
) throws {
  var last = 0
  while !isOver.load(ordering: .relaxed) {
    try storage.read { transaction in
      let scanned = try transaction.entries()
      let generations = Set(scanned.map { generation($0.value) })
      try fixture.expect(generations.count <= 1, "values of one generation", seen: "\(generations.sorted())")
      let now = generations.first ?? 0
      try fixture.expect(now >= last, "generation \(last) or a later one", seen: "\(now)")
      last = now
      var count = 0
      try transaction.withValues(for: (0..<80).map { StorageKey(bytes("key-\(digits($0))")) }) {
        position, value in
        guard let value else { return }
        count += 1
        let seen = generation([UInt8](copying: value))
        try fixture.expectEqual(seen, now, "the generation of key \(position)")
      }
      try fixture.expectEqual(count, scanned.count, "the number of values that a multi-get finds")
    }
  }
}

private func generation(_ value: [UInt8]) -> Int {
  Int(String(decoding: value.prefix { $0 != 32 }, as: UTF8.self)) ?? -1
}

private func addCounterChecks(to topic: inout CheckTopic) {
  let rule = "What commits has the effect of running the writes one after another."
  for valueCount in [1, 4] {
    topic.add("four-writers-through-\(valueCount)-values", rule) { fixture in
      let place = fixture.newPlace()
      let storages = try (0..<valueCount).map { _ in try fixture.open(place) }
      try inParallel(4) { thread in
        let storage = storages[thread % valueCount]
        for _ in 0..<50 { try increment("counter", in: storage) }
        for _ in 0..<10 { try increment("counter-\(thread)", in: storage) }
      }
      try fixture.expectContents(
        of: storages[0],
        ["counter": "200", "counter-0": "10", "counter-1": "10", "counter-2": "10", "counter-3": "10"])
    }
  }

  topic.add(
    "one-writer-at-a-time", "Unless writersConflict, body runs as the store's only writer.", where: .oneWriter
  ) { fixture in
    let storage = try fixture.newStore()
    let inside = Atomic<Int>(0)
    try inParallel(4) { thread in
      for round in 0..<25 {
        try storage.write { transaction in
          let before = inside.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
          defer { inside.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
          try fixture.expectEqual(before, 0, "the number of other writers inside")
          try transaction.set("key", "\(thread) \(round)")
          return round % 3 == 0 ? .rollBack(()) : .commit(())
        }
      }
    }
  }

  topic.add(
    "nested-reads-on-eight-threads", "None waits for a connection or a slot that the same thread holds."
  ) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try inParallel(8) { _ in
      func descend(_ depth: Int) throws {
        try storage.read { transaction in
          if depth < 12 { try descend(depth + 1) }
          try fixture.expectEqual(try transaction.text("a"), "1", "a get at depth \(depth)")
        }
      }
      for _ in 0..<5 { try descend(1) }
    }
  }
}

/// Adds one to a number kept as text, in a transaction of its own, and again if the driver asks for that.
func increment(_ key: String, in storage: any StorageDriver) throws {
  try again {
    try storage.commit { transaction in
      let number = Int(try transaction.text(key) ?? "0") ?? 0
      try transaction.set(key, "\(number + 1)")
    }
  }
}

/// Removes a key, unless another one is missing. In between it leaves time for another process to do the same the other way
/// round. It waits for nobody: if one writes at a time, it would wait for ever.
func leave(_ key: String, unlessGone other: String, in storage: any StorageDriver) throws {
  try again {
    try storage.commit { transaction in
      let isOther = try transaction.text(key) != nil && transaction.text(other) != nil
      pauseMicroseconds(3000)
      if isOther { try transaction.delete(key) }
    }
  }
}

/// Runs `body` again as long as the driver asks for that, for up to a minute. A driver that asks for longer makes no progress,
/// and its error is thrown.
func again<R>(_ body: () throws -> R) throws -> R {
  let end = ContinuousClock.now + .seconds(60)
  while true {
    do { return try body() } catch let error as StorageError
      where error.isRetryable && ContinuousClock.now < end
    {}
  }
}

/// Runs `body` again as ``again(_:)`` does, but only if another transaction came first, or may have. It is for processes whose
/// errors the check never sees.
func pastConflicts<R>(_ body: () throws -> R) throws -> R {
  let end = ContinuousClock.now + .seconds(60)
  while true {
    do { return try body() } catch let error as StorageError
      where error.kind == .conflict && error.isRetryable && ContinuousClock.now < end
    {}
  }
}

private func addClosingRaceChecks(to topic: inout CheckTopic) {
  topic.add("closing-under-way", "Later transactions throw closed; those that are open end as they would.") {
    fixture in
    let place = fixture.newPlace()
    let kept = try fixture.open(place)
    for _ in 0..<10 {
      let storage = try fixture.open(place)
      try kept.put(["a": "0", "b": "0"])
      let begun = Signal()
      try inParallel(4) { thread in
        // Done even if the engine refuses its first write.
        defer { if thread == 0 { begun.raise() } }
        if thread == 3 {
          begun.wait()
          return try storage.close()
        }
        for round in 1... {
          do {
            if thread == 0 {
              try storage.put(["a": "\(round)", "b": "\(round)"])
              begun.raise()
            } else {
              let values = try storage.read { try [$0.text("a"), $0.text("b")] }
              try fixture.expectEqual(values[0], values[1], "two values that always change together")
            }
          } catch let error as StorageError where error.kind == .closed {
            break
          }
        }
      }
      let values = [try kept.text("a"), try kept.text("b")]
      try fixture.expectEqual(values[0], values[1], "two values that always change together, after close")
    }
  }

  topic.add("opening-and-closing", "Values on one store open and close while others are used.") { fixture in
    let place = fixture.newPlace()
    let kept = try fixture.open(place)
    try inParallel(4) { thread in
      for _ in 0..<15 {
        let storage = try fixture.openUntracked(place)
        try increment("counter", in: storage)
        _ = try storage.read { try $0.entries() }
        try storage.close()
      }
    }
    try fixture.expectContents(of: kept, ["counter": "60"])
  }
}

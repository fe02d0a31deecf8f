internal import GarageDriver

/// Checks of large writes and large stores.
enum LargeChecks {
  static func add(to topic: inout CheckTopic) {
    addLargeWriteChecks(to: &topic)
    addUnseenWriteChecks(to: &topic)
    addLargeRollBackChecks(to: &topic)
    addLargeRangeRemovalChecks(to: &topic)
    addLargeKeyRemovalChecks(to: &topic)
    addLargeStoreChecks(to: &topic)
    addLargeValueHistoryChecks(to: &topic)
  }
}

private func addLargeWriteChecks(to topic: inout CheckTopic) {
  topic.add(
    "a-write-of-100000-changes", "Reads inside a write see its own changes, and a commit keeps all of them."
  ) { fixture in
    let count = 100_000
    let (storage, committed) = try fixture.newStore(ofNumbersBelow: 1200)
    var model = NumberModel(below: 1200 + count)
    for number in 0..<1200 { model[number] = committed[number] }
    var write = LargeWrite(model, frontier: 1200, random: fixture.random())
    let looks = Set(geometric(to: count, percent: 12))
    let looksAtAll: Set = [40, 130, 260, 600, 1500, 4000, 11_000, 34_000, count]
    let numbers = try storage.commit { transaction in
      for number in 1...count {
        try write.change(transaction)
        if looks.contains(number) {
          fixture.atStep(number)
          try write.look(transaction, fixture)
        }
        if looksAtAll.contains(number) {
          try write.lookAtAll(transaction, fixture)
          try fixture.expectUnseen(storage, "\(number) changes") {
            try fixture.expectScan(
              .forward, of: committed, in: $0, "while a write of \(number) changes is open")
          }
        }
      }
      return write.numbers
    }
    try storage.read { try fixture.expectScans(of: numbers, in: $0, "after the commit") }
  }

  topic.add("writes-of-every-size", "A commit keeps all changes of its write, however many they are.") {
    fixture in
    let (storage, numbers) = try fixture.newStore(ofNumbersBelow: 30_000, step: 100)
    var write = LargeWrite(numbers, frontier: 1000, random: fixture.random())
    for count in geometric(to: 1800, percent: 22) {
      fixture.atStep(count)
      try storage.commit { transaction in for _ in 0..<count { try write.change(transaction) } }
      try storage.read { try write.look($0, fixture) }
    }
    try storage.read { try fixture.expectScans(of: write.numbers, in: $0, "after all commits") }
  }
}

private func addUnseenWriteChecks(to topic: inout CheckTopic) {
  topic.add(
    "a-write-of-64-MiB-is-unseen",
    "A reader sees exactly one committed state, however large a write is open.",
    isHeavy: true
  ) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2", "c": "3"])
    let committed = [Entry("a", "1"), Entry("b", "2"), Entry("c", "3")]
    try storage.write { transaction in
      try transaction.delete("c")
      for number in 1...64 {
        fixture.atStep(number)
        try transaction.put(
          PatternlessBytes.slice(number, 1 << 20).bytes, for: StorageKey([1, UInt8(number)]).bytes.span.bytes)
        // Looks after 1, 2, 4 … of them.
        if number & (number - 1) != 0 { continue }
        try fixture.expectUnseen(storage, "\(number) MiB") {
          try fixture.expectEqual(
            try $0.entries(), committed, "what is seen while a write of \(number) MiB is open")
        }
      }
      return .rollBack(())
    }
    try storage.read { try fixture.expectEqual(try $0.entries(), committed, "the store after the roll-back") }
  }
}

extension Fixture {
  /// Runs `look` in a read inside the open write, and, if readers do not wait for the writer, in a read on another thread.
  fileprivate func expectUnseen(
    _ storage: any StorageDriver, _ size: String, file: StaticString = #fileID, line: UInt = #line,
    _ look: @escaping @Sendable (any ReadTransaction) throws -> Void
  ) throws {
    try located(file, line) { try storage.read(look) }
    guard storage.info.readsDuringWrite else { return }
    let reader = Worker { try storage.read(look) }
    try expect(
      reader.wait(seconds: 5), "readers not to wait for a write of \(size)",
      seen: "one that waits for it", file: file, line: line)
    try reader.join()
  }
}

private func addLargeRollBackChecks(to topic: inout CheckTopic) {
  let rule = "A write whose body throws, or returns rollBack, leaves no trace, however much it changed."
  topic.add("roll-backs-of-every-size", rule) { fixture in
    let limit = 70_000
    let storage = try fixture.newStore()
    var numbers = NumberModel(below: limit)
    try storage.commit { transaction in
      for number in stride(from: 1, to: 2000, by: 2) {
        try transaction.put(number: number, version: 1)
        numbers[number] = 1
      }
    }
    for (round, count) in ([1, 7, 60, 150, 400, 1300, 3000, 5500, 12_000, 25_000, 50_000]).enumerated() {
      for ending in count > 20_000 ? [round % 2] : [0, 1, 2] {
        fixture.atStep(count)
        try rollBack(storage, ending, fixture) { transaction in
          // The first put is of a new key in one round, and of an existing key in the next.
          for number in (round % 2)..<count { try transaction.put(number: number, version: 2) }
          for number in stride(from: 0, to: min(count, 2000), by: 5) {
            try transaction.remove(number: number)
          }
        }
        let what = "after a write of \(count) puts that was rolled back"
        try storage.read { try fixture.expectScan(.forward, of: numbers, in: $0, what) }
        try storage.read { try fixture.expectScan(.backward, limit: 3, of: numbers, in: $0, what) }
      }
    }
  }

  topic.add("roll-backs-of-many-bytes", rule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    for (round, byteCount) in geometric(to: 1 << 20, percent: 110).enumerated() where byteCount > 2000 {
      for count in [1, 3, 8] {
        fixture.atStep(byteCount * count)
        try rollBack(storage, (round + count) % 3, fixture) { transaction in
          for number in 0..<count {
            let key = number % 2 == 0 ? "a\(number)" : "a"
            try transaction.put(
              PatternlessBytes.slice(number, byteCount).bytes, for: StorageKey(bytes(key)).bytes.span.bytes)
          }
          try transaction.delete("b")
        }
        try fixture.expectContents(
          of: storage, ["a": "1", "b": "2"],
          "the store after \(count) puts of \(byteCount) bytes were rolled back")
      }
    }
  }
}

/// Runs `body` in a write that leaves no trace, in one of three ways.
private func rollBack(
  _ storage: any StorageDriver, _ ending: Int, _ fixture: Fixture,
  _ body: (any WriteTransaction) throws -> Void
) throws {
  switch ending {
  case 0:
    try storage.write { transaction in
      try body(transaction)
      return .rollBack(())
    }
  case 1:
    let error = TestError()
    try fixture.expectUnchanged(error, from: "write") {
      try storage.commit { transaction in
        try body(transaction)
        throw error
      }
    }
  default:
    try fixture.expectError(.invalidKey, from: "a write that swallowed a failed put") {
      try storage.commit { transaction in
        try body(transaction)
        try? transaction.put([1], for: StorageKey([UInt8]()))
      }
    }
  }
}

private func addLargeRangeRemovalChecks(to topic: inout CheckTopic) {
  topic.add(
    "ranges-of-own-and-committed-keys",
    "removeAll removes every key in the range, own puts and committed ones."
  ) { fixture in
    let limit = 60_000
    let storage = try fixture.newStore()
    var numbers = NumberModel(below: limit)
    // The numbers at both ends stay.
    for number in [0, 1, limit - 2, limit - 1] { numbers[number] = 1 }
    try storage.commit { transaction in
      for number in [0, 1, limit - 2, limit - 1] { try transaction.put(number: number, version: 1) }
    }
    let sizes = [
      (1, 1), (20, 30), (0, 90), (90, 160), (300, 250), (0, 700), (2500, 1100), (100, 4000), (40_000, 6000),
    ]
    for (committed, own) in sizes + [(500, 30_000)] {
      fixture.atStep(own)
      // Both begin below the middle, the committed ones further down, so that some are overwritten.
      let ownNumbers = (limit / 2 - own / 3)..<(limit / 2 - own / 3 + own)
      let committedNumbers = (limit / 2 - committed * 2 / 3)..<(limit / 2 - committed * 2 / 3 + committed)
      try storage.commit { transaction in
        for number in committedNumbers { try transaction.put(number: number, version: 2) }
      }
      try storage.commit { transaction in
        for number in ownNumbers { try transaction.put(number: number, version: 3) }
        let what = "after removeAll of \(committed) committed and \(own) own keys"
        try transaction.removeAll(in: numbers.keys(2..<(limit - 2)))
        try fixture.expectScans(of: numbers, in: transaction, what)
        try fixture.expectScans(of: numbers, keysOnly: true, in: transaction, what)
        for number in [ownNumbers.lowerBound, ownNumbers.upperBound - 1, limit / 2] {
          try fixture.expectGet(number, of: numbers, in: transaction, what)
        }
        // A key that is put again exists again, and can be removed again.
        try transaction.put(number: limit / 2, version: 4)
        try transaction.removeAll(in: numbers.keys(2..<(limit - 2)))
      }
      let what = "after the commit of removeAll with \(own) own keys"
      try storage.read { transaction in
        try fixture.expectScans(of: numbers, in: transaction, what)
        try fixture.expectScans(of: numbers, keysOnly: true, in: transaction, what)
      }
    }
  }
}

private func addLargeKeyRemovalChecks(to topic: inout CheckTopic) {
  topic.add("removals-between-many-puts", "remove takes key and value, however many puts came before.") {
    fixture in
    let (storage, committed) = try fixture.newStore(ofNumbersBelow: 26_000, step: 13)
    var numbers = committed
    var version: UInt32 = 1
    // After 1, 2, 3 … puts, in each of several writes, three keys are removed: one of the last commit, one of this write, and
    // one that was just overwritten. A removed key stays removed to the end, whatever is put later.
    for count in [40, 180, 500, 1400, 5000] {
      try storage.commit { transaction in
        for round in 1...count {
          version += 1
          let number = (round * 7919) % 26_000
          try transaction.put(number: number, version: version)
          numbers[number] = version
          for other in [(round * 13 * 31) % 26_000, ((round / 2) * 7919) % 26_000] where round % 3 != 0 {
            try transaction.remove(number: other)
            numbers[other] = 0
            try fixture.expectGet(other, of: numbers, in: transaction, "after \(round) puts in one write")
          }
        }
        try fixture.expectScan(.forward, of: numbers, in: transaction, "after \(count) puts in one write")
      }
      try storage.read { transaction in
        try fixture.expectScan(.backward, of: numbers, in: transaction, "after a commit of \(count) puts")
      }
    }
  }
}

private func addLargeStoreChecks(to topic: inout CheckTopic) {
  topic.add("140000-keys", "Scans and multi-gets visit every key, committed or put by the same write.") {
    fixture in
    let (committed, all) = (70_000, 140_000)
    let storage = try fixture.newStore()
    var numbers = NumberModel(below: all)
    try storage.commit { transaction in
      for number in 0..<committed {
        try transaction.put(number: number, version: 1)
        numbers[number] = 1
      }
    }
    try storage.commit { transaction in
      for number in committed..<all {
        try transaction.put(number: number, version: 2)
        numbers[number] = 2
      }
      for number in stride(from: 0, to: committed, by: 500) {
        try transaction.put(number: number, version: 3)
        numbers[number] = 3
      }
      let what = "in the write that put the second half"
      try fixture.expectScans(of: numbers, in: transaction, what)
      try fixture.expectScan(.forward, of: numbers, keysOnly: true, in: transaction, what)
    }
    try storage.read { transaction in
      try fixture.expectScans(of: numbers, in: transaction, "after the commit")
      try fixture.expectScan(.backward, of: numbers, keysOnly: true, in: transaction, "after the commit")
      try fixture.expectMultiGet(Array(0..<all), of: numbers, in: transaction, "after the commit")
    }
  }
}

private func addLargeValueHistoryChecks(to topic: inout CheckTopic) {
  topic.add("values-up-to-1-MiB", "Every operation does what it does to an ordinary dictionary.") { fixture in
    var random = fixture.random()
    let storage = try fixture.newStore()
    // The content of each key: where its value begins in the suite's bytes, and its length.
    var model: [Int: (start: Int, count: Int)] = [:]
    let counts = geometric(to: 1 << 20, percent: 45)
    for round in 0..<4 {
      try storage.commit { transaction in
        for step in 0..<45 {
          fixture.atStep(round * 100 + step)
          let key = random.below(40)
          if random.below(4) == 0 {
            try transaction.remove(StorageKey([UInt8(key)]))
            model[key] = nil
          } else {
            let count = counts[random.below(counts.count)]
            let start = random.below(5000)
            try transaction.put(PatternlessBytes.slice(start, count).bytes, for: [UInt8(key)].span.bytes)
            model[key] = (start, count)
          }
          if step % 9 == 8 { try expectBulk(model, transaction, .forward, fixture) }
          try expectBulk(key, model, transaction, fixture)
        }
      }
      try storage.read { transaction in
        for direction in ScanDirection.allCases { try expectBulk(model, transaction, direction, fixture) }
      }
    }
  }
}

private func expectBulk(
  _ key: Int, _ model: [Int: (start: Int, count: Int)], _ transaction: any ReadTransaction, _ fixture: Fixture
) throws {
  try transaction.withValue(for: StorageKey([UInt8(key)])) { value in
    try fixture.expect(
      PatternlessBytes.equals(value, model[key]),
      "value \(key) of \(model[key].map { "\($0.count) bytes" } ?? "none")",
      seen: byteCount(value))
  }
}

private func expectBulk(
  _ model: [Int: (start: Int, count: Int)], _ transaction: any ReadTransaction, _ direction: ScanDirection,
  _ fixture: Fixture
) throws {
  let inOrder = model.keys.sorted()
  var rest = (direction == .forward ? inOrder : inOrder.reversed())[...]
  try transaction.scan(.all, direction) { key, value in
    let expected = rest.popFirst()
    let fits =
      expected.map { [UInt8](copying: key) == [UInt8($0)] && PatternlessBytes.equals(value, model[$0]) }
      ?? false
    try fixture.expect(
      fits, "value \(expected.map { "\($0) of \(model[$0]?.count ?? 0) bytes" } ?? "none more") in a scan",
      seen: "\(value.byteCount) bytes")
    return .continue
  }
  try fixture.expectEqual(rest.count, 0, "the number of values that a scan left out")
}

internal import GarageDriver

private let rule = "putAll does what a put of one entry after another does."

enum PutAllChecks {
  /// Putting many values at once obeys the rules of putting one.
  static func add(to topic: inout CheckTopic) {
    addAllCheck(to: &topic)
    addEffects(to: &topic)
    addManyEntries(to: &topic)
    SizeClassChecks.addPuts(to: &topic)
    addLimits(to: &topic)
    addTransactionRules(to: &topic)
  }
}

extension WriteTransaction {
  /// Puts these entries in one call, from bytes that hold them one behind the other.
  func putAll(_ entries: [(key: [UInt8], value: [UInt8])]) throws {
    var content: [UInt8] = [0xAA]
    var placed: [PlacedEntry] = []
    for (key, value) in entries {
      // The value stands first: a driver that expects each key before its value then puts something else.
      let start = content.count
      content += value + key
      placed.append(
        PlacedEntry(
          key: start + value.count..<content.count, value: start..<start + value.count))
    }
    try putAll(placed, in: content.span.bytes)
  }

  fileprivate func setAll(_ entries: [(String, String)]) throws {
    try putAll(entries.map { (bytes($0.0), bytes($0.1)) })
  }
}

private func addAllCheck(to topic: inout CheckTopic) {
  topic.add("puts-all", rule) { fixture in
    let storage = try fixture.newStore(holding: ["0": "first", "500": "", "~": "last"])
    var random = fixture.random()
    var expected = ["0": "first", "500": "", "~": "last"]
    // A garage puts up to 2048 index entries at once.
    for (step, count) in [1, 2, 700, 40, 2048, 5000, 3].enumerated() {
      fixture.atStep(step)
      var entries = (0..<count).map { _ in
        (digits(random.below(8000)), String(repeating: "v", count: random.below(20)) + digits(step))
      }
      if step % 2 == 0 { entries.sort { $0.0 < $1.0 } }
      try storage.commit { try $0.setAll(entries) }
      for (key, value) in entries { expected[key] = value }
      let all = expected.sorted { $0.key < $1.key }.map { Entry($0.key, $0.value) }
      try storage.read { transaction in
        let seen = try transaction.entries()
        try fixture.expectEqual(seen.map(\.key), all.map(\.key), "the keys")
        for (seen, entry) in zip(seen, all) where seen != entry {
          throw fixture.failure("\(entry) after putAll of \(count)", "\(seen)")
        }
        for (key, _) in entries.prefix(300) + entries.suffix(300) {
          try fixture.expectEqual(try transaction.text(key), expected[key], "the value of \(key)")
        }
      }
    }
  }
}

private func addEffects(to topic: inout CheckTopic) {
  topic.add("the-last-of-equal-keys-stays", rule) { fixture in
    let storage = try fixture.newStore(holding: ["b": "old"])
    try storage.commit { transaction in
      try transaction.setAll([("a", "1"), ("b", "2"), ("b", "3"), ("c", "4"), ("a", "5")])
    }
    try fixture.expectContents(of: storage, ["a": "5", "b": "3", "c": "4"])
  }

  topic.add("values-of-every-size", rule) { fixture in
    let storage = try fixture.newStore()
    let counts = [0, 1, 500, 2000, 5000, 100_000, 1 << 20, 3]
    let entries = counts.enumerated().map { (key: [1, UInt8($0)], value: pattern($1)) }
    for _ in 0..<2 {
      try storage.commit { try $0.putAll(entries) }
      try storage.read { transaction in
        for (key, value) in entries {
          let found = try transaction.value(for: StorageKey(key))
          try fixture.expect(found == value, "the \(value.count) bytes that were put")
        }
      }
    }
  }

  topic.add("sees-own-changes", "Reads inside a write transaction see that transaction's own changes.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    try storage.commit { transaction in
      try transaction.delete("a")
      try transaction.setAll([("b", "3"), ("c", "4"), ("a", "5")])
      try transaction.delete("c")
      try fixture.expectEqual(try transaction.keys(), ["a", "b"], "the keys")
      try fixture.expectEqual(
        try transaction.value(for: StorageKey(bytes("b"))), bytes("3"), "the value of b")
      try transaction.setAll([])
    }
    try fixture.expectContents(of: storage, ["a": "5", "b": "3"])
    let error = TestError()
    try fixture.expectUnchanged(error, from: "a write that throws behind putAll") {
      try storage.commit { transaction in
        try transaction.setAll([("a", "6"), ("d", "7")])
        throw error
      }
    }
    try fixture.expectContents(of: storage, ["a": "5", "b": "3"])
  }
}

private func addManyEntries(to topic: inout CheckTopic) {
  topic.add("20000-entries-and-24-MiB", rule, isHeavy: true) { fixture in
    let (storage, _) = try fixture.newStore(ofNumbersBelow: 20_001, step: 3)
    var numbers = NumberModel(below: 20_001)
    var content: [UInt8] = []
    var entries: [PlacedEntry] = []
    for number in 0..<20_001 {
      if number == 20_000 {
        numbers[number] = 0
        continue
      }
      numbers[number] = 2
      let start = content.count
      content += NumberModel.key(number).bytes
      withUnsafeBytes(of: NumberModel.value(number, 2)) { content += $0 }
      entries.append(PlacedEntry(key: start..<start + 8, value: start + 8..<start + 16))
    }
    try storage.commit { transaction in
      try transaction.remove(number: 20_000)
      try transaction.putAll(entries, in: content.span.bytes)
      try fixture.expectScan(.backward, of: numbers, in: transaction, "in the write that put them at once")
    }
    try storage.read { try fixture.expectScan(.forward, of: numbers, in: $0, "after a putAll of 20000") }

    try storage.commit { transaction in
      try transaction.removeAll(in: .all)
      try transaction.putAll(
        (0..<24).map { (key: [UInt8($0)], value: [UInt8](PatternlessBytes.slice($0, 1 << 20))) })
    }
    var count = 0
    try storage.read { transaction in
      try transaction.scan(.all, .forward) { key, value in
        try fixture.expect(
          [UInt8](copying: key) == [UInt8(count)] && PatternlessBytes.equals(value, (count, 1 << 20)),
          "value \(count) of 24 of 1 MiB that were put at once", seen: "\(byteCount(value)) of other bytes")
        count += 1
        return .continue
      }
    }
    try fixture.expectEqual(count, 24, "the number of values that were put at once")
  }
}

private func addLimits(to topic: inout CheckTopic) {
  topic.add(
    "rejects-empty-and-long-keys", "Keys have 1 to maximumKeyByteCount bytes, any others throw invalidKey."
  ) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    for count in [0, storage.info.maximumKeyByteCount + 1] {
      let key = [UInt8](repeating: 1, count: count)
      try fixture.expectError(.invalidKey, from: "a write whose body swallowed a failed putAll") {
        try storage.commit { transaction in
          _ = try fixture.expectError(.invalidKey, from: "putAll of a key of \(count) bytes") {
            try transaction.putAll([(bytes("b"), []), (key, []), (bytes("c"), [])])
          }
        }
      }
    }
    try fixture.expectContents(of: storage, ["a": "1"])
  }

  topic.add(
    "rejects-too-large-ones", "A value beyond maximumValueByteCount throws valueTooLarge.",
    where: .limitsValues
  ) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try withOversizedValue(for: storage) { value in
      // The large value stands between two that fit. The keys are zeros of the same memory.
      let entries = [0..<5, 0..<value.byteCount, 0..<5].enumerated().map {
        PlacedEntry(key: 0..<($0.offset + 1), value: $0.element)
      }
      try fixture.expectError(.valueTooLarge, from: "a write whose body swallowed a failed putAll") {
        try storage.commit { transaction in
          _ = try fixture.expectError(.valueTooLarge, from: "putAll of \(value.byteCount) bytes") {
            try transaction.putAll(entries, in: value)
          }
        }
      }
    }
    try fixture.expectContents(of: storage, ["a": "1"])
  }
}

private func addTransactionRules(to topic: inout CheckTopic) {
  topic.add(
    "no-change-while-bytes-are-lent", "While a closure has lent bytes, every change throws mutationWhileLent."
  ) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    for entries in [[("b", "2"), ("c", "3")], []] {
      try fixture.expectError(.mutationWhileLent, from: "a write that tried putAll in a scan") {
        try storage.commit { transaction in
          try transaction.scan(.all, .forward) { _, _ in
            try fixture.expectError(.mutationWhileLent, from: "putAll of \(entries.count)") {
              try transaction.setAll(entries)
            }
            return .continue
          }
        }
      }
    }
    try fixture.expectContents(of: storage, ["a": "1"])
  }

  topic.add(
    "not-after-its-closure",
    "A transaction belongs to its closure. Used afterwards, it throws transactionClosed."
  ) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    var kept: (any WriteTransaction)?
    try storage.commit { kept = $0 }
    for entries in [[("b", "2")], []] {
      try fixture.expectError(.transactionClosed, from: "putAll of \(entries.count)") {
        try kept?.setAll(entries)
      }
    }
    try fixture.expectContents(of: storage, ["a": "1"])
  }
}

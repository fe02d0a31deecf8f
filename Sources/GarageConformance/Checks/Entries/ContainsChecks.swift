internal import GarageDriver

private let containsRule = "contains tells whether there is a value of a key, as a get does."
private let scanRule = "scanKeys lends the keys that a scan of the same range lends, in the same order."

enum ContainsChecks {
  /// Calls that do not lend the value obey the same rules as calls that do.
  static func add(to topic: inout CheckTopic) {
    addContainsAnswers(to: &topic)
    addKeyScans(to: &topic)
    VisitChecks.addKeyScanEnds(to: &topic)
    addKeyVisitorChecks(to: &topic)
    addContainsLimits(to: &topic)
    addContainsLife(to: &topic)
  }
}

extension ReadTransaction {
  fileprivate func has(_ key: String) throws -> Bool { try contains(StorageKey(bytes(key))) }

  /// The keys of a range, found by a scan of keys only.
  fileprivate func scannedKeys(
    in range: StorageKeyRange = .all, _ direction: ScanDirection = .forward
  ) throws -> [String] {
    var keys: [String] = []
    try scanKeys(range, direction) { key in
      keys.append(String(decoding: [UInt8](copying: key), as: UTF8.self))
      return .continue
    }
    return keys
  }
}

private func addContainsAnswers(to topic: inout CheckTopic) {
  topic.add("yes-and-no", containsRule) { fixture in
    let storage = try fixture.newStore(holding: ["b": "1", "bb": "2", "d": "3"])
    let expected = [
      "a": false, "b": true, "ba": false, "bb": true, "bbb": false, "c": false, "d": true, "e": false,
    ]
    for (key, isThere) in expected {
      try fixture.expectEqual(try storage.read { try $0.has(key) }, isThere, "contains(\"\(key)\") in read")
      try fixture.expectEqual(
        try storage.commit { try $0.has(key) }, isThere, "contains(\"\(key)\") in write")
    }
  }

  topic.add("an-empty-value-is-a-value", "An empty value is a value, distinct from none.") { fixture in
    let storage = try fixture.newStore(holding: ["a": ""])
    try storage.read { transaction in
      try fixture.expect(try transaction.has("a"), "contains to be true of an empty value")
      try fixture.expectEqual(try transaction.scannedKeys(), ["a"], "the keys")
    }
  }

  topic.add("sees-own-changes", "Reads inside a write transaction see that transaction's own changes.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2", "c": "3"])
    try storage.commit { transaction in
      try transaction.delete("a")
      try transaction.set("d", "4")
      try transaction.set("b", "")
      let seen = try ["a", "b", "c", "d"].map { try transaction.has($0) }
      try fixture.expectEqual(seen, [false, true, true, true], "contains of a, b, c and d")
      try fixture.expectEqual(try transaction.scannedKeys(), ["b", "c", "d"], "the keys")
      try transaction.removeAll(in: StorageKeyRange(from: bytes("c")))
      try fixture.expectEqual(
        try transaction.scannedKeys(in: .all, .backward), ["b"], "the keys after removeAll")
      try fixture.expect(try !transaction.has("d"), "contains to be false of what removeAll removed")
    }
  }

  topic.add("large-values", containsRule) { fixture in
    let storage = try fixture.newStore()
    let counts = [0, 1, 500, 1000, 2000, 5000, 100_000, 1 << 20]
    try storage.commit { transaction in
      for (number, count) in counts.enumerated() {
        try transaction.put(pattern(count), for: StorageKey([1, UInt8(number)]))
      }
    }
    try storage.read { transaction in
      for number in counts.indices {
        let key: [UInt8] = [1, UInt8(number)]
        try fixture.expect(try transaction.contains(StorageKey(key)), "contains of \(counts[number]) bytes")
        try fixture.expect(try !transaction.contains(StorageKey(key + [0])), "no key behind key \(number)")
      }
      var keys: [[UInt8]] = []
      try transaction.scanKeys(.prefix([1]), .forward) { key in
        keys.append([UInt8](copying: key))
        return .continue
      }
      try fixture.expectEqual(keys, counts.indices.map { [1, UInt8($0)] }, "the keys")
    }
  }
}

private func addKeyScans(to topic: inout CheckTopic) {
  for direction in ScanDirection.allCases {
    topic.add("keys-\(direction)", scanRule) { fixture in
      let storage = try fixture.newStore()
      var random = fixture.random()
      let names = (0..<400).map { _ in digits(random.below(3000)) }
      try storage.commit { transaction in
        for name in names { try transaction.set(name, "value of \(name)") }
      }
      var ranges: [StorageKeyRange] = [
        .all, .prefix(bytes("1")), StorageKeyRange(from: bytes("9"), to: bytes("1")),
      ]
      for _ in 0..<60 {
        let from = bytes(digits(random.below(3200)))
        let to = bytes(digits(random.below(3200)))
        ranges.append(StorageKeyRange(from: from, to: to))
        ranges.append(StorageKeyRange(from: from))
        ranges.append(StorageKeyRange(to: to))
      }
      // The bounds include keys, bytes longer than a key may be, and an empty one.
      ranges.append(StorageKeyRange(from: bytes(names[0]), to: bytes(names[0]) + [0]))
      ranges.append(StorageKeyRange(from: bytes(names[1]) + [UInt8](repeating: 0, count: 600)))
      ranges.append(StorageKeyRange(to: bytes(names[2]) + [UInt8](repeating: 0, count: 600)))
      ranges.append(StorageKeyRange(from: [], to: []))
      for (step, range) in ranges.enumerated() {
        fixture.atStep(step)
        for isWrite in [false, true] {
          func compare(_ transaction: any ReadTransaction) throws {
            let expected = try transaction.keys(in: range, direction)
            try fixture.expectEqual(try transaction.scannedKeys(in: range, direction), expected, "the keys")
          }
          if isWrite { try storage.commit { try compare($0) } } else { try storage.read { try compare($0) } }
        }
      }
    }

    topic.add("keys-\(direction)-stops-when-told", "scanKeys visits until it is told to stop.") { fixture in
      let storage = try fixture.newStore(holding: ["a": "1", "b": "2", "c": "3", "d": "4"])
      var visits: [String] = []
      try storage.read { transaction in
        try transaction.scanKeys(.all, direction) { key in
          visits.append(text(key))
          return visits.count < 2 ? .continue : .stop
        }
      }
      try fixture.expectEqual(visits, direction == .forward ? ["a", "b"] : ["d", "c"], "the visits")
    }
  }
}

private func addKeyVisitorChecks(to topic: inout CheckTopic) {
  topic.add("passes-errors-on", "An error that a visitor throws leaves scanKeys unchanged, and ends it.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    let error = TestError()
    var count = 0
    try storage.commit { transaction in
      try fixture.expectUnchanged(error, from: "scanKeys") {
        try transaction.scanKeys(.all, .forward) { _ in
          count += 1
          throw error
        }
      }
      // The error is the visitor's, and poisons nothing.
      try transaction.set("c", "3")
    }
    try fixture.expectEqual(count, 1, "the number of visits")
    try fixture.expectContents(of: storage, ["a": "1", "b": "2", "c": "3"])
  }

  topic.add("lent-keys-stay", "The bytes handed to a closure stay as they are until that closure returns.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2", "c": "3"])
    try storage.read { transaction in
      var pairs: [String] = []
      try transaction.scanKeys(.all, .forward) { outer in
        try transaction.scanKeys(.all, .backward) { inner in
          _ = try transaction.has("b")
          _ = try transaction.keys()
          pairs.append(text(outer) + text(inner))
          return .continue
        }
        return .continue
      }
      try fixture.expectEqual(
        pairs, ["ac", "ab", "aa", "bc", "bb", "ba", "cc", "cb", "ca"], "the pairs of keys")
    }
  }
}

private func addContainsLimits(to topic: inout CheckTopic) {
  topic.add(
    "rejects-empty-and-long-keys", "Keys have 1 to maximumKeyByteCount bytes, any others throw invalidKey."
  ) {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    for count in [0, storage.info.maximumKeyByteCount + 1] {
      let key = StorageKey([UInt8](repeating: 1, count: count))
      try storage.read { transaction in
        try fixture.expectError(.invalidKey, from: "contains of \(count) bytes") {
          _ = try transaction.contains(key)
        }
        try fixture.expect(try transaction.has("a"), "the read to go on")
      }
      try fixture.expectError(.invalidKey, from: "a write whose body swallowed a failed contains") {
        try storage.commit { transaction in
          try transaction.set("lost", "1")
          _ = try? transaction.contains(key)
        }
      }
    }
    let longest = StorageKey([UInt8](repeating: 1, count: storage.info.maximumKeyByteCount))
    try fixture.expect(try storage.read { try !$0.contains(longest) }, "the longest key not to be there")
    try storage.commit { try $0.put([], for: longest) }
    try fixture.expect(try storage.read { try $0.contains(longest) }, "the longest key to be there")
    try fixture.expect(try storage.read { try !$0.has("lost") }, "nothing of the failed writes")
  }

  topic.add(
    "no-change-in-a-scan-of-keys", "While a closure has lent bytes, every change throws mutationWhileLent."
  ) {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    let changes: [(String, (any WriteTransaction) throws -> Void)] = [
      ("put", { try $0.set("b", "2") }), ("remove", { try $0.delete("a") }),
      ("removeAll", { try $0.removeAll(in: .all) }),
    ]
    for (name, change) in changes {
      try fixture.expectError(.mutationWhileLent, from: "a write that tried \(name) in a scan of keys") {
        try storage.commit { transaction in
          try transaction.scanKeys(.all, .forward) { _ in
            try fixture.expectError(.mutationWhileLent, from: name) { try change(transaction) }
            return .continue
          }
        }
      }
    }
    try fixture.expectContents(of: storage, ["a": "1"])
    try storage.commit { transaction in
      _ = try transaction.has("a")
      try transaction.scanKeys(.all, .forward) { _ in .continue }
      try transaction.set("b", "2")
    }
    try fixture.expectContents(of: storage, ["a": "1", "b": "2"], "the store after a change behind them")
  }
}

private func addContainsLife(to topic: inout CheckTopic) {
  topic.add("sees-one-snapshot", "A reader sees exactly one committed state until its body ends.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    guard storage.info.readsDuringWrite else { return }
    try storage.read { transaction in
      try storage.commit { writer in
        try writer.delete("a")
        try writer.set("c", "3")
      }
      let seen = try ["a", "b", "c"].map { try transaction.has($0) }
      try fixture.expectEqual(seen, [true, true, false], "contains of a, b and c")
      try fixture.expectEqual(try transaction.scannedKeys(), ["a", "b"], "the keys")
    }
    try fixture.expectEqual(
      try storage.read { try $0.scannedKeys() }, ["b", "c"], "the keys of the next read")
  }

  topic.add(
    "not-after-its-closure",
    "A transaction belongs to its closure. Used afterwards, it throws transactionClosed."
  ) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    var kept: [any ReadTransaction] = []
    try storage.read { kept.append($0) }
    try storage.commit { kept.append($0) }
    for transaction in kept {
      try fixture.expectError(.transactionClosed, from: "contains") { _ = try transaction.has("a") }
      try fixture.expectError(.transactionClosed, from: "scanKeys") { _ = try transaction.scannedKeys() }
    }
  }
}

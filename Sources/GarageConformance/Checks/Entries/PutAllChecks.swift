internal import GarageDriver

private let rule = "putAll does what a put of one entry after another does."

enum PutAllChecks {
  /// Many values at once obey the rules of one.
  static func add(to topic: inout CheckTopic) {
    addEffects(to: &topic)
    addLimits(to: &topic)
  }
}

extension WriteTransaction {
  /// Puts these in one call, from bytes that hold them in a row.
  fileprivate func putAll(_ entries: [(key: [UInt8], value: [UInt8])]) throws {
    var content: [UInt8] = [0xAA]
    var placed: [PlacedEntry] = []
    for (key, value) in entries {
      // The value first: whoever takes the bytes for keys and values in turn puts something else.
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

private func addEffects(to topic: inout CheckTopic) {
  topic.add("puts-all", rule) { fixture in
    let storage = try fixture.newStore(holding: ["0": "first", "500": "", "~": "last"])
    var random = fixture.random()
    var expected = ["0": "first", "500": "", "~": "last"]
    for (step, count) in [1, 2, 700, 40, 3].enumerated() {
      fixture.atStep(step)
      var entries = (0..<count).map { _ in
        (digits(random.below(3000)), String(repeating: "v", count: random.below(20)) + digits(step))
      }
      if step % 2 == 0 { entries.sort { $0.0 < $1.0 } }
      try storage.commit { try $0.setAll(entries) }
      for (key, value) in entries { expected[key] = value }
      try fixture.expectEqual(try storage.read { try $0.keys() }, expected.keys.sorted(), "the keys")
      for (key, value) in expected {
        try fixture.expectEqual(try storage.text(key), value, "the value of \(key)")
      }
    }
  }

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

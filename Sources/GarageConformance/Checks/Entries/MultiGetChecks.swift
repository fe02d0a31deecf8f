internal import GarageDriver

/// Checks of multi-gets: each key once, in its place.
enum MultiGetChecks {
  static func add(to topic: inout CheckTopic) {
    addMultiGetVisitChecks(to: &topic)
    addMultiGetTurnChecks(to: &topic)
    VisitChecks.addMultiGetEnds(to: &topic)
  }
}

private func addMultiGetVisitChecks(to topic: inout CheckTopic) {
  let rule = "Lends the value of each key, in the order of the keys, with the key's position."
  /// Adds a check that `withValues` for these keys visits `expected`, in reads and in writes.
  func add(_ name: String, _ keys: [String], _ expected: [String]) {
    topic.add(name, rule) { fixture in
      let storage = try fixture.newStore(holding: ["a": "1", "b": "2", "c": "3", "d": "", "e": "5"])
      try fixture.expectEqual(try storage.read { try $0.texts(keys) }, expected, "the visits in read")
      try fixture.expectEqual(try storage.commit { try $0.texts(keys) }, expected, "the visits in write")
    }
  }
  add("ascending", ["a", "b", "c"], ["0: 1", "1: 2", "2: 3"])
  add("unsorted", ["c", "a", "e", "b"], ["0: 3", "1: 1", "2: 5", "3: 2"])
  add("descending", ["e", "c", "a"], ["0: 5", "1: 3", "2: 1"])
  add("repeated-keys", ["b", "b", "a", "b"], ["0: 2", "1: 2", "2: 1", "3: 2"])
  add("missing-keys", ["0", "aa", "b", "bb", "z"], ["0: none", "1: none", "2: 2", "3: none", "4: none"])
  add("empty-values", ["d", "dd"], ["0: ", "1: none"])
  add("no-keys", [], [])

  topic.add("three-thousand-keys", rule) { fixture in
    let storage = try fixture.newStore()
    try storage.commit { transaction in
      for number in 0..<3000 where number % 3 != 0 {
        try transaction.set("key-\(digits(number))", "\(number)")
      }
    }
    var random = fixture.random()
    let shuffled = (0..<3000).map { _ in random.below(3100) }
    for numbers in [Array(0..<3000), shuffled] {
      let keys = numbers.map { "key-\(digits($0))" }
      let expected = numbers.enumerated().map { position, number in
        "\(position): \(number < 3000 && number % 3 != 0 ? "\(number)" : "none")"
      }
      let seen = try storage.read { try $0.texts(keys) }
      try fixture.expect(seen == expected, "each of 3000 values at its position", seen: "other visits")
    }
  }

  topic.add("passes-errors-on", "An error that a visitor throws leaves withValues unchanged, and ends it.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    let error = TestError()
    var count = 0
    try storage.read { transaction in
      try fixture.expectUnchanged(error, from: "withValues") {
        try transaction.withValues(for: ["a", "b"].map { StorageKey(bytes($0)) }) { _, _ in
          count += 1
          throw error
        }
      }
    }
    try fixture.expectEqual(count, 1, "the number of visits")
  }

  topic.add("large-values", rule) { fixture in
    let storage = try fixture.newStore()
    let counts = [100_000, 10, 300_000]
    try storage.commit { transaction in
      for (number, count) in counts.enumerated() {
        try transaction.put(pattern(count), for: StorageKey([UInt8(number)]))
      }
    }
    try storage.read { transaction in
      try transaction.withValues(for: (0...3).map { StorageKey([UInt8($0)]) }) { position, value in
        let expected = position < counts.count ? pattern(counts[position]) : nil
        let seen = owned(value)
        try fixture.expect(seen == expected, "value \(position)", seen: byteCount(seen))
      }
    }
  }
}

/// One of fifty keys, for a place in a list.
private func keyOfFifty(at place: Int) -> String { "key-\(digits(place * 7 % 50))" }

private func fillFifty(_ transaction: any WriteTransaction) throws {
  for number in 0..<50 { try transaction.set("key-\(digits(number))", "\(number)") }
}

/// Which keys of a list exist.
private let patterns: [@Sendable (_ place: Int, _ count: Int) -> Bool] = [
  { _, _ in true }, { _, _ in false }, { place, _ in place > 0 }, { place, count in place < count - 1 },
  { place, count in place < count / 2 }, { place, count in place >= count / 2 },
  { place, _ in place % 2 == 0 }, { place, _ in place % 16 < 15 }, { place, _ in place % 16 > 0 },
]

/// Checks of missing and invalid keys in lists of many lengths, for drivers that look for several keys at a time.
private func addMultiGetTurnChecks(to topic: inout CheckTopic) {
  topic.add(
    "missing-keys-anywhere", "Lends the value of each key, or nil where there is none, wherever that stands."
  ) { fixture in
    let storage = try fixture.newStore()
    func check(_ transaction: any ReadTransaction) throws {
      for count in Array(1...36) + [63, 64, 65, 130] {
        fixture.atStep(count)
        for isThere in patterns {
          let keys = (0..<count).map { keyOfFifty(at: $0) + (isThere($0, count) ? "" : "-") }
          let expected = (0..<count).map { "\($0): \(isThere($0, count) ? "\($0 * 7 % 50)" : "none")" }
          try fixture.expectEqual(try transaction.texts(keys), expected, "the visits of \(count) keys")
        }
      }
    }
    try storage.commit(fillFifty)
    try storage.read(check)
    try storage.commit { transaction in
      try fillFifty(transaction)
      try check(transaction)
    }
  }

  topic.add(
    "a-wrong-key-throws-in-its-turn",
    "What is no key throws when it is its turn: the values of those before it were lent."
  ) { fixture in
    let storage = try fixture.newStore()
    try storage.commit(fillFifty)
    let error = TestError()
    /// Valid keys, with an invalid one behind `count` of them.
    func keys(wrongBehind count: Int) -> [StorageKey] {
      let keys = (0...count).map { StorageKey(bytes(keyOfFifty(at: $0))) }
      return keys[..<count] + [StorageKey([UInt8]()), keys[count]]
    }
    /// Ends a multi-get before it comes to the invalid key.
    func end(at end: Int, _ keys: [StorageKey], _ transaction: any ReadTransaction) throws {
      try fixture.expectUnchanged(error, from: "a multi-get that ends before an empty key") {
        try transaction.withValues(for: keys) { position, _ in if position == end { throw error } }
      }
    }
    for count in [0, 1, 2, 7, 8, 14, 15, 16, 17, 31, 32, 40] {
      fixture.atStep(count)
      let keys = keys(wrongBehind: count)
      var seen: [String] = []
      try storage.read { transaction in
        try fixture.expectError(.invalidKey, from: "a multi-get with an empty key behind \(count)") {
          try transaction.withValues(for: keys) { _, value in seen.append(ownedText(value) ?? "none") }
        }
        if count > 0 { try end(at: count - 1, keys, transaction) }
      }
      try fixture.expectEqual(
        seen, (0..<count).map { "\($0 * 7 % 50)" }, "what was lent before the empty key")
    }
    // An invalid key whose turn did not come is no failure.
    try storage.commit { transaction in
      try transaction.set("before", "kept")
      try end(at: 19, keys(wrongBehind: 20), transaction)
    }
    try fixture.expectEqual(
      try storage.text("before"), "kept", "what was put before a multi-get that ended early")
  }
}

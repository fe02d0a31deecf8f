internal import GarageDriver

/// Checks of multi-gets: each key once, in its place.
enum MultiGetChecks {
  static func add(to topic: inout CheckTopic) {
    addMultiGetVisitChecks(to: &topic)
    VisitChecks.addMultiGetEnds(to: &topic)
  }
}

private func addMultiGetVisitChecks(to topic: inout CheckTopic) {
  let rule = "Lends the value of each key, in the order of the keys, with the key's position."
  /// Adds a check that `withValues` for these keys visits `expected`, in read and in write.
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

internal import GarageDriver

/// Checks of scans: what they visit, in which order, and when they end.
enum ScanChecks {
  static func add(to topic: inout CheckTopic) {
    addDirectionChecks(to: &topic)
    addBoundChecks(to: &topic)
    addStopChecks(to: &topic)
    VisitChecks.addScanEnds(to: &topic)
  }
}

private let letters: KeyValuePairs = ["a": "1", "b": "2", "c": "3", "d": "4", "e": "5"]

private func addDirectionChecks(to topic: inout CheckTopic) {
  topic.add("forward", "Lends every key in the range with its value, in key order.") { fixture in
    let storage = try fixture.newStore(holding: ["c": "3", "a": "1", "e": "5", "b": "2", "d": "4"])
    let seen = try storage.read { try $0.entries(in: .all, .forward) }
    try fixture.expectEqual(seen, letters.map { Entry($0.key, $0.value) }, "a scan forward")
  }

  topic.add("backward", "Lends every key in the range with its value, against key order.") { fixture in
    let storage = try fixture.newStore(holding: ["c": "3", "a": "1", "e": "5", "b": "2", "d": "4"])
    let seen = try storage.read { try $0.entries(in: .all, .backward) }
    try fixture.expectEqual(seen, letters.reversed().map { Entry($0.key, $0.value) }, "a scan backward")
  }

  for direction in ScanDirection.allCases {
    topic.add("\(direction)-on-an-empty-store", "A scan of nothing visits nothing.") { fixture in
      let storage = try fixture.newStore()
      try fixture.expectEqual(try storage.read { try $0.entries(in: .all, direction) }, [], "a scan")
      let range = StorageKeyRange(from: [1], to: [2])
      try fixture.expectEqual(
        try storage.read { try $0.entries(in: range, direction) }, [], "a scan of a range")
    }

    topic.add("\(direction)-over-20000-keys", "Lends every key in the range.") { fixture in
      let storage = try fixture.newStore()
      try storage.commit { transaction in
        for number in 0..<20_000 { try transaction.set("key-\(digits(number, 5))", "value \(number)") }
      }
      var next = direction == .forward ? 0 : 19_999
      try storage.read { transaction in
        try transaction.scan(.all, direction) { key, value in
          let fits = text(key) == "key-\(digits(next, 5))" && text(value) == "value \(next)"
          try fixture.expect(fits, "entry \(next)", seen: "\(text(key)): \(text(value))")
          next += direction == .forward ? 1 : -1
          return .continue
        }
      }
      try fixture.expectEqual(next, direction == .forward ? 20_000 : -1, "the number behind the last visit")
    }
  }
}

private func addBoundChecks(to topic: inout CheckTopic) {
  for direction in ScanDirection.allCases {
    /// Adds a check that a range of the letters a to e holds `expected`.
    func add(_ name: String, _ rule: String, _ range: StorageKeyRange, _ expected: [String]) {
      topic.add("\(direction)-\(name)", rule) { fixture in
        let storage = try fixture.newStore(holding: letters)
        let seen = try storage.read { try $0.keys(in: range, direction) }
        try fixture.expectEqual(
          seen, direction == .forward ? expected : expected.reversed(), "the keys in \(range)")
      }
    }
    let long = [UInt8](repeating: UInt8(ascii: "c"), count: 4000)
    add(
      "includes-the-lower-bound", "A range includes its lower bound.",
      StorageKeyRange(from: bytes("c")), ["c", "d", "e"])
    add(
      "excludes-the-upper-bound", "A range excludes its upper bound.",
      StorageKeyRange(to: bytes("c")), ["a", "b"])
    add(
      "between-both-bounds", "A range goes from its lower bound, included, to its upper bound, excluded.",
      StorageKeyRange(from: bytes("b"), to: bytes("d")), ["b", "c"])
    add(
      "bounds-between-keys", "A bound need not be a key that is there.",
      StorageKeyRange(from: bytes("aa"), to: bytes("cc")), ["b", "c"])
    add(
      "bounds-beyond-all-keys", "A bound need not be a key that is there.",
      StorageKeyRange(from: bytes("A"), to: bytes("z")), ["a", "b", "c", "d", "e"])
    add(
      "a-range-behind-all-keys", "A range that holds no key visits nothing.",
      StorageKeyRange(from: bytes("f")), [])
    add(
      "a-range-before-all-keys", "A range that holds no key visits nothing.",
      StorageKeyRange(to: bytes("a")), [])
    add(
      "equal-bounds", "A range from a key to itself holds nothing.",
      StorageKeyRange(from: bytes("c"), to: bytes("c")), [])
    add(
      "crossed-bounds", "A range whose bounds cross holds nothing.",
      StorageKeyRange(from: bytes("d"), to: bytes("b")), [])
    add("an-empty-upper-bound", "A range to the empty key holds nothing.", StorageKeyRange(to: []), [])
    add(
      "bounds-of-any-length", "A bound of the range may have more bytes than a key.",
      StorageKeyRange(from: long, to: bytes("d") + long), ["d"])
    add(
      "long-crossed-bounds", "A range whose bounds cross holds nothing, of whatever length they are.",
      StorageKeyRange(from: bytes("d") + long, to: long), [])
    addPrefixCheck(direction, to: &topic)
    addExhaustiveCheck(direction, to: &topic)
  }
}

private func addPrefixCheck(_ direction: ScanDirection, to topic: inout CheckTopic) {
  topic.add(
    "\(direction)-prefixes", "A prefix range holds every key that begins with it, bytes of 255 included."
  ) {
    fixture in
    let keys: [[UInt8]] = [
      [1], [1, 0], [1, 254], [1, 255], [1, 255, 0], [1, 255, 255], [1, 255, 255, 7], [2], [254, 255], [255],
      [255, 0], [255, 255], [255, 255, 255], [255, 255, 255, 1],
    ]
    let storage = try fixture.newStore()
    try storage.commit { transaction in for key in keys { try transaction.put([1], for: StorageKey(key)) } }
    for prefix: [UInt8] in [
      [], [1], [1, 255], [1, 255, 255], [2], [3], [254], [255], [255, 255], [255, 255, 255],
    ] {
      let inOrder = keys.filter { $0.starts(with: prefix) }
      let expected = direction == .forward ? inOrder : inOrder.reversed()
      let seen = try storage.read { try $0.entries(in: .prefix(prefix), direction).map(\.key) }
      try fixture.expectEqual(seen, expected, "the keys that begin with \(prefix)")
    }
  }
}

private func addExhaustiveCheck(_ direction: ScanDirection, to topic: inout CheckTopic) {
  topic.add("\(direction)-every-pair-of-bounds", "A range holds every key from its lower to its upper bound.")
  {
    fixture in
    // Every key of up to three bytes made of three values. Every second one of them exists.
    let digits: [UInt8] = [0, 128, 255]
    var universe: [[UInt8]] = [[]]
    for count in 0..<3 {
      universe += universe.filter { $0.count == count }.flatMap { key in digits.map { key + [$0] } }
    }
    universe.sort { $0.lexicographicallyPrecedes($1) }
    let keys = universe.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    let storage = try fixture.newStore()
    try storage.commit { transaction in for key in keys { try transaction.put(key, for: StorageKey(key)) } }
    try storage.read { transaction in
      for lower in universe {
        for upper in universe.map(Optional.some) + [nil] {
          let inOrder = keys.filter { key in
            !key.lexicographicallyPrecedes(lower) && upper.map { key.lexicographicallyPrecedes($0) } ?? true
          }
          let expected = direction == .forward ? inOrder : inOrder.reversed()
          let seen = try transaction.entries(in: StorageKeyRange(from: lower, to: upper), direction).map(
            \.key)
          try fixture.expectEqual(
            seen, expected, "the keys from \(lower) to \(upper.map { "\($0)" } ?? "the end")")
        }
      }
    }
  }
}

private func addStopChecks(to topic: inout CheckTopic) {
  for direction in ScanDirection.allCases {
    topic.add("\(direction)-stops-when-told", "A scan goes on until its visitor says stop.") { fixture in
      let storage = try fixture.newStore(holding: letters)
      let order = direction == .forward ? ["a", "b", "c", "d", "e"] : ["e", "d", "c", "b", "a"]
      for count in 1...5 {
        var seen: [String] = []
        try storage.read { transaction in
          try transaction.scan(.all, direction) { key, _ in
            seen.append(text(key))
            return seen.count < count ? .continue : .stop
          }
          try fixture.expectEqual(try transaction.text("c"), "3", "a get after a stopped scan")
        }
        try fixture.expectEqual(seen, Array(order.prefix(count)), "the visits before stop")
      }
    }
  }

  topic.add("passes-errors-on", "An error that a visitor throws leaves the scan unchanged, and ends it.") {
    fixture in
    let storage = try fixture.newStore(holding: letters)
    let error = TestError()
    var count = 0
    try storage.read { transaction in
      try fixture.expectUnchanged(error, from: "scan") {
        try transaction.scan(.all, .forward) { _, _ in
          count += 1
          if count == 2 { throw error }
          return .continue
        }
      }
      try fixture.expectEqual(count, 2, "the number of visits")
      try fixture.expectEqual(try transaction.keys(), ["a", "b", "c", "d", "e"], "the next scan")
    }
  }

  topic.add("errors-in-a-write-are-no-failures", "A visitor's own error poisons nothing.") { fixture in
    let storage = try fixture.newStore(holding: letters)
    let error = TestError()
    try storage.commit { transaction in
      try fixture.expectUnchanged(error, from: "scan") {
        try transaction.scan(.all, .forward) { _, _ in throw error }
      }
      try transaction.set("f", "6")
    }
    try fixture.expectEqual(try storage.text("f"), "6", "what was put after the visitor's error")
  }

  topic.add("repeats", "Every scan of one transaction sees the same.") { fixture in
    let storage = try fixture.newStore(holding: letters)
    try storage.read { transaction in
      let first = try transaction.entries()
      for _ in 0..<10 {
        try fixture.expectEqual(try transaction.entries(), first, "another scan")
        try transaction.scan(.all, .backward) { _, _ in .stop }
      }
    }
  }
}

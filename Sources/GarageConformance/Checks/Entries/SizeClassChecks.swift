internal import GarageDriver

/// Checks of values that replace much larger or much smaller ones. An engine may keep large values in another place.
enum SizeClassChecks {
  /// Adds a check of removals of ranges.
  static func addRemovals(to topic: inout CheckTopic) {
    topic.add(
      "ranges-of-large-values", "removeAll removes every key in the range with its value, however large."
    ) {
      fixture in
      let storage = try fixture.newStore()
      var entries = SizedEntries()
      // Some entries in the middle, a prefix, and all.
      let ranges = [
        (StorageKeyRange(from: [7, 1], to: [7, 5]), 1..<5), (.prefix([7]), 0..<6), (.all, 0..<6),
      ]
      for (round, (range, removed)) in ranges.enumerated() {
        fixture.atStep(round)
        entries.rotate(0..<6, by: round)
        try storage.commit { try entries.put(entries.all, $0) }
        let before = entries
        try storage.write { transaction in
          try transaction.removeAll(in: range)
          entries.remove(removed)
          try fixture.expect(entries, in: transaction, "in the write that removed them")
          entries.rotate(removed, by: round + 1)
          try entries.put(Array(removed), transaction)
          try fixture.expect(entries, in: transaction, "in the write that put others in their place")
          return .rollBack(())
        }
        entries = before
        try storage.read { try fixture.expect(entries, in: $0, "after the roll-back of their removal") }
        try storage.commit { try $0.removeAll(in: range) }
        entries.remove(removed)
        try storage.read { try fixture.expect(entries, in: $0, "after the commit of their removal") }
        entries.rotate(removed, by: round + 2)
        try storage.commit { try entries.put(Array(removed), $0) }
        try storage.read { try fixture.expect(entries, in: $0, "after others were put in their place") }
      }
    }
  }

  /// Adds a check of many puts at once.
  static func addPuts(to topic: inout CheckTopic) {
    topic.add("other-sizes-take-their-places", "putAll does what a put of one entry after another does.") {
      fixture in
      let storage = try fixture.newStore()
      var entries = SizedEntries()
      for round in 0..<7 {
        fixture.atStep(round)
        entries.rotate(0..<6, by: round)
        try storage.commit { transaction in
          if round % 3 == 2 {
            try entries.put(entries.all, transaction)
          } else {
            try entries.putAll(round: round, transaction)
          }
          if round % 2 == 0 { try fixture.expect(entries, in: transaction, "in the write that put them") }
        }
        if round % 2 == 1 { try storage.read { try fixture.expect(entries, in: $0, "after their commit") } }
      }
    }
  }
}

/// Six entries of very different sizes. Each takes over the size of another one again and again.
private struct SizedEntries {
  private static let values = [0, 500, 5000, 70_000, 600_000, 1_300_000].map(pattern)
  /// The size of each value, or nil if the entry is missing.
  private var sizes = [Int?](repeating: nil, count: 6)

  var all: [Int] { Array(sizes.indices) }

  static func key(_ number: Int) -> StorageKey { StorageKey([7, UInt8(number)]) }

  func value(_ number: Int) -> [UInt8]? { sizes[number].map { Self.values[$0] } }

  /// Gives these entries the size that stands `count` places behind their own.
  mutating func rotate(_ numbers: Range<Int>, by count: Int) {
    for number in numbers { sizes[number] = (number + count) % sizes.count }
  }

  mutating func remove(_ numbers: Range<Int>) {
    for number in numbers { sizes[number] = nil }
  }

  func put(_ numbers: [Int], _ transaction: any WriteTransaction) throws {
    for number in numbers { try transaction.put(value(number) ?? [], for: Self.key(number)) }
  }

  /// Puts all entries at once, each between a hundred small ones, which an engine may handle together.
  func putAll(round: Int, _ transaction: any WriteTransaction) throws {
    var entries: [(key: [UInt8], value: [UInt8])] = []
    for number in all {
      for other in UInt8(0)..<100 { entries.append(([8, UInt8(number), other], [UInt8(round)])) }
      entries.append((Self.key(number).bytes, value(number) ?? []))
    }
    // In key order every second time.
    if round % 2 == 0 { entries.sort { StorageKey($0.key) < StorageKey($1.key) } }
    try transaction.putAll(entries)
  }
}

extension Fixture {
  /// Expects exactly these entries below their prefix, in all four ways to read.
  fileprivate func expect(
    _ entries: SizedEntries, in transaction: any ReadTransaction, _ what: String,
    file: StaticString = #fileID, line: UInt = #line
  ) throws {
    func expectValue(_ number: Int, _ seen: RawSpan?, _ way: String) throws {
      let value = entries.value(number)
      try expect(
        value.map { isEqual(seen, $0) } ?? (seen == nil),
        "value \(number) of \(byteCount(value)) in \(way), \(what)",
        seen: byteCount(seen), file: file, line: line)
    }
    try located(file, line) {
      for number in entries.all {
        let key = SizedEntries.key(number)
        try transaction.withValue(for: key) { try expectValue(number, $0, "a get") }
        try expectEqual(
          try transaction.contains(key), entries.value(number) != nil, "contains of key \(number), \(what),",
          file: file, line: line)
      }
      let there = entries.all.filter { entries.value($0) != nil }
      var rest = there[...]
      try transaction.scan(.prefix([7]), .forward) { key, value in
        let number = rest.popFirst()
        try expectEqual(
          StorageKey(key), number.map { SizedEntries.key($0) } ?? StorageKey([]),
          "the next key of a scan, \(what),",
          file: file, line: line)
        if let number { try expectValue(number, value, "a scan") }
        return .continue
      }
      try expectEqual(
        rest.count, 0, "the number of keys that a scan left out, \(what),", file: file, line: line)
      var keys: [StorageKey] = []
      try transaction.scanKeys(.prefix([7]), .backward) { key in
        keys.append(StorageKey(key))
        return .continue
      }
      try expectEqual(
        keys, there.reversed().map { SizedEntries.key($0) }, "the keys of a scan of keys, \(what),",
        file: file,
        line: line)
    }
  }
}

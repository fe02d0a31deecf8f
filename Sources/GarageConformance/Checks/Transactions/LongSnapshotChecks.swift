internal import GarageDriver

enum LongSnapshotChecks {
  /// Adds checks that a scan or multi-get of any length shows one commit, whatever is committed meanwhile.
  static func add(to topic: inout CheckTopic) {
    let rule =
      "A reader sees exactly one committed state, from its first visit to its last, whatever is committed."
    for direction in ScanDirection.allCases {
      topic.add("\(direction)-scans-show-one-commit", rule) { fixture in
        try checkScan(of: 25_000, direction, fixture)
      }
      topic.add("\(direction)-scans-of-keys-show-one-commit", rule) { fixture in
        try checkScan(of: 12_000, direction, keysOnly: true, fixture)
      }
    }

    topic.add("multi-gets-show-one-commit", rule) { fixture in
      let (storage, numbers) = try fixture.newStore(ofNumbersBelow: 2 * 12_000, step: 2)
      try storage.read { transaction in
        var visitCount = 0
        var drift: Int?
        try transaction.withValues(for: (0..<24_000).map { NumberModel.key($0) }) { position, value in
          visitCount += 1
          let seen = owned(value)
          // The version stands in the upper half of a value.
          if drift == nil && seen?.dropFirst(4).first != (position % 2 == 0 ? 1 : nil) { drift = position }
          if visitCount == 1 { try storage.commit { try changeAll($0, numbers.versions.count) } }
        }
        try fixture.expect(
          drift == nil && visitCount == 24_000, "24000 values of one commit",
          seen: drift.map { "another at position \($0)" } ?? "\(visitCount) visits")
      }
    }

    topic.add("a-reader-outlasts-a-thousand-commits", rule) { fixture in
      let (storage, numbers) = try fixture.newStore(ofNumbersBelow: 300)
      try storage.read { transaction in
        for round in 0..<1000 {
          try storage.commit { try $0.put(number: round % 300, version: 2) }
          if round % 97 == 0 {
            try fixture.expectScan(.forward, of: numbers, in: transaction, "after \(round + 1) commits")
          }
        }
        try fixture.expectScans(of: numbers, in: transaction, "after 1000 commits")
        try fixture.expectScans(of: numbers, keysOnly: true, in: transaction, "after 1000 commits")
        for number in [0, 150, 299] {
          try fixture.expectGet(number, of: numbers, in: transaction, "after 1000 commits")
        }
      }
    }
  }
}

/// Scans so many keys while others commit, and once more after that.
private func checkScan(
  of count: Int, _ direction: ScanDirection, keysOnly: Bool = false, _ fixture: Fixture
) throws {
  let (storage, numbers) = try fixture.newStore(ofNumbersBelow: 2 * count, step: 2)
  let moments = Set(geometric(to: count - 1000, percent: 90))
  try storage.read { transaction in
    try fixture.expectScan(
      direction, of: numbers, keysOnly: keysOnly, in: transaction, "while others commit"
    ) { visitCount, number in
      guard moments.contains(visitCount) else { return }
      try storage.commit { transaction in
        if visitCount == 1 { try changeAll(transaction, numbers.versions.count) }
        try changeNear(number, transaction, direction, numbers.versions.count)
      }
    }
    // Scans once more from the beginning, after all of these commits.
    try fixture.expectScan(
      direction, of: numbers, keysOnly: keysOnly, in: transaction, "after others committed")
  }
}

/// Changes some of the even numbers below `limit`: overwrites some, removes some, and puts odd ones.
private func changeAll(_ transaction: any WriteTransaction, _ limit: Int) throws {
  for number in stride(from: 0, to: limit, by: 14) { try transaction.put(number: number, version: 2) }
  for number in stride(from: 4, to: limit, by: 30) { try transaction.remove(number: number) }
  for number in stride(from: 1, to: limit, by: 40) { try transaction.put(number: number, version: 2) }
}

/// Changes the keys that a scan comes to next.
private func changeNear(
  _ number: Int, _ transaction: any WriteTransaction, _ direction: ScanDirection, _ limit: Int
) throws {
  let step = direction == .forward ? 1 : -1
  func change(_ distance: Int, _ body: (Int) throws -> Void) throws {
    let other = number + step * distance
    if (0..<limit).contains(other) { try body(other) }
  }
  try change(1) { try transaction.put(number: $0, version: 3) }
  try change(2) { try transaction.put(number: $0, version: 3) }
  try change(4) { try transaction.remove(number: $0) }
  try change(0) { try transaction.remove(number: $0) }
}

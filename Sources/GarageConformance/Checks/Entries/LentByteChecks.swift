internal import GarageDriver

/// Checks of the bytes that are lent to closures, and that changes are refused meanwhile.
enum LentByteChecks {
  static func add(to topic: inout CheckTopic) {
    addLentValueChecks(to: &topic)
    addLongMultiGetChecks(to: &topic)
    addLentBesideOthersChecks(to: &topic)
    addRefusedChangeChecks(to: &topic)
    addChangeAroundClosureChecks(to: &topic)
  }
}

private let lifetimeRule =
  "The bytes handed to a closure stay as they are until it returns, whatever else is read meanwhile."

private func addLentValueChecks(to topic: inout CheckTopic) {
  topic.add("a-value-outlasts-gets", lifetimeRule) { fixture in
    let storage = try fixture.newStore()
    try fill(storage)
    /// Reads everything else while one value of each size is lent.
    func check(_ transaction: any ReadTransaction) throws {
      for number in [0, 50, 99] {
        try transaction.lend("key-\(digits(number))") { value in
          for other in 0..<100 {
            let seen = try transaction.value(for: StorageKey(bytes("key-\(digits(other))")))
            try fixture.expect(seen == sized(other), "value \(other)", seen: "other bytes")
          }
          let seen = owned(value)
          try fixture.expect(seen == sized(number), "lent value \(number) unchanged", seen: "other bytes")
        }
      }
    }
    try storage.read(check)
    try storage.commit(check)
  }

  topic.add("a-value-outlasts-scans", lifetimeRule) { fixture in
    let storage = try fixture.newStore()
    try fill(storage)
    func check(_ transaction: any ReadTransaction) throws {
      try transaction.lend("key-\(digits(42))") { value in
        for direction in ScanDirection.allCases { _ = try transaction.entries(in: .all, direction) }
        let seen = owned(value)
        try fixture.expect(seen == sized(42), "the lent value unchanged", seen: "other bytes")
      }
    }
    try storage.read(check)
    try storage.commit(check)
  }

  topic.add("a-scanned-entry-outlasts-gets", lifetimeRule) { fixture in
    let storage = try fixture.newStore()
    try fill(storage)
    func check(_ transaction: any ReadTransaction) throws {
      var number = 0
      try transaction.scan(.all, .forward) { key, value in
        for other in [0, 33, 66, 99] {
          _ = try transaction.value(for: StorageKey(bytes("key-\(digits(other))")))
        }
        try transaction.scan(.all, .backward) { _, _ in .stop }
        try fixture.expectEqual(text(key), "key-\(digits(number))", "the lent key")
        try fixture.expect(
          [UInt8](copying: value) == sized(number), "lent value \(number)", seen: "other bytes")
        number += 1
        return .continue
      }
      try fixture.expectEqual(number, 100, "the number of visits")
    }
    try storage.read(check)
    try storage.commit(check)
  }
}

private func addLongMultiGetChecks(to topic: inout CheckTopic) {
  topic.add("multi-got-values-outlast-long-multi-gets", lifetimeRule) { fixture in
    let storage = try fixture.newStore()
    try fill(storage)
    let keys = (0..<100).map { StorageKey(bytes("key-\(digits($0))")) }
    func check(_ transaction: any ReadTransaction) throws {
      try transaction.withValues(for: keys) { position, value in
        let others = (0..<20).map { (position + 1 + $0 * 3) % 100 }
        try transaction.withValues(for: others.map { keys[$0] }) { place, other in
          if place == 10 { try transaction.withValues(for: Array(keys[50..<70])) { _, _ in } }
          let seen = owned(other)
          try fixture.expect(seen == sized(others[place]), "value \(others[place])", seen: "other bytes")
        }
        let seen = owned(value)
        try fixture.expect(seen == sized(position), "lent value \(position) unchanged", seen: "other bytes")
      }
    }
    try storage.read(check)
    try storage.commit(check)
  }
}

private func addLentBesideOthersChecks(to topic: inout CheckTopic) {
  topic.add("multi-got-values-outlast-gets", lifetimeRule) { fixture in
    let storage = try fixture.newStore()
    try fill(storage)
    let keys = (0..<100).map { StorageKey(bytes("key-\(digits($0))")) }
    func check(_ transaction: any ReadTransaction) throws {
      try transaction.withValues(for: keys) { position, value in
        _ = try transaction.value(for: keys[99 - position])
        try transaction.withValues(for: [keys[position], keys[0]]) { _, _ in }
        let seen = owned(value)
        try fixture.expect(seen == sized(position), "lent value \(position) unchanged", seen: "other bytes")
      }
    }
    try storage.read(check)
    try storage.commit(check)
  }

  topic.add("a-value-outlasts-other-transactions", lifetimeRule) { fixture in
    let storage = try fixture.newStore()
    try fill(storage)
    try storage.read { transaction in
      try transaction.lend("key-\(digits(60))") { value in
        for round in 0..<20 {
          try storage.commit { writer in
            try writer.put(pattern(round * 1000), for: StorageKey(bytes("key-\(digits(60))")))
            try writer.delete("key-\(digits(round))")
          }
          _ = try storage.read { try $0.entries() }
        }
        let seen = owned(value)
        try fixture.expect(
          seen == sized(60), "the lent value unchanged after 20 commits", seen: "other bytes")
      }
    }
  }

  topic.add("two-values-are-distinct", lifetimeRule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "first", "b": "other"])
    func check(_ transaction: any ReadTransaction) throws {
      try transaction.lend("a") { a in
        try transaction.lend("b") { b in
          try fixture.expectEqual(ownedText(a), "first", "the value lent first")
          try fixture.expectEqual(ownedText(b), "other", "the value lent second")
        }
        try fixture.expectEqual(
          ownedText(a), "first", "the value lent first, after the second was taken back")
      }
    }
    try storage.read(check)
    try storage.commit(check)
  }
}

/// Entry `number` of the store that these checks use. Most are short; some are larger than a page.
private func sized(_ number: Int) -> [UInt8] { pattern(number % 10 == 0 ? 9000 + number : 20 + number) }

private func fill(_ storage: any StorageDriver) throws {
  try storage.commit { transaction in
    for number in 0..<100 {
      try transaction.put(sized(number), for: StorageKey(bytes("key-\(digits(number))")))
    }
  }
}

/// A change, and a way to lend bytes while it is tried.
private typealias Change = @Sendable (any WriteTransaction) throws -> Void
private typealias Lending = @Sendable (any WriteTransaction, () throws -> Void) throws -> Void

private let changes: [(String, Change)] = [
  ("put", { try $0.set("a", "changed") }),
  ("remove", { try $0.delete("a") }),
  ("remove-all", { try $0.removeAll(in: .all) }),
  // A change that would leave everything as it is counts as a change, too.
  ("put-of-the-same-value", { try $0.set("a", "1") }),
  ("put-of-the-lent-value", { try $0.set("b", "2") }),
  ("remove-of-a-missing-key", { try $0.delete("none") }),
  ("remove-all-between-keys", { try $0.removeAll(in: StorageKeyRange(from: bytes("aa"), to: bytes("ab"))) }),
  ("remove-all-of-equal-bounds", { try $0.removeAll(in: StorageKeyRange(from: bytes("a"), to: bytes("a"))) }),
  (
    "remove-all-of-crossed-bounds",
    { try $0.removeAll(in: StorageKeyRange(from: bytes("b"), to: bytes("a"))) }
  ),
  ("remove-all-up-to-nothing", { try $0.removeAll(in: StorageKeyRange(to: [])) }),
  (
    "remove-all-between-long-bounds",
    { transaction in
      let long = [UInt8](repeating: 97, count: 5000)
      try transaction.removeAll(in: StorageKeyRange(from: long, to: long + [1]))
    }
  ),
]

private let lendings: [(String, Lending)] = [
  ("get", { transaction, body in try transaction.lend("b") { _ in try body() } }),
  ("get-of-nothing", { transaction, body in try transaction.lend("missing") { _ in try body() } }),
  (
    "multi-get",
    { transaction, body in
      try transaction.withValues(for: [StorageKey(bytes("b"))]) { _, _ in try body() }
    }
  ),
  (
    "multi-get-of-nothing",
    { transaction, body in
      try transaction.withValues(for: [StorageKey(bytes("missing"))]) { _, _ in try body() }
    }
  ),
  (
    "scan",
    { transaction, body in
      try transaction.scan(.all, .forward) { _, _ in
        try body()
        return .stop
      }
    }
  ),
  (
    "backward-scan",
    { transaction, body in
      try transaction.scan(.all, .backward) { _, _ in
        try body()
        return .stop
      }
    }
  ),
]

private let mutationRule =
  "While such a closure runs, every change through the same transaction throws mutationWhileLent."

private func addRefusedChangeChecks(to topic: inout CheckTopic) {
  for (lending, lend) in lendings {
    for (name, change) in changes {
      topic.add("no-\(name)-in-a-\(lending)", mutationRule) { fixture in
        let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
        try fixture.expectError(.mutationWhileLent, from: "the write's end, after a swallowed failure") {
          try storage.commit { transaction in
            try lend(transaction) {
              try fixture.expectError(.mutationWhileLent, from: "\(name) in a \(lending)") {
                try change(transaction)
              }
            }
          }
        }
        try fixture.expectContents(of: storage, ["a": "1", "b": "2"])
      }
    }
  }

  topic.add("ranges-without-keys-change-nothing", "removeAll of a range that holds no key changes nothing.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    let long = [UInt8](repeating: 97, count: 5000)
    let ranges = [
      StorageKeyRange(to: []), StorageKeyRange(to: [0]), StorageKeyRange(from: bytes("c"), to: bytes("b")),
      StorageKeyRange(from: bytes("a"), to: bytes("a")), StorageKeyRange(from: bytes("aa"), to: bytes("ab")),
      StorageKeyRange(from: long, to: long + [1]), .prefix(long),
    ]
    for range in ranges {
      try storage.commit { try $0.removeAll(in: range) }
      try fixture.expectContents(of: storage, ["a": "1", "b": "2"], "the store after removeAll of \(range)")
    }
  }
}

private func addChangeAroundClosureChecks(to topic: inout CheckTopic) {
  topic.add("no-change-while-an-outer-closure-runs", mutationRule) { fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    try storage.write { transaction in
      try transaction.lend("a") { _ in
        try transaction.lend("b") { _ in }
        try fixture.expectError(.mutationWhileLent, from: "a put after an inner get") {
          try transaction.set("c", "3")
        }
      }
      return .rollBack(())
    }
  }

  topic.add("changes-go-on-after-the-closure", "Only while the closure runs is a change refused.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    let error = TestError()
    try storage.commit { transaction in
      try transaction.lend("a") { _ in }
      try transaction.set("c", "3")
      try transaction.scan(.all, .forward) { _, _ in .stop }
      try transaction.set("d", "4")
      // A closure has ended also when it has thrown.
      try fixture.expectUnchanged(error, from: "a get") { try transaction.lend("a") { _ in throw error } }
      try transaction.set("e", "5")
      try fixture.expectUnchanged(error, from: "a scan") {
        try transaction.scan(.all, .backward) { _, _ in throw error }
      }
      try transaction.delete("b")
      try fixture.expectUnchanged(error, from: "a multi-get") {
        try transaction.withValues(for: [StorageKey(bytes("a"))]) { _, _ in throw error }
      }
      try transaction.set("f", "6")
    }
    try fixture.expectContents(of: storage, ["a": "1", "c": "3", "d": "4", "e": "5", "f": "6"])
  }

  topic.add("another-store-may-change", "Only changes through the same transaction are refused.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    let other = try fixture.newStore()
    try storage.commit { transaction in
      try transaction.scan(.all, .forward) { key, value in
        try other.put([text(key): text(value)])
        return .continue
      }
    }
    try fixture.expectContents(of: other, ["a": "1"], "the other store")
  }
}

internal import GarageDriver

/// Checks of removals: of keys and of ranges.
enum RemoveChecks {
  static func add(to topic: inout CheckTopic) {
    addKeyRemovalChecks(to: &topic)
    addRangeRemovalChecks(to: &topic)
    SizeClassChecks.addRemovals(to: &topic)
  }
}

private func addKeyRemovalChecks(to topic: inout CheckTopic) {
  topic.add("a-missing-key-is-no-error", "Removes key and its value. A missing key is no error.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try storage.commit { transaction in
      try transaction.delete("missing")
      try transaction.delete("a")
      try transaction.delete("a")
    }
    try fixture.expectContents(of: storage, [:])
    try storage.commit { try $0.delete("a") }
  }

  topic.add("takes-key-and-value", "Removes key and its value.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2", "c": "3"])
    try storage.commit { try $0.delete("b") }
    try fixture.expectContents(of: storage, ["a": "1", "c": "3"])
    try fixture.expectEqual(try storage.text("b"), nil, "the removed value")
  }

  topic.add("the-last-change-wins", "Changes of one key take effect in their order.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "b": "2"])
    try storage.commit { transaction in
      try transaction.set("a", "x")
      try transaction.delete("a")
      try transaction.delete("b")
      try transaction.set("b", "y")
      try transaction.set("c", "first")
      try transaction.set("c", "last")
    }
    try fixture.expectContents(of: storage, ["b": "y", "c": "last"])
  }
}

private func addRangeRemovalChecks(to topic: inout CheckTopic) {
  let ranges: [(String, StorageKeyRange, [String])] = [
    ("all", .all, []),
    ("between-bounds", StorageKeyRange(from: bytes("b"), to: bytes("d")), ["a", "d", "e"]),
    ("from-a-bound", StorageKeyRange(from: bytes("c")), ["a", "b", "ba", "ba-"]),
    ("to-a-bound", StorageKeyRange(to: bytes("c")), ["c", "d", "e"]),
    ("a-prefix", .prefix(bytes("ba")), ["a", "b", "c", "d", "e"]),
    ("nothing", StorageKeyRange(from: bytes("c"), to: bytes("c")), ["a", "b", "ba", "ba-", "c", "d", "e"]),
    (
      "crossed-bounds", StorageKeyRange(from: bytes("d"), to: bytes("b")),
      ["a", "b", "ba", "ba-", "c", "d", "e"]
    ),
  ]
  for (name, range, expected) in ranges {
    topic.add("range-of-\(name)", "removeAll removes every key in the range, and no other.") { fixture in
      let storage = try fixture.newStore(
        holding: ["a": "1", "b": "2", "ba": "3", "ba-": "4", "c": "5", "d": "6", "e": "7"])
      try storage.commit { try $0.removeAll(in: range) }
      try fixture.expectEqual(try storage.read { try $0.keys() }, expected, "the keys that are left")
    }
  }

  topic.add("long-ranges", "removeAll removes every key in the range, however many.") { fixture in
    let storage = try fixture.newStore()
    try storage.commit { transaction in
      for number in 0..<5000 { try transaction.set("key-\(digits(number))", "\(number)") }
    }
    let range = StorageKeyRange(from: bytes("key-0100"), to: bytes("key-4900"))
    try storage.commit { try $0.removeAll(in: range) }
    let expected = ((0..<100).map { $0 } + (4900..<5000).map { $0 }).map { "key-\(digits($0))" }
    try fixture.expectEqual(try storage.read { try $0.keys() }, expected, "the keys that are left")
    try storage.commit { try $0.removeAll(in: .all) }
    try fixture.expectEqual(try storage.read { try $0.keys() }, [], "the keys after removing all")
  }

  topic.add("bounds-of-any-length", "A bound of the range may have any length.") { fixture in
    let storage = try fixture.newStore(holding: ["a": "1", "m": "2", "z": "3"])
    let long = [UInt8](repeating: UInt8(ascii: "b"), count: 5000)
    try storage.commit { try $0.removeAll(in: StorageKeyRange(from: long, to: bytes("n") + long)) }
    try fixture.expectContents(of: storage, ["a": "1", "z": "3"])
  }
}

internal import GarageDriver

/// Checks of keys: their lengths, their order, and which keys are refused.
enum KeyChecks {
  static func add(to topic: inout CheckTopic) {
    addKeyLengthChecks(to: &topic)
    addInvalidKeyChecks(to: &topic)
    addKeyOrderChecks(to: &topic)
  }
}

private func addKeyLengthChecks(to topic: inout CheckTopic) {
  topic.add("one-byte-keys", "Keys have 1 byte or more; every byte is allowed.") { fixture in
    let storage = try fixture.newStore()
    try storage.commit { transaction in
      for byte in (0...255).reversed() {
        try transaction.put([UInt8(255 - byte)], for: StorageKey([UInt8(byte)]))
      }
    }
    let expected = (0...255).map { Entry(key: [UInt8($0)], value: [UInt8(255 - $0)]) }
    try fixture.expectEqual(try storage.read { try $0.entries() }, expected, "the entries")
    try storage.read { transaction in
      for entry in expected {
        try fixture.expectEqual(
          try transaction.value(for: StorageKey(entry.key)), entry.value,
          "the value of \(readable(entry.key))")
      }
    }
  }

  topic.add("keys-of-511-bytes", "Keys have up to 511 bytes on every driver.") { fixture in
    let storage = try fixture.newStore()
    // They differ only in their last byte.
    let keys = [UInt8(0), 1, 127, 128, 255].map { StorageKey([UInt8](repeating: 7, count: 510) + [$0]) }
    try storage.commit { transaction in for key in keys { try transaction.put(key.bytes, for: key) } }
    let seen = try storage.read { try $0.entries() }
    try fixture.expectEqual(seen, keys.map { Entry(key: $0.bytes, value: $0.bytes) }, "the entries")
    try storage.commit { transaction in try transaction.remove(keys[2]) }
    try fixture.expectEqual(try storage.read { try $0.value(for: keys[2]) }, nil, "the removed key")
    let next: [UInt8]? = try storage.read { try $0.value(for: keys[3]) }
    try fixture.expectEqual(next, keys[3].bytes, "the key after it")
  }

  topic.add("the-longest-keys", "Keys have up to maximumKeyByteCount bytes.") { fixture in
    let storage = try fixture.newStore()
    let count = min(storage.info.maximumKeyByteCount, 1 << 20)
    let key = StorageKey([UInt8](repeating: 0xAB, count: count))
    try storage.commit { try $0.put([1], for: key) }
    try fixture.expectEqual(try storage.read { try $0.value(for: key) }, [1], "the value of the longest key")
  }
}

private func addInvalidKeyChecks(to topic: inout CheckTopic) {
  let operations: [(String, @Sendable (any WriteTransaction, StorageKey) throws -> Void)] = [
    ("get", { transaction, key in _ = try transaction.withValue(for: key) { $0?.byteCount } }),
    ("multi-get", { transaction, key in try transaction.withValues(for: [key]) { _, _ in } }),
    ("put", { transaction, key in try transaction.put([1], for: key) }),
    ("remove", { transaction, key in try transaction.remove(key) }),
  ]
  for (name, operation) in operations {
    topic.add("\(name)-rejects-the-empty-key", "A key of no bytes throws invalidKey.") { fixture in
      let storage = try fixture.newStore(holding: ["a": "1"])
      try storage.write { transaction in
        try fixture.expectError(.invalidKey, from: "\(name) of an empty key") {
          try operation(transaction, StorageKey([UInt8]()))
        }
        return .rollBack(())
      }
      try fixture.expectContents(of: storage, ["a": "1"])
    }

    topic.add(
      "\(name)-rejects-long-keys", "A key beyond maximumKeyByteCount throws invalidKey.", where: .limitsKeys
    ) {
      fixture in
      let storage = try fixture.newStore(holding: ["a": "1"])
      for excess in [1, 2, 1000] {
        let key = StorageKey([UInt8](repeating: 97, count: storage.info.maximumKeyByteCount + excess))
        try storage.write { transaction in
          try fixture.expectError(.invalidKey, from: "\(name) of a key \(excess) bytes too long") {
            try operation(transaction, key)
          }
          return .rollBack(())
        }
      }
      try fixture.expectContents(of: storage, ["a": "1"])
    }
  }

  topic.add("readers-reject-invalid-keys", "Keys of any other length throw invalidKey, also in read.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    let value = try storage.read { transaction in
      try fixture.expectError(.invalidKey, from: "a get of an empty key") {
        _ = try transaction.value(for: StorageKey([UInt8]()))
      }
      return try transaction.text("a")
    }
    try fixture.expectEqual(value, "1", "a get after the failed one, in the same read")
  }
}

private func addKeyOrderChecks(to topic: inout CheckTopic) {
  topic.add("ordered-by-unsigned-bytes", "Keys are ordered by unsigned bytes.") { fixture in
    let storage = try fixture.newStore()
    let keys: [[UInt8]] = [
      [0x00], [0x7F], [0x7F, 0xFF], [0x80], [0x80, 0x00], [0xC3, 0xA9], [0xFF], [0xFF, 0xFF],
    ]
    try storage.commit { transaction in
      for key in keys.reversed() { try transaction.put([1], for: StorageKey(key)) }
    }
    try fixture.expectEqual(try storage.read { try $0.entries().map(\.key) }, keys, "the order of keys")
    let backward = try storage.read { try $0.entries(in: .all, .backward).map(\.key) }
    try fixture.expectEqual(backward, keys.reversed(), "the order against it")
  }

  topic.add("a-prefix-comes-first", "A prefix is ordered before what it is a prefix of.") { fixture in
    let storage = try fixture.newStore()
    let keys: [[UInt8]] = [[1], [1, 0], [1, 0, 0], [1, 0, 1], [1, 1], [1, 255], [2]]
    try storage.commit { transaction in
      for key in keys.shuffled() { try transaction.put(key, for: StorageKey(key)) }
    }
    try fixture.expectEqual(try storage.read { try $0.entries().map(\.key) }, keys, "the order of keys")
  }

  topic.add("every-byte-counts", "Keys are bytes: case, NUL and invalid UTF-8 make them different.") {
    fixture in
    let storage = try fixture.newStore()
    let keys: [[UInt8]] = [
      [0], [0, 0], [65], [65, 0], [65, 0, 66], [97], [97, 32], [0xC3, 0x28], [0xE9], [0xEF, 0xBB, 0xBF, 65],
    ]
    try storage.commit { transaction in for key in keys { try transaction.put(key, for: StorageKey(key)) } }
    try storage.read { transaction in
      for key in keys {
        try fixture.expectEqual(
          try transaction.value(for: StorageKey(key)), key, "the value of \(readable(key))")
      }
      try fixture.expectEqual(try transaction.entries().map(\.key), keys, "the keys")
      try fixture.expectEqual(
        try transaction.value(for: StorageKey([97, 0])), nil, "a key with a NUL behind")
    }
  }

  topic.add("two-thousand-random-keys", "Keys are ordered by unsigned bytes.") { fixture in
    let storage = try fixture.newStore()
    var random = fixture.random()
    var keys: Set<[UInt8]> = []
    while keys.count < 2000 {
      let count = 1 + random.below(random.below(8) == 0 ? 511 : 6)
      keys.insert(random.bytes(count))
    }
    try storage.commit { transaction in
      for key in keys { try transaction.put(Array(key.reversed()), for: StorageKey(key)) }
    }
    let expected = keys.sorted { $0.lexicographicallyPrecedes($1) }
    let seen = try storage.read { try $0.entries() }
    try fixture.expect(seen.map(\.key) == expected, "2000 keys in order", seen: "another order or other keys")
    try fixture.expect(
      seen.allSatisfy { $0.value == Array($0.key.reversed()) }, "each key with its value", seen: "others")
  }
}

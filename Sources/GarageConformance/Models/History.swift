internal import GarageDriver

/// The sizes of a random history.
struct HistoryProfile: Sendable {
  var name: String
  /// The number of transactions.
  var stepCount: Int
  /// The number of different keys. With few of them, overwrites and removals of existing keys are likely.
  var keyCount: Int
  /// The longest key, in bytes.
  var keyByteCount: Int
  /// The longest value, in bytes.
  var valueByteCount: Int
  /// The largest number of changes in a transaction.
  var changeCount: Int
}

/// Runs a seeded sequence of transactions on a store and on a ``DictionaryModel``, and compares everything that is read.
///
/// What the store shows is written down line by line. The same seed gives the same transcript on every driver.
struct History {
  private let profile: HistoryProfile
  private let keys: [[UInt8]]
  private let reopen: (any StorageDriver) throws -> any StorageDriver
  private let compare: (_ seen: String, _ expected: String, _ step: Int) throws -> Void
  private var storage: any StorageDriver
  private var random: SeededRandom
  private var model = DictionaryModel()
  private var step = 0
  private(set) var transcript: [String] = []

  /// `compare` gets every line, together with the line that the model would have written.
  init(
    _ profile: HistoryProfile, random: SeededRandom, storage: any StorageDriver,
    reopen: @escaping (any StorageDriver) throws -> any StorageDriver,
    compare: @escaping (_ seen: String, _ expected: String, _ step: Int) throws -> Void
  ) {
    self.profile = profile
    self.random = random
    self.storage = storage
    self.reopen = reopen
    self.compare = compare
    var keys: [[UInt8]] = []
    while keys.count < profile.keyCount {
      // Half of the keys extend another key. Bytes at both ends of the range of bytes are frequent.
      let edges: [UInt8] = [0, 1, 127, 128, 254, 255]
      let longest = max(1, min(profile.keyByteCount, self.random.below(4) == 0 ? profile.keyByteCount : 8))
      var key = self.random.below(2) == 0 || keys.isEmpty ? [] : keys[self.random.below(keys.count)]
      for _ in 0..<(1 + self.random.below(longest)) {
        key.append(self.random.below(2) == 0 ? edges[self.random.below(6)] : UInt8(self.random.below(256)))
      }
      keys.append(Array(key.prefix(profile.keyByteCount)))
    }
    self.keys = keys
  }

  /// Runs all steps.
  mutating func run() throws {
    while step < profile.stepCount {
      step += 1
      switch random.below(10) {
      case 0..<5: try write()
      case 5..<8: try read()
      case 8: try readWhileWriting()
      default:
        storage = try reopen(storage)
        try note("reopen: \(digest(try storage.read { try $0.entries() }))", "reopen: \(digest(all))")
      }
    }
    let entries = try storage.read { try $0.entries() }
    try note("end: \(entries.count) \(digest(entries))", "end: \(all.count) \(digest(all))")
  }

  private var all: [Entry] { model.entries(from: [], to: nil, .forward) }

  private mutating func note(_ seen: String, _ expected: String) throws {
    transcript.append("\(step) \(seen)")
    try compare(seen, expected, step)
  }

  // MARK: Steps

  private mutating func write() throws {
    var changed = model
    let ending = random.below(6)
    let error = TestError()
    do {
      try storage.write { transaction in
        for _ in 0..<(1 + random.below(profile.changeCount)) { try change(transaction, &changed) }
        if ending == 0 { throw error }
        return ending == 1 ? .rollBack(()) : .commit(())
      }
    } catch let seen as TestError where seen === error {}
    if ending > 1 { model = changed }
    try note("write ending \(ending)", "write ending \(ending)")
  }

  private mutating func change(_ transaction: any WriteTransaction, _ changed: inout DictionaryModel) throws {
    let key = randomKey()
    switch random.below(12) {
    case 0..<6:
      let value = randomValue()
      try transaction.put(value, for: StorageKey(key))
      changed.put(value, for: key)
    case 6..<9:
      try transaction.remove(StorageKey(key))
      changed.remove(key)
    case 9:
      let (lower, upper) = randomBounds()
      // Small ranges only, because otherwise the store would never grow.
      guard changed.entries(from: lower, to: upper, .forward).count <= profile.keyCount / 8 else { return }
      try transaction.removeAll(in: StorageKeyRange(from: lower, to: upper))
      changed.removeAll(from: lower, to: upper)
    default:
      try look(transaction, changed)
    }
  }

  private mutating func read() throws {
    let model = model
    try storage.read { transaction in
      for _ in 0..<(1 + random.below(6)) { try look(transaction, model) }
    }
  }

  /// Opens a reader, changes the store meanwhile, and reads again.
  private mutating func readWhileWriting() throws {
    let before = model
    try storage.read { transaction in
      if random.below(2) == 0 { try look(transaction, before) }
      try write()
      if random.below(3) == 0 { try readWhileWriting() }
      for _ in 0..<3 { try look(transaction, before) }
      try read()
    }
  }

  /// One get, multi-get or scan, compared with the model's answer.
  private mutating func look(_ transaction: any ReadTransaction, _ model: DictionaryModel) throws {
    switch random.below(4) {
    case 0, 1:
      let key = randomKey()
      let seen = try transaction.value(for: StorageKey(key))
      try note("get \(digest(key)): \(digest(seen))", "get \(digest(key)): \(digest(model.value(for: key)))")
    case 2:
      let keys = (0..<random.below(12)).map { _ in randomKey() }
      var seen: [String] = []
      try transaction.withValues(for: keys.map { StorageKey($0) }) { position, value in
        seen.append("\(position)=\(digest(owned(value)))")
      }
      let expected = keys.enumerated().map { "\($0.offset)=\(digest(model.value(for: $0.element)))" }
      try note("multi-get \(seen)", "multi-get \(expected)")
    default:
      let (lower, upper) = randomBounds()
      let direction: ScanDirection = random.below(2) == 0 ? .forward : .backward
      let limit = random.below(4) == 0 ? 1 + random.below(5) : Int.max
      var seen: [Entry] = []
      try transaction.scan(StorageKeyRange(from: lower, to: upper), direction) { key, value in
        seen.append(Entry(key: [UInt8](copying: key), value: [UInt8](copying: value)))
        return seen.count < limit ? .continue : .stop
      }
      let expected = Array(model.entries(from: lower, to: upper, direction).prefix(limit))
      let what = "scan \(direction) \(digest(lower))..\(digest(upper))"
      try note("\(what): \(seen.count) \(digest(seen))", "\(what): \(expected.count) \(digest(expected))")
    }
  }

  // MARK: Randomness

  private mutating func randomKey() -> [UInt8] { keys[random.below(keys.count)] }

  private mutating func randomValue() -> [UInt8] {
    let longest = random.below(5) == 0 ? profile.valueByteCount : min(profile.valueByteCount, 40)
    let count = random.below(longest + 1)
    return count <= 64 ? random.bytes(count) : pattern(count)
  }

  private mutating func randomBounds() -> (lower: [UInt8], upper: [UInt8]?) {
    /// A key, a shortened or lengthened key, or no bytes.
    func bound(_ random: inout SeededRandom, _ keys: [[UInt8]]) -> [UInt8] {
      let key = keys[random.below(keys.count)]
      switch random.below(6) {
      case 0: return []
      case 1: return Array(key.dropLast())
      case 2: return key + [UInt8(random.below(256))]
      default: return key
      }
    }
    let lower = bound(&random, keys)
    let upper = bound(&random, keys)
    // Crossed bounds now and then.
    if random.below(8) == 0 { return (lower, upper) }
    if random.below(6) == 0 { return (lower, nil) }
    return lower.lexicographicallyPrecedes(upper) ? (lower, upper) : (upper, lower)
  }
}

// MARK: - Digests

/// FNV-1a (Fowler, Noll, Vo), 64 bits: a short name for long bytes.
private func hash(_ bytes: [UInt8], _ start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
  var hash = start
  for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
  return hash
}

private func digest(_ bytes: [UInt8]?) -> String {
  guard let bytes else { return "none" }
  return bytes.count <= 12
    ? StorageKey(bytes).description : "\(bytes.count)#\(String(hash(bytes), radix: 16))"
}

private func digest(_ entries: [Entry]) -> String {
  var total: UInt64 = 0xCBF2_9CE4_8422_2325
  for entry in entries {
    total = hash(entry.key, total)
    total = hash(
      [UInt8(truncatingIfNeeded: entry.key.count), UInt8(truncatingIfNeeded: entry.value.count)], total)
    total = hash(entry.value, total)
  }
  return String(total, radix: 16)
}

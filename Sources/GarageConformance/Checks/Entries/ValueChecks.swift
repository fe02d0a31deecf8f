internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Checks of values: their lengths, and that the last value that was put is there.
enum ValueChecks {
  static func add(to topic: inout CheckTopic) {
    addValueLengthChecks(to: &topic)
    addPutChecks(to: &topic)
    addLargeValueChecks(to: &topic)
  }
}

private func addValueLengthChecks(to topic: inout CheckTopic) {
  topic.add("an-empty-value-is-a-value", "An empty value is a value, distinct from none.") { fixture in
    let storage = try fixture.newStore()
    let key = StorageKey([1])
    try storage.commit { transaction in
      try transaction.put([UInt8](), for: key)
      try fixture.expectEqual(try transaction.value(for: key), [], "an empty value, before the commit")
    }
    try storage.read { transaction in
      try fixture.expectEqual(try transaction.value(for: key), [], "an empty value")
      try fixture.expectEqual(try transaction.value(for: StorageKey([2])), nil, "a missing value")
      try fixture.expectEqual(try transaction.entries(), [Entry(key: [1], value: [])], "a scan")
      var counts: [Int?] = []
      try transaction.withValues(for: [key, StorageKey([2])]) { _, value in counts.append(value?.byteCount) }
      try fixture.expectEqual(counts, [0, nil], "the lengths that a multi-get lends")
    }
    try storage.commit { try $0.put([5], for: key) }
    try storage.commit { try $0.put([UInt8](), for: key) }
    try fixture.expectEqual(try storage.read { try $0.value(for: key) }, [], "a value made empty again")
  }

  topic.add("any-byte", "Values are bytes, any of them.") { fixture in
    let storage = try fixture.newStore()
    let value = (0...255).map { UInt8($0) } + (0...255).map { UInt8(255 - $0) }
    try storage.commit { try $0.put(value, for: StorageKey([1])) }
    let seen: [UInt8]? = try storage.read { try $0.value(for: StorageKey([1])) }
    try fixture.expectEqual(seen, value, "the value")
  }

  topic.add("every-length", "Values have 0 bytes or more.") { fixture in
    let storage = try fixture.newStore()
    // Near the sizes at which pages, cells and overflow chains of common engines change.
    let counts = [
      0, 1, 2, 100, 127, 128, 255, 256, 509, 1000, 2000, 2030, 2048, 4000, 4080, 4095, 4096, 4097, 8192,
      16383, 16384, 16385, 32768, 65535, 65536, 65537, 100_000,
    ]
    try storage.commit { transaction in
      for count in counts { try transaction.put(pattern(count), for: StorageKey(bytes(digits(count, 6)))) }
    }
    try storage.read { transaction in
      for count in counts {
        let seen = try transaction.value(for: StorageKey(bytes(digits(count, 6))))
        try fixture.expect(
          seen == pattern(count), "a value of \(count) bytes", seen: byteCount(seen))
      }
      var seen: [Int] = []
      try transaction.scan(.all, .forward) { _, value in
        seen.append(value.byteCount)
        return .continue
      }
      try fixture.expectEqual(seen, counts, "the lengths that a scan lends")
    }
  }

  topic.add("overwriting-changes-the-length", "A put stores its value in place of what was there.") {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "before", "c": "after"])
    for count in [10, 5000, 3, 0, 70_000, 1, 4096, 4096, 200_000, 2] {
      try storage.commit { try $0.put(pattern(count), for: StorageKey(bytes("b"))) }
      let seen = try storage.read { try $0.value(for: StorageKey(bytes("b"))) }
      try fixture.expect(
        seen == pattern(count), "a value of \(count) bytes", seen: byteCount(seen))
    }
    try fixture.expectEqual(try storage.text("a"), "before", "the neighbour before")
    try fixture.expectEqual(try storage.text("c"), "after", "the neighbour behind")
  }
}

private func addPutChecks(to topic: inout CheckTopic) {
  topic.add(
    "an-overwrite-of-the-same-length", "A put stores its value in place of what was there, bit by bit."
  ) {
    fixture in
    let storage = try fixture.newStore()
    let counts = geometric(to: 1 << 20, percent: 33)
    var values = counts.enumerated().map { Array(PatternlessBytes.slice($0.offset, $0.element)) }
    var random = fixture.random()
    func putAll(_ transaction: any WriteTransaction) throws {
      for (number, value) in values.enumerated() {
        try transaction.put(value, for: StorageKey([UInt8(number)]))
      }
    }
    func expectAll(_ transaction: any ReadTransaction, _ what: String) throws {
      for (number, value) in values.enumerated() {
        try transaction.withValue(for: StorageKey([UInt8(number)])) { seen in
          try fixture.expect(
            isEqual(seen, value), "the value of \(value.count) bytes that was put last, \(what)",
            seen: "another one of \(byteCount(seen))")
        }
      }
    }
    try storage.commit(putAll)
    // One bit changes: at the end, in the middle, or elsewhere.
    let places: [(String, (Int) -> Int)] = [
      ("last", { $0 - 1 }), ("middle", { $0 / 2 }), ("first", { _ in 0 }), ("random", { random.below($0) }),
    ]
    for (name, place) in places {
      for index in values.indices { values[index][place(values[index].count)] ^= 1 }
      try storage.commit { transaction in
        try putAll(transaction)
        try expectAll(transaction, "in the write that changed its \(name) byte")
        // Changed twice in one write.
        for index in values.indices { values[index][values[index].count - 1] ^= 0x80 }
        try putAll(transaction)
      }
      try storage.read { try expectAll($0, "after its \(name) byte was changed") }
    }
  }

  topic.add("put-copies-its-bytes", "A put stores the bytes as they are when it is called.") { fixture in
    let storage = try fixture.newStore()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
    defer { buffer.deallocate() }
    try storage.commit { transaction in
      for number in 0..<100 {
        for index in buffer.indices { buffer[index] = UInt8(number) }
        try transaction.put(UnsafeRawBufferPointer(buffer).bytes, for: [UInt8(number)].span.bytes)
      }
      for index in buffer.indices { buffer[index] = 0xEE }
    }
    let expected = (0..<100).map { Entry(key: [UInt8($0)], value: [UInt8](repeating: UInt8($0), count: 64)) }
    try fixture.expectEqual(try storage.read { try $0.entries() }, expected, "the entries")
  }
}

private func addLargeValueChecks(to topic: inout CheckTopic) {
  for (name, count) in [("1-MiB", 1 << 20), ("64-MiB", 64 << 20)] {
    topic.add("of-\(name)", "Values have up to 512 MiB on every driver.", isHeavy: count > 8 << 20) {
      fixture in
      try checkLargeValue(of: count, fixture)
    }
  }

  topic.add("guaranteed-size", "Values have up to 512 MiB on every driver.", isHeavy: true) { fixture in
    let count = StorageInfo.guaranteedValueByteCount
    try checkLargeValue(of: fixture.options.storesLargeValues ? count : 16 << 20, fixture)
  }

  topic.add(
    "put-rejects-too-large-ones", "A value beyond maximumValueByteCount throws valueTooLarge.",
    where: .limitsValues
  ) {
    fixture in
    let storage = try fixture.newStore(holding: ["a": "1"])
    try withOversizedValue(for: storage) { value in
      try storage.write { transaction in
        try fixture.expectError(.valueTooLarge, from: "a put of \(value.byteCount) bytes") {
          try transaction.put(value, for: [1].span.bytes)
        }
        return .rollBack(())
      }
    }
    try fixture.expectContents(of: storage, ["a": "1"])
  }
}

/// Lends one byte more than `storage` accepts. The limit must be less than the address space holds.
///
/// The bytes are mapped, but a driver that keeps the rule never reads them, and so they take no memory.
func withOversizedValue(for storage: any StorageDriver, _ body: (RawSpan) throws -> Void) throws {
  let count = storage.info.maximumValueByteCount + 1
  var flags = MAP_PRIVATE | MAP_ANON
  #if !canImport(Darwin)
    flags |= MAP_NORESERVE
  #endif
  guard let start = mmap(nil, count, PROT_READ, flags, -1, 0), start != MAP_FAILED else {
    throw SystemError(call: "mmap of \(count) bytes")
  }
  defer { munmap(start, count) }
  try body(UnsafeRawBufferPointer(start: start, count: count).bytes)
}

/// Stores a value of `count` bytes, reads it in three ways, and overwrites it.
private func checkLargeValue(of count: Int, _ fixture: Fixture) throws {
  let place = fixture.newPlace()
  var storage = try fixture.open(place)
  let large = LargeValue(count: count)
  try storage.commit { transaction in
    try transaction.set("a", "before")
    try transaction.put(large.bytes.bytes, for: StorageKey(bytes("b")).bytes.span.bytes)
    try transaction.set("c", "after")
  }
  if storage.info.isDurable {
    try storage.close()
    storage = try fixture.open(place)
  }
  try storage.read { transaction in
    try transaction.lend("b") { value in
      guard let value else { throw fixture.failure("a value", "none") }
      try fixture.expect(large.equals(value), "\(count) bytes from a get", seen: "other bytes")
    }
    try transaction.scan(.prefix(bytes("b")), .forward) { _, value in
      try fixture.expect(large.equals(value), "\(count) bytes from a scan", seen: "other bytes")
      return .continue
    }
    try fixture.expectEqual(try transaction.text("a"), "before", "the neighbour before")
    try fixture.expectEqual(try transaction.text("c"), "after", "the neighbour behind")
  }
  try storage.put(["b": "small again"])
  try fixture.expectContents(of: storage, ["a": "before", "b": "small again", "c": "after"])
}

/// Bytes that differ from block to block. They are made and compared a block at a time.
private final class LargeValue {
  let bytes: UnsafeRawBufferPointer
  private let buffer: UnsafeMutableRawBufferPointer

  init(count: Int) {
    buffer = .allocate(byteCount: count, alignment: 16)
    bytes = UnsafeRawBufferPointer(buffer)
    memset(buffer.baseAddress!, 0xA5, count)
    for (number, offset) in stride(from: 0, to: count - 8, by: 4093).enumerated() {
      buffer.storeBytes(of: number, toByteOffset: offset, as: Int.self)
    }
  }

  deinit { buffer.deallocate() }

  func equals(_ span: RawSpan) -> Bool {
    span.withUnsafeBytes {
      $0.count == bytes.count && memcmp($0.baseAddress!, bytes.baseAddress!, bytes.count) == 0
    }
  }
}

/// Whether the lent bytes equal `bytes`.
func isEqual(_ span: RawSpan?, _ bytes: [UInt8]) -> Bool {
  guard let span, span.byteCount == bytes.count else { return false }
  return bytes.isEmpty
    || span.withUnsafeBytes { seen in
      bytes.withUnsafeBytes { memcmp(seen.baseAddress!, $0.baseAddress!, $0.count) == 0 }
    }
}

/// Bytes that depend on their number and on their places.
func pattern(_ count: Int) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
    // They repeat after 65 536 bytes. They are copied from there on, because an unoptimized loop over 512 MiB takes too long.
    let period = min(count, 1 << 16)
    for index in 0..<period {
      buffer[index] = UInt8(truncatingIfNeeded: (index ^ (index >> 8)) &* 31 &+ count)
    }
    for start in stride(from: period, to: count, by: 1 << 16) {
      memcpy(buffer.baseAddress! + start, buffer.baseAddress!, min(1 << 16, count - start))
    }
    initialized = count
  }
}

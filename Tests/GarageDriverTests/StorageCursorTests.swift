import GarageDriver
import Testing

/// What every driver does in the same way: a scan with a cursor, and the end of a write.
struct StorageCursorTests {
  /// Keys in an array of their own memory, and an engine's limit of four bytes.
  private final class Keys {
    static let limit = 4
    let entries: [UnsafeMutableRawBufferPointer]

    init(_ keys: Set<[UInt8]>) {
      entries = keys.map { StorageKey($0) }.sorted().map { key in
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: key.bytes.count, alignment: 1)
        bytes.copyBytes(from: key.bytes)
        return bytes
      }
    }

    deinit { for entry in entries { entry.deallocate() } }
  }

  private struct Cursor: StorageCursor {
    let keys: Keys
    var position = 0
    var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(keys.entries[position]) }
    var value: UnsafeRawBufferPointer { key }

    private mutating func go(_ position: Int) -> Bool {
      self.position = position
      return keys.entries.indices.contains(position)
    }
    mutating func moveToFirst() -> Bool { go(0) }
    mutating func moveToLast() -> Bool { go(keys.entries.count - 1) }
    mutating func moveToNext() -> Bool { go(position + 1) }
    mutating func moveToPrevious() -> Bool { go(position - 1) }
    mutating func move(to bound: UnsafeRawBufferPointer) -> Bool {
      #expect((1...Keys.limit).contains(bound.count), "the engine's limit")
      return go(keys.entries.firstIndex { compareKeys($0.bytes, bound.bytes) >= 0 } ?? keys.entries.count)
    }
  }

  private func scanned(_ keys: Keys, _ range: StorageKeyRange, _ direction: ScanDirection, limit: Int = .max)
    throws
    -> [StorageKey]
  {
    var seen: [StorageKey] = []
    try scan(cursor: Cursor(keys: keys), range, direction, maximumKeyByteCount: Keys.limit) { key, value in
      #expect(compareKeys(key, value) == 0)
      seen.append(StorageKey(key))
      return seen.count < limit ? .continue : .stop
    }
    return seen
  }

  @Test(arguments: 1...20)
  func scansWhatIsInTheRange(seed: Int) throws {
    var random = Seeded(seed: UInt64(seed))
    func bytes(_ limit: Int) -> [UInt8] {
      (0..<Int.random(in: 0...limit, using: &random)).map { _ in
        [0, 1, 2, 254, 255].randomElement(using: &random)!
      }
    }
    let content = Set(
      (0..<Int.random(in: 0...40, using: &random)).map { _ in bytes(Keys.limit) }.filter { !$0.isEmpty })
    let keys = Keys(content)
    let sorted = content.map { StorageKey($0) }.sorted()
    for _ in 0..<200 {
      let range = StorageKeyRange(from: bytes(6), to: Bool.random(using: &random) ? bytes(6) : nil)
      let expected = sorted.filter { range.contains($0) }
      #expect(try scanned(keys, range, .forward) == expected, "\(range)")
      #expect(try scanned(keys, range, .backward) == expected.reversed(), "\(range)")
      #expect(try scanned(keys, range, .forward, limit: 2) == Array(expected.prefix(2)))
    }
  }

  private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 33)
    }
  }

  // MARK: The end of a write

  private final class Transaction: WriteTransaction {
    var state = TransactionState(driver: "Test")
    var steps: [String] = []
    func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R { try body(nil) }
    func scan(
      _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
    ) throws {}
    func put(_ value: RawSpan, for key: RawSpan) throws {
      try state.beginChange(.put)
      try state.checkKey(key, .put, limit: 511)
    }
    func remove(_ key: RawSpan) throws { try state.beginChange(.remove) }
  }

  private struct Stop: Error {}

  private func run<R>(
    _ transaction: Transaction, failing: Bool = false,
    _ body: (any WriteTransaction) throws -> TransactionOutcome<R>
  ) throws -> R {
    try runWrite(body, in: transaction) {
      transaction.steps.append("end")
      return transaction.state.finish()
    } commit: {
      transaction.steps.append("commit")
      if failing { throw Stop() }
    } rollBack: {
      transaction.steps.append("roll back")
    }
  }

  @Test func aWriteEndsAsItsBodySays() throws {
    var transaction = Transaction()
    #expect(try run(transaction) { _ in .commit(1) } == 1)
    #expect(transaction.steps == ["end", "commit"])
    try expectError(.transactionClosed) { try transaction.put([1], for: StorageKey([1])) }

    transaction = Transaction()
    #expect(try run(transaction) { _ in .rollBack(2) } == 2)
    #expect(transaction.steps == ["end", "roll back"])

    transaction = Transaction()
    #expect(throws: Stop.self) { try run(transaction) { _ -> TransactionOutcome<Int> in throw Stop() } }
    #expect(transaction.steps == ["end", "roll back"])

    transaction = Transaction()
    try expectError(.invalidKey) {
      try run(transaction) { writer in
        try? writer.put([1], for: StorageKey([UInt8]()))
        return .commit(())
      }
    }
    #expect(transaction.steps == ["end", "roll back"])

    transaction = Transaction()
    #expect(throws: Stop.self) { try run(transaction, failing: true) { _ in .commit(()) } }
    #expect(transaction.steps == ["end", "commit"])
  }
}

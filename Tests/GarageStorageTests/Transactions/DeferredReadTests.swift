import GarageDriver
import GarageMemory
import GarageStorage
import Synchronization
import Testing

/// Reads of verbs begin with their first operation where the driver can do that, whether one writes at a time or several.
struct DeferredReadTests {
  private typealias Verb = @Sendable (Garage) throws -> Void

  private static let verbs: [(name: String, run: Verb)] = [
    ("retrieve", { isSo(try $0.retrieve(Counter.self, identifier: 1)?.value == 5) }),
    ("contains", { isSo(try $0.contains(Counter.self, identifier: 1)) }),
    ("count", { isSo(try $0.count(Counter.self) == 1) }),
    ("retrieveAll", { isSo(try $0.retrieveAll(Counter.self).count == 1) }),
    ("get", { isSo(try $0.get(.launchCount) == 7) }),
  ]

  private static func isSo(_ condition: Bool) { #expect(condition) }

  private func open(_ storage: DeferringStorage) throws -> Garage {
    let garage = try Garage(storage)
    try garage.park(Counter(id: 1, value: 5))
    try garage.set(.launchCount, value: 7)
    // What a type is called is asked for once.
    for (_, run) in Self.verbs { try run(garage) }
    return garage
  }

  @Test func verbsReadDeferred() throws {
    let storage = DeferringStorage()
    let garage = try open(storage)
    for (name, run) in Self.verbs {
      let before = storage.counts
      try run(garage)
      let (reads, deferred) = (storage.counts.reads - before.reads, storage.counts.deferred - before.deferred)
      #expect(reads == 0 && deferred == 1, "\(name): \(reads) reads, \(deferred) deferred")
    }
  }

  /// A connection that was lost shows with the first operation only.
  @Test func verbsReadAgainWhereTheConnectionWasLost() throws {
    let storage = DeferringStorage()
    let garage = try open(storage)
    for (name, run) in Self.verbs {
      storage.failuresLeft.store(2, ordering: .relaxed)
      try run(garage)
      let left = storage.failuresLeft.load(ordering: .relaxed)
      #expect(left == 0, "\(name)")
    }
  }

  /// What is not saved is seen together with the state that it was made on.
  @Test func unsavedChangesAreSeen() throws {
    let storage = DeferringStorage()
    let garage = try open(storage)
    try garage.withAutosaveDisabled { try garage.park(Counter(id: 1, value: 6)) }
    #expect(try garage.retrieve(Counter.self, identifier: 1)?.value == 6)
    garage.discardUnsavedChanges()
    #expect(try garage.retrieve(Counter.self, identifier: 1)?.value == 5)
  }
}

/// A storage with one writer at a time that is asked as if by a network, and counts how its reads begin.
private final class DeferringStorage: DeferredReading {
  private let base = MemoryStorage()
  private let readCount = Atomic<Int>(0)
  private let deferredCount = Atomic<Int>(0)
  /// How many deferred reads find that their connection was lost.
  let failuresLeft = Atomic<Int>(0)

  var info: StorageInfo {
    var info = base.info
    info.roundTripsAreExpensive = true
    return info
  }

  var counts: (reads: Int, deferred: Int) {
    (readCount.load(ordering: .relaxed), deferredCount.load(ordering: .relaxed))
  }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    readCount.add(1, ordering: .relaxed)
    return try base.read(body)
  }

  func deferredRead<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    deferredCount.add(1, ordering: .relaxed)
    if failuresLeft.load(ordering: .relaxed) > 0 {
      failuresLeft.subtract(1, ordering: .relaxed)
      throw StorageError(
        .disconnected, during: .read, driver: "deferring", isRetryable: true,
        message: "The connection was lost.")
    }
    return try base.read(body)
  }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write(body)
  }

  func close() throws { try base.close() }
}

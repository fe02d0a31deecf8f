import GarageConformance
import GarageDriver
import GarageMemory
import Synchronization
import Testing

@testable import GarageStorage

/// A storage that keeps what is written to it as unsaved changes before another one, and saves them before every
/// fourth write.
private final class UnsavedStorage: StorageDriver {
  /// What all values at one place share.
  private final class Shared: Sendable {
    let gate = WriterGate()
    let state = Mutex((changes: UnsavedChanges(), commits: 0, saves: 0))
  }
  private static let places = Mutex<[String: Shared]>([:])

  private let base: MemoryStorage
  private let shared: Shared
  var info: StorageInfo { base.info }

  init(named name: String) {
    base = MemoryStorage(named: name)
    shared = Self.places.withLock { places in
      let shared = places[name] ?? Shared()
      places[name] = shared
      return shared
    }
  }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    while true {
      let seen = shared.state.withLock { $0 }
      let result: R? = try base.read { base in
        // Saved in between: the changes do not belong to what the base shows.
        if shared.state.withLock({ $0.saves }) != seen.saves { return nil }
        let transaction = OverlayReadTransaction(seen.changes, over: base, info)
        defer { transaction.end() }
        return try body(transaction)
      }
      if let result { return result }
    }
  }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try shared.gate.withWriter(driver: info.name) {
      if shared.state.withLock({ $0.commits % 4 == 3 }) { try save() }
      var committed: UnsavedChanges?
      let result = try base.write { base in
        let changes = shared.state.withLock { $0.changes }
        let transaction = OverlayWriteTransaction(changes, over: base, info)
        defer { transaction.end() }
        switch try body(transaction) {
        case .rollBack(let result): return TransactionOutcome.rollBack(result)
        case .commit(let result):
          committed = try transaction.commit()
          return .rollBack(result)
        }
      }
      if let committed {
        shared.state.withLock { state in
          state.changes = committed
          state.commits += 1
        }
      }
      return result
    }
  }

  private func save() throws {
    try base.write { base in
      try shared.state.withLock { $0.changes }.apply(to: base)
      return .commit(())
    }
    shared.state.withLock { state in
      state.changes = UnsavedChanges()
      state.saves += 1
    }
  }

  func close() throws { try base.close() }
}

/// A storage with unsaved changes before it is a storage like any other.
@Suite struct UnsavedChangesTests {
  @Test(
    arguments: Conformance.checks.filter { !$0.isHeavy && (runsLongTests || !$0.name.hasPrefix("large/")) })
  func transactionsThroughUnsavedChangesConform(to check: ConformanceCheck) throws {
    try check.run { place in UnsavedStorage(named: place.name) }
  }

  private static func write(
    _ driver: any StorageDriver, _ body: (any WriteTransaction) throws -> Void
  ) throws {
    try driver.write { transaction in
      try body(transaction)
      return .commit(())
    }
  }

  /// Runs `body` on a transaction through `changes`, and returns the changes then.
  @discardableResult
  private static func change(
    _ changes: UnsavedChanges, over driver: any StorageDriver,
    _ body: (OverlayWriteTransaction) throws -> Void
  ) throws -> UnsavedChanges {
    try driver.read { base in
      let transaction = OverlayWriteTransaction(changes, over: base, driver.info)
      defer { transaction.end() }
      try body(transaction)
      return try transaction.commit()
    }
  }

  private static func contents(
    _ transaction: any ReadTransaction, _ range: StorageKeyRange = .all, _ direction: ScanDirection = .forward
  ) throws -> [StorageKey] {
    var keys: [StorageKey] = []
    try transaction.scan(range, direction) { key, _ in
      keys.append(StorageKey(key))
      return .continue
    }
    return keys
  }

  /// Keys 0 to 9, each with itself as value.
  private static func storage() throws -> MemoryStorage {
    let storage = MemoryStorage()
    try write(storage) { transaction in
      for number in 0..<10 as Range<UInt8> { try transaction.put([number], for: StorageKey([number])) }
    }
    return storage
  }

  @Test func changesCoverWhatTheStorageHas() throws {
    let storage = try Self.storage()
    let changes = try Self.change(UnsavedChanges(), over: storage) { transaction in
      try transaction.put([99], for: StorageKey([3]))
      try transaction.put([], for: StorageKey([3, 0]))
      try transaction.remove(StorageKey([4]))
      try transaction.remove(StorageKey([200]))
      #expect(try transaction.value(for: StorageKey([3])) == [99])
      #expect(try transaction.value(for: StorageKey([3, 0])) == [])
      #expect(try transaction.value(for: StorageKey([4])) == nil)
      #expect(try transaction.value(for: StorageKey([5])) == [5])
      let range = StorageKeyRange(from: [2], to: [6])
      let expected = [[2], [3], [3, 0], [5]].map { StorageKey($0) }
      #expect(try Self.contents(transaction, range) == expected)
      #expect(try Self.contents(transaction, range, .backward) == expected.reversed())
    }
    #expect(!changes.isEmpty)
    #expect(try storage.read { try $0.value(for: StorageKey([4])) } == [4])

    try Self.write(storage) { try changes.apply(to: $0) }
    #expect(try storage.read { try $0.value(for: StorageKey([3])) } == [99])
    #expect(try storage.read { try Self.contents($0) }.count == 10)
  }

  @Test func aRemovalCountsWhenItIsSaved() throws {
    let storage = try Self.storage()
    // What another process puts between the removal and the save goes as well.
    let changes = try Self.change(UnsavedChanges(), over: storage) { try $0.remove(StorageKey([77])) }
    try Self.write(storage) { try $0.put([1], for: StorageKey([77])) }
    try Self.write(storage) { try changes.apply(to: $0) }
    #expect(try storage.read { try $0.value(for: StorageKey([77])) } == nil)
  }

  @Test func removingARangeHidesBothLayers() throws {
    let storage = try Self.storage()
    var changes = try Self.change(UnsavedChanges(), over: storage) { transaction in
      try transaction.put([1], for: StorageKey([5, 5]))
      try transaction.put([1], for: StorageKey([50]))
    }
    changes = try Self.change(changes, over: storage) { transaction in
      try transaction.removeAll(in: StorageKeyRange(from: [3], to: [8]))
      #expect(try Self.contents(transaction).count == 6)
    }
    try Self.write(storage) { try changes.apply(to: $0) }
    let expected: [[UInt8]] = [[0], [1], [2], [8], [9], [50]]
    #expect(try storage.read { try Self.contents($0) } == expected.map { StorageKey($0) })
  }

  @Test func valuesOfManyKeysComeInTheirOrder() throws {
    let storage = try Self.storage()
    try Self.change(UnsavedChanges(), over: storage) { transaction in
      try transaction.put([90], for: StorageKey([0]))
      try transaction.put([91], for: StorageKey([100]))
      try transaction.remove(StorageKey([7]))
      for numbers in [[0, 1, 7, 2, 100, 101, 0], [100], [5, 6], [], [3, 3, 7, 7]] as [[UInt8]] {
        var seen: [[UInt8]?] = []
        try transaction.withValues(for: numbers.map { StorageKey([$0]) }) { index, value in
          #expect(index == seen.count)
          if let value { seen.append([UInt8](copying: value)) } else { seen.append(nil) }
        }
        let expected: [[UInt8]?] = numbers.map { number in
          switch number {
          case 0: [90]
          case 100: [91]
          case 7, 101: nil
          default: [number]
          }
        }
        #expect(seen == expected)
      }
    }
  }

  @Test func whatOneTransactionChangesIsNotInTheOtherOne() throws {
    let storage = try Self.storage()
    let before = try Self.change(UnsavedChanges(), over: storage) { try $0.put([1], for: StorageKey([1])) }
    let after = try Self.change(before, over: storage) { transaction in
      for number in 0..<255 as Range<UInt8> { try transaction.put([2], for: StorageKey([number])) }
    }
    try storage.read { base throws in
      let transaction = OverlayReadTransaction(before, over: base, storage.info)
      #expect(try transaction.value(for: StorageKey([1])) == [1])
      #expect(try Self.contents(transaction).count == 10)
      #expect(try Self.contents(OverlayReadTransaction(after, over: base, storage.info)).count == 255)
    }
  }

  @Test func aFailureOfTheStorageForbidsTheCommitAndAnErrorOfTheCallerDoesNot() throws {
    let plan = FaultPlan()
    let storage = FaultyStorage(try Self.storage(), plan: plan)
    let mine = StorageError(.engine, during: .get, driver: "mine", message: "The caller's own.")
    try Self.change(UnsavedChanges(), over: storage) { transaction in
      #expect(throws: mine) {
        try transaction.withValue(for: StorageKey([1])) { _ in throw mine }
      }
      #expect(throws: mine) { try transaction.scan(.all, .forward) { _, _ in throw mine } }
      #expect(throws: mine) { try transaction.withValues(for: [StorageKey([1])]) { _, _ in throw mine } }
    }
    for operation in [StorageError.Operation.get, .scan] {
      #expect(throws: StorageError.self) {
        try Self.change(UnsavedChanges(), over: storage) { transaction in
          plan.fail(operation, after: plan.count(of: operation))
          _ = try? transaction.value(for: StorageKey([1]))
          _ = try? Self.contents(transaction)
        }
      }
    }
  }

  @Test func aLargeValueIsKept() throws {
    let storage = try Self.storage()
    let large = [UInt8](repeating: 7, count: 20_000_000)
    let changes = try Self.change(UnsavedChanges(), over: storage) { transaction in
      try transaction.put(large, for: StorageKey([1]))
      #expect(try transaction.value(for: StorageKey([1])) == large)
    }
    try Self.write(storage) { try changes.apply(to: $0) }
    #expect(try storage.read { try $0.value(for: StorageKey([1])) } == large)
  }
}

import GarageConformance
import GarageDriver
import MyStorage
import Testing

@testable import ConformanceChild

/// A storage fails at the operation that its plan names, and at no other.
@Suite struct FaultyStorageTests {
  @Test func failsAsPlanned() throws {
    // example: faults
    let plan = FaultPlan()
    let storage = FaultyStorage(ArrayStorage(named: "faults"), plan: plan)
    plan.fail(.put, after: 2, with: .storageFull)
    #expect(throws: StorageError.self) {
      try storage.write { transaction in
        for number in UInt8(0)..<5 { try transaction.put([number], for: StorageKey([number])) }
        return .commit(())
      }
    }
    #expect(try storage.read { try $0.value(for: StorageKey([0])) } == nil)
    // end
    #expect(plan.count(of: .put) == 3)
    #expect(plan.count(of: .commit) == 0)
    plan.reset()
    #expect(plan.count(of: .put) == 0)
  }

  /// Of a failure of the driver's own and an injected one, the first counts, whichever it is.
  @Test(arguments: [true, false])
  func throwsTheFirstOfBothSorts(_ injectsFirst: Bool) throws {
    let plan = FaultPlan()
    let storage = FaultyStorage(ArrayStorage(named: "first-\(injectsFirst)"), plan: plan)
    plan.fail(.put, after: injectsFirst ? 0 : 1, with: .corrupt)
    let error = #expect(throws: StorageError.self) {
      try storage.write { transaction in
        // The injected fault takes the place of one put, the empty key is refused in the other.
        for _ in 0..<2 { try? transaction.put([1], for: StorageKey([UInt8]())) }
        return .commit(())
      }
    }
    #expect(error?.kind == (injectsFirst ? .corrupt : .invalidKey))
  }

  /// What a visitor throws is no failure of the operation, though it is a `StorageError`.
  @Test func visitorsErrorsPoisonNothing() throws {
    let storage = FaultyStorage(ArrayStorage(named: "visitor"))
    let own = StorageError(.io, during: .read, driver: "another", message: "A test's own error.")
    try storage.write { transaction in
      #expect(throws: own) { try transaction.withValue(for: StorageKey([1])) { _ in throw own } }
      try transaction.put([1], for: StorageKey([1]))
      #expect(throws: own) { try transaction.scan(.all, .forward) { _, _ in throw own } }
      #expect(throws: own) { try transaction.withValues(for: [StorageKey([1])]) { _, _ in throw own } }
      return .commit(())
    }
    #expect(try storage.read { try $0.value(for: StorageKey([1])) } == [1])
  }

  /// Many puts at once are as many operations, of which each can fail, and the wrapped driver gets them at once.
  @Test func countsEachOfManyPuts() throws {
    let plan = FaultPlan()
    let storage = FaultyStorage(ArrayStorage(named: "many"), plan: plan)
    let bytes: [UInt8] = [1, 2, 3, 4]
    let entries = (0..<4).map { PlacedEntry(key: $0..<($0 + 1), value: 0..<$0) }
    func putAll() throws {
      try storage.write { transaction in
        try transaction.putAll(entries, in: bytes.span.bytes)
        return .commit(())
      }
    }
    plan.fail(.put, after: 2, with: .storageFull)
    let error = #expect(throws: StorageError.self) { try putAll() }
    #expect(error?.kind == .storageFull)
    #expect(try storage.read { try $0.value(for: StorageKey([1])) } == nil)
    plan.reset()
    try putAll()
    #expect(plan.count(of: .put) == 4)
    #expect(try storage.read { try $0.value(for: StorageKey([4])) } == [1, 2, 3])
  }

  @Test func failsBeforeBodiesAndCommits() throws {
    let plan = FaultPlan()
    let storage = FaultyStorage(ArrayStorage(named: "bodies"), plan: plan)
    plan.fail(.write, after: 0, with: .busy)
    plan.fail(.commit, after: 0, with: .storageFull)
    var bodyCount = 0
    for kind in [StorageError.Kind.busy, .storageFull] {
      let error = #expect(throws: StorageError.self) {
        try storage.write { transaction in
          bodyCount += 1
          try transaction.put([1], for: StorageKey([1]))
          return .commit(())
        }
      }
      #expect(error?.kind == kind)
    }
    #expect(bodyCount == 1)
    #expect(try storage.read { try $0.value(for: StorageKey([1])) } == nil)
  }
}

import GarageConformance
import GarageDriver
import Testing

@testable import ConformanceChild

/// Engines whose writers run beside each other may refuse what would have fitted. No check takes that for a failure, wherever in
/// it the refusal comes; and none takes it for what it waits for.
@Suite struct RefusalTests {
  static let operations: [StorageError.Operation] = [.read, .write, .get, .scan, .put, .remove, .commit]

  static let checks = Conformance.checks.filter { check in
    !check.isHeavy && !check.name.hasPrefix("large/") && !check.name.hasSuffix("-anywhere")
  }

  @Test(.enabled(if: LongTests.areWanted), arguments: checks)
  func oneRefusalIsNoFailure(_ check: ConformanceCheck) throws {
    for operation in Self.operations {
      // One of the first few, and one anywhere.
      for count in [Int.random(in: 0...3), .random(in: 4...40)] {
        let plan = FaultPlan()
        plan.fail(operation, after: count, with: .conflict)
        let outcome = Result {
          try check.run { FaultyStorage(OptimisticStorage(named: $0.name), plan: plan) }
        }
        if case .failure(let error) = outcome {
          Issue.record("\(operation.rawValue) number \(count) was refused: \(error)")
        }
      }
    }
  }

  /// Who goes on refusing fails, and so does who has not said that writers conflict.
  @Test func moreRefusalsAreFailures() throws {
    let check = try #require(Conformance.check(named: "transaction/commits-are-seen"))
    for count in 0...1 {
      let plan = FaultPlan()
      plan.fail(.write, after: count, with: .conflict)
      #expect(throws: Never.self) {
        try check.run { FaultyStorage(OptimisticStorage(named: $0.name), plan: plan) }
      }
      let other = FaultPlan()
      other.fail(.write, after: 0, with: .conflict)
      #expect(throws: ConformanceFailure.self) {
        try check.run { FaultyStorage(try ReferenceStorage(path: $0.name, .inMemory), plan: other) }
      }
    }
    let plan = FaultPlan()
    for count in 0..<100 { plan.fail(.write, after: count, with: .conflict) }
    let failure = #expect(throws: ConformanceFailure.self) {
      try check.run { FaultyStorage(OptimisticStorage(named: $0.name), plan: plan) }
    }
    #expect(failure?.seen.contains("conflict") == true)
  }
}

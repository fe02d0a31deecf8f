import GarageConformance
import Testing

@testable import ConformanceChild

/// The suite rejects each broken driver, by the check that was made for it.
@Suite struct MutantTests {
  @Test func thereAreAtLeastFifteen() {
    #expect(Mutation.allCases.count >= 15)
  }

  @Test(arguments: Mutation.allCases)
  func isRejected(_ mutation: Mutation) throws {
    let stack = try #require(Stack(named: "Mutant(\(mutation))"))
    let check = try #require(Conformance.check(named: mutation.check))
    var options = stack.options()
    // A thread that waits for ever is left behind; this long the suite waits for it.
    if mutation.isDeadlock { options.patience = 2 }
    do {
      try check.run(options, stack.open)
      Issue.record("\(check) let \(mutation) pass")
    } catch let failure as ConformanceFailure {
      #expect(failure.check == mutation.check)
      #expect(failure.rule == check.rule)
      let isDeadlock = failure.seen.contains("a deadlock?")
      #expect(isDeadlock == mutation.isDeadlock, "\(failure)")
    }
  }
}

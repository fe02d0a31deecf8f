import Testing

@testable import GarageChild

/// What fails leaves nothing behind in memory. In a process of its own, because the tests beside it allocate, too.
@Suite struct FailureLeakTests {
  #if os(Linux)
    @Test(arguments: Failing.Kind.allCases)
    func whatFailsLeavesNoMemoryInUse(_ kind: Failing.Kind) throws {
      // A hundred bytes each are noticed.
      let count = runsLongTests ? 10_000 : 3_000
      let growth = try Child("fail", kind.rawValue, "\(count)").wait()["growth"]
      let bytes = try #require(growth.flatMap { Int($0) })
      #expect(bytes < count * 105, "\(kind)")
    }
  #endif
}

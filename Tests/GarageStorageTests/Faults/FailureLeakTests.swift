import Testing

@testable import GarageChild

/// What fails leaves nothing behind in memory. In a process of its own, because the tests beside it allocate, too.
@Suite struct FailureLeakTests {
  #if os(Linux)
    @Test(arguments: Failing.Kind.allCases)
    func whatFailsLeavesNoMemoryInUse(_ kind: Failing.Kind) throws {
      let growth = try Child("fail", kind.rawValue, "10000").wait()["growth"]
      let bytes = try #require(growth.flatMap { Int($0) })
      #expect(bytes < 1 << 20, "\(kind)")
    }
  #endif
}

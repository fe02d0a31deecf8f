import Foundation
import GarageConformance
import Testing

@testable import ConformanceChild

/// How long to go on for each driver; nil means not at all.
private let fuzzSeconds = ProcessInfo.processInfo.environment["GARAGE_FUZZ_SECONDS"].flatMap { Double($0) }

/// Random histories with fresh seeds, for as long as `make fuzz SECONDS=…` says.
@Suite(.serialized, .enabled(if: fuzzSeconds != nil)) struct FuzzTests {
  @Test(arguments: Stack.drivers)
  func historiesAreThoseOfAnOrdinaryDictionary(_ stack: Stack) throws {
    let checks = Conformance.checks.filter { $0.name.hasPrefix("history/") }
    let end = ContinuousClock.now + .seconds(try #require(fuzzSeconds))
    var options = stack.options()
    var count = 0
    while ContinuousClock.now < end {
      options.seed = UInt64.random(in: 1...UInt64.max)
      // A failure names its seed and step.
      for check in checks { try check.run(options, stack.open) }
      count += checks.count
    }
    FileHandle.standardError.write(Data("\(stack): \(count) histories\n".utf8))
  }
}

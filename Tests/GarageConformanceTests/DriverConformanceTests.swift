import GarageConformance
import Testing

@testable import ConformanceChild

/// Every check over every driver and every decorated one.
@Suite struct DriverConformanceTests {
  /// The storages that are made for the suite itself keep all in dictionaries: size tells little about them. What lets
  /// operations fail passes them on to whichever driver: on two of four it is tried at full length alone.
  static let runs = Stack.all.filter { stack in
    LongTests.areWanted || !["Fault(LMDB)", "Fault(Reference)"].contains(stack.name)
  }.flatMap { stack in
    Conformance.checks.filter { check in
      !check.isHeavy
        && (LongTests.areWanted || !check.name.hasPrefix("large/") || !stack.name.contains("Reference"))
    }.map { (stack, $0) }
  }

  @Test(arguments: runs) func conforms(_ stack: Stack, to check: ConformanceCheck) throws {
    try check.run(stack.options(), stack.open)
  }
}

/// Checks that take much memory, one at a time.
@Suite(.serialized) struct HeavyDriverConformanceTests {
  @Test(arguments: Stack.all, Conformance.checks.filter(\.isHeavy))
  func conforms(_ stack: Stack, to check: ConformanceCheck) throws {
    var options = stack.options()
    // Once for each driver: 512 MiB. A decorator passes the same bytes on.
    options.storesLargeValues = Stack.drivers.contains { $0.name == stack.name }
    options.patience = 600
    try check.run(options, stack.open)
  }
}

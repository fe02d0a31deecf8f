import GarageConformance
import Testing

@testable import ConformanceChild

/// Every check over every driver and every decorated one.
@Suite struct DriverConformanceTests {
  static let runs = Stack.all.flatMap { stack in
    Conformance.checks.filter { check in
      !check.isHeavy && (LongTests.areWanted || !isTriedElsewhere(stack, check.name))
    }.map { (stack, $0) }
  }

  /// Whether a check that takes long tells little about a stack that others do not, so that it runs at full length alone.
  private static func isTriedElsewhere(_ stack: Stack, _ check: String) -> Bool {
    switch stack.name {
    // What lets operations fail passes them on to whichever driver.
    case "Fault(LMDB)", "Fault(Reference)": true
    // These keep all in dictionaries: size tells little about them.
    case "Reference", "Sealed(Memory)": check.hasPrefix("large/") || check.contains("-scans-of-keys-")
    case "ReferenceInMemory", "ReferenceExclusive", "ReferenceWaiting", "Optimistic":
      check.hasPrefix("large/") || check.hasSuffix("-anywhere") || check.contains("-scans-of-keys-")
    default: false
    }
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

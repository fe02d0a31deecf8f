import Foundation
import GarageConformance
import GarageDriver
import PostgresStacks
import Testing

/// Every check over the driver and its decorated stacks.
@Suite(.serialized) struct PostgresConformanceTests {
  @Test(arguments: PostgresStack.all, Conformance.checks.filter { !$0.isHeavy })
  func conforms(_ stack: PostgresStack, to check: ConformanceCheck) throws {
    try check.run(stack.options(), stack.open)
  }
}

/// Checks that take much memory, one at a time.
@Suite(.serialized) struct HeavyPostgresConformanceTests {
  @Test(arguments: PostgresStack.all, Conformance.checks.filter(\.isHeavy))
  func conforms(_ stack: PostgresStack, to check: ConformanceCheck) throws {
    var options = stack.options()
    options.storesLargeValues = stack.name == PostgresStack.several.name
    options.patience = 600
    try check.run(options, stack.open)
  }
}

extension PostgresStack {
  /// The options for this stack's checks; its child opens the same stack.
  func options() -> ConformanceOptions {
    ConformanceOptions(childExecutable: childExecutable, childArguments: [name], killCount: 5)
  }
}

/// The executable that was built beside the test bundle.
let childExecutable: URL = {
  #if canImport(Darwin)
    let folder = Bundle(for: BundleToken.self).bundleURL.deletingLastPathComponent()
  #else
    let folder = (Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]))
      .deletingLastPathComponent()
  #endif
  return folder.appendingPathComponent("PostgresChild")
}()

private final class BundleToken {}

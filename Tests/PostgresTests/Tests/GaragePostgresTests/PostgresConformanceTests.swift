import Foundation
import GarageConformance
import GarageDriver
import PostgresStacks
import Testing

/// Every check over the driver as it is by default, and those over one writer at a time that have to do with who writes when.
/// In long runs every check over every stack, in quick ones over the driver as it is by default alone.
@Suite struct PostgresConformanceTests {
  @Test(arguments: StackCheck.all.filter { !$0.check.isHeavy })
  func conforms(_ each: StackCheck) throws {
    try each.check.run(each.stack.options(), each.stack.open)
  }
}

/// Checks that take much memory, one at a time.
@Suite(.serialized, .enabled(if: !runsQuickly)) struct HeavyPostgresConformanceTests {
  @Test(arguments: StackCheck.all.filter(\.check.isHeavy))
  func conforms(_ each: StackCheck) throws {
    var options = each.stack.options()
    options.storesLargeValues = runsLongTests && each.stack.name == PostgresStack.several.name
    options.patience = 600
    try each.check.run(options, each.stack.open)
  }
}

/// A check over a stack.
struct StackCheck: Sendable, CustomTestStringConvertible {
  let stack: PostgresStack
  let check: ConformanceCheck
  var testDescription: String { "\(stack) \(check)" }

  static let all = PostgresStack.all.flatMap { stack in
    Conformance.checks.filter { runsLongTests || stack.isChecked(by: $0) }
      .map { StackCheck(stack: stack, check: $0) }
  }
}

extension PostgresStack {
  /// Whether the check runs over this stack each time.
  func isChecked(by check: ConformanceCheck) -> Bool {
    if name == PostgresStack.several.name { return true }
    if runsQuickly { return false }
    let topics = [
      "transaction", "snapshot", "nesting", "poison", "life", "race", "conflict", "process", "crash",
    ]
    return name == PostgresStack.one.name && topics.contains { check.name.hasPrefix($0 + "/") }
  }

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

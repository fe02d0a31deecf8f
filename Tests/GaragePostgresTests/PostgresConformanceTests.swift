import Foundation
import GarageConformance
import GarageDriver
import PostgresStacks
import Testing

/// Every check over the driver as it is by default. The other stacks have suites of their own, so that they can be run in other
/// processes: a check that waits for the server keeps a thread of its process's few.
@Suite struct PostgresConformanceTests {
  @Test(arguments: StackCheck.all(.several)) func conforms(_ each: StackCheck) throws { try each.run() }
}

/// Every check over one writer at a time.
@Suite(.enabled(if: !runsQuickly)) struct OneWriterConformanceTests {
  @Test(arguments: StackCheck.all(.one)) func conforms(_ each: StackCheck) throws { try each.run() }
}

/// Every check over the driver inside one that fails when it is told to.
@Suite(.enabled(if: !runsQuickly)) struct FaultyPostgresConformanceTests {
  @Test(arguments: StackCheck.all(.faulty)) func conforms(_ each: StackCheck) throws { try each.run() }
}

/// Every check over the driver below a seal.
@Suite(.enabled(if: !runsQuickly)) struct SealedPostgresConformanceTests {
  @Test(arguments: StackCheck.all(.sealed)) func conforms(_ each: StackCheck) throws { try each.run() }
}

/// Checks that take much memory, over all stacks, one at a time.
@Suite(.serialized, .enabled(if: !runsQuickly)) struct HeavyPostgresConformanceTests {
  @Test(arguments: PostgresStack.all.flatMap { StackCheck.all($0, isHeavy: true) })
  func conforms(_ each: StackCheck) throws {
    try each.run {
      $0.storesLargeValues = runsLongTests && each.stack.name == PostgresStack.several.name
      $0.patience = 600
    }
  }
}

/// A check over a stack.
struct StackCheck: Sendable, CustomTestStringConvertible {
  let stack: PostgresStack
  let check: ConformanceCheck
  var testDescription: String { "\(stack) \(check)" }

  static func all(_ stack: PostgresStack, isHeavy: Bool = false) -> [StackCheck] {
    Conformance.checks.filter { $0.isHeavy == isHeavy }.map { StackCheck(stack: stack, check: $0) }
  }

  func run(_ change: (inout ConformanceOptions) -> Void = { _ in }) throws {
    var options = stack.options()
    change(&options)
    try check.run(options, stack.open)
  }
}

extension PostgresStack {
  /// The options for this stack's checks; its child opens the same stack.
  func options() -> ConformanceOptions {
    // Each process of tests shares the machine with several others and their servers.
    ConformanceOptions(
      childExecutable: childExecutable, childArguments: [name], killCount: 5, patience: 300,
      openReadOnly: openReadOnly)
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

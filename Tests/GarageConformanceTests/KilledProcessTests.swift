import GarageConformance
import Synchronization
import Testing

@testable import ConformanceChild

/// Kills of each durable driver: two hundred and more in a long test.
@Suite(.serialized) struct KilledProcessTests {
  static let durable = Stack.drivers.filter { $0.name != "Memory" }

  @Test(arguments: durable)
  func survivesManyKills(_ stack: Stack) throws {
    let reports = Reports()
    var options = stack.options()
    options.killCount = LongTests.areWanted ? 70 : 20
    options.seed = 20_26
    options.patience = 600
    options.onCrashReport = { report in reports.all.withLock { $0.append(report) } }
    for check in Conformance.checks
    where check.name.hasPrefix("crash/") && check.name.hasSuffix("-transactions") {
      try check.run(options, stack.open)
    }
    let all = reports.all.withLock(\.self)
    let kills = all.reduce(0) { $0 + $1.killCount }
    let inside = all.reduce(0) { $0 + $1.killsInBody + $1.killsInCommit }
    #expect(kills >= (LongTests.areWanted ? 200 : 57), "\(all)")
    #expect(inside * 2 >= kills, "\(all)")
    #expect(all.reduce(0) { $0 + $1.acknowledgedCount } > (LongTests.areWanted ? 200 : 50), "\(all)")
  }
}

private final class Reports: Sendable {
  let all = Mutex<[CrashReport]>([])
}

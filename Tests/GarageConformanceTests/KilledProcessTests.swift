import GarageConformance
import Synchronization
import Testing

@testable import ConformanceChild

/// Two hundred kills and more for each durable driver.
@Suite(.serialized) struct KilledProcessTests {
  static let durable = Stack.drivers.filter { $0.name != "Memory" }

  @Test(arguments: durable)
  func survivesTwoHundredKills(_ stack: Stack) throws {
    let reports = Reports()
    var options = stack.options()
    options.killCount = 70
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
    #expect(kills >= 200, "\(all)")
    #expect(inside * 2 >= kills, "\(all)")
    #expect(all.reduce(0) { $0 + $1.acknowledgedCount } > 200, "\(all)")
  }
}

private final class Reports: Sendable {
  let all = Mutex<[CrashReport]>([])
}

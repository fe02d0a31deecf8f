import Foundation
import GarageStorage

/// Ends a history at random places, and looks at what is left of the store.
struct Trial {
  let store: PowerStore
  let folder: URL
  let history: History
  /// Whether all that was acknowledged has to be there.
  let mustKeepAll: Bool
  private let states: [[Int: Int]]
  private var cutCount = 0
  private var waitingCount = 0
  private var lostCommits = 0
  private var findings: [String] = []

  init(store: PowerStore, folder: URL, history: History, mustKeepAll: Bool) {
    (self.store, self.folder, self.history, self.mustKeepAll) = (store, folder, history, mustKeepAll)
    states = history.states()
  }

  /// One line of names and values, then one for each finding.
  var report: String {
    """
    cuts=\(cutCount) waiting=\(waitingCount) lost=\(lostCommits) findings=\(findings.count)
    \(findings.prefix(20).joined(separator: "\n"))
    """
  }

  mutating func run(_ trace: Trace, cuts: Int) throws {
    var random = PowerRandom(history.seed ^ 0xC07)
    // Before any event, and after the last, too.
    var places = (0..<cuts).map { _ in Int.random(in: 0...trace.events.count, using: &random) }.sorted()[...]
    var disk = Disk()
    var (begun, acknowledged) = (0, 0)
    for position in 0...trace.events.count {
      while places.first == position {
        places.removeFirst()
        waitingCount += disk.isWaiting ? 1 : 0
        cutCount += 1
        try look(at: disk, "cut \(cutCount) before event \(position)", begun, acknowledged, &random)
      }
      guard position < trace.events.count else { break }
      disk.apply(trace.events[position])
      switch trace.events[position] {
      case .note(.begun(let number)): begun = number
      case .note(.acknowledged(let number)): acknowledged = number
      default: break
      }
    }
  }

  private mutating func look(
    at disk: Disk, _ name: String, _ begun: Int, _ acknowledged: Int, _ random: inout PowerRandom
  ) throws {
    let place = folder.appending(path: "cut", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    try disk.write(to: place, &random)
    do {
      let count = try check(place)
      if count > begun {
        findings.append("\(name): commit \(count) is there, and \(begun) was the last begun")
      }
      lostCommits = max(lostCommits, acknowledged - count)
      if mustKeepAll, count < acknowledged {
        findings.append("\(name): \(acknowledged) commits were acknowledged, and \(count) are there")
      }
    } catch {
      findings.append("\(name): \(error)")
    }
  }

  /// How many commits are there: all of each, and nothing else.
  private func check(_ place: URL) throws -> Int {
    let garage = try Garage(store.open(in: place))
    defer { try? garage.close() }
    let count = try garage.retrieve(Ledger.self, identifier: 0)?.count ?? 0
    guard states.indices.contains(count) else { throw Failure("the ledger says \(count)") }
    if try garage.retrieveAll(Entry.self) != history.entries(states[count]) {
      throw Failure("\(count) commits, and not what they parked")
    }
    let report = try garage.verify()
    if !report.isSound { throw Failure("\(report)") }
    // It can be written to.
    try garage.park(Ledger(count: count))
    return count
  }
}

import DebianPackages
import Foundation

/// The results of a run of the demo. Every count comes from retrieved objects.
struct Report {
  var driver: Options.Driver
  /// The size of the store, in bytes: of its files, or in memory of its keys and values.
  var bytes = 0
  var figures: GraphFigures
  var package: Package
  var reach: Reach
  /// The names of the packages that need the package, if it was named.
  var neededBy: [String]?
  /// The packages that need another one, if that was asked.
  var needed: Found?
  /// The packages that fulfil a condition, if one was given.
  var found: Found?
  /// How long each step took, in the order of the steps.
  var durations: [(step: Step, seconds: Double)]

  /// Names of packages, in order, and what they were found by.
  struct Found {
    var what: String
    var names: [String]
  }
}

/// The steps of a run; the raw values are their names in the JSON object.
enum Step: String {
  case read, open, park, close, reopen, retrieveAll, retrieve, count, needs, find

  var title: String {
    switch self {
    case .read: "read the package database"
    case .open: "open the store"
    case .park: "park the graph"
    case .close: "close the store"
    case .reopen: "open it again"
    case .retrieveAll: "retrieve every package"
    case .retrieve: "retrieve one package and what it needs"
    case .count: "count"
    case .needs: "find who needs a package"
    case .find: "find by a field"
    }
  }
}

// MARK: - As JSON

extension Report {
  private struct JSON: Encodable {
    let packages, references: Int
    let package: String
    let reaches, cycles: Int
    let driver: String
    let bytes: Int
    let seconds: [String: Double]
    /// Left out if nobody asked. `neededBy` belongs to the package of `--needs`, or else to that of `--package`.
    let neededBy, found: [String]?
  }

  /// One JSON object.
  func json() throws -> String {
    let object = JSON(
      packages: figures.packages, references: figures.references, package: package.name,
      reaches: reach.count, cycles: figures.cycles.count, driver: driver.rawValue, bytes: bytes,
      seconds: Dictionary(
        uniqueKeysWithValues: durations.map { step, seconds in
          // Rounded to whole microseconds, because the rest is noise.
          (step.rawValue, (seconds * 1e6).rounded() / 1e6)
        }), neededBy: needed?.names ?? neededBy, found: found?.names)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(object), as: UTF8.self)
  }
}

// MARK: - As text

extension Report {
  /// The results and times as text for people.
  func text() -> String {
    let lists = [
      needed.map { listText("\($0.names.count == 1 ? "needs" : "need") \($0.what)", $0.names) },
      found.map { listText("with \($0.what)", $0.names) },
    ]
    let sections = [stepsText(), figuresText(), packageText()] + lists.compactMap { $0 }
    return sections.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private func stepsText() -> [String] {
    durations.map { step, seconds in
      step.title.padding(toLength: 40, withPad: " ", startingAt: 0) + Report.aligned(Text.seconds(seconds))
        + rate(of: step, seconds)
    }
  }

  private func rate(of step: Step, _ seconds: Double) -> String {
    let objects =
      switch step {
      case .park, .retrieveAll: figures.packages
      case .retrieve: reach.count + 1
      default: 0
      }
    guard objects > 0, seconds > 0 else { return "" }
    return "   \(Text.count(objects)) objects, \(Text.count(Int(Double(objects) / seconds))) a second"
  }

  private static func aligned(_ text: String) -> String {
    String(repeating: " ", count: max(0, 10 - text.count)) + text
  }

  private func figuresText() -> [String] {
    let graph = [
      Text.count(figures.packages, "package", "packages"),
      Text.count(figures.references, "reference", "references"),
      "\(Text.bytes(bytes)) in \(driver.title)",
    ]
    let cycles = figures.cycles.prefix(3).map { cycle in
      "  " + cycle.prefix(8).map(\.name).joined(separator: ", ") + (cycle.count > 8 ? ", …" : "")
    }
    let more = figures.cycles.count - cycles.count
    let count = Text.count(figures.cycles.count, "cycle", "cycles")
    return [
      graph.joined(separator: ", "), "\(count)\(cycles.isEmpty ? "" : ", packages that need one another:")",
    ]
      + cycles + (more > 0 ? ["  … and \(Text.count(more)) more"] : [])
  }

  private func packageText() -> [String] {
    let others = Text.count(reach.count, "other package", "other packages")
    var lines = ["\(package.name)\(package.version.map { " \($0)" } ?? "") reaches \(others)"]
    if let summary = package.description?.split(separator: "\n").first { lines.append("  \(summary)") }
    for (distance, level) in reach.levels.enumerated().dropFirst().prefix(8) {
      let names = level.prefix(4).map(\.name).joined(separator: ", ")
      let more = level.count > 4 ? ", …" : ""
      lines.append("  \(distance) away: \(Text.count(level.count)): \(names)\(more)")
    }
    if reach.levels.count > 9 { lines.append("  … up to \(reach.levels.count - 1) away") }
    if let neededBy {
      let names = neededBy.prefix(4).joined(separator: ", ") + (neededBy.count > 4 ? ", …" : "")
      lines.append(
        "  needed by \(Text.count(neededBy.count, "package", "packages"))\(names.isEmpty ? "" : ": ")\(names)"
      )
    }
    let size = reach.packages.reduce(0) { $0 + ($1.installedSize ?? 0) }
    if size > 0 { lines.append("  installed, all of it takes \(Text.bytes(size * 1024))") }
    return lines
  }

  private func listText(_ what: String, _ names: [String]) -> [String] {
    ["\(Text.count(names.count, "package", "packages")) \(what)"] + names.prefix(20).map { "  \($0)" }
      + (names.count > 20 ? ["  … and \(Text.count(names.count - 20)) more"] : [])
  }
}

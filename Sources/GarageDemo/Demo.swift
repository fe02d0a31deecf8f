import DebianPackages
import Foundation
import GarageStorage

/// One run of the demo: it parks, closes, opens again, retrieves, and examines what came back.
struct Demo {
  private let options: Options
  private let store: DemoStore
  private let stopwatch: Stopwatch
  private let note: (String) -> Void

  /// `note` takes a line for people, about what is going on.
  init(_ options: Options, store: DemoStore, progress: ProgressBar, note: @escaping (String) -> Void) {
    self.options = options
    self.store = store
    stopwatch = Stopwatch(progress)
    self.note = note
  }

  func run() throws -> Report {
    if !options.reusesStore { try parkInput() }
    let bytes = try store.byteCount()

    let garage = try stopwatch.measure(.reopen) { try store.open(readOnly: options.reusesStore) }
    defer { try? garage.close() }
    let packages = try stopwatch.measure(.retrieveAll) { try garage.retrieveAll(Package.self) }
    defer { Package.takeApart(packages) }
    guard !packages.isEmpty else {
      throw DemoError.failed("The store \(store.description) holds no packages. Park some, without --reuse.")
    }
    let figures = try stopwatch.measure(.count) { try GraphFigures(of: packages) }

    let name = try chooseName(packages, figures)
    let package = try stopwatch.measure(.retrieve) { try garage.retrieve(Package.self, identifier: name) }
    guard let package else { throw DemoError.failed("\(name) was just there and is gone.") }
    var report = Report(
      driver: options.driver, bytes: bytes, figures: figures, package: package, reach: Reach(of: package),
      durations: [])
    if options.asksForReferrers {
      if let name = options.neededBy { try check(name, packages) }
      try stopwatch.measure(.needs) {
        if options.package != nil { report.neededBy = try referrers(of: name, garage) }
        if let name = options.neededBy {
          report.needed = Report.Found(what: name, names: try referrers(of: name, garage))
        }
      }
    }
    if let condition = options.condition {
      let names = try stopwatch.measure(.find) {
        try garage.query(Package.self).where(condition.condition).values(\.name)
      }
      report.found = Report.Found(what: condition.text, names: names.sorted())
    }
    report.durations = stopwatch.durations
    return report
  }

  /// Reads the input and parks its packages, in place of those that an earlier run parked in this store.
  private func parkInput() throws {
    let packages = try stopwatch.measure(.read) {
      let input = try PackageInput(options.input)
      let packages = Package.graph(of: try stanzas(in: input))
      note("\(Text.count(packages.count, "package", "packages")) from \(input.name), \(store.description)")
      return packages
    }
    defer { Package.takeApart(packages) }

    let garage = try stopwatch.measure(.open) { try store.open(isIndexed: options.asksForReferrers) }
    do {
      try stopwatch.measure(.park) {
        try garage.write { writer in
          if try writer.count(Package.self) > 0 { try writer.deleteAll(Package.self) }
          try writer.parkAll(packages)
        }
      }
    } catch {
      try? garage.close()
      throw error
    }
    try stopwatch.measure(.close) { try garage.close() }
  }

  private func stanzas(in input: PackageInput) throws -> [Stanza] {
    do {
      return try StanzaReader.read(input.bytes, from: input.name, progress: stopwatch.progress.advance)
    } catch let error as PackageDatabaseError {
      throw DemoError.failed(error.message)
    }
  }

  /// The names of the packages that need the package `name`.
  private func referrers(of name: String, _ garage: Garage) throws -> [String] {
    try garage.referrers(of: Package.self, identifier: name).map(\.identifier.description).sorted()
  }

  private func chooseName(_ packages: [Package], _ figures: GraphFigures) throws -> String {
    guard let name = options.package else { return figures.farthestReaching?.name ?? "" }
    try check(name, packages)
    return name
  }

  /// Throws if there is no package with this name.
  private func check(_ name: String, _ packages: [Package]) throws {
    if packages.contains(where: { $0.name == name }) { return }
    let similar = NameSuggestions.nearest(to: name, in: packages.lazy.map(\.name))
    let hint = similar.isEmpty ? "" : " Did you mean \(similar.joined(separator: ", "))?"
    throw DemoError.failed("There is no package '\(name)' among \(Text.count(packages.count)).\(hint)")
  }
}

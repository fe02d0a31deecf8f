import DebianPackages
import Foundation
import GRDB
import GarageDriver
import GarageStorage

/// The archive graph of the demo: Debian's packages and what each depends on, cycles included.
struct ArchiveComparison {
  /// The package database to read; nil: this machine's own.
  let file: String?
  let folder: URL
  /// The stores to open; all where it is empty.
  let only: [String]
  let isWanted: (String) -> Bool

  static let parkName = "park archive"
  static let retrieveName = "retrieve archive"
  static let oneName = "retrieve archive package"
  static let names = [parkName, retrieveName, oneName]
  /// How often the one package is retrieved in a round.
  private static let passes = 9
  private static let systemFile = "/var/lib/dpkg/status"

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    let path = file ?? Self.systemFile
    guard let bytes = FileManager.default.contents(atPath: path) else {
      if file != nil { throw WrongResult("\(path) cannot be read") }
      say("archive: left out, there is no \(path)")
      return []
    }
    let stanzas = try StanzaReader.read(Array(bytes), from: path)
    let packages = Package.graph(of: stanzas)
    defer { Package.takeApart(packages) }
    say("archive: \(packages.count) packages and \(Expected(packages).linkCount) dependencies from \(path)")
    var samples = Samples()
    let one = try Self.richest(packages)
    say("archive: \(one.name) reaches \(one.reached.count) packages")
    try rounds.run("archive") { round in
      samples.beginRound()
      try runRound(round, packages, one, &samples)
    }
    return Self.names.filter(isWanted).flatMap { name in
      ["memory", "sqlite", "lmdb"].flatMap { subject in
        ["GRDB columns", "GRDB by hand"].compactMap { peer in
          ResultRow(name, subject, peer, who: peer + (subject == "memory" ? ", in memory" : ""), samples)
        }
      }
    }
  }

  /// The package that reaches the most others, among every hundredth.
  private static func richest(_ packages: [Package]) throws -> (name: String, reached: [Package]) {
    let all = stride(from: 0, to: packages.count, by: 100).map {
      (packages[$0].name, Package.reached(from: [packages[$0]]))
    }
    guard let richest = all.max(by: { $0.1.count < $1.1.count }) else {
      throw WrongResult("there are no packages")
    }
    return richest
  }

  /// Retrieves one package with all that it reaches, by all in turn.
  private func measureOne(
    _ round: Int, _ stores: [any ArchiveStore], _ one: (name: String, reached: [Package]),
    _ samples: inout Samples
  ) throws {
    let expected = Expected(one.reached)
    for pass in 0..<Self.passes {
      for store in stores.rotated(by: round + pass) {
        var found: [Package] = []
        try samples.measure(
          Operation(
            name: Self.oneName, who: store.who, count: one.reached.count,
            run: { found = try store.retrieve(one.name) },
            verify: {
              let all = found.count > 1 ? found : Package.reached(from: found)
              try WrongResult.unless(Expected(all) == expected, "the graph is another")
              found = all
            }))
        Package.takeApart(found)
      }
    }
  }

  private func runRound(
    _ round: Int, _ packages: [Package], _ one: (name: String, reached: [Package]), _ samples: inout Samples
  ) throws {
    let root = folder.appending(path: "garage-compare-archive-\(getpid())")
    defer { try? FileManager.default.removeItem(at: root) }
    func place(_ name: String) throws -> URL {
      let folder = root.appending(path: name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return folder
    }
    var stores: [any ArchiveStore] = []
    func add(_ name: String, _ make: () throws -> any ArchiveStore) throws {
      if only.isEmpty || only.contains(name) { stores.append(try make()) }
    }
    try add("memory") { try GarageArchive("memory", GarageStore.memoryDriver()) }
    try add("sqlite") { try GarageArchive("sqlite", GarageStore.sqliteDriver(at: place("sqlite"))) }
    try add("lmdb") { try GarageArchive("lmdb", GarageStore.lmdbDriver(at: place("lmdb"))) }
    for form in GRDBArchive.Form.allCases {
      try add(form.rawValue) { try GRDBArchive(form, at: place(form.rawValue)) }
      try add(form.rawValue) { try GRDBArchive(form, at: nil) }
    }
    let expected = Expected(packages)
    for store in stores.rotated(by: round) {
      try samples.measure(
        Operation(
          name: Self.parkName, who: store.who, count: packages.count, run: { try store.park(packages) },
          verify: {}))
    }
    for store in stores.rotated(by: round) {
      var retrieved: [Package] = []
      try samples.measure(
        Operation(
          name: Self.retrieveName, who: store.who, count: packages.count,
          run: { retrieved = try store.retrieve() },
          verify: { try WrongResult.unless(Expected(retrieved) == expected, "the graph is another") }))
      Package.takeApart(retrieved)
    }
    if isWanted(Self.oneName) { try measureOne(round, stores, one, &samples) }
    for store in stores { try store.close() }
  }

  /// A graph as plain values, in the order of the packages' names.
  private struct Expected: Equatable {
    struct Node: Equatable {
      var fields: [String?]
      var installedSize: Int?
      var depends: [String]
    }
    var nodes: [Node]

    init(_ packages: [Package]) {
      nodes = packages.sorted { $0.name < $1.name }.map {
        Node(
          fields: [$0.name, $0.version, $0.architecture, $0.section, $0.maintainer, $0.description],
          installedSize: $0.installedSize, depends: $0.depends.map(\.name))
      }
    }

    var linkCount: Int { nodes.reduce(0) { $0 + $1.depends.count } }
  }
}

extension Package {
  /// These packages and all that they depend on.
  fileprivate static func reached(from packages: [Package]) -> [Package] {
    var seen = Set(packages.map(ObjectIdentifier.init))
    var reached = packages
    var next = 0
    while next < reached.count {
      for target in reached[next].depends where seen.insert(ObjectIdentifier(target)).inserted {
        reached.append(target)
      }
      next += 1
    }
    return reached
  }
}

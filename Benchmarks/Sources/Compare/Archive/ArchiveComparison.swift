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
      ["memory", "sqlite", "lmdb"].compactMap { subject in
        ResultRow(
          name, subject, "GRDB columns", who: "GRDB" + (subject == "memory" ? ", in memory" : ""), samples)
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
    try add("GRDB columns") { try GRDBArchive("GRDB", at: place("grdb")) }
    try add("GRDB columns") { try GRDBArchive("GRDB, in memory", at: nil) }
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

/// Keeps the whole archive: parks it in one transaction, retrieves it in another.
private protocol ArchiveStore {
  var who: String { get }
  func park(_ packages: [Package]) throws
  func retrieve() throws -> [Package]
  /// The package with that name and all that it reaches; or it alone, linked to them.
  func retrieve(_ name: String) throws -> [Package]
  func close() throws
}

private struct GarageArchive: ArchiveStore {
  let who: String
  let garage: Garage

  init(_ who: String, _ driver: any StorageDriver) throws {
    self.who = who
    garage = try Garage(driver)
  }

  func park(_ packages: [Package]) throws { try garage.parkAll(packages) }
  func retrieve() throws -> [Package] { try garage.retrieveAll(Package.self) }
  func retrieve(_ name: String) throws -> [Package] {
    try garage.retrieve(Package.self, identifier: name).map { [$0] } ?? []
  }
  func close() throws { try garage.close() }
}

/// Two tables: a column for each property of a package, and a row for each dependency, in their order. Objects
/// are linked by a dictionary of names.
private struct GRDBArchive: ArchiveStore {
  let who: String
  private let database: any DatabaseWriter

  private struct PackageRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "package"
    var name: String
    var version: String?
    var architecture: String?
    var section: String?
    var maintainer: String?
    var description: String?
    var installedSize: Int?

    init(_ package: Package) {
      name = package.name
      version = package.version
      architecture = package.architecture
      section = package.section
      maintainer = package.maintainer
      description = package.description
      installedSize = package.installedSize
    }
  }

  private struct DependencyRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "dependency"
    var package: String
    var position: Int
    var target: String
  }

  init(_ who: String, at folder: URL?) throws {
    self.who = who
    database = try GRDBStore.open(at: folder)
    try database.write { db in
      try db.create(table: "package") { table in
        table.primaryKey("name", .text)
        for name in ["version", "architecture", "section", "maintainer", "description"] {
          table.column(name, .text)
        }
        table.column("installedSize", .integer)
      }
      try db.create(table: "dependency", options: .withoutRowID) { table in
        table.primaryKey {
          table.column("package", .text).notNull()
          table.column("position", .integer).notNull()
        }
        table.column("target", .text).notNull()
      }
    }
  }

  func park(_ packages: [Package]) throws {
    try database.write { db in
      for package in packages {
        try PackageRow(package).insert(db)
        for (position, target) in package.depends.enumerated() {
          try DependencyRow(package: package.name, position: position, target: target.name).insert(db)
        }
      }
    }
  }

  func retrieve() throws -> [Package] {
    let (rows, links) = try database.read { db in
      (
        try PackageRow.order(Column("name")).fetchAll(db),
        try DependencyRow.order(Column("package"), Column("position")).fetchAll(db)
      )
    }
    return link(rows, links)
  }

  /// A recursive query finds the names.
  func retrieve(_ name: String) throws -> [Package] {
    let (rows, links) = try database.read { db in
      let reached: SQL = """
        WITH RECURSIVE reached(name) AS (
          SELECT \(name) UNION SELECT target FROM dependency JOIN reached ON dependency.package = reached.name
        )
        """
      return (
        try SQLRequest<PackageRow>(
          literal: "\(reached) SELECT package.* FROM reached JOIN package ON package.name = reached.name"
        ).fetchAll(db),
        try SQLRequest<DependencyRow>(
          literal: """
            \(reached) SELECT dependency.* FROM reached JOIN dependency ON dependency.package = reached.name \
            ORDER BY dependency.package, dependency.position
            """
        ).fetchAll(db)
      )
    }
    return link(rows, links)
  }

  private func link(_ rows: [PackageRow], _ links: [DependencyRow]) -> [Package] {
    let packages = rows.map { row in
      Package(
        Stanza(
          name: row.name, version: row.version, architecture: row.architecture, section: row.section,
          maintainer: row.maintainer, description: row.description, installedSize: row.installedSize,
          dependencies: []))
    }
    let byName = Dictionary(uniqueKeysWithValues: packages.map { ($0.name, $0) })
    for link in links {
      if let package = byName[link.package], let target = byName[link.target] {
        package.depends.append(target)
      }
    }
    return packages
  }

  func close() throws { try database.close() }
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

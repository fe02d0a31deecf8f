import DebianPackages
import Foundation
import GRDB

/// Two tables: a column for each property of a package, and a row for each dependency, in their order. Objects
/// are linked by a dictionary of names.
struct GRDBArchive: ArchiveStore {
  /// How rows become objects and back.
  enum Form: String, CaseIterable {
    /// Codable records, as GRDB's guide has them.
    case columns = "GRDB columns"
    /// Columns by index, statements prepared once, no record between a row and its package.
    case byHand = "GRDB by hand"
  }

  let who: String
  private let form: Form
  private let database: any DatabaseWriter

  /// In memory where there is no folder.
  init(_ form: Form, at folder: URL?) throws {
    who = form.rawValue + (folder == nil ? ", in memory" : "")
    self.form = form
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
      switch form {
      case .columns: try Records.insert(packages, db)
      case .byHand: try Hand.insert(packages, db)
      }
    }
  }

  func retrieve() throws -> [Package] {
    try database.read { db in
      switch form {
      case .columns: try Records.packages(db, .all)
      case .byHand: try Hand.packages(db, .all)
      }
    }
  }

  func retrieve(_ name: String) throws -> [Package] {
    try database.read { db in
      switch form {
      case .columns: try Records.packages(db, .reached(from: name))
      case .byHand: try Hand.packages(db, .reached(from: name))
      }
    }
  }

  func close() throws { try database.close() }

  /// Which packages are fetched, with the dependencies of these.
  private enum Selection {
    case all
    /// A recursive query finds the names.
    case reached(from: String)

    private static let reached = """
      WITH RECURSIVE reached(name) AS (
        SELECT ? UNION SELECT target FROM dependency JOIN reached ON dependency.package = reached.name
      )
      """

    func packages(_ columns: String) -> String {
      switch self {
      case .all: "SELECT \(columns) FROM package ORDER BY name"
      case .reached: "\(Self.reached) SELECT \(columns) FROM reached JOIN package USING (name)"
      }
    }

    func dependencies(_ columns: String) -> String {
      switch self {
      case .all: "SELECT \(columns) FROM dependency ORDER BY package, position"
      case .reached:
        """
        \(Self.reached) SELECT \(columns) FROM reached JOIN dependency ON package = reached.name \
        ORDER BY package, position
        """
      }
    }

    var arguments: StatementArguments {
      switch self {
      case .all: []
      case .reached(let name): [name]
      }
    }
  }

  // MARK: Codable records

  private enum Records {
    struct PackageRow: Codable, FetchableRecord, PersistableRecord {
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

    struct DependencyRow: Codable, FetchableRecord, PersistableRecord {
      static let databaseTableName = "dependency"
      var package: String
      var position: Int
      var target: String
    }

    static func insert(_ packages: [Package], _ db: Database) throws {
      for package in packages {
        try PackageRow(package).insert(db)
        for (position, target) in package.depends.enumerated() {
          try DependencyRow(package: package.name, position: position, target: target.name).insert(db)
        }
      }
    }

    static func packages(_ db: Database, _ selection: Selection) throws -> [Package] {
      let rows = try PackageRow.fetchAll(
        db, sql: selection.packages("package.*"), arguments: selection.arguments)
      let links = try DependencyRow.fetchAll(
        db, sql: selection.dependencies("dependency.*"), arguments: selection.arguments)
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
  }

  // MARK: By hand

  private enum Hand {
    static func insert(_ packages: [Package], _ db: Database) throws {
      let insertPackage = try db.cachedStatement(
        sql: "INSERT INTO package VALUES (?, ?, ?, ?, ?, ?, ?)")
      let insertDependency = try db.cachedStatement(sql: "INSERT INTO dependency VALUES (?, ?, ?)")
      for package in packages {
        try insertPackage.execute(arguments: [
          package.name, package.version, package.architecture, package.section, package.maintainer,
          package.description, package.installedSize,
        ])
        for (position, target) in package.depends.enumerated() {
          try insertDependency.execute(arguments: [package.name, position, target.name])
        }
      }
    }

    static func packages(_ db: Database, _ selection: Selection) throws -> [Package] {
      var packages: [Package] = []
      var byName: [String: Package] = [:]
      let columns = "name, version, architecture, section, maintainer, description, installedSize"
      let rows = try Row.fetchCursor(
        db.cachedStatement(sql: selection.packages(columns)), arguments: selection.arguments)
      while let row = try rows.next() {
        let package = Package(
          Stanza(
            name: row[0], version: row[1], architecture: row[2], section: row[3], maintainer: row[4],
            description: row[5], installedSize: row[6], dependencies: []))
        packages.append(package)
        byName[package.name] = package
      }
      // The dependencies of one package stand together: each list is made once.
      var owner: Package?
      var targets: [Package] = []
      let links = try Row.fetchCursor(
        db.cachedStatement(sql: selection.dependencies("package, target")), arguments: selection.arguments)
      while let link = try links.next() {
        let name: String = link[0]
        if owner?.name != name {
          owner?.depends = targets
          targets = []
          owner = byName[name]
        }
        if let target = byName[link[1] as String] { targets.append(target) }
      }
      owner?.depends = targets
      return packages
    }
  }
}

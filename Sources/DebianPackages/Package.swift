public import GarageStorage

/// One package of a Debian archive, as the demo parks it.
///
/// Only two things here are special to a garage. The first is `@Linked`: a package depends on other packages, which are loaded
/// along with it and may lead back to it. The second is the type's tag: the type was in the demo's own module when the first
/// stores were made.
public final class Package: Codable, Identifiable, TypeTagged {
  /// The name under which packages are stored.
  public static var typeTag: String { "GarageDemo.Package" }

  /// The name of the package.
  public let name: String
  /// Its version.
  public let version: String?
  /// The architecture that it was built for.
  public let architecture: String?
  /// The section of the archive that it is in.
  public let section: String?
  /// Who looks after it: name and address.
  public let maintainer: String?
  /// What the package is, in one line.
  public let description: String?
  /// How much space it takes when it is installed, in KiB, as Debian counts.
  public let installedSize: Int?
  /// What this package needs, `Pre-Depends` first, each package once.
  @Linked public var depends: [Package]

  /// The name, which is unique.
  public var id: String { name }

  /// The package that a stanza describes, linked to none yet.
  public init(_ stanza: Stanza) {
    name = stanza.name
    version = stanza.version
    architecture = stanza.architecture
    section = stanza.section
    maintainer = stanza.maintainer
    description = stanza.description
    installedSize = stanza.installedSize
    depends = []
  }
}

extension Package {
  /// The packages of `stanzas`, linked to one another.
  ///
  /// If several stanzas have the same name, the first counts. Dependencies on packages that have no stanza are left out, and so
  /// are repeated ones.
  public static func graph(of stanzas: [Stanza]) -> [Package] {
    var packages: [Package] = []
    var kept: [Stanza] = []
    var positions: [String: Int] = [:]
    positions.reserveCapacity(stanzas.count)
    for stanza in stanzas where positions[stanza.name] == nil {
      positions[stanza.name] = packages.count
      packages.append(Package(stanza))
      kept.append(stanza)
    }
    for (package, stanza) in zip(packages, kept) {
      var seen: Set<Int> = []
      package.depends = stanza.dependencies.compactMap { name in
        guard let position = positions[name], seen.insert(position).inserted else { return nil }
        return packages[position]
      }
    }
    return packages
  }

  /// Breaks the links between `packages`, so that cycles do not keep them in memory and releasing one does not
  /// release a long chain behind it.
  public static func takeApart(_ packages: [Package]) {
    for package in packages { package.depends = [] }
  }
}

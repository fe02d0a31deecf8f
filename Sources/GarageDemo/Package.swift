import GarageStorage

/// One package of a Debian archive, as the demo parks it.
///
/// Nothing here is special to a garage but `@Linked`: a package's dependencies are other packages, they are
/// loaded along with it, and they may lead back to it.
final class Package: Codable, Identifiable {
  let name: String
  let version: String?
  let architecture: String?
  let section: String?
  let maintainer: String?
  let description: String?
  /// In KiB, as Debian counts.
  let installedSize: Int?
  /// What this package needs, `Pre-Depends` first, each package once.
  @Linked var depends: [Package]

  var id: String { name }

  init(_ stanza: Stanza) {
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
  /// Of several stanzas with one name the first counts. Dependencies on packages that are not among them are
  /// left out, as are repeated ones.
  static func graph(of stanzas: [Stanza]) -> [Package] {
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
  static func takeApart(_ packages: [Package]) {
    for package in packages { package.depends = [] }
  }
}

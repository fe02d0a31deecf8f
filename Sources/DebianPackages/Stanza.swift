/// One paragraph of a Debian package database: the fields that ``Package`` has.
public struct Stanza: Equatable {
  /// The name of the package.
  public var name: String
  /// Its version.
  public var version: String?
  /// The architecture that it was built for.
  public var architecture: String?
  /// The section of the archive that it is in.
  public var section: String?
  /// Who looks after it: name and address.
  public var maintainer: String?
  /// What the package is, in one line.
  public var description: String?
  /// How much space it takes when it is installed, in KiB.
  public var installedSize: Int?
  /// The first alternative of each dependency, `Pre-Depends` before `Depends`, in their order. Versions and architectures are
  /// left out; repetitions are kept.
  public var dependencies: [String]

  /// A paragraph with these fields.
  public init(
    name: String, version: String? = nil, architecture: String? = nil, section: String? = nil,
    maintainer: String? = nil, description: String? = nil, installedSize: Int? = nil, dependencies: [String]
  ) {
    self.name = name
    self.version = version
    self.architecture = architecture
    self.section = section
    self.maintainer = maintainer
    self.description = description
    self.installedSize = installedSize
    self.dependencies = dependencies
  }
}

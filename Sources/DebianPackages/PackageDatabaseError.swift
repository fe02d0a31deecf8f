/// Why bytes could not be read as a package database, and what to do about it.
public struct PackageDatabaseError: Error, Equatable {
  /// A sentence or two for people.
  public var message: String
}

/// The reason why bytes could not be read as a package database, with advice.
public struct PackageDatabaseError: Error, Equatable {
  /// A sentence or two for people.
  public var message: String
}

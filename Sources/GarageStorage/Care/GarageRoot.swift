public import GarageCoding

/// Where a search for what is still in use begins.
public enum GarageRoot {
  /// All objects of a type; of a class, those of its subclasses too.
  case all(any Codable.Type)
  /// All objects whose type has this name in the store: its tag. For programs that do not have the type.
  case allNamed(String)
  /// The object with this identity; nothing where there is none.
  case object(RecordIdentity)
  /// What the values of all typed keys refer to.
  case keys

  /// The object of this type with this `id`.
  ///
  /// - Throws: ``GarageError/unsupportedIDConformance(_:)``.
  public static func object<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) throws -> GarageRoot
  {
    try translatingErrors { .object(try Reference(type, identifier: identifier).identity) }
  }
}

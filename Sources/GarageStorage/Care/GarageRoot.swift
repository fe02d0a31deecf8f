public import GarageCoding

/// A place where the search for objects in use begins.
public enum GarageRoot {
  /// All objects of a type. For a class also those of its subclasses.
  case all(any Codable.Type)
  /// All objects whose type has this name in the store: its tag. It is for programs that do not have the type.
  case allNamed(String)
  /// The object with this identity; nothing if there is none.
  case object(RecordIdentity)
  /// The objects that the values of all typed keys refer to.
  case keys

  /// The object of this type with this `id`.
  ///
  /// - Throws: ``GarageError/unsupportedIDConformance(_:)``.
  public static func object<T: Codable & Identifiable>(_ type: T.Type, identifier: T.ID) throws -> GarageRoot
  {
    try translatingErrors { .object(try Reference(type, identifier: identifier).identity) }
  }
}

/// What becomes of those who refer to an object that is deleted.
public enum ReferrersRule: Sendable, Hashable, CaseIterable {
  /// They stay as they are, and refer to nothing: an optional property is nil when they are retrieved, and a property that has
  /// to have a value makes that throw.
  case leave
  /// The object is not deleted as long as there are any: ``GarageError/stillReferredTo(type:identifier:by:)``. One that refers to
  /// itself, or to which only objects refer that go with it, is.
  case deny
  /// Their reference goes: an optional property becomes nil, an element leaves its collection. Their records are rewritten,
  /// and tried first: one whose object could no longer be decoded forbids the deletion.
  case nullify
}

/// A type that says what deleting one of its objects does to others.
///
/// ```swift
/// extension Author: DeleteRules {
///   static var referrersRule: ReferrersRule { .deny }           // while somebody refers to the author
///   static var owned: [Owned<Author>] { [Owned(\.drafts)] }     // these go with the author
/// }
/// ```
/// Every verb that deletes single objects, all of a type or those that a query finds follows the rules; `deleteAllObjects()`
/// and the collection of garbage do not ask. Inside of one call all is one transaction, and nothing is deleted where one of
/// the objects may not be.
public protocol DeleteRules {
  /// The type whose properties are named: the type itself, or for a class that is not final its own name.
  associatedtype RuledType: Codable = Self

  /// What becomes of those who refer to an object that is deleted, where the call does not say. Default: ``ReferrersRule/leave``.
  static var referrersRule: ReferrersRule { get }

  /// The properties whose objects go with the object, whoever else refers to them. What these own goes as well, each by the
  /// rules of its own type. Default: none.
  static var owned: [Owned<RuledType>] { get }
}

extension DeleteRules {
  /// Those who refer to an object stay as they are.
  public static var referrersRule: ReferrersRule { .leave }
  /// None.
  public static var owned: [Owned<RuledType>] { [] }
}

/// What happens to the objects that refer to a deleted object.
public enum ReferrersRule: Sendable, Hashable, CaseIterable {
  /// They stay as they are, and their reference leads nowhere. When they are retrieved, an optional property is nil, and a
  /// property that must have a value makes the call throw.
  case leave
  /// The object is not deleted as long as others refer to it: ``GarageError/stillReferredTo(type:identifier:by:)``. References
  /// from the object itself, and from objects that are deleted with it, do not count.
  case deny
  /// Their reference is removed: an optional property becomes nil, an element leaves its collection. Their records are
  /// rewritten. Before that it is checked that their objects can still be decoded; one that could not forbids the deletion.
  case nullify
}

/// A type that declares what deleting one of its objects does to other objects.
///
/// ```swift
/// extension Author: DeleteRules {
///   static var referrersRule: ReferrersRule { .deny }           // while somebody refers to the author
///   static var owned: [Owned<Author>] { [Owned(\.drafts)] }     // these go with the author
/// }
/// ```
/// The rules are followed by every verb that deletes single objects, all objects of a type, or the objects found by a query.
/// `deleteAllObjects()` and the collection of garbage ignore them. One call is one transaction: if one of the objects may not
/// be deleted, none is.
public protocol DeleteRules {
  /// The type whose properties are named: the type itself. A class that is not final gives its own name.
  associatedtype RuledType: Codable = Self

  /// What happens to the objects that refer to a deleted object, unless the call says otherwise. Default:
  /// ``ReferrersRule/leave``.
  static var referrersRule: ReferrersRule { get }

  /// The properties whose objects are deleted with the object, even if others refer to them. The objects that these own are
  /// deleted as well, each by the rules of its own type. Default: none.
  static var owned: [Owned<RuledType>] { get }
}

extension DeleteRules {
  /// The objects that refer to a deleted one stay as they are.
  public static var referrersRule: ReferrersRule { .leave }
  /// None.
  public static var owned: [Owned<RuledType>] { [] }
}

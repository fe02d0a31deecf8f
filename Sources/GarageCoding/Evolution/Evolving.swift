/// A type that declares how to read values that older programs parked.
///
/// Removed and reordered properties, added optionals and added `@Linked` properties need nothing. For the rest
/// declare one or more of these; each has a default:
/// ```swift
/// struct Person: Codable, Identifiable, Evolving {
///   var id: UUID
///   var name: String                          // was "surname"
///   var country: String                       // added
///   var height: Double                        // centimetres; metres before version 1
///
///   static var propertyAliases: [String: [String]] { ["name": ["surname"]] }
///   static var prototype: Person? { Person(id: UUID(), name: "", country: "DE", height: 0) }
///   static let version = 1
///   static func upgrade(_ record: inout RecordValue, from version: Int) throws {
///     if version < 1, let metres = record["height"]?.doubleValue { record["height"] = .double(metres * 100) }
///   }
/// }
/// ```
/// An old value is upgraded first, then its keys are renamed, and what it lacks comes from the prototype. That is
/// done each time it is read; `garage.migrateAll(_:)` does it for good.
///
/// A value that its owner writes by `value.encode(to: encoder)` is part of its owner: only the owner's
/// declarations count.
public protocol Evolving: Codable {
  /// A value of the type from which a key is read that a record lacks. Default: nil, then such a record throws.
  ///
  /// It is encoded once for each process. Only keys that the decoder cannot do without are read from it: an
  /// optional property that a record lacks is nil. It also serves nested containers, superclasses, and inline
  /// values of types that have no prototype of their own. An object that it refers to is read from the store, and
  /// from the prototype where the store has none.
  static var prototype: Self? { get }

  /// For coding keys the older keys under which their value may stand, the preferred one first. Default: none.
  ///
  /// An older key counts if the record has no value for the present one. An older key that is now the key of another property
  /// counts only in values of an older ``version`` that ``upgrade(_:from:)`` leaves as they are, and beside an older key that
  /// no property has any more. The keys of a class apply to the fields of its superclasses as well. Keys of nested containers, and
  /// labels in the payload of an enum's case, are renamed by ``upgrade(_:from:)`` alone.
  static var propertyAliases: [String: [String]] { get }

  /// The version of what the type encodes, stored with each value. Default: 0; a negative one counts as 0.
  ///
  /// Increase it when ``upgrade(_:from:)`` has to do something new. A value that was encoded in a greater version
  /// than this one is not read: that throws.
  static var version: Int { get }

  /// Rewrites a value that was encoded in an older version, so that the present type reads it.
  ///
  /// It is called once for a value, with the version that the value was encoded in, 0 where the type had none. In a
  /// class hierarchy it is called on the object's own class: call `super.upgrade` from an override.
  ///
  /// - Parameters:
  ///   - record: what the value's `encode(to:)` wrote; see ``RecordValue``.
  ///   - version: the version it was encoded in.
  /// - Throws: what makes the value unreadable; whoever reads it gets the error.
  static func upgrade(_ record: inout RecordValue, from version: Int) throws
}

extension Evolving {
  /// None.
  public static var prototype: Self? { nil }
  /// None.
  public static var propertyAliases: [String: [String]] { [:] }
  /// 0.
  public static var version: Int { 0 }
  /// Changes nothing.
  public static func upgrade(_ record: inout RecordValue, from version: Int) throws {}
}

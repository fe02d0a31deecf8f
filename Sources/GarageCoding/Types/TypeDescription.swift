/// What has to be known of a type to find its records.
public struct TypeDescription: Sendable {
  /// How objects of a type are identified when they are parked by themselves.
  public enum Identification: Sendable, Hashable {
    /// By `id`.
    case identifier
    /// By the digest of their content.
    case digest
    /// Not at all: they only stand inside other objects.
    case none
  }

  /// Names the identity space: the type's own tag, or that of its topmost `Codable & Identifiable` superclass.
  public let identityTag: TypeTag
  /// Names the type itself.
  public let tag: TypeTag
  /// Names under which older programs parked records of the identity space.
  public let formerTags: [TypeTag]
  /// How objects of the type are identified.
  public let identification: Identification
  /// Whether it is a class, whose identity space may hold objects of other classes.
  public let isClass: Bool
  /// The unqualified name, for error messages.
  public let name: String
  /// What the coders know of the type.
  package let facts: TypeFacts

  /// The description of a type.
  ///
  /// - Throws: ``GraphCodingError/missingConformance(type:)`` for a type without identity, ``GraphCodingError`` for
  ///   tags in conflict.
  public static func of(_ type: Any.Type) throws -> TypeDescription {
    let facts = TypeFacts.of(type).object
    let tags = try facts.tags()
    return TypeDescription(
      identityTag: tags.identity, tag: tags.concrete, formerTags: tags.former,
      identification: facts.rootIdentification, isClass: facts.isClass, name: facts.name, facts: facts)
  }

  /// The identity of the object of this type whose `id` is `id`, or that text or number stands for.
  ///
  /// - Throws: ``GraphCodingError`` for an `id` that can name no record.
  public static func identity(of type: Any.Type, id: any Hashable) throws -> RecordIdentity {
    let facts = TypeFacts.of(type).object
    let tag = try facts.tags().identity.digest
    if let known = id as? Identifier { return RecordIdentity(tag: tag, identifier: known) }
    guard let idType = try facts.identifierType() else {
      return RecordIdentity(tag: tag, identifier: try Identifier(id, canonical: canonicalBytes))
    }
    return RecordIdentity(
      tag: tag, identifier: try Identifier.converting(id, toMatch: idType, canonical: canonicalBytes))
  }
  /// The same for an `id` of any type, which has to stand for one of the type's own.
  ///
  /// - Throws: ``GraphCodingError/unsuitableIdentifier(type:identifier:idType:)`` where it stands for none.
  package static func identity(of type: Any.Type, converting id: any Hashable) throws -> RecordIdentity {
    let identity = try identity(of: type, id: id)
    let facts = TypeFacts.of(type).object
    guard let idType = try facts.identifierType(), !(id is Identifier) else { return identity }
    let given = Swift.type(of: (id as? AnyHashable)?.base ?? id)
    guard try IdentifierPlan.of(idType).suits(identity.identifier, of: given, idType) else {
      throw GraphCodingError.unsuitableIdentifier(
        type: facts.name, identifier: identity.identifier.description, idType: String(describing: idType))
    }
    return identity
  }
}

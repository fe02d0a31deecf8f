internal import GarageCoding
internal import Synchronization

/// What the verbs have to know of a type: found out once in a process, since asking the runtime costs more than
/// a read.
///
/// Unchecked: nothing changes after `init`.
final class StoredType: @unchecked Sendable {
  /// The unqualified name, for error messages.
  let name: String
  /// The digest of the tag that names the identity space.
  let tag: UInt64
  /// The digests of all tags under which there may be records, the present one first.
  let tags: [UInt64]
  /// Whether objects are identified by their `id`, and not by their content.
  let isIdentifiedByID: Bool
  /// Whether the identity space holds objects of other classes than this one and its subclasses.
  let sharesSpaceWithSuperclass: Bool
  /// How an `id` becomes an identifier, where that takes no encoder.
  private let identifierPlan: IdentifierPlan?

  private static let known = Mutex<[ObjectIdentifier: StoredType]>([:])

  /// - Throws: ``GraphCodingError/missingConformance(type:)`` for a type whose objects have no records, and
  ///   ``GraphCodingError`` where tags are in conflict.
  static func of(_ type: any Codable.Type) throws -> StoredType {
    let key = ObjectIdentifier(type)
    if let stored = known.withLock({ $0[key] }) { return stored }
    // Tags are users' code: they are asked for outside the lock.
    let stored = StoredType(type, try TypeDescription.of(type))
    known.withLock { $0[key] = stored }
    return stored
  }

  private init(_ type: any Codable.Type, _ description: TypeDescription) {
    name = description.name
    tag = description.identityTag.digest
    tags = [tag] + description.formerTags.map(\.digest)
    isIdentifiedByID = description.identification == .identifier
    sharesSpaceWithSuperclass = description.isClass && description.tag != description.identityTag
    let identifiable = isIdentifiedByID && !(type is any MappableObject.Type) ? type as? any Identifiable.Type : nil
    identifierPlan = identifiable.flatMap { StoredType.plan(of: $0) }
  }

  private static func plan<T: Identifiable>(of _: T.Type) -> IdentifierPlan? {
    let plan = try? IdentifierPlan.of(T.ID.self)
    return plan?.kind == .canonical ? nil : plan
  }

  /// The identifier of an `id` of the type's own kind.
  func identifier<T: Codable & Identifiable>(of type: T.Type, _ id: T.ID) throws -> Identifier {
    guard let identifierPlan else { return try TypeDescription.identity(of: type, id: id).identifier }
    var writer = IdentifierWriter(minimumCapacity: 64)
    try withUnsafePointer(to: id) { try identifierPlan.write(at: $0, to: &writer, canonical: { _ in [] }) }
    return Identifier(writer)
  }
}

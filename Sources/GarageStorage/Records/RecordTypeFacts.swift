internal import GarageCoding
internal import Synchronization

/// What the verbs have to know of a type whose objects have records of their own. Found out once in a process, because asking
/// the runtime takes longer than a read.
///
/// Unchecked: nothing changes after `init`, but for the atomic count.
final class RecordTypeFacts: @unchecked Sendable {
  let type: ObjectIdentifier
  /// The type itself.
  let recordType: any Codable.Type
  /// The unqualified name, for error messages.
  let name: String
  /// The digest of the tag that names the identity space.
  let tag: UInt64
  /// The digests of all tags under which there may be records, the present one first.
  let tags: [UInt64]
  /// The digests of the type's own tags, the present one first. Those of a subclass name no identity space.
  let ownTags: [UInt64]
  /// Whether objects are identified by their `id`, and not by their content.
  let isIdentifiedByID: Bool
  /// Whether the identity space holds objects of other classes than this one and its subclasses.
  let sharesSpaceWithSuperclass: Bool
  /// The type's delete rules; nil where it declares none. Asked for when the type is first used, on its actor if it belongs to
  /// one, because deletions also run elsewhere.
  let deleteRules: TypeDeleteRules?
  /// What the coder knows of the type, so that it need not look for it again.
  let ofCoder: TypeFacts
  /// How many objects there were when all of them were retrieved last, from whatever store.
  let lastCount = Atomic<Int>(0)
  /// How an `id` becomes an identifier, where that takes no encoder.
  private let identifierPlan: IdentifierPlan?

  private static let known = Mutex<[ObjectIdentifier: RecordTypeFacts]>([:])
  private static let byFormerTag = Mutex<[UInt64: [RecordTypeFacts]]>([:])
  private static let recent = RecentFacts()

  /// The facts of a type.
  ///
  /// - Throws: ``GraphCodingError/missingConformance(type:)`` for a type whose objects have no records, and
  ///   ``GraphCodingError`` where tags are in conflict.
  static func of(_ type: any Codable.Type) throws -> RecordTypeFacts {
    if let facts = recent.facts(of: ObjectIdentifier(type)) { return facts }
    return try lookUp(type)
  }

  private static func lookUp(_ type: any Codable.Type) throws -> RecordTypeFacts {
    let key = ObjectIdentifier(type)
    if let facts = kept(key) { return facts }
    // Tags and rules are users' code: they are asked for outside the lock.
    let new = RecordTypeFacts(type, try TypeDescription.of(type))
    // A conformance that is not seen here may be seen elsewhere.
    if !isSeen(type) { return new }
    let facts = known.withLock { known in
      let facts = known[key] ?? new
      known[key] = facts
      return facts
    }
    recent.note(facts)
    if facts === new {
      let former = Set(new.tags.dropFirst() + new.ownTags.dropFirst())
      byFormerTag.withLock { known in for tag in former { known[tag, default: []].append(new) } }
      // The rules belong to the same actor as the type.
      for type in new.deleteRules?.ownedTypes ?? [] { _ = try? met(type) }
    }
    return facts
  }

  private static func kept(_ key: ObjectIdentifier) -> RecordTypeFacts? {
    guard let facts = known.withLock({ $0[key] }) else { return nil }
    recent.note(facts)
    return facts
  }

  /// The facts of a type of which it is not known whether its objects have records; nil where they have none.
  ///
  /// - Throws: ``GarageError/notMet(_:)`` where there are none yet, and here none can be made.
  static func met(_ type: Any.Type) throws -> RecordTypeFacts? {
    let key = ObjectIdentifier(type)
    if let facts = recent.facts(of: key) ?? kept(key) { return facts }
    if !isSeen(type) { throw GarageError.notMet(type) }
    guard let type = type as? any Codable.Type else { return nil }
    return try? of(type)
  }

  /// Whether the conformances of a type whose objects are stored are seen here. All stored types are `Encodable`: if that is
  /// not seen, the type belongs to an actor on which this does not run. (Casts of values then fail. Casts of types succeed all
  /// the same with the runtime of Swift 6.3, but that is not promised.)
  @inline(never)
  private static func isSeen(_ type: Any.Type) -> Bool { type is any Encodable.Type }

  /// The types known so far whose objects may be stored under a tag, as their present one or a former one.
  ///
  /// - Throws: ``GarageError/notMet(_:)``.
  static func all(withTag tag: UInt64) throws -> [RecordTypeFacts] {
    try TypeTag.types(withDigest: tag).compactMap { try met($0) } + formerlyTagged(tag)
  }

  /// The types that had a tag before, or whose identity space had it.
  static func formerlyTagged(_ tag: UInt64) -> [RecordTypeFacts] {
    byFormerTag.withLock { $0[tag] ?? [] }
  }

  /// The types by which objects with this tag are found, where it is the present one of none: an object may have a record under
  /// a later tag that counts in place of this one. Empty for nearly all tags.
  static func superseding(_ tag: UInt64) -> [RecordTypeFacts] {
    let types = formerlyTagged(tag)
    if types.isEmpty || !TypeTag.types(withDigest: tag).isEmpty { return [] }
    // The own tag of a subclass names no place of records.
    return types.filter { $0.tag != tag && $0.tags.contains(tag) }
  }

  private init(_ type: any Codable.Type, _ description: TypeDescription) {
    self.type = ObjectIdentifier(type)
    recordType = type
    name = description.name
    tag = description.identityTag.digest
    tags = [tag] + description.formerTags.map(\.digest)
    ownTags = [description.tag.digest] + TypeTag.former(of: type).map(\.digest)
    isIdentifiedByID = description.identification == .identifier
    sharesSpaceWithSuperclass = description.isClass && description.tag != description.identityTag
    deleteRules = (type as? any DeleteRules.Type).map { TypeDeleteRules.of($0) }
    ofCoder = description.facts
    let identifiable =
      isIdentifiedByID && !(type is any MappableObject.Type) ? type as? any Identifiable.Type : nil
    identifierPlan = identifiable.flatMap { RecordTypeFacts.plan(of: $0) }
  }

  private static func plan<T: Identifiable>(of _: T.Type) -> IdentifierPlan? {
    let plan = try? IdentifierPlan.of(T.ID.self)
    return plan?.kind == .canonical ? nil : plan
  }

  /// Whether the type declares delete rules.
  @inline(__always)
  var hasDeleteRules: Bool { deleteRules != nil }

  /// The identifier of an `id` of the type's own kind.
  func identifier<T: Codable & Identifiable>(of type: T.Type, _ id: T.ID) throws -> Identifier {
    guard let identifierPlan else { return try TypeDescription.identity(of: type, id: id).identifier }
    var writer = IdentifierWriter(minimumCapacity: 64)
    try withUnsafePointer(to: id) { try identifierPlan.write(at: $0, to: &writer, canonical: { _ in [] }) }
    return Identifier(writer)
  }

  /// Lends the identifier of an `id` of the type's own kind to `body`, in the form it has in keys.
  ///
  /// - Returns: false, and nothing is lent, where finding it out takes more than writing it down.
  func withShortIdentifier<ID>(of id: ID, _ body: (RawSpan) throws -> Void) throws -> Bool {
    guard let identifierPlan else { return false }
    var writer = IdentifierWriter(minimumCapacity: 64)
    try withUnsafePointer(to: id) { try identifierPlan.write(at: $0, to: &writer, canonical: { _ in [] }) }
    if Identifier.isCut(byteCount: writer.count) { return false }
    try body(writer.bytes.bytes)
    return true
  }
}

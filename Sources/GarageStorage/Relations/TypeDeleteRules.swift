internal import GarageCoding

/// What a type declares of the deletion of its objects: asked for once in a process, with all ``RecordTypeFacts``.
struct TypeDeleteRules: Sendable {
  let referrersRule: ReferrersRule
  /// The properties that lead to the objects that it owns.
  let owned: [ReferringProperty]

  /// Asks a type, which runs users' code.
  static func of<T: DeleteRules>(_ type: T.Type) -> TypeDeleteRules {
    TypeDeleteRules(referrersRule: type.referrersRule, owned: type.owned.map(\.property))
  }

  /// The types of what its objects own.
  var ownedTypes: [Any.Type] { owned.flatMap(\.targets) }
}

extension Garage {
  /// Whether objects of a type, or of its subclasses as far as the garage knows them, have rules for their deletion.
  @inline(__always)
  func followsDeleteRules(_ facts: RecordTypeFacts) -> Bool {
    facts.hasDeleteRules || (hasDeleteRules && facts.ofCoder.isOfClass)
  }

  /// The types whose objects bear a tag or did before, as far as they are known.
  func knownTypes(tag: UInt64) -> [Any.Type] {
    var known: [Any.Type] = []
    func add(_ type: Any.Type) {
      if !known.contains(where: { $0 == type }) { known.append(type) }
    }
    if let registered = types.type(tag: tag) { add(registered) }
    for type in TypeTag.types(withDigest: tag) { add(type) }
    for facts in RecordTypeFacts.formerlyTagged(tag) where facts.ownTags.contains(tag) {
      add(facts.recordType)
    }
    return known
  }

  /// The tags, present and former, of the types whose records have a tag now or had it before, as far as these are known and
  /// their conformances are seen here.
  func tags(ofTypesWithTag tag: UInt64) -> [UInt64] {
    let known = knownTypes(tag: tag).compactMap { try? RecordTypeFacts.met($0) }
    var tags: [UInt64] = []
    for facts in known + RecordTypeFacts.formerlyTagged(tag) where facts.tags.contains(tag) {
      for other in facts.tags where !tags.contains(other) { tags.append(other) }
    }
    return tags
  }

  /// The same, to be asked for more: with their conformances, which are seen of some types on their actor alone.
  ///
  /// - Throws: ``GarageError/notMet(_:)``.
  func codableTypes(tag: UInt64) throws -> [any Codable.Type] {
    try knownTypes(tag: tag).compactMap { try RecordTypeFacts.met($0)?.recordType }
  }
}

extension GarageError {
  /// A deletion has to know what a type says of it, and this is not seen here. Thrown before anything is changed.
  static func notMet(_ type: Any.Type) -> GarageError {
    .invalidQuery(
      type: "\(type)",
      reason: """
        cannot tell what a deletion means to them: the conformances of their type belong to an actor, and this runs \
        elsewhere. Nothing was changed. Retrieve one of them on that actor first, or delete there, by the verb that is \
        not async.
        """)
  }
}

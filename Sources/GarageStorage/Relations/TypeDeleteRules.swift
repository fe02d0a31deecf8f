internal import GarageCoding
internal import Synchronization

/// What a type declares of the deletion of its objects: asked for once in a process.
struct TypeDeleteRules: Sendable {
  let referrersRule: ReferrersRule
  /// What leads to what its objects own.
  let owned: [ReferringProperty]

  private static let known = Mutex<[ObjectIdentifier: TypeDeleteRules]>([:])

  /// The rules of a type; nil where it declares none.
  static func of(_ type: Any.Type) -> TypeDeleteRules? {
    guard let ruled = type as? any DeleteRules.Type else { return nil }
    if let rules = known.withLock({ $0[ObjectIdentifier(type)] }) { return rules }
    // Users' code runs outside the lock.
    func declared<T: DeleteRules>(_ type: T.Type) -> TypeDeleteRules {
      let properties = type.owned.map(\.property)
      // From now on their tags lead to these types, whose objects may have rules of their own.
      for target in properties.flatMap(\.targets) {
        if let target = target as? any Codable.Type { _ = try? RecordTypeFacts.of(target) }
      }
      return TypeDeleteRules(referrersRule: type.referrersRule, owned: properties)
    }
    let rules = declared(ruled)
    known.withLock { $0[ObjectIdentifier(type)] = rules }
    return rules
  }
}

extension Garage {
  /// Whether objects of a type, or of its subclasses as far as the garage knows them, have rules for their deletion.
  @inline(__always)
  func followsDeleteRules(_ facts: RecordTypeFacts) -> Bool {
    facts.hasDeleteRules || (hasDeleteRules && facts.ofCoder.isOfClass)
  }
}

internal import GarageCoding

/// A property whose objects belong to the object that has it, and are deleted with it (``DeleteRules``).
///
/// It may be an object, an optional, a collection or dictionary of objects, `@Linked`, a `Reference`, or computed from such.
public struct Owned<Root: Codable>: Sendable {
  let property: ReferringProperty

  /// The objects that a property refers to.
  public init<Value: Codable>(_ property: KeyPath<Root, Value>) {
    self.property = ReferringProperty(property, name: nil)
  }

  /// The objects that a property refers to, which is stored under this coding key, with points between keys: for properties
  /// whose key the library does not find by itself.
  public init<Value: Codable>(_ name: String, _ property: KeyPath<Root, Value>) {
    self.property = ReferringProperty(property, name: name)
  }
}

/// A type that holds values of other types.
private protocol HoldingType {
  static var held: [Any.Type] { get }
  /// Visits what a value of the type holds, as it stands in a record, each with its type.
  static func forEachPart(of value: RecordValue, _ visit: (RecordValue, Any.Type) -> Void)
}

extension HoldingType {
  fileprivate static func forEachPart(of value: RecordValue, _ visit: (RecordValue, Any.Type) -> Void) {
    // For all but dictionaries, one type. A value that is no array may have become one since.
    let type = held[0]
    for part in value.arrayValue ?? [value] { visit(part, type) }
  }
}

extension Optional: HoldingType {
  fileprivate static var held: [Any.Type] { [Wrapped.self] }
  fileprivate static func forEachPart(of value: RecordValue, _ visit: (RecordValue, Any.Type) -> Void) {
    visit(value, Wrapped.self)
  }
}
extension Array: HoldingType { fileprivate static var held: [Any.Type] { [Element.self] } }
extension ContiguousArray: HoldingType { fileprivate static var held: [Any.Type] { [Element.self] } }
extension Set: HoldingType { fileprivate static var held: [Any.Type] { [Element.self] } }
extension Dictionary: HoldingType {
  fileprivate static var held: [Any.Type] { [Key.self, Value.self] }
  fileprivate static func forEachPart(of value: RecordValue, _ visit: (RecordValue, Any.Type) -> Void) {
    for (place, part) in (value.arrayValue ?? []).enumerated() {
      visit(part, place % 2 == 0 ? Key.self : Value.self)
    }
    for (_, part) in value.fields ?? [:] { visit(part, Value.self) }
  }
}
extension Reference: HoldingType {
  fileprivate static var held: [Any.Type] { [Target.self] }
  fileprivate static func forEachPart(of value: RecordValue, _ visit: (RecordValue, Any.Type) -> Void) {
    visit(value, Target.self)
  }
}

/// The types of all that a value of a type holds, at any depth.
func heldTypes(_ type: Any.Type) -> [Any.Type] {
  guard let holding = type as? any HoldingType.Type else { return [type] }
  return holding.held.flatMap(heldTypes)
}

extension RecordValue {
  /// Visits the references of a value itself. Those of an object inside it whose type has records of its own are not among
  /// them, even if the object stands inline, because its type had no records when it was parked.
  func forEachReference(of type: Any.Type, _ visit: (RecordIdentity) -> Void) {
    switch self {
    case .reference(let identity, _): visit(identity)
    case .versioned(_, let value), .withSyncStatus(_, let value): value.forEachReference(of: type, visit)
    case .array, .map:
      if let holding = type as? any HoldingType.Type {
        holding.forEachPart(of: self) { $0.forEachReference(of: $1, visit) }
      } else if !hasRecords(type) {
        forEachReference { identity, _ in visit(identity) }
      }
    default: break
    }
  }
}

/// Whether objects of a type have records of their own wherever they stand.
private func hasRecords(_ type: Any.Type) -> Bool {
  if type is any Inlined.Type { return false }
  if type is any Interned.Type { return true }
  // Other types need no name in the store, and must not get one.
  guard type is any Identifiable.Type || type is any MappableObject.Type,
    let description = try? TypeDescription.of(type)
  else { return false }
  return description.identification == .identifier
}

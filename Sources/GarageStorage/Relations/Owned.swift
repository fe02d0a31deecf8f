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

/// A type that holds others.
private protocol HoldingType {
  static var held: [Any.Type] { get }
}

extension Optional: HoldingType { fileprivate static var held: [Any.Type] { [Wrapped.self] } }
extension Array: HoldingType { fileprivate static var held: [Any.Type] { [Element.self] } }
extension ContiguousArray: HoldingType { fileprivate static var held: [Any.Type] { [Element.self] } }
extension Set: HoldingType { fileprivate static var held: [Any.Type] { [Element.self] } }
extension Dictionary: HoldingType { fileprivate static var held: [Any.Type] { [Key.self, Value.self] } }
extension Reference: HoldingType { fileprivate static var held: [Any.Type] { [Target.self] } }

/// The types of what a value of a type holds, of whatever depth.
func heldTypes(_ type: Any.Type) -> [Any.Type] {
  guard let holding = type as? any HoldingType.Type else { return [type] }
  return holding.held.flatMap(heldTypes)
}

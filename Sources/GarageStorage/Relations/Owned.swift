internal import GarageCoding

/// A property whose objects belong to the object that has it, and are deleted with it (``DeleteRules``).
///
/// It may be an object, an optional, a collection or dictionary of objects, `@Linked`, or a `Reference`.
public struct Owned<Root: Codable>: Sendable {
  /// The property, and the coding keys that lead to it.
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

/// A property that refers to objects.
struct ReferringProperty: @unchecked Sendable {
  // @unchecked: a key path without captured values, closures that have nothing else, and metatypes.
  let text: String
  private let name: String?
  private let isComputed: Bool
  private let search: (ReadAccess) throws -> FieldPath?
  private let isAsked: ([String]) -> Bool
  /// The types of the objects, as far as the property's type tells.
  let targets: [Any.Type]

  init<Root: Codable, Value: Codable>(_ property: KeyPath<Root, Value>, name: String?) {
    let text = nameOf(property)
    self.text = text
    self.name = name
    let depth = text.split(separator: ".").drop { $0 == "\\" }.count
    isComputed = ReferringField.isComputed(property)
    search = { access in
      if let found = ReferringField.path(of: property, depth: depth) { return found }
      guard let facts = try? RecordTypeFacts.of(Root.self), try access.takeFieldSample(Root.self, facts)
      else {
        return nil
      }
      return ReferringField.path(of: property, depth: depth)
    }
    isAsked = { ReferringField.isAsked($0, in: Root.self) }
    targets = heldTypes(Value.self)
  }

  /// The coding keys that lead to it.
  ///
  /// - Throws: ``GarageError/invalidQuery(type:reason:)`` where they are not found.
  func path(of type: Any.Type, _ access: ReadAccess) throws -> [String] {
    if let name { return name.split(separator: ".").map(String.init) }
    if let found = try search(access) { return found.keys }
    // As far as anybody can tell it is stored under its own name.
    let keys = text.split(separator: ".").drop { $0 == "\\" }.map {
      String($0.filter { $0 != "?" && $0 != "!" })
    }
    if isComputed || keys.isEmpty || text.contains("<") || !isAsked(keys) {
      throw GarageError.invalidQuery(
        type: "\(type)",
        reason: """
          has a property of which it could not be found out where it is stored. Name its coding key: \
          Owned("codingKey", …), or by: … of another property.
          """)
    }
    return keys
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
private func heldTypes(_ type: Any.Type) -> [Any.Type] {
  guard let holding = type as? any HoldingType.Type else { return [type] }
  return holding.held.flatMap(heldTypes)
}

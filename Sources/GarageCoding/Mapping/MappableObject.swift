/// A class that lists its stored properties in a mapping, instead of having its own `Codable` code.
///
/// ```swift
/// final class Boat: MappableObject {
///   var name = ""
///   var captain: Person?
///   var crew: [Person] = []
///   init() {}
///   static var objectMapping: ObjectMapping {
///     let mapping = ObjectMapping(for: Boat.self)
///     mapping.add("name", \Boat.name)
///     mapping.add("captain", \Boat.captain)
///     mapping.add("crew", \Boat.crew)
///     mapping.identifyingAttribute = "name"
///     return mapping
///   }
/// }
/// ```
/// With an identifying attribute, an object is stored under the attribute's value and referenced from other objects. Without
/// one, it stands inside other objects; parked by itself, it is identified by the digest of its content. A mapped class that is
/// also `Identifiable` by its own `id` needs no identifying attribute.
///
/// Objects are created empty by `init()` and then filled, so plain properties may refer to each other in a circle. While an
/// object is being built, and in `init(from:)` of the objects that hold it, its references may not be set yet.
///
/// `Codable` is already done: do not write `init(from:)` and `encode(to:)`.
public protocol MappableObject: AnyObject, Codable {
  /// An empty object. Properties that a record does not have keep the values that they have here.
  init()
  /// The mapping of the stored properties. A process asks for it once for each class. In a class that has subclasses, declare
  /// it as `class var`, and override it in the subclasses that add properties.
  static var objectMapping: ObjectMapping { get }
}

/// Lists the stored properties of a class, with their keys.
///
/// The mapping of a subclass begins with that of its superclass, and adds properties:
/// ```swift
/// override class var objectMapping: ObjectMapping {
///   let mapping = ObjectMapping(for: Ship.self)  // has what is in Boat.objectMapping
///   mapping.add("masts", \Ship.masts)
///   return mapping
/// }
/// ```
/// A mapping is built and read on one thread, in `objectMapping`. An error in it is thrown when the first object is parked or
/// retrieved.
public final class ObjectMapping {
  /// The key of the property that identifies an object. The property must be mapped, and must not be empty in a parked object.
  /// Its type is one that an `id` can have. Nil: the objects are anonymous. A subclass has the attribute of its superclass.
  public var identifyingAttribute: String?

  /// The class.
  let type: any MappableObject.Type
  private(set) var properties: [MappedProperty] = []
  /// An error in the mapping, to be thrown later.
  private(set) var fault: String?

  /// A mapping with the properties of the superclass's mapping, if there is one, and no others.
  public init(for type: any MappableObject.Type) {
    self.type = type
    guard let superclass = _getSuperclass(type) as? any MappableObject.Type else { return }
    let inherited = superclass.objectMapping
    properties = inherited.properties
    identifyingAttribute = inherited.identifyingAttribute
    fault = inherited.fault
  }

  /// The same as ``init(for:)``, under the name that GarageStorage has for it.
  public static func mapping(for type: any MappableObject.Type) -> ObjectMapping { ObjectMapping(for: type) }

  /// Adds a property of any `Codable` type. An existing property with the same key is replaced.
  ///
  /// - Parameters:
  ///   - key: the name in the store. It must stay when the property is renamed.
  ///   - path: a property of the class, or of a superclass.
  public func add<Root: MappableObject, Value: Codable>(
    _ key: String, _ path: ReferenceWritableKeyPath<Root, Value>
  ) {
    append(MappedValue(key, path))
  }

  /// Adds an optional property. Nil takes no space in the store.
  ///
  /// - Parameters:
  ///   - key: the name in the store. It must stay when the property is renamed.
  ///   - path: a property of the class, or of a superclass.
  public func add<Root: MappableObject, Wrapped: Codable>(
    _ key: String, _ path: ReferenceWritableKeyPath<Root, Wrapped?>
  ) {
    append(MappedOptional(key, path))
  }

  /// Adds properties in the order of their keys, as GarageStorage's method of this name does for names.
  ///
  /// - Parameter paths: properties by their keys in the store. If one cannot be set, or is not of a `Codable` type, that is
  ///   reported when the first object is parked or retrieved.
  public func addMappings<Root: MappableObject>(_ paths: [String: PartialKeyPath<Root>]) {
    for (key, path) in paths.sorted(by: { $0.key < $1.key }) {
      func add<Value: Codable>(_: Value.Type) -> Bool {
        guard let path = path as? ReferenceWritableKeyPath<Root, Value> else { return false }
        self.add(key, path)
        return true
      }
      guard let value = Swift.type(of: path).valueType as? any Codable.Type, add(value) else {
        fault = "its property \"\(key)\" cannot be set, or is of a type that is not Codable"
        continue
      }
    }
  }

  private func append(_ property: MappedProperty) {
    if let index = properties.firstIndex(where: { $0.key == property.key }) {
      properties[index] = property
    } else {
      properties.append(property)
    }
  }
}

// MARK: - Codable

extension MappableObject {
  /// Creates an empty object and fills it from the decoder. For coders.
  public init(from decoder: any Decoder) throws {
    self.init()
    let object: any MappableObject = self
    guard let decoder = decoder as? ValueDecoder else {
      try MappingPlan.of(Swift.type(of: object)).read(object, from: decoder)
      return
    }
    try decoder.request { state in
      let facts = state.types.facts(of: Swift.type(of: object)).0
      try state.registerEmpty(object)
      try facts.object.mappingPlan(object).read(object, from: state)
    }
  }

  /// Writes the mapped properties. For coders.
  public func encode(to encoder: any Encoder) throws {
    let object: any MappableObject = self
    guard let encoder = encoder as? ValueEncoder, !encoder.state.isCanonical else {
      return try MappingPlan.of(Swift.type(of: object)).write(object, to: encoder)
    }
    let state = encoder.state
    try state.resume(encoder.serial)
    let facts = state.types.facts(of: Swift.type(of: object)).0
    try facts.object.mappingPlan(object).write(object, to: state)
  }
}

internal import Synchronization

/// A mapping as the coders use it: made once for each class and checked.
///
/// Unchecked: nothing changes after `init`; key paths of properties are only read.
final class MappingPlan: @unchecked Sendable {
  private let properties: [MappedProperty]
  /// The keys in the order of the properties; nil where there are none.
  private let shape: Result<Permanent<Shape>, any Error>?
  /// The same behind the key of the class's name, for objects that stand where one of a superclass is expected.
  private let namedShape: Result<Permanent<Shape>, any Error>?
  /// The property that identifies objects.
  let identifying: MappedProperty?
  /// What is wrong in the mapping.
  let fault: GraphCodingError?

  private static let known = Mutex<[ObjectIdentifier: MappingPlan]>([:])

  static func of(_ type: any MappableObject.Type) -> MappingPlan {
    let key = ObjectIdentifier(type)
    if let plan = known.withLock({ $0[key] }) { return plan }
    // The mapping is users' code: it is asked for outside the lock.
    let plan = MappingPlan(type, type.objectMapping)
    return known.withLock { known in
      if let first = known[key] { return first }
      known[key] = plan
      return plan
    }
  }

  private init(_ type: any MappableObject.Type, _ mapping: ObjectMapping) {
    properties = mapping.properties
    shape = properties.isEmpty ? nil : Result { try ShapeRegistry.shape(keys: mapping.properties.map(\.key)) }
    namedShape =
      _getSuperclass(type) is any MappableObject.Type
      ? Result { try ShapeRegistry.shape(keys: [MappingPlan.classKey] + mapping.properties.map(\.key)) } : nil
    identifying = mapping.identifyingAttribute.flatMap { key in mapping.properties.first { $0.key == key } }
    fault = MappingPlan.fault(type, mapping).map {
      GraphCodingError.invalidMapping(type: String(describing: type), reason: $0)
    }
  }

  private static func fault(_ type: any MappableObject.Type, _ mapping: ObjectMapping) -> String? {
    if let fault = mapping.fault { return fault }
    if mapping.properties.contains(where: { $0.key == classKey }) {
      return "the key \"\(classKey)\" is taken: give the property another"
    }
    if !isClass(type, orSubclassOf: mapping.type) {
      return "it is the mapping of another class, \(mapping.type)"
    }
    // The properties of the class itself, not of the mapping's class, because a subclass may have added to its superclass's
    // mapping.
    if let stranger = mapping.properties.first(where: { !$0.isProperty(of: type) }) {
      return "\"\(stranger.key)\" is no property of it, but of another class"
    }
    guard let attribute = mapping.identifyingAttribute else { return nil }
    if !mapping.properties.contains(where: { $0.key == attribute }) {
      return "its identifying attribute \"\(attribute)\" is not mapped: add a property under that key"
    }
    guard let superclass = _getSuperclass(type) as? any MappableObject.Type,
      let inherited = MappingPlan.of(superclass).identifying, inherited.key != attribute
    else { return nil }
    return """
      it is identified by "\(attribute)" and its superclass by "\(inherited.key)", though the classes of a hierarchy \
      share their identifiers: leave identifyingAttribute as it is
      """
  }

  /// The key of the class's name in a map. `Docs/Format.md` says when it stands there: always first, and in a map
  /// without a shape among the entries.
  static let classKey = "garage:class"

  /// Whether objects of the class have an identity apart from their content.
  static func hasIdentity(_ type: any MappableObject.Type) -> Bool {
    of(type).identifying != nil || of(type).fault != nil || hasUsableID(type)
  }

  /// Whether the class is `Identifiable` by more than its address, which means nothing in the next process.
  static func hasUsableID(_ type: Any.Type) -> Bool {
    func isUsable<T: Identifiable>(_: T.Type) -> Bool { T.ID.self != ObjectIdentifier.self }
    guard let identifiable = type as? any Identifiable.Type else { return false }
    return isUsable(identifiable)
  }

  /// The keys under which objects with records of their own stand.
  var keysOfObjects: [String] { properties.filter { $0.hasReferences }.map(\.key) }

  // MARK: - With this module's coders

  /// Writes the object as a map whose shape is the mapping's keys.
  func write(_ object: AnyObject, to state: EncoderPointer) throws {
    if let fault { throw fault }
    try state.requestMap()
    if state.hasFields { return try writeEntries(object, to: state) }
    if state.namesClass, let namedShape {
      state.namesClass = false
      state.frame.shape = try namedShape.get()
      try state.write(TypeTag.of(Swift.type(of: object)).name)
      for property in properties { try property.write(object, to: state) }
      return
    }
    guard let shape else { return }
    state.frame.shape = try shape.get()
    for property in properties { try property.write(object, to: state) }
  }

  /// The same into a map that already has fields that others wrote. Without a shape, because that stands before all other
  /// fields.
  private func writeEntries(_ object: AnyObject, to state: EncoderPointer) throws {
    if state.namesClass, namedShape != nil {
      state.namesClass = false
      state.beginEntry(MappingPlan.classKey)
      try state.write(TypeTag.of(Swift.type(of: object)).name)
    }
    for property in properties {
      state.beginEntry(property.key)
      let start = state.output.count
      try property.write(object, to: state)
      if state.output.base[start] == BodyTag.absent { state.output.base[start] = BodyTag.null }
    }
  }

  /// Fills the object from the map at the cursor. References are filled in later.
  func read(_ object: AnyObject, from state: DecoderPointer) throws {
    if let fault { throw fault }
    try state.requestMap()
    guard let shape else { return }
    let known = try shape.get().address
    if state.frame.shape?.address == known {
      // The record is as it was parked: its fields stand in the mapping's order.
      for (index, property) in properties.enumerated() {
        if try state.findField(index) {
          try property.read(object, from: state)
          state.advance()
        } else {
          property.clear(object)
        }
      }
      return
    }
    for property in properties {
      if try state.findText(property.key) {
        try property.read(object, from: state)
        state.advance()
      } else if state.frame.shape?.object.positions[property.key] != nil {
        // The property was nil. One that the record does not know keeps the value that `init()` gave it.
        property.clear(object)
      }
    }
  }

  // MARK: - With any coder

  func write(_ object: AnyObject, to encoder: any Encoder) throws {
    if let fault { throw fault }
    var container = encoder.container(keyedBy: MappedKey.self)
    // If it were left out, reading it would give what `init()` gives. Bytes that digests are made of stay as they are.
    let namesNils = !(encoder is ValueEncoder)
    for property in properties {
      if namesNils, property.isCleared(object) {
        try container.encodeNil(forKey: property.codingKey)
      } else {
        try property.write(object, to: &container)
      }
    }
  }

  func read(_ object: AnyObject, from decoder: any Decoder) throws {
    if let fault { throw fault }
    let container = try decoder.container(keyedBy: MappedKey.self)
    for property in properties { try property.read(object, from: container) }
  }
}

/// Whether a class is another one or descends from it.
func isClass(_ type: AnyClass, orSubclassOf ancestor: AnyClass) -> Bool {
  var next: AnyClass? = type
  while let current = next {
    if current == ancestor { return true }
    next = _getSuperclass(current)
  }
  return false
}

extension TypeFacts {
  /// The mapping of an object of this type.
  func mappingPlan(_ object: any MappableObject) -> MappingPlan {
    mapping ?? MappingPlan.of(Swift.type(of: object))
  }
}

/// How the objects of a mapped class are identified, other than by an `id`.
final class MappedAccess: TypeFacts.IdentifierAccess, @unchecked Sendable {
  // @unchecked: a key path, which is only read.
  private let property: MappedProperty

  init(_ plan: MappingPlan, _ property: MappedProperty?, _ type: Any.Type) throws {
    if let fault = plan.fault { throw fault }
    guard let property else { throw GraphCodingError.missingConformance(type: String(describing: type)) }
    self.property = property
    do { super.init(property.valueType, try IdentifierPlan.of(property.valueType)) } catch GraphCodingError
      .unsupportedIdentifier
    {
      throw GraphCodingError.unsupportedIdentifier(type: String(describing: type))
    }
  }

  override func fault(
    _ address: UnsafeRawPointer, _ wanted: UnsafeRawBufferPointer, mayChange: Bool,
    _ writer: inout IdentifierWriter
  ) throws -> String? {
    var reason: String?
    try property.withAddress(address[as: AnyObject.self]) {
      reason = try fault(ofIdentifierAt: $0, wanted, mayChange: mayChange, &writer)
    }
    return reason
  }

  override func write(_ address: UnsafeRawPointer, _ writer: inout IdentifierWriter) throws {
    let start = writer.count
    let object = address[as: AnyObject.self]
    try property.withAddress(object) { try plan.write(at: $0, to: &writer, canonical: canonicalBytes) }
    let isEmpty =
      writer.bytes[start] == IdentifierKind.none.rawValue
      || writer.bytes[start] == IdentifierKind.string.rawValue && writer.count == start + 1
    if isEmpty {
      throw GraphCodingError.emptyIdentifyingAttribute(
        type: String(describing: Swift.type(of: object)), attribute: property.key)
    }
  }
}

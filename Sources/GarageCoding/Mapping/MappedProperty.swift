internal import Synchronization

/// A stored key of a mapped object.
struct MappedKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// One property of a mapping. Its subclasses know the type.
class MappedProperty {
  let key: String
  /// The type of the property; of an optional one what it wraps.
  var valueType: Any.Type { Never.self }
  /// Whether it holds objects with an identity: 0 not found out yet, 1 no, 2 yes.
  private let references = Atomic<UInt8>(0)

  init(_ key: String) { self.key = key }

  var codingKey: MappedKey { MappedKey(stringValue: key) }

  /// Found out when first needed, because a class may have properties of its own type.
  final var hasReferences: Bool {
    let known = references.load(ordering: .relaxed)
    if known != 0 { return known == 2 }
    let isSo = holdsReferences(valueType)
    references.store(isSo ? 2 : 1, ordering: .relaxed)
    return isSo
  }

  func isProperty(of _: AnyClass) -> Bool { false }
  /// Writes the next value of a shaped map.
  func write(_: AnyObject, to _: EncoderPointer) throws {}
  func read(_: AnyObject, from _: DecoderPointer) throws {}
  /// Makes an optional property nil.
  func clear(_: AnyObject) {}
  /// Whether an object has nil where a new one of its class has a value.
  func isCleared(_: AnyObject) -> Bool { false }
  func write(_: AnyObject, to _: inout KeyedEncodingContainer<MappedKey>) throws {}
  func read(_: AnyObject, from _: KeyedDecodingContainer<MappedKey>) throws {}
  /// Lends the value's address.
  func withAddress(_: AnyObject, _: (UnsafeRawPointer) throws -> Void) throws {}
}

/// A property that always has a value; or an optional one that was not added as such, for whose nil a null is stored.
final class MappedValue<Root: MappableObject, Value: Codable>: MappedProperty {
  private let path: ReferenceWritableKeyPath<Root, Value>
  /// Whether it may be nil.
  private let isOptional: Bool

  init(_ key: String, _ path: ReferenceWritableKeyPath<Root, Value>) {
    self.path = path
    isOptional = Value.self is any ExpressibleByNilLiteral.Type
    super.init(key)
  }

  override var valueType: Any.Type { Value.self }

  override func isProperty(of type: AnyClass) -> Bool { isClass(type, orSubclassOf: Root.self) }

  override func write(_ object: AnyObject, to state: EncoderPointer) throws {
    try state.writeMapped(root(object)[keyPath: path], self)
  }

  override func read(_ object: AnyObject, from state: DecoderPointer) throws {
    let object = root(object)
    if !isOptional, try state.tag() == BodyTag.null {
      // The property was an optional once: it keeps the value that `init()` gave it.
      state.cursor += 1
      return
    }
    guard hasReferences else {
      // No closure here: generic code would have to look its type up.
      object[keyPath: path] = try state.readAny(Value.self)
      return
    }
    let path = path
    try state.readMapped(Value.self, of: object) { $0[keyPath: path] = $1 }
  }

  override func clear(_ object: AnyObject) {
    func none<T: ExpressibleByNilLiteral>(_: T.Type) -> T { nil }
    guard let type = Value.self as? any ExpressibleByNilLiteral.Type, let value = none(type) as? Value else {
      return
    }
    root(object)[keyPath: path] = value
  }

  override func write(_ object: AnyObject, to container: inout KeyedEncodingContainer<MappedKey>) throws {
    try container.encode(root(object)[keyPath: path], forKey: codingKey)
  }

  override func read(_ object: AnyObject, from container: KeyedDecodingContainer<MappedKey>) throws {
    if isOptional {
      guard container.contains(codingKey) else { return }
      root(object)[keyPath: path] = try container.decode(Value.self, forKey: codingKey)
    } else if let value = try container.decodeIfPresent(Value.self, forKey: codingKey) {
      root(object)[keyPath: path] = value
    }
  }

  override func withAddress(_ object: AnyObject, _ body: (UnsafeRawPointer) throws -> Void) throws {
    try withUnsafePointer(to: root(object)[keyPath: path]) { try body(UnsafeRawPointer($0)) }
  }

  /// The plan has checked that the object is one.
  private func root(_ object: AnyObject) -> Root { Reinterpretation.downcast(object, to: Root.self) }
}

/// A property that may be nil, and is left out then.
final class MappedOptional<Root: MappableObject, Wrapped: Codable>: MappedProperty {
  private let path: ReferenceWritableKeyPath<Root, Wrapped?>
  /// Whether new objects have a value, by their class, as far as it was found out: a subclass may share its superclass's
  /// mapping, and begin with another value.
  private let newValues = Mutex<[ObjectIdentifier: Bool]>([:])

  init(_ key: String, _ path: ReferenceWritableKeyPath<Root, Wrapped?>) {
    self.path = path
    super.init(key)
  }

  override var valueType: Any.Type { Wrapped.self }

  override func isProperty(of type: AnyClass) -> Bool { isClass(type, orSubclassOf: Root.self) }

  override func write(_ object: AnyObject, to state: EncoderPointer) throws {
    if let value = root(object)[keyPath: path] {
      try state.writeMapped(value, self)
    } else {
      state.append(BodyTag.absent)
    }
  }

  override func read(_ object: AnyObject, from state: DecoderPointer) throws {
    let (object, path) = (root(object), path)
    if try state.tag() == BodyTag.null {
      state.cursor += 1
      object[keyPath: path] = nil
    } else if hasReferences {
      try state.readMapped(Wrapped?.self, of: object) { $0[keyPath: path] = $1 }
    } else {
      // Nil where a reference stands whose record is gone, even if the type has no identity any more.
      object[keyPath: path] = try state.readTarget(Wrapped.self)
    }
  }

  override func clear(_ object: AnyObject) { root(object)[keyPath: path] = nil }

  override func isCleared(_ object: AnyObject) -> Bool {
    if root(object)[keyPath: path] != nil { return false }
    let type = Swift.type(of: root(object))
    if let known = newValues.withLock({ $0[ObjectIdentifier(type)] }) { return known }
    // Users' code runs outside the lock.
    let isThere = type.init()[keyPath: path] != nil
    newValues.withLock { $0[ObjectIdentifier(type)] = isThere }
    return isThere
  }

  override func write(_ object: AnyObject, to container: inout KeyedEncodingContainer<MappedKey>) throws {
    try container.encodeIfPresent(root(object)[keyPath: path], forKey: codingKey)
  }

  override func read(_ object: AnyObject, from container: KeyedDecodingContainer<MappedKey>) throws {
    guard container.contains(codingKey) else { return }
    root(object)[keyPath: path] = try container.decodeIfPresent(Wrapped.self, forKey: codingKey)
  }

  override func withAddress(_ object: AnyObject, _ body: (UnsafeRawPointer) throws -> Void) throws {
    guard let value = root(object)[keyPath: path] else {
      throw GraphCodingError.emptyIdentifyingAttribute(
        type: String(describing: Swift.type(of: object)), attribute: key)
    }
    try withUnsafePointer(to: value) { try body(UnsafeRawPointer($0)) }
  }

  /// The plan has checked that the object is one.
  private func root(_ object: AnyObject) -> Root { Reinterpretation.downcast(object, to: Root.self) }
}

extension EncoderPointer {
  /// Writes the value of a property. References to objects are linked ones: they may close a cycle.
  fileprivate func writeMapped<Value: Encodable>(_ value: Value, _ property: MappedProperty) throws {
    let (facts, kind) = types.facts(of: Value.self)
    if try writeScalar(value, kind) { return }
    try withKey(property.codingKey) {
      if property.hasReferences && !inlinesEverything {
        try writeLinked(value)
      } else {
        try writeComposite(value, facts, kind)
      }
    }
  }
}

extension DecoderPointer {
  /// Reads a value that holds objects, and sets it at once or when they are there.
  fileprivate func readMapped<Root: MappableObject, Value: Decodable>(
    _ type: Value.Type, of object: Root, set: @escaping (Root, Value) -> Void
  ) throws {
    let later = try readPending(type)
    if case .value(let value) = later { return set(object, value) }
    let owner = record.number
    func fill(_ object: Root, _ walk: GraphWalk) throws {
      let build = try later.make(walk)
      guard later.isHashed else { return set(object, build()) }
      walk.buildLater(owner) {
        let value = build()
        return { set(object, value) }
      }
    }
    if walk.isRegistered(object, owner) { return walk.whenComplete { try fill(object, $0) } }
    // An object inside another one may belong to an attempt at decoding that fails. It is gone then: nobody waits for what it
    // would hold, and nothing is wrong with that.
    walk.whenComplete { [weak object] walk in
      if let object { try fill(object, walk) }
    }
  }

  /// Makes an object that was created empty the one of its record, so that what it holds may refer back to it.
  ///
  /// Does so only if it is the record's own object, and not one inside it, nor part of a wrapper that has the record.
  func registerEmpty(_ object: any MappableObject) throws {
    let number = record.number
    guard number >= 0, depth == 1 else { return }
    walk.register(object, number)
  }
}

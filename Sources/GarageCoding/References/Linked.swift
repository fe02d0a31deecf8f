/// A property whose objects are loaded with their owner and may refer back to it.
///
/// ```swift
/// final class Person: Codable, Identifiable {
///   var id: String
///   @Linked var brother: Person?
///   @Linked var children: [Person]
/// }
/// ```
/// In a struct give it a value (`@Linked var children: [Person] = []`, `@Linked var brother: Person? = nil`): the memberwise
/// initializer then takes the objects, and else a `Linked`.
///
/// An unmodified `Codable` class cannot be handed out before its `init(from:)` returns. So a property that
/// closes a cycle is empty at first and filled in when all objects of the graph are there; until then, and
/// where a record has no value for it, it is nil or empty. `Value` is an optional, array, set, or dictionary of
/// `Identifiable` objects. A missing target is nil in an optional, and an error elsewhere.
///
/// `Linked` has value semantics. Two are equal, and hash alike, when they hold objects of the same identifiers:
/// comparing the objects themselves would not end in a cycle. With other coders it is coded as its value.
/// Objects that refer to each other strongly are never freed: let one of them hold a `weak var` or a
/// ``Reference``, or take the graph apart.
@propertyWrapper
public struct Linked<Value> {
  /// Shared between copies until one of them is changed, so that all are filled in.
  private var storage: Storage

  fileprivate class Storage: UnfilledLink {
    final var value: Value
    init(_ value: Value) { self.value = value }
  }

  /// A property that holds these objects.
  public init(wrappedValue: Value) where Value: LinkedValue { storage = Storage(wrappedValue) }

  /// An empty property.
  public init() where Value: LinkedValue { self.init(wrappedValue: Value.emptyLink) }

  // The next two initializers exist only for the compiler's messages about properties of other types.

  /// Not available: a linked property may be empty.
  @available(
    *, unavailable,
    message:
      "@Linked takes properties that may be empty until their objects are loaded: make it optional, or an array, set or dictionary of Codable & Identifiable objects"
  )
  @_disfavoredOverload
  public init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  /// Not available: a linked property may be empty.
  @available(
    *, unavailable,
    message:
      "@Linked takes properties that may be empty until their objects are loaded: make it optional, or an array, set or dictionary of Codable & Identifiable objects"
  )
  @_disfavoredOverload
  public init() {
    // Never reached: the compiler refuses every call.
    while true {}
  }

  /// The objects; nil or empty until they are filled in.
  public var wrappedValue: Value {
    get {
      if let progress = storage.progress { progress.object.noteRead(of: storage) }
      return storage.value
    }
    set {
      if isKnownUniquelyReferenced(&storage) { storage.value = newValue } else { storage = Storage(newValue) }
    }
    _modify {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
      yield &storage.value
    }
  }
}

extension Linked: @unchecked Sendable where Value: Sendable {
  // @unchecked: the storage is changed only while it is not shared, or before its owner is handed out.
}

extension Linked: Equatable where Value: LinkedValue {
  /// Whether both hold objects of the same identifiers.
  public static func == (left: Linked, right: Linked) -> Bool {
    left.storage === right.storage || left.wrappedValue.linkIdentity == right.wrappedValue.linkIdentity
  }
}

extension Linked: Hashable where Value: LinkedValue {
  /// Hashes the objects' identifiers.
  public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue.linkIdentity) }
}

/// Lets the types that conform to ``LinkedValue`` reach the encoder.
public struct LinkEncoder {
  let state: EncoderPointer
}

/// Lets the types that conform to ``LinkedValue`` reach the decoder.
public struct LinkDecoder {
  let state: DecoderPointer
}

/// Where a value is put when its objects are there.
public struct LinkPlace<Value: LinkedValue> {
  fileprivate let storage: LinkedStorage<Value>

  func fill(_ value: Value) {
    storage.value = value
    storage.progress = nil
  }

  /// Waits for objects whose numbers were noted.
  func wait(for targets: LinkTargets, _ coder: LinkDecoder) {
    coder.walk.whenComplete(fill: storage, targets)
  }

  /// Waits for the members of a set, which is built when they are complete.
  ///
  /// - Parameter fetch: gets the members, and returns the function that builds the set.
  func build(_ coder: LinkDecoder, _ fetch: @escaping (GraphWalk) throws -> () -> Value) {
    let owner = coder.state.record.number
    coder.walk.whenComplete(fill: storage) { walk in
      let make = try fetch(walk)
      walk.buildLater(owner, for: storage) {
        let value = make()
        return { fill(value) }
      }
    }
  }

  /// Waits for what a function makes.
  func wait(_ coder: LinkDecoder, _ make: @escaping (GraphWalk) throws -> Value) {
    coder.walk.whenComplete(fill: storage) { walk in fill(try make(walk)) }
  }
}

/// The objects of a linked property, all references.
public struct LinkedObjects {
  let targets: LinkTargets
  let walk: GraphWalk
}

/// What a decoded property holds on to until its objects are there.
private class LinkedStorage<Value: LinkedValue>: Linked<Value>.Storage {
  override required init(_ value: Value) { super.init(value) }

  // Made through the class that this is called on: naming the class would look its metadata up each time.
  override class func make() -> UnfilledLink { self.init(Value.emptyLink) }

  override final func read(_ state: DecoderPointer) throws {
    try Value._decodeLink(LinkDecoder(state: state), LinkPlace(storage: self))
  }

  override final func fill(_ targets: LinkTargets, _ walk: GraphWalk) throws {
    value = try Value._linked(LinkedObjects(targets: targets, walk: walk))
    progress = nil
  }

  override final func fetch(_ targets: LinkTargets, _ walk: GraphWalk) throws {
    try Value._fetch(LinkedObjects(targets: targets, walk: walk))
  }

  override final func build(_ targets: LinkTargets, _ walk: GraphWalk) throws -> Bool {
    let built = try Value._linked(LinkedObjects(targets: targets, walk: walk))
    if walk.linkProgress.wasReadEarly { return false }
    value = built
    progress = nil
    return true
  }

  override final func takeBack() { value = Value.emptyLink }
}

// MARK: - Coding

extension Linked: GraphCodable, GraphDecodable, LinkDecodable, EmptyDecodable where Value: LinkedValue {
  static var empty: Linked { Linked() }

  static func encode(at address: UnsafeRawPointer, toGraph state: EncoderPointer) throws {
    try address[as: Linked.self].encode(toGraph: state)
  }

  @inline(__always)
  private func encode(toGraph state: EncoderPointer) throws {
    try wrappedValue._encodeLink(LinkEncoder(state: state))
  }

  static var linkForm: LinkForm {
    LinkForm(
      type: LinkedStorage<Value>.self, kind: (Value.self as? any PlainLinkedValue.Type)?.linkKind ?? .other)
  }

  init(fromGraph state: DecoderPointer) throws {
    storage = Reinterpretation.downcast(try state.readLink(Linked.linkForm), to: LinkedStorage<Value>.self)
  }
}

extension Linked: Codable where Value: LinkedValue {
  /// With a garage's coder linked references; with others the value.
  public func encode(to encoder: any Encoder) throws {
    if let encoder = encoder as? ValueEncoder {
      try encoder.writeOwn { try encode(toGraph: $0) }
    } else {
      try wrappedValue.encode(to: encoder)
    }
  }

  /// Empty at first with a garage's coder, and filled in when the graph is there.
  public init(from decoder: any Decoder) throws {
    if let decoder = decoder as? ValueDecoder {
      self = try decoder.readOwn { try Linked(fromGraph: $0) }
    } else {
      self.init(wrappedValue: try Value(from: decoder))
    }
  }
}

extension KeyedDecodingContainer {
  // Inlined, so that the metadata of types are asked for by code that knows these types.
  /// Chosen by synthesized `init(from:)`: a linked property that the data lacks is empty, with any coder.
  @inlinable
  public func decode<Value: LinkedValue>(_ type: Linked<Value>.Type, forKey key: Key) throws -> Linked<Value>
  {
    try decodeIfPresent(type, forKey: key) ?? Linked()
  }
}

// MARK: - One object, and collections

extension LinkEncoder {
  func write<T: Encodable>(_ value: T) throws {
    let kind = state.types.facts(of: T.self).1
    if kind == .reference && !state.inlinesEverything {
      try state.writeReference(to: value, .linked)
    } else {
      try state.writeAny(value)
    }
  }

  /// Each element where it stands: to copy one costs more than to write a reference to it.
  func writeArray<T: Encodable>(_ values: [T]) throws {
    let (facts, kind) = state.types.facts(of: T.self)
    let areReferences = kind == .reference && !state.inlinesEverything
    try values.withUnsafeBufferPointer { values in
      let serial = try state.openFrame()
      defer { state.leaveFrame(serial) }
      try state.requestArray()
      let before = state.frame.child
      for index in values.indices {
        try state.beginElement(serial: serial)
        state.frame.child = .index(index)
        let value = values.lent(index)
        if areReferences {
          try value.pointee.writeReference(to: state, facts, .linked)
        } else {
          try value.pointee.writeAny(to: state)
        }
      }
      state.frame.child = before
      try state.closeFrame(serial)
    }
  }
}

/// An object that stands here, or the number of one that is to be fetched.
enum LinkTarget<T> {
  case object(T)
  case number(Int)

  func object(_ walk: GraphWalk) throws -> T? where T: Decodable {
    switch self {
    case .object(let object): object
    case .number(let number): try walk.object(T.self, walk.state.types.facts(of: T.self).0, number)
    }
  }

  func requiredObject(_ walk: GraphWalk, _ path: NotedPath, _ key: PathKey) throws -> T where T: Decodable {
    if let object = try object(walk) { return object }
    guard case .number(let number) = self else { throw walk.state.mismatch(T.self) }
    throw walk.state.missing(T.self, walk.identities.identity(of: number), walk.keys(of: path, key))
  }
}

extension LinkDecoder {
  func target<T: Decodable>(_ type: T.Type) throws -> LinkTarget<T> {
    guard try state.isReference() else {
      if let number = try state.foreignReference(type) { return .number(number) }
      return .object(try state.readAny(type))
    }
    return .number(state.number(ofReference: try state.readReferenceIndex()))
  }

  func targets<T: Decodable>(_ type: T.Type) throws -> [LinkTarget<T>] {
    try state.withFrame { serial in
      try state.requestArray()
      var targets: [LinkTarget<T>] = []
      targets.reserveCapacity(state.frame.count)
      while state.frame.next < state.frame.count {
        try state.beginElement(type, serial: serial)
        targets.append(try target(type))
        state.advance()
      }
      return targets
    }
  }

  /// The targets of an array of references alone, the usual case; nil, and nothing was read, for any other value.
  func referenceTargets() throws -> LinkTargets? {
    guard let array = try state.arrayHeader(), state.depth < RecordFormat.maximumDepth else { return nil }
    let walk = walk
    let first = walk.fills.targets.count
    let start = state.cursor
    state.cursor = array.content
    for _ in 0..<array.second {
      guard state.cursor < array.end, try state.isReference() else { break }
      walk.fills.appendTarget(state.number(ofReference: try state.readReferenceIndex()))
    }
    let count = walk.fills.targets.count - first
    guard count == array.second, state.cursor == array.end else {
      walk.fills.dropTargets(from: first)
      state.cursor = start
      return nil
    }
    return LinkTargets(first: first, count: UInt32(truncatingIfNeeded: count), path: state.notedPath())
  }

  var walk: GraphWalk { state.walk }
}

extension DecoderPointer {
  /// Reads a linked property. Not generic: in the usual cases, references or no value, its type is not needed.
  func readLink(_ form: LinkForm) throws -> UnfilledLink {
    let link = form.type.make()
    link.progress = Permanent(walk.linkProgress)
    switch form.kind {
    case .array:
      guard let targets = try LinkDecoder(state: self).referenceTargets() else { break }
      if targets.count > 0 { walk.whenComplete(fill: link, targets) } else { link.progress = nil }
      return link
    case .set:
      guard let targets = try LinkDecoder(state: self).referenceTargets() else { break }
      if targets.count > 0 { walk.whenComplete(build: link, targets) } else { link.progress = nil }
      return link
    case .optional:
      guard try isReference() else { break }
      let walk = walk
      let path = notedPath()
      walk.fills.appendTarget(number(ofReference: try readReferenceIndex()))
      walk.whenComplete(
        fill: link, LinkTargets(first: walk.fills.targets.count - 1, count: 1, path: path))
      return link
    case .other: break
    }
    try link.read(self)
    return link
  }
}

extension LinkedObjects {
  /// Fetches the objects that are not there yet.
  func fetch<T: Decodable>(_ type: T.Type) throws {
    let facts = walk.state.types.facts(of: type).0
    for position in 0..<targets.range.count {
      let named = Int(walk.fills.targets[targets.first &+ position])
      walk.prefetchTargets(behind: targets.first &+ position)
      if walk.records[named].complete(as: type) == nil { _ = try load(type, facts, position) }
    }
  }

  func array<T: Decodable>(of type: T.Type) throws -> [T] {
    let facts = walk.state.types.facts(of: type).0
    if facts.with({ $0.isClass }) {
      let objects = try instances(of: type) {
        Reinterpretation.object(walk.loaded(type, try load(type, facts, $0)))
      }
      return Reinterpretation.array(objects, of: type)
    }
    return try [T](unsafeUninitializedCapacity: targets.range.count) { elements, count in
      for position in 0..<elements.count {
        elements.initializeElement(at: position, to: walk.loaded(type, try load(type, facts, position)))
        count = position + 1
      }
    }
  }

  /// Objects of a class. Not generic: most of them are there, and only the identity of their class is compared.
  private func instances(of type: Any.Type, _ fetch: (Int) throws -> AnyObject) throws -> [AnyObject] {
    try [AnyObject](unsafeUninitializedCapacity: targets.range.count) { elements, count in
      for position in 0..<elements.count {
        let named = Int(walk.fills.targets[targets.first &+ position])
        walk.prefetchTargets(behind: targets.first &+ position)
        let object = try walk.records[named].complete(as: type) ?? fetch(position)
        elements.initializeElement(at: position, to: object)
        count = position + 1
      }
    }
  }

  /// Runs `body` with each object, fetched where it is not there yet, in their order.
  ///
  /// - Parameter pathKey: the key of the object at a position, in coding paths.
  @inline(__always)
  func forEach<T: Decodable>(
    of type: T.Type, _ pathKey: (Int) -> PathKey, _ body: (Int, T) throws -> Void
  ) throws {
    let facts = walk.state.types.facts(of: type).0
    for position in 0..<targets.range.count {
      walk.prefetchTargets(behind: targets.first &+ position)
      try body(position, walk.loaded(type, try load(type, facts, position, pathKey)))
    }
  }

  /// Fetches the object at a position, where that was not done, and returns the number under which the walk has it.
  private func load<T: Decodable>(
    _ type: T.Type, _ facts: Permanent<TypeFacts>, _ position: Int,
    _ pathKey: (Int) -> PathKey = { PathKey(intValue: $0) }
  ) throws -> Int {
    let named = Int(walk.fills.targets[targets.first + position])
    let number = try walk.load(type, facts, named)
    if number >= 0 { return number }
    throw walk.state.missing(
      type, walk.identities.identity(of: named), walk.keys(of: targets.path, pathKey(position)))
  }
}

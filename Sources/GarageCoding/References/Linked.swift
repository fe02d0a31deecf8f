/// A property whose objects are loaded with their owner and may refer back to it.
///
/// ```swift
/// final class Person: Codable, Identifiable {
///   var id: String
///   @Linked var brother: Person?
///   @Linked var children: [Person]
/// }
/// ```
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

  private final class Storage {
    var value: Value
    /// There until the value is filled in: who reads it before then reads it too early.
    var progress: LinkProgress?
    init(_ value: Value) { self.value = value }
  }

  /// A property that holds these objects.
  public init(wrappedValue: Value) where Value: LinkedValue { storage = Storage(wrappedValue) }

  /// An empty property.
  public init() where Value: LinkedValue { self.init(wrappedValue: Value.emptyLink) }

  // The two that follow are there for what the compiler says about a property of another type.

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
    // The compiler lets nobody come here, where there is no value to begin with.
    while true {}
  }

  /// The objects; nil or empty until they are filled in.
  public var wrappedValue: Value {
    get {
      if let progress = storage.progress { progress.wasReadEarly = true }
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

/// What an `@Linked` property can hold: an optional, array, set or dictionary of identified objects. Not to be
/// conformed to elsewhere.
public protocol LinkedValue: Codable {
  /// What two values that hold the same objects have in common.
  associatedtype LinkIdentity: Hashable
  static var emptyLink: Self { get }
  var linkIdentity: LinkIdentity { get }
  /// Writes the objects as linked references.
  func _encodeLink(_ coder: LinkEncoder) throws
  /// Reads what is there, and calls `fill` at once or when the objects are there.
  static func _decodeLink(_ coder: LinkDecoder, fill: @escaping (Self) -> Void) throws
}

/// Lets the types that conform to ``LinkedValue`` reach the encoder.
public struct LinkEncoder {
  let state: EncoderPointer
}

/// Lets the types that conform to ``LinkedValue`` reach the decoder.
public struct LinkDecoder {
  let state: DecoderPointer
}

// MARK: - Coding

extension Linked: GraphCodable, GraphDecodable, EmptyDecodable where Value: LinkedValue {
  static var empty: Linked { Linked() }

  func encode(toGraph state: EncoderPointer) throws {
    try wrappedValue._encodeLink(LinkEncoder(state: state))
  }

  init(fromGraph state: DecoderPointer) throws {
    let storage = Storage(Value.emptyLink)
    storage.progress = state.walk.linkProgress
    try Value._decodeLink(LinkDecoder(state: state)) { value in
      storage.value = value
      storage.progress = nil
    }
    self.storage = storage
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
  /// Chosen by synthesized `init(from:)`: a linked property that the data lacks is empty, with any coder.
  public func decode<Value: LinkedValue>(_ type: Linked<Value>.Type, forKey key: Key) throws -> Linked<Value>
  {
    try decodeIfPresent(type, forKey: key) ?? Linked()
  }
}

// MARK: - One object, and collections

extension LinkEncoder {
  fileprivate func write<T: Encodable>(_ value: T) throws {
    let kind = state.types.facts(of: T.self).1
    if kind == .reference && !state.inlinesEverything {
      try state.writeReference(to: value, .linked)
    } else {
      try state.writeAny(value)
    }
  }

  fileprivate func writeArray<T: Encodable>(_ values: some Sequence<T>) throws {
    try state.withFrame { serial in
      try state.requestArray()
      for (index, value) in values.enumerated() {
        try state.beginElement(serial: serial)
        try state.withChild(.index(index)) { try write(value) }
      }
    }
  }
}

/// An object that stands here, or the number of one that is to be fetched.
private enum LinkTarget<T> {
  case object(T)
  case number(Int, path: [any CodingKey])

  func object(_ walk: GraphWalk) throws -> T? where T: Decodable {
    switch self {
    case .object(let object): object
    case .number(let number, _): try walk.object(T.self, walk.state.types.facts(of: T.self).0, number)
    }
  }

  func requiredObject(_ walk: GraphWalk) throws -> T where T: Decodable {
    if let object = try object(walk) { return object }
    guard case .number(let number, let path) = self else { throw walk.state.mismatch(T.self) }
    throw walk.state.missing(T.self, walk.identities.identity(of: number), path)
  }
}

extension LinkDecoder {
  fileprivate func target<T: Decodable>(_ type: T.Type) throws -> LinkTarget<T> {
    let path = state.childPath
    guard try state.isReference() else {
      if let number = try state.foreignReference(type) { return .number(number, path: path) }
      return .object(try state.readAny(type))
    }
    return .number(state.number(ofReference: try state.readReferenceIndex()), path: path)
  }

  fileprivate func targets<T: Decodable>(_ type: T.Type) throws -> [LinkTarget<T>] {
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

  fileprivate var walk: GraphWalk { state.walk }
}

extension Optional: LinkedValue where Wrapped: Codable & Identifiable {
  /// None.
  public static var emptyLink: Wrapped? { nil }
  /// The object's identifier.
  public var linkIdentity: Wrapped.ID? { self?.id }

  /// Writes a linked reference, or null.
  public func _encodeLink(_ coder: LinkEncoder) throws {
    if let self { try coder.write(self) } else { coder.state.writeNull() }
  }

  /// Reads a reference, to be filled in.
  public static func _decodeLink(_ coder: LinkDecoder, fill: @escaping (Wrapped?) -> Void) throws {
    if try coder.state.tag() == BodyTag.null {
      coder.state.cursor += 1
      return fill(nil)
    }
    switch try coder.target(Wrapped.self) {
    case .object(let object): fill(object)
    case let target: coder.walk.whenComplete { fill(try target.object($0)) }
    }
  }
}

extension Array: LinkedValue where Element: Codable & Identifiable {
  /// None.
  public static var emptyLink: [Element] { [] }
  /// The objects' identifiers, in order.
  public var linkIdentity: [Element.ID] { map(\.id) }

  /// Writes an array of linked references.
  public func _encodeLink(_ coder: LinkEncoder) throws { try coder.writeArray(self) }

  /// Reads references, to be filled in together.
  public static func _decodeLink(_ coder: LinkDecoder, fill: @escaping ([Element]) -> Void) throws {
    let targets = try coder.targets(Element.self)
    if targets.isEmpty { return fill([]) }
    coder.walk.whenComplete { walk in fill(try targets.map { try $0.requiredObject(walk) }) }
  }
}

extension Set: LinkedValue where Element: Codable & Identifiable {
  /// None.
  public static var emptyLink: Set { [] }
  /// The objects' identifiers.
  public var linkIdentity: Set<Element.ID> { Set<Element.ID>(map(\.id)) }

  /// In the order of the identifiers' bytes, which is the same in every process.
  public func _encodeLink(_ coder: LinkEncoder) throws {
    let state = coder.state
    try state.withFrame { serial in
      try state.writeSet(
        self, serial: serial,
        orderedBy: { try TypeDescription.identity(of: Element.self, id: $0.id).identifier }
      ) { try coder.write($0) }
    }
  }

  /// Built when its members are complete, because their hash may depend on what they hold.
  public static func _decodeLink(_ coder: LinkDecoder, fill: @escaping (Set) -> Void) throws {
    let targets = try coder.targets(Element.self)
    if targets.isEmpty { return fill([]) }
    let owner = coder.state.record.number
    coder.walk.whenComplete { walk in
      let members = try targets.map { try $0.requiredObject(walk) }
      walk.buildLater(owner) {
        let set = Set(members)
        return { fill(set) }
      }
    }
  }
}

extension Dictionary: LinkedValue where Key: Codable, Value: Codable & Identifiable {
  /// None.
  public static var emptyLink: Dictionary { [:] }
  /// The objects' identifiers by key.
  public var linkIdentity: [Key: Value.ID] { mapValues(\.id) }

  /// In the form of any dictionary: a map where the keys are text or numbers, otherwise an array of keys and
  /// values in turn.
  public func _encodeLink(_ coder: LinkEncoder) throws {
    let state = coder.state
    try state.withFrame { serial in
      try state.writeDictionary(self, serial: serial) { try coder.write($0) }
    }
  }

  /// Reads references, to be filled in together.
  public static func _decodeLink(_ coder: LinkDecoder, fill: @escaping (Dictionary) -> Void) throws {
    let pairs = try coder.state.withFrame { serial in
      keyOfText == nil ? try elementPairs(coder, serial) : try entryPairs(coder, serial)
    }
    if pairs.isEmpty { return fill([:]) }
    coder.walk.whenComplete { walk in
      fill(
        Dictionary(
          try pairs.map { ($0.0, try $0.1.requiredObject(walk)) }, uniquingKeysWith: { _, last in last }))
    }
  }

  private static func entryPairs(_ coder: LinkDecoder, _ serial: UInt64) throws -> [(Key, LinkTarget<Value>)]
  {
    let state = coder.state
    try state.requestMap()
    return try state.allKeys(serial: serial).compactMap { text in
      guard try state.findText(text) else { return nil }
      guard let key = keyOfText?(text) else {
        throw DecodingError.dataCorrupted(
          DecodingError.Context(
            codingPath: state.childPath, debugDescription: "\"\(text)\" is no \(Key.self)."))
      }
      let target = try coder.target(Value.self)
      state.advance()
      return (key, target)
    }
  }

  private static func elementPairs(_ coder: LinkDecoder, _ serial: UInt64) throws -> [(
    Key, LinkTarget<Value>
  )] {
    let state = coder.state
    try state.requestArray()
    var pairs: [(Key, LinkTarget<Value>)] = []
    while state.frame.next < state.frame.count {
      try state.beginElement(Key.self, serial: serial)
      let key = try state.readAny(Key.self)
      state.advance()
      try state.beginElement(Value.self, serial: serial)
      pairs.append((key, try coder.target(Value.self)))
      state.advance()
    }
    return pairs
  }

  /// The key that a text stands for; nil where keys of this type do not stand as text.
  private static var keyOfText: ((String) -> Key?)? {
    if Key.self == String.self { return { $0 as? Key } }
    if Key.self == Int.self { return { Int($0) as? Key } }
    guard let representable = Key.self as? any CodingKeyRepresentable.Type else { return nil }
    return { representable.init(codingKey: DictionaryKey(stringValue: $0)) as? Key }
  }
}

/// What an `@Linked` property can hold: an optional, array, set or dictionary of identified objects. Not to be
/// conformed to elsewhere.
public protocol LinkedValue: Codable {
  /// What two values that hold the same objects have in common.
  associatedtype LinkIdentity: Hashable
  static var emptyLink: Self { get }
  var linkIdentity: LinkIdentity { get }
  /// Writes the objects as linked references.
  func _encodeLink(_ coder: LinkEncoder) throws
  /// Reads the value into `place`, at once or when the objects are there.
  static func _decodeLink(_ coder: LinkDecoder, _ place: LinkPlace<Self>) throws
  /// The value that consists of these objects, for types that let `place` wait for references.
  static func _linked(_ objects: LinkedObjects) throws -> Self
  /// Fetches the objects of a value that is made later.
  static func _fetch(_ objects: LinkedObjects) throws
}

extension LinkedValue {
  /// None: the value is made in another way.
  public static func _linked(_ objects: LinkedObjects) throws -> Self { emptyLink }
  /// Nothing: the objects are fetched when the value is made.
  public static func _fetch(_ objects: LinkedObjects) throws {}
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

  /// Reads anything but a reference: references are read without asking for the type.
  public static func _decodeLink(_ coder: LinkDecoder, _ place: LinkPlace<Wrapped?>) throws {
    if try coder.state.tag() == BodyTag.null {
      coder.state.cursor += 1
      return place.fill(nil)
    }
    let path = coder.state.notedPath()
    switch try coder.target(Wrapped.self) {
    case .object(let object): place.fill(object)
    case .number(let number):
      let walk = coder.walk
      walk.fills.appendTarget(number)
      place.wait(for: LinkTargets(first: walk.fills.targets.count - 1, count: 1, path: path), coder)
    }
  }

  /// The object, or nil where there is none any more.
  public static func _linked(_ objects: LinkedObjects) throws -> Wrapped? {
    let walk = objects.walk
    let facts = walk.state.types.facts(of: Wrapped.self).0
    let number = try walk.load(Wrapped.self, facts, Int(walk.fills.targets[objects.targets.first]))
    return number < 0 ? nil : walk.loaded(Wrapped.self, number)
  }
}

/// A type of links that mostly consists of references alone, for a cast at run time.
protocol PlainLinkedValue {
  static var linkKind: LinkForm.Kind { get }
}

extension Optional: PlainLinkedValue where Wrapped: Codable & Identifiable {
  static var linkKind: LinkForm.Kind { .optional }
}

extension Array: PlainLinkedValue where Element: Codable & Identifiable {
  static var linkKind: LinkForm.Kind { .array }
}

extension Set: PlainLinkedValue where Element: Codable & Identifiable {
  static var linkKind: LinkForm.Kind { .set }
}

extension Array: LinkedValue where Element: Codable & Identifiable {
  /// None.
  public static var emptyLink: [Element] { [] }
  /// The objects' identifiers, in order.
  public var linkIdentity: [Element.ID] { map(\.id) }

  /// Writes an array of linked references.
  public func _encodeLink(_ coder: LinkEncoder) throws { try coder.writeArray(self) }

  /// Reads what is not references alone, which are read without asking for the type.
  public static func _decodeLink(_ coder: LinkDecoder, _ place: LinkPlace<[Element]>) throws {
    let path = coder.state.notedPath()
    let targets = try coder.targets(Element.self)
    if targets.isEmpty { return place.fill([]) }
    place.wait(coder) { walk in
      try targets.enumerated().map { try $1.requiredObject(walk, path, PathKey(intValue: $0)) }
    }
  }

  /// The objects in their order.
  public static func _linked(_ objects: LinkedObjects) throws -> [Element] {
    try objects.array(of: Element.self)
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

  /// Reads what is not references alone, which are read without asking for the type.
  public static func _decodeLink(_ coder: LinkDecoder, _ place: LinkPlace<Set>) throws {
    let path = coder.state.notedPath()
    let targets = try coder.targets(Element.self)
    if targets.isEmpty { return place.fill([]) }
    place.build(coder) { walk in
      let members = try targets.enumerated().map {
        try $1.requiredObject(walk, path, PathKey(intValue: $0))
      }
      return { Set(members) }
    }
  }

  /// Fetches the members. The set is built when they are complete, because their hash may depend on what they hold.
  public static func _fetch(_ objects: LinkedObjects) throws { try objects.fetch(Element.self) }

  /// The set of members that are fetched.
  public static func _linked(_ objects: LinkedObjects) throws -> Set {
    Set(elements: try objects.array(of: Element.self))
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
  public static func _decodeLink(_ coder: LinkDecoder, _ place: LinkPlace<Dictionary>) throws {
    if let entries = try referenceEntries(coder) {
      if entries.keys.isEmpty { return place.fill([:]) }
      return place.wait(coder) { walk in try Dictionary(entries, walk) }
    }
    let path = coder.state.notedPath()
    let entries = try coder.state.withFrame { serial in
      keyOfText == nil ? try elementPairs(coder, serial) : try entryPairs(coder, serial)
    }
    if entries.isEmpty { return place.fill([:]) }
    place.wait(coder) { walk in
      Dictionary(
        try entries.map { ($0.key, try $0.target.requiredObject(walk, path, $0.codingKey)) },
        uniquingKeysWith: { _, last in last })
    }
  }

  /// An entry whose object may be missing, and what paths call it.
  private typealias LinkEntry = (key: Key, target: LinkTarget<Value>, codingKey: PathKey)

  private static func entryPairs(_ coder: LinkDecoder, _ serial: UInt64) throws -> [LinkEntry] {
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
      return (key, target, PathKey(stringValue: text))
    }
  }

  private static func elementPairs(_ coder: LinkDecoder, _ serial: UInt64) throws -> [LinkEntry] {
    let state = coder.state
    try state.requestArray()
    var entries: [LinkEntry] = []
    while state.frame.next < state.frame.count {
      try state.beginElement(Key.self, serial: serial)
      let key = try state.readAny(Key.self)
      state.advance()
      try state.beginElement(Value.self, serial: serial)
      entries.append((key, try coder.target(Value.self), PathKey(intValue: entries.count * 2 + 1)))
      state.advance()
    }
    return entries
  }

  /// The key that a text stands for; nil where keys of this type do not stand as text.
  private static var keyOfText: ((String) -> Key?)? {
    if Key.self == String.self { return { $0 as? Key } }
    if Key.self == Int.self { return { Int($0) as? Key } }
    guard let representable = Key.self as? any CodingKeyRepresentable.Type else { return nil }
    return { representable.init(codingKey: DictionaryKey(stringValue: $0)) as? Key }
  }
}

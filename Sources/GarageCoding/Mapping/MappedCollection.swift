// Properties of mapped objects that hold objects with an identity. They are written as linked references, which may close a
// cycle, and are filled in when the objects exist, however optionals and collections are nested.

/// An optional or collection in a property of a mapped object.
private protocol MappedCollection: Codable {
  static var mayHoldReferences: Bool { get }
  func writeLinked(to state: EncoderPointer) throws
  static func readPending(from state: DecoderPointer) throws -> PendingValue<Self>
}

/// Whether properties of this type hold objects with an identity, themselves or in collections.
func holdsReferences(_ type: Any.Type) -> Bool {
  if TypeFacts.of(type).object.kind == .reference { return true }
  return (type as? any MappedCollection.Type)?.mayHoldReferences ?? false
}

/// An empty array, if the type is an array of objects with an identity; nil for all other types.
func emptyReferences<T>(_ type: T.Type) -> T? {
  guard let array = type as? any EmptyArray.Type, holdsReferences(type) else { return nil }
  return array.empty as? T
}

private protocol EmptyArray { static var empty: Self { get } }
extension Array: EmptyArray { fileprivate static var empty: [Element] { [] } }

extension EncoderPointer {
  /// Writes a value with linked references.
  func writeLinked<T: Encodable>(_ value: T) throws {
    let kind = types.facts(of: T.self).1
    if kind == .reference {
      try writeReference(to: value, .linked)
    } else if let collection = value as? any MappedCollection {
      try collection.writeLinked(to: self)
    } else {
      try writeAny(value)
    }
  }

  fileprivate func writeLinkedElement<T: Encodable>(_ value: T, serial: UInt64) throws {
    try beginElement(serial: serial)
    try withChild(.index(frame.count - 1)) { try writeLinked(value) }
  }
}

extension DecoderPointer {
  /// Reads a value whose objects may not exist yet.
  func readPending<T: Decodable>(_ type: T.Type) throws -> PendingValue<T> {
    if types.facts(of: T.self).1 == .reference {
      let path = notedPath()
      guard try isReference() else {
        if let number = try foreignReference(type) { return .object(number, path: path) }
        return .value(try readAny(type))
      }
      return .object(number(ofReference: try readReferenceIndex()), path: path)
    }
    if let collection = type as? any MappedCollection.Type, collection.mayHoldReferences {
      // T is that collection: the cast changes nothing.
      func read<C: MappedCollection>(_: C.Type) throws -> PendingValue<T> {
        Reinterpretation.same(try C.readPending(from: self), as: PendingValue<T>.self)
      }
      return try read(collection)
    }
    return .value(try readAny(type))
  }

  /// The elements of the array at the cursor.
  fileprivate func readElements<T: Decodable>(_ type: T.Type) throws -> [PendingValue<T>] {
    try withFrame { serial in
      try requestArray()
      var elements: [PendingValue<T>] = []
      elements.reserveCapacity(frame.count)
      while frame.next < frame.count {
        try beginElement(type, serial: serial)
        elements.append(try readPending(type))
        advance()
      }
      return elements
    }
  }
}

// MARK: - Optionals and collections

extension Optional: MappedCollection where Wrapped: Codable {
  fileprivate static var mayHoldReferences: Bool { holdsReferences(Wrapped.self) }

  fileprivate func writeLinked(to state: EncoderPointer) throws {
    if let self { try state.writeLinked(self) } else { state.writeNull() }
  }

  fileprivate static func readPending(from state: DecoderPointer) throws -> PendingValue<Wrapped?> {
    if try state.tag() == BodyTag.null {
      state.cursor += 1
      return .value(nil)
    }
    let wrapped = try state.readPending(Wrapped.self)
    if case .value(let value) = wrapped { return .value(value) }
    return .later({ try wrapped.makeOptional($0) }, isHashed: wrapped.isHashed)
  }
}

extension Array: MappedCollection where Element: Codable {
  fileprivate static var mayHoldReferences: Bool { holdsReferences(Element.self) }

  fileprivate func writeLinked(to state: EncoderPointer) throws {
    try state.withFrame { serial in
      try state.requestArray()
      for element in self { try state.writeLinkedElement(element, serial: serial) }
    }
  }

  fileprivate static func readPending(from state: DecoderPointer) throws -> PendingValue<[Element]> {
    let elements = try state.readElements(Element.self)
    if elements.isEmpty { return .value([]) }
    return .later(
      { walk in
        let makes = try elements.map { try $0.make(walk) }
        return { makes.map { $0() } }
      }, isHashed: elements.contains { $0.isHashed })
  }
}

extension Set: MappedCollection where Element: Codable {
  fileprivate static var mayHoldReferences: Bool { holdsReferences(Element.self) }

  fileprivate func writeLinked(to state: EncoderPointer) throws {
    try state.withFrame { serial in
      try state.writeSet(self, serial: serial, orderedBy: nil) { try state.writeLinked($0) }
    }
  }

  fileprivate static func readPending(from state: DecoderPointer) throws -> PendingValue<Set> {
    let elements = try state.readElements(Element.self)
    if elements.isEmpty { return .value([]) }
    return .later(
      { walk in
        let makes = try elements.map { try $0.make(walk) }
        return { Set(makes.map { $0() }) }
      }, isHashed: true)
  }
}

extension Dictionary: MappedCollection where Key: Codable, Value: Codable {
  fileprivate static var mayHoldReferences: Bool { holdsReferences(Value.self) }

  fileprivate func writeLinked(to state: EncoderPointer) throws {
    try state.withFrame { serial in
      try state.writeDictionary(self, serial: serial) { try state.writeLinked($0) }
    }
  }

  fileprivate static func readPending(from state: DecoderPointer) throws -> PendingValue<Dictionary> {
    let pairs = try state.withFrame { serial in
      hasTextKeys ? try entryPairs(state, serial) : try elementPairs(state, serial)
    }
    if pairs.isEmpty { return .value([:]) }
    return .later(
      { walk in
        let makes = try pairs.map { ($0.0, try $0.1.make(walk)) }
        return { Dictionary(makes.map { ($0.0, $0.1()) }, uniquingKeysWith: { _, last in last }) }
      }, isHashed: pairs.contains { $0.1.isHashed })
  }

  private static func entryPairs(_ state: DecoderPointer, _ serial: UInt64) throws -> [(
    Key, PendingValue<Value>
  )] {
    try state.requestMap()
    return try state.allKeys(serial: serial).compactMap { text in
      guard try state.findText(text) else { return nil }
      guard let key = key(of: text) else {
        throw DecodingError.dataCorrupted(
          DecodingError.Context(
            codingPath: state.childPath, debugDescription: "\"\(text)\" is no \(Key.self)."))
      }
      let value = try state.readPending(Value.self)
      state.advance()
      return (key, value)
    }
  }

  private static func elementPairs(_ state: DecoderPointer, _ serial: UInt64) throws -> [(
    Key, PendingValue<Value>
  )] {
    try state.requestArray()
    var pairs: [(Key, PendingValue<Value>)] = []
    while state.frame.next < state.frame.count {
      try state.beginElement(Key.self, serial: serial)
      let key = try state.readAny(Key.self)
      state.advance()
      try state.beginElement(Value.self, serial: serial)
      pairs.append((key, try state.readPending(Value.self)))
      state.advance()
    }
    return pairs
  }

  /// The key that a text stands for.
  private static func key(of text: String) -> Key? {
    if Key.self == String.self { return text as? Key }
    if Key.self == Int.self { return Int(text) as? Key }
    guard let representable = Key.self as? any CodingKeyRepresentable.Type else { return nil }
    return representable.init(codingKey: DictionaryKey(stringValue: text)) as? Key
  }
}

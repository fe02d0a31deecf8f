/// A collection whose order is that of its hash values, and so another one in each process. Its elements are written in the
/// order of their bytes. They are taken from their places and not looked up: so those are written as well that a look-up does
/// not find, such as NaN, or a key that was changed after it was put in.
protocol UnorderedCollection {
  func encodeOrdered(to state: EncoderPointer, serial: UInt64) throws
}

extension Set: UnorderedCollection where Element: Encodable {
  func encodeOrdered(to state: EncoderPointer, serial: UInt64) throws {
    try state.writeSet(self, serial: serial)
  }
}

extension Dictionary: UnorderedCollection where Key: Encodable, Value: Encodable {
  func encodeOrdered(to state: EncoderPointer, serial: UInt64) throws {
    try state.writeDictionary(self, serial: serial)
  }

  /// Whether the keys are text or numbers, and stand as text: as Foundation's coders see a dictionary.
  static var hasTextKeys: Bool {
    Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type
  }
}

/// A dictionary's key: text, and the number that it says, as the standard library reads it. Few ask for that.
struct DictionaryKey: CodingKey {
  let stringValue: String
  var intValue: Int? { Int(stringValue) }
  init(_ number: Int) { stringValue = String(number) }
  init?(intValue: Int) { self.init(intValue) }
  init(stringValue: String) { self.stringValue = stringValue }
}

extension HashStorage {
  /// The key, or the element of a set, at a place.
  @inline(__always)
  func key<Key>(_ place: Int, as type: Key.Type) -> UnsafeRawPointer {
    keys + place &* MemoryLayout<Key>.stride
  }

  @inline(__always)
  func value<Value>(_ place: Int, as type: Value.Type) -> UnsafeRawPointer {
    values + place &* MemoryLayout<Value>.stride
  }
}

// MARK: - Sets

extension EncoderPointer {
  /// Writes the elements of a set in the order of their canonical bytes.
  ///
  /// - Parameters:
  ///   - identifier: gives the bytes to sort by, where these are not the canonical bytes.
  ///   - write: writes an element, where that is not done in the usual way.
  func writeSet<Element: Encodable>(
    _ set: Set<Element>, serial: UInt64, orderedBy identifier: ((Element) throws -> Identifier)? = nil,
    _ write: ((Element) throws -> Void)? = nil
  ) throws {
    try requestArray()
    if set.isEmpty { return }
    try HashStorage.with(set) { storage in
      try withOrder { order in
        var areAsInRecords = false
        if let identifier {
          try storage.forEachPlace { place in
            try identifier(storage.key(place, as: Element.self)[as: Element.self]).bytes.withUnsafeBytes {
              order.pointee.append($0, at: place)
            }
          }
        } else {
          areAsInRecords = try appendCanonicalBytes(of: storage, Element.self, to: order)
        }
        _ = try order.pointee.sort { places in
          let elements = places.map { storage.key($0, as: Element.self)[as: Element.self] }
          if !isCanonical { try refuseMerging(elements, "set") }
          return try elements.map { try tieBytes($0) }
        }
        let (facts, kind) = types.facts(of: Element.self)
        var written = WrittenElements(of: kind, hasDateStrategy: hasDateStrategy)
        for index in 0..<order.pointee.count {
          let element = order.pointee.elements[index]
          try beginElement(serial: serial)
          if let write {
            let element = storage.key(element.place, as: Element.self)[as: Element.self]
            try withChild(.index(frame.count - 1)) { try write(element) }
          } else if isCanonical || areAsInRecords {
            append(order.pointee.bytes(of: element))
          } else {
            let start = output.count
            try writeElement(at: storage.key(element.place, as: Element.self), Element.self, facts, kind)
            let canonical = order.pointee.bytes(of: element)
            if let other = written?.note(output.bytes(start..<output.count), canonical, element.place) {
              let places = [other, element.place]
              throw writtenAlike(places.map { storage.key($0, as: Element.self)[as: Element.self] })
            }
          }
        }
      }
    }
  }

  /// Writes an element of the current frame's array from where it stands.
  @inline(__always)
  private func writeElement<T: Encodable>(
    at address: UnsafeRawPointer, _: T.Type, _ facts: Permanent<TypeFacts>, _ kind: ValueKind
  ) throws {
    if kind.isScalar, try writeScalar(at: address, kind) { return }
    frame.child = .index(frame.count - 1)
    try address.lent(T.self).pointee.writeComposite(to: self, facts, kind)
  }
}

// MARK: - Dictionaries

extension EncoderPointer {
  /// Writes a dictionary as Foundation's coders see it: keyed by text where the keys are text or numbers, otherwise an
  /// array of keys and values in turn.
  ///
  /// - Parameter write: writes a value, where that is not done in the usual way.
  func writeDictionary<Key: Encodable, Value: Encodable>(
    _ dictionary: [Key: Value], serial: UInt64, _ write: ((Value) throws -> Void)? = nil
  ) throws {
    let hasTextKeys = types.facts(of: Key.self).0.with { $0.textKey != nil }
    if hasTextKeys { try requestMap() } else { try requestArray() }
    if dictionary.isEmpty { return }
    try HashStorage.with(dictionary) { storage in
      try withOrder { order in
        if hasTextKeys {
          let keys = TextKeys<Key>(storage, order, types.facts(of: Key.self).0.with { $0.textKey })
          try writeEntries(storage, keys, order, Value.self, write)
        } else {
          try writePairs(storage, Key.self, Value.self, serial: serial, order, write)
        }
      }
    }
  }

  private func writeEntries<Key, Value: Encodable>(
    _ storage: HashStorage, _ keys: TextKeys<Key>, _ order: UnsafeMutablePointer<ByteOrder>, _: Value.Type,
    _ write: ((Value) throws -> Void)?
  ) throws {
    var isExact: Set<Int> = []
    let hasTies = try order.pointee.sort { places in
      // These texts differ, and are the same when composed. Where composed text is wanted they are left as they are, so that
      // none is lost.
      if isCanonical { isExact.formUnion(places) }
      let texts = places.map { Array(keys.text(at: $0).utf8) }
      if Set(texts).count < texts.count { throw sameText(places.map { keys.key(at: $0) }) }
      return texts
    }
    // If so, the entries are written in the order of their bytes, each once, and need not be put in order in the end.
    let isInOrder = keys.areComposed && !hasTies && !core.leavesOutSyncStatus
    if isInOrder { frame.isOrdered = false }
    let (facts, kind) = types.facts(of: Value.self)
    for index in 0..<order.pointee.count {
      let element = order.pointee.elements[index]
      if isInOrder {
        let key = order.pointee.bytes(of: element)
        appendVarint(key.count)
        append(key)
      } else {
        beginEntry(keys.text(at: element.place), isExact: !isExact.isEmpty && isExact.contains(element.place))
      }
      let value = storage.value(element.place, as: Value.self)
      if let write {
        try withKey(keys.codingKey(at: element.place)) { try write(value[as: Value.self]) }
      } else if try !kind.isScalar || !writeScalar(at: value, kind) {
        try withChild(keys.step(at: element.place, self)) {
          try value.lent(Value.self).pointee.writeComposite(to: self, facts, kind)
        }
      }
    }
  }

  private func writePairs<Key: Encodable & Hashable, Value: Encodable>(
    _ storage: HashStorage, _: Key.Type, _: Value.Type, serial: UInt64,
    _ order: UnsafeMutablePointer<ByteOrder>, _ write: ((Value) throws -> Void)?
  ) throws {
    func key(_ place: Int) -> UnsafeRawPointer { storage.key(place, as: Key.self) }
    func value(_ place: Int) -> UnsafeRawPointer { storage.value(place, as: Value.self) }
    let areAsInRecords = try appendCanonicalBytes(of: storage, Key.self, to: order)
    _ = try order.pointee.sort { places in
      if !isCanonical { try refuseMerging(places.map { key($0)[as: Key.self] }, "dictionary") }
      return try places.map { try tieBytes(key($0)[as: Key.self], value($0)[as: Value.self]) }
    }
    let (keyFacts, keyKind) = types.facts(of: Key.self)
    let (facts, kind) = types.facts(of: Value.self)
    for index in 0..<order.pointee.count {
      let element = order.pointee.elements[index]
      try beginElement(serial: serial)
      if isCanonical || areAsInRecords {
        append(order.pointee.bytes(of: element))
      } else {
        try withExactDates { try writeElement(at: key(element.place), Key.self, keyFacts, keyKind) }
      }
      try beginElement(serial: serial)
      if let write {
        try withChild(.index(frame.count - 1)) { try write(value(element.place)[as: Value.self]) }
      } else {
        try writeElement(at: value(element.place), Value.self, facts, kind)
      }
    }
  }

  private func sameText<Key>(_ keys: [Key]) -> any Error {
    let text = (keys[0] as? any CodingKeyRepresentable)?.codingKey.stringValue ?? "\(keys[0])"
    return EncodingError.invalidValue(
      keys,
      EncodingError.Context(
        codingPath: codingPath,
        debugDescription: """
          The dictionary holds several keys of type \(Key.self) with the coding key "\(text)", of which one only would \
          be read back. Either one of them was changed after it was put in: make the dictionary anew. Or different \
          keys have the same codingKey: let it tell them apart.
          """))
  }
}

/// The keys of a dictionary whose keys stand as text.
private struct TextKeys<Key: Hashable> {
  private let storage: HashStorage
  /// The type as one that says its text, where it is neither a string nor an integer.
  private let type: (any CodingKeyRepresentable.Type)?
  /// Whether all texts are in composed form.
  private(set) var areComposed = true

  /// Adds the texts to an order.
  init(
    _ storage: HashStorage, _ order: UnsafeMutablePointer<ByteOrder>,
    _ type: (any CodingKeyRepresentable.Type)?
  ) {
    self.storage = storage
    self.type = Key.self == String.self || Key.self == Int.self ? nil : type
    var areComposed = true
    if Key.self == String.self {
      storage.forEachPlace { place in
        if !order.pointee.append(storage.key(place, as: String.self)[as: String.self], at: place) {
          areComposed = false
        }
      }
    } else if Key.self == Int.self {
      storage.forEachPlace { place in
        _ = order.pointee.append(String(storage.key(place, as: Int.self)[as: Int.self]), at: place)
      }
    } else if let type {
      areComposed = append(type, order)
    }
    self.areComposed = areComposed
  }

  private func append<R: CodingKeyRepresentable>(_: R.Type, _ order: UnsafeMutablePointer<ByteOrder>) -> Bool
  {
    var areComposed = true
    storage.forEachPlace { place in
      let text = storage.key(place, as: R.self)[as: R.self].codingKey.stringValue
      if !order.pointee.append(text, at: place) { areComposed = false }
    }
    return areComposed
  }

  func key(at place: Int) -> Key { storage.key(place, as: Key.self)[as: Key.self] }

  func text(at place: Int) -> String { codingKey(at: place).stringValue }

  func codingKey(at place: Int) -> any CodingKey {
    let key = storage.key(place, as: Key.self)
    if let type { return codingKey(of: key, type) }
    return Key.self == String.self
      ? PathKey(stringValue: key[as: String.self]) : DictionaryKey(key[as: Int.self])
  }

  private func codingKey<R: CodingKeyRepresentable>(of key: UnsafeRawPointer, _: R.Type) -> any CodingKey {
    key[as: R.self].codingKey
  }

  /// The step of a coding path to the value of a key: the key where it stands, which stays there meanwhile.
  @inline(__always)
  func step(at place: Int, _ state: EncoderPointer) -> PathStep {
    if type != nil { return state.step(text: codingKey(at: place)) }
    let key = storage.key(place, as: Key.self)
    return Key.self == String.self ? .text(key) : .number(key)
  }
}

// MARK: - Bytes to sort by

extension EncoderPointer {
  /// - Returns: whether the bytes are just those that the elements have in records, too.
  fileprivate func appendCanonicalBytes<Element: Encodable>(
    of storage: HashStorage, _: Element.Type, to order: UnsafeMutablePointer<ByteOrder>
  ) throws -> Bool {
    let (facts, kind) = types.facts(of: Element.self)
    if kind.isScalar, !hasDateStrategy || kind != .date && kind != .dates {
      hasComposed = false
      if try appendBytes(of: storage, Element.self, to: order, { try writeScalar(at: $0, kind) }) {
        return (kind == .string || kind == .url) && !hasComposed
      }
    } else if kind == .own, let target = facts.with({ $0.referenceTarget }) {
      let areKnown = try appendBytes(of: storage, Element.self, to: order) { element in
        // The layout of a reference does not depend on its target.
        guard let identity = element[as: Reference<Never>.self].knownIdentity else { return false }
        writeReference(to: identity, of: target, .lazy)
        return true
      }
      if areKnown { return false }
    }
    try EncodingCore.withCore(
      userInfo: core.userInfo, isCanonical: true, inlinesEverything: self.inlinesEverything
    ) { core in
      try storage.forEachPlace { place in
        let element = storage.key(place, as: Element.self).lent(Element.self)
        order.pointee.append(try element.pointee.heldBody(core), at: place)
      }
    }
    return false
  }

  /// The same for values without parts, which are written at the end of the output and taken back.
  ///
  /// - Parameter write: writes the element at an address. False where it has parts.
  /// - Returns: false, with nothing added, where there are elements with parts.
  @inline(__always)
  private func appendBytes<Element>(
    of storage: HashStorage, _: Element.Type, to order: UnsafeMutablePointer<ByteOrder>,
    _ write: (UnsafeRawPointer) throws -> Bool
  ) throws -> Bool {
    let (start, before) = (output.count, isCanonical)
    isCanonical = true
    defer {
      isCanonical = before
      output.count = start
    }
    var areWritten = true
    try storage.forEachPlace { place in
      guard areWritten else { return }
      output.count = start
      areWritten = try write(storage.key(place, as: Element.self))
      if areWritten { order.pointee.append(output.bytes(start..<output.count), at: place) }
    }
    if !areWritten { order.pointee.removeAll() }
    return areWritten
  }

  /// Bytes that tell elements apart whose canonical bytes are the same: the canonical bytes of the value that stands under the
  /// key, then the bytes that key and value have in a record. (There -0.0 is not 0.0, and one NaN not another.)
  fileprivate func tieBytes<Key: Encodable>(_ key: Key, _ value: (some Encodable)? = Int?.none) throws
    -> [UInt8]
  {
    var bytes: [UInt8] = []
    for isCanonical in self.isCanonical ? [true] : [true, false] {
      try EncodingCore.withCore(
        userInfo: core.userInfo, isCanonical: isCanonical, inlinesEverything: self.inlinesEverything
      ) { core in
        bytes += try core.heldBody(of: key)
        if let value { bytes += try core.heldBody(of: value) }
      }
    }
    return bytes
  }
}

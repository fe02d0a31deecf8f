/// A collection whose order is that of its hash values, different in each process. Its elements are written as they
/// stand in it, in the order of their bytes, and none is looked up again: what a look-up does not find (NaN, a key that
/// was changed after it was put in) is written as well.
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
  static var hasTextKeys: Bool { Key.self is any CodingKeyRepresentable.Type }
}

/// A dictionary's key: text, and the number that it says.
struct DictionaryKey: CodingKey {
  let stringValue: String
  let intValue: Int?
  init(_ number: Int) {
    stringValue = String(number)
    intValue = number
  }
  init?(intValue: Int) { self.init(intValue) }
  /// As the standard library reads the keys of a dictionary.
  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = Int(stringValue)
  }
}

// MARK: - Sets

extension EncoderPointer {
  /// Writes the elements of a set in the order of their canonical bytes.
  ///
  /// - Parameters:
  ///   - identifier: what gives the order instead, where it is not the canonical bytes.
  ///   - write: writes an element, where that is not done as anywhere.
  func writeSet<Element: Encodable>(
    _ set: Set<Element>, serial: UInt64, orderedBy identifier: ((Element) throws -> Identifier)? = nil,
    _ write: ((Element) throws -> Void)? = nil
  ) throws {
    try requestArray()
    if set.isEmpty { return }
    var order = ByteOrder(minimumCapacity: set.count)
    if let identifier {
      for element in set { try order.append(identifier(element).bytes) }
    } else {
      try appendCanonicalBytes(of: set, to: &order)
    }
    let places = Array(set.indices)
    try order.sort { positions in
      let elements = positions.map { set[places[$0]] }
      if !isCanonical { try refuseMerging(elements, "set") }
      return try elements.map { try tieBytes($0) }
    }
    for position in order.positions {
      try beginElement(serial: serial)
      let element = set[places[position]]
      if let write {
        try withChild(.index(frame.count - 1)) { try write(element) }
      } else if isCanonical {
        order.withBytes(at: position) { append($0) }
      } else {
        try writeElement(element)
      }
    }
  }
}

// MARK: - Dictionaries

extension EncoderPointer {
  /// Writes a dictionary as Foundation's coders see it: keyed by text where the keys are text or numbers, otherwise an
  /// array of keys and values in turn.
  ///
  /// - Parameter write: writes a value, where that is not done as anywhere.
  func writeDictionary<Key: Encodable, Value: Encodable>(
    _ dictionary: [Key: Value], serial: UInt64, _ write: ((Value) throws -> Void)? = nil
  ) throws {
    if [Key: Value].hasTextKeys {
      try requestMap()
      if !dictionary.isEmpty { try writeEntries(of: dictionary, write) }
    } else {
      try requestArray()
      if !dictionary.isEmpty { try writePairs(of: dictionary, serial: serial, write) }
    }
  }

  private func writeEntries<Key: Encodable, Value: Encodable>(
    of dictionary: [Key: Value], _ write: ((Value) throws -> Void)?
  ) throws {
    let keys = TextKeys(dictionary)
    var order = ByteOrder(minimumCapacity: keys.texts.count)
    for text in keys.texts { order.append(composed: text) }
    var isExact: Set<Int> = []
    try order.sort { positions in
      // Composed alike, and yet different. Where composed text is wanted they keep their own, so that none is lost.
      if isCanonical { isExact.formUnion(positions) }
      let texts = positions.map { Array(keys.texts[$0].utf8) }
      if Set(texts).count < texts.count { throw sameText(positions.map { dictionary.keys[keys.places[$0]] }) }
      return texts
    }
    let (facts, kind) = types.facts(of: Value.self)
    for position in order.positions {
      beginEntry(keys.texts[position], isExact: !isExact.isEmpty && isExact.contains(position))
      let value = dictionary.values[keys.places[position]]
      if try writeScalar(value, kind) { continue }
      try withKey(keys.codingKey(at: position)) {
        if let write { try write(value) } else { try writeComposite(value, facts, kind) }
      }
    }
  }

  private func writePairs<Key: Encodable, Value: Encodable>(
    of dictionary: [Key: Value], serial: UInt64, _ write: ((Value) throws -> Void)?
  ) throws {
    let (keys, values) = (dictionary.keys, dictionary.values)
    var order = ByteOrder(minimumCapacity: keys.count)
    try appendCanonicalBytes(of: keys, to: &order)
    let places = Array(dictionary.indices)
    try order.sort { positions in
      if !isCanonical { try refuseMerging(positions.map { keys[places[$0]] }, "dictionary") }
      return try positions.map { try tieBytes(keys[places[$0]], values[places[$0]]) }
    }
    for position in order.positions {
      try beginElement(serial: serial)
      if isCanonical {
        order.withBytes(at: position) { append($0) }
      } else {
        try withExactDates { try writeElement(keys[places[position]]) }
      }
      try beginElement(serial: serial)
      let value = values[places[position]]
      if let write {
        try withChild(.index(frame.count - 1)) { try write(value) }
      } else {
        try writeElement(value)
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

/// The keys of a dictionary whose keys stand as text, and where they stand in it.
private struct TextKeys<Key: Hashable, Value> {
  var places: [Dictionary<Key, Value>.Index]
  private(set) var texts: [String] = []
  /// What keys that are neither strings nor integers say that they are.
  private var codingKeys: [any CodingKey] = []

  init(_ dictionary: [Key: Value]) {
    places = Array(dictionary.indices)
    texts.reserveCapacity(places.count)
    if Key.self == String.self {
      for key in dictionary.keys { texts.append(Reinterpretation.same(key, as: String.self)) }
    } else if Key.self == Int.self {
      for key in dictionary.keys { texts.append(String(Reinterpretation.same(key, as: Int.self))) }
    } else {
      codingKeys.reserveCapacity(places.count)
      for key in dictionary.keys {
        let codingKey = (key as? any CodingKeyRepresentable)?.codingKey ?? PathKey(stringValue: "")
        codingKeys.append(codingKey)
        texts.append(codingKey.stringValue)
      }
    }
  }

  func codingKey(at position: Int) -> any CodingKey {
    if !codingKeys.isEmpty { return codingKeys[position] }
    if Key.self == Int.self { return DictionaryKey(stringValue: texts[position]) }
    return PathKey(stringValue: texts[position])
  }
}

// MARK: - Bytes to sort by

extension EncoderPointer {
  fileprivate func appendCanonicalBytes(of elements: some Sequence<some Encodable>, to order: inout ByteOrder)
    throws
  {
    try EncodingCore.withCore(
      userInfo: core.userInfo, isCanonical: true, inlinesEverything: self.inlinesEverything
    ) { core in
      for element in elements { order.append(try core.heldBody(of: element)) }
    }
  }

  /// What tells elements apart whose canonical bytes are the same: the canonical bytes of what stands under them, then
  /// the bytes that both have in a record. (There -0.0 is not 0.0, and one NaN not another.)
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

/// Puts elements in the order of bytes: those of all stand one behind the other, and positions are sorted.
private struct ByteOrder {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  /// The elements' positions, in order once they are sorted.
  private(set) var positions: [Int] = []

  init(minimumCapacity count: Int) {
    bytes.reserveCapacity(16 * count)
    ends.reserveCapacity(count)
  }

  mutating func append(_ element: some Collection<UInt8>) {
    bytes.append(contentsOf: element)
    ends.append(bytes.count)
  }

  mutating func append(composed text: String) {
    var text = composed(text)
    text.withUTF8 { append($0) }
  }

  private func range(_ position: Int) -> Range<Int> {
    (position == 0 ? 0 : ends[position - 1])..<ends[position]
  }

  func withBytes(at position: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
    bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range(position)])) }
  }

  /// - Parameter tieBytes: gives, for the positions of elements whose bytes are the same, what orders these.
  mutating func sort(_ tieBytes: ([Int]) throws -> [[UInt8]]) rethrows {
    var positions = Array(ends.indices)
    var hasTies = false
    bytes.withUnsafeBytes { bytes in
      ends.withUnsafeBufferPointer { ends in
        func element(_ position: Int) -> UnsafeRawBufferPointer {
          UnsafeRawBufferPointer(rebasing: bytes[(position == 0 ? 0 : ends[position - 1])..<ends[position]])
        }
        positions.sort { a, b in
          let order = compareBytes(element(a), element(b))
          // Those that end up side by side were compared on the way: nothing else tells their order.
          if order == 0 && a != b { hasTies = true }
          return order < 0
        }
      }
    }
    self.positions = positions
    if hasTies { try settleTies(tieBytes) }
  }

  private mutating func settleTies(_ tieBytes: ([Int]) throws -> [[UInt8]]) rethrows {
    var start = 0
    while start < positions.count {
      var end = start + 1
      while end < positions.count, bytes[range(positions[end])] == bytes[range(positions[start])] { end += 1 }
      if end - start > 1 {
        let run = Array(positions[start..<end])
        let keys = try tieBytes(run)
        let sorted = run.indices.sorted { keys[$0].lexicographicallyPrecedes(keys[$1]) }
        positions.replaceSubrange(start..<end, with: sorted.map { run[$0] })
      }
      start = end
    }
  }
}

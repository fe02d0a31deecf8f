// Arrays, sets, dictionaries and optionals, read by the coder itself: element by element as they stand. Their own
// `init(from:)` do the same through containers, which cost a box, a key or a look-up for each element.

/// A collection that a decoder reads, for a type that is only known at run time.
protocol DecodableCollection {
  /// Reads the value of the current frame into the scratch memory, as the collection's `init(from:)` would.
  ///
  /// False where that `init(from:)` has to be called: the value has another form, or an error that it names.
  static func read(from state: DecoderPointer) throws -> Bool
}

/// A value that a decoder reads to where it stays, for a type that is only known at run time.
protocol DecodableInPlace {
  /// Reads the value at the cursor, which is no reference.
  static func read(from state: DecoderPointer, to place: UnsafeMutableRawPointer) throws
}

extension DecoderPointer {
  @inline(never)
  func readCollection<T: Decodable>(_ type: T.Type, _ facts: Permanent<TypeFacts>) throws -> T {
    let serial = try openFrame()
    defer { leaveFrame(serial) }
    if let collection = facts.with({ $0.decodableCollection }), foreign == nil,
      try collection.read(from: self)
    {
      return scratch.take(as: T.self)
    }
    return try T(from: ValueDecoder(state: self, serial: serial))
  }

  /// Makes sure that so many elements are there, before room is made for all of them at once.
  fileprivate func checkElements(_ count: Int) throws {
    if count <= 1 << 12 { return }
    var at = frame.nextOffset
    for _ in 0..<count { at = try BodyScanner.skipValue(base, at, end: frame.end) }
  }

  /// Makes the value at the cursor at a place.
  ///
  /// - Parameter inPlace: the type, where it can be read so.
  @inline(__always)
  fileprivate func readValue<T: Decodable>(
    to place: UnsafeMutablePointer<T>, _ inPlace: (any DecodableInPlace.Type)?
  ) throws {
    if let inPlace, try !isMarked() {
      try inPlace.read(from: self, to: UnsafeMutableRawPointer(place))
    } else {
      place.initialize(to: try readAny(T.self))
    }
  }
}

// MARK: - Arrays and optionals

extension Array: DecodableCollection where Element: Decodable {
  static func read(from state: DecoderPointer) throws -> Bool {
    state.scratch.put(collection: try elements(from: state))
    return true
  }

  /// The elements of the current frame's value.
  @inline(__always)
  fileprivate static func elements(from state: DecoderPointer) throws -> [Element] {
    try state.requestArray()
    let count = state.frame.count
    if count == 0 { return [] }
    try state.checkElements(count)
    let (inPlace, form) = state.types.facts(of: Element.self).0.with { ($0.decodableInPlace, $0.arrayForm) }
    func read(_ elements: UnsafeMutablePointer<Element>, _ initialized: inout Int) throws {
      while initialized < count {
        try state.beginElement(Element.self)
        try state.readValue(to: elements + initialized, inPlace)
        state.advance()
        initialized &+= 1
      }
    }
    if let form { return try form.array(of: count, read) }
    return try [Element](unsafeUninitializedCapacity: count) {
      try read($0.baseAddress.unsafelyUnwrapped, &$1)
    }
  }
}

extension Optional: DecodableInPlace where Wrapped: Decodable {
  static func read(from state: DecoderPointer, to place: UnsafeMutableRawPointer) throws {
    if try state.tag() == BodyTag.null {
      state.cursor &+= 1
      place.initializeMemory(as: Wrapped?.self, to: nil)
    } else {
      place.initializeMemory(as: Wrapped?.self, to: try state.readAny(Wrapped.self))
    }
  }
}

// MARK: - Sets

extension Set: DecodableCollection where Element: Decodable {
  static func read(from state: DecoderPointer) throws -> Bool {
    // Of equal elements the first one stays, as in the set's own `init(from:)`.
    state.scratch.put(collection: Set(elements: try [Element].elements(from: state)))
    return true
  }
}

// MARK: - Dictionaries

extension Dictionary: DecodableCollection where Key: Decodable, Value: Decodable {
  static func read(from state: DecoderPointer) throws -> Bool {
    if Key.self == String.self { return try readTexts(from: state) }
    if Key.self == Int.self { return try readNumbers(from: state) }
    if let type = state.types.facts(of: Key.self).0.with({ $0.textKey }) {
      return try readRepresented(from: state, type)
    }
    return try readPairs(from: state)
  }

  private static func readTexts(from state: DecoderPointer) throws -> Bool {
    try readEntries(from: state) { text, key in
      key.initialize(to: Reinterpretation.same(try state.string(text), as: Key.self))
      return true
    }
  }

  private static func readNumbers(from state: DecoderPointer) throws -> Bool {
    state.frame.keys = state.boxes.keys(DictionaryKey.self)
    return try readEntries(from: state) { text, key in
      // A key that is no number is an error, which the dictionary's own code throws.
      guard let number = try state.number(text) else { return false }
      key.initialize(to: Reinterpretation.same(number, as: Key.self))
      return true
    }
  }

  private static func readRepresented<R: CodingKeyRepresentable>(
    from state: DecoderPointer, _: R.Type
  ) throws -> Bool {
    state.frame.keys = state.boxes.keys(DictionaryKey.self)
    return try readEntries(from: state) { text, place in
      guard let key = R(codingKey: DictionaryKey(stringValue: try state.string(text))) else { return false }
      place.initialize(to: Reinterpretation.same(key, as: Key.self))
      return true
    }
  }

  /// Reads the entries of a map.
  ///
  /// - Parameter readKey: makes the key whose text stands in the range, at the place; false where the text says none.
  @inline(__always)
  private static func readEntries(
    from state: DecoderPointer, _ readKey: (Range<Int>, UnsafeMutablePointer<Key>) throws -> Bool
  ) throws -> Bool {
    guard let count = try state.requestEntries() else { return false }
    return try fill(count, state) { key in
      guard let text = try state.beginNextEntry() else { return false }
      return try readKey(text, key)
    }
  }

  /// Keys and values in turn.
  private static func readPairs(from state: DecoderPointer) throws -> Bool {
    try state.requestArray()
    let count = state.frame.count
    // A key without a value is an error, which the dictionary's own code throws.
    guard count % 2 == 0 else { return false }
    try state.checkElements(count)
    return try fill(count / 2, state) { key in
      try state.beginElement(Key.self)
      key.initialize(to: try state.readAny(Key.self))
      state.advance()
      do {
        try state.beginElement(Value.self)
      } catch {
        key.deinitialize(count: 1)
        throw error
      }
      return true
    }
  }

  /// Reads so many entries into the scratch memory, straight to where they stay.
  ///
  /// - Parameter readKey: makes the next key at a place, and moves the cursor to its value; false where there is none.
  /// - Returns: false where a key was missing, or two were equal.
  @inline(__always)
  private static func fill(
    _ count: Int, _ state: DecoderPointer, _ readKey: (UnsafeMutablePointer<Key>) throws -> Bool
  ) throws -> Bool {
    let inPlace = state.types.facts(of: Value.self).0.with { $0.decodableInPlace }
    let entries = try Dictionary(placesOf: count) { keys, values, filled in
      while filled < count {
        guard try readKey(keys + filled) else { return }
        do {
          try state.readValue(to: values + filled, inPlace)
        } catch {
          (keys + filled).deinitialize(count: 1)
          throw error
        }
        state.advance()
        filled &+= 1
      }
    }
    // Of equal keys the last one's value has to stay: that is left to the dictionary's own `init(from:)`.
    guard entries.count == count else { return false }
    state.scratch.put(collection: entries)
    return true
  }
}

extension DecoderPointer {
  /// Begins reading the current frame's value as a map that has entries only, and counts them; nil where it has a shape.
  fileprivate func requestEntries() throws -> Int? {
    try requestMap()
    guard frame.shapedCount == 0 else { return nil }
    frame.next = 0
    frame.nextOffset = frame.content
    var count = 0
    var at = frame.content
    let end = frame.end
    while at < end {
      _ = try BodyScanner.readKey(base, &at, end: end)
      at = try BodyScanner.skipValue(base, at, end: end)
      count &+= 1
    }
    return count
  }

  /// Moves the cursor to the value of the next entry, and returns where its key is; nil at the end.
  @inline(__always)
  fileprivate func beginNextEntry() throws -> Range<Int>? {
    let start = frame.nextOffset
    guard start < frame.end else { return nil }
    var at = start
    let key = try BodyScanner.readKey(base, &at, end: frame.end)
    frame.current = frame.next
    frame.currentKey = start
    cursor = at
    return key
  }

  /// The number that a key says, as `Int(_:)` reads it.
  fileprivate func number(_ text: Range<Int>) throws -> Int? {
    var at = text.lowerBound
    let isNegative = at < text.upperBound && base.byte(at: at) == UInt8(ascii: "-")
    if isNegative { at += 1 }
    let digitCount = text.upperBound - at
    guard digitCount > 0 && digitCount < 19 else { return Int(try string(text)) }
    var number = 0
    while at < text.upperBound {
      let digit = base.byte(at: at) &- UInt8(ascii: "0")
      guard digit < 10 else { return Int(try string(text)) }
      number = number &* 10 &+ Int(digit)
      at += 1
    }
    return isNegative ? -number : number
  }
}

extension UnsafeMutablePointer where Pointee == DecoderState {
  /// Begins reading the current frame's value as an array, from its first element.
  func requestArray() throws {
    let frame = pointee.input.frame.pointee
    guard frame.kind != .map else { throw mismatch([Any].self, at: frame.start, codingPath) }
    if frame.kind == .array { return }
    if let header = try ContainerHeader.read(
      pointee.base, frame.start, end: frame.end, small: BodyTag.arraySmall, large: BodyTag.arrayLarge)
      ?? headerBehindSyncStatus(small: BodyTag.arraySmall, large: BodyTag.arrayLarge)
    {
      // Each element takes a byte at least.
      guard header.second <= header.end - header.content else {
        throw DamagedBody(reason: "an array counts more elements than it has bytes", offset: frame.start)
      }
      openArray(content: header.content, end: header.end, count: header.second)
    } else if let packed = try packedArray() {
      try openPacked(packed)
    } else {
      throw mismatch([Any].self, at: frame.start, codingPath)
    }
  }

  private func packedArray() throws -> PackedArray? {
    let frame = pointee.input.frame.pointee
    return try PackedArray(
      pointee.base, InlinePrefix.skipSyncStatus(pointee.base, frame.start, end: frame.end), end: frame.end)
  }

  private func openArray(content: Int, end: Int, count: Int) {
    pointee.input.frame.pointee.kind = .array
    pointee.input.frame.pointee.content = content
    pointee.input.frame.pointee.end = end
    pointee.input.frame.pointee.count = count
    pointee.input.frame.pointee.next = 0
    pointee.input.frame.pointee.nextOffset = content
  }

  /// A packed array that is read element by element: its elements are written out with their tags, into memory
  /// that the core keeps as long as the record. Offsets count from the record's first byte all the same.
  private func openPacked(_ packed: PackedArray) throws {
    let (bytes, count) = try unpack(packed)
    let content = bytes.baseAddress.unsafelyUnwrapped - pointee.base
    openArray(content: content, end: content + bytes.count, count: count)
  }

  /// Moves the cursor to the next element.
  @inline(__always)
  func beginElement(_ type: Any.Type, serial: UInt64) throws {
    guard pointee.input.frame.pointee.serial == serial else { throw staleContainer([], serial) }
    let index = pointee.input.frame.pointee.next
    guard index < pointee.input.frame.pointee.count else {
      throw DecodingError.valueNotFound(
        type,
        DecodingError.Context(
          codingPath: codingPath + [PlainKey(intValue: index)],
          debugDescription:
            "The array has \(pointee.input.frame.pointee.count) elements; another was asked for."))
    }
    pointee.input.frame.pointee.current = index
    pointee.cursor = pointee.input.frame.pointee.nextOffset
  }
}

// MARK: - Values of any type

extension UnsafeMutablePointer where Pointee == DecoderState {
  /// Reads a value of any type. A reference stands for the object it names, whatever the type has become.
  @inline(__always)
  func readAny<T: Decodable>(_ type: T.Type) throws -> T {
    let (facts, kind) = pointee.types.facts(of: T.self)
    if kind.isScalar || kind == .own { return try readSpecial(type, kind) }
    if kind == .plain, pointee.cursor != pointee.record.wrappedOffset, try !isMarked() {
      return try readInline(type)
    }
    if kind == .reference, try isReference() { return try readObject(type, facts) }
    return try readRare(type, facts, kind)
  }

  /// The same for what is no plain value. Apart, because a generic function that has an optional of its type
  /// asks for the optional's metadata each time, whatever happens then.
  @inline(never)
  private func readRare<T: Decodable>(_ type: T.Type, _ facts: Unmanaged<TypeFacts>, _ kind: ValueKind) throws
    -> T
  {
    if kind == .prefixed { return try readSpecial(type, kind) }
    if try isMarked() { return try readMarked(type, facts, kind) }
    if pointee.cursor == pointee.record.wrappedOffset, let object = try readWrapped(type, facts, kind) {
      return object
    }
    if kind == .reference, let object = try readForeign(type, facts) { return object }
    return try kind == .plain ? readInline(type) : readStanding(type, facts)
  }

  /// Reads a value whose property may be without: nil where it is a reference whose record is gone.
  @inline(__always)
  func readTarget<T: Decodable>(_ type: T.Type) throws -> T? {
    let (facts, kind) = pointee.types.facts(of: T.self)
    switch kind {
    case .plain, .unordered, .reference, .interned:
      if try isMarked() { return try findMarked(type, facts, kind) }
      if pointee.cursor == pointee.record.wrappedOffset, let object = try readWrapped(type, facts, kind) {
        return object
      }
      if kind == .reference, let object = try findForeign(type, facts) { return object }
      return try kind == .plain ? readInline(type) : readStanding(type, facts)
    case .prefixed where try isMarked(): return try findMarked(type, facts, kind)
    default: return try readSpecial(type, kind)
    }
  }

  /// Reads an object that stands inline, although its type has an identity (by now).
  @inline(never)
  func readStanding<T: Decodable>(_ type: T.Type, _ facts: Unmanaged<TypeFacts>) throws -> T {
    let facts = facts.takeUnretainedValue()
    if facts.mapping != nil, let own = try namedClass(facts), let object = try readNamed(own, type) {
      return object
    }
    return try facts.evolution == nil ? readInline(type) : readEvolving(type, facts)
  }

  /// Reads an object that stands inline where a reference to it is expected.
  func readStandingTarget<T: Decodable>(_ type: T.Type) throws -> T {
    let facts = pointee.types.facts(of: T.self).0
    return try tag() == BodyTag.syncStatus ? readWithSyncStatus(type, facts) : readStanding(type, facts)
  }

  /// Reads a value that begins with a reference, or with a sync status.
  private func readMarked<T: Decodable>(
    _ type: T.Type, _ facts: Unmanaged<TypeFacts>, _ kind: ValueKind
  ) throws -> T {
    if try tag() == BodyTag.syncStatus { return try readWithSyncStatus(type, facts) }
    return try readReferenced(type, facts, kind)
  }

  private func findMarked<T: Decodable>(
    _ type: T.Type, _ facts: Unmanaged<TypeFacts>, _ kind: ValueKind
  ) throws -> T? {
    if try tag() == BodyTag.syncStatus { return try readWithSyncStatus(type, facts) }
    return try findReferenced(type, facts, kind)
  }

  /// A type without a status has lost it, or is something around the object that has it.
  private func readWithSyncStatus<T: Decodable>(_ type: T.Type, _ facts: Unmanaged<TypeFacts>) throws -> T {
    let known = facts.takeUnretainedValue()
    guard known.isSyncable else { return try readStanding(type, facts) }
    let end = pointee.input.frame.pointee.end
    let (status, content) = try InlinePrefix.readSyncStatus(pointee.base, pointee.cursor, end: end)
    pointee.cursor = content
    var value = try readStanding(type, facts)
    known.setSyncStatus(status, of: &value)
    return value
  }

  private func readReferenced<T: Decodable>(_ type: T.Type, _ facts: Unmanaged<TypeFacts>, _ kind: ValueKind)
    throws -> T
  {
    // An optional element is nil where the record is gone. T is that optional: the cast changes nothing.
    if kind == .plain || kind == .prefixed, let optional = type as? any OptionalDecodable.Type {
      func read<O: OptionalDecodable>(_: O.Type) throws -> T {
        unsafeBitCast(try O.readTarget(self), to: T.self)
      }
      return try read(optional)
    }
    return try readObject(type, facts)
  }

  /// Reads the object that the reference at the cursor names. No optional of T: in generic code that asks for its
  /// metadata each time.
  @inline(__always)
  private func readObject<T: Decodable>(_ type: T.Type, _ facts: Unmanaged<TypeFacts>) throws -> T {
    let index = try readReferenceIndex()
    let graph = pointee.graph.takeUnretainedValue()
    let number = try graph.load(type, facts, number(ofReference: index))
    if number < 0 { throw missing(type, index) }
    return graph.loaded(type, number)
  }

  /// The object that the reference at the cursor names; nil where its record is gone.
  private func findReferenced<T: Decodable>(
    _ type: T.Type, _ facts: Unmanaged<TypeFacts>, _ kind: ValueKind
  ) throws -> T? {
    if kind == .plain || kind == .prefixed, let optional = type as? any OptionalDecodable.Type {
      // An optional element is nil where the record is gone. T is that optional: the cast changes nothing.
      func read<O: OptionalDecodable>(_: O.Type) throws -> T {
        unsafeBitCast(try O.readTarget(self), to: T.self)
      }
      return try read(optional)
    }
    return try graph.object(type, facts, number(ofReference: try readReferenceIndex()))
  }

  /// The value at the cursor is a whole record that a reference named, and what was asked for first was no object
  /// but something around one: what a single value container holds is the object itself, shared as any other.
  @inline(never)
  private func readWrapped<T: Decodable>(_ type: T.Type, _ facts: Unmanaged<TypeFacts>, _ kind: ValueKind)
    throws -> T?
  {
    let wanted: ValueKind = pointee.record.isDigest ? .interned : .reference
    return kind == wanted ? try graph.object(type, facts, pointee.record.number) : nil
  }

  @inline(__always)
  func readInline<T: Decodable>(_ type: T.Type) throws -> T {
    let serial = try openFrame()
    // Where the result is wanted: to move what was just written is slow.
    defer { leaveFrame() }
    return try T(from: ValueDecoder(state: self, serial: serial, node: nil))
  }

  /// Reads the value of a record: never a reference to itself.
  @inline(__always)
  func readRoot<T: Decodable>(_ type: T.Type, _ kind: ValueKind) throws -> T {
    switch kind {
    case .plain, .prefixed, .unordered, .reference, .interned, .own: try readInline(type)
    default: try readSpecial(type, kind)
    }
  }

  @inline(__always)
  private func readSpecial<T: Decodable>(_ type: T.Type, _ kind: ValueKind) throws -> T {
    if kind.isPacked {
      // One that was written by its own `encode(to:)` all the same is read by its own `init(from:)`.
      if try !readPacked(kind) { return try readInline(type) }
      return pointee.scratch.assumingMemoryBound(to: T.self).move()
    }
    if kind == .own { return try readOwn(type) }
    if kind == .prefixed { return try readPrefixed(type) }
    if kind == .url, try isMap() { return try readInline(type) }
    try readScalar(kind, type)
    return pointee.scratch.assumingMemoryBound(to: T.self).move()
  }

  @inline(never)
  private func readPrefixed<T: Decodable>(_ type: T.Type) throws -> T {
    let facts = pointee.types.facts(of: T.self).0
    return try isMarked() ? readMarked(type, facts, .prefixed) : readStanding(type, facts)
  }

  @inline(never)
  private func readOwn<T: Decodable>(_ type: T.Type) throws -> T {
    guard let own = type as? any GraphDecodable.Type, let value = try own.init(fromGraph: self) as? T else {
      throw mismatch(type)
    }
    return value
  }

  /// Reads a value of a type that the format knows into the scratch memory.
  private func readScalar(_ kind: ValueKind, _ type: Any.Type) throws {
    let scratch = pointee.scratch
    switch kind {
    case .bool: scratch.initializeMemory(as: Bool.self, to: try readBool())
    case .string: scratch.initializeMemory(as: String.self, to: try readString())
    case .double: scratch.initializeMemory(as: Double.self, to: try readDouble())
    case .float: scratch.initializeMemory(as: Float.self, to: try readFloat())
    case .int: scratch.initializeMemory(as: Int.self, to: try readInteger(Int.self))
    case .int8: scratch.initializeMemory(as: Int8.self, to: try readInteger(Int8.self))
    case .int16: scratch.initializeMemory(as: Int16.self, to: try readInteger(Int16.self))
    case .int32: scratch.initializeMemory(as: Int32.self, to: try readInteger(Int32.self))
    case .int64: scratch.initializeMemory(as: Int64.self, to: try readInteger(Int64.self))
    case .int128: scratch.initializeMemory(as: Int128.self, to: try readInteger(Int128.self))
    case .uint: scratch.initializeMemory(as: UInt.self, to: try readInteger(UInt.self))
    case .uint8: scratch.initializeMemory(as: UInt8.self, to: try readInteger(UInt8.self))
    case .uint16: scratch.initializeMemory(as: UInt16.self, to: try readInteger(UInt16.self))
    case .uint32: scratch.initializeMemory(as: UInt32.self, to: try readInteger(UInt32.self))
    case .uint64: scratch.initializeMemory(as: UInt64.self, to: try readInteger(UInt64.self))
    case .uint128: scratch.initializeMemory(as: UInt128.self, to: try readInteger(UInt128.self))
    case .date, .data, .uuid, .url, .decimal: try readFoundation(kind)
    default: throw mismatch(type)
    }
  }

  @inline(__always)
  func isReference() throws -> Bool {
    let tag = try tag()
    return tag >= BodyTag.smallReference || tag == BodyTag.reference8 || tag == BodyTag.reference32
  }

  /// Whether the value begins with a reference or a sync status: all first bytes from 1A to 1D, and C0 on.
  @inline(__always)
  private func isMarked() throws -> Bool {
    let tag = try tag()
    return tag >= BodyTag.smallReference
      || tag &- BodyTag.reference8 <= BodyTag.syncStatus - BodyTag.reference8
  }

  private func isMap() throws -> Bool {
    let tag = try tag()
    return tag == BodyTag.mapSmall || tag == BodyTag.mapLarge
  }

  func readReferenceIndex() throws -> Int {
    let tag = try tag()
    let index: Int
    switch tag {
    case BodyTag.smallReference..<0xE0:
      index = Int(tag & 0x1F)
      pointee.cursor += 1
    case BodyTag.reference8:
      index = Int(
        try BodyScanner.loadNumber(
          pointee.base, pointee.cursor + 1, width: 1, end: pointee.input.frame.pointee.end))
      pointee.cursor += 2
    case BodyTag.reference32:
      index = Int(
        try BodyScanner.loadNumber(
          pointee.base, pointee.cursor + 1, width: 4, end: pointee.input.frame.pointee.end))
      pointee.cursor += 5
    default: throw DamagedBody.unknownTag(tag, pointee.cursor)
    }
    guard index < pointee.record.referenceCount else {
      throw DamagedBody(reason: "reference \(index) is not in the record's table", offset: pointee.cursor)
    }
    return index
  }

  func isNull() throws -> Bool {
    if try tag() == BodyTag.null { return true }
    guard try isReference() else { return false }
    let cursor = pointee.cursor
    defer { pointee.cursor = cursor }
    return try !graph.hasRecord(number(ofReference: try readReferenceIndex()))
  }

  func missing(_ type: Any.Type, _ reference: Int) -> any Error {
    missing(type, identity(ofReference: reference), childPath)
  }

  func missing(_ type: Any.Type, _ identity: RecordIdentity, _ path: [any CodingKey]) -> any Error {
    DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: path,
        debugDescription: "Missing Identifiable reference of type: \(type) with id: \(identity.identifier)"))
  }
}

/// Optionals, for a cast at run time.
private protocol OptionalDecodable {
  static func readTarget(_ state: DecoderPointer) throws -> Self
}

extension Optional: OptionalDecodable where Wrapped: Decodable {
  fileprivate static func readTarget(_ state: DecoderPointer) throws -> Wrapped? {
    try state.readTarget(Wrapped.self)
  }
}

/// A type of this module whose property may be missing from a record.
protocol EmptyDecodable {
  static var empty: Self { get }
}

/// A type of this module that reads itself through the coder's own functions.
protocol GraphDecodable {
  init(fromGraph state: DecoderPointer) throws
}

// Values of any type, read by the kind of their type.

extension DecoderPointer {
  /// Reads a value of any type. Where a reference stands, the object that it names is read, even if the type has no identity
  /// any more.
  @inline(__always)
  func readAny<T: Decodable>(_ type: T.Type) throws -> T {
    let (facts, kind) = types.facts(of: T.self)
    if kind.isScalar || kind == .own { return try readSpecial(type, kind) }
    if kind.mayStandUnwrapped, cursor != record.wrappedOffset, try !isMarkedOrVersioned() {
      return try kind == .codable ? readByOwnCode(type) : readCollection(type, facts)
    }
    if kind == .reference, try isReference() { return try readObject(type, facts, kind) }
    return try readRare(type, facts, kind)
  }

  /// The same for types that are not read by their own `init(from:)` alone. A function of its own, because a generic function
  /// that uses an optional of its type asks for the optional's metadata on each call.
  @inline(never)
  private func readRare<T: Decodable>(_ type: T.Type, _ facts: Permanent<TypeFacts>, _ kind: ValueKind) throws
    -> T
  {
    if kind == .prefixed { return try readSpecial(type, kind) }
    if try isMarked() { return try readMarked(type, facts, kind) }
    if cursor == record.wrappedOffset, let object = try readWrapped(type, facts, kind) {
      return object
    }
    if kind == .reference, let object = try readForeign(type, facts) { return object }
    return try kind == .codable ? readAroundVersion(type) : readUnwrapped(type, facts)
  }

  /// Whether the value at the cursor is one of that type, and no reference to a record that may be gone.
  @inline(__always)
  func isSurelyThere<T>(_ type: T.Type) throws -> Bool {
    let kind = types.facts(of: T.self).1
    if kind.isScalar || kind == .own { return true }
    return try kind.mayStandUnwrapped && !isMarked()
  }

  /// Decodes the object that a reference at the cursor names, and returns the number under which the walk has it. Without
  /// an optional, whose metadata generic code would ask for each time.
  ///
  /// Negative, and nothing is read, where its record is gone, and where there is another value than a reference to a `T`.
  @inline(__always)
  func loadTarget<T: Decodable>(_ type: T.Type) throws -> Int {
    let (facts, kind) = types.facts(of: T.self)
    guard kind == .reference || kind == .interned, try isReference() else { return -1 }
    let start = cursor
    let number = try walk.load(type, facts, number(ofReference: try readReferenceIndex()))
    if number < 0 { cursor = start }
    return number
  }

  /// Reads a value of an optional property: nil where it is a reference whose record is gone.
  @inline(__always)
  func readTarget<T: Decodable>(_ type: T.Type) throws -> T? {
    let (facts, kind) = types.facts(of: T.self)
    switch kind {
    case .codable, .elements, .unordered, .reference, .interned:
      if try isMarked() { return try findMarked(type, facts, kind) }
      if cursor == record.wrappedOffset, let object = try readWrapped(type, facts, kind) {
        return object
      }
      if kind == .reference, let object = try findForeign(type, facts) { return object }
      if kind != .codable { return try readUnwrapped(type, facts) }
      return try tag() == BodyTag.versioned ? readAroundVersion(type) : readByOwnCode(type)
    case .prefixed where try isMarked(): return try findMarked(type, facts, kind)
    default: return try readSpecial(type, kind)
    }
  }

  /// Reads an object that stands inline, although its type has an identity (by now).
  @inline(never)
  func readUnwrapped<T: Decodable>(_ type: T.Type, _ facts: Permanent<TypeFacts>) throws -> T {
    if facts.with({ $0.decodableCollection != nil }) { return try readCollection(type, facts) }
    let facts = facts.object
    if facts.mapping != nil, let own = try namedClass(facts), let object = try readNamed(own, type) {
      return object
    }
    return try facts.evolution == nil ? readByOwnCode(type) : readEvolving(type, facts)
  }

  /// Reads an object that stands inline where a reference to it is expected.
  func readInlineTarget<T: Decodable>(_ type: T.Type) throws -> T {
    let facts = types.facts(of: T.self).0
    return try tag() == BodyTag.syncStatus ? readWithSyncStatus(type, facts) : readUnwrapped(type, facts)
  }

  /// Reads a value that begins with a reference, or with a sync status.
  private func readMarked<T: Decodable>(
    _ type: T.Type, _ facts: Permanent<TypeFacts>, _ kind: ValueKind
  ) throws -> T {
    if try tag() == BodyTag.syncStatus { return try readWithSyncStatus(type, facts) }
    return try readReferenced(type, facts, kind)
  }

  private func findMarked<T: Decodable>(
    _ type: T.Type, _ facts: Permanent<TypeFacts>, _ kind: ValueKind
  ) throws -> T? {
    if try tag() == BodyTag.syncStatus { return try readWithSyncStatus(type, facts) }
    return try findReferenced(type, facts, kind)
  }

  /// A type without a status either had one once, or is a type around the object that has the status.
  private func readWithSyncStatus<T: Decodable>(_ type: T.Type, _ facts: Permanent<TypeFacts>) throws -> T {
    let known = facts.object
    guard known.isSyncable else {
      return try known.kind == .codable && known.decodableCollection == nil
        ? readAroundVersion(type) : readUnwrapped(type, facts)
    }
    let (status, content) = try InlinePrefix.readSyncStatus(base, cursor, end: frame.end)
    cursor = content
    var value = try readUnwrapped(type, facts)
    known.setSyncStatus(status, of: &value)
    return value
  }

  private func readReferenced<T: Decodable>(_ type: T.Type, _ facts: Permanent<TypeFacts>, _ kind: ValueKind)
    throws -> T
  {
    // An optional element is nil where the record is gone. T is that optional: the cast changes nothing.
    if kind == .codable || kind == .prefixed, let optional = type as? any OptionalDecodable.Type {
      func read<O: OptionalDecodable>(_: O.Type) throws -> T {
        Reinterpretation.same(try O.readTarget(self), as: T.self)
      }
      return try read(optional)
    }
    if try isAroundLazy(kind), let value = try readAroundLazy(type) { return value }
    return try readObject(type, facts, kind)
  }

  /// Reads a type around a `Reference`, such as a property wrapper, by its own code, which asks for the `Reference`: the object
  /// is not fetched, and need not be there. Nil, and nothing is read, where that code asks for something else, because a value
  /// that is now part of its owner may have been referred to before.
  ///
  /// - Throws: what that code throws after it has read the `Reference`: whether the object is there has nothing to do with that.
  @inline(never)
  private func readAroundLazy<T: Decodable>(_ type: T.Type) throws -> T? {
    let start = cursor
    lastReference = -1
    do { return try readByOwnCode(type) } catch {
      if let failure { throw failure }
      if lastReference == start { throw error }
      cursor = start
      return nil
    }
  }

  /// Whether the value at the cursor is a reference that is not followed, and a type of this kind is no object itself.
  private func isAroundLazy(_ kind: ValueKind) throws -> Bool {
    guard kind == .codable || kind == .prefixed else { return false }
    let start = cursor
    defer { cursor = start }
    return entry(ofReference: try readReferenceIndex()).1 == .lazy
  }

  /// Reads the object that the reference at the cursor names. Returns no optional of T: generic code would ask for the metadata
  /// of that each time.
  @inline(__always)
  private func readObject<T: Decodable>(_ type: T.Type, _ facts: Permanent<TypeFacts>, _ kind: ValueKind)
    throws
    -> T
  {
    let start = cursor
    let index = try readReferenceIndex()
    let walk = self.walk
    let number = try walk.load(type, facts, number(ofReference: index))
    if number < 0 { return try readAroundMissing(type, index, start, kind) }
    return walk.loaded(type, number)
  }

  /// Reads a type around a reference to an object that is gone, such as a property wrapper. It may hold an optional: its
  /// `init(from:)` finds nil.
  @inline(never)
  private func readAroundMissing<T: Decodable>(_ type: T.Type, _ index: Int, _ start: Int, _ kind: ValueKind)
    throws -> T
  {
    let missing = missing(type, index)
    guard kind == .codable || kind == .prefixed else { throw missing }
    cursor = start
    do { return try readByOwnCode(type) } catch { throw missing }
  }

  /// The object that the reference at the cursor names; nil where its record is gone.
  private func findReferenced<T: Decodable>(
    _ type: T.Type, _ facts: Permanent<TypeFacts>, _ kind: ValueKind
  ) throws -> T? {
    if kind == .codable || kind == .prefixed, let optional = type as? any OptionalDecodable.Type {
      // An optional element is nil where the record is gone. T is that optional: the cast changes nothing.
      func read<O: OptionalDecodable>(_: O.Type) throws -> T {
        Reinterpretation.same(try O.readTarget(self), as: T.self)
      }
      return try read(optional)
    }
    if try isAroundLazy(kind), let value = try readAroundLazy(type) { return value }
    return try walk.object(type, facts, number(ofReference: try readReferenceIndex()))
  }

  /// For a type that encodes as one `Person` in a single value container, and was asked for where a reference to a `Person`
  /// stands. Its `init(from:)` now asks for the `Person`. That is the object of the record itself, shared like any other, and
  /// not one inside it.
  @inline(never)
  private func readWrapped<T: Decodable>(_ type: T.Type, _ facts: Permanent<TypeFacts>, _ kind: ValueKind)
    throws -> T?
  {
    let wanted: ValueKind = record.isDigest ? .interned : .reference
    return kind == wanted ? try walk.object(type, facts, record.number) : nil
  }

  @inline(__always)
  func readByOwnCode<T: Decodable>(_ type: T.Type) throws -> T {
    let serial = try openFrame()
    // The value is made where the caller wants it, because to move what was just written is slow.
    defer { leaveFrame(serial) }
    return try T(from: ValueDecoder(state: self, serial: serial))
  }

  /// Reads a value by its own `init(from:)`, after a look at those of its parts that this does not check.
  ///
  /// - Parameter fault: what is wrong with them; nil where nothing is.
  func readChecked<T: Decodable, Parts: Decodable>(_: Parts.Type, _ fault: (Parts) -> String?) throws -> T {
    let start = cursor
    if let fault = fault(try readByOwnCode(Parts.self)) {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: childPath, debugDescription: fault))
    }
    cursor = start
    return try readByOwnCode(T.self)
  }

  /// Reads the value of a record: never a reference to itself.
  @inline(__always)
  func readRoot<T: Decodable>(_ type: T.Type, _ kind: ValueKind) throws -> T {
    switch kind {
    case .elements, .unordered: try readCollection(type, types.facts(of: T.self).0)
    case .codable where try tag() == BodyTag.versioned: try readAroundVersion(type)
    case .codable, .prefixed, .reference, .interned: try readByOwnCode(type)
    case .own: try readOwn(type)
    default: try readSpecial(type, kind)
    }
  }

  @inline(__always)
  private func readSpecial<T: Decodable>(_ type: T.Type, _ kind: ValueKind) throws -> T {
    if kind.isPacked {
      // An array that was written by its own `encode(to:)` is read by its own `init(from:)`.
      if try !readPacked(kind) { return try readByOwnCode(type) }
      return scratch.take(as: T.self)
    }
    if kind == .own { return try readOwn(type) }
    if kind == .prefixed { return try readPrefixed(type) }
    if kind == .url, try isMap() { return try readByOwnCode(type) }
    try readScalar(kind, type)
    return scratch.take(as: T.self)
  }

  @inline(never)
  private func readPrefixed<T: Decodable>(_ type: T.Type) throws -> T {
    let facts = types.facts(of: T.self).0
    return try isMarked() ? readMarked(type, facts, .prefixed) : readUnwrapped(type, facts)
  }

  @inline(never)
  func readOwn<T: Decodable>(_ type: T.Type) throws -> T {
    let facts = types.facts(of: T.self).0
    if let form = facts.with({ $0.link }) {
      return Reinterpretation.value(heldBy: try readLink(form), as: type)
    }
    guard let own = facts.with({ $0.ownDecodable }) else { throw mismatch(type) }
    // T is that type: nothing is converted.
    func read<O: GraphDecodable>(_: O.Type) throws -> T {
      Reinterpretation.same(try O(fromGraph: self), as: T.self)
    }
    return try read(own)
  }

  /// Reads a value of a type that the format knows into the scratch memory.
  private func readScalar(_ kind: ValueKind, _ type: Any.Type) throws {
    let scratch = self.scratch
    switch kind {
    case .bool: scratch.put(as: Bool.self, try readBool())
    case .string: scratch.put(as: String.self, try readString())
    case .double: scratch.put(as: Double.self, try readDouble())
    case .float: scratch.put(as: Float.self, try readFloat())
    case .int: scratch.put(as: Int.self, try readInteger(Int.self))
    case .int8: scratch.put(as: Int8.self, try readInteger(Int8.self))
    case .int16: scratch.put(as: Int16.self, try readInteger(Int16.self))
    case .int32: scratch.put(as: Int32.self, try readInteger(Int32.self))
    case .int64: scratch.put(as: Int64.self, try readInteger(Int64.self))
    case .int128: scratch.put(as: Int128.self, try readInteger(Int128.self))
    case .uint: scratch.put(as: UInt.self, try readInteger(UInt.self))
    case .uint8: scratch.put(as: UInt8.self, try readInteger(UInt8.self))
    case .uint16: scratch.put(as: UInt16.self, try readInteger(UInt16.self))
    case .uint32: scratch.put(as: UInt32.self, try readInteger(UInt32.self))
    case .uint64: scratch.put(as: UInt64.self, try readInteger(UInt64.self))
    case .uint128: scratch.put(as: UInt128.self, try readInteger(UInt128.self))
    case .date, .data, .uuid, .url, .decimal: try readFoundation(kind)
    default: throw mismatch(type)
    }
  }

  @inline(__always)
  func isReference() throws -> Bool { BodyTag.isReference(try tag()) }

  /// Whether the value begins with a reference or a sync status: all first bytes from 1A to 1D, and C0 on.
  @inline(__always)
  func isMarked() throws -> Bool {
    let tag = try tag()
    return tag >= BodyTag.smallReference
      || tag &- BodyTag.reference8 <= BodyTag.syncStatus - BodyTag.reference8
  }

  /// The same, or with the version of a type: the next first byte, 1E.
  @inline(__always)
  private func isMarkedOrVersioned() throws -> Bool {
    let tag = try tag()
    return tag >= BodyTag.smallReference
      || tag &- BodyTag.reference8 <= BodyTag.versioned - BodyTag.reference8
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
      cursor += 1
    case BodyTag.reference8:
      index = Int(
        try BodyScanner.loadNumber(base, cursor + 1, width: 1, end: frame.end))
      cursor += 2
    case BodyTag.reference32:
      index = Int(
        try BodyScanner.loadNumber(base, cursor + 1, width: 4, end: frame.end))
      cursor += 5
    default: throw DamagedBytes.unknownTag(tag, cursor)
    }
    guard index < record.referenceCount else {
      throw DamagedBytes(reason: "reference \(index) is not in the record's table", offset: cursor)
    }
    return index
  }

  /// Whether an optional property is nil. One whose object is gone counts as nil; the target of a lazy reference is not looked
  /// for.
  @inline(__always)
  func isNullOrGone() throws -> Bool {
    if try tag() == BodyTag.null { return true }
    return try isReference() && isGone()
  }

  @inline(never)
  private func isGone() throws -> Bool {
    let cursor = self.cursor
    defer { self.cursor = cursor }
    let index = try readReferenceIndex()
    return try entry(ofReference: index).1 != .lazy && !walk.hasRecord(number(ofReference: index))
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

/// A type that reads itself through the coder's own functions.
protocol GraphDecodable {
  init(fromGraph state: DecoderPointer) throws
}

/// A type of Foundation whose own `init(from:)` ends the process when values are not valid, so that these are checked first. An
/// app may give it an identity or a version like any other type; it is then stored as such types are.
protocol CheckedFoundationType: GraphCodable, GraphDecodable {}

/// A type of linked properties.
protocol LinkDecodable: GraphDecodable {
  /// What it takes to read one.
  static var linkForm: LinkForm { get }
}

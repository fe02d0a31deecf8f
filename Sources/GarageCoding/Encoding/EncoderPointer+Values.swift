#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// What `encode<T>` writes, by the kind of the type.

extension EncoderPointer {
  /// Runs `body`, which begins a field and writes its value; takes back what it wrote when it throws.
  @inline(__always)
  func attempt(_ body: () throws -> Void) throws {
    let mark = mark()
    do {
      try body()
    } catch {
      rollBack(to: mark)
      throw error
    }
  }

  /// Makes `key` the current frame's step of the coding path.
  @inline(__always)
  func setChild<Key: CodingKey>(_ key: Key, _ keys: KeyTablePointer) { frame.child = step(key, keys) }

  /// The step of the coding path that `key` is, kept as long as the value of the current frame.
  @inline(__always)
  func step<Key: CodingKey>(_ key: Key, _ keys: KeyTablePointer) -> PathStep {
    guard keys.isByte else { return step(text: key) }
    let discriminator = discriminator(of: key)
    if !keys.hasNoted(discriminator) { note(key, discriminator, keys) }
    return .byte(keys, discriminator)
  }

  @inline(never)
  func step(text key: any CodingKey) -> PathStep {
    graph.pathKeys.append(key)
    return .key(graph.pathKeys.count - 1)
  }

  /// Runs `body` with `key` as the current frame's step of the coding path.
  func withKey<R>(_ key: any CodingKey, _ body: () throws -> R) throws -> R {
    graph.pathKeys.append(key)
    let count = graph.pathKeys.count
    defer {
      if graph.pathKeys.count >= count {
        graph.pathKeys.removeSubrange((count - 1)...)
      }
    }
    return try withChild(.key(count - 1), body)
  }

  @inline(__always)
  func withChild<R>(_ step: PathStep, _ body: () throws -> R) throws -> R {
    let before = frame.child
    frame.child = step
    defer { frame.child = before }
    return try body()
  }

  /// Writes an element of the current frame's array.
  @inline(__always)
  func writeElement<T: Encodable>(_ value: T) throws {
    let (facts, kind) = types.facts(of: T.self)
    try writeElement(value, facts, kind)
  }

  @inline(__always)
  func writeElement<T: Encodable>(_ value: T, _ facts: Permanent<TypeFacts>, _ kind: ValueKind) throws {
    if try writeScalar(value, kind) { return }
    let index = frame.count - 1
    try withChild(.index(index)) { try writeComposite(value, facts, kind) }
  }

  /// Writes a value of any type.
  @inline(__always)
  func writeAny<T: Encodable>(_ value: T) throws {
    let (facts, kind) = types.facts(of: T.self)
    if try writeScalar(value, kind) { return }
    try writeComposite(value, facts, kind)
  }

  /// Writes a value of a type that the format knows. False for all others.
  @inline(__always)
  func writeScalar<T>(_ value: T, _ kind: ValueKind) throws -> Bool {
    guard kind.isScalar else { return false }
    // The commonest types first. Their values need no address: to lend one costs a call that is not inlined.
    switch kind {
    case .date where !hasDateStrategy:
      write(date: Reinterpretation.same(value, as: Date.self).timeIntervalSinceReferenceDate)
      return true
    case .dates where !hasDateStrategy:
      try arrayElements.with(value, of: Date.self) { try writeDates($0) }
      return true
    case .strings:
      try arrayElements.with(value, of: String.self) { try writePacked(strings: $0) }
      return true
    default: break
    }
    return try withUnsafePointer(to: value) { try writeScalar(at: UnsafeRawPointer($0), kind) }
  }

  /// The same for the value at an address.
  func writeScalar(at value: UnsafeRawPointer, _ kind: ValueKind) throws -> Bool {
    switch kind {
    case .bool: write(value[as: Bool.self])
    case .string: try write(value[as: String.self])
    case .double: write(value[as: Double.self])
    case .float: write(value[as: Float.self])
    case .int: write(integer: Int64(value[as: Int.self]))
    case .int8: write(integer: Int64(value[as: Int8.self]))
    case .int16: write(integer: Int64(value[as: Int16.self]))
    case .int32: write(integer: Int64(value[as: Int32.self]))
    case .int64: write(integer: value[as: Int64.self])
    case .int128: write(integer: value[as: Int128.self])
    case .uint: write(integer: UInt64(value[as: UInt.self]))
    case .uint8: write(integer: UInt64(value[as: UInt8.self]))
    case .uint16: write(integer: UInt64(value[as: UInt16.self]))
    case .uint32: write(integer: UInt64(value[as: UInt32.self]))
    case .uint64: write(integer: value[as: UInt64.self])
    case .uint128: write(integer: value[as: UInt128.self])
    case .date:
      if hasDateStrategy { return false }
      write(date: value[as: Date.self].timeIntervalSinceReferenceDate)
    case .uuid: append(BodyTag.uuid, value[as: UUID.self].uuid)
    case .data: try value[as: Data.self].withUnsafeBytes { try write(data: $0) }
    case .url: return try write(url: value[as: URL.self])
    case .decimal: write(decimal: value[as: Decimal.self])
    case .dates where hasDateStrategy: return false
    case .codable, .prefixed, .unordered, .own, .reference, .interned, .elements: return false
    default: try writePacked(at: value, kind)
    }
    return true
  }

  /// A URL is its text. One relative to a base has two parts, which its own `encode(to:)` keeps.
  private func write(url: URL) throws -> Bool {
    guard url.baseURL == nil else { return false }
    try write(url.absoluteString)
    return true
  }

  func write(decimal: Decimal) {
    append(atMost: 2 + DecimalText.maximumByteCount) { place in
      let count = DecimalText.write(decimal, to: place + 2)
      place.store(BodyTag.decimal)
      (place + 1).store(UInt8(truncatingIfNeeded: count))
      return 2 + count
    }
  }

  /// Writes a value that has parts or an identity.
  @inline(__always)
  func writeComposite<T: Encodable>(_ value: T, _ facts: Permanent<TypeFacts>, _ kind: ValueKind) throws {
    switch kind {
    case .reference where !inlinesEverything: try writeReference(to: value, .eager)
    case .interned where !inlinesEverything: try writeInterned(value, facts)
    case .prefixed: try writePrefixed(value, facts)
    case .unordered: try writeUnordered(value)
    case .own: try writeOwn(value, facts)
    case .date: try writeDate(value)
    case .elements: try writeInPlace(value, facts)
    default: try writeByOwnCode(value)
    }
  }

  /// Writes the value of a record: itself, not a reference to itself.
  func writeRoot<T: Encodable>(_ value: T) throws {
    let (_, kind) = types.facts(of: T.self)
    if try writeScalar(value, kind) { return }
    switch kind {
    case .unordered: try writeUnordered(value)
    case .date: try writeDate(value)
    default: try writeByOwnCode(value)
    }
  }

  /// Writes a value by its own `encode(to:)`.
  @inline(__always)
  func writeByOwnCode<T: Encodable>(_ value: T) throws {
    let serial = try openFrame()
    do {
      try value.encode(to: ValueEncoder(state: self, serial: serial))
      try closeFrame(serial)
    } catch {
      leaveFrame(serial)
      throw error
    }
    leaveFrame(serial)
  }

  /// Writes a value whose type is `Date`, where there is a strategy.
  private func writeDate<T>(_ date: T) throws {
    try withUnsafePointer(to: date) { try write(byStrategy: UnsafeRawPointer($0)[as: Date.self]) }
  }

  /// Writes a value behind its sync status and the version of its type, which are no part of its identity. A null with a status
  /// stays a null. A mapped object is written as one of its own class, and names that class where the property has another.
  private func writePrefixed<T: Encodable>(_ value: T, _ facts: Permanent<TypeFacts>) throws {
    if isCanonical { return try writeByOwnCode(value) }
    var facts = facts.object
    if facts.mapping != nil {
      let own = types.facts(ofObject: value).object
      namesClass = own !== facts
      facts = own
    }
    defer { namesClass = false }
    let start = output.count
    let status = facts.isSyncable ? facts.syncStatus(of: value) : nil
    append(atMost: InlinePrefix.maximumByteCount) {
      InlinePrefix.write(status, version: facts.version, to: $0)
    }
    let content = output.count
    try writeByOwnCode(value)
    if status != nil, output.count == content + 1, output.base[content] == BodyTag.null {
      output.count = start
      writeNull()
    }
  }

  @inline(__always)
  private func writeOwn<T: Encodable>(_ value: T, _ facts: Permanent<TypeFacts>) throws {
    guard let own = facts.with({ $0.ownEncodable }) else { return }
    try withUnsafePointer(to: value) { try own.encode(at: UnsafeRawPointer($0), toGraph: self) }
  }

  private func writeUnordered<T: Encodable>(_ value: T) throws {
    func write<C: UnorderedCollection>(_: C.Type) throws {
      try withUnsafePointer(to: value) { value in
        try withFrame { serial in
          try UnsafeRawPointer(value)[as: C.self].encodeOrdered(to: self, serial: serial)
        }
      }
    }
    if let unordered = types.facts(of: T.self).0.with({ $0.unordered }) { try write(unordered) }
  }
}

// MARK: - References

extension EncoderPointer {
  /// Writes a reference to an object and queues the object.
  func writeReference<T: Encodable>(to value: T, _ kind: ReferenceKind) throws {
    try writeReference(to: value, types.facts(of: T.self).0, kind)
  }

  /// - Parameter declared: what is known of `T`.
  @inline(__always)
  func writeReference<T: Encodable>(to value: T, _ declared: Permanent<TypeFacts>, _ kind: ReferenceKind)
    throws
  {
    // A class's tags come from the object, not from the property that holds it.
    let facts = types.facts(ofObject: value, declared)
    let writer = withCore { $0.identifierWriter }
    let tag = try facts.with { facts in
      try withUnsafePointer(to: value) {
        try facts.writeIdentifier(of: UnsafeRawPointer($0), &writer.pointee)
      }
      return try facts.identityDigest()
    }
    writeReference(tag, writer.pointee.bytes, to: value, facts, kind)
  }

  /// Writes a reference to an identity without an object.
  func writeReference(to identity: RecordIdentity, of type: Any.Type, _ kind: ReferenceKind) {
    if isCanonical {
      return identity.identifier.bytes.withUnsafeBytes { writeCanonicalReference(identity.tag, $0) }
    }
    let facts = types.facts(of: type).0
    if kind == .lazy { return writeReference(index: graph.lazyReferenceIndex(of: identity, facts)) }
    let entry = graph.noteIdentity(identity, facts)
    writeReference(index: graph.referenceIndex(of: entry, kind))
  }

  /// Writes a reference to an object and queues that.
  @inline(__always)
  private func writeReference<T: Encodable>(
    _ tag: UInt64, _ identifier: UnsafeRawBufferPointer, to object: T, _ facts: Permanent<TypeFacts>,
    _ kind: ReferenceKind
  ) {
    if isCanonical { return writeCanonicalReference(tag, identifier) }
    let entry = graph.enqueueChild(tag: tag, identifier, object, facts)
    writeReference(index: graph.referenceIndex(of: entry, kind))
  }

  private func writeInterned<T: Encodable>(_ value: T, _ facts: Permanent<TypeFacts>) throws {
    // A mapped object is written as one of its own class, whatever the class of the property is.
    let isMapped = facts.with { $0.mapping != nil }
    let facts = isMapped ? types.facts(ofObject: value) : facts
    let tag = try facts.object.identityDigest()
    let digest = try canonicalDigest(of: value, userInfo: core.userInfo)
    let writer = core.identifierWriter
    writer.pointee.removeAll()
    writer.pointee.write(digest: digest)
    writeReference(tag, writer.pointee.bytes, to: value, facts, .eager)
  }

  @inline(__always)
  func writeReference(index: Int) {
    if index < 32 {
      append(BodyTag.smallReference | UInt8(truncatingIfNeeded: index))
    } else if index < 256 {
      append(BodyTag.reference8, UInt8(truncatingIfNeeded: index))
    } else {
      append(BodyTag.reference32, UInt32(truncatingIfNeeded: index).littleEndian)
    }
  }

  private func writeCanonicalReference(_ tag: UInt64, _ identifier: UnsafeRawBufferPointer) {
    append(BodyTag.canonicalReference, tag.bigEndian)
    appendVarint(identifier.count)
    append(identifier)
  }
}

/// The beginning of the digest of a value's canonical bytes: map keys, sets and dictionaries sorted,
/// nil and the value's own sync status left out, references as type tag and identifier, equal strings and numbers
/// alike. They depend on nothing in the process.
func canonicalDigest<T: Encodable>(of value: T, userInfo: [CodingUserInfoKey: any Sendable]) throws
  -> (UInt64, UInt64)
{
  try EncodingCore.withCore(userInfo: userInfo, isCanonical: true) { core in
    let facts = core.state.types.facts(ofObject: value).object
    if !facts.isSyncable { return ContentDigest.digest16(of: try core.body(of: value)) }
    core.leavesOutSyncStatus = true
    return ContentDigest.digest16(of: try core.body(of: facts.withoutSyncStatus(value)))
  }
}

// MARK: - Hooks

/// A type that writes and reads itself through the coder's own functions.
protocol GraphCodable {
  /// Writes the value at an address, where it stands: to copy it would take longer.
  static func encode(at address: UnsafeRawPointer, toGraph state: EncoderPointer) throws
}

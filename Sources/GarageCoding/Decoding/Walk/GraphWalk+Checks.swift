// Checks that a record is of the class that is asked for, and of the identity that it is kept under.

extension GraphWalk {
  /// The record holds an object of none of the classes that were asked for.
  struct OtherClass: Error {}

  /// The class that a record's object has.
  ///
  /// - Throws: also ``OtherClass``, where it is none of `type`'s.
  @inline(__always)
  func concreteType<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, _ record: ParsedRecord, _ key: RecordKey
  ) throws -> TypeFacts {
    if !facts.isClass || facts.rootIdentification == .none { return facts }
    // A type around the object has no identity that the record could be kept under.
    if facts.kind == .codable || facts.kind == .prefixed, !facts.isNamed(by: key.tag) { return facts }
    return try concreteClass(type, facts, record, key)
  }

  private func concreteClass<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, _ record: ParsedRecord, _ key: RecordKey
  ) throws -> TypeFacts {
    let digest = record.concreteTag ?? key.tag
    let tags = try facts.tags()
    if tags.concrete.digest == digest { return facts }
    if record.concreteTag == nil, tags.identity == tags.concrete {
      return facts.mapping == nil ? facts : try mappedClass(facts, digest, key)
    }
    if record.concreteTag == nil, tags.identity.digest == digest || tags.formerDigests.contains(digest) {
      // An object of the topmost class, which is a superclass of `type`.
      throw OtherClass()
    }
    guard let concrete = knownClass(tag: digest) else {
      throw GraphCodingError.unregisteredSubclass(
        tag: try source.tagName(digest) ?? "an unknown class", type: facts.name, identifier: key.text)
    }
    guard concrete is T.Type else { throw OtherClass() }
    return state.types.facts(of: concrete).0.object
  }

  /// The class with this tag, where somebody named it.
  func knownClass(tag: UInt64) -> (any Decodable.Type)? { types.byTag[tag] ?? plan.type(concreteTag: tag) }

  /// The identity of a decoded value must be that of its record.
  func checkIdentity(
    of value: UnsafeRawPointer, _ facts: Permanent<TypeFacts>, _ key: RecordKey, _ parsed: ParsedRecord,
    _ record: UnsafeRawBufferPointer
  ) throws {
    try facts.with { facts in
      if parsed.wholeIdentifier == nil, facts.isSurely(key.identifier, at: value) { return }
      try facts.writeIdentifier(of: value, &identifierWriter.pointee)
      try compareIdentity(facts, key, parsed, record)
    }
  }

  /// A cut identifier's key holds its digest; the record must hold the very identifier that was asked for.
  @inline(__always)
  func checkWholeIdentifier(_ parsed: ParsedRecord, _ number: Int, _ record: UnsafeRawBufferPointer) throws {
    guard let full = parsed.wholeIdentifier, number >= 0 else { return }
    if compareBytes(identities.identifier(of: number), UnsafeRawBufferPointer(rebasing: record[full])) != 0 {
      throw DamagedBytes(reason: "it holds another object's identifier", offset: full.lowerBound)
    }
  }

  /// The decoded object, whose identifier was written, must have the identity that its record is kept under.
  @inline(__always)
  private func compareIdentity(
    _ facts: TypeFacts, _ key: RecordKey, _ parsed: ParsedRecord, _ record: UnsafeRawBufferPointer
  ) throws {
    let wanted = parsed.wholeIdentifier.map { UnsafeRawBufferPointer(rebasing: record[$0]) } ?? key.identifier
    if compareBytes(identifierWriter.pointee.bytes, wanted) == 0 { return }
    // A value that was parked before its type had an `id` is kept under its digest.
    if wanted.first == IdentifierKind.digest.rawValue { return }
    throw GraphCodingError.identityMismatch(
      type: facts.name, recordIdentifier: Identifier(unchecked: Array(wanted)).description,
      decodedIdentifier: Identifier(identifierWriter.pointee).description)
  }
}

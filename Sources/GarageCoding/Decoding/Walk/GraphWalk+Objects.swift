// Deciding which record is decoded as what, and decoding it.

extension GraphWalk {
  /// The object with that number as a `T`; nil where there is no record, or one of another class.
  func object<T: Decodable>(_ type: T.Type, _ facts: Permanent<TypeFacts>, _ number: Int) throws -> T? {
    let number = try load(type, facts, number)
    return number < 0 ? nil : loaded(type, number)
  }

  /// Decodes the object with that number, if that was not done, and returns the number under which
  /// ``loaded(_:_:)`` has it: -1 where there is no record, or one of another class.
  func load<T: Decodable>(_ type: T.Type, _ facts: Permanent<TypeFacts>, _ named: Int) throws -> Int {
    if records[named].hasValue(type, facts) {
      if records[named].isUnfinished { records[named].isLent = true }
      return named
    }
    learn(tag: identities.tag(of: named), facts)
    let number = current(named)
    if number != named, records[number].hasValue(type, facts) { return number }
    let known = facts.object
    if records[number].isActive(type, known) { throw state.fail(try cycle(to: number)) }
    if records[number].hasFailures, let failure = records[number].failure(type) {
      throw failure.isFinal ? state.fail(failure.error) : failure.error
    }
    if recordDepth >= GraphWalk.onDemandDepth || StackLimit.remaining < GraphWalk.planningStack {
      try prepare(number)
      if records[number].hasValue(type, facts) { return number }
    }
    guard StackLimit.hasRoom else { throw state.fail(GraphCodingError.nestingTooDeep(depth: recordDepth)) }
    recordDepth += 1
    defer { recordDepth -= 1 }
    var isThere = false
    try withRecord(number) { key, record in
      guard let record else { return }
      do {
        var concrete = facts
        // The object is made in its place at once, and the caller takes a copy from there.
        let place = arena.place(for: type)
        place.initializeMemory(
          as: type, to: try decodeRecord(type, known, number: number, key, record, &concrete))
        records[number].store(place, concrete)
        fills.noteDecoded(number)
        isThere = true
      } catch is OtherClass {}
    }
    return isThere ? number : -1
  }

  /// The object of a number that ``load(_:_:_:)`` returned for the same type.
  @inline(__always)
  func loaded<T>(_ type: T.Type, _ number: Int) -> T { GraphNode.value(records.base + number, type) }

  /// Decodes a root whose bytes are at hand.
  ///
  /// An object that nothing can refer to by identity, and whose own references are all lazy, needs no number.
  ///
  /// - Parameter number: that of its identity; -1 where it has none yet.
  /// - Throws: also ``OtherClass``.
  func root<T: Decodable>(
    _ type: T.Type, _ facts: Permanent<TypeFacts>, _ key: RecordKey, _ record: UnsafeRawBufferPointer,
    number: Int
  ) throws -> T {
    if identities.count == 0, let flags = RecordHead.uncheckedFlags(record),
      !flags.contains(.typeVersion), facts.with({ $0.isUniform }), ParsedRecord.isLazy(flags, record)
    {
      return try decodeAlone(type, facts, key, record)
    }
    return try numberedRoot(type, facts, key, record, number: number)
  }

  /// Decodes a root that nothing is fetched for, and that nothing can refer to by identity.
  @inline(__always)
  private func decodeAlone<T: Decodable>(
    _ type: T.Type, _ facts: Permanent<TypeFacts>, _ key: RecordKey, _ record: UnsafeRawBufferPointer
  ) throws -> T {
    let fillCount = fills.newCount
    do {
      let parsed = try ParsedRecord(key, record)
      defer { state.leaveRoot() }
      try state.enterRoot(parsed, isDigest: key.isDigest)
      var value = try state.readRoot(type, facts.with { $0.kind })
      if let failure = state.failure { throw failure }
      if facts.with({ $0.rootIdentification == .identifier }), !key.isDigest {
        try withUnsafeMutablePointer(to: &value) {
          try checkIdentity(of: UnsafeRawPointer($0), facts, key, parsed, record)
        }
      }
      if let status = parsed.syncStatus, facts.with({ $0.isSyncable }) {
        facts.object.setSyncStatus(status, of: &value)
      }
      return value
    } catch {
      dropWaiting(owner: -1, from: fillCount)
      throw naming(error, inRecordOf: facts.object.name, key)
    }
  }

  @inline(never)
  private func numberedRoot<T: Decodable>(
    _ type: T.Type, _ facts: Permanent<TypeFacts>, _ key: RecordKey, _ record: UnsafeRawBufferPointer,
    number known: Int
  ) throws -> T {
    let object = facts.object
    var concrete = facts
    if identities.count == 0, !object.isClass, let flags = RecordHead.uncheckedFlags(record),
      !flags.contains(.references)
    {
      return try decodeRecord(type, object, number: -1, key, record, &concrete)
    }
    var identifier = key.identifier
    if Identifier.isCut(byteCount: identifier.count) {
      do {
        guard let full = try ParsedRecord(key, record).wholeIdentifier else {
          throw DamagedBytes(reason: "its whole identifier is missing", offset: 1)
        }
        identifier = UnsafeRawBufferPointer(rebasing: record[full])
      } catch {
        throw naming(error, inRecordOf: object.name, key)
      }
    }
    // Before the object gets its number, so that it is the one of the tag that its type has by now.
    learn(tag: key.tag, facts)
    let number = known >= 0 ? known : self.number(tag: key.tag, identifier)
    if records[number].hasValue(type, facts) { return loaded(type, number) }
    learn(tag: identities.tag(of: number), facts)
    recordDepth += 1
    defer { recordDepth -= 1 }
    let place = arena.place(for: type)
    place.initializeMemory(
      as: type, to: try decodeRecord(type, object, number: number, key, record, &concrete))
    records[number].store(place, concrete)
    fills.noteDecoded(number)
    return loaded(type, number)
  }

  /// Decodes one record, whose references it fetches on the way.
  ///
  /// - Parameter found: becomes what is known of the object's own class.
  private func decodeRecord<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, number: Int, _ key: RecordKey, _ record: UnsafeRawBufferPointer,
    _ found: inout Permanent<TypeFacts>
  ) throws -> T {
    let fillCount = fills.newCount
    do {
      let parsed = try ParsedRecord(key, record)
      try checkWholeIdentifier(parsed, number, record)
      let concrete = try concreteType(type, facts, parsed, key)
      if number < 0 { return try decodeBody(type, facts, concrete, number: number, parsed, key, record) }
      if concrete !== facts { found = Permanent(concrete) }
      records[number].activate(concrete.type)
      defer { records[number].deactivate() }
      return try decodeBody(type, facts, concrete, number: number, parsed, key, record)
    } catch {
      // Nobody will see this object: nothing is to be filled in.
      dropWaiting(owner: number, from: fillCount)
      let error = naming(error, inRecordOf: found.object.name, key)
      // But an object that was given the unfinished one must not be handed out.
      if number >= 0, records[number].takeBack() { throw state.fail(error) }
      throw error
    }
  }

  @inline(__always)
  private func decodeBody<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, _ concrete: TypeFacts, number: Int, _ parsed: ParsedRecord,
    _ key: RecordKey,
    _ record: UnsafeRawBufferPointer
  ) throws -> T {
    let outer = state.outerRecord
    defer { state.leaveRecord(outer) }
    let isWrapped = number >= 0 && (facts.kind == .codable || facts.kind == .prefixed)
    try state.enterRecord(parsed, number: number, isWrapped: isWrapped, isDigest: key.isDigest, outer)
    var value: T
    if concrete.evolution == nil && parsed.typeVersion == 0 {
      value =
        concrete === facts ? try state.readRoot(type, facts.kind) : try decodeSubclass(concrete, of: type)
    } else {
      value = try readEvolved(concrete, parsed, key) {
        concrete === facts ? try state.readRoot(type, facts.kind) : try decodeSubclass(concrete, of: type)
      }
    }
    if let failure = state.failure { throw failure }
    // Otherwise the object was parked before its type had an identifier, and has been known by its content.
    if concrete.rootIdentification == .identifier, !key.isDigest {
      try withUnsafeMutablePointer(to: &value) {
        try checkIdentity(of: UnsafeRawPointer($0), Permanent(concrete), key, parsed, record)
      }
    }
    if concrete.isSyncable, let status = parsed.syncStatus { concrete.setSyncStatus(status, of: &value) }
    return value
  }

  /// Decodes the value of a typed key, whose bytes are at hand: a root that nothing can refer to.
  func value<T: Decodable>(_ type: T.Type, _ parsed: ParsedRecord, key: CheckedKey) throws -> T {
    // No type has the tag 0. The number is needed by properties that wait to be filled in.
    let number = self.number(tag: 0, key.bytes)
    recordDepth += 1
    defer { recordDepth -= 1 }
    let outer = state.outerRecord
    defer { state.leaveRecord(outer) }
    try state.enterRecord(parsed, number: number, isWrapped: false, isDigest: false, outer)
    let value = try state.readByOwnCode(HeldValue<T>.self)
    if let failure = state.failure { throw failure }
    fills.noteDecoded(number)
    return value.value
  }

  private func decodeSubclass<T: Decodable>(_ concrete: TypeFacts, of type: T.Type) throws -> T {
    func decode<C: Decodable>(_ concrete: C.Type) throws -> any Decodable {
      try state.readByOwnCode(concrete)
    }
    guard let decodable = concrete.decodable, let object = try decode(decodable) as? T else {
      throw state.mismatch(type)
    }
    return object
  }
}

// Values of `Evolving` types, and keys that a record lacks. An old value becomes a body of its own, which is then
// decoded as any other; nothing here concerns a type that does not evolve.

extension DecoderPointer {
  /// Reads the value at the cursor, of an evolving type that is neither a reference nor a whole record.
  @inline(never)
  func readEvolving<T: Decodable>(_ type: T.Type, _ facts: TypeFacts) throws -> T {
    var version = 0
    let start = cursor
    let end = try BodyScanner.skipValue(base, start, end: frame.end)
    // Skips its sync status, if the type has none any more.
    cursor = InlinePrefix.skipSyncStatus(base, start, end: end)
    if try tag() == BodyTag.versioned {
      (version, cursor) = try InlinePrefix.readVersion(base, cursor, end: end)
    }
    guard let evolution = facts.evolution else { return try readByOwnCode(type) }
    settleLook(at: start)
    let value = try evolving(evolution, facts, version, pathCount: childPathCount) { try readByOwnCode(type) }
    cursor = end
    return value
  }

  /// Reads the value at the cursor by `body`, which finds it there in the form of the type's present version.
  func evolving<R>(
    _ evolution: Evolution, _ facts: TypeFacts, _ version: Int, pathCount: Int, _ body: () throws -> R
  ) throws -> R {
    if version > evolution.version {
      throw NewerInlineVersion(
        type: facts.name, version: version, known: evolution.version, path: childPath)
    }
    core.scopes.append(
      EvolvingScope(evolution: evolution, recordSerial: record.serial, pathCount: pathCount))
    defer { core.scopes.removeLast() }
    let reader = bodyReader
    let end = frame.end
    let isPresent =
      try version == evolution.version
      && (evolution.olderKeys.isEmpty
        || !reader.hasField(
          evolution.olderKeys, countsAbsent: evolution.countsAbsent, at: cursor, end: end))
    if isPresent { return try body() }
    var value = try reader.value(at: cursor, end: end)
    try evolution.upgrade(&value, from: version)
    return try inside(try keep(value), body)
  }

  /// Reads a value from a tree instead of the value at the cursor.
  func read<T: Decodable>(_ type: T.Type, from value: RecordValue) throws -> T {
    try inside(try keep(value)) { try readAny(type) }
  }

  /// Makes other bytes than the record's own the value at the cursor while `body` reads it.
  private func inside<R>(_ value: Range<Int>, _ body: () throws -> R) throws -> R {
    push(
      DecodingFrame(
        serial: nextSerial(), position: Int32(truncatingIfNeeded: openFrameCount),
        depth: Int32(truncatingIfNeeded: depth), start: value.lowerBound, end: value.upperBound,
        valueEnd: value.upperBound, indexBase: input.offsets.count, offsetBase: input.offsets.count,
        outer: input.framePlace))
    cursor = value.lowerBound
    defer { popFrame() }
    return try body()
  }

  private var bodyReader: BodyReader {
    let state = self
    return BodyReader(
      base: self.base, shape: { try state.shape(at: $0) },
      reference: { index in
        guard index < state.record.referenceCount else {
          throw DamagedBytes(reason: "reference \(index) is not in the record's table", offset: 0)
        }
        return state.entry(ofReference: index)
      })
  }

  // MARK: - Keys without a value

  /// Reads a key for which the map being read has no value, from a prototype; nil where none has it.
  @inline(never)
  func readMissing<T: Decodable>(_ type: T.Type, _ key: any CodingKey) throws -> T? {
    guard let value = try prototypeValue(key) else { return nil }
    // With the key before it, so that errors inside name it.
    let map = try keep(.map([key.stringValue: value]))
    guard
      let header = try ContainerHeader.read(
        base, map.lowerBound, end: map.upperBound, small: BodyTag.mapSmall, large: BodyTag.mapLarge)
    else { return nil }
    var content = header.content
    _ = try BodyScanner.readKey(base, &content, end: header.end)
    let current = frame.current
    frame.current = -1
    push(
      DecodingFrame(
        serial: nextSerial(), kind: .map, position: Int32(truncatingIfNeeded: openFrameCount),
        depth: Int32(truncatingIfNeeded: depth), start: map.lowerBound, end: header.end, valueEnd: header.end,
        content: header.content, current: 0, currentKey: header.content,
        indexBase: input.offsets.count, offsetBase: input.offsets.count,
        outer: input.framePlace))
    cursor = content
    defer {
      popFrame()
      frame.current = current
    }
    return try readAny(type)
  }

  /// The bounds of a prototype's value for a key for which the map being read has none.
  @inline(never)
  func missingValue(_ key: any CodingKey) throws -> Range<Int>? {
    guard let value = try prototypeValue(key) else { return nil }
    return try keep(value)
  }

  /// What the prototypes of the values that are being decoded, the innermost first, have for a key.
  @inline(never)
  func prototypeValue(_ key: any CodingKey) throws -> RecordValue? {
    let core = core
    if core.scopes.isEmpty { return nil }
    let path = codingPath + [key]
    for scope in core.scopes.reversed() {
      guard scope.recordSerial == record.serial, scope.pathCount < path.count else { break }
      guard let prototype = try scope.evolution.prototype(core.userInfo) else { continue }
      if let value = prototype.value(at: path.dropFirst(scope.pathCount)) {
        walk.lend(prototype.records)
        return value
      }
    }
    return nil
  }
}

extension DecoderPointer {
  /// Writes a tree out for the record that is being decoded. Offsets count from the record's first byte; the
  /// references and shapes join its tables.
  func keep(_ value: RecordValue) throws -> Range<Int> {
    let ofRecord = (0..<record.shapeCount).map { shapes[record.shapeBase &+ $0] }
    let body = try BodyWriter.body(
      of: value, firstReference: record.referenceCount, .any(behind: ofRecord))
    for (identity, kind) in body.references {
      appendReference(kind, identity.tag, keepBytes(identity.identifier.bytes))
    }
    for shape in body.shapes[ofRecord.count...] {
      shapes.append(shape)
      record.shapeCount += 1
    }
    let start = keepBytes(body.bytes).baseAddress.unsafelyUnwrapped - base
    return start..<(start + body.bytes.count)
  }
}

extension GraphWalk {
  /// Reads a record of a type that evolves, or of one that did, by `body`, which finds it in the form of the type's
  /// present version.
  @inline(never)
  func readEvolved<R>(_ facts: TypeFacts, _ parsed: ParsedRecord, _ key: RecordKey, _ body: () throws -> R)
    throws -> R
  {
    // A type around the object leaves reading it to the object's type.
    guard facts.isNamed(by: parsed.concreteTag ?? key.tag) else { return try body() }
    let known = facts.evolution?.version ?? 0
    guard parsed.typeVersion <= known, let evolution = facts.evolution else {
      throw GraphCodingError.newerVersion(
        type: facts.name, identifier: key.text, version: parsed.typeVersion, known: known)
    }
    return try state.evolving(evolution, facts, parsed.typeVersion, pathCount: 0, body)
  }
}

extension TypeFacts {
  /// Whether records of the type bear this tag: its own or that of its identity space, present or former.
  func isNamed(by tag: UInt64) -> Bool {
    if let tags = try? tags(), [tags.identity, tags.concrete].contains(where: { $0.digest == tag }) {
      return true
    }
    if (try? tags())?.formerDigests.contains(tag) == true { return true }
    let own = (try? TypeTag.of(type)).map { [$0] } ?? []
    return (own + TypeTag.former(of: type)).contains { $0.digest == tag }
  }
}

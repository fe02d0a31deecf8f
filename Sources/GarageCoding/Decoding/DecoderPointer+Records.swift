// Records inside records: a reference that is followed while its owner is being decoded.

/// Where the decoder stood when a record was begun, to go back to.
struct OuterRecord {
  fileprivate var base: UnsafeRawPointer
  fileprivate var cursor: Int
  fileprivate var record: RecordContext
  fileprivate var depth: Int
  fileprivate var frame: UnsafeMutablePointer<DecodingFrame>
  fileprivate var frameCount: Int
  fileprivate var offsetCount: Int
  fileprivate var referenceCount: Int
  fileprivate var shapeCount: Int
  fileprivate var unpackedCount: Int
}

extension DecoderPointer {
  /// Taken before ``enterRecord(_:number:isWrapped:isDigest:_:)`` and handed to ``leaveRecord(_:)`` at the end.
  @inline(__always)
  var outerRecord: OuterRecord {
    OuterRecord(
      base: self.base, cursor: self.cursor, record: self.record, depth: self.depth,
      frame: input.framePlace, frameCount: openFrameCount,
      offsetCount: input.offsets.count, referenceCount: references.count,
      shapeCount: shapes.count, unpackedCount: unpacked.count)
  }

  func leaveRecord(_ outer: OuterRecord) {
    base = outer.base
    cursor = outer.cursor
    record = outer.record
    depth = outer.depth
    input.framePlace = outer.frame
    forgetFrames(from: outer.frameCount)
    input.offsets.truncate(to: outer.offsetCount)
    references.truncate(to: outer.referenceCount)
    shapes.truncate(to: outer.shapeCount)
    while unpacked.count > outer.unpackedCount { unpacked.removeLast().deallocate() }
    if outer.frameCount == 0 { forgetNestedKeys() }
  }

  /// Makes `record` the one being decoded.
  ///
  /// - Parameters:
  ///   - number: its number in the graph, -1 without one.
  ///   - isWrapped: whether what is asked for can only be something around the object.
  func enterRecord(
    _ record: ParsedRecord, number: Int, isWrapped: Bool, isDigest: Bool, _ outer: OuterRecord
  ) throws {
    try appendReferences(of: record)
    try record.forEachShape { digest in shapes.append(try shape(digest)) }
    base = record.base
    cursor = record.body.lowerBound
    depth = 0
    self.record = RecordContext(
      serial: nextSerial(), number: number, referenceBase: outer.referenceCount,
      referenceCount: references.count - outer.referenceCount, shapeBase: outer.shapeCount,
      shapeCount: shapes.count - outer.shapeCount,
      wrappedOffset: isWrapped ? record.body.lowerBound : -1, isDigest: isDigest,
      frameBase: outer.frameCount + 1)
    push(
      DecodingFrame(
        position: Int32(truncatingIfNeeded: outer.frameCount), start: record.body.lowerBound,
        end: record.body.upperBound, valueEnd: record.body.upperBound, indexBase: outer.offsetCount,
        offsetBase: outer.offsetCount))
    let end = try BodyScanner.skipValue(record.base, record.body.lowerBound, end: record.body.upperBound)
    guard end == record.body.upperBound else {
      throw DamagedBytes(reason: "bytes are left over behind the value", offset: end)
    }
  }

  @inline(__always)
  private func appendReferences(of record: ParsedRecord) throws {
    let walk = walk
    try record.forEachReference { kind, tag, identifier in
      // The memory in which the number will be looked for is loaded by the time that the number is asked for.
      let hash = kind == .lazy ? 0 : walk.prefetch(tag: tag, identifier)
      references.append(
        ReferenceEntry(kind: kind, hash: hash, number: -1, tag: tag, identifier: identifier))
    }
  }

  /// Makes a record the one being decoded, where no other one is. ``leaveRoot()`` follows.
  @inline(__always)
  func enterRoot(_ record: ParsedRecord, isDigest: Bool) throws {
    if record.references != nil { try appendReferences(of: record) }
    try record.forEachShape { digest in shapes.append(try shape(digest)) }
    base = record.base
    cursor = record.body.lowerBound
    depth = 0
    self.record = RecordContext(
      serial: nextSerial(), referenceCount: references.count, shapeCount: shapes.count, isDigest: isDigest)
    frame = DecodingFrame(
      start: record.body.lowerBound, end: record.body.upperBound, valueEnd: record.body.upperBound)
    let end = try BodyScanner.skipValue(record.base, record.body.lowerBound, end: record.body.upperBound)
    guard end == record.body.upperBound else {
      throw DamagedBytes(reason: "bytes are left over behind the value", offset: end)
    }
  }

  /// Nothing is being decoded any more: a container that user code kept finds no frame of its own.
  @inline(__always)
  func leaveRoot() {
    base = scratch.address
    record = RecordContext()
    // The record's own frame has no serial that anybody could have.
    frame.end = 0
    frame.valueEnd = 0
    input.offsets.truncate(to: 0)
    references.truncate(to: 0)
    shapes.truncate(to: 0)
    while unpacked.count > 0 { unpacked.removeLast().deallocate() }
    forgetNestedKeys()
  }

  @inline(__always)
  private func forgetNestedKeys() {
    withCore { core in
      if !core.nestedKeys.isEmpty { core.nestedKeys = [] }
    }
  }

  /// Copies bytes to where they stay as long as the record is being decoded. Before them stands as much other memory as reading
  /// a short string may touch.
  func keepBytes(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: ShortStrings.room + bytes.count)
    memory.initialize(repeating: 0)
    unpacked.append(memory)
    let kept = UnsafeMutableBufferPointer(rebasing: memory[ShortStrings.room...])
    _ = kept.update(fromContentsOf: bytes)
    return UnsafeRawBufferPointer(kept)
  }

  // MARK: - The record's tables

  @inline(__always)
  private func shape(_ digest: UInt64) throws -> Permanent<Shape> {
    if let shape = shapeCache[digest] { return shape }
    let shape = try walk.shape(digest)
    shapeCache[digest] = shape
    return shape
  }

  /// The shape at a place of the current record's table.
  @inline(__always)
  func shape(at index: Int) throws -> Permanent<Shape> {
    guard index < record.shapeCount else {
      throw DamagedBytes(reason: "shape \(index) is not in the record's table", offset: 0)
    }
    return shapes[record.shapeBase &+ index]
  }

  /// The number in the graph of what an entry of the current record's table names.
  func number(ofReference index: Int) -> Int {
    let at = record.referenceBase + index
    let entry = references[at]
    if entry.number >= 0 { return Int(entry.number) }
    let number =
      entry.kind == .lazy
      ? walk.number(tag: entry.tag, entry.identifier)
      : walk.number(tag: entry.tag, entry.identifier, hash: entry.hash)
    references[at].number = Int32(truncatingIfNeeded: number)
    return number
  }

  func identity(ofReference index: Int) -> RecordIdentity {
    let entry = references[record.referenceBase + index]
    return RecordIdentity(tag: entry.tag, identifier: Identifier(unchecked: Array(entry.identifier)))
  }
  func entry(ofReference index: Int) -> (RecordIdentity, ReferenceKind) {
    (identity(ofReference: index), references[record.referenceBase + index].kind)
  }

  /// Adds to the current record's table; its entries are the last there are.
  func appendReference(_ kind: ReferenceKind, _ tag: UInt64, _ identifier: UnsafeRawBufferPointer) {
    references.append(
      ReferenceEntry(
        kind: kind, hash: 0, number: -1, tag: tag, identifier: identifier))
    record.referenceCount += 1
  }
}

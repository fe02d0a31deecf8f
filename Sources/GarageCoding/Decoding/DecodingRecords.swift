// Records inside records: a reference that is followed while its owner is being decoded.

/// Where the decoder stood when a record was begun, to go back to.
struct OuterRecord {
  fileprivate var base: UnsafeRawPointer
  fileprivate var cursor: Int
  fileprivate var record: RecordContext
  fileprivate var depth: Int
  fileprivate var frame: UnsafeMutablePointer<DecodingFrame>
  fileprivate var frameCount: Int
  fileprivate var node: Unmanaged<DecodingNode>?
  fileprivate var offsetCount: Int
  fileprivate var referenceCount: Int
  fileprivate var shapeCount: Int
  fileprivate var unpackedCount: Int
  fileprivate var nodeCount: Int
}

extension UnsafeMutablePointer where Pointee == DecoderState {
  /// To be kept before ``enterRecord(_:number:isWrapped:isDigest:_:)``, and left with ``leaveRecord(_:)``.
  @inline(__always)
  var outerRecord: OuterRecord {
    OuterRecord(
      base: pointee.base, cursor: pointee.cursor, record: pointee.record, depth: pointee.depth,
      frame: pointee.input.frame, frameCount: pointee.frames.count, node: pointee.input.node,
      offsetCount: pointee.input.offsets.count, referenceCount: pointee.references.count,
      shapeCount: pointee.shapes.count, unpackedCount: pointee.unpacked.count, nodeCount: pointee.nodes.count)
  }

  func leaveRecord(_ outer: OuterRecord) {
    pointee.base = outer.base
    pointee.cursor = outer.cursor
    pointee.record = outer.record
    pointee.depth = outer.depth
    pointee.input.frame = outer.frame
    pointee.frames.truncate(to: outer.frameCount)
    pointee.input.node = outer.node
    pointee.input.offsets.truncate(to: outer.offsetCount)
    pointee.references.truncate(to: outer.referenceCount)
    pointee.shapes.truncate(to: outer.shapeCount)
    if pointee.nodes.count > outer.nodeCount { core.closeNodes(from: outer.nodeCount) }
    while pointee.unpacked.count > outer.unpackedCount { pointee.unpacked.removeLast().deallocate() }
  }

  /// Makes `record` the one being decoded.
  ///
  /// - Parameters:
  ///   - number: its number in the graph, -1 without one.
  ///   - isWrapped: whether what is asked for can only be something around the object.
  func enterRecord(
    _ record: ParsedRecord, number: Int, isWrapped: Bool, isDigest: Bool, _ outer: OuterRecord
  ) throws {
    try record.forEachReference { kind, tag, identifier in
      pointee.references.append(ReferenceEntry(kind: kind, tag: tag, identifier: identifier, number: -1))
    }
    try record.forEachShape { digest in pointee.shapes.append(try shape(digest)) }
    pointee.base = record.base
    pointee.cursor = record.body.lowerBound
    pointee.depth = 0
    pointee.input.node = nil
    pointee.record = RecordContext(
      serial: nextSerial(), number: number, referenceBase: outer.referenceCount,
      referenceCount: pointee.references.count - outer.referenceCount, shapeBase: outer.shapeCount,
      shapeCount: pointee.shapes.count - outer.shapeCount,
      wrappedOffset: isWrapped ? record.body.lowerBound : -1, isDigest: isDigest)
    pushFrame(
      DecodingFrame(
        start: record.body.lowerBound, end: record.body.upperBound, valueEnd: record.body.upperBound,
        indexBase: outer.offsetCount))
    let end = try BodyScanner.skipValue(record.base, record.body.lowerBound, end: record.body.upperBound)
    guard end == record.body.upperBound else {
      throw DamagedBody(reason: "bytes are left over behind the value", offset: end)
    }
  }

  /// Makes a record that refers to nothing the one being decoded, where no other one is. ``leaveRoot()`` follows.
  @inline(__always)
  func enterRoot(_ record: ParsedRecord, isDigest: Bool) throws {
    try record.forEachShape { digest in pointee.shapes.append(try shape(digest)) }
    pointee.base = record.base
    pointee.cursor = record.body.lowerBound
    pointee.depth = 0
    pointee.record = RecordContext(serial: nextSerial(), shapeCount: pointee.shapes.count, isDigest: isDigest)
    pointee.input.frame.pointee = DecodingFrame(
      start: record.body.lowerBound, end: record.body.upperBound, valueEnd: record.body.upperBound)
    let end = try BodyScanner.skipValue(record.base, record.body.lowerBound, end: record.body.upperBound)
    guard end == record.body.upperBound else {
      throw DamagedBody(reason: "bytes are left over behind the value", offset: end)
    }
  }

  /// Nothing is being decoded any more: a container that user code kept finds no frame of its own.
  @inline(__always)
  func leaveRoot() {
    pointee.base = UnsafeRawPointer(pointee.scratch)
    pointee.record = RecordContext()
    pointee.input.frame.pointee = DecodingFrame()
    pointee.input.offsets.truncate(to: 0)
    pointee.references.truncate(to: 0)
    pointee.shapes.truncate(to: 0)
    if pointee.nodes.count > 0 { core.closeNodes(from: 0) }
    while pointee.unpacked.count > 0 { pointee.unpacked.removeLast().deallocate() }
  }

  /// Copies bytes to where they stay as long as the record that is being decoded. Before them there is the room that
  /// short strings are read with.
  func keepBytes(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: ShortStrings.room + bytes.count)
    memory.initialize(repeating: 0)
    pointee.unpacked.append(memory)
    let kept = UnsafeMutableBufferPointer(rebasing: memory[ShortStrings.room...])
    _ = kept.update(fromContentsOf: bytes)
    return UnsafeRawBufferPointer(kept)
  }

  // MARK: - The record's tables

  @inline(__always)
  private func shape(_ digest: UInt64) throws -> Unmanaged<Shape> {
    if let shape = pointee.shapeCache[digest] { return shape }
    let shape = try graph.shape(digest)
    pointee.shapeCache[digest] = shape
    return shape
  }

  /// The shape at a place of the current record's table.
  @inline(__always)
  func shape(at index: Int) throws -> Unmanaged<Shape> {
    guard index < pointee.record.shapeCount else {
      throw DamagedBody(reason: "shape \(index) is not in the record's table", offset: 0)
    }
    return pointee.shapes[pointee.record.shapeBase &+ index]
  }

  /// The number in the graph of what an entry of the current record's table names.
  func number(ofReference index: Int) -> Int {
    let at = pointee.record.referenceBase + index
    let entry = pointee.references[at]
    if entry.number >= 0 { return entry.number }
    let number = pointee.graph._withUnsafeGuaranteedRef { $0.number(tag: entry.tag, entry.identifier) }
    pointee.references[at].number = number
    return number
  }

  func identity(ofReference index: Int) -> RecordIdentity {
    let entry = pointee.references[pointee.record.referenceBase + index]
    return RecordIdentity(tag: entry.tag, identifier: Identifier(unchecked: Array(entry.identifier)))
  }
  func entry(ofReference index: Int) -> (RecordIdentity, ReferenceKind) {
    (identity(ofReference: index), pointee.references[pointee.record.referenceBase + index].kind)
  }

  /// Adds to the current record's table; its entries are the last there are.
  func appendReference(_ kind: ReferenceKind, _ tag: UInt64, _ identifier: UnsafeRawBufferPointer) {
    pointee.references.append(ReferenceEntry(kind: kind, tag: tag, identifier: identifier, number: -1))
    pointee.record.referenceCount += 1
  }
}

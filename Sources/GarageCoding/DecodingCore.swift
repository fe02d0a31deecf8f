#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// All that decoding needs, reused from session to session. Pooled and never freed, like its state.
final class DecodingCore {
  let state: DecoderPointer
  let boxes = ContainerBoxes()
  var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// How dates are read that are not in their own form.
  var dateStrategy = DateDecodingStrategy.deferredToDate
  private(set) var failure: (any Error)?
  /// How records are read that were made of another library's JSON; nil for this one's own.
  var foreign: (any ForeignReading)?

  /// The graph that records are fetched for; there while a session uses this core.
  unowned(unsafe) var graph: GraphWalk!
  var identifierWriter = IdentifierWriter()

  // Stacks of the records that are being decoded, the innermost last.
  private var references: [TableEntry] = []
  private var shapes: [Unmanaged<Shape>] = []
  private var unpacked: [UnsafeMutableBufferPointer<UInt8>] = []
  private var nodes: [Unmanaged<DecodingNode>] = []
  /// The values of evolving types that are being decoded.
  var scopes: [EvolvingScope] = []
  private var waitingNodes: [Unmanaged<DecodingNode>] = []

  /// One entry of a record's reference table.
  private struct TableEntry {
    var kind: ReferenceKind
    var tag: UInt64
    var identifier: UnsafeRawBufferPointer
    /// Its number in the graph; -1 until somebody asks.
    var number: Int
  }

  private init() {
    state = .allocate(capacity: 1)
    state.initialize(
      to: DecoderState(
        base: UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped,
        scratch: .allocate(byteCount: 64, alignment: 16), core: Unmanaged.passUnretained(self)))
  }

  private static let pool = CorePool<DecodingCore>()

  static func take() -> Unmanaged<DecodingCore> {
    let core = pool.take() ?? Unmanaged.passRetained(DecodingCore())
    core._withUnsafeGuaranteedRef { $0.state.pointee.serialBefore = $0.state.pointee.lastSerial }
    return core
  }

  static func giveBack(_ core: Unmanaged<DecodingCore>) {
    core._withUnsafeGuaranteedRef { $0.reset() }
    pool.giveBack(core)
  }

  private func reset() {
    state.pointee.serialBefore = .max
    failure = nil
    if !userInfo.isEmpty { userInfo = [:] }
    if foreign != nil { foreign = nil }
    dateStrategy = .deferredToDate
    graph = nil
  }

  func noteFailure(_ error: any Error) {
    if failure == nil { failure = error }
  }

  /// The failure that was noted, if any; it is forgotten.
  func takeFailure() -> (any Error)? {
    defer { failure = nil }
    return failure
  }

  // MARK: - Records

  /// Makes `record` the one being decoded while `body` reads its body.
  ///
  /// - Parameter isWrapped: whether what is asked for can only be something around the object.
  func withRecord<R>(
    _ record: ParsedRecord, number: Int, isWrapped: Bool, isDigest: Bool, _ body: () throws -> R
  ) throws -> R {
    let state = state
    let outer = (state.pointee.base, state.pointee.cursor, state.pointee.record, state.pointee.depth, state.pointee.frameBase)
    let outerInput = state.pointee.input
    let (referenceCount, shapeCount, unpackedCount, nodeCount) = (
      references.count, shapes.count, unpacked.count, nodes.count)
    let indexCount = state.pointee.input.offsets.count
    defer {
      (state.pointee.base, state.pointee.cursor, state.pointee.record, state.pointee.depth, state.pointee.frameBase) = outer
      state.pointee.input.frame = outerInput.frame
      state.pointee.input.node = outerInput.node
      state.pointee.input.offsets.truncate(to: indexCount)
      closeNodes(from: nodeCount)
      references.removeSubrange(referenceCount...)
      shapes.removeSubrange(shapeCount...)
      for memory in unpacked[unpackedCount...] { memory.deallocate() }
      unpacked.removeSubrange(unpackedCount...)
    }
    try record.forEachReference { kind, tag, identifier in
      references.append(TableEntry(kind: kind, tag: tag, identifier: identifier, number: -1))
    }
    try record.forEachShape { shapes.append(try graph.shape($0)) }
    state.pointee.base = record.base
    state.pointee.cursor = record.body.lowerBound
    state.pointee.depth = 0
    state.pointee.frameBase = state.pointee.frames.count + 1
    state.pointee.input.node = nil
    state.pointee.record = RecordContext(
      serial: state.nextSerial(), number: number, referenceBase: referenceCount,
      referenceCount: references.count - referenceCount, shapeBase: shapeCount, shapeCount: shapes.count - shapeCount,
      wrappedOffset: isWrapped ? record.body.lowerBound : -1, isDigest: isDigest)
    state.pointee.input.frame = DecodingFrame(
      start: record.body.lowerBound, end: record.body.upperBound, valueEnd: record.body.upperBound,
      indexBase: indexCount)
    let end = try skipValue(record.base, record.body.lowerBound, end: record.body.upperBound)
    guard end == record.body.upperBound else {
      throw DamagedBody(reason: "bytes are left over behind the value", offset: end)
    }
    return try body()
  }

  func shape(_ index: Int, _ record: RecordContext) throws -> Unmanaged<Shape> {
    guard index < record.shapeCount else { throw DamagedBody(reason: "shape \(index) is not in the record's table", offset: 0) }
    return shapes[record.shapeBase + index]
  }

  /// A nested container that is not in use. It belongs to the current record until that is done.
  func takeNode() -> Unmanaged<DecodingNode> {
    let node = waitingNodes.popLast() ?? Unmanaged.passRetained(DecodingNode())
    nodes.append(node)
    return node
  }

  private func closeNodes(from count: Int) {
    while nodes.count > count {
      let node = nodes.removeLast()
      node.takeUnretainedValue().close()
      waitingNodes.append(node)
    }
  }

  func keepUnpacked(_ memory: UnsafeMutableBufferPointer<UInt8>) { unpacked.append(memory) }

  // MARK: - References

  /// The number in the graph of what an entry of the current record's table names.
  func number(ofReference index: Int) -> Int {
    let at = state.pointee.record.referenceBase + index
    if references[at].number < 0 {
      references[at].number = graph.number(tag: references[at].tag, references[at].identifier)
    }
    return references[at].number
  }

  func identity(ofReference index: Int) -> RecordIdentity {
    let entry = references[state.pointee.record.referenceBase + index]
    return RecordIdentity(tag: entry.tag, identifier: Identifier(unchecked: Array(entry.identifier)))
  }

  func entry(ofReference index: Int) -> (RecordIdentity, ReferenceKind) {
    (identity(ofReference: index), references[state.pointee.record.referenceBase + index].kind)
  }

  /// Adds to the current record's table; its entries are the last there are.
  func appendReference(_ kind: ReferenceKind, _ tag: UInt64, _ identifier: UnsafeRawBufferPointer) {
    references.append(TableEntry(kind: kind, tag: tag, identifier: identifier, number: -1))
    state.pointee.record.referenceCount += 1
  }

  func object<T: Decodable>(_ type: T.Type, _ facts: Unmanaged<TypeFacts>, reference index: Int) throws -> T? {
    try graph.object(type, facts, number(ofReference: index))
  }

  func hasRecord(reference index: Int) throws -> Bool { try graph.hasRecord(number(ofReference: index)) }
}

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// All that encoding needs, reused from graph to graph: a new one costs more than encoding a small object.
///
/// Pooled and never freed, like its state. One thread uses it at a time; an `encode(to:)` that encodes
/// something else by itself gets another one.
final class EncodingCore {
  let state: EncoderPointer
  /// The graph, and the record under construction. Behind a pointer, like the state, because a class's
  /// properties are checked for exclusive access each time.
  let graph: UnsafeMutablePointer<GraphUnderConstruction>
  let builder: UnsafeMutablePointer<GraphBuilder>
  let identifierWriter: UnsafeMutablePointer<IdentifierWriter>
  @exclusivity(unchecked) private var unusedNested: [Permanent<NestedEncoding>] = []
  /// The nested containers that wait.
  @exclusivity(unchecked) private var waitingNested = SerialTable<Permanent<NestedEncoding>>()
  @exclusivity(unchecked) private var unusedOrders: [UnsafeMutablePointer<ByteOrder>] = []
  /// The nested containers that were asked for by key in maps that have many.
  @exclusivity(unchecked) private var fields: [Field: UInt64] = [:]
  private(set) var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// Whether the digest of a `Syncable` value is being made, of which its status is no part.
  var leavesOutSyncStatus = false
  /// Whether a value is encoded only to try something, and not to be stored.
  var isTrial = false
  /// How dates are written, where the state says that there is a strategy.
  var dateStrategy = DateEncodingStrategy.deferredToDate
  /// The entry of the graph whose record is under construction, where there is a strategy.
  var currentEntry: Int?

  private init() {
    graph = .keeping(GraphUnderConstruction())
    builder = .keeping(GraphBuilder())
    identifierWriter = .keeping(IdentifierWriter())
    // The state points back here, so that it comes last.
    state = EncoderPointer()
    state.keep(EncoderState(output: EncodingOutput(), graph: graph, core: Permanent(self)))
  }

  // MARK: - The pool

  private static let pool = CorePool<EncodingCore>()

  /// Lends a core to `body`.
  @inline(__always)
  static func withCore<R>(
    userInfo: [CodingUserInfoKey: any Sendable] = [:], isCanonical: Bool = false,
    inlinesEverything: Bool = false,
    _ body: (EncodingCore) throws -> R
  ) throws -> R {
    let pooled = take(userInfo, isCanonical, inlinesEverything)
    defer { giveBack(pooled) }
    return try pooled.with(body)
  }

  private static func take(
    _ userInfo: [CodingUserInfoKey: any Sendable], _ isCanonical: Bool, _ inlinesEverything: Bool
  ) -> Permanent<EncodingCore> {
    let pooled = pool.take() ?? Permanent(keeping: EncodingCore())
    pooled.with { core in
      if !userInfo.isEmpty { core.userInfo = userInfo }
      core.state.isCanonical = isCanonical
      core.state.inlinesEverything = inlinesEverything
      core.state.serialBefore = core.state.lastSerial
    }
    return pooled
  }

  private static func giveBack(_ pooled: Permanent<EncodingCore>) {
    pooled.with { $0.reset() }
    pool.giveBack(pooled)
  }

  /// Makes it as it was before it was lent. Memory of ordinary size stays.
  func reset() {
    state.serialBefore = .max
    state.beginRecord()
    // Bodies that no builder takes are written here. The memory that one large value needed would otherwise stay for good.
    state.output.removeAll(keeping: 1 << 18, entries: 4096, holes: 1024)
    graph.pointee.forget()
    builder.pointee.forget()
    if state.failure != nil { state.failure = nil }
    if leavesOutSyncStatus { leavesOutSyncStatus = false }
    if isTrial { isTrial = false }
    if state.hasDateStrategy {
      state.hasDateStrategy = false
      dateStrategy = .deferredToDate
      currentEntry = nil
    }
    if !userInfo.isEmpty { userInfo = [:] }
  }

  // MARK: - One body

  /// Encodes `value`, whatever its type, by its own `encode(to:)` and returns the body, valid until the next.
  func body<T: Encodable>(of value: T) throws -> UnsafeRawBufferPointer {
    try body { try state.writeRoot(value) }
  }

  /// Encodes `value` as a container would hold it: an object with an identity is a reference.
  func heldBody<T: Encodable>(of value: T) throws -> UnsafeRawBufferPointer {
    try body { try state.writeAny(value) }
  }

  @inline(__always)
  private func body(_ write: () throws -> Void) throws -> UnsafeRawBufferPointer {
    state.beginRecord()
    do {
      try write()
    } catch {
      // Without it, the nested containers that were asked for would wait for the end of a value that never ends.
      state.resetFrames()
      throw state.failure ?? error
    }
    if let failure = state.failure { throw failure }
    return UnsafeRawBufferPointer(start: state.output.base, count: state.output.count)
  }

}

extension EncodingCore {
  /// An order that is empty.
  func takeOrder() -> UnsafeMutablePointer<ByteOrder> { unusedOrders.popLast() ?? .keeping(ByteOrder()) }
  func giveBack(_ order: UnsafeMutablePointer<ByteOrder>) {
    order.pointee.removeAll()
    unusedOrders.append(order)
  }
}

// MARK: - Nested containers

extension EncodingCore {
  /// A nested container that is not in use.
  func takeNested() -> Permanent<NestedEncoding> {
    unusedNested.popLast() ?? Permanent(keeping: NestedEncoding())
  }
  func giveBack(_ nested: Permanent<NestedEncoding>) {
    if unusedNested.count < 256 { unusedNested.append(nested) } else { nested.end() }
  }

  /// Notes that a nested container waits.
  func wait(_ nested: Permanent<NestedEncoding>) { waitingNested.insert(nested, nested.object.serial) }

  /// The nested container with that serial, where it waits.
  func waiting(_ serial: UInt64) -> Permanent<NestedEncoding>? { waitingNested[serial] }

  func endWaiting(_ serial: UInt64) { waitingNested.remove(serial) }

  /// How many bytes of memory there are for values under construction, beside what the graph and its builder have.
  var keptByteCount: Int {
    unusedNested.reduce(state.output.byteCapacity + waitingNested.byteCapacity) {
      $0 + $1.object.output.byteCapacity
    }
  }

  /// Up to how many nested containers of a map are looked through for one that was asked for before. With more, ``fields`` is
  /// used.
  static let linearFieldCount = 64

  private struct Field: Hashable {
    /// The frame that has the key.
    var frame: UInt64
    var key: String
    var kind: EncodingFrame.Kind
  }

  /// The nested container of that kind that was asked for by `key` in the current frame; for frames that have many.
  func field(_ key: String, _ kind: EncodingFrame.Kind, _ state: EncoderPointer) -> UInt64? {
    let frame = state.frame.serial
    // First all that came since the last call are noted.
    for hole in state.output.holes.all[state.frame.holeBase...].reversed() {
      guard let kind = hole.kind, let key = state.key(of: hole.step)?.stringValue else { continue }
      let field = Field(frame: frame, key: key, kind: kind)
      if fields[field] != nil { break }
      fields[field] = hole.serial
    }
    return fields[Field(frame: frame, key: key, kind: kind)]
  }

  func forgetFields() {
    if !fields.isEmpty { fields = [:] }
  }
}

extension EncoderPointer {
  /// Forgets the record that was under construction.
  func beginRecord() {
    output.count = 0
    if output.memoryAtRest != nil {
      output.moveBack()
      withCore { $0.builder.pointee.forgetBody() }
    }
    // Where every frame was left that was entered, there is nothing to clean up.
    if depth != 0 || openFrameCount != 0 || frame.serial != 0 || output.nested != nil {
      resetFrames()
    }
    withCore { $0.forgetFields() }
    graph.beginRecord()
  }

  /// Forgets the values that were under construction, and gives their nested containers back.
  @inline(never)
  func resetFrames() {
    leaveAllNested()
    output.restart()
    output.entries.truncate(to: 0)
    if output.holes.count > 0 { dropHoles(to: 0) }
    forgetFrames()
    depth = 0
  }
}

/// The canonical bytes of an identifier's value, in which nothing is a reference.
func canonicalBytes(_ value: any Encodable) throws -> [UInt8] {
  try EncodingCore.withCore(isCanonical: true, inlinesEverything: true) { core in
    try [UInt8](core.body(of: value))
  }
}

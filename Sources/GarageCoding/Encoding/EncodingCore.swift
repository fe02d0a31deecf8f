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
  private var waitingNodes: [Unmanaged<EncodingNode>] = []
  /// The nested containers of the open maps that were asked for by key.
  var fields: [EncodingNode.Field: Unmanaged<EncodingNode>] = [:]
  private(set) var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// Whether the digest of a `Syncable` value is wanted, of which its status is no part.
  var leavesOutSyncStatus = false
  /// Whether nothing is stored, but only tried.
  var isTrial = false
  /// How dates are written, where the state says that there is a strategy.
  var dateStrategy = DateEncodingStrategy.deferredToDate
  /// The entry of the graph whose record is under construction, where there is a strategy.
  var currentEntry: Int?

  private init() {
    state = .allocate(capacity: 1)
    graph = .allocate(capacity: 1)
    graph.initialize(to: GraphUnderConstruction())
    builder = .allocate(capacity: 1)
    builder.initialize(to: GraphBuilder())
    identifierWriter = .allocate(capacity: 1)
    identifierWriter.initialize(to: IdentifierWriter())
    // Last, because the state points back here.
    state.initialize(
      to: EncoderState(output: EncodingOutput(), graph: graph, core: Unmanaged.passUnretained(self)))
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
    return try body(pooled.takeUnretainedValue())
  }

  private static func take(
    _ userInfo: [CodingUserInfoKey: any Sendable], _ isCanonical: Bool, _ inlinesEverything: Bool
  ) -> Unmanaged<EncodingCore> {
    let pooled = pool.take() ?? Unmanaged.passRetained(EncodingCore())
    pooled._withUnsafeGuaranteedRef { core in
      if !userInfo.isEmpty { core.userInfo = userInfo }
      core.state.pointee.isCanonical = isCanonical
      core.state.pointee.inlinesEverything = inlinesEverything
      core.state.pointee.serialBefore = core.state.pointee.lastSerial
    }
    return pooled
  }

  private static func giveBack(_ pooled: Unmanaged<EncodingCore>) {
    pooled._withUnsafeGuaranteedRef { $0.reset() }
    pool.giveBack(pooled)
  }

  private func reset() {
    state.pointee.serialBefore = .max
    state.beginRecord()
    graph.pointee.forget()
    builder.pointee.forget()
    if state.pointee.failure != nil { state.pointee.failure = nil }
    if leavesOutSyncStatus { leavesOutSyncStatus = false }
    if isTrial { isTrial = false }
    if state.pointee.hasDateStrategy {
      state.pointee.hasDateStrategy = false
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
      // The nested containers that were asked for would otherwise wait for the end of a value that has none.
      state.resetFrames()
      throw state.pointee.failure ?? error
    }
    if let failure = state.pointee.failure { throw failure }
    return UnsafeRawBufferPointer(start: state.pointee.output.base, count: state.pointee.output.count)
  }

  /// A nested container that is not in use.
  func takeNode() -> Unmanaged<EncodingNode> {
    waitingNodes.popLast() ?? Unmanaged.passRetained(EncodingNode())
  }
  func giveBack(_ node: Unmanaged<EncodingNode>) { waitingNodes.append(node) }
}

extension UnsafeMutablePointer where Pointee == EncoderState {
  /// Forgets the record that was under construction.
  func beginRecord() {
    pointee.output.count = 0
    // Where every value was left as it was entered there is nothing to clean up.
    if pointee.depth != 0 || pointee.frames.count != 0 || pointee.output.frame.pointee.serial != 0 {
      resetFrames()
    }
    pointee.graph.pointee.beginRecord()
  }

  /// Forgets the values that were under construction, and gives their nested containers back.
  @inline(never)
  func resetFrames() {
    while let outer = pointee.output.frame.pointee.outer { pointee.output.frame = outer }
    pointee.output.frame.pointee = EncodingFrame()
    pointee.output.entries.truncate(to: 0)
    if pointee.output.holes.count > 0 { dropHoles(to: 0) }
    pointee.frames.truncate(to: 0)
    pointee.depth = 0
  }
}

/// The canonical bytes of an identifier's value, in which nothing is a reference.
func canonicalBytes(_ value: any Encodable) throws -> [UInt8] {
  try EncodingCore.withCore(isCanonical: true, inlinesEverything: true) { core in
    try [UInt8](core.body(of: value))
  }
}

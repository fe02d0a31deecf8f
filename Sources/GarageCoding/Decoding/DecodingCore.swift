#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// All that decoding needs, reused from session to session. Pooled and never freed, like its state.
final class DecodingCore {
  let state: DecoderPointer
  /// The graph that is being decoded, while a session uses this core.
  let graph: GraphWalk
  var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// How dates are read that are not in their own form.
  var dateStrategy = DateDecodingStrategy.deferredToDate
  /// The values of evolving types that are being decoded.
  var scopes: [EvolvingScope] = []
  private var waitingNodes: [Unmanaged<DecodingNode>] = []

  private init() {
    state = .allocate(capacity: 1)
    graph = GraphWalk(state)
    state.initialize(
      to: DecoderState(
        base: UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped,
        scratch: .allocate(byteCount: 64, alignment: 16), core: Unmanaged.passUnretained(self),
        graph: Unmanaged.passUnretained(graph)))
  }

  // MARK: - The pool

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
    graph.end()
    state.pointee.serialBefore = .max
    if state.pointee.failure != nil { state.pointee.failure = nil }
    if state.pointee.foreign != nil { state.pointee.foreign = nil }
    if !userInfo.isEmpty { userInfo = [:] }
    dateStrategy = .deferredToDate
  }

  // MARK: - Nested containers

  /// A nested container that is not in use. It belongs to the current record until that is done.
  func takeNode() -> Unmanaged<DecodingNode> {
    let node = waitingNodes.popLast() ?? Unmanaged.passRetained(DecodingNode())
    state.pointee.nodes.append(node)
    return node
  }

  func closeNodes(from count: Int) {
    while state.pointee.nodes.count > count {
      let node = state.pointee.nodes.removeLast()
      node.takeUnretainedValue().close()
      waitingNodes.append(node)
    }
  }
}

extension UnsafeMutablePointer where Pointee == DecoderState {
  /// The failure that was noted, if any; it is forgotten.
  func takeFailure() -> (any Error)? {
    defer { pointee.failure = nil }
    return pointee.failure
  }
}

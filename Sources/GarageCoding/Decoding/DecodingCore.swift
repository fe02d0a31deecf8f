#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// All that decoding needs, reused from session to session. Pooled and never freed, like its state.
final class DecodingCore {
  let state: DecoderPointer
  /// The walk through the graph that is being decoded, while a session uses this core.
  let walk: GraphWalk
  var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// How dates are read that are not in their own form.
  var dateStrategy = DateDecodingStrategy.deferredToDate
  /// The values of evolving types that are being decoded.
  var scopes: [EvolvingScope] = []
  /// The keys of nested containers that were asked for where the map has no value.
  @exclusivity(unchecked) var nestedKeys: [any CodingKey] = []
  /// The last errors about values of other types than expected.
  @exclusivity(unchecked) var mismatches = MismatchNotes()
  /// The entries of the map of the frame with a serial by their keys' texts, if one of them was asked for in another composition.
  @exclusivity(unchecked) var entriesByText: (serial: UInt64, places: [String: Int])?
  /// So many entries are compared one by one.
  static let linearEntryCount = 16

  private init() {
    state = DecoderPointer()
    walk = GraphWalk(state)
    // The state points back here, so that it comes last.
    state.keep(DecoderState(core: Permanent(self), walk: Permanent(walk)))
  }

  // MARK: - The pool

  private static let pool = CorePool<DecodingCore>()

  static func take() -> Permanent<DecodingCore> {
    let core = pool.take() ?? Permanent(keeping: DecodingCore())
    core.with { $0.state.serialBefore = $0.state.lastSerial }
    return core
  }

  static func giveBack(_ core: Permanent<DecodingCore>) {
    core.with { $0.reset() }
    pool.giveBack(core)
  }

  private func reset() {
    walk.end()
    state.giveMemoryBack()
    state.serialBefore = .max
    if state.failure != nil { state.failure = nil }
    if state.foreign != nil { state.foreign = nil }
    if !userInfo.isEmpty { userInfo = [:] }
    dateStrategy = .deferredToDate
    if !nestedKeys.isEmpty { nestedKeys = [] }
    if entriesByText != nil { entriesByText = nil }
    mismatches.forgetPaths()
  }
}

extension DecoderPointer {
  /// The failure that was noted, if any; it is forgotten.
  func takeFailure() -> (any Error)? {
    defer { failure = nil }
    return failure
  }
}

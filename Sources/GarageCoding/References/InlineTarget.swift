internal import Synchronization

/// An object that stood inline where a ``Reference`` was read: its record, and those of the objects that it holds. They are
/// parked when the reference is, and the object is found by them until then.
///
/// Made while its owner is decoded, and filled in when everything around it is there. After that only the list of garages in
/// which it was parked changes. All copies of the reference share it.
package final class InlineTarget: Sendable {
  /// The identity that its record is to have.
  package let identity: RecordIdentity
  private let state = Mutex(State())

  private struct State {
    var content: Result<EncodedGraph, any Error>?
    /// The garages, by number, in whose store it has a record of its own, or had one.
    var garages: Set<UInt64> = []
  }

  init(_ identity: RecordIdentity) { self.identity = identity }

  /// Its records, the object's own first; nil while its owner is still being decoded.
  ///
  /// - Throws: what its `encode(to:)` threw.
  package func records() throws -> EncodedGraph? { try state.withLock { $0.content }?.get() }

  fileprivate func settle(_ content: Result<EncodedGraph, any Error>) {
    state.withLock { $0.content = content }
  }

  /// Whether it was parked in that garage. From then on the garage's record counts, even if there is none any more.
  package func isParked(in garage: UInt64) -> Bool { state.withLock { $0.garages.contains(garage) } }

  /// Notes that its record is in that garage's store for good.
  package func noteParked(in garage: UInt64) { state.withLock { _ = $0.garages.insert(garage) } }
}

/// The inline targets of the graph that is being decoded.
struct InlineTargets {
  typealias Settling = (GraphWalk) throws -> Void

  /// The targets whose records are still to be made, each with the number of the record that it stands in.
  private var waiting: [(owner: Int, settle: Settling)] = []
  /// The targets that objects lent to the session refer to.
  private var lent: [RecordIdentity: InlineTarget] = [:]

  var isEmpty: Bool { waiting.isEmpty }

  var lendsNone: Bool { lent.isEmpty }

  func lent(_ identity: RecordIdentity) -> InlineTarget? { lent[identity] }

  mutating func lend(_ target: InlineTarget) { lent[target.identity] = target }

  mutating func append(owner: Int, _ settle: @escaping Settling) { waiting.append((owner, settle)) }

  /// Drops the targets of a record that could not be read.
  mutating func drop(owner: Int) { waiting.removeAll { $0.owner == owner } }

  mutating func take() -> [Settling] {
    defer { waiting = [] }
    return waiting.map(\.settle)
  }

  mutating func forget() { if !waiting.isEmpty { waiting = [] } }

  mutating func end() {
    forget()
    if !lent.isEmpty { lent = [:] }
  }
}

extension GraphWalk {
  /// Notes an object that stands inline where a reference is expected.
  ///
  /// It is encoded as soon as all that it holds is there, because later it could belong to another thread.
  @inline(never)
  func noteInlineTarget<T: Codable>(_ object: T, _ identity: RecordIdentity) -> InlineTarget {
    let target = InlineTarget(identity)
    let encoder = GraphEncoder(userInfo: state.core.userInfo)
    inlineTargets.append(owner: state.record.number) { walk in
      var failure: (any Error)?
      let content = Result {
        // Of the objects that it holds only those without a record: those that stand inline, too.
        try encoder.encode(object) { identity, formerTags in
          do { return try !walk.isInSource(identity, formerTags) } catch {
            failure = error
            throw error
          }
        }
      }
      if let failure { throw failure }
      target.settle(content)
    }
    // So that the graph is not complete before this is done.
    whenComplete { _ in }
    return target
  }

  /// Makes the records of those that were noted.
  func settleInlineTargets() throws {
    while !inlineTargets.isEmpty { for settle in inlineTargets.take() { try settle(self) } }
  }
}

extension GraphDecodingSession {
  /// Lets an object be found that stood inline where a reference was read, if the source has no record of its identity.
  ///
  /// - Throws: what made it impossible to encode it.
  package func lend(_ target: InlineTarget) throws {
    guard let graph = try target.records() else { return }
    walk.lend(graph.recordsByKey)
    for inner in graph.inlineTargets { walk.inlineTargets.lend(inner) }
  }
}

extension EncoderPointer {
  /// Notes that a reference was written whose target may have no record yet.
  func note(_ target: InlineTarget) {
    if !isCanonical { graph.note(target) }
  }
}

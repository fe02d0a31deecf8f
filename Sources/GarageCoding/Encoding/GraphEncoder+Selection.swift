#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Encodes only a part of a graph: objects that a store already has are left out.

extension GraphEncoder {
  /// Encodes one object's record, and those of the reachable objects for which `isWanted` returns true, with the objects that
  /// these refer to. The object's own record is the first.
  ///
  /// - Parameters:
  ///   - dates: how dates are encoded; by default exactly.
  ///   - isWanted: asked for an object's identity, and for digests of the tags it may have had before.
  /// - Throws: as ``encode(_:)``, and the errors of `isWanted`.
  package func encode(
    _ root: any Encodable, dates: DateEncodingStrategy = .deferredToDate,
    andThose isWanted: (RecordIdentity, [UInt64]) throws -> Bool
  ) throws -> EncodedGraph {
    try encodeSelection(root, time: nil, dates: dates) { graph, number in
      let formerTags = try graph.pointee.entries[number].facts.object.tags().formerDigests
      return try isWanted(graph.pointee.identities.identity(of: number), formerTags)
    }
  }

  /// Encodes one object, and those of the objects that it refers to for which `isIncluded` returns true, and so on from these.
  ///
  /// - Parameters:
  ///   - time: the time in the records, in milliseconds since 1970-01-01 UTC; nil for now.
  ///   - dates: how dates are encoded.
  package func encode(
    _ root: any Encodable, time: UInt64?, dates: DateEncodingStrategy,
    including isIncluded: (RecordIdentity) -> Bool
  ) throws -> EncodedGraph {
    try encodeSelection(root, time: time, dates: dates) { graph, number in
      isIncluded(graph.pointee.identities.identity(of: number))
    }
  }

  /// - Parameter isIncluded: called with the number of each object that was reached, except the root.
  private func encodeSelection(
    _ root: any Encodable, time: UInt64?, dates: DateEncodingStrategy,
    _ isIncluded: (UnsafeMutablePointer<GraphUnderConstruction>, Int) throws -> Bool
  ) throws -> EncodedGraph {
    func status(of root: some Encodable, _ facts: TypeFacts) -> SyncStatus? { facts.syncStatus(of: root) }
    return try EncodingCore.withCore(userInfo: userInfo) { core in
      core.setDateStrategy(dates)
      try core.enqueueRoot(root, .root(0))
      let graph = core.graph
      return try encodeRecords(
        core, rootCount: 1, time: time,
        including: { try $0 == 0 || isIncluded(graph, $0) },
        status: { status(of: root, $1) }
      ) { _ in try core.body(of: root) }
    }
  }
}

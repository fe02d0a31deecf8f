#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Turns values into records: pure bytes, bound to no store, without side effects.
///
/// Encoding takes a root, writes its body, and queues every object with an identity that it meets instead of
/// descending into it; then it takes the next from the queue. So neither cycles nor a chain of a million
/// objects need any stack, and each identity is encoded once.
public final class GraphEncoder: Sendable {
  let userInfo: [CodingUserInfoKey: any Sendable]
  let keyPrefix: UInt8
  private let fixedTime: UInt64?
  private let writesWholeIdentifiers: Bool

  /// - Parameters:
  ///   - keyPrefix: a byte to stand before each record's key, whose meaning is the caller's.
  ///   - userInfo: what `encode(to:)` finds in its encoder's `userInfo`.
  public convenience init(keyPrefix: UInt8 = 0, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.init(keyPrefix: keyPrefix, userInfo: userInfo, fixedTime: nil)
  }

  /// - Parameters:
  ///   - fixedTime: what every record says of when it was encoded, in milliseconds since 1970-01-01 UTC, for
  ///     bytes that are compared; nil asks the clock.
  ///   - writesWholeIdentifiers: whether every record holds its identifier, because the keys that records are put
  ///     under do not.
  package init(
    keyPrefix: UInt8, userInfo: [CodingUserInfoKey: any Sendable], fixedTime: UInt64?,
    writesWholeIdentifiers: Bool = false
  ) {
    self.keyPrefix = keyPrefix
    self.userInfo = userInfo
    self.fixedTime = fixedTime
    self.writesWholeIdentifiers = writesWholeIdentifiers
  }

  /// Encodes the graph of everything that can be reached from `roots`.
  ///
  /// Of several values of one identity the one nearest a root is encoded, at equal distance the later one.
  ///
  /// - Parameter dates: how dates are encoded; by default exactly.
  /// - Throws: ``GraphCodingError``, `EncodingError`, and what `encode(to:)` of the objects throws.
  public func encode<T: Encodable>(
    _ roots: [T], dates: DateEncodingStrategy = .deferredToDate
  ) throws -> EncodedGraph {
    try encode(roots[...], time: nil, onlyRoots: false, dates)
  }

  /// Encodes some of many roots, where these are all that there is to encode. Nil where they hold other objects with an
  /// identity, or references made from objects that stood inline. For callers that encode parts of many roots at the same time
  /// and join the graphs.
  ///
  /// - Parameter time: what the records say of when they were encoded, as ``time``.
  /// - Throws: as ``encode(_:)-([T])``.
  package func encode<T: Encodable>(
    onlyRoots roots: ArraySlice<T>, time: UInt64, dates: DateEncodingStrategy
  ) throws -> EncodedGraph? {
    do {
      let graph = try encode(roots, time: time, onlyRoots: true, dates)
      return graph.inlineTargets.isEmpty ? graph : nil
    } catch is HoldsOthers {
      return nil
    }
  }

  /// Thrown where roots hold other objects.
  private struct HoldsOthers: Error {}

  private func encode<T: Encodable>(
    _ roots: ArraySlice<T>, time: UInt64?, onlyRoots: Bool, _ dates: DateEncodingStrategy
  ) throws -> EncodedGraph {
    // From where they stand in their array.
    try roots.withUnsafeBufferPointer { roots in
      try EncodingCore.withCore(userInfo: userInfo) { core in
        core.setDateStrategy(dates)
        let graph = core.graph
        graph.pointee.reserve(roots.count)
        for index in roots.indices { try roots.lent(index).pointee.enqueueAsRoot(index, core) }
        let rootCount = graph.pointee.entries.count
        return try encodeRecords(
          core, rootCount: rootCount, time: time,
          status: { roots.lent($0).pointee.syncStatus($1) },
          check: { try roots.lent($0).pointee.checkIdentifier($1, $2, core) }
        ) {
          let body = try roots.lent($0).pointee.body(core)
          if onlyRoots, graph.pointee.entries.count > rootCount { throw HoldsOthers() }
          return body
        }
      }
    }
  }

  /// Encodes the graph of everything that can be reached from one object.
  ///
  /// - Throws: as ``encode(_:)-([T])``.
  public func encode<T: Encodable>(root: T, dates: DateEncodingStrategy = .deferredToDate) throws
    -> EncodedGraph
  {
    try EncodingCore.withCore(userInfo: userInfo) { core in
      core.setDateStrategy(dates)
      if !core.state.hasDateStrategy { return try encode(single: root, core) }
      try core.enqueueRoot(root, .root(0))
      return try encodeRecords(
        core, rootCount: 1, status: { $1.syncStatus(of: root) },
        check: { try core.checkIdentifier(of: root, $1, $2) }
      ) { _ in try core.body(of: root) }
    }
  }

  /// Encodes one root. It enters the tables of the graph only when its body turns out to have other objects, and then the rest
  /// of the graph is encoded from the queue. Where it has none, no table is touched.
  @inline(__always)
  private func encode<T: Encodable>(single root: T, _ core: EncodingCore) throws -> EncodedGraph {
    let (tag, facts) = try core.writeIdentity(ofRoot: root)
    let (graph, builder) = (core.graph, core.builder)
    graph.pointee.beginLoneRoot(tag: tag, core.identifierWriter.pointee.bytes, facts)
    builder.pointee.expectsBodies = true
    let body = try core.body(of: root)
    if facts.with({ $0.identifierStability != .constant }) {
      try core.checkIdentifier(of: root, facts.object, graph.pointee.identifierOfRoot)
    }
    let status = facts.with { $0.isSyncable ? $0.syncStatus(of: root) : nil }
    builder.pointee.begin(
      keyPrefix: keyPrefix, time: timeNow(), writesWholeIdentifiers: writesWholeIdentifiers)
    if let identifier = graph.pointee.endLoneRoot() {
      try builder.pointee.addRecord(of: identifier, facts, body, status, graph)
      return builder.pointee.finish(rootCount: 1)
    }
    try builder.pointee.addRecord(of: 0, body, status, graph)
    return try encodeQueued(core, rootCount: 1) { _ in body }
  }

  /// What records say of when they were encoded, in milliseconds since 1970-01-01 UTC.
  package var time: UInt64 { timeNow() }

  @inline(__always)
  private func timeNow() -> UInt64 { fixedTime ?? UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }

  /// Encodes the graph of everything that can be reached from roots of any types.
  ///
  /// - Throws: as ``encode(_:)-([T])``.
  public func encode(
    _ roots: [any Encodable], dates: DateEncodingStrategy = .deferredToDate
  ) throws -> EncodedGraph {
    func status(of root: some Encodable, _ facts: TypeFacts) -> SyncStatus? { facts.syncStatus(of: root) }
    return try EncodingCore.withCore(userInfo: userInfo) { core in
      func check(_ root: some Encodable, _ facts: TypeFacts, _ identifier: UnsafeRawBufferPointer) throws {
        try core.checkIdentifier(of: root, facts, identifier)
      }
      core.setDateStrategy(dates)
      for index in roots.indices { try core.enqueueRoot(roots[index], .root(index)) }
      return try encodeRecords(
        core, rootCount: core.graph.pointee.entries.count, status: { status(of: roots[$0], $1) },
        check: { try check(roots[$0], $1, $2) }
      ) { try core.body(of: roots[$0]) }
    }
  }

  /// - Parameters:
  ///   - isIncluded: whether the entry with a number is encoded.
  ///   - status: the sync status of a root, whose type has one.
  ///   - check: makes sure that a root, which was encoded, can be retrieved under its identifier.
  ///   - rootBody: encodes the root at a place among the roots, which stay with their caller.
  func encodeRecords(
    _ core: EncodingCore, rootCount: Int, time: UInt64? = nil,
    including isIncluded: (Int) throws -> Bool = { _ in true },
    status rootStatus: (Int, TypeFacts) -> SyncStatus? = { _, _ in nil },
    check checkRoot: (Int, TypeFacts, UnsafeRawBufferPointer) throws -> Void = { _, _, _ in },
    _ rootBody: (Int) throws -> UnsafeRawBufferPointer
  ) throws -> EncodedGraph {
    core.builder.pointee.begin(
      keyPrefix: keyPrefix, time: time ?? timeNow(), writesWholeIdentifiers: writesWholeIdentifiers)
    return try encodeQueued(
      core, rootCount: rootCount, including: isIncluded, status: rootStatus, check: checkRoot, rootBody)
  }

  private func encodeQueued(
    _ core: EncodingCore, rootCount: Int, including isIncluded: (Int) throws -> Bool = { _ in true },
    status rootStatus: (Int, TypeFacts) -> SyncStatus? = { _, _ in nil },
    check checkRoot: (Int, TypeFacts, UnsafeRawBufferPointer) throws -> Void = { _, _, _ in },
    _ rootBody: (Int) throws -> UnsafeRawBufferPointer
  ) throws -> EncodedGraph {
    let (graph, builder) = (core.graph, core.builder)
    builder.pointee.expectsBodies = true
    while let number = graph.pointee.beginNext() {
      guard try isIncluded(number) else { continue }
      if core.state.hasDateStrategy { core.currentEntry = number }
      let facts = graph.pointee.entries[number].facts
      let (isSyncable, mayChange) = facts.with {
        ($0.isSyncable, $0.identifierStability != .constant)
      }
      var status: SyncStatus?
      let body: UnsafeRawBufferPointer
      switch graph.pointee.entries[number].value {
      case .root(let index):
        if isSyncable { status = rootStatus(index, facts.object) }
        body = try rootBody(index)
        if mayChange {
          try checkRoot(index, facts.object, graph.pointee.identities.identifier(of: number))
        }
      case .object(let object):
        (body, status) = try encode(object, as: object.type, isSyncable ? facts : nil, core)
        if mayChange {
          try check(
            object, as: object.type, facts.object,
            graph.pointee.identities.identifier(of: number), core)
        }
      case .none: continue
      }
      try builder.pointee.addRecord(of: number, body, status, graph)
    }
    var encoded = builder.pointee.finish(rootCount: rootCount)
    encoded.inlineTargets = graph.pointee.orderedInlineTargets
    return encoded
  }

  /// - Parameter syncable: what is known of its type, where that has a sync status.
  private func encode<T: Encodable>(
    _ object: KeptObject, as type: T.Type, _ syncable: Permanent<TypeFacts>?, _ core: EncodingCore
  ) throws -> (UnsafeRawBufferPointer, SyncStatus?) {
    let object = object.address.lent(type)
    var status: SyncStatus?
    if let syncable { status = object.pointee.syncStatus(syncable.object) }
    return (try object.pointee.body(core), status)
  }

  private func check<T: Encodable>(
    _ object: KeptObject, as type: T.Type, _ facts: TypeFacts, _ identifier: UnsafeRawBufferPointer,
    _ core: EncodingCore
  ) throws {
    try object.address.lent(type).pointee.checkIdentifier(facts, identifier, core)
  }

  /// The identity under which `value` would be parked as a root.
  ///
  /// - Throws: ``GraphCodingError``, and what the value's `encode(to:)` throws where its identity is the digest
  ///   of its content.
  public func identity(of value: any Encodable) throws -> RecordIdentity {
    try EncodingCore.withCore(userInfo: userInfo) { core in
      let tag = try core.writeIdentity(ofRoot: value).0
      return RecordIdentity(tag: tag, identifier: Identifier(core.identifierWriter.pointee))
    }
  }

  /// The same of a value of a known type: in a box it would be a copy in memory of its own.
  ///
  /// - Throws: as ``identity(of:)``.
  package func identity<T: Encodable>(ofRoot value: T) throws -> RecordIdentity {
    try EncodingCore.withCore(userInfo: userInfo) { core in
      let tag = try core.writeIdentity(ofRoot: value).0
      return RecordIdentity(tag: tag, identifier: Identifier(core.identifierWriter.pointee))
    }
  }
}

extension EncodingCore {
  func enqueueRoot<T: Encodable>(_ root: T, _ value: GraphEntry.Value) throws {
    let (tag, facts) = try writeIdentity(ofRoot: root)
    _ = graph.pointee.enqueue(tag: tag, identifierWriter.pointee.bytes, value, facts)
  }

  /// Writes the identifier of a root into ``identifierWriter``; returns the digest of its identity space's tag.
  func writeIdentity<T: Encodable>(ofRoot root: T) throws -> (UInt64, Permanent<TypeFacts>) {
    let facts = state.types.facts(ofObject: root)
    return try facts.with { known in
      let tag = try known.identityDigest()
      switch known.rootIdentification {
      case .identifier:
        try withUnsafePointer(to: root) {
          try known.writeIdentifier(of: UnsafeRawPointer($0), &identifierWriter.pointee)
        }
      case .digest:
        let digest = try canonicalDigest(of: root, userInfo: userInfo)
        identifierWriter.pointee.removeAll()
        identifierWriter.pointee.write(digest: digest)
      case .none:
        throw GraphCodingError.missingConformance(type: known.name)
      }
      return (tag, facts)
    }
  }
}

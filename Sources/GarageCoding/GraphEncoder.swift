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
    try EncodingCore.withCore(userInfo: userInfo) { core in
      core.setDateStrategy(dates)
      for index in roots.indices { try core.enqueueRoot(roots[index], .root(index)) }
      return try encodeRecords(
        core, rootCount: core.graph.pointee.entries.count, status: { $1.syncStatus(of: roots[$0]) }
      ) { try core.body(of: roots[$0]) }
    }
  }

  /// Encodes the graph of everything that can be reached from one object.
  ///
  /// - Throws: as ``encode(_:)-([T])``.
  public func encode<T: Encodable>(root: T, dates: DateEncodingStrategy = .deferredToDate) throws -> EncodedGraph {
    try EncodingCore.withCore(userInfo: userInfo) { core in
      core.setDateStrategy(dates)
      try core.enqueueRoot(root, .root(0))
      return try encodeRecords(core, rootCount: 1, status: { $1.syncStatus(of: root) }) { _ in
        try core.body(of: root)
      }
    }
  }

  /// Encodes the graph of everything that can be reached from roots of any types.
  ///
  /// - Throws: as ``encode(_:)-([T])``.
  public func encode(
    _ roots: [any Encodable], dates: DateEncodingStrategy = .deferredToDate
  ) throws -> EncodedGraph {
    func status(of root: some Encodable, _ facts: TypeFacts) -> SyncStatus? { facts.syncStatus(of: root) }
    return try EncodingCore.withCore(userInfo: userInfo) { core in
      core.setDateStrategy(dates)
      for index in roots.indices { try core.enqueueRoot(roots[index], .root(index)) }
      return try encodeRecords(
        core, rootCount: core.graph.pointee.entries.count, status: { status(of: roots[$0], $1) }
      ) { try core.body(of: roots[$0]) }
    }
  }

  /// - Parameters:
  ///   - isIncluded: whether the entry with a number is encoded.
  ///   - status: the sync status of a root, whose type has one.
  ///   - rootBody: encodes the root at a place among the roots, which stay with their caller.
  func encodeRecords(
    _ core: EncodingCore, rootCount: Int, time: UInt64? = nil, including isIncluded: (Int) throws -> Bool = { _ in true },
    status rootStatus: (Int, TypeFacts) -> SyncStatus? = { _, _ in nil },
    _ rootBody: (Int) throws -> UnsafeRawBufferPointer
  ) throws -> EncodedGraph {
    let (graph, builder) = (core.graph, core.builder)
    builder.pointee.begin(
      keyPrefix: keyPrefix, time: time ?? fixedTime ?? UInt64(max(0, Date().timeIntervalSince1970 * 1000)),
      writesWholeIdentifiers: writesWholeIdentifiers)
    while let number = graph.pointee.beginNext() {
      guard try isIncluded(number) else { continue }
      if core.state.pointee.hasDateStrategy { core.currentEntry = number }
      let facts = graph.pointee.entries[number].facts
      let isSyncable = facts._withUnsafeGuaranteedRef { $0.isSyncable }
      var status: SyncStatus?
      let body: UnsafeRawBufferPointer
      switch graph.pointee.entries[number].value {
      case .root(let index):
        if isSyncable { status = rootStatus(index, facts.takeUnretainedValue()) }
        body = try rootBody(index)
      case .object(let object):
        if isSyncable { status = self.status(of: object, facts.takeUnretainedValue()) }
        body = try core.body(of: object)
      case .none: continue
      }
      try builder.pointee.addRecord(of: number, body, status, graph)
    }
    return builder.pointee.finish(rootCount: rootCount)
  }

  private func status(of object: some Encodable, _ facts: TypeFacts) -> SyncStatus? { facts.syncStatus(of: object) }

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
}

/// A graph as records, ready to be written.
public struct EncodedGraph: Sendable {
  /// One record: where its key and its bytes stand in the graph's arrays.
  public struct Record: Sendable {
    /// The prefix byte, the identity tag (8 bytes, big-endian) and the identifier's key form, in
    /// ``EncodedGraph/bytes``.
    public var key: Range<Int>
    /// The record itself, in ``EncodedGraph/bytes``.
    public var value: Range<Int>
    /// Digests of the tags under which older programs parked the same object: whoever writes the record
    /// removes those records.
    public var formerTags: [UInt64]
    /// The object's sync status, for types that have one. The record holds it too.
    public var syncStatus: SyncStatus?
  }

  /// How many roots there are, each identity once. Their records come first.
  let rootCount: Int
  /// The records, nearest to the roots first.
  public internal(set) var records: [Record]
  /// The records' keys and values, one behind the other.
  public internal(set) var bytes: [UInt8]
  /// Every type tag that a key, header or reference table names by digest.
  public let tags: [TypeTag]
  /// Every shape that a body names by digest, with its text.
  public let shapes: [(digest: UInt64, text: [UInt8])]

  /// Where the keys are: among the bytes.
  public var keys: [UInt8] { bytes }

  /// The roots' identities in the order in which they were given, each once. Made anew each time from the records.
  public var roots: [RecordIdentity] { records.prefix(rootCount).map(identity) }

  private func identity(of record: Record) -> RecordIdentity {
    bytes.withUnsafeBytes { bytes in
      // Behind the prefix byte.
      let start = record.key.lowerBound + 1
      let key = RecordKey(
        tag: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)),
        identifier: UnsafeRawBufferPointer(rebasing: bytes[(start + 8)..<record.key.upperBound]))
      let value = UnsafeRawBufferPointer(rebasing: bytes[record.value])
      let whole = (try? ParsedRecord(key, value))?.fullIdentifier.map { value[$0] } ?? key.identifier[...]
      return RecordIdentity(tag: key.tag, identifier: Identifier(unchecked: Array(whole)))
    }
  }
}

extension EncodingCore {
  func enqueueRoot<T: Encodable>(_ root: T, _ value: GraphEntry.Value) throws {
    let (tag, facts) = try writeIdentity(ofRoot: root)
    _ = graph.pointee.enqueue(tag: tag, identifierWriter.pointee.bytes, value, facts, level: 0)
  }

  /// Writes the identifier of a root into ``identifierWriter``; returns the digest of its identity space's tag.
  func writeIdentity<T: Encodable>(ofRoot root: T) throws -> (UInt64, Unmanaged<TypeFacts>) {
    let facts = state.pointee.types.facts(ofObject: root)
    return try facts._withUnsafeGuaranteedRef { known in
      let tag = try known.identityDigest()
      switch known.rootIdentification {
      case .identifier:
        try withUnsafePointer(to: root) {
          try known.writeIdentifier(of: UnsafeRawPointer($0), &identifierWriter.pointee)
        }
      case .digest:
        let canonical = try canonicalBytes(of: root, userInfo: userInfo)
        identifierWriter.pointee.removeAll()
        canonical.withUnsafeBytes { identifierWriter.pointee.write(digest: ContentDigest.digest16(of: $0)) }
      case .none:
        throw GraphCodingError.missingConformance(type: known.name)
      }
      return (tag, facts)
    }
  }
}

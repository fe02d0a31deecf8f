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

  /// - Parameters:
  ///   - keyPrefix: a byte to stand before each record's key, whose meaning is the caller's.
  ///   - userInfo: what `encode(to:)` finds in its encoder's `userInfo`.
  public convenience init(keyPrefix: UInt8 = 0, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.init(keyPrefix: keyPrefix, userInfo: userInfo, fixedTime: nil)
  }

  /// - Parameter fixedTime: what every record says of when it was encoded, in milliseconds since 1970-01-01
  ///   UTC, for bytes that are compared; nil asks the clock.
  package init(keyPrefix: UInt8, userInfo: [CodingUserInfoKey: any Sendable], fixedTime: UInt64?) {
    self.keyPrefix = keyPrefix
    self.userInfo = userInfo
    self.fixedTime = fixedTime
  }

  /// Encodes the graph of everything that can be reached from `roots`.
  ///
  /// Of several values of one identity the one nearest a root is encoded, at equal distance the later one.
  ///
  /// - Parameter dates: how dates are encoded; by default exactly.
  /// - Throws: ``GraphCodingError``, `EncodingError`, and what `encode(to:)` of the objects throws.
  public func encode(
    _ roots: [any Encodable], dates: DateEncodingStrategy = .deferredToDate
  ) throws -> EncodedGraph {
    try withBuilder { builder, core in
      core.setDateStrategy(dates)
      for root in roots {
        let (tag, facts) = try core.writeIdentity(ofRoot: root)
        let count = core.graph.pointee.identities.count
        let entry = core.enqueue(tag: tag, root, facts, level: 0)
        if entry >= count { builder.graph.roots.append(core.graph.pointee.identities.identity(of: entry)) }
      }
      while let entry = core.beginNext() { try builder.addRecord(of: entry, core) }
      return builder.graph
    }
  }

  func withBuilder<R>(_ body: (inout GraphBuilder, EncodingCore) throws -> R) throws -> R {
    try EncodingCore.withCore(userInfo: userInfo) { core in
      var builder = GraphBuilder(keyPrefix: keyPrefix, time: fixedTime)
      defer { builder.deallocate() }
      return try body(&builder, core)
    }
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
}

/// A graph as records, ready to be written.
public struct EncodedGraph: Sendable {
  /// One record: where its key and its bytes stand in the graph's arrays.
  public struct Record: Sendable {
    /// The prefix byte, the identity tag (8 bytes, big-endian) and the identifier's key form, in ``EncodedGraph/keys``.
    public var key: Range<Int>
    /// The record itself, in ``EncodedGraph/bytes``.
    public var value: Range<Int>
    /// Digests of the tags under which older programs parked the same object: whoever writes the record
    /// removes those records.
    public var formerTags: [UInt64]
    /// The object's sync status, for types that have one. The record holds it too.
    public var syncStatus: SyncStatus?
  }

  /// The roots' identities in the order in which they were given, each once.
  public internal(set) var roots: [RecordIdentity] = []
  /// The records, nearest to the roots first.
  public internal(set) var records: [Record] = []
  /// The records' keys, one behind the other.
  public internal(set) var keys: [UInt8] = []
  /// The records, one behind the other.
  public internal(set) var bytes: [UInt8] = []
  /// Every type tag that a key, header or reference table names by digest.
  public internal(set) var tags: [TypeTag] = []
  /// Every shape that a body names by digest, with its text.
  public internal(set) var shapes: [(digest: UInt64, text: [UInt8])] = []
}

extension EncodingCore {
  /// Writes the identifier of a root into ``identifierWriter``; returns the digest of its identity space's tag.
  func writeIdentity(ofRoot root: any Encodable) throws -> (UInt64, Unmanaged<TypeFacts>) {
    let facts = state.pointee.types.facts(of: type(of: root)).0
    let known = facts.takeUnretainedValue()
    let tag = try known.identityDigest()
    switch known.rootIdentification {
    case .identifier:
      try withAddress(of: root) { try writeIdentifier(of: $0, known) }
    case .digest:
      let canonical = try canonicalBytes(of: root, userInfo: userInfo)
      identifierWriter.pointee.removeAll()
      canonical.withUnsafeBytes { identifierWriter.pointee.write(digest: ContentDigest.digest16(of: $0)) }
    case .none:
      throw GraphCodingError.missingConformance(type: known.name)
    }
    return (tag, facts)
  }

  private func withAddress(of value: some Encodable, _ body: (UnsafeRawPointer) throws -> Void) throws {
    try withUnsafePointer(to: value) { try body(UnsafeRawPointer($0)) }
  }
}

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Turns values into records: pure bytes, bound to no store, without side effects.
///
/// Encoding takes a root, writes its body, and queues every object with an identity that it meets instead of
/// descending into it; then it takes the next from the queue. So neither cycles nor a chain of a million
/// objects need any stack, and each identity is encoded once.
public final class GraphEncoder: Sendable {
  private let userInfo: [CodingUserInfoKey: any Sendable]
  private let keyPrefix: UInt8

  /// - Parameters:
  ///   - keyPrefix: a byte to stand before each record's key, whose meaning is the caller's.
  ///   - userInfo: what `encode(to:)` finds in its encoder's `userInfo`.
  public init(keyPrefix: UInt8 = 0, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.keyPrefix = keyPrefix
    self.userInfo = userInfo
  }

  /// Encodes the graph of everything that can be reached from `roots`.
  ///
  /// Of several values of one identity the one nearest a root is encoded, at equal distance the later one.
  ///
  /// - Throws: ``GraphCodingError``, `EncodingError`, and what `encode(to:)` of the objects throws.
  public func encode(_ roots: [any Encodable]) throws -> EncodedGraph {
    try EncodingCore.withCore(userInfo: userInfo) { core in
      var builder = GraphBuilder(keyPrefix: keyPrefix)
      for root in roots {
        let (tag, facts) = try core.writeIdentity(ofRoot: root)
        let count = core.identities.count
        let entry = core.enqueue(tag: tag.digest, root, facts, level: 0)
        if entry >= count { builder.graph.roots.append(core.identities.identity(of: entry)) }
      }
      while let entry = core.beginNext() { try builder.addRecord(of: entry, core) }
      return builder.graph
    }
  }

  /// The identity under which `value` would be parked as a root.
  ///
  /// - Throws: ``GraphCodingError``, and what the value's `encode(to:)` throws where its identity is the digest
  ///   of its content.
  public func identity(of value: any Encodable) throws -> RecordIdentity {
    try EncodingCore.withCore(userInfo: userInfo) { core in
      let tag = try core.writeIdentity(ofRoot: value).0
      return RecordIdentity(tag: tag.digest, identifier: Identifier(core.identifierWriter))
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
  }

  /// The roots' identities in the order in which they were given, each once.
  public internal(set) var roots: [RecordIdentity] = []
  /// The records, nearest to the roots first.
  public internal(set) var records: [Record] = []
  public internal(set) var keys: [UInt8] = []
  public internal(set) var bytes: [UInt8] = []
  /// Every type tag that a key, header or reference table names by digest.
  public internal(set) var tags: [TypeTag] = []
  /// Every shape that a body names by digest, with its text.
  public internal(set) var shapes: [(digest: UInt64, text: [UInt8])] = []
}

/// Puts records together behind one another.
private struct GraphBuilder {
  var graph = EncodedGraph()
  private let keyPrefix: UInt8
  private let time: UInt64
  private var tagDigests: Set<UInt64> = []
  private var shapeDigests: Set<UInt64> = []
  private var lastFacts: TypeFacts?
  private var lastTags: TypeFacts.Tags?
  private var tagTable: [UInt64] = []

  init(keyPrefix: UInt8) {
    self.keyPrefix = keyPrefix
    time = UInt64(max(0, Date().timeIntervalSince1970 * 1000))
  }

  mutating func addRecord(of number: Int, _ core: EncodingCore) throws {
    let (value, facts) = (core.entries[number].value, core.entries[number].facts.takeUnretainedValue())
    let tags = try tags(of: facts)
    let keyStart = graph.keys.count
    graph.keys.append(keyPrefix)
    append(digest: tags.identity.digest, to: &graph.keys)
    let isCut = core.identities.withIdentifier(of: number) { identifier in
      Identifier.appendKeyForm(of: identifier, to: &graph.keys)
      return Identifier.isCut(byteCount: identifier.count)
    }
    let start = graph.bytes.count
    try core.withBody(of: value) { body in
      var flags: UInt8 = 0
      if isCut { flags |= RecordFormat.Flag.hasFullIdentifier }
      if tags.concrete != tags.identity { flags |= RecordFormat.Flag.hasConcreteTag }
      if !core.references.isEmpty { flags |= RecordFormat.Flag.hasReferences }
      if !core.recordShapes.isEmpty { flags |= RecordFormat.Flag.hasShapes }
      graph.bytes.append(UInt8(RecordFormat.version))
      graph.bytes.append(flags)
      for _ in RecordFormat.checksumOffset..<RecordFormat.timeOffset { graph.bytes.append(0) }
      for byte in 0..<6 { graph.bytes.append(UInt8(truncatingIfNeeded: time >> UInt64(byte * 8))) }
      if isCut {
        core.identities.withIdentifier(of: number) { identifier in
          appendVarint(UInt64(identifier.count), to: &graph.bytes)
          graph.bytes.append(contentsOf: identifier)
        }
      }
      if tags.concrete != tags.identity { append(digest: tags.concrete.digest, to: &graph.bytes) }
      if !core.references.isEmpty { appendReferences(core) }
      if !core.recordShapes.isEmpty { appendShapes(core) }
      graph.bytes.append(contentsOf: body)
    }
    sealRecord(key: keyStart + 1, record: start)
    graph.records.append(
      EncodedGraph.Record(
        key: keyStart..<graph.keys.count, value: start..<graph.bytes.count,
        formerTags: tags.former.isEmpty ? [] : tags.former.map(\.digest)))
  }

  /// Fills in the checksum.
  private mutating func sealRecord(key: Int, record: Int) {
    let checksum = graph.keys.withUnsafeBytes { keys in
      graph.bytes.withUnsafeBytes { bytes in
        RecordFormat.checksum(
          key: UnsafeRawBufferPointer(rebasing: keys[key...]),
          record: UnsafeRawBufferPointer(rebasing: bytes[record...]))
      }
    }
    for byte in 0..<4 {
      graph.bytes[record + RecordFormat.checksumOffset + byte] = UInt8(truncatingIfNeeded: checksum >> UInt32(byte * 8))
    }
  }

  private mutating func appendReferences(_ core: EncodingCore) {
    tagTable.removeAll(keepingCapacity: true)
    var tagIndices: [UInt64: Int] = [:]
    for reference in core.references {
      let tag = core.identities.tag(of: reference.entry)
      if tagTable.last == tag || tagIndices[tag] != nil { continue }
      tagIndices[tag] = tagTable.count
      tagTable.append(tag)
      noteTag(of: reference, core)
    }
    appendVarint(UInt64(tagTable.count), to: &graph.bytes)
    for tag in tagTable { append(digest: tag, to: &graph.bytes) }
    appendVarint(UInt64(core.references.count), to: &graph.bytes)
    for reference in core.references {
      let tag = tagTable.count == 1 ? 0 : tagIndices[core.identities.tag(of: reference.entry)] ?? 0
      graph.bytes.append(reference.kind.rawValue << 6 | UInt8(min(tag, 63)))
      if tag >= 63 { appendVarint(UInt64(tag), to: &graph.bytes) }
      core.identities.withIdentifier(of: reference.entry) { identifier in
        appendVarint(UInt64(identifier.count), to: &graph.bytes)
        graph.bytes.append(contentsOf: identifier)
      }
    }
  }

  private mutating func appendShapes(_ core: EncodingCore) {
    appendVarint(UInt64(core.recordShapes.count), to: &graph.bytes)
    for shape in core.recordShapes {
      let shape = shape.takeUnretainedValue()
      append(digest: shape.digest, to: &graph.bytes)
      if shapeDigests.insert(shape.digest).inserted { graph.shapes.append((shape.digest, shape.text)) }
    }
  }

  private func append(digest: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: digest.bigEndian) { bytes.append(contentsOf: $0) }
  }

  // MARK: - Tags

  private mutating func tags(of facts: TypeFacts) throws -> TypeFacts.Tags {
    if facts === lastFacts, let lastTags { return lastTags }
    let tags = try facts.tags()
    lastFacts = facts
    lastTags = tags
    note(tags.identity)
    note(tags.concrete)
    return tags
  }

  private mutating func note(_ tag: TypeTag) {
    if tagDigests.insert(tag.digest).inserted { graph.tags.append(tag) }
  }

  /// The text of a tag that only a `Reference` names is known to the process that made the reference.
  private mutating func noteTag(of reference: (entry: Int, kind: ReferenceKind), _ core: EncodingCore) {
    let digest = core.identities.tag(of: reference.entry)
    if tagDigests.contains(digest) { return }
    let facts = core.entries[reference.entry].facts.takeUnretainedValue()
    if let tags = try? facts.tags(), let tag = ([tags.identity] + tags.former).first(where: { $0.digest == digest }) {
      note(tag)
    }
  }
}

extension EncodingCore {
  /// Writes the identifier of a root into ``identifierWriter``; returns the tag of its identity space.
  func writeIdentity(ofRoot root: any Encodable) throws -> (TypeTag, Unmanaged<TypeFacts>) {
    let facts = state.pointee.types.facts(of: type(of: root)).0
    let known = facts.takeUnretainedValue()
    let tag = try known.tags().identity
    switch known.rootIdentification {
    case .identifier:
      try withAddress(of: root) { try writeIdentifier(of: $0, known) }
    case .digest:
      let canonical = try canonicalBytes(of: root, userInfo: userInfo)
      identifierWriter.removeAll()
      canonical.withUnsafeBytes { identifierWriter.write(digest: ContentDigest.digest16(of: $0)) }
    case .none:
      throw GraphCodingError.missingConformance(type: known.name)
    }
    return (tag, facts)
  }

  private func withAddress(of value: some Encodable, _ body: (UnsafeRawPointer) throws -> Void) throws {
    try withUnsafePointer(to: value) { try body(UnsafeRawPointer($0)) }
  }
}

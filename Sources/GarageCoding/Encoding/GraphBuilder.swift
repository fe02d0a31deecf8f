/// Puts the records of a graph together, one behind the other: key, head, tables, body, checksum.
///
/// Belongs to an ``EncodingCore`` and keeps its memory from graph to graph.
struct GraphBuilder: ~Copyable {
  private var keyPrefix: UInt8 = 0
  private var time: UInt64 = 0
  private var writesWholeIdentifiers = false
  private var bytes = ByteArena()
  private var records = RawStack<RecordPlace>()
  /// Whether the key of each record stands behind that of the one before. Noted while both are near.
  private var isInKeyOrder = true
  /// Whether the next bodies are those of records.
  var expectsBodies = false
  /// Where among the bytes a large body is being written, so that it need not be copied; nil where it is elsewhere.
  private var bodyPlace: Int?
  /// What stands before such a body, once it is known.
  private var head = ByteArena()
  // What the graph needs beside its records.
  private var tags = Texts<TagPlace>()
  private var shapes = Texts<Permanent<Shape>>()
  /// The tags of the type met last, perhaps in a graph before, and whether this graph notes them.
  private var lastFacts: UnsafeMutableRawPointer?
  private var lastTags: Permanent<TypeFacts.Tags>?
  private var hasLastTags = false
  private var lastFormerTags: Int32 = -1
  /// The different lists of former tags that records have.
  private var formerTags: [[UInt64]] = []
  /// The memory of an earlier graph, which the next one may use.
  private var lastMemory: GraphMemory?
  /// What the last graph needed: mostly the next one needs the same, and then shares it.
  private var last = GraphTexts.none
  private var lastDigests: (tags: [UInt64], shapes: [UInt64]) = ([], [])
  /// The types that those tags were noted for, because types may share a tag.
  private var lastOwners: [UnsafeMutableRawPointer] = []

  /// - Parameters:
  ///   - time: milliseconds since 1970-01-01 UTC.
  ///   - writesWholeIdentifiers: whether every record holds its identifier, and not only those that keys hold cut.
  mutating func begin(keyPrefix: UInt8, time: UInt64, writesWholeIdentifiers: Bool) {
    self.keyPrefix = keyPrefix
    self.time = time
    self.writesWholeIdentifiers = writesWholeIdentifiers
  }

  mutating func forget() {
    expectsBodies = false
    bodyPlace = nil
    bytes.removeAll(keeping: 1 << 18)
    head.removeAll(keeping: 1 << 16)
    records.removeAll(keeping: 4096)
    isInKeyOrder = true
    tags.forget()
    shapes.forget()
    if !formerTags.isEmpty { formerTags = [] }
    hasLastTags = false
  }

  /// The graph of the records added so far, of which the first `rootCount` are the roots.
  mutating func finish(rootCount: Int) -> EncodedGraph {
    if !tags.isList(of: lastDigests.tags) || !tags.areOwned(by: lastOwners)
      || !shapes.isList(of: lastDigests.shapes) || !formerTags.isEmpty
      || !last.formerTags.isEmpty
    {
      noteTexts()
    }
    let byteCount = bytes.count
    let isLarge = byteCount > GraphBuilder.copiedByteCount
    let memory =
      isLarge
      ? GraphMemory.adopt(records.all, byteCount, in: bytes.take())
      : GraphMemory.copy(records.all, UnsafeRawBufferPointer(bytes.all), reusing: &lastMemory)
    bytes.expectedCount = isLarge ? byteCount : 0
    var graph = EncodedGraph(rootCount: rootCount, memory, last)
    graph.isInKeyOrder = isInKeyOrder
    return graph
  }

  /// Up to this size a copy costs less than new memory for the next graph.
  private static var copiedByteCount: Int { 1 << 16 }

  @inline(never)
  private mutating func noteTexts() {
    lastDigests = (tags.digestList, shapes.digestList)
    lastOwners = tags.all.map(\.owner.address)
    let shapes = shapes.all.map { shape in shape.with { ($0.digest, $0.text) } }
    last = GraphTexts(
      tags: tags.all.map(\.tag), types: tags.all.map(\.type), shapes: shapes, formerTags: formerTags)
  }

  // MARK: - One record

  /// Appends the record of an entry, whose body was encoded.
  mutating func addRecord(
    of number: Int, _ body: UnsafeRawBufferPointer, _ status: SyncStatus?,
    _ graph: UnsafeMutablePointer<GraphUnderConstruction>
  ) throws {
    try addRecord(
      of: graph.pointee.identities.identifier(of: number), graph.pointee.entries[number].facts, body, status,
      graph)
  }

  /// Appends the record of an object with that identifier, whose body was encoded.
  mutating func addRecord(
    of identifier: UnsafeRawBufferPointer, _ facts: Permanent<TypeFacts>, _ body: UnsafeRawBufferPointer,
    _ status: SyncStatus?, _ graph: UnsafeMutablePointer<GraphUnderConstruction>
  ) throws {
    let tags = try tags(of: facts)
    tags.with { tags in
      let isWritten = writesWholeIdentifiers || Identifier.isCut(byteCount: identifier.count)
      let parts = RecordParts(
        syncStatus: status, time: time, wholeIdentifier: isWritten ? identifier : nil,
        concreteTag: tags.isSubclass ? tags.concrete.digest : nil,
        typeVersion: facts.with { $0.version })
      noteTables(of: graph)
      if let place = bodyPlace {
        bodyPlace = nil
        return addRecord(
          aroundBodyAt: place, body.count, tags.identity.digest, identifier, parts, GraphTables(graph: graph))
      }
      let key = bytes.count
      bytes.reserve(10 &+ identifier.count &+ body.count &+ 64)
      bytes.append(keyPrefix)
      bytes.append(keyOfRecord: tags.identity.digest, identifier)
      let start = bytes.count
      bytes.append(parts, GraphTables(graph: graph))
      bytes.append(body)
      let prefixed = EncodedGraph.keyPrefixByteCount
      bytes.writeChecksum(
        ofRecordAt: start, endingWith: body,
        under: CheckedKey(UnsafeRawBufferPointer(rebasing: bytes.all[(key &+ prefixed)..<start])))
      append(
        RecordPlace(
          key: key, value: start, end: bytes.count, formerTags: lastFormerTags,
          status: status.map { Int32($0.rawValue) } ?? -1))
    }
  }

  // MARK: - Large bodies

  /// Whether a body that has grown to so many bytes is to be written where its record will stand. Its bytes are then written
  /// once and not copied.
  @inline(__always)
  func takesBody(of byteCount: Int) -> Bool { expectsBodies && byteCount > GraphBuilder.copiedByteCount }

  /// Room for a body of so many bytes, behind room for what stands before it. Bytes of it that were already written there stay.
  mutating func placeForBody(of byteCount: Int) -> UnsafeMutableBufferPointer<UInt8> {
    let place = bodyPlace ?? bytes.count + GraphBuilder.headByteCount
    bodyPlace = place
    return bytes.room(from: place, byteCount)
  }

  /// Mostly enough for key, header and tables. Where it is not, the body is moved.
  private static var headByteCount: Int { 1024 }

  /// Forgets a body that becomes no record.
  mutating func forgetBody() { bodyPlace = nil }

  /// Puts a record around a body that already stands in its place among the bytes.
  @inline(never)
  private mutating func addRecord(
    aroundBodyAt place: Int, _ bodyByteCount: Int, _ tag: UInt64, _ identifier: UnsafeRawBufferPointer,
    _ parts: RecordParts, _ tables: GraphTables
  ) {
    head.truncate(to: 0)
    head.append(keyPrefix)
    head.append(keyOfRecord: tag, identifier)
    let keyByteCount = head.count
    head.append(parts, tables)
    let key = bytes.append(UnsafeRawBufferPointer(head.all), before: place, bodyByteCount)
    let start = key + keyByteCount
    let checked = bytes.all[(key + EncodedGraph.keyPrefixByteCount)..<start]
    bytes.writeChecksum(ofRecordAt: start, under: CheckedKey(UnsafeRawBufferPointer(rebasing: checked)))
    append(
      RecordPlace(
        key: key, value: start, end: bytes.count, formerTags: lastFormerTags,
        status: parts.syncStatus.map { Int32($0.rawValue) } ?? -1))
  }

  @inline(__always)
  private mutating func append(_ place: RecordPlace) {
    if isInKeyOrder, let last = records.all.last {
      isInKeyOrder = EncodedGraph.isBefore(last, place, in: UnsafeRawBufferPointer(bytes.all))
    }
    records.append(place)
  }

  /// The record of a typed key's value, which was encoded and has neither identity nor time.
  ///
  /// - Parameter fullKey: the whole key, where it is kept cut.
  mutating func valueRecord(
    _ body: UnsafeRawBufferPointer, key: CheckedKey, fullKey: [UInt8]?,
    _ graph: UnsafeMutablePointer<GraphUnderConstruction>
  ) -> [UInt8] {
    noteTables(of: graph)
    let start = bytes.count
    defer { bytes.truncate(to: start) }
    if let fullKey {
      fullKey.withUnsafeBytes { bytes.append(RecordParts(wholeIdentifier: $0), GraphTables(graph: graph)) }
    } else {
      bytes.append(RecordParts(), GraphTables(graph: graph))
    }
    bytes.append(body)
    bytes.writeChecksum(ofRecordAt: start, under: key)
    return Array(bytes.all[start...])
  }

  /// A body behind its record's shapes, until the next change.
  mutating func shapesAndBody(
    _ body: UnsafeRawBufferPointer, _ graph: UnsafeMutablePointer<GraphUnderConstruction>
  ) -> UnsafeRawBufferPointer {
    bytes.truncate(to: 0)
    GraphTables(graph: graph).appendShapes(to: &bytes)
    bytes.append(body)
    return UnsafeRawBufferPointer(bytes.all)
  }

  /// Notes the texts of what the tables of the record under construction name by digest.
  @inline(__always)
  private mutating func noteTables(of graph: UnsafeMutablePointer<GraphUnderConstruction>) {
    if !graph.pointee.references.isEmpty { noteReferences(of: graph) }
    for shape in graph.pointee.shapes.all { shapes.note(shape, shape.with { $0.digest }) }
  }

  private mutating func noteReferences(of graph: UnsafeMutablePointer<GraphUnderConstruction>) {
    graph.pointee.collectReferenceTags()
    for tag in graph.pointee.referenceTags.all {
      note(tag.digest, of: graph.pointee.facts(ofReference: tag.first))
    }
  }

  // MARK: - Tags

  @inline(__always)
  private mutating func tags(of facts: Permanent<TypeFacts>) throws -> Permanent<TypeFacts.Tags> {
    if hasLastTags, facts.address == lastFacts, let lastTags { return lastTags }
    return try noteTags(of: facts)
  }

  private mutating func noteTags(of facts: Permanent<TypeFacts>) throws -> Permanent<TypeFacts.Tags> {
    let known: Permanent<TypeFacts.Tags>
    if facts.address == lastFacts, let lastTags {
      known = lastTags
    } else {
      known = try facts.with { try $0.lastingTags ?? Permanent($0.tags()) }
    }
    (lastFacts, lastTags, hasLastTags, lastFormerTags) = (facts.address, known, true, -1)
    known.with { tags in
      self.tags.note(TagPlace(owner: facts, tags: known, place: -1), tags.identity.digest)
      if tags.isSubclass {
        self.tags.note(TagPlace(owner: facts, tags: known, place: -2), tags.concrete.digest)
      }
      if !tags.formerDigests.isEmpty { noteFormerTags(tags.formerDigests) }
    }
    return known
  }

  @inline(never)
  private mutating func noteFormerTags(_ digests: [UInt64]) {
    lastFormerTags = Int32(formerTags.firstIndex(of: digests) ?? formerTags.count)
    if lastFormerTags == formerTags.count { formerTags.append(digests) }
  }

  /// Notes the text of a tag that a record refers to by digest: that of the target's type, present or former.
  private mutating func note(_ digest: UInt64, of facts: Permanent<TypeFacts>) {
    if tags.contains(digest) { return }
    let known = try? facts.with { try $0.lastingTags ?? Permanent($0.tags()) }
    guard let known else { return }
    let place = known.with { tags in
      tags.identity.digest == digest ? -1 : tags.former.firstIndex { $0.digest == digest }
    }
    if let place { tags.note(TagPlace(owner: facts, tags: known, place: place), digest) }
  }
}

/// The tables of the record under construction, whose tags were collected.
private struct GraphTables: RecordTables {
  let graph: UnsafeMutablePointer<GraphUnderConstruction>

  @inline(__always)
  var hasReferences: Bool { !graph.pointee.references.isEmpty }

  @inline(__always)
  var hasShapes: Bool { !graph.pointee.shapes.isEmpty }

  func appendReferences(to bytes: inout ByteArena) {
    ReferenceTable.write(
      graph.pointee.references.all, graph.pointee.identities, lazy: graph.pointee.lazyIdentities,
      graph.pointee.referenceTags, to: &bytes)
  }

  func appendShapes(to bytes: inout ByteArena) { ShapeTable.write(graph.pointee.shapes.all, to: &bytes) }
}

/// One of the tags of a type, which live as long as the process.
private struct TagPlace {
  var owner: Permanent<TypeFacts>
  var tags: Permanent<TypeFacts.Tags>
  /// Among the former tags; -1 for the identity space's, -2 for the type's own.
  var place: Int

  var tag: TypeTag {
    let tags = tags.object
    return place == -1 ? tags.identity : place == -2 ? tags.concrete : tags.former[place]
  }

  /// The type that has the tag now; nil where that is another type than the owner.
  var type: Any.Type? {
    place == -2 || place == -1 && !tags.object.isSubclass ? owner.object.type : nil
  }
}

extension Texts<TagPlace> {
  /// Whether they are the tags of these types, in their order.
  func areOwned(by owners: [UnsafeMutableRawPointer]) -> Bool {
    all.elementsEqual(owners) { $0.owner.address == $1 }
  }
}

/// What a graph names by digest, each once: mostly a handful.
private struct Texts<Text> {
  private var texts = RawStack<Text>()
  private var digests = RawStack<UInt64>()
  /// All of them as a set, once there are too many to look at each.
  private var many: Set<UInt64> = []
  private static var fewCount: Int { 16 }

  var all: UnsafeMutableBufferPointer<Text> { texts.all }

  /// Whether these are all the digests, in their order.
  func isList(of digests: [UInt64]) -> Bool { self.digests.all.elementsEqual(digests) }

  var digestList: [UInt64] { Array(digests.all) }

  func contains(_ digest: UInt64) -> Bool {
    digests.count > Self.fewCount ? many.contains(digest) : digests.all.contains(digest)
  }

  mutating func note(_ text: Text, _ digest: UInt64) {
    if contains(digest) { return }
    texts.append(text)
    digests.append(digest)
    if texts.count == Self.fewCount + 1 { many = Set(digests.all) }
    if texts.count > Self.fewCount + 1 { many.insert(digest) }
  }

  mutating func forget() {
    texts.removeAll()
    digests.removeAll()
    if !many.isEmpty { many = [] }
  }
}

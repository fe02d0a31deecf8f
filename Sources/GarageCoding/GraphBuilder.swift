internal import CGarage

/// Puts the records of a graph together, one behind the other: key, header, tables, body, checksum.
///
/// Belongs to an ``EncodingCore`` and keeps its memory from graph to graph.
struct GraphBuilder: ~Copyable {
  private var keyPrefix: UInt8 = 0
  private var time: UInt64 = 0
  private var writesWholeIdentifiers = false
  private var bytes = PlainStack<UInt8>()
  private var records = PlainStack<EncodedGraph.Record>()
  /// The tags of the record under construction's reference table.
  private var tagTable = PlainStack<UInt64>()
  // What the graph needs beside its records.
  private var tags = Texts<TypeTag>()
  private var shapes = Texts<Unmanaged<Shape>>()
  private var lastFacts: UnsafeMutableRawPointer?
  private var lastTags: TypeFacts.Tags?
  /// What the last graph needed: mostly the next one needs the same, and then shares these.
  private var tagList: (digests: [UInt64], tags: [TypeTag]) = ([], [])
  private var shapeList: (digests: [UInt64], shapes: [(digest: UInt64, text: [UInt8])]) = ([], [])

  /// - Parameters:
  ///   - time: milliseconds since 1970-01-01 UTC.
  ///   - writesWholeIdentifiers: whether every record holds its identifier, and not only those that keys hold cut.
  mutating func begin(keyPrefix: UInt8, time: UInt64, writesWholeIdentifiers: Bool) {
    self.keyPrefix = keyPrefix
    self.time = time
    self.writesWholeIdentifiers = writesWholeIdentifiers
  }

  mutating func forget() {
    bytes.removeAll(keeping: 1 << 18)
    records.removeAll(keeping: 4096)
    tags.forget()
    shapes.forget()
    lastFacts = nil
  }

  /// The graph of the records added so far, of which the first `rootCount` are the roots.
  mutating func finish(rootCount: Int) -> EncodedGraph {
    if !tags.isList(of: tagList.digests) { tagList = (tags.digestList, Array(tags.all)) }
    if !shapes.isList(of: shapeList.digests) {
      let all = shapes.all.map { shape in shape._withUnsafeGuaranteedRef { ($0.digest, $0.text) } }
      shapeList = (shapes.digestList, all)
    }
    return EncodedGraph(
      rootCount: rootCount, records: Array(records.all), bytes: Array(bytes.all), tags: tagList.tags,
      shapes: shapeList.shapes)
  }

  // MARK: - One record

  /// Appends the record of an entry, whose body was encoded.
  mutating func addRecord(
    of number: Int, _ body: UnsafeRawBufferPointer, _ status: SyncStatus?,
    _ graph: UnsafeMutablePointer<GraphUnderConstruction>
  ) throws {
    let facts = graph.pointee.entries[number].facts
    let tags = try tags(of: facts)
    let identifier = graph.pointee.identities.identifier(of: number)
    let isWritten = writesWholeIdentifiers || Identifier.isCut(byteCount: identifier.count)
    let keyStart = bytes.count
    bytes.append(keyPrefix)
    bytes.append(digest: tags.identity.digest)
    Identifier.withKeyForm(of: identifier) { bytes.append($0) }
    let start = bytes.count
    writeHeader(
      isWritten ? identifier : nil, tags, status, version: facts._withUnsafeGuaranteedRef { $0.version }, graph)
    let bodyStart = bytes.count
    bytes.append(body)
    seal(keyStart: keyStart, start: start, bodyStart: bodyStart)
    records.append(
      EncodedGraph.Record(
        key: keyStart..<start, value: start..<bytes.count, formerTags: tags.formerDigests, syncStatus: status))
  }

  /// The record of a typed key's value, which was encoded and has neither identity nor time.
  ///
  /// - Parameters:
  ///   - key: the key without its space byte.
  ///   - fullKey: the whole key, where it is kept cut.
  mutating func valueRecord(
    _ body: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, fullKey: [UInt8]?,
    _ graph: UnsafeMutablePointer<GraphUnderConstruction>
  ) -> [UInt8] {
    let start = bytes.count
    defer { bytes.truncate(to: start) }
    var flags: UInt8 = 0
    if fullKey != nil { flags |= RecordFormat.Flag.hasFullIdentifier }
    if !graph.pointee.references.isEmpty { flags |= RecordFormat.Flag.hasReferences }
    if !graph.pointee.shapes.isEmpty { flags |= RecordFormat.Flag.hasShapes }
    bytes.append(UInt8(RecordFormat.version))
    bytes.append(flags)
    bytes.append(number: UInt32(0))
    if let fullKey {
      bytes.append(varint: fullKey.count)
      fullKey.withUnsafeBytes { bytes.append($0) }
    }
    if !graph.pointee.references.isEmpty { writeReferences(graph) }
    if !graph.pointee.shapes.isEmpty { writeShapes(graph) }
    bytes.append(body)
    let record = UnsafeMutableRawBufferPointer(start: bytes.base + start, count: bytes.count - start)
    let checksum = RecordFormat.checksum(key: key, record: UnsafeRawBufferPointer(record))
    record.storeBytes(of: checksum.littleEndian, toByteOffset: RecordFormat.checksumOffset, as: UInt32.self)
    return Array(record)
  }

  private mutating func writeHeader(
    _ fullIdentifier: UnsafeRawBufferPointer?, _ tags: TypeFacts.Tags, _ status: SyncStatus?, version: Int,
    _ graph: UnsafeMutablePointer<GraphUnderConstruction>
  ) {
    let hasReferences = !graph.pointee.references.isEmpty
    let hasShapes = !graph.pointee.shapes.isEmpty
    var flags = status?.recordFlags ?? 0
    if fullIdentifier != nil { flags |= RecordFormat.Flag.hasFullIdentifier }
    if tags.isSubclass { flags |= RecordFormat.Flag.hasConcreteTag }
    if hasReferences { flags |= RecordFormat.Flag.hasReferences }
    if hasShapes { flags |= RecordFormat.Flag.hasShapes }
    if version > 0 { flags |= RecordFormat.Flag.hasVersion }
    bytes.append(UInt8(RecordFormat.version))
    bytes.append(flags)
    // The checksum comes last.
    bytes.append(number: UInt32(0))
    bytes.append(number: UInt32(truncatingIfNeeded: time).littleEndian)
    bytes.append(number: UInt16(truncatingIfNeeded: time >> 32).littleEndian)
    if let fullIdentifier {
      bytes.append(varint: fullIdentifier.count)
      bytes.append(fullIdentifier)
    }
    if tags.isSubclass { bytes.append(digest: tags.concrete.digest) }
    if hasReferences { writeReferences(graph) }
    if hasShapes { writeShapes(graph) }
    if version > 0 { bytes.append(varint: version) }
  }

  /// The checksum covers the key without its prefix, and the record but for the checksum.
  private mutating func seal(keyStart: Int, start: Int, bodyStart: Int) {
    let base = bytes.base
    var crc = garage_crc32c(0, base + keyStart + 1, start - keyStart - 1 + RecordFormat.checksumOffset)
    let rest = start + RecordFormat.timeOffset
    crc = garage_crc32c(crc, base + rest, bytes.count - rest)
    UnsafeMutableRawPointer(base + start + RecordFormat.checksumOffset)
      .storeBytes(of: crc.littleEndian, as: UInt32.self)
  }

  private mutating func writeReferences(_ graph: UnsafeMutablePointer<GraphUnderConstruction>) {
    tagTable.truncate(to: 0)
    // Few records refer to many types; beyond that a dictionary finds the place.
    var places: [UInt64: Int] = [:]
    for reference in graph.pointee.references.all {
      let tag = graph.pointee.identities.tag(of: reference.entry)
      if place(of: tag, places) != nil { continue }
      tagTable.append(tag)
      if tagTable.count == 9 { for (index, tag) in tagTable.all.enumerated() { places[tag] = index } }
      if tagTable.count > 9 { places[tag] = tagTable.count - 1 }
      note(tag, of: graph.pointee.entries[reference.entry].facts)
    }
    bytes.append(varint: tagTable.count)
    for tag in tagTable.all { bytes.append(digest: tag) }
    bytes.append(varint: graph.pointee.references.count)
    for reference in graph.pointee.references.all {
      let tag = place(of: graph.pointee.identities.tag(of: reference.entry), places) ?? 0
      bytes.append(reference.kind.rawValue << 6 | UInt8(min(tag, 63)))
      if tag >= 63 { bytes.append(varint: tag) }
      let identifier = graph.pointee.identities.identifier(of: reference.entry)
      bytes.append(varint: identifier.count)
      bytes.append(identifier)
    }
  }

  private func place(of tag: UInt64, _ places: [UInt64: Int]) -> Int? {
    tagTable.count <= 8 ? tagTable.all.lastIndex(of: tag) : places[tag]
  }

  private mutating func writeShapes(_ graph: UnsafeMutablePointer<GraphUnderConstruction>) {
    bytes.append(varint: graph.pointee.shapes.count)
    for shape in graph.pointee.shapes.all {
      let digest = shape._withUnsafeGuaranteedRef { $0.digest }
      bytes.append(digest: digest)
      shapes.note(shape, digest)
    }
  }

  // MARK: - Tags

  private mutating func tags(of facts: Unmanaged<TypeFacts>) throws -> TypeFacts.Tags {
    if facts.toOpaque() == lastFacts, let lastTags { return lastTags }
    let tags = try facts._withUnsafeGuaranteedRef { try $0.tags() }
    lastFacts = facts.toOpaque()
    if lastTags !== tags { lastTags = tags }
    self.tags.note(tags.identity, tags.identity.digest)
    if tags.isSubclass { self.tags.note(tags.concrete, tags.concrete.digest) }
    return tags
  }

  /// Notes the text of a tag that a record refers to by digest: that of the target's type, present or former.
  private mutating func note(_ digest: UInt64, of facts: Unmanaged<TypeFacts>) {
    if tags.contains(digest) { return }
    guard let known = try? facts._withUnsafeGuaranteedRef({ try $0.tags() }) else { return }
    if let tag = ([known.identity] + known.former).first(where: { $0.digest == digest }) { tags.note(tag, digest) }
  }
}

/// What a graph names by digest, each once: mostly a handful.
private struct Texts<Text> {
  private var texts = PlainStack<Text>()
  private var digests = PlainStack<UInt64>()
  /// Beyond a few, what a look at each would take too long to find.
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

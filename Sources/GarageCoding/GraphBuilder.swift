#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import CGarage

/// Puts the records of a graph together, one behind the other: key, header, tables, body, checksum.
struct GraphBuilder {
  var graph = EncodedGraph()
  private let keyPrefix: UInt8
  private let time: UInt64
  /// The key and header of the record under construction.
  private var key = PlainStack<UInt8>()
  private var header = PlainStack<UInt8>()
  private var tagTable: [UInt64] = []
  // What the graph holds already; a graph has few of each, so a look at the last ones mostly decides.
  private var tagDigests = SmallSet()
  private var shapeDigests = SmallSet()
  private var lastFacts: TypeFacts?
  private var lastTags: TypeFacts.Tags?

  init(keyPrefix: UInt8, time: UInt64?) {
    self.keyPrefix = keyPrefix
    self.time = time ?? UInt64(max(0, Date().timeIntervalSince1970 * 1000))
  }

  /// Gives back the memory. The graph stays.
  func deallocate() {
    key.deallocate()
    header.deallocate()
  }

  /// Encodes the object of an entry and appends its record.
  mutating func addRecord(of number: Int, _ core: EncodingCore) throws {
    let entry = core.graph.pointee.entries[number]
    if core.state.pointee.hasDateStrategy { core.currentEntry = number }
    let facts = entry.facts.takeUnretainedValue()
    let tags = try tags(of: facts)
    let isCut = beginKey(of: number, tags, core)
    let status = facts.isSyncable ? syncStatus(of: entry.value, facts) : nil
    let start = graph.bytes.count
    try core.withBody(of: entry.value) { body in
      writeHeader(of: number, tags, isCut: isCut, status, version: facts.version, core)
      seal(body)
      graph.bytes.append(contentsOf: UnsafeBufferPointer(start: header.base, count: header.count))
      graph.bytes.append(contentsOf: body)
    }
    let keyStart = graph.keys.count
    graph.keys.append(contentsOf: UnsafeBufferPointer(start: key.base, count: key.count))
    graph.records.append(
      EncodedGraph.Record(
        key: keyStart..<graph.keys.count, value: start..<graph.bytes.count, formerTags: tags.formerDigests,
        syncStatus: status))
  }

  /// The status of an object, whatever its type.
  private func syncStatus(of object: some Encodable, _ facts: TypeFacts) -> SyncStatus? {
    facts.syncStatus(of: object)
  }

  /// Encodes a typed key's value, which has no identity, and returns what is kept under the key.
  ///
  /// - Parameter fullKey: the whole key, where it is kept cut.
  mutating func valueRecord(
    _ value: any Encodable, key storedKey: UnsafeRawBufferPointer, fullKey: [UInt8]?, _ core: EncodingCore
  ) throws -> [UInt8] {
    key.truncate(to: 0)
    key.append(keyPrefix)
    key.append(storedKey)
    return try core.withBody(of: value) { body in
      let parts = core.graph
      var flags: UInt8 = 0
      if fullKey != nil { flags |= RecordFormat.Flag.hasFullIdentifier }
      if !parts.pointee.references.isEmpty { flags |= RecordFormat.Flag.hasReferences }
      if !parts.pointee.shapes.isEmpty { flags |= RecordFormat.Flag.hasShapes }
      header.truncate(to: 0)
      header.append(UInt8(RecordFormat.version))
      header.append(flags)
      for _ in RecordFormat.checksumOffset..<RecordFormat.valueFixedByteCount { header.append(0) }
      if let fullKey {
        header.append(varint: fullKey.count)
        fullKey.withUnsafeBytes { header.append($0) }
      }
      if !parts.pointee.references.isEmpty { writeReferences(core) }
      if !parts.pointee.shapes.isEmpty { writeShapes(core) }
      seal(body)
      return Array(UnsafeBufferPointer(start: header.base, count: header.count)) + Array(body)
    }
  }

  private mutating func beginKey(of number: Int, _ tags: TypeFacts.Tags, _ core: EncodingCore) -> Bool {
    key.truncate(to: 0)
    key.append(keyPrefix)
    key.append(digest: tags.identity.digest)
    return core.graph.pointee.identities.withIdentifier(of: number) { identifier in
      Identifier.withKeyForm(of: identifier) { key.append($0) }
      return Identifier.isCut(byteCount: identifier.count)
    }
  }

  private mutating func writeHeader(
    of number: Int, _ tags: TypeFacts.Tags, isCut: Bool, _ status: SyncStatus?, version: Int, _ core: EncodingCore
  ) {
    let parts = core.graph
    var flags = status?.recordFlags ?? 0
    if isCut { flags |= RecordFormat.Flag.hasFullIdentifier }
    if tags.isSubclass { flags |= RecordFormat.Flag.hasConcreteTag }
    if !parts.pointee.references.isEmpty { flags |= RecordFormat.Flag.hasReferences }
    if !parts.pointee.shapes.isEmpty { flags |= RecordFormat.Flag.hasShapes }
    if version > 0 { flags |= RecordFormat.Flag.hasVersion }
    header.truncate(to: 0)
    header.append(UInt8(RecordFormat.version))
    header.append(flags)
    // The checksum comes last.
    for _ in RecordFormat.checksumOffset..<RecordFormat.timeOffset { header.append(0) }
    for byte in 0..<6 { header.append(UInt8(truncatingIfNeeded: time >> UInt64(byte * 8))) }
    if isCut {
      parts.pointee.identities.withIdentifier(of: number) { identifier in
        header.append(varint: identifier.count)
        header.append(identifier)
      }
    }
    if tags.isSubclass { header.append(digest: tags.concrete.digest) }
    if !parts.pointee.references.isEmpty { writeReferences(core) }
    if !parts.pointee.shapes.isEmpty { writeShapes(core) }
    if version > 0 { header.append(varint: version) }
  }

  private mutating func seal(_ body: UnsafeRawBufferPointer) {
    var crc = garage_crc32c(0, key.base + 1, key.count - 1)
    crc = garage_crc32c(crc, header.base, RecordFormat.checksumOffset)
    crc = garage_crc32c(crc, header.base + RecordFormat.timeOffset, header.count - RecordFormat.timeOffset)
    crc = garage_crc32c(crc, body.baseAddress, body.count)
    UnsafeMutableRawPointer(header.base + RecordFormat.checksumOffset)
      .storeBytes(of: crc.littleEndian, as: UInt32.self)
  }

  private mutating func writeReferences(_ core: EncodingCore) {
    let parts = core.graph
    tagTable.removeAll(keepingCapacity: true)
    // Few records refer to many types; beyond that a dictionary finds the place.
    var places: [UInt64: Int] = [:]
    func place(_ tag: UInt64) -> Int? {
      tagTable.count <= 8 ? tagTable.lastIndex(of: tag) : places[tag]
    }
    for reference in parts.pointee.references {
      let tag = parts.pointee.identities.tag(of: reference.entry)
      if place(tag) != nil { continue }
      tagTable.append(tag)
      if tagTable.count == 9 { for (index, tag) in tagTable.enumerated() { places[tag] = index } }
      if tagTable.count > 9 { places[tag] = tagTable.count - 1 }
      note(tag, of: parts.pointee.entries[reference.entry].facts.takeUnretainedValue())
    }
    header.append(varint: tagTable.count)
    for tag in tagTable { header.append(digest: tag) }
    header.append(varint: parts.pointee.references.count)
    for reference in parts.pointee.references {
      let tag = place(parts.pointee.identities.tag(of: reference.entry)) ?? 0
      header.append(reference.kind.rawValue << 6 | UInt8(min(tag, 63)))
      if tag >= 63 { header.append(varint: tag) }
      parts.pointee.identities.withIdentifier(of: reference.entry) { identifier in
        header.append(varint: identifier.count)
        header.append(identifier)
      }
    }
  }

  private mutating func writeShapes(_ core: EncodingCore) {
    let shapes = core.graph
    header.append(varint: shapes.pointee.shapes.count)
    for shape in shapes.pointee.shapes {
      shape._withUnsafeGuaranteedRef { shape in
        header.append(digest: shape.digest)
        if shapeDigests.insert(shape.digest) { graph.shapes.append((shape.digest, shape.text)) }
      }
    }
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
    if tagDigests.insert(tag.digest) { graph.tags.append(tag) }
  }

  /// Notes the text of a tag that a record refers to by digest: that of the target's type, present or former.
  private mutating func note(_ digest: UInt64, of facts: TypeFacts) {
    if tagDigests.contains(digest) { return }
    guard let tags = try? facts.tags() else { return }
    if let tag = ([tags.identity] + tags.former).first(where: { $0.digest == digest }) { note(tag) }
  }
}

/// Digests, mostly a handful of them.
private struct SmallSet {
  private var last: UInt64?
  private var all: Set<UInt64> = []

  func contains(_ digest: UInt64) -> Bool { last == digest || all.contains(digest) }

  mutating func insert(_ digest: UInt64) -> Bool {
    if last == digest { return false }
    last = digest
    return all.insert(digest).inserted
  }
}

extension PlainStack<UInt8> {
  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) { for byte in bytes { append(byte) } }

  @inline(__always)
  mutating func append(digest: UInt64) { withUnsafeBytes(of: digest.bigEndian) { append($0) } }

  @inline(__always)
  mutating func append(varint number: Int) {
    var rest = UInt64(number)
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}

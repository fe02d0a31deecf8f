#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Records that are changed without being encoded anew: moved under another tag, or put in the form that their type
// writes today.

extension GraphEncoder {
  /// Encodes one object's record, and of the objects that can be reached from it those for which `isWanted` says
  /// so, with what these refer to in turn. The object's own record is the first.
  ///
  /// - Parameters:
  ///   - dates: how dates are encoded; by default exactly.
  ///   - isWanted: asked for an object's identity, and for digests of the tags it may have had before.
  /// - Throws: as ``encode(_:)``, and what `isWanted` throws.
  package func encode(
    _ root: any Encodable, dates: DateEncodingStrategy = .deferredToDate,
    andThose isWanted: (RecordIdentity, [UInt64]) throws -> Bool
  ) throws -> EncodedGraph {
    func status(of root: some Encodable, _ facts: TypeFacts) -> SyncStatus? { facts.syncStatus(of: root) }
    return try EncodingCore.withCore(userInfo: userInfo) { core in
      core.setDateStrategy(dates)
      try core.enqueueRoot(root, .root(0))
      let graph = core.graph
      return try encodeRecords(
        core, rootCount: 1,
        including: { number in
          if number == 0 { return true }
          let formerTags = try graph.pointee.entries[number].facts.takeUnretainedValue().tags().formerDigests
          return try isWanted(graph.pointee.identities.identity(of: number), formerTags)
        },
        status: { status(of: root, $1) }
      ) { _ in try core.body(of: root) }
    }
  }
}

extension RecordHeader {
  /// The newly encoded record of an object, with the modification time, the sync status and the whole identifier
  /// of the one that it replaces.
  ///
  /// - Parameters:
  ///   - new: the new record, under the key that it was encoded for.
  ///   - old: the record to be replaced.
  ///   - tag: the digest of the identity tag in the key where the new one is to be put; the identifier is that of
  ///     the old one's key.
  /// - Throws: ``GraphCodingError`` where one of them is damaged.
  package static func record(
    _ new: RawSpan, underKey newKey: RawSpan, replacing old: RawSpan, tag oldTag: UInt64,
    keyIdentifier: RawSpan,
    under tag: UInt64, typeName: String
  ) throws -> [UInt8] {
    try withParsedRecord(tag: oldTag, keyIdentifier, old, typeName) { oldRecord, oldBytes -> [UInt8] in
      try withParsedRecord(
        tag: UInt64(bigEndian: newKey.unsafeLoadUnaligned(as: UInt64.self)),
        newKey.extracting(8..<newKey.byteCount), new, typeName
      ) { newRecord, newBytes in
        let kept =
          RecordFormat.Flag.hasSyncStatus | RecordFormat.Flag.syncStatusMask
          | RecordFormat.Flag.hasFullIdentifier
        var bytes = Array(oldBytes[..<oldRecord.tablesOffset])
        bytes[1] = oldRecord.flags & kept | newRecord.flags & ~kept
        bytes += newBytes[newRecord.tablesOffset...]
        RecordParts.seal(&bytes, tag: tag, keyIdentifier: keyIdentifier.withUnsafeBytes { Array($0) })
        return bytes
      }
    }
  }

  /// A record under another tag, and with other tags in what it refers to; nil where nothing changes.
  ///
  /// - Parameters:
  ///   - newTag: the digest of the identity tag in the record's new key.
  ///   - concreteTag: maps the digest of the object's own tag, nil where it is that of the identity space.
  ///   - tags: the tags in references that change, and what they become.
  /// - Throws: ``GraphCodingError`` where the record is damaged.
  package static func record(
    _ record: RawSpan, tag: UInt64, keyIdentifier: RawSpan, movedTo newTag: UInt64,
    concreteTag: (UInt64?) -> UInt64?, renaming tags: [UInt64: UInt64], typeName: String
  ) throws -> [UInt8]? {
    try withParsedRecord(tag: tag, keyIdentifier, record, typeName) { parsed, bytes -> [UInt8]? in
      let concrete = concreteTag(parsed.concreteTag)
      let table = try parsed.renamedReferences(tags)
      if newTag == tag, concrete == parsed.concreteTag, table == nil { return nil }
      var changed = Array(bytes[..<parsed.tablesOffset])
      changed[1] = parsed.flags & ~RecordFormat.Flag.hasConcreteTag
      if let concrete {
        changed[1] |= RecordFormat.Flag.hasConcreteTag
        withUnsafeBytes(of: concrete.bigEndian) { changed.append(contentsOf: $0) }
      }
      let rest = parsed.tablesOffset + (parsed.concreteTag == nil ? 0 : 8)
      let tableEnd = parsed.references?.upperBound ?? rest
      changed += table ?? Array(bytes[rest..<tableEnd])
      changed += bytes[tableEnd...]
      RecordParts.seal(&changed, tag: newTag, keyIdentifier: keyIdentifier.withUnsafeBytes { Array($0) })
      return changed
    }
  }

  /// The value of a typed key with other tags in what it refers to; nil where nothing changes.
  ///
  /// - Parameter key: the key without its first byte.
  /// - Throws: ``ValueDamage``.
  package static func value(_ value: RawSpan, key: RawSpan, renaming tags: [UInt64: UInt64]) throws
    -> [UInt8]?
  {
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { bytes -> [UInt8]? in
        try namingDamage {
          let parsed = try ParsedRecord(valueUnder: key, bytes)
          guard let range = parsed.references, let table = try parsed.renamedReferences(tags) else {
            return nil
          }
          var changed = Array(bytes)
          changed.replaceSubrange(range, with: table)
          RecordParts.seal(&changed, key: Array(key))
          return changed
        }
      }
    }
  }
}

extension ParsedRecord {
  /// Where what follows the whole identifier begins.
  fileprivate var tablesOffset: Int { fullIdentifier?.upperBound ?? RecordFormat.fixedByteCount }

  /// The reference table with other tags; nil where it has none of them.
  func renamedReferences(_ tags: [UInt64: UInt64]) throws -> [UInt8]? {
    guard let references, !tags.isEmpty else { return nil }
    var table = Array(UnsafeRawBufferPointer(start: base + references.lowerBound, count: references.count))
    var at = references.lowerBound
    let count = try readVarint(base, &at, end: references.upperBound)
    var isRenamed = false
    for index in 0..<count {
      let offset = at + index * 8
      let tag = UInt64(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      guard let new = tags[tag] else { continue }
      isRenamed = true
      let place = offset - references.lowerBound
      withUnsafeBytes(of: new.bigEndian) { table.replaceSubrange(place..<(place + 8), with: $0) }
    }
    return isRenamed ? table : nil
  }
}

/// A record's parts, found and checked, in the bytes that somebody lent.
struct ParsedRecord {
  let base: UnsafeRawPointer
  let flags: UInt8
  /// Milliseconds since 1970-01-01 UTC.
  let time: Int64
  let fullIdentifier: Range<Int>?
  let concreteTag: UInt64?
  /// Where the tables begin: references, then shapes.
  let references: Range<Int>?
  let shapes: Range<Int>?
  /// The version of the object's type when it was encoded.
  let typeVersion: Int
  let body: Range<Int>

  init(_ key: RecordKey, _ record: UnsafeRawBufferPointer) throws {
    try self.init(record, RecordFormat.fixedByteCount) { RecordFormat.checksum(key, record: record) }
  }

  /// The value of a typed key, which has no time.
  ///
  /// - Parameter key: the key without its space byte.
  init(valueUnder key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer) throws {
    try self.init(record, RecordFormat.valueFixedByteCount) {
      RecordFormat.checksum(key: key, record: record)
    }
  }

  @inline(__always)
  private init(_ record: UnsafeRawBufferPointer, _ fixedByteCount: Int, _ checksum: () -> UInt32) throws {
    guard record.count > fixedByteCount, let base = record.baseAddress else {
      throw DamagedBody(reason: "it has \(record.count) bytes, fewer than any record", offset: 0)
    }
    let version = Int(record[0])
    guard version != 0, version <= RecordFormat.version else { throw UnknownVersion(version: version) }
    let stored = UInt32(
      littleEndian: base.loadUnaligned(fromByteOffset: RecordFormat.checksumOffset, as: UInt32.self))
    guard checksum() == stored else {
      throw DamagedBody(reason: "its checksum does not fit its bytes", offset: RecordFormat.checksumOffset)
    }
    let flags = record[1]
    let end = record.count
    var at = fixedByteCount
    fullIdentifier = try flags & RecordFormat.Flag.hasFullIdentifier == 0 ? nil : readBytes(base, &at, end)
    concreteTag = try flags & RecordFormat.Flag.hasConcreteTag == 0 ? nil : readDigest(base, &at, end)
    references = try flags & RecordFormat.Flag.hasReferences == 0 ? nil : skipReferences(base, &at, end)
    shapes = try flags & RecordFormat.Flag.hasShapes == 0 ? nil : skipShapes(base, &at, end)
    typeVersion = try flags & RecordFormat.Flag.hasVersion == 0 ? 0 : readVarint(base, &at, end: end)
    guard at < end else { throw DamagedBody(reason: "it has no body", offset: at) }
    self.base = base
    self.flags = flags
    time =
      fixedByteCount == RecordFormat.valueFixedByteCount
      ? 0 : Int64(UInt64(littleEndian: base.loadUnaligned(fromByteOffset: 4, as: UInt64.self)) >> 16)
    body = at..<end
  }

  /// A body behind its shapes, without a record.
  init(shapesAndBody base: UnsafeRawPointer, _ end: Int) throws {
    var at = 0
    self.base = base
    (flags, time, fullIdentifier, concreteTag, references, typeVersion) = (0, 0, nil, nil, nil, 0)
    shapes = try skipShapes(base, &at, end)
    guard at < end else { throw DamagedBody(reason: "it has no body", offset: at) }
    body = at..<end
  }

  var syncStatus: SyncStatus? { SyncStatus(recordFlags: flags) }

  /// Where a record holds its whole identifier, which is all that is looked at; nil where it does not.
  static func wholeIdentifier(in record: UnsafeRawBufferPointer) -> Range<Int>? {
    guard record.count > RecordFormat.fixedByteCount, let base = record.baseAddress,
      record[1] & RecordFormat.Flag.hasFullIdentifier != 0
    else { return nil }
    var at = RecordFormat.fixedByteCount
    return try? readBytes(base, &at, record.count)
  }

  /// Visits the reference table in its order.
  @inline(__always)
  func forEachReference(_ visit: (ReferenceKind, UInt64, UnsafeRawBufferPointer) throws -> Void) throws {
    guard let references else { return }
    var at = references.lowerBound
    let end = references.upperBound
    let tagCount = try readVarint(base, &at, end: end)
    let tags = at
    at += tagCount * 8
    let count = try readVarint(base, &at, end: end)
    for _ in 0..<count {
      let first = base.load(fromByteOffset: at, as: UInt8.self)
      at += 1
      let index = try tagIndex(first, base, &at, end)
      guard let kind = ReferenceKind(rawValue: first >> 6), index < tagCount else {
        throw DamagedBody(reason: "its reference table names an unknown kind or tag", offset: at)
      }
      let identifier = try readBytes(base, &at, end)
      try visit(
        kind, UInt64(bigEndian: base.loadUnaligned(fromByteOffset: tags + index * 8, as: UInt64.self)),
        UnsafeRawBufferPointer(start: base + identifier.lowerBound, count: identifier.count))
    }
  }

  /// Visits the digests of the record's shapes in their order.
  @inline(__always)
  func forEachShape(_ visit: (UInt64) throws -> Void) throws {
    guard let shapes else { return }
    var at = shapes.lowerBound
    let count = try readVarint(base, &at, end: shapes.upperBound)
    for index in 0..<count {
      try visit(UInt64(bigEndian: base.loadUnaligned(fromByteOffset: at + index * 8, as: UInt64.self)))
    }
  }
}

extension SyncStatus {
  /// The status that a record's flags hold; nil where they hold none.
  init?(recordFlags flags: UInt8) {
    if flags & RecordFormat.Flag.hasSyncStatus == 0 { return nil }
    self.init(rawValue: Int(flags & RecordFormat.Flag.syncStatusMask))
  }

  /// What a record's flags hold of it.
  var recordFlags: UInt8 { RecordFormat.Flag.hasSyncStatus | UInt8(rawValue) }
}

/// The record's version byte is not one this library reads.
struct UnknownVersion: Error {
  var version: Int
}

private func readBytes(_ base: UnsafeRawPointer, _ at: inout Int, _ end: Int) throws -> Range<Int> {
  let count = try readVarint(base, &at, end: end)
  guard count <= end - at else {
    throw DamagedBody(reason: "an identifier goes beyond the record", offset: at)
  }
  defer { at += count }
  return at..<(at + count)
}

private func readDigest(_ base: UnsafeRawPointer, _ at: inout Int, _ end: Int) throws -> UInt64 {
  guard 8 <= end - at else { throw DamagedBody(reason: "a digest is cut", offset: at) }
  defer { at += 8 }
  return UInt64(bigEndian: base.loadUnaligned(fromByteOffset: at, as: UInt64.self))
}

@inline(__always)
private func tagIndex(_ first: UInt8, _ base: UnsafeRawPointer, _ at: inout Int, _ end: Int) throws -> Int {
  let index = Int(first & 0x3F)
  return index < 63 ? index : try readVarint(base, &at, end: end)
}

private func skipReferences(_ base: UnsafeRawPointer, _ at: inout Int, _ end: Int) throws -> Range<Int> {
  let start = at
  let tagCount = try readVarint(base, &at, end: end)
  guard tagCount <= (end - at) / 8 else { throw DamagedBody(reason: "its table of tags is cut", offset: at) }
  at += tagCount * 8
  let count = try readVarint(base, &at, end: end)
  guard count <= (end - at) / 2 else { throw DamagedBody(reason: "its reference table is cut", offset: at) }
  for _ in 0..<count {
    guard at < end else { throw DamagedBody(reason: "its reference table is cut", offset: at) }
    let first = base.load(fromByteOffset: at, as: UInt8.self)
    at += 1
    _ = try tagIndex(first, base, &at, end)
    _ = try readBytes(base, &at, end)
  }
  return start..<at
}

private func skipShapes(_ base: UnsafeRawPointer, _ at: inout Int, _ end: Int) throws -> Range<Int> {
  let start = at
  let count = try readVarint(base, &at, end: end)
  guard count <= (end - at) / 8 else { throw DamagedBody(reason: "its table of shapes is cut", offset: at) }
  at += count * 8
  return start..<at
}

/// What a record says about itself, without any Swift type.
public struct RecordHeader: Sendable {
  /// The digest of the object's own type tag, where it is not that of its identity space.
  public var concreteTag: UInt64?
  /// Milliseconds since 1970-01-01 UTC.
  public var modificationTime: Int64
  /// The stored sync status, for types that have one.
  public var syncStatus: SyncStatus?
  /// The whole identifier, where the key holds it cut or hides it.
  public var fullIdentifier: Identifier?
  /// The version that the object's type had when the object was parked: 0 where it had none.
  public var typeVersion: Int

  /// Reads and checks a record's header and checksum.
  ///
  /// - Parameters:
  ///   - tag: the digest of the identity tag in the record's key.
  ///   - keyIdentifier: the identifier as the key holds it.
  ///   - record: the record's bytes.
  /// - Throws: ``GraphCodingError/corrupt(type:identifier:reason:)`` or
  ///   ``GraphCodingError/newerFormat(type:identifier:version:)``, naming the type as `typeName`.
  public init(tag: UInt64, keyIdentifier: RawSpan, record: RawSpan, typeName: String) throws {
    self = try withParsedRecord(tag: tag, keyIdentifier, record, typeName) { parsed, record in
      RecordHeader(
        concreteTag: parsed.concreteTag, modificationTime: parsed.time, syncStatus: parsed.syncStatus,
        fullIdentifier: parsed.fullIdentifier.flatMap { Identifier(bytes: Array(record[$0])) },
        typeVersion: parsed.typeVersion)
    }
  }

  private init(
    concreteTag: UInt64?, modificationTime: Int64, syncStatus: SyncStatus?, fullIdentifier: Identifier?,
    typeVersion: Int
  ) {
    self.concreteTag = concreteTag
    self.modificationTime = modificationTime
    self.syncStatus = syncStatus
    self.fullIdentifier = fullIdentifier
    self.typeVersion = typeVersion
  }

  /// The sync status that a record's bytes name, which are not checked for damage.
  public static func uncheckedSyncStatus(of record: RawSpan) -> SyncStatus? {
    record.byteCount > 1 ? SyncStatus(recordFlags: record.unsafeLoad(fromByteOffset: 1, as: UInt8.self)) : nil
  }

  /// The record with another sync status, and a checksum that fits. Nothing is decoded.
  ///
  /// - Throws: as ``init(tag:keyIdentifier:record:typeName:)``.
  public static func record(
    _ record: RawSpan, settingSyncStatus status: SyncStatus, tag: UInt64, keyIdentifier: RawSpan,
    typeName: String
  ) throws -> [UInt8] {
    try withParsedRecord(tag: tag, keyIdentifier, record, typeName) { parsed, record in
      var changed = [UInt8](record)
      let mask = RecordFormat.Flag.hasSyncStatus | RecordFormat.Flag.syncStatusMask
      changed[1] = parsed.flags & ~mask | status.recordFlags
      let checksum = keyIdentifier.withUnsafeBytes { identifier in
        changed.withUnsafeBytes {
          RecordFormat.checksum(RecordKey(tag: tag, identifier: identifier), record: $0)
        }
      }
      withUnsafeBytes(of: checksum.littleEndian) {
        changed.replaceSubrange(RecordFormat.checksumOffset..<RecordFormat.timeOffset, with: $0)
      }
      return changed
    }
  }

  /// Visits the references of a record in the order of its table.
  ///
  /// - Throws: as ``init(tag:keyIdentifier:record:typeName:)``, and what `visit` throws.
  public static func forEachReference(
    tag: UInt64, keyIdentifier: RawSpan, record: RawSpan, typeName: String,
    _ visit: (ReferenceKind, RecordIdentity) throws -> Void
  ) throws {
    try withParsedRecord(tag: tag, keyIdentifier, record, typeName) { parsed, _ in
      try parsed.forEachReference { kind, tag, identifier in
        try visit(kind, RecordIdentity(tag: tag, identifier: Identifier(unchecked: Array(identifier))))
      }
    }
  }
}

func withParsedRecord<R>(
  tag: UInt64, _ keyIdentifier: RawSpan, _ record: RawSpan, _ typeName: String,
  _ body: (ParsedRecord, UnsafeRawBufferPointer) throws -> R
) throws -> R {
  try keyIdentifier.withUnsafeBytes { identifier in
    try record.withUnsafeBytes { record in
      let key = RecordKey(tag: tag, identifier: identifier)
      do {
        return try body(ParsedRecord(key, record), record)
      } catch {
        throw naming(error, typeName, key)
      }
    }
  }
}

/// What was thrown about damaged bytes, with the name of the object; any other error as it is.
func naming(_ error: any Error, _ type: String, _ key: RecordKey) -> any Error {
  switch error {
  case let damage as DamagedBody:
    GraphCodingError.corrupt(
      type: type, identifier: key.text, reason: "\(damage.reason) (byte \(damage.offset))")
  case let unknown as UnknownVersion where unknown.version == 0:
    GraphCodingError.corrupt(type: type, identifier: key.text, reason: "it has no format version")
  case let unknown as UnknownVersion:
    GraphCodingError.newerFormat(type: type, identifier: key.text, version: unknown.version)
  default: error
  }
}

/// What a record says about itself, read without any Swift type.
public struct RecordSummary: Sendable {
  /// The digest of the object's own type tag; nil if that is the tag of its identity space.
  public var concreteTag: UInt64?
  /// Milliseconds since 1970-01-01 UTC.
  public var modificationTime: Int64
  /// The stored sync status; nil for types without one.
  public var syncStatus: SyncStatus?
  /// The whole identifier, if the key holds it cut or hides it.
  public var wholeIdentifier: Identifier?
  /// The version that the object's type had when the object was parked; 0 if it had none.
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
    self = try ParsedRecord.with(tag: tag, keyIdentifier, record, typeName) { parsed, _ in
      RecordSummary(parsed)
    }
  }

  init(_ record: ParsedRecord) {
    concreteTag = record.concreteTag
    modificationTime = Int64(record.head.time ?? 0)
    syncStatus = record.syncStatus
    wholeIdentifier = record.wholeIdentifier.flatMap { Identifier(bytes: Array(record.bytes($0))) }
    typeVersion = record.typeVersion
  }

  /// The sync status in a record's bytes, which are not checked for damage.
  public static func uncheckedSyncStatus(of record: RawSpan) -> SyncStatus? {
    record.withUnsafeBytes { RecordHead.uncheckedFlags($0)?.syncStatus }
  }

  /// Whether a record refers to others. Its bytes are not checked for damage.
  public static func uncheckedRefersToOthers(_ record: RawSpan) -> Bool {
    record.withUnsafeBytes { RecordHead.uncheckedFlags($0)?.contains(.references) ?? false }
  }

  /// Whether a record's object needs other objects: whether some of its references are neither lazy nor links. The record's
  /// bytes are not checked for damage.
  package static func uncheckedNeedsOthers(_ record: RawSpan) -> Bool {
    guard uncheckedRefersToOthers(record) else { return false }
    var needsOthers = false
    try? record.withUnsafeBytes { record in
      try ParsedRecord(encoded: record).forEachReference { kind, _, _ in
        if kind == .eager { needsOthers = true }
      }
    }
    return needsOthers
  }

  /// Visits the references of a record in the order of its table.
  ///
  /// - Throws: as ``init(tag:keyIdentifier:record:typeName:)``, and the errors of `visit`.
  public static func forEachReference(
    tag: UInt64, keyIdentifier: RawSpan, record: RawSpan, typeName: String,
    _ visit: (ReferenceKind, RecordIdentity) throws -> Void
  ) throws {
    try ParsedRecord.with(tag: tag, keyIdentifier, record, typeName) { parsed, _ in
      try parsed.forEachReference { kind, tag, identifier in
        try visit(kind, RecordIdentity(tag: tag, identifier: Identifier(unchecked: Array(identifier))))
      }
    }
  }
}

internal import GarageCoding
internal import GarageDriver

/// Which bytes form which key. Nothing else in the library knows that, except for two parts: ``ObjectKeys`` decides what stands
/// for the identifiers of objects, and ``KeyName`` makes the names of typed keys.
///
/// A key is one byte, which names its space, and then what checksums cover (`CheckedKey`): of a record's key that is
/// what the coder knows (`RecordKey`). The coder is told the byte (``recordPrefix``) and writes it before each key, so
/// that the keys of a graph are there in whole and are not copied once more.
///
/// The first byte of a key names its space. Numbers are big-endian, so that keys sort as what they hold.
/// ```
/// metadata      | 00 | name, ASCII |                             see StoreMetadata, HidingMetadata
/// tag text      | 01 | tag 8 |                                   → the tag's name, UTF-8
/// shape text    | 02 | shape 8 |                                 → the shape's text
/// record        | 10 | tag 8 | identifier ≤ 240 |                → a record, see Docs/Format.md
/// reference     | 1E | hash 16 | tag 8 | identifier ≤ 240 |      → see IndexBatch+References
///               | 1F | length 1 | target ≤ 240 | its tag 8 | tag 8 | identifier ≤ 240 |
/// index entry   | 20 | tag 8 | index 8 | values ≤ 240 | identifier ≤ 240 |  → see IndexBatch
/// sync status   | 21 | status 1 | tag 8 | identifier ≤ 240 |     → nothing: the record under tag and identifier
/// typed key     | 30 | namespaces | name |                          → a value, see KeyName
/// reserved      | 40 | sequence number 8 |                       changes
/// ```
/// `tag` is the digest of the name of an identity space (`TypeTag`), `identifier` the key form of an
/// `Identifier`, at most 240 bytes, or in a garage that hides them a hash of 16 bytes. The longest layout, that of a
/// reference, so has 498 bytes, which is within the 511 that every driver takes.
///
/// Texts are named by the digest of their content. They are never removed, because records of any age and
/// other processes count on them.
enum KeyLayout {
  /// The first byte of every key. These numbers are stored and never change.
  enum Space: UInt8, CaseIterable {
    case metadata = 0x00
    case tagText = 0x01
    case shapeText = 0x02
    case record = 0x10
    case hashedReference = 0x1E
    case reference = 0x1F
    case index = 0x20
    case syncStatus = 0x21
    case value = 0x30

    /// Whether its entries only tell something of records.
    var isOfEntries: Bool {
      switch self {
      case .hashedReference, .reference, .index, .syncStatus: true
      case .metadata, .tagText, .shapeText, .record, .value: false
      }
    }
  }

  /// The space that a key is in; nil where there is no such space.
  static func space(of key: RawSpan) -> Space? {
    key.byteCount == 0 ? nil : Space(rawValue: key.unsafeLoad(as: UInt8.self))
  }

  /// What stands before the part of a key that checksums cover: the space.
  private static var spaceByteCount: Int { 1 }

  /// What checksums cover of a key. Valid as long as the key is.
  @inline(__always)
  static func checked(_ key: UnsafeRawBufferPointer) -> CheckedKey {
    CheckedKey(UnsafeRawBufferPointer(rebasing: key[spaceByteCount...]))
  }

  @inline(__always)
  static func checked(_ key: RawSpan) -> CheckedKey { key.withUnsafeBytes { checked($0) } }

  /// The metadata entry of this name.
  static func metadata(_ name: StaticString) -> StorageKey {
    StorageKey([Space.metadata.rawValue] + Array(name.description.utf8))
  }

  /// What a text's key names; nil for one of another length.
  static func textName(_ kind: TextName.Kind, _ key: RawSpan) -> TextName? {
    guard key.byteCount == spaceByteCount + RecordKey.tagByteCount else { return nil }
    let digest = UInt64(bigEndian: key.unsafeLoadUnaligned(fromByteOffset: spaceByteCount, as: UInt64.self))
    return TextName(kind: kind, digest: digest)
  }

  /// The names of all types, and the keys of all shapes.
  static let allTagTexts = StorageKeyRange.prefix([Space.tagText.rawValue])
  static let allShapeTexts = StorageKeyRange.prefix([Space.shapeText.rawValue])

  /// The ranges in which a garage has no keys: between the spaces, and between the names of metadata.
  static let unknownRanges: [StorageKeyRange] = {
    let names = [StoreMetadata.key, HidingMetadata.key, IndexCatalog.key].sorted().map { $0.bytes }
    let behindNames = zip(
      [[Space.metadata.rawValue]] + names.map { $0 + [0] }, names + [[Space.metadata.rawValue + 1]])
    let spaces = Space.allCases.map(\.rawValue).sorted()
    let behindSpaces = zip(spaces, spaces.dropFirst().map { [$0] }.map(Optional.some) + [nil])
    return behindNames.map { StorageKeyRange(from: $0, to: $1) }
      + [StorageKeyRange(from: [], to: [Space.metadata.rawValue])]
      + behindSpaces.map { StorageKeyRange(from: [$0 + 1], to: $1) }
  }()

  /// The text of a tag or shape.
  static func text(_ name: TextName) -> StorageKey {
    let space: Space = name.kind == .tag ? .tagText : .shapeText
    return StorageKey(prefix(space, name.digest))
  }

  // MARK: - Records

  /// What an encoder puts before each key that it writes.
  static let recordPrefix = Space.record.rawValue

  /// Where in a record's key the identifier begins; it goes to the end.
  static var identifierOffset: Int { spaceByteCount + RecordKey.tagByteCount }

  /// Lends the key of one object's record, made on the stack. `identifier` is as it stands there.
  @inline(__always)
  static func withStorageKey<R>(
    tag: UInt64, _ identifier: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R {
    let byteCount = identifierOffset + identifier.byteCount
    return try withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { buffer in
      buffer[0] = Space.record.rawValue
      buffer.storeBytes(of: tag.bigEndian, toByteOffset: spaceByteCount, as: UInt64.self)
      identifier.withUnsafeBytes { buffer[identifierOffset...].copyBytes(from: $0) }
      return try body(UnsafeRawBufferPointer(buffer).bytes)
    }
  }

  /// The key of the record that the same object has under another tag.
  static func record(tag: UInt64, sameIdentifierAs key: RawSpan) -> StorageKey {
    StorageKey(prefix(.record, tag) + [UInt8](copying: key.extracting(identifierOffset..<key.byteCount)))
  }

  /// The key of the record with that tag and identifier, the latter as it stands in keys.
  static func record(tag: UInt64, _ identifier: some Collection<UInt8>) -> StorageKey {
    StorageKey(prefix(.record, tag) + identifier)
  }

  /// Every record of one identity space.
  static func records(tag: UInt64) -> StorageKeyRange { .prefix(prefix(.record, tag)) }

  /// Every record there is.
  static let allRecords = StorageKeyRange.prefix([Space.record.rawValue])

  /// The value of every typed key.
  static let allValues = StorageKeyRange.prefix([Space.value.rawValue])

  /// The tag in a record's key; 0 where another program put a key there that is too short to have one.
  static func tag(inRecordKey key: RawSpan) -> UInt64 {
    if key.byteCount < identifierOffset { return 0 }
    return UInt64(bigEndian: key.unsafeLoadUnaligned(fromByteOffset: spaceByteCount, as: UInt64.self))
  }

  /// Whether a key among those of records can be one: it has an identifier behind its tag.
  static func isRecord(_ key: RawSpan) -> Bool { key.byteCount > identifierOffset }

  /// Where in any key among those of records the identifier begins, within a key that is too short as well.
  @inline(__always)
  static func identifierStart(of key: RawSpan) -> Int { min(identifierOffset, key.byteCount) }

  // MARK: - Index entries

  /// What stands before the values in an entry: space, tag and index.
  static var indexPrefixByteCount: Int { spaceByteCount + RecordKey.tagByteCount + 8 }

  /// What the entries of one index for the records under one tag begin with.
  static func indexPrefix(tag: UInt64, index: UInt64) -> [UInt8] {
    var bytes = prefix(.index, tag)
    withUnsafeBytes(of: index.bigEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }

  /// Appends it.
  @inline(__always)
  static func appendIndexPrefix(tag: UInt64, index: UInt64, to bytes: inout OrderedBytes) {
    bytes.append(Space.index.rawValue)
    bytes.append(bigEndian: tag)
    bytes.append(bigEndian: index)
  }

  /// The same, for an entry that is written in one piece.
  @inline(__always)
  static func entryPrefix(tag: UInt64, index: UInt64) -> OrderedBytes.EntryPrefix {
    OrderedBytes.EntryPrefix(space: Space.index.rawValue, tag: tag, index: index)
  }

  /// All entries of one index for the records under one tag.
  static func entries(tag: UInt64, index: UInt64) -> StorageKeyRange {
    .prefix(indexPrefix(tag: tag, index: index))
  }

  /// All entries of all indexes for the records under one tag.
  static func entries(tag: UInt64) -> StorageKeyRange { .prefix(prefix(.index, tag)) }

  /// Every entry there is, of references too.
  static let allEntries = StorageKeyRange(
    from: [Space.hashedReference.rawValue], to: [Space.index.rawValue + 1])

  /// The key of the record that an entry is for, whose identifier begins at that place of the entry's key.
  static func record(ofEntry key: RawSpan, identifierAt place: Int) -> StorageKey {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(identifierOffset + key.byteCount - place)
    appendRecord(ofEntry: key, identifierAt: place, to: &bytes)
    return StorageKey(bytes)
  }

  /// Appends the same key to bytes.
  static func appendRecord(ofEntry key: RawSpan, identifierAt place: Int, to bytes: inout [UInt8]) {
    bytes.append(Space.record.rawValue)
    key.withUnsafeBytes { key in
      bytes.append(contentsOf: key[spaceByteCount..<identifierOffset])
      bytes.append(contentsOf: key[place...])
    }
  }

  /// The tag of the records that entries are for whose keys begin so; nil where they may be for records of any.
  static func tag(inEntryKey key: RawSpan, of space: Space) -> UInt64? {
    let place: Int
    switch space {
    case .index: place = spaceByteCount
    case .syncStatus: place = syncStatusPrefixByteCount
    default: return nil
    }
    guard key.byteCount >= place + RecordKey.tagByteCount else { return nil }
    return UInt64(bigEndian: key.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self))
  }

  // MARK: - Sync statuses

  /// Where in an entry's key the identifier begins; it goes to the end.
  static var syncStatusIdentifierOffset: Int { syncStatusPrefixByteCount + RecordKey.tagByteCount }

  /// The space and the status.
  private static var syncStatusPrefixByteCount: Int { spaceByteCount + 1 }

  /// The entry of the index for the record with that key.
  static func syncStatus(_ status: SyncStatus, ofRecord key: RawSpan) -> StorageKey {
    StorageKey(prefix(status) + [UInt8](copying: key.extracting(spaceByteCount..<key.byteCount)))
  }

  /// Every entry with that status, or of one identity space.
  static func syncStatuses(_ status: SyncStatus, tag: UInt64? = nil) -> StorageKeyRange {
    .prefix(prefix(status) + (tag.map { withUnsafeBytes(of: $0.bigEndian) { Array($0) } } ?? []))
  }

  /// Every entry there is.
  static let allSyncStatuses = StorageKeyRange.prefix([Space.syncStatus.rawValue])

  /// The key of the record that an entry is for.
  static func record(ofSyncStatus key: StorageKey) -> StorageKey {
    StorageKey([Space.record.rawValue] + key.bytes[syncStatusPrefixByteCount...])
  }

  /// The status that an entry says, and the key of the record that it is for; nil where there is no such status, or no
  /// such record can be.
  static func statusAndRecord(ofSyncStatus key: StorageKey) -> (SyncStatus, StorageKey)? {
    guard key.bytes.count > syncStatusIdentifierOffset,
      let status = SyncStatus(rawValue: Int(key.bytes[spaceByteCount]))
    else { return nil }
    return (status, record(ofSyncStatus: key))
  }

  private static func prefix(_ status: SyncStatus) -> [UInt8] {
    [Space.syncStatus.rawValue, UInt8(status.rawValue)]
  }

  private static func prefix(_ space: Space, _ digest: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(identifierOffset + Identifier.maximumKeyByteCount)
    bytes.append(space.rawValue)
    withUnsafeBytes(of: digest.bigEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }
}

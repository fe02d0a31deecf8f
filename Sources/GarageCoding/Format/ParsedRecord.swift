/// A record's parts, found and checked, in lent bytes. The one reader of all that stands before a body, except what
/// ``PlainRecord`` reads of the usual form.
struct ParsedRecord {
  let base: UnsafeRawPointer
  let head: RecordHead
  let wholeIdentifier: Range<Int>?
  let concreteTag: UInt64?
  /// Where the tables are.
  let references: Range<Int>?
  let shapes: Range<Int>?
  /// The version of the object's type when it was encoded.
  let typeVersion: Int
  let body: Range<Int>

  /// - Parameter isChecked: whether its checksum was verified before.
  @inline(__always)
  init(_ key: RecordKey, _ record: UnsafeRawBufferPointer, isChecked: Bool = false) throws {
    try self.init(record, under: isChecked ? nil : key.checked, isValue: false)
  }

  /// The value of a typed key.
  init(valueUnder key: CheckedKey, _ record: UnsafeRawBufferPointer) throws {
    try self.init(record, under: key, isValue: true)
  }

  /// A record that was just encoded; its checksum is not verified.
  @inline(__always)
  init(encoded record: UnsafeRawBufferPointer) throws { try self.init(record, under: nil, isValue: false) }

  /// - Parameter key: what the checksum covers of the key; nil if the checksum is not to be verified.
  @inline(__always)
  private init(_ record: UnsafeRawBufferPointer, under key: CheckedKey?, isValue: Bool) throws {
    let headByteCount = isValue ? RecordHead.valueByteCount : RecordHead.byteCount
    guard record.count > headByteCount, let base = record.baseAddress else {
      throw DamagedBytes(reason: "it has \(record.count) bytes, fewer than any record", offset: 0)
    }
    let head = try RecordHead(base, isValue: isValue)
    if let key, !RecordChecksum.isRight(record, under: key) {
      throw DamagedBytes(reason: "its checksum does not fit its bytes", offset: RecordChecksum.offset)
    }
    let flags = head.flags
    let end = record.count
    var at = headByteCount
    wholeIdentifier =
      try flags.contains(.wholeIdentifier) ? ParsedRecord.readIdentifier(base, &at, end: end) : nil
    concreteTag = try flags.contains(.concreteTag) ? ParsedRecord.readTag(base, &at, end) : nil
    references = try flags.contains(.references) ? ReferenceTable.skip(base, &at, end: end) : nil
    shapes = try flags.contains(.shapes) ? ShapeTable.skip(base, &at, end: end) : nil
    typeVersion = try flags.contains(.typeVersion) ? Varint.read(base, &at, end: end) : 0
    guard at < end else { throw DamagedBytes(reason: "it has no body", offset: at) }
    self.base = base
    self.head = head
    body = at..<end
  }

  /// A body behind its shapes, without a record.
  init(shapesAndBody base: UnsafeRawPointer, _ end: Int) throws {
    var at = 0
    self.base = base
    head = RecordHead()
    (wholeIdentifier, concreteTag, references, typeVersion) = (nil, nil, nil, 0)
    shapes = try ShapeTable.skip(base, &at, end: end)
    guard at < end else { throw DamagedBytes(reason: "it has no body", offset: at) }
    body = at..<end
  }

  @inline(__always)
  var syncStatus: SyncStatus? { head.flags.syncStatus }

  /// Visits the reference table in its order.
  @inline(__always)
  func forEachReference(_ visit: (ReferenceKind, UInt64, UnsafeRawBufferPointer) throws -> Void) throws {
    if let references { try ReferenceTable.forEach(base, references, visit) }
  }

  /// Visits the digests of the record's shapes in their order.
  @inline(__always)
  func forEachShape(_ visit: (UInt64) throws -> Void) throws {
    if let shapes { try ShapeTable.forEach(base, shapes, visit) }
  }

  /// Whether an unchecked record has no other references than lazy ones. False also where that takes long to find out.
  @inline(__always)
  static func isLazy(_ flags: RecordFlags, _ record: UnsafeRawBufferPointer) -> Bool {
    if !flags.contains(.references) { return true }
    return flags.isDisjoint(with: [.wholeIdentifier, .concreteTag]) && hasLazyTable(record)
  }

  @inline(never)
  private static func hasLazyTable(_ record: UnsafeRawBufferPointer) -> Bool {
    guard record.count > RecordHead.byteCount, let base = record.baseAddress else { return false }
    return (try? ReferenceTable.isLazy(base, RecordHead.byteCount, end: record.count)) ?? false
  }

  // MARK: - Parts

  /// Reads an identifier behind its length.
  @inline(__always)
  static func readIdentifier(_ base: UnsafeRawPointer, _ at: inout Int, end: Int) throws -> Range<Int> {
    try Varint.readCounted(base, &at, end: end, reason: "an identifier goes beyond the record")
  }

  private static func readTag(_ base: UnsafeRawPointer, _ at: inout Int, _ end: Int) throws -> UInt64 {
    guard 8 <= end - at else { throw DamagedBytes(reason: "a digest is cut", offset: at) }
    defer { at += 8 }
    return UInt64(bigEndian: base.loadUnaligned(fromByteOffset: at, as: UInt64.self))
  }

  /// Where a record holds its whole identifier; nil where it does not. Nothing else of the record is read.
  static func wholeIdentifier(in record: UnsafeRawBufferPointer) -> Range<Int>? {
    guard record.count > RecordHead.byteCount, let base = record.baseAddress,
      let flags = RecordHead.uncheckedFlags(record), flags.contains(.wholeIdentifier)
    else { return nil }
    var at = RecordHead.byteCount
    return try? readIdentifier(base, &at, end: record.count)
  }
}

// MARK: - To be written again

extension ParsedRecord {
  /// What it says beside tables and body.
  var parts: RecordParts {
    RecordParts(
      syncStatus: syncStatus, time: head.time, wholeIdentifier: wholeIdentifier.map { bytes($0) },
      concreteTag: concreteTag, typeVersion: typeVersion)
  }

  var tables: WrittenTables {
    WrittenTables(references: references.map { bytes($0) }, shapes: shapes.map { bytes($0) })
  }

  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }

  /// A copy with other parts and the same tables and body.
  func copy(_ parts: RecordParts, under key: CheckedKey) -> [UInt8] {
    parts.record(tables, body: bytes(body), under: key)
  }

  /// A copy with other parts, and with other tags in the reference table; nil where it has none of these.
  ///
  /// - Parameter keeps: whether a reference keeps its tag all the same; nil where none does.
  func copy(
    _ parts: RecordParts, renaming tags: [UInt64: UInt64],
    except keeps: ((UInt64, UnsafeRawBufferPointer) throws -> Bool)?, under key: CheckedKey
  ) throws -> [UInt8]? {
    guard let references, !tags.isEmpty else { return nil }
    let renamed =
      if let keeps {
        try ReferenceTable.copy(base, references, renaming: tags, except: keeps)
      } else {
        try ReferenceTable.copy(base, references, renaming: tags)
      }
    guard let table = renamed else { return nil }
    return table.withUnsafeBytes { table in
      var tables = tables
      tables.references = table
      return parts.record(tables, body: bytes(body), under: key)
    }
  }
}

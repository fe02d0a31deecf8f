/// The parts of a record beside its tables and its body. All records are written by these functions.
struct RecordParts {
  var syncStatus: SyncStatus?
  /// When the record was encoded, in milliseconds since 1970-01-01 UTC; nil in the value of a typed key.
  var time: UInt64?
  /// The whole identifier, where the key does not hold it; of a value the whole key.
  var wholeIdentifier: UnsafeRawBufferPointer?
  /// The object's own tag, where it is not the identity space's.
  var concreteTag: UInt64?
  /// The version of the object's type.
  var typeVersion = 0
}

/// The tables of a record that is to be written.
protocol RecordTables {
  var hasReferences: Bool { get }
  var hasShapes: Bool { get }
  func appendReferences(to bytes: inout ByteArena)
  func appendShapes(to bytes: inout ByteArena)
}

extension ByteArena {
  /// Appends all of a record that stands before its body.
  @inline(__always)
  mutating func append(_ parts: RecordParts, _ tables: some RecordTables) {
    let hasReferences = tables.hasReferences
    let hasShapes = tables.hasShapes
    var flags = RecordFlags(parts.syncStatus)
    if parts.wholeIdentifier != nil { flags.insert(.wholeIdentifier) }
    if parts.concreteTag != nil { flags.insert(.concreteTag) }
    if hasReferences { flags.insert(.references) }
    if hasShapes { flags.insert(.shapes) }
    if parts.typeVersion > 0 { flags.insert(.typeVersion) }
    append(atMost: RecordHead.byteCount) { place in
      if let time = parts.time {
        RecordHead.write(flags, time: time, to: place)
        return RecordHead.byteCount
      }
      RecordHead.writeOfValue(flags, to: place)
      return RecordHead.valueByteCount
    }
    if let identifier = parts.wholeIdentifier {
      append(varint: identifier.count)
      append(identifier)
    }
    if let tag = parts.concreteTag { append(digest: tag) }
    if hasReferences { tables.appendReferences(to: &self) }
    if hasShapes { tables.appendShapes(to: &self) }
    if parts.typeVersion > 0 { append(varint: parts.typeVersion) }
  }

  /// Writes the checksum of the record that begins at `start` and ends here.
  @inline(__always)
  mutating func writeChecksum(ofRecordAt start: Int, under key: CheckedKey) {
    RecordChecksum.write(into: UnsafeMutableRawBufferPointer(rebasing: all[start...]), under: key)
  }

  /// The same for a record whose body was just appended from `body`.
  @inline(__always)
  mutating func writeChecksum(
    ofRecordAt start: Int, endingWith body: UnsafeRawBufferPointer, under key: CheckedKey
  ) {
    let record = UnsafeMutableRawBufferPointer(rebasing: all[start...])
    // For a few bytes a second call takes longer than waiting for the copy.
    if body.count < 1024 { return RecordChecksum.write(into: record, under: key) }
    RecordChecksum.write(into: record, endingWith: body, under: key)
  }
}

extension RecordParts {
  /// A whole record, which is to stand under that key.
  func record(_ tables: some RecordTables, body: UnsafeRawBufferPointer, under key: CheckedKey) -> [UInt8] {
    var bytes = ByteArena()
    defer { bytes.deallocate() }
    bytes.append(self, tables)
    bytes.append(body)
    bytes.writeChecksum(ofRecordAt: 0, under: key)
    return Array(bytes.all)
  }
}

/// Tables that were written already: those of another record.
struct WrittenTables: RecordTables {
  var references: UnsafeRawBufferPointer?
  var shapes: UnsafeRawBufferPointer?

  var hasReferences: Bool { references != nil }
  var hasShapes: Bool { shapes != nil }
  func appendReferences(to bytes: inout ByteArena) { if let references { bytes.append(references) } }
  func appendShapes(to bytes: inout ByteArena) { if let shapes { bytes.append(shapes) } }
}

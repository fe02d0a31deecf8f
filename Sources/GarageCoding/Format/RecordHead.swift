/// The bytes that every record begins with, and, without the time, the value of every typed key.
///
/// ```
/// 0   | version  | 1
/// 1   | flags    | 1   see RecordFlags
/// 2   | checksum | 4   see RecordChecksum
/// 6   | time     | 6   milliseconds since 1970-01-01 UTC
/// ```
package struct RecordHead {
  /// How many bytes they are in a record.
  package static let byteCount = 12
  /// How many they are in a value.
  static let valueByteCount = 6
  /// Where the checksum of four bytes stands.
  package static let checksumOffset = 2
  /// Where the time stands in a record.
  package static let timeOffset = 6

  var flags: RecordFlags
  /// Milliseconds since 1970-01-01 UTC; nil in a value.
  var time: UInt64?

  // MARK: - Writing

  /// Writes the head of a record, whose checksum comes last of all, to where there is room for ``byteCount``.
  ///
  /// In two stores, because the checksum is slow to load what several have just written: the first has the lowest two of the
  /// time's six bytes, the second the other four.
  @inline(__always)
  static func write(_ flags: RecordFlags, time: UInt64, to place: UnsafeMutableRawPointer) {
    let first = UInt64(RecordFormat.version) | UInt64(flags.rawValue) << 8 | time << UInt64(8 * timeOffset)
    place.storeBytes(of: first.littleEndian, as: UInt64.self)
    place.storeBytes(
      of: UInt32(truncatingIfNeeded: time >> 16).littleEndian, toByteOffset: timeOffset + 2, as: UInt32.self)
  }

  /// Writes the head of a value to where there is room for ``valueByteCount``.
  @inline(__always)
  static func writeOfValue(_ flags: RecordFlags, to place: UnsafeMutableRawPointer) {
    place.storeBytes(of: first(flags).littleEndian, as: UInt16.self)
    place.storeBytes(of: 0, toByteOffset: checksumOffset, as: UInt32.self)
  }

  /// The first two bytes, as a number.
  @inline(__always)
  private static func first(_ flags: RecordFlags) -> UInt16 {
    UInt16(RecordFormat.version) | UInt16(flags.rawValue) << 8
  }

  // MARK: - Reading

  /// The head of an empty record.
  init() { (flags, time) = ([], nil) }

  /// Reads the head of a record or value that has so many bytes at least.
  ///
  /// - Throws: ``UnknownVersion``.
  @inline(__always)
  init(_ base: UnsafeRawPointer, isValue: Bool) throws {
    let version = base.load(as: UInt8.self)
    guard version != 0, version <= RecordFormat.version else { throw UnknownVersion(version: Int(version)) }
    flags = RecordFlags(rawValue: base.load(fromByteOffset: 1, as: UInt8.self))
    time = isValue ? nil : RecordHead.time(base)
  }

  @inline(__always)
  private static func time(_ base: UnsafeRawPointer) -> UInt64 {
    UInt64(littleEndian: base.loadUnaligned(fromByteOffset: timeOffset - 2, as: UInt64.self)) >> 16
  }

  /// Whether this is the head of a value without flags, in this version: what most values of plain types have.
  @inline(__always)
  static func isOfPlainValue(_ base: UnsafeRawPointer) -> Bool {
    base.loadUnaligned(as: UInt16.self) == first([]).littleEndian
  }

  /// Whether this is the head of a record in this version with a table of shapes, and nothing else, before its body.
  @inline(__always)
  static func isOfPlainRecord(_ base: UnsafeRawPointer) -> Bool {
    let ignored = UInt16(RecordFlags.ofSyncStatus.rawValue) << 8
    return UInt16(littleEndian: base.loadUnaligned(as: UInt16.self)) & ~ignored == first(.shapes)
  }

  /// The flags of unchecked bytes; nil where there are too few bytes.
  @inline(__always)
  package static func uncheckedFlags(_ record: UnsafeRawBufferPointer) -> RecordFlags? {
    record.count > 1 ? RecordFlags(rawValue: record[1]) : nil
  }

  /// The version of unchecked bytes; 0 where there are none.
  static func uncheckedVersion(_ record: UnsafeRawBufferPointer) -> Int { Int(record.first ?? 0) }
}

/// The version of a record is not one that this library reads.
struct UnknownVersion: Error {
  var version: Int
}

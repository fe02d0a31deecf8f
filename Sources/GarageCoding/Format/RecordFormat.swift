/// How an object is stored, for both coders. `Docs/Format.md` describes all of it.
///
/// ```
/// 0   | version 1 | flags 1 | checksum 4 | time 6 |        RecordHead, RecordFlags, RecordChecksum
/// 12  | whole identifier: varint length, bytes             where the key holds it cut or hides it
///     | concrete tag 8                                     the object's own, where it is not the identity space's
///     | reference table                                    ReferenceTable
///     | shape table                                        ShapeTable
///     | type version: varint                               of the object's type, where it is not 0
///     | body: one value                                    BodyTag
/// ```
/// The value of a typed key has neither time nor tag nor version; its whole key stands in the place of the identifier. Numbers
/// are little-endian, digests big-endian. Only `RecordParts` writes the parts in front of a body, and only `ParsedRecord` reads
/// them all; `PlainRecord` looks into records of the usual form without taking them apart.
public enum RecordFormat {
  /// The version that this library writes, and the newest that it reads.
  public static let version = 1
  /// How deeply values may nest inside one record.
  public static let maximumDepth = 512
}

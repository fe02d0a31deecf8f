/// A record of the form that nearly all have: of this version, with shapes and nothing else before its body, and with a small map
/// of one of these for a body. The parts stand at places that one byte tells, so that a question to a field takes no
/// ``ParsedRecord``.
///
/// ```
/// 0    | head 12 |                      no flags but that of shapes and the sync status
/// 12   | count 1 | digests of 8 |       ShapeTable
/// map  | map tag | length 1 | shape 1 | ContainerHeader: to the record's end
///      | values | entries |             those of the shape's keys, one each
/// ```
/// It answers only where ``ParsedRecord`` gives the same answer. Records of another form, and damaged ones, are left to that.
/// Nothing is read that does not stand before ``end``.
struct PlainRecord: BitwiseCopyable {
  let base: UnsafeRawPointer
  let end: Int
  /// Where the value of the shape's first key begins.
  private let content: Int
  /// The digest of the map's shape, as it stands there.
  private let shape: UInt64

  private static var digestOffset: Int { RecordHead.byteCount + 1 }
  private static var digestByteCount: Int { 8 }
  /// What stands before the values of a record with one shape.
  private static var leastByteCount: Int { digestOffset + digestByteCount + BodyTag.smallHeaderByteCount }

  /// Nil for a record of another form. Its checksum is not looked at.
  @inline(__always)
  init?(_ record: UnsafeRawBufferPointer) {
    guard record.count > PlainRecord.leastByteCount, let base = record.baseAddress,
      RecordHead.isOfPlainRecord(base)
    else { return nil }
    let count = Int(base.byte(at: RecordHead.byteCount))
    let map = PlainRecord.digestOffset &+ count &* PlainRecord.digestByteCount
    let content = map &+ BodyTag.smallHeaderByteCount
    guard count < Varint.singleByteEnd, content < record.count, base.byte(at: map) == BodyTag.mapSmall,
      content &+ Int(base.byte(at: map &+ 1)) == record.count
    else { return nil }
    // The first is 1; 0 is for none.
    let number = Int(base.byte(at: map &+ 2))
    guard number > 0, number <= count else { return nil }
    (self.base, end, self.content) = (base, record.count, content)
    shape = base.bits(
      at: PlainRecord.digestOffset &+ (number &- 1) &* PlainRecord.digestByteCount, as: UInt64.self)
  }

  @inline(__always)
  func isOfShape(_ digest: UInt64) -> Bool { shape == digest.bigEndian }

  /// Where the value of the shape's key with that place begins; not before ``end`` where the values before it do not end there.
  @inline(__always)
  func start(ofValue place: Int) -> Int { skip(place, from: content) }

  /// Where so many values end, the first of which begins at `offset`; beyond ``end`` where they do not end there.
  @inline(__always)
  func skip(_ count: Int, from offset: Int) -> Int {
    var (at, rest) = (offset, count)
    while rest > 0, at < end {
      at = endOfValue(at)
      rest &-= 1
    }
    return rest > 0 ? .max : at
  }

  /// Where the value ends that begins at `offset`, before ``end``; beyond ``end`` where it does not end there.
  @inline(__always)
  func endOfValue(_ offset: Int) -> Int {
    let told = BodyScanner.byteCount(base, offset)
    return told > 0 ? offset &+ told : endOfWideValue(offset)
  }

  /// The same for a value whose tag does not tell its length.
  @inline(never)
  private func endOfWideValue(_ offset: Int) -> Int {
    (try? BodyScanner.skipValue(base, offset, end: end)) ?? .max
  }
}

/// A record of the form that nearly all have: of this version, with one shape and nothing else before its body, and with a small
/// map of that shape for a body. All of this stands at fixed places, so that a question to a field takes no ``ParsedRecord``.
///
/// ```
/// 0   | head 12 |                       no flags but that of shapes and the sync status
/// 12  | 1 | digest 8 |                  ShapeTable
/// 21  | map tag | length 1 | 1 |        ContainerHeader: a map of the first shape, to the record's end
/// 24  | values | entries |              those of the shape's keys, one each
/// ```
/// It answers only where ``ParsedRecord`` gives the same answer: a record of another form, and whatever is wrong with one, is
/// for that to tell. Nothing is read that does not stand before ``end``.
struct PlainRecord: BitwiseCopyable {
  let base: UnsafeRawPointer
  let end: Int

  private static var shapeCountOffset: Int { RecordHead.byteCount }
  private static var digestOffset: Int { shapeCountOffset + 1 }
  private static var mapOffset: Int { digestOffset + 8 }
  /// Where the value of the shape's first key begins.
  private static var contentOffset: Int { mapOffset + BodyTag.smallHeaderByteCount }

  /// Nil for a record of another form. Its checksum is not looked at.
  @inline(__always)
  init?(_ record: UnsafeRawBufferPointer) {
    guard record.count > PlainRecord.contentOffset, let base = record.baseAddress,
      RecordHead.isOfPlainRecord(base), base.byte(at: PlainRecord.shapeCountOffset) == 1,
      base.byte(at: PlainRecord.mapOffset) == BodyTag.mapSmall,
      PlainRecord.contentOffset &+ Int(base.byte(at: PlainRecord.mapOffset &+ 1)) == record.count,
      base.byte(at: PlainRecord.mapOffset &+ 2) == 1
    else { return nil }
    (self.base, end) = (base, record.count)
  }

  @inline(__always)
  func isOfShape(_ digest: UInt64) -> Bool {
    base.bits(at: PlainRecord.digestOffset, as: UInt64.self) == digest.bigEndian
  }

  /// Where the value of the shape's key with that place begins; not before ``end`` where the values before it do not end there.
  @inline(__always)
  func start(ofValue place: Int) -> Int { skip(place, from: PlainRecord.contentOffset) }

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

  /// The same of a value whose tag does not tell.
  @inline(never)
  private func endOfWideValue(_ offset: Int) -> Int {
    (try? BodyScanner.skipValue(base, offset, end: end)) ?? .max
  }
}

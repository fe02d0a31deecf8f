#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A value in a record, where it stands. Valid as long as the record's bytes are lent.
///
/// Plain bits, because there is one for each field of each record that is looked at, and no references are to be counted.
package struct FieldPlace {
  private let base: UnsafeRawPointer
  /// The record's table of references.
  private let references: Range<Int>?
  let start: Int
  let end: Int

  @inline(__always)
  init(in record: ParsedRecord, start: Int, end: Int) {
    (base, references) = (record.base, record.references)
    (self.start, self.end) = (start, end)
  }

  @inline(__always)
  init(in record: PlainRecord, start: Int, end: Int) {
    (base, references) = (record.base, nil)
    (self.start, self.end) = (start, end)
  }

  /// An element of a collection that stands there.
  private init(in collection: FieldPlace, start: Int, end: Int) {
    (base, references) = (collection.base, collection.references)
    (self.start, self.end) = (start, end)
  }

  /// What kind of value begins here.
  @inline(__always)
  var tag: UInt8 { base.byte(at: start) }

  /// Whether it is a nil.
  package var isNull: Bool { tag == BodyTag.null || tag == BodyTag.absent }

  /// The scalar that stands here; nil for a map, an array, or a value that was written in an older version.
  package func value() throws -> FieldValue? {
    let tag = tag
    if tag >= BodyTag.smallInteger {
      if tag < BodyTag.shortString { return .number(.integer(Int64(tag - BodyTag.smallInteger))) }
      if tag < BodyTag.smallReference { return .text(try text()) }
      return try referencePlace.map { .reference(try reference($0)) }
    }
    switch tag {
    case BodyTag.null, BodyTag.absent: return .null
    case BodyTag.false: return .bool(false)
    case BodyTag.true: return .bool(true)
    case BodyTag.float: return .number(.double(Double(float)))
    case BodyTag.double: return .number(.double(double))
    case BodyTag.date: return .date(double)
    case BodyTag.string8, BodyTag.string32: return .text(try text())
    case BodyTag.uuid: return .uuid(Array(bytes(from: start + 1)))
    case BodyTag.data8: return .data(Array(bytes(from: start + 2)))
    case BodyTag.data32: return .data(Array(bytes(from: start + 5)))
    case BodyTag.decimal:
      guard let number = decimal else { throw DamagedBytes(reason: "a decimal is no number", offset: start) }
      return .number(.decimal(number))
    case BodyTag.reference8, BodyTag.reference32:
      return try referencePlace.map { .reference(try reference($0)) }
    default: return integer.map { .number($0) }
    }
  }

  /// The integer that stands here; nil for any other value, and for one of more than 64 bits.
  @inline(__always)
  var narrowInteger: Int64? {
    let tag = tag
    if tag &- BodyTag.smallInteger < BodyTag.shortString - BodyTag.smallInteger {
      return Int64(tag &- BodyTag.smallInteger)
    }
    guard tag &- BodyTag.int8 <= BodyTag.int64 - BodyTag.int8 else { return nil }
    // Numbers of all widths are mixed, so that branches on the width would be mispredicted. Whatever its width is, the number
    // stands at the top of the word that ends where the number ends. A record has more than a word before it.
    let word = UInt64(littleEndian: base.bits(at: end &- 8, as: UInt64.self))
    return Int64(bitPattern: word) &>> Int64(64 &- 8 &<< (tag &- BodyTag.int8))
  }

  private var integer: FieldNumber? {
    if let narrow = narrowInteger { return .integer(narrow) }
    switch tag {
    case BodyTag.uint64: return FieldNumber(UInt128(UInt64(littleEndian: payload(UInt64.self))))
    case BodyTag.int128: return FieldNumber(Int128(truncatingIfNeeded: wide))
    case BodyTag.uint128: return FieldNumber(wide)
    default: return nil
    }
  }

  /// The double behind the tag.
  @inline(__always)
  var double: Double { Double(bitPattern: UInt64(littleEndian: payload(UInt64.self))) }

  /// The float behind the tag.
  @inline(__always)
  var float: Float { Float(bitPattern: UInt32(littleEndian: payload(UInt32.self))) }

  /// What stands behind the tag.
  @inline(__always)
  var payload: UnsafeRawBufferPointer { bytes(from: start + 1) }

  /// The text of a decimal.
  @inline(__always)
  var decimalText: UnsafeRawBufferPointer { bytes(from: start + 2) }

  /// The decimal that stands here; nil where its text is none.
  var decimal: Decimal? {
    DecimalText.usualNumber(decimalText) ?? DecimalText.number(String(decoding: decimalText, as: UTF8.self))
  }

  private var wide: UInt128 {
    let low = UInt64(littleEndian: base.bits(at: start + 1, as: UInt64.self))
    return UInt128(UInt64(littleEndian: base.bits(at: start + 9, as: UInt64.self))) << 64 | UInt128(low)
  }

  // The scanner has found all of the value.
  @inline(__always)
  private func payload<T: BitwiseCopyable>(_ type: T.Type) -> T { base.bits(at: start + 1, as: type) }

  /// The bytes of the value.
  var copy: [UInt8] { Array(bytes(from: start)) }

  @inline(__always)
  private func bytes(from start: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + start, count: end - start)
  }

  /// The UTF-8 of the text that stands here; nil for any other value.
  @inline(__always)
  var utf8: UnsafeRawBufferPointer? {
    switch tag {
    case BodyTag.shortString..<BodyTag.smallReference: bytes(from: start + 1)
    case BodyTag.string8: bytes(from: start + 2)
    case BodyTag.string32: bytes(from: start + 5)
    default: nil
    }
  }

  /// Whether it refers to an object with a record of its own.
  var isReference: Bool { referencePlace != nil }

  /// The place in the table of references that stands here; nil for any other value.
  private var referencePlace: Int? {
    switch tag {
    case BodyTag.smallReference...(BodyTag.smallReference + 31): Int(tag - BodyTag.smallReference)
    case BodyTag.reference8: Int(payload(UInt8.self))
    case BodyTag.reference32: Int(UInt32(littleEndian: payload(UInt32.self)))
    default: nil
    }
  }

  /// Lends the tag and the identifier at a place in the table of references.
  @inline(__always)
  private func withReference<R>(
    _ place: Int, _ body: (UInt64, UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    var (next, found) = (0, nil as R?)
    try forEachReference { _, tag, identifier in
      if next == place { found = try body(tag, identifier) }
      next += 1
    }
    guard let found else { throw noReference(place) }
    return found
  }

  private func noReference(_ place: Int) -> DamagedBytes {
    DamagedBytes(reason: "reference \(place) is not in the record's table", offset: 0)
  }

  /// The whole table of references.
  private func identities() throws -> [RecordIdentity] {
    var all: [RecordIdentity] = []
    try forEachReference { _, tag, identifier in
      all.append(RecordIdentity(tag: tag, identifier: Identifier(unchecked: Array(identifier))))
    }
    return all
  }

  private func reference(_ place: Int) throws -> RecordIdentity {
    try withReference(place) {
      RecordIdentity(tag: $0, identifier: Identifier(unchecked: Array($1)))
    }
  }

  /// How the reference that stands here compares with an identity; nil for any other value.
  func order(ofReferenceBeside identity: RecordIdentity) throws -> Int? {
    guard let place = referencePlace else { return nil }
    return try withReference(place) { tag, identifier in
      if tag != identity.tag { return tag < identity.tag ? -1 : 1 }
      return identity.identifier.bytes.withUnsafeBytes { compareBytes(identifier, $0) }
    }
  }

  /// Visits the record's table of references in its order.
  func forEachReference(_ visit: (ReferenceKind, UInt64, UnsafeRawBufferPointer) throws -> Void) throws {
    if let references { try ReferenceTable.forEach(base, references, visit) }
  }

  private func text() throws -> String {
    guard let text = try textIfAny() else {
      throw DamagedBytes(reason: "a string is not UTF-8", offset: start)
    }
    return text
  }

  /// The text that stands here; nil for any other value.
  func textIfAny() throws -> String? {
    guard let utf8 else { return nil }
    // The initializer that repairs finds nothing to repair in ASCII, and takes a third of the time of the one that validates,
    // which is generic.
    if isASCII(utf8) { return String(decoding: utf8, as: UTF8.self) }
    guard let text = utf8.validText() else {
      throw DamagedBytes(reason: "a string is not UTF-8", offset: start)
    }
    return text
  }
}

// MARK: - Collections

extension FieldPlace {
  /// Visits the elements of an array, until `visit` returns false.
  ///
  /// - Parameter visit: gets each element that is a scalar, and nil for any other.
  /// - Returns: whether there is an array.
  package func forEachElement(_ visit: (FieldValue?) throws -> Bool) throws -> Bool {
    switch tag {
    case BodyTag.arraySmall, BodyTag.arrayLarge:
      guard
        let header = try ContainerHeader.read(
          base, start, end: end, small: BodyTag.arraySmall, large: BodyTag.arrayLarge)
      else { return false }
      var at = header.content
      // Read once for all: a reference is found by going through the table.
      var table: [RecordIdentity]?
      for _ in 0..<header.second {
        at = InlinePrefix.skipSyncStatus(base, at, end: header.end)
        let next = try BodyScanner.skipValue(base, at, end: header.end)
        let element = FieldPlace(in: self, start: at, end: next)
        let value: FieldValue?
        if let place = element.referencePlace {
          let all = try table ?? identities()
          table = all
          guard place < all.count else { throw noReference(place) }
          value = .reference(all[place])
        } else {
          value = try element.value()
        }
        if try !visit(value) { return true }
        at = next
      }
      return true
    case BodyTag.packedSmall, BodyTag.packedLarge:
      guard var array = try PackedArray(base, start, end: end) else { return false }
      for _ in 0..<array.count {
        let range = try array.next()
        if try !visit(packedElement(array, range)) { return true }
      }
      return true
    default: return false
    }
  }

  /// Whether an array has an element, if the bits of each element tell it; nil where it takes more than that.
  func containsPlainly(_ constant: FieldConstant) throws -> Bool? {
    guard var array = try PackedArray(base, start, end: end) else { return nil }
    if let text = constant.plainText, array.kind == .string {
      var isSure = true
      for _ in 0..<array.count {
        let range = try array.next()
        let utf8 = UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
        if text.withUnsafeBytes({ compareBytes(utf8, $0) }) == 0 { return true }
        if isSure && !isSurelyComposed(utf8) { isSure = false }
      }
      return isSure ? false : nil
    }
    if let integer = constant.integer, array.kind.isInteger {
      for _ in 0..<array.count where array.integer(try array.next().lowerBound) == Int128(integer) {
        return true
      }
      return false
    }
    return nil
  }

  private func packedElement(_ array: PackedArray, _ range: Range<Int>) throws -> FieldValue? {
    let at = range.lowerBound
    switch array.kind {
    case .string:
      let utf8 = UnsafeRawBufferPointer(start: base + at, count: range.count)
      guard let text = String(validating: utf8, as: UTF8.self) else {
        throw DamagedBytes(reason: "a string is not UTF-8", offset: at)
      }
      return .text(text)
    case .date: return .date(array.double(at))
    case .double: return .number(.double(array.double(at)))
    case .float:
      let bits = UInt32(littleEndian: array.load(at, as: UInt32.self))
      return .number(.double(Double(Float(bitPattern: bits))))
    case .bool: return .bool(array.load(at, as: UInt8.self) != 0)
    case .int8, .int16, .int32, .int64, .uint64, .uint8:
      guard let number: Int128 = array.integer(at) else { return nil }
      return .number(FieldNumber(number))
    }
  }
}

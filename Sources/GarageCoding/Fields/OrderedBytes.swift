#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Values as bytes that sort as the values do: what indexes keep. The one place that knows how.
///
/// Format: these bytes stand in keys and never change. Each value is one byte, its kind, and what belongs to it; none is
/// the beginning of another, so that several values in a row sort by the first that differs.
/// ```
/// null      | 01 |                            also a field that is absent
/// bool      | 02 | false, | 03 | true
/// number    | 05 | double 8 | 00 |            where the double is the number
///           | 05 | double 8 | 01 | decimal |  the greatest double below it, and the number itself
/// date      | 06 | double 8 |                 seconds since 2001-01-01 00:00 UTC
/// text      | 07 | UTF-8 | 00 |               in normalization form C, 00 as 01 01, 01 as 01 02
/// UUID      | 08 | 16 bytes |
/// data      | 09 | bytes | 00 |               00 as 01 01, 01 as 01 02
/// reference | 0A | tag 8 | identifier | 00 |  the same
/// other     | 0F |                            no scalar, or not to be told from the record
///
/// double    the sign bit flipped when positive, all bits when negative; every NaN as zeros, -0.0 as 0.0
/// decimal   | places before the point + 8000 hex, 2 | digits + 1 | 00 |, without zeros around; all inverted when negative
/// ```
///
/// Memory of its own that grows in place, because an index is gathered from millions of values.
package struct OrderedBytes: ~Copyable {
  package enum Kind {
    package static let null: UInt8 = 0x01
    package static let `false`: UInt8 = 0x02
    package static let `true`: UInt8 = 0x03
    package static let number: UInt8 = 0x05
    package static let date: UInt8 = 0x06
    package static let text: UInt8 = 0x07
    package static let uuid: UInt8 = 0x08
    package static let data: UInt8 = 0x09
    package static let reference: UInt8 = 0x0A
    package static let other: UInt8 = 0x0F

    /// Whether a value's first byte is that of a kind: false stands for both truth values, and nil for every kind.
    @inline(__always)
    package static func isOne(_ first: UInt8, of kind: UInt8?) -> Bool {
      guard let kind else { return true }
      return first == kind || kind == `false` && first == `true`
    }
  }

  /// A value of more bytes than these is cut.
  package static let uncutByteCount = 224
  /// How many bytes a cut value has: the first 224, and the first 16 of the SHA-256 of the whole.
  package static let cutByteCount = 240

  // As much as one value mostly takes.
  var arena = ByteArena(capacity: 64)

  package init() {}

  deinit { arena.deallocate() }

  /// How many bytes there are.
  package var count: Int {
    @inline(__always) get { arena.count }
  }

  /// A copy of them.
  package var bytes: [UInt8] { Array(all) }

  /// The bytes, until the next change.
  package var all: UnsafeRawBufferPointer {
    @inline(__always) get { UnsafeRawBufferPointer(arena.all) }
  }

  /// A byte of them.
  package subscript(place: Int) -> UInt8 {
    @inline(__always) get { arena.base[place] }
    @inline(__always) set { arena.base[place] = newValue }
  }

  package mutating func append(_ byte: UInt8) { arena.append(byte) }

  package mutating func append(_ bytes: RawSpan) { bytes.withUnsafeBytes { arena.append($0) } }

  package mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { arena.append($0) } }

  /// Removes all behind the first `count`.
  package mutating func truncate(to count: Int) { arena.truncate(to: count) }

  /// Removes all, and gives the memory back if it is more than this.
  package mutating func removeAll(keeping limit: Int) { arena.removeAll(keeping: limit) }

  // MARK: - Values

  package mutating func append(_ value: FieldValue) {
    switch value {
    case .null, .bool: arena.append(OrderedBytes.kind(of: value))
    case .number(let number): append(number)
    case .date(let seconds): append(Kind.date, seconds)
    case .text(var text): text.withUTF8 { append(utf8: UnsafeRawBufferPointer($0)) }
    case .uuid(let uuid):
      arena.append(Kind.uuid)
      append(uuid)
    case .data(let data):
      arena.append(Kind.data)
      data.withUnsafeBytes { appendEscaped($0) }
    case .reference(let identity):
      arena.append(Kind.reference)
      append(bigEndian: identity.tag)
      identity.identifier.bytes.withUnsafeBytes { appendEscaped($0) }
    }
  }

  /// The first byte of a value.
  package static func kind(of value: FieldValue) -> UInt8 {
    switch value {
    case .null: Kind.null
    case .bool(let value): value ? Kind.true : Kind.false
    case .number: Kind.number
    case .date: Kind.date
    case .text: Kind.text
    case .uuid: Kind.uuid
    case .data: Kind.data
    case .reference: Kind.reference
    }
  }

  /// Appends the value that stands at a place; as unknown if it is no scalar.
  @inline(__always)
  package mutating func append(_ place: FieldPlace) throws {
    if let integer = place.narrowInteger, integer.magnitude <= 1 << 53 {
      appendWhole(Double(integer))
    } else if let utf8 = place.utf8, isSurelyComposed(utf8) {
      appendText(utf8)
    } else {
      try appendSlowly(place)
    }
  }

  @inline(never)
  private mutating func appendSlowly(_ place: FieldPlace) throws {
    if !(try appendScalar(place)) { appendOther() }
  }

  /// Appends the value that stands at a place; false where it is no scalar.
  mutating func appendScalar(_ place: FieldPlace) throws -> Bool {
    if let integer = place.narrowInteger, integer.magnitude <= 1 << 53 {
      appendWhole(Double(integer))
    } else if let utf8 = place.utf8, isSurelyComposed(utf8) {
      appendText(utf8)
    } else if place.tag == BodyTag.double {
      appendWhole(place.double)
    } else if place.tag == BodyTag.date {
      append(Kind.date, place.double)
    } else {
      guard let value = try place.value() else { return false }
      append(value)
    }
    return true
  }

  package mutating func appendOther() { arena.append(Kind.other) }

  private mutating func append(utf8: UnsafeRawBufferPointer) {
    if isSurelyComposed(utf8) { return appendText(utf8) }
    var text = composed(String(decoding: utf8, as: UTF8.self))
    text.withUTF8 { appendText(UnsafeRawBufferPointer($0)) }
  }

  private mutating func appendText(_ utf8: UnsafeRawBufferPointer) {
    arena.append(Kind.text)
    appendEscaped(utf8)
  }

  private mutating func appendEscaped(_ content: UnsafeRawBufferPointer) {
    arena.append(atMost: 2 * content.count + 1) { memory in
      var (place, next) = (0, 0)
      while next < content.count {
        // Eight at a time, where none of them is 0 or 1: these are rare.
        if next &+ 8 <= content.count {
          let word = content.loadUnaligned(fromByteOffset: next, as: UInt64.self)
          if !OrderedBytes.mayHaveLowByte(word) {
            memory.storeBytes(of: word, toByteOffset: place, as: UInt64.self)
            (place, next) = (place &+ 8, next &+ 8)
            continue
          }
        }
        let byte = content[next]
        if byte <= 1 {
          memory.storeBytes(of: 1, toByteOffset: place, as: UInt8.self)
          place &+= 1
        }
        memory.storeBytes(of: byte <= 1 ? byte + 1 : byte, toByteOffset: place, as: UInt8.self)
        (place, next) = (place &+ 1, next &+ 1)
      }
      memory.storeBytes(of: 0, toByteOffset: place, as: UInt8.self)
      return place + 1
    }
  }

  /// Whether a byte of a word is 0 or 1. (Bytes behind such a one may be taken for one, too, but the answer is yes then
  /// anyway.)
  @inline(__always)
  static func mayHaveLowByte(_ word: UInt64) -> Bool {
    (word &- 0x0202_0202_0202_0202) & ~word & 0x8080_8080_8080_8080 != 0
  }

  @inline(__always)
  package mutating func append(bigEndian number: UInt64) { arena.append(digest: number) }

  @inline(__always)
  private mutating func append(_ kind: UInt8, _ value: Double) {
    arena.append(atMost: 9) { memory in
      memory.storeBytes(of: kind, as: UInt8.self)
      memory.storeBytes(of: OrderedBytes.sortable(value).bigEndian, toByteOffset: 1, as: UInt64.self)
      return 9
    }
  }

  /// Appends a number that is a double.
  @inline(__always)
  private mutating func appendWhole(_ value: Double) {
    append(Kind.number, value)
    arena.append(0)
  }

  /// A double as a number that sorts as it does.
  @inline(__always)
  static func sortable(_ value: Double) -> UInt64 {
    if value.isNaN { return 0 }
    let bits = (value == 0 ? 0 : value).bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  static func double(_ sortable: UInt64) -> Double {
    sortable == 0
      ? .nan : Double(bitPattern: sortable >> 63 == 1 ? sortable & ~(1 << 63) : ~sortable)
  }

  // MARK: - Numbers

  private mutating func append(_ number: FieldNumber) {
    switch number {
    // Each of these is a double.
    case .integer(let value) where value.magnitude <= 1 << 53: appendWhole(Double(value))
    case .double(let value): appendWhole(value)
    case .integer, .wide, .decimal: appendBetween(number)
    }
  }

  /// Appends a number that need not be a double.
  private mutating func appendBetween(_ number: FieldNumber) {
    let floor = number.floor
    append(Kind.number, floor)
    if number.isNaN || number == .double(floor) {
      append(0)
    } else {
      append(1)
      let (isNegative, digits, place) = number.decimalDigits
      var residual: [UInt8] = []
      withUnsafeBytes(of: UInt16(truncatingIfNeeded: place + 0x8000).bigEndian) { residual += $0 }
      residual += digits.map { $0 + 1 } + [0]
      append(isNegative ? residual.map(~) : residual)
    }
  }

  /// The bytes of a number that is a double, or of a date, behind other bytes: the beginning of most look-ups of one value. Nil
  /// for other values.
  package static func ofDouble(_ value: FieldValue, behind prefix: [UInt8]) -> [UInt8]? {
    let (kind, double): (UInt8, Double)
    switch value {
    case .number(.integer(let integer)) where integer.magnitude <= 1 << 53:
      (kind, double) = (Kind.number, Double(integer))
    case .number(.double(let number)): (kind, double) = (Kind.number, number)
    case .date(let seconds): (kind, double) = (Kind.date, seconds)
    default: return nil
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(prefix.count + 10)
    bytes += prefix
    bytes.append(kind)
    withUnsafeBytes(of: sortable(double).bigEndian) { bytes.append(contentsOf: $0) }
    if kind == Kind.number { bytes.append(0) }
    return bytes
  }

  // MARK: - Several values

  /// Turns the order of what was appended from a place on: greater values come first.
  package mutating func invert(from start: Int) {
    for place in start..<count { arena.base[place] = ~arena.base[place] }
  }

  /// Cuts what was appended from a place on, where it is too long for a key.
  ///
  /// - Returns: whether it was.
  @discardableResult
  package mutating func cut(from start: Int) -> Bool {
    if count - start <= OrderedBytes.uncutByteCount { return false }
    let digest = ContentDigest.digest16(of: UnsafeRawBufferPointer(rebasing: all[start...]))
    truncate(to: start + OrderedBytes.uncutByteCount)
    append(bigEndian: digest.0)
    append(bigEndian: digest.1)
    return true
  }
}

// MARK: - The first of several values

extension OrderedBytes {
  /// How many bytes the first of some values takes; nil where it does not end among them.
  package static func byteCount(ofFirst values: RawSpan) -> Int? {
    values.withUnsafeBytes { bytes in
      func end(of content: Int, _ last: UInt8 = 0) -> Int? {
        guard content <= bytes.count else { return nil }
        return bytes[content...].firstIndex(of: last).map { $0 + 1 }
      }
      guard let kind = bytes.first else { return nil }
      let count: Int?
      switch kind {
      case Kind.null, Kind.false, Kind.true, Kind.other: count = 1
      case Kind.number:
        guard bytes.count >= 10 else { return nil }
        // Behind two bytes there are digits, which are inverted where the number is negative.
        count = bytes[9] == 0 ? 10 : end(of: 12, bytes[1] < 0x80 ? 0xFF : 0)
      case Kind.date: count = 9
      case Kind.text, Kind.data: count = end(of: 1)
      case Kind.uuid: count = 17
      case Kind.reference: count = end(of: 9)
      default: return nil
      }
      return count.flatMap { $0 <= bytes.count ? $0 : nil }
    }
  }

  /// The integer of up to 64 bits that stands at a place among some values, where its bytes are those of a double; null
  /// where there is nil.
  package static func integer(_ place: Int, among values: RawSpan) -> StoredValue<Int64> {
    var start = 0
    for _ in 0..<place {
      guard let count = byteCount(ofFirst: values.extracting(start...)), start + count < values.byteCount
      else {
        return .unknown
      }
      start += count
    }
    return values.extracting(start...).withUnsafeBytes { bytes in
      if bytes.first == Kind.null { return .null }
      guard bytes.count >= 10, bytes[0] == Kind.number, bytes[9] == 0 else { return .unknown }
      let number = OrderedBytes.double(
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self)))
      return Int64(exactly: number).map { .value($0) } ?? .unknown
    }
  }

  /// Whether the first of some values is NaN.
  package static func beginsWithNaN(_ values: RawSpan) -> Bool {
    values.withUnsafeBytes { bytes in
      guard bytes.count >= 9, bytes[0] == Kind.number || bytes[0] == Kind.date else { return false }
      return bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self) == 0
    }
  }
}

// MARK: - In words

extension OrderedBytes {
  /// The values that stand in these bytes, in words, for messages. What was cut ends in an ellipsis.
  package static func text(of bytes: [UInt8]) -> String {
    var rest = bytes[...]
    var texts: [String] = []
    while let kind = rest.popFirst() { texts.append(text(kind, &rest)) }
    return texts.joined(separator: ", ")
  }

  private static func text(_ kind: UInt8, _ rest: inout ArraySlice<UInt8>) -> String {
    func number() -> UInt64 {
      let bytes = rest.prefix(8)
      rest = rest.dropFirst(8)
      return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
    switch kind {
    case Kind.null: return "nil"
    case Kind.false: return "false"
    case Kind.true: return "true"
    case Kind.number:
      let value = double(number())
      if rest.popFirst() == 1 { return decimalText(isNegative: value < 0, &rest) }
      return Int(exactly: value).map { "\($0)" } ?? "\(value)"
    case Kind.date: return dateText(double(number()))
    case Kind.text: return "\"\(String(decoding: unescaped(&rest), as: UTF8.self))\""
    case Kind.uuid:
      let uuid = rest.prefix(16)
      rest = rest.dropFirst(16)
      return Identifier.description(ofKeyBytes: [IdentifierKind.uuid.rawValue] + uuid)
    case Kind.data: return "\(unescaped(&rest).count) bytes"
    case Kind.reference:
      _ = number()
      return "a reference to \(Identifier.description(ofKeyBytes: unescaped(&rest)))"
    default: return "…"
    }
  }

  private static func decimalText(isNegative: Bool, _ rest: inout ArraySlice<UInt8>) -> String {
    let end: UInt8 = isNegative ? 0xFF : 0
    let place = Int(rest.prefix(2).reduce(0) { $0 << 8 | UInt16(isNegative ? ~$1 : $1) }) - 0x8000
    rest = rest.dropFirst(2)
    var digits = ""
    while let byte = rest.popFirst(), byte != end { digits += "\((isNegative ? ~byte : byte) &- 1)" }
    let sign = isNegative ? "-" : ""
    if place >= digits.count { return sign + digits + String(repeating: "0", count: place - digits.count) }
    if place <= 0 { return sign + "0." + String(repeating: "0", count: -place) + digits }
    return sign + digits.prefix(place) + "." + digits.dropFirst(place)
  }

  private static func unescaped(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    while let byte = rest.popFirst(), byte != 0 {
      bytes.append(byte == 1 ? (rest.popFirst() ?? 1) &- 1 : byte)
    }
    return bytes
  }
}

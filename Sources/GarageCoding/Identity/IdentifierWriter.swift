#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Memory into which identifiers are written, one after another, without an allocation for each.
///
/// Writing appends. To get one identifier, call ``removeAll()`` first and take ``bytes`` afterwards.
package struct IdentifierWriter: ~Copyable {
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private let shortStrings = ShortStrings()
  /// How many bytes were written since the last ``removeAll()``.
  package private(set) var count = 0

  package init(minimumCapacity: Int = 256) {
    capacity = Swift.max(minimumCapacity, 64)
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  /// The written bytes, valid until the writer is changed.
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Removes the written bytes and keeps the memory.
  @inline(__always)
  package mutating func removeAll() { count = 0 }

  // MARK: - One function for each kind of identifier

  /// A string: its UTF-8 in normalization form C.
  @inline(__always)
  package mutating func write(string: String) {
    let (bytes, count) = shortStrings.bytes(of: string)
    if count >= 0 {
      reserve(1 + ShortStrings.room)
      base.storeBytes(of: IdentifierKind.string.rawValue, toByteOffset: self.count, as: UInt8.self)
      base.storeBytes(of: bytes, toByteOffset: self.count + 1, as: ShortStrings.Halves.self)
      self.count += 1 + count
      return
    }
    write(longer: string)
  }

  @inline(never)
  private mutating func write(longer string: String) {
    let done: Void? = string.utf8.withContiguousStorageIfAvailable { utf8 in
      let utf8 = UnsafeRawBufferPointer(utf8)
      if isSurelyComposed(utf8) {
        append(.string, utf8)
      } else {
        writeComposed(string)
      }
    }
    if done == nil { writeComposed(string) }
  }

  @inline(never)
  private mutating func writeComposed(_ string: String) {
    var string = composed(string)
    string.withUTF8 { append(.string, UnsafeRawBufferPointer($0)) }
  }

  /// An integer of up to 64 bits.
  @inline(__always)
  package mutating func write(integer: Int64) {
    write(isNegative: integer < 0, magnitude: integer.magnitude)
  }

  /// An unsigned integer of up to 64 bits.
  @inline(__always)
  package mutating func write(integer: UInt64) { write(isNegative: false, magnitude: integer) }

  /// Any integer of up to 128 bits.
  ///
  /// - Throws: ``GraphCodingError/integerTooWide(type:)`` for larger ones.
  package mutating func write<T: BinaryInteger>(anyInteger integer: T) throws {
    if let small = Int64(exactly: integer) {
      write(integer: small)
    } else if let magnitude = UInt128(exactly: integer.magnitude) {
      write(isNegative: integer < 0, magnitude: magnitude)
    } else {
      throw GraphCodingError.integerTooWide(type: String(reflecting: T.self))
    }
  }

  /// A UUID: its 16 bytes (RFC 9562).
  package mutating func write(uuid: UUID) {
    withUnsafeBytes(of: uuid.uuid) { append(.uuid, $0) }
  }

  /// A date: its seconds since 2001-01-01 00:00 UTC as a double in an order-preserving form.
  package mutating func write(date: Date) {
    let seconds = date.timeIntervalSinceReferenceDate
    // -0.0 equals 0.0. All NaN are equal, and come after infinity.
    let bits = seconds.isNaN ? Double.nan.bitPattern : (seconds + 0.0).bitPattern
    let ordered = bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    withUnsafeBytes(of: ordered.bigEndian) { append(.date, $0) }
  }

  /// The nil of an optional identifier. `depth` counts the optionals around the one that is nil.
  package mutating func writeNil(depth: UInt8) {
    withUnsafeBytes(of: depth) { append(.none, $0) }
  }

  /// Canonical bytes of a value of another `Codable & Hashable` type.
  package mutating func write(canonical bytes: UnsafeRawBufferPointer) { append(.canonical, bytes) }

  /// The digest that identifies a value that is only `Hashable`: 16 bytes, see ``ContentDigest/digest16(of:)``.
  package mutating func write(digest: (UInt64, UInt64)) {
    withUnsafeBytes(of: (digest.0.bigEndian, digest.1.bigEndian)) { append(.digest, $0) }
  }

  // MARK: - Bytes

  @inline(__always)
  private mutating func write(isNegative: Bool, magnitude: UInt64) {
    reserve(10)
    let width = 8 - magnitude.leadingZeroBitCount / 8
    base.storeBytes(of: IdentifierKind.integer.rawValue, toByteOffset: count, as: UInt8.self)
    let sign = isNegative ? 0x80 - width : 0x80 + width
    base.storeBytes(of: UInt8(truncatingIfNeeded: sign), toByteOffset: count + 1, as: UInt8.self)
    let digits = (isNegative ? ~magnitude : magnitude) << UInt64(64 - 8 * width)  // width 0: all out
    base.storeBytes(of: digits.bigEndian, toByteOffset: count + 2, as: UInt64.self)
    count += 2 + width
  }

  private mutating func write(isNegative: Bool, magnitude: UInt128) {
    reserve(18)
    let width = 16 - magnitude.leadingZeroBitCount / 8
    let digits = isNegative ? ~magnitude : magnitude
    base.storeBytes(of: IdentifierKind.integer.rawValue, toByteOffset: count, as: UInt8.self)
    let sign = isNegative ? 0x80 - width : 0x80 + width
    base.storeBytes(of: UInt8(truncatingIfNeeded: sign), toByteOffset: count + 1, as: UInt8.self)
    for index in 0..<width {
      let byte = UInt8(truncatingIfNeeded: digits >> UInt128(8 * (width - 1 - index)))
      base.storeBytes(of: byte, toByteOffset: count + 2 + index, as: UInt8.self)
    }
    count += 2 + width
  }

  @inline(__always)
  private mutating func append(_ kind: IdentifierKind, _ payload: UnsafeRawBufferPointer) {
    reserve(1 + payload.count)
    base.storeBytes(of: kind.rawValue, toByteOffset: count, as: UInt8.self)
    if let source = payload.baseAddress {
      (base + (count + 1)).copyMemory(from: source, byteCount: payload.count)
    }
    count += 1 + payload.count
  }

  @inline(__always)
  private mutating func reserve(_ additional: Int) {
    if capacity - count < additional { grow(by: additional) }
  }

  @inline(never)
  private mutating func grow(by additional: Int) {
    capacity = Swift.max(2 * capacity, count + additional)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = larger
  }
}

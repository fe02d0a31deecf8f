#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Reading the value at the cursor, which stands behind it afterwards.

extension DecoderPointer {
  @inline(__always)
  private var end: Int { frame.end }

  /// The first byte of the value at the cursor.
  @inline(__always)
  func tag() throws -> UInt8 {
    guard cursor < end else {
      throw DamagedBytes(reason: "a value begins behind the end", offset: cursor)
    }
    return base.byte(at: cursor)
  }

  /// The bytes behind the value's first byte. Either measuring the value has shown that they are there, or that is checked
  /// here.
  @inline(__always)
  private func payload<T: BitwiseCopyable>(_ type: T.Type) throws -> T {
    let at = cursor &+ 1
    guard at &+ MemoryLayout<T>.size <= end else {
      throw DamagedBytes(reason: "a value goes beyond the end", offset: cursor)
    }
    cursor = at &+ MemoryLayout<T>.size
    return base.bits(at: at, as: type)
  }

  @inline(__always)
  func readBool() throws -> Bool {
    let tag = try tag()
    guard tag == BodyTag.true || tag == BodyTag.false else { return try readForeignBool() }
    cursor &+= 1
    return tag == BodyTag.true
  }

  @inline(__always)
  func readInteger<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    let tag = try tag()
    if tag & 0xC0 == BodyTag.smallInteger {
      cursor &+= 1
      return T(truncatingIfNeeded: tag & 0x3F)
    }
    let value: T? =
      switch tag {
      case BodyTag.int8: T(exactly: try payload(Int8.self))
      case BodyTag.int16: T(exactly: Int16(littleEndian: try payload(Int16.self)))
      case BodyTag.int32: T(exactly: Int32(littleEndian: try payload(Int32.self)))
      case BodyTag.int64: T(exactly: Int64(littleEndian: try payload(Int64.self)))
      default: try readRareInteger(tag)
      }
    guard let value else { throw doesNotFit(type) }
    return value
  }

  @inline(never)
  private func readRareInteger<T: FixedWidthInteger>(_ tag: UInt8) throws -> T? {
    switch tag {
    case BodyTag.uint64: return T(exactly: UInt64(littleEndian: try payload(UInt64.self)))
    case BodyTag.int128: return T(exactly: Int128(truncatingIfNeeded: try payload128()))
    case BodyTag.uint128: return T(exactly: try payload128())
    case BodyTag.double: return T(exactly: Double(bitPattern: UInt64(littleEndian: try payload(UInt64.self))))
    case BodyTag.float: return T(exactly: Float(bitPattern: UInt32(littleEndian: try payload(UInt32.self))))
    case BodyTag.date: return T(exactly: Double(bitPattern: UInt64(littleEndian: try payload(UInt64.self))))
    case BodyTag.decimal: return T("\(try readDecimal())")
    default: throw mismatch(T.self)
    }
  }

  private func payload128() throws -> UInt128 {
    let low = UInt64(littleEndian: try payload(UInt64.self))
    cursor -= 1
    let high = UInt64(littleEndian: try payload(UInt64.self))
    return UInt128(high) << 64 | UInt128(low)
  }

  private func doesNotFit(_ type: Any.Type) -> any Error {
    DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: childPath, debugDescription: "The stored number does not fit in \(type)."))
  }

  @inline(__always)
  func readDouble() throws -> Double {
    if try tag() == BodyTag.double {
      return Double(bitPattern: UInt64(littleEndian: try payload(UInt64.self)))
    }
    return try readRareDouble()
  }

  @inline(never)
  private func readRareDouble() throws -> Double {
    switch try tag() {
    // As with JSON, where a date is a number.
    case BodyTag.date: return Double(bitPattern: UInt64(littleEndian: try payload(UInt64.self)))
    case BodyTag.float: return Double(Float(bitPattern: UInt32(littleEndian: try payload(UInt32.self))))
    case BodyTag.decimal:
      guard let number = Double("\(try readDecimal())") else { throw doesNotFit(Double.self) }
      return number
    case BodyTag.uint128: return Double(try readInteger(UInt128.self))
    case BodyTag.smallInteger..<BodyTag.shortString, BodyTag.int8...BodyTag.uint128:
      return Double(try readInteger(Int128.self))
    default: throw mismatch(Double.self)
    }
  }

  func readFloat() throws -> Float {
    if try tag() == BodyTag.float { return Float(bitPattern: UInt32(littleEndian: try payload(UInt32.self))) }
    let number = try readDouble()
    let float = Float(number)
    if float.isInfinite && number.isFinite { throw doesNotFit(Float.self) }
    return float
  }

  @inline(__always)
  func readString() throws -> String {
    let tag = try tag()
    let start: Int
    let count: Int
    if tag & 0xC0 == BodyTag.shortString {
      start = cursor &+ 1
      count = Int(tag & 0x3F)
    } else {
      // As with JSON, where a UUID is text.
      if tag == BodyTag.uuid { return try readUUID().uuidString }
      (start, count) = try longString(tag)
    }
    guard count <= end &- start else {
      throw DamagedBytes(reason: "a string goes beyond the end", offset: start)
    }
    cursor = start &+ count
    return try string(start..<(start &+ count))
  }

  @inline(never)
  private func longString(_ tag: UInt8) throws -> (Int, Int) {
    switch tag {
    case BodyTag.string8:
      (cursor + 2, Int(try BodyScanner.loadNumber(base, cursor + 1, width: 1, end: end)))
    case BodyTag.string32:
      (cursor + 5, Int(try BodyScanner.loadNumber(base, cursor + 1, width: 4, end: end)))
    default: throw mismatch(String.self)
    }
  }

  /// The text in these bytes. Nothing is repaired: bytes that are no UTF-8 were not written by a coder.
  @inline(__always)
  func string(_ range: Range<Int>) throws -> String {
    // Memory that is read from begins at `base`, or so many bytes before what `keepBytes` keeps.
    if range.count <= ShortStrings.maximumByteCount, range.upperBound >= ShortStrings.room, !range.isEmpty,
      shortStrings.areKnown,
      let string = shortStrings.string(range.count, before: base + range.upperBound)
    {
      return string
    }
    let utf8 = UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    // The initializer that repairs finds nothing to repair in ASCII, and takes a third of the time of the one that validates,
    // which is generic.
    if isASCII(utf8) { return String(decoding: utf8, as: UTF8.self) }
    return try validString(utf8, range)
  }

  @inline(never)
  private func validString(_ utf8: UnsafeRawBufferPointer, _ range: Range<Int>) throws -> String {
    guard let string = utf8.validText() else {
      throw DamagedBytes(reason: "a string is not UTF-8", offset: range.lowerBound)
    }
    return string
  }

  /// Seconds since 2001-01-01 00:00 UTC.
  @inline(__always)
  func readDate() throws -> Date {
    guard try tag() == BodyTag.date else { return try readDateByStrategy() }
    return Date(
      timeIntervalSinceReferenceDate: Double(bitPattern: UInt64(littleEndian: try payload(UInt64.self))))
  }

  func readUUID() throws -> UUID {
    let tag = try tag()
    if tag == BodyTag.uuid { return UUID(uuid: try payload(uuid_t.self)) }
    guard isString(tag) else { throw mismatch(UUID.self) }
    guard let uuid = UUID(uuidString: try readString()) else { throw malformed("UUID") }
    return uuid
  }

  private func isString(_ tag: UInt8) -> Bool {
    tag & 0xC0 == BodyTag.shortString || tag == BodyTag.string8 || tag == BodyTag.string32
  }

  private func malformed(_ type: String) -> any Error {
    DecodingError.dataCorrupted(
      DecodingError.Context(codingPath: childPath, debugDescription: "The stored text is no \(type)."))
  }

  func readData() throws -> Data {
    let tag = try tag()
    if tag != BodyTag.data8, tag != BodyTag.data32, let data = try foreignData() { return data }
    let (start, count): (Int, Int) =
      switch tag {
      case BodyTag.data8:
        (cursor + 2, Int(try BodyScanner.loadNumber(base, cursor + 1, width: 1, end: end)))
      case BodyTag.data32:
        (cursor + 5, Int(try BodyScanner.loadNumber(base, cursor + 1, width: 4, end: end)))
      default: throw mismatch(Data.self)
      }
    guard count <= end - start else { throw DamagedBytes(reason: "data goes beyond the end", offset: start) }
    cursor = start + count
    return Data(bytes: base + start, count: count)
  }

  func readDecimal() throws -> Decimal {
    let tag = try tag()
    guard tag == BodyTag.decimal else {
      switch tag {
      case BodyTag.smallInteger..<BodyTag.shortString, BodyTag.int8...BodyTag.uint128:
        let isWidest = tag == BodyTag.uint128
        let digits =
          isWidest ? String(try readInteger(UInt128.self)) : String(try readInteger(Int128.self))
        guard let number = Decimal(string: digits) else { throw malformed("Decimal") }
        return number
      case BodyTag.double, BodyTag.float:
        let number = try readDouble()
        // Foundation ends the process there.
        if number.isInfinite { throw doesNotFit(Decimal.self) }
        let decimal = Decimal(number)
        if decimal.isNaN && !number.isNaN { throw doesNotFit(Decimal.self) }
        return decimal
      default: throw mismatch(Decimal.self)
      }
    }
    let start = cursor + 2
    let count = Int(try BodyScanner.loadNumber(base, cursor + 1, width: 1, end: end))
    guard count <= end - start else {
      throw DamagedBytes(reason: "a number goes beyond the end", offset: start)
    }
    cursor = start + count
    if let number = DecimalText.usualNumber(UnsafeRawBufferPointer(start: base + start, count: count)) {
      return number
    }
    guard let number = DecimalText.number(try string(start..<(start + count))) else {
      throw malformed("Decimal")
    }
    return number
  }

  func readURL() throws -> URL {
    guard let url = URL(string: try readString()) else { throw malformed("URL") }
    return url
  }
}

/// A value's first byte in words, for error messages.
func describe(_ tag: UInt8) -> String {
  switch tag {
  case BodyTag.null, BodyTag.absent: "null"
  case BodyTag.true, BodyTag.false: "a boolean"
  case BodyTag.int8...BodyTag.uint128, BodyTag.smallInteger..<BodyTag.shortString: "an integer"
  case BodyTag.float, BodyTag.double, BodyTag.decimal: "a number"
  case BodyTag.date: "a date"
  case BodyTag.uuid: "a UUID"
  case BodyTag.data8, BodyTag.data32: "data"
  case BodyTag.string8, BodyTag.string32, BodyTag.shortString..<BodyTag.smallReference: "a string"
  case BodyTag.mapSmall, BodyTag.mapLarge: "a map"
  case BodyTag.arraySmall...BodyTag.packedLarge: "an array"
  case BodyTag.syncStatus: "an object with a sync status"
  case BodyTag.versioned: "a value of a type with a version (Evolving)"
  default: "a reference"
  }
}

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A decimal number other than 0 and NaN, split into its parts. `Decimal` gives its parts only as other numbers and texts. It
/// makes its text from one number of arbitrary length after another, which takes longer than everything else that is done with
/// an object.
///
/// On Linux a `Decimal` consists of the exponent, a byte with length, sign and whether it is compact, two unused bytes, and
/// eight words of sixteen bits (`Decimal.swift` of swift-foundation). That is not guaranteed, so it is checked once. If the
/// check fails, numbers are converted through their texts.
struct DecimalParts: Equatable {
  var isNegative: Bool
  /// The number is the mantissa times ten to this power.
  var exponent: Int
  /// At least 1.
  var mantissa: UInt128

  /// The length of the longest text, in bytes: a sign, and either a mantissa of 39 digits with 127 zeros behind it, or one with
  /// 128 decimal places.
  static let maximumTextByteCount = 176

  private static let byteCount = 20
  private static let lowOffset = 4
  private static let highOffset = 12
  private static let negativeBit: UInt32 = 0x800
  private static let compactBit: UInt32 = 0x400

  /// Nil for 0, NaN, and numbers that are stored in a form in which no calculation leaves them.
  @inline(__always)
  init?(_ number: Decimal) {
    guard DecimalParts.areKnown else { return nil }
    self.init(lookingInto: number)
  }

  private init(isNegative: Bool, exponent: Int, mantissa: UInt128) {
    (self.isNegative, self.exponent, self.mantissa) = (isNegative, exponent, mantissa)
  }

  private init?(lookingInto number: Decimal) {
    let (head, low, high) = withUnsafeBytes(of: number) { bytes in
      (
        UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)),
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: Self.lowOffset, as: UInt64.self)),
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: Self.highOffset, as: UInt64.self))
      )
    }
    let mantissa = UInt128(high) << 64 | UInt128(low)
    guard mantissa != 0, head >> 12 & 0xF == Self.wordCount(mantissa) else { return nil }
    self.init(
      isNegative: head & Self.negativeBit != 0, exponent: Int(Int8(truncatingIfNeeded: head)),
      mantissa: mantissa)
  }

  /// How many words of sixteen bits hold a mantissa.
  private static func wordCount(_ mantissa: UInt128) -> UInt32 {
    UInt32(truncatingIfNeeded: 8 &- mantissa.leadingZeroBitCount >> 4)
  }

  /// The number itself. The mantissa must not end in a zero, because the number is marked as compact.
  private var decimal: Decimal {
    var number = Decimal()
    let head =
      UInt32(truncatingIfNeeded: exponent) & 0xFF | Self.compactBit | (isNegative ? Self.negativeBit : 0)
      | Self.wordCount(mantissa) << 12
    withUnsafeMutableBytes(of: &number) { bytes in
      bytes.storeBytes(of: head.littleEndian, as: UInt32.self)
      bytes.storeBytes(
        of: UInt64(truncatingIfNeeded: mantissa).littleEndian, toByteOffset: Self.lowOffset, as: UInt64.self)
      bytes.storeBytes(
        of: UInt64(truncatingIfNeeded: mantissa >> 64).littleEndian, toByteOffset: Self.highOffset,
        as: UInt64.self)
    }
    return number
  }

  /// Whether numbers have the expected form.
  static let areKnown: Bool = {
    guard MemoryLayout<Decimal>.size == byteCount else { return false }
    let samples: [(String, DecimalParts)] = [
      ("1", DecimalParts(isNegative: false, exponent: 0, mantissa: 1)),
      ("-1", DecimalParts(isNegative: true, exponent: 0, mantissa: 1)),
      ("-12.34", DecimalParts(isNegative: true, exponent: -2, mantissa: 1234)),
      ("65536", DecimalParts(isNegative: false, exponent: 0, mantissa: 65536)),
      ("-7000000", DecimalParts(isNegative: true, exponent: 6, mantissa: 7)),
      ("0.000018446744073709551617", DecimalParts(isNegative: false, exponent: -24, mantissa: 1 << 64 | 1)),
      (
        "99999999999999999999999999999999999999",
        DecimalParts(
          isNegative: false, exponent: 0, mantissa: 99_999_999_999_999_999_999_999_999_999_999_999_999)
      ),
      (
        "0.340282366920938463463374607431768211455",
        DecimalParts(isNegative: false, exponent: -39, mantissa: .max)
      ),
    ]
    return samples.allSatisfy { text, parts in
      guard let number = Decimal(string: text), DecimalParts(lookingInto: number) == parts else {
        return false
      }
      let same = withUnsafeBytes(of: number) { number in
        withUnsafeBytes(of: parts.decimal) { number.elementsEqual($0) }
      }
      return same && parts.text == text && "\(number)" == text
    }
  }()
}

// MARK: - Text

extension DecimalParts {
  private static let zero = UInt8(ascii: "0")
  private static let point = UInt8(ascii: ".")
  private static let minus = UInt8(ascii: "-")
  /// The largest power of ten that fits in 64 bits, and its exponent.
  private static let wide: UInt64 = 10_000_000_000_000_000_000
  private static let wideCount = 19

  private var text: String {
    withUnsafeTemporaryAllocation(byteCount: Self.maximumTextByteCount, alignment: 1) { place in
      guard let start = place.baseAddress else { return "" }
      return String(decoding: place[..<write(to: start)], as: UTF8.self)
    }
  }

  /// Writes the number's text, which is that of its `description`, to a place with room for ``maximumTextByteCount`` bytes.
  /// Returns how many bytes it takes.
  func write(to place: UnsafeMutableRawPointer) -> Int {
    // Written backwards, from the end of the room.
    var at = place + Self.maximumTextByteCount
    func put(_ byte: UInt8) {
      at -= 1
      at.store(byte)
    }
    var fraction = max(0, -exponent)
    func put(digit: UInt64) {
      put(Self.zero &+ UInt8(truncatingIfNeeded: digit))
      if fraction > 0 {
        fraction -= 1
        if fraction == 0 { put(Self.point) }
      }
    }
    for _ in 0..<max(0, exponent) { put(Self.zero) }
    var rest = mantissa
    while rest > UInt128(UInt64.max) {
      let (upper, lower) = rest.quotientAndRemainder(dividingBy: UInt128(Self.wide))
      var word = UInt64(truncatingIfNeeded: lower)
      for _ in 0..<Self.wideCount {
        put(digit: word % 10)
        word /= 10
      }
      rest = upper
    }
    var word = UInt64(truncatingIfNeeded: rest)
    while word > 0 {
      put(digit: word % 10)
      word /= 10
    }
    while fraction > 0 { put(digit: 0) }
    if at.load(as: UInt8.self) == Self.point { put(Self.zero) }
    if isNegative { put(Self.minus) }
    let count = place + Self.maximumTextByteCount - at
    place.copyMemory(from: at, byteCount: count)
    return count
  }

  /// The number in a text whose digits fit in the mantissa, equal to that of `Decimal(string:)`. Nil for any other text, which may
  /// still be a number.
  static func number(_ text: UnsafeRawBufferPointer) -> Decimal? {
    guard areKnown, let first = text.first else { return nil }
    let isNegative = first == minus
    let start = isNegative ? 1 : 0
    var lower: UInt64 = 0
    var upper: UInt64 = 0
    var scale: UInt64 = 1
    var last: UInt64 = 0
    // From the first digit on that is not 0.
    var digitCount = 0
    var pointAt = -1
    for index in start..<text.count {
      let digit = text[index] &- zero
      if digit > 9 {
        guard text[index] == point, pointAt < 0, index > start else { return nil }
        pointAt = index
        continue
      }
      if digitCount == 0 && digit == 0 { continue }
      // The first nineteen digits, then up to nineteen more, and then one at most: a quotient fills the mantissa.
      if digitCount < wideCount {
        upper = upper &* 10 &+ UInt64(digit)
      } else if digitCount < 2 * wideCount {
        lower = lower &* 10 &+ UInt64(digit)
        scale = scale &* 10
      } else {
        guard digitCount == 2 * wideCount else { return nil }
        last = UInt64(digit)
      }
      digitCount &+= 1
    }
    let exponent = pointAt < 0 ? 0 : pointAt &+ 1 &- text.count
    guard digitCount > 0, pointAt != text.count &- 1, exponent > Int(Int8.min) else { return nil }
    var mantissa = UInt128(upper)
    if digitCount > wideCount { mantissa = mantissa * UInt128(scale) + UInt128(lower) }
    if digitCount > 2 * wideCount {
      let (tens, isTooLarge) = mantissa.multipliedReportingOverflow(by: 10)
      let (sum, isTooLargeByLast) = tens.addingReportingOverflow(UInt128(last))
      if isTooLarge || isTooLargeByLast { return nil }
      mantissa = sum
    }
    var parts = DecimalParts(isNegative: isNegative, exponent: exponent, mantissa: mantissa)
    parts.compact()
    return parts.decimal
  }

  /// Removes the zeros at the end of the mantissa.
  private mutating func compact() {
    while mantissa > UInt128(UInt64.max) {
      let (quotient, digit) = mantissa.quotientAndRemainder(dividingBy: 10)
      if digit != 0 { return }
      mantissa = quotient
      exponent += 1
    }
    var word = UInt64(truncatingIfNeeded: mantissa)
    while word % 10 == 0 {
      word /= 10
      exponent += 1
    }
    mantissa = UInt128(word)
  }
}

internal import Foundation
internal import GarageCoding

/// Numbers as they stand in payloads.
enum LegacyNumber {
  /// Integers as integers, other numbers as decimals if a decimal holds them exactly. Neither holds a zero with a sign, which
  /// Foundation writes as `-0`.
  static func value(of text: String) -> ForeignValue {
    if text.hasPrefix("-"), Significand(text)?.digits.isEmpty == true { return .double(-0.0) }
    if let integer = Int128(text) { return .integer(integer) }
    if let decimal = decimal(text) { return .decimal(decimal) }
    return .double(Double(text) ?? 0)
  }

  private static func decimal(_ text: String) -> Decimal? {
    guard let significand = Significand(text), significand.digits.count <= Significand.maximumDigitCount,
      Significand.exponents.contains(significand.exponent), let decimal = Decimal(string: text)
    else { return nil }
    // So many digits always fit in a `Decimal`. Beyond that number it drops the digits that do not fit.
    if significand.digits.count <= 34, (-60...60).contains(significand.exponent) { return decimal }
    return Significand("\(decimal)") == significand ? decimal : nil
  }
}

/// The digits of a number without zeros at either end, and the power of ten of the last digit.
private struct Significand: Equatable {
  /// A `Decimal` holds all numbers of 38 digits, and some of 39.
  static let maximumDigitCount = 39
  /// No `Decimal` has an exponent outside this range, whatever its digits are.
  static let exponents = -170...170

  private(set) var digits: [UInt8] = []
  private(set) var exponent = 0

  /// Nil for a number whose exponent cannot be read.
  init?(_ text: String) {
    let mantissa = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
    var isFraction = false
    for byte in mantissa {
      if byte == UInt8(ascii: ".") {
        isFraction = true
      } else if (0x30...0x39).contains(byte) {
        digits.append(byte)
        if isFraction { exponent -= 1 }
      }
    }
    if mantissa.endIndex < text.endIndex {
      guard let power = Int(text[mantissa.endIndex...].dropFirst()) else { return nil }
      let (sum, isTooLarge) = exponent.addingReportingOverflow(power)
      if isTooLarge { return nil }
      exponent = sum
    }
    let zero = UInt8(ascii: "0")
    let end = digits.lastIndex { $0 != zero }.map { $0 + 1 } ?? 0
    // Zero has no digits left.
    exponent = end == 0 ? 0 : exponent.addingReportingOverflow(digits.count - end).partialValue
    digits = Array(digits[..<end].drop { $0 == zero })
  }
}

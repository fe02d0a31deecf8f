#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A decimal number in the form of bodies: `| 0F | length 1 | ASCII |`.
enum DecimalText {
  private static let nan = "NaN"
  static let maximumByteCount = DecimalParts.maximumTextByteCount

  /// The text of a number. It is always the same, and short enough for a length of one byte.
  static func text(of number: Decimal) -> String { number.isNaN ? nan : "\(number)" }

  /// Writes that text to a place with room for ``maximumByteCount`` bytes. Returns how many bytes it takes.
  static func write(_ number: Decimal, to place: UnsafeMutableRawPointer) -> Int {
    if let parts = DecimalParts(number) { return parts.write(to: place) }
    var text = text(of: number)
    return text.withUTF8 { utf8 in
      place.copyMemory(from: UnsafeRawPointer(utf8.baseAddress.unsafelyUnwrapped), byteCount: utf8.count)
      return utf8.count
    }
  }

  /// The number of a text; nil if it is none.
  static func number(_ text: String) -> Decimal? { text == nan ? .nan : Decimal(string: text) }

  /// The same for a text of the usual form. Nil for any other text, which may still be a number.
  @inline(__always)
  static func usualNumber(_ text: UnsafeRawBufferPointer) -> Decimal? { DecimalParts.number(text) }
}

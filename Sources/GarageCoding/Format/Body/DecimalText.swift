#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A decimal number as bodies hold it: `| 0F | length 1 | ASCII |`.
enum DecimalText {
  private static let nan = "NaN"

  /// The text of a number: always the same, and short enough for one byte of length.
  static func text(of number: Decimal) -> String { number.isNaN ? nan : "\(number)" }

  /// The number that stands as a text; nil where none does.
  static func number(_ text: String) -> Decimal? { text == nan ? .nan : Decimal(string: text) }
}

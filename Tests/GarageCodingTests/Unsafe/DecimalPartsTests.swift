import Foundation
import Testing

@_spi(Measuring) @testable import GarageCoding

/// Decimals are written from their own memory, and made in it: with the texts and the bits that Foundation gives them.
struct DecimalPartsTests {
  private static let byteCount = 20

  private func bits(_ number: Decimal) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

  private func written(_ number: Decimal) -> String {
    withUnsafeTemporaryAllocation(byteCount: DecimalText.maximumByteCount, alignment: 1) { room in
      String(decoding: room[..<DecimalText.write(number, to: room.baseAddress!)], as: UTF8.self)
    }
  }

  private func read(_ text: String) -> Decimal? {
    var text = text
    return text.withUTF8 { DecimalText.usualNumber(UnsafeRawBufferPointer($0)) }
  }

  /// Where they look otherwise all take the usual way, and the rest tests that one.
  @Test func theyLookAsExpected() {
    #if os(Linux)
      #expect(DecimalParts.areKnown)
    #endif
  }

  /// Whatever bits a number has, also such as no calculation gives it.
  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func textsOfAnyBits(seed: UInt64) {
    var random = SeededGenerator(seed)
    for round in 0..<5000 {
      var raw = [UInt8](repeating: 0, count: Self.byteCount)
      let wordCount = Int.random(in: 0...8, using: &random)
      raw[0] = UInt8.random(in: .min ... .max, using: &random)
      if round % 2 == 0 { raw[0] = UInt8(truncatingIfNeeded: Int.random(in: -20...5, using: &random)) }
      raw[1] = UInt8(wordCount << 4 | Int.random(in: 0...3, using: &random) << 2)
      for index in 4..<(4 + wordCount * 2) { raw[index] = UInt8.random(in: .min ... .max, using: &random) }
      if round % 10 == 0 { for index in 4..<20 where index % 3 == 0 { raw[index] = 0 } }
      let number = raw.withUnsafeBytes { $0.loadUnaligned(as: Decimal.self) }
      // One that claims more words than it has makes Foundation's own text another one each time.
      guard number.isNaN || number == 0 || DecimalParts(number) != nil else { continue }
      #expect(written(number) == (number.isNaN ? "NaN" : "\(number)"), "seed \(seed), bits \(raw)")
    }
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func numbersOfAnyText(seed: UInt64) {
    var random = SeededGenerator(seed)
    var readCount = 0
    for _ in 0..<5000 {
      func digits(_ most: Int) -> String {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in
          Bool.random(using: &random) ? "0" : "\(Int.random(in: 0...9, using: &random))"
        }.joined()
      }
      var text = Bool.random(using: &random) ? "-" : ""
      text += digits(24)
      if Int.random(in: 0...3, using: &random) > 0 { text += "." }
      text += digits(24)
      if Int.random(in: 0...20, using: &random) == 0 {
        text += ["e5", "E-3", " ", "-", ".", "x", "٣"].randomElement(using: &random)!
      }
      guard let number = read(text) else { continue }
      readCount += 1
      let expected = Decimal(string: text)
      #expect(expected.map(bits) == bits(number), "seed \(seed), \(text)")
    }
    #if os(Linux)
      #expect(readCount > 2000)
    #endif
  }

  @Test(arguments: [
    "1", "-1", "0.1", "-0.01", "100", "123000", "12345678901234567890",
    "0.000000000000000000000000000000000001",
    "99999999999999999999999999999999999999", "-99999999999999999999999999999999999.999",
    "18446744073709551615",
    "18446744073709551616", "10000000000000000000", "0.10000000000000000000",
    "340282366920938463463374607431768211455", "-0.340282366920938463463374607431768211455",
    "0.14285714285714285714285714285714285714", "-0.00273972602739726027397260273972602739726",
    "0000000000000000000000000000000000000000001.50",
  ])
  func roundTrips(text: String) throws {
    let number = try #require(Decimal(string: text))
    #expect(read(text).map(bits) == bits(number))
    #expect(written(number) == "\(number)")
    struct Price: Codable, Identifiable { var id = 1, amount: Decimal, all: [Decimal] }
    let price = Price(amount: number, all: [number, -number, 0, .nan, number])
    let copy = try roundTrip(price)
    #expect(copy.amount == number && bits(copy.amount) == bits(number))
    #expect(copy.all[3].isNaN && copy.all[1] == -number && copy.all[2] == 0)
  }

  /// What is no number of the usual form takes the way through Foundation.
  @Test(arguments: [
    "", "-", ".", "-.5", ".5", "5.", "1.2.3", "1e3", "NaN", "+1", " 1", "0", "-0", "0.00", "1-", "--1",
    "340282366920938463463374607431768211456", "999999999999999999999999999999999999999",
    "1000000000000000000000000000000000000000",
  ])
  func otherTexts(text: String) {
    #expect(read(text) == nil)
  }

  /// A quotient fills the mantissa, mostly behind zeros: shares, rates and averages do.
  @Test(arguments: [3, 7, 11, 365, 9_999]) func quotients(divisor: Int) {
    for dividend in 1...200 {
      let text = "\(Decimal(dividend) / Decimal(divisor))"
      let expected = Decimal(string: text).map(bits)
      #if os(Linux)
        #expect(read(text).map(bits) == expected, "\(text)")
      #else
        if let number = read(text) { #expect(bits(number) == expected, "\(text)") }
      #endif
    }
  }

  @Test func widestTexts() {
    for exponent in [-128, -127, -40, -39, -38, -1, 0, 1, 100, 127] {
      for digits in [
        "1", "340282366920938463463374607431768211455", "-340282366920938463463374607431768211455",
      ] {
        let number = Decimal(
          sign: digits.hasPrefix("-") ? .minus : .plus, exponent: exponent,
          significand: Decimal(string: digits.replacingOccurrences(of: "-", with: ""))!)
        if number.isNaN { continue }
        #expect(written(number) == "\(number)")
        #expect(written(number).utf8.count <= DecimalText.maximumByteCount)
        if let copy = read("\(number)") { #expect(Decimal(string: "\(number)").map(bits) == bits(copy)) }
      }
    }
  }
}

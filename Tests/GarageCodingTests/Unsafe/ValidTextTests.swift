import CGarage
import Testing

@testable import GarageCoding

/// What is UTF-8 is what the standard library says, at whatever place of a block it stands.
@Suite struct ValidTextTests {
  private func check(_ bytes: [UInt8]) {
    let expected = String(validating: bytes, as: UTF8.self)
    bytes.withUnsafeBytes { bytes in
      #expect(bytes.validText() == expected, "\(Array(bytes))")
      #expect(garage_is_utf8(bytes.baseAddress, bytes.count) == (expected != nil), "\(Array(bytes))")
      #expect(garage_is_utf8_portable(bytes.baseAddress, bytes.count) == (expected != nil), "\(Array(bytes))")
    }
  }

  /// Bytes at the borders of what may stand where.
  private static let borders: [UInt8] = [
    0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
    0xEE, 0xEF,
    0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
  ]

  @Test func threeBytes() {
    check([])
    for first in Self.borders {
      check([first])
      for second in Self.borders {
        check([first, second])
        for third in Self.borders { check([first, second, third]) }
      }
    }
  }

  @Test func fourBytes() {
    for first in Self.borders where first >= 0xE0 {
      for second in Self.borders where second >= 0x80 && second < 0xC2 {
        for third in Self.borders {
          for fourth in [0x41, 0x80, 0xBF, 0xC2] as [UInt8] { check([first, second, third, fourth]) }
        }
      }
    }
  }

  @Test(arguments: 0..<40) func anyPlace(before: Int) {
    for scalar in ["é", "€", "😀", "\u{D7FF}", "\u{10FFFF}", "\u{800}"] {
      let text = Array(String(repeating: "x", count: before).utf8) + Array(scalar.utf8)
      for count in before...text.count { check(Array(text[..<count])) }
      check(text + Array("y".utf8))
      check(text + text)
    }
  }

  @Test(arguments: 0..<50 as Range<UInt64>) func random(seed: UInt64) {
    var random = SeededGenerator(seed)
    let parts = ["a", "й", "漢", "👍", " ", "é", "\0"]
    for _ in 0..<40 {
      var bytes = (0..<Int.random(in: 0...60, using: &random)).flatMap { _ in
        Array(parts.randomElement(using: &random)!.utf8)
      }
      check(bytes)
      if bytes.isEmpty { continue }
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = Self.borders.randomElement(using: &random)!
      check(bytes)
    }
  }

  @Test func oneByteThatIsNotASCIIIsFoundWhereverItStands() {
    for count in 0...140 {
      var bytes = [UInt8](repeating: 0x7F, count: count)
      bytes.withUnsafeBytes { piece in #expect(isASCII(piece), "\(count) bytes") }
      for place in 0..<count {
        bytes[place] = 0x80
        bytes.withUnsafeBytes { piece in #expect(!isASCII(piece), "byte \(place) of \(count)") }
        bytes[place] = 0x7F
      }
    }
  }
}

import Foundation
import GarageCoding
import Testing

/// Bytes of values sort as conditions compare the values, and none is the beginning of another.
@Suite struct OrderedBytesTests {
  private static func bytes(_ value: FieldValue) -> [UInt8] {
    var bytes = OrderedBytes()
    bytes.append(value)
    return bytes.bytes
  }

  private static func values() throws -> [FieldValue] {
    var values: [FieldValue] = []
    func add<T: Encodable>(_ some: [T]) throws {
      for value in some { if let field = try GraphEncoder.fieldValue(of: value) { values.append(field) } }
    }
    let doubles: [Double] = [
      0, -0.0, 0.1, -0.1, 1, -1, 2.5, .nan, .infinity, -.infinity, .leastNonzeroMagnitude,
      -.leastNonzeroMagnitude, 0x1p53, 0x1p63, -0x1p63, 0x1p64, 1e300, -1e300, 0x1p127,
    ]
    try add(doubles)
    try add(doubles.map { Float($0) })
    try add([Int.min, .max, .min + 1, .max - 1, 0, 1, -1, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, 63, 64])
    try add([UInt64.max, .max - 1, 1 << 63, 1 << 63 + 1])
    try add([Int128.min, .max, 1 << 100, -(1 << 100) - 1])
    try add([UInt128.max])
    try add(
      [
        "0", "0.1", "-0.1", "19.99", "9007199254740993", "-9007199254740993", "1e-100", "-1e100",
        "0.10000000000000001",
      ]
      .map { Decimal(string: $0)! } + [.nan])
    try add(doubles.map { Date(timeIntervalSinceReferenceDate: $0) })
    try add([
      "", "a", "b", "a\u{0}", "a\u{0}b", "a\u{1}", "a\u{1}b", "a\u{2}", "\u{0}", "\u{1}", "cafe\u{301}",
      "caf\u{E9}", "cafz",
      "\u{FFFF}", "\u{1F1E9}", "e\u{301}", "\u{1E9B}\u{323}",
    ])
    try add([true, false])
    try add([
      UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)),
      UUID(uuid: (255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)),
    ])
    try add([
      Data(), Data([0]), Data([0, 0]), Data([1]), Data([0, 1]), Data([2]), Data([255]), Data([255, 0]),
    ])
    return values + [.null]
  }

  @Test func sortAsTheValuesDo() throws {
    let values = try OrderedBytesTests.values()
    for left in values {
      for right in values {
        let (a, b) = (OrderedBytesTests.bytes(left), OrderedBytesTests.bytes(right))
        #expect((a == b) == (left == right), "\(left), \(right)")
        if left < right { #expect(a.lexicographicallyPrecedes(b), "\(left) < \(right)") }
        if a != b { #expect(!a.starts(with: b), "\(right) is the beginning of \(left)") }
      }
    }
  }

  @Test func areReadAsWords() {
    func text(_ values: FieldValue...) -> String {
      var bytes = OrderedBytes()
      for value in values { bytes.append(value) }
      return OrderedBytes.text(of: bytes.bytes)
    }
    #expect(text(.text("a\u{0}b\u{1}"), .null, .bool(true)) == "\"a\u{0}b\u{1}\", nil, true")
    #expect(text(.number(.integer(-5)), .number(.double(2.5))) == "-5, 2.5")
    #expect(text(.number(.integer(1 << 60 | 1))) == "1152921504606846977")
    #expect(text(.number(.decimal(Decimal(string: "-0.07")!))) == "-0.07")
    #expect(text(.number(.decimal(Decimal(string: "19.99")!))) == "19.99")
  }
}

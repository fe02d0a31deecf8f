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

  /// Bounds of what is asked for are made without bytes that grow, where their values are short.
  @Test func behindAPrefixTheyAreTheSame() throws {
    var count = 0
    for value in try OrderedBytesTests.values() {
      guard let bytes = OrderedBytes.ofDouble(value, behind: [1, 2, 3]) else { continue }
      #expect(bytes == [1, 2, 3] + OrderedBytesTests.bytes(value), "\(value)")
      count += 1
    }
    #expect(count >= 30)
    #expect(OrderedBytes.ofDouble(.text("a"), behind: []) == nil)
    #expect(OrderedBytes.ofDouble(.null, behind: []) == nil)
    #expect(OrderedBytes.ofDouble(.number(.integer(1 << 53 + 1)), behind: []) == nil)
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

  /// Of several values in a row the first is told from the others, whatever these are, and from one that is cut.
  @Test func theFirstOfSeveralIsTold() throws {
    let values = try OrderedBytesTests.values()
    for first in values {
      let bytes = OrderedBytesTests.bytes(first)
      for other in values {
        let both = bytes + OrderedBytesTests.bytes(other)
        #expect(OrderedBytes.byteCount(ofFirst: both.span.bytes) == bytes.count, "\(first), \(other)")
      }
      let cut = Array(bytes.dropLast())
      #expect(OrderedBytes.byteCount(ofFirst: cut.span.bytes) == nil, "\(first)")
      let isNaN = if case .number(let number) = first { number.isNaN } else { first.isNaN }
      #expect(OrderedBytes.beginsWithNaN(bytes.span.bytes) == isNaN, "\(first)")
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

  /// Shapes of what is encoded are known.
  private final class NoTexts: ShapeTexts {
    func shapeText(_ digest: UInt64) throws -> [UInt8]? { nil }
  }

  private struct Thing: Codable, Identifiable {
    var id: String
    var text: String
    var other: String?
    var number: Int
    var double: Double
    var date: Date?
    var flag: Bool?
    var uuid: UUID
  }

  /// An entry that is written in one piece is the one that is put together from its values, and what such a piece cannot hold
  /// is left to those.
  @Test func wholeEntriesAreTheirValues() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let characters = [
      "a", "B", "7", " ", "\u{2}", "\u{7F}", "\u{0}", "\u{1}", "\u{80}", "é", "e\u{301}", "𝄞",
    ]
    func text() -> String {
      let isPlain = Int.random(in: 0..<4, using: &random) > 0
      let count = Int.random(in: 0...(Bool.random(using: &random) ? 20 : 120), using: &random)
      return (0..<count).map { _ in characters[Int.random(in: 0..<(isPlain ? 6 : 12), using: &random)] }
        .joined()
    }
    let numbers = [0, 63, 64, -1, 127, 128, -129, 1 << 31, 1 << 53, 1 << 53 + 1, -(1 << 53), .min, .max]
    let coder = GraphEncoder()
    let doubles = [0, -0.0, 0.1, -1e300, .nan, .infinity, -.infinity, .leastNonzeroMagnitude]
    let indexes = [["text", "number", "other"], ["double", "date", "flag", "uuid"]].map { keys in
      IndexedFields(
        keys.map { IndexedFields.Component(path: FieldPath([$0])) }, typeVersion: 0)
    }
    let (tag, index) = (random.next(), random.next())
    let prefix = OrderedBytes.EntryPrefix(space: 0x20, tag: tag, index: index)
    var before = OrderedBytes()
    before.append([0x20])
    before.append(bigEndian: tag)
    before.append(bigEndian: index)
    var plainCount = 0
    for number in 0..<4000 {
      let thing = Thing(
        id: "\(number)", text: text(), other: Bool.random(using: &random) ? text() : nil,
        number: numbers.randomElement(using: &random)!, double: doubles.randomElement(using: &random)!,
        date: Bool.random(using: &random)
          ? nil : Date(timeIntervalSinceReferenceDate: doubles.randomElement(using: &random)!),
        flag: [nil, false, true].randomElement(using: &random)!, uuid: UUID())
      let fields = indexes[number % 2]
      let graph = try coder.encode(root: thing)
      try graph.bytes.withUnsafeBytes { all in
        let record = all.bytes.extracting(graph.records[0].value)
        try FieldRecord.withEncoded(record, typeName: "Thing", NoTexts()) { record in
          var expected = OrderedBytes()
          let identifier = (0..<Int.random(in: 0...40, using: &random)).map { _ in
            UInt8.random(in: 0 ... .max, using: &random)
          }
          let kinds = try fields.append(record, to: &expected)
          let valuesCount = expected.count
          var bytes = OrderedBytes()
          bytes.append([1, 2, 3])
          let plain = try fields.appendPlainEntry(
            behind: prefix, record, identifier: identifier.span.bytes, to: &bytes)
          guard let plain else {
            #expect(bytes.bytes == [1, 2, 3], "seed \(seed), \(thing)")
            return
          }
          plainCount += 1
          #expect(plain.kinds == kinds && plain.valuesCount == valuesCount, "seed \(seed), \(thing)")
          let wanted = before.bytes + expected.bytes + identifier + [UInt8(valuesCount)]
          #expect(bytes.bytes == [1, 2, 3] + wanted, "seed \(seed), \(thing)")
        }
      }
    }
    // All of the second index, and a part of the first.
    #expect(plainCount > 2_000 && plainCount < 3_800)
  }
}

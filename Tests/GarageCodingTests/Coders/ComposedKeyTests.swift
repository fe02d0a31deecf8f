import Foundation
import Testing

@testable import GarageCoding

/// Keys that are the same text and other bytes: an accent in one scalar with its letter, or behind it. A source file that an
/// editor composes anew has them, and so do names of files.
@Suite struct ComposedKeyTests {
  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Writes numbers under any keys.
  private struct Written: Codable {
    var values: [(String, Int)] = []

    init(_ values: [(String, Int)]) { self.values = values }
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: AnyKey.self)
      for (key, value) in values { try container.encode(value, forKey: AnyKey(stringValue: key)) }
    }
  }

  /// Asks for many keys, among them some that are written otherwise.
  private struct Asked: Codable, Equatable {
    static let keys = [
      "plain", "caf\u{E9}", "cafe\u{301}", "K", "\u{212A}", "nothing", "n\u{F6}thing", "\u{1100}\u{1161}",
      "\u{AC00}", "q\u{323}\u{307}", "q\u{307}\u{323}", "\u{37E}", ";",
    ]
    var values: [Int?] = []
    var isThere: [Bool] = []

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: AnyKey.self)
      for key in Asked.keys {
        values.append(try container.decodeIfPresent(Int.self, forKey: AnyKey(stringValue: key)))
        isThere.append(container.contains(AnyKey(stringValue: key)))
      }
    }
    func encode(to encoder: any Encoder) throws {}
  }

  /// As JSON finds them, in whichever form they are written.
  @Test(arguments: [
    ["plain", "caf\u{E9}", "K", "\u{AC00}", "q\u{323}\u{307}", ";"],
    ["plain", "cafe\u{301}", "\u{212A}", "\u{1100}\u{1161}", "q\u{307}\u{323}", "\u{37E}"],
    ["caf\u{E9}"], ["cafe\u{301}", "zebra"], ["\u{212A}"], [],
  ])
  func areFoundAsInJSON(_ keys: [String]) throws {
    let written = Written(keys.enumerated().map { ($0.element, $0.offset) })
    let expected = try JSON.decode(New<Asked>.self, JSON.encode(Old(written))).value
    #expect(try recode(written, as: Asked.self) == expected)
    #expect(expected.values.count { $0 != nil } >= keys.count)
  }

  /// Asks for each of many keys composed otherwise than it was written, and for as many that are not there.
  private struct AskedForMany: Codable {
    static let count = 8_000
    var found = 0
    var foundOthers = 0

    static func written(_ number: Int) -> String {
      number % 2 == 0 ? "e\u{301} \(number)" : "\u{212A} \(number)"
    }
    static func asked(_ number: Int) -> String { number % 2 == 0 ? "\u{E9} \(number)" : "K \(number)" }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: AnyKey.self)
      for number in 0..<AskedForMany.count {
        let value = try container.decodeIfPresent(
          Int.self, forKey: AnyKey(stringValue: AskedForMany.asked(number)))
        if value == number { found += 1 }
        if container.contains(AnyKey(stringValue: "\u{F6} \(number)")) { foundOthers += 1 }
      }
      let again = try decoder.container(keyedBy: AnyKey.self)
      if try again.decode(Int.self, forKey: AnyKey(stringValue: AskedForMany.asked(4))) != 4 { found = 0 }
    }
    func encode(to encoder: any Encoder) throws {}
  }

  /// Each look takes about as long as any other, however many keys there are: compared with all of them this took minutes.
  @Test func manyAreFound() throws {
    let written = Written((0..<AskedForMany.count).map { (AskedForMany.written($0), $0) })
    let asked = try recode([written, written], as: [AskedForMany].self)
    #expect(asked.map(\.found) == [AskedForMany.count, AskedForMany.count])
    #expect(asked.map(\.foundOthers) == [0, 0])
  }

  private enum Composed: String, CodingKey { case before, cafe = "caf\u{E9}" }
  private enum Decomposed: String, CodingKey { case cafe = "cafe\u{301}", before }

  private struct Menu: Codable {
    var before = 1
    var cafe = 2
    /// Whether the keys come in the order of their cases, so that the map has a shape.
    var isInOrder = true

    init(isInOrder: Bool) { self.isInOrder = isInOrder }
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Composed.self)
      if isInOrder { try container.encode(before, forKey: .before) }
      try container.encode(cafe, forKey: .cafe)
      if !isInOrder { try container.encode(before, forKey: .before) }
    }
  }

  private struct Card: Codable, Equatable {
    var cafe: Int?
    var before: Int?
    private typealias CodingKeys = Decomposed
  }

  /// The same of keys of enums, in maps with a shape and without.
  @Test(arguments: [true, false])
  func keysOfEnums(isInOrder: Bool) throws {
    let card = try recode(Menu(isInOrder: isInOrder), as: Card.self)
    #expect(card.cafe == 2 && card.before == 1)
  }

  /// Fields are found by the same rule.
  @Test(arguments: [
    ("caf\u{E9}", "cafe\u{301}"), ("cafe\u{301}", "caf\u{E9}"), ("\u{212A}", "K"), ("K", "K"),
  ])
  func fieldsAreFound(written: String, asked: String) throws {
    let graph = try GraphEncoder().encode([Owner(Written([("a", 1), (written, 2), ("\u{10000}", 3)]))])
    let (key, record) = graph.recordsByKey[0]
    func value(_ name: String) throws -> FieldValue? {
      try FieldRecord.with(
        tag: graph.roots[0].tag, keyIdentifier: key.span.bytes.extracting(RecordKey.tagByteCount...),
        record: record.span.bytes, typeName: "Owner", nil
      ) { record in
        guard case .value(let place) = try FieldLookup(FieldPath(["value", name])).place(in: record) else {
          return nil
        }
        return try place.value()
      }
    }
    #expect(try value(asked) == .number(.integer(2)))
    #expect(try value("a") == .number(.integer(1)) && value("cafe") == nil)
  }
}

import Foundation
import GarageMemory
import Testing

@testable import GarageStorage

/// What is decided from the bytes of records by the shortest way, at the edges of that.
@Suite struct FieldQuestionTests {
  private struct Edge: Codable, Identifiable, Equatable {
    var id: Int
    var number: Int
    var choice: Int?
    var wide: UInt64
    var text: String
    var name: String?
    var weight: Double = 0
    var since = Date(timeIntervalSinceReferenceDate: 0)
  }

  private static let numbers = [Int.min, Int.min + 1, -129, -1, 0, 1, 63, 64, 127, 128, Int.max - 1, Int.max]
  private static let wides: [UInt64] = [0, 1, 1 << 62, 1 << 63 - 1, 1 << 63, .max - 1, .max]
  private static let texts = [
    "", "a", "ab", "abc", "b", "B", "e", "e\u{301}", "é", "e\u{301}t", "ét", "\r", "\n", "\r\n", "\r\nab",
    "a\0",
    "a\u{300}b", "ab\u{300}", "ß", "\u{1F1E9}\u{1F1EA}", "zz\u{200D}", "ÅB", "A\u{30A}B",
  ]

  private static let doubles: [Double] = [
    0, -0.0, 1, -1, 63, 0.1, .nan, .infinity, -.infinity, 0x1p53, .leastNonzeroMagnitude, -.nan,
    .greatestFiniteMagnitude,
  ]

  private let all: [Edge]
  private let garage: Garage

  init() throws {
    let (numbers, wides, texts) = (
      FieldQuestionTests.numbers, FieldQuestionTests.wides, FieldQuestionTests.texts
    )
    let doubles = FieldQuestionTests.doubles
    all = (0..<120).map { id in
      var edge = Edge(
        id: id, number: numbers[id % numbers.count],
        choice: id % 5 == 0 ? nil : numbers[id * 7 % numbers.count],
        wide: wides[id % wides.count], text: texts[id % texts.count],
        name: id % 3 == 0 ? nil : texts[id * 11 % texts.count])
      edge.weight = doubles[id % doubles.count]
      edge.since = Date(timeIntervalSinceReferenceDate: Double(id % 7) - 0.5)
      return edge
    }
    garage = try Garage(MemoryStorage())
    try garage.parkAll(all)
  }

  private func check(_ condition: Condition<Edge>, _ holds: (Edge) -> Bool) throws {
    let query = garage.query(Edge.self).where(condition)
    let expected = all.filter(holds).map(\.id)
    #expect(try query.values(\.id) == expected, "\(condition)")
    #expect(try query.retrieveAll().map(\.id) == expected, "\(condition)")
    #expect(try query.count() == expected.count, "\(condition)")
  }

  @Test func integersAtTheEdges() throws {
    for number in FieldQuestionTests.numbers {
      try check(\.number == number) { $0.number == number }
      try check(\.number != number) { $0.number != number }
      try check(\.number < number) { $0.number < number }
      try check(\.number <= number) { $0.number <= number }
      try check(\.number > number) { $0.number > number }
      try check(!(\.number >= number)) { !($0.number >= number) }
      try check(\.choice == number) { $0.choice == number }
      try check(\.choice < number) { $0.choice.map { $0 < number } ?? false }
      try check(!(\.choice > number)) { !($0.choice.map { $0 > number } ?? false) }
      try check(\.number < number || \.choice == nil) { $0.number < number || $0.choice == nil }
      for other in FieldQuestionTests.numbers {
        try check(\.number > number && \.number <= other) { $0.number > number && $0.number <= other }
        try check(\.choice >= number && \.choice < other) {
          $0.choice.map { $0 >= number && $0 < other } ?? false
        }
        if number <= other {
          try check(\.choice == number...other) { $0.choice.map { number...other ~= $0 } ?? false }
        }
      }
    }
    for wide in FieldQuestionTests.wides {
      try check(\.wide == wide) { $0.wide == wide }
      try check(\.wide < wide) { $0.wide < wide }
      try check(\.wide >= wide && \.wide < .max) { $0.wide >= wide && $0.wide < .max }
    }
  }

  @Test func textAtTheEdges() throws {
    for text in FieldQuestionTests.texts {
      try check(\.text == text) { $0.text == text }
      try check(\.text == .hasPrefix(text)) { $0.text.hasPrefix(text) }
      try check(\.text != .hasPrefix(text)) { !$0.text.hasPrefix(text) }
      try check(\.name == .hasPrefix(text)) { $0.name?.hasPrefix(text) ?? false }
      try check(\.name == text) { $0.name == text }
      try check(\.text == .hasSuffix(text)) { $0.text.hasSuffix(text) }
      try check(\.name == .hasSuffix(text)) { $0.name?.hasSuffix(text) ?? false }
      try check(\.text == .contains(text)) { $0.text.contains(text) }
      try check(\.name != .contains(text)) { !($0.name?.contains(text) ?? false) }
      try check(\.name == .hasPrefix(text) || \.number == 0) {
        $0.name?.hasPrefix(text) ?? false || $0.number == 0
      }
      // Swift 6.3 says of some texts, one of them decomposed, that neither is less and they are not equal.
      let isOrdered = FieldQuestionTests.texts.allSatisfy { other in
        [other < text, other == text, other > text].count { $0 } == 1
      }
      if !isOrdered { continue }
      try check(\.text < text) { $0.text < text }
      try check(\.text >= text) { $0.text >= text }
      try check(\.name > text) { $0.name.map { $0 > text } ?? false }
    }
  }

  /// What is asked of text without a difference of case, or of some texts, however many: what Swift says of each.
  @Test func textInAnyCaseAndOneOfSome() throws {
    let texts = [
      "", "a", "A", "aB", "AB", "b", "ab\u{301}", "aB\u{301}", "a\u{301}", "ABC", "abcd", "k", "K",
      "\u{212A}", ";",
      "\u{37E}", "a;", "A\u{37E}", "ß", "SS", "ss", "é", "É", "e\u{301}", "E\u{301}", "I", "i", "ı",
      "\u{130}",
      "i\u{307}", "[", "{", "@", "`", "\u{1FEF}", "Z", "z", "\r\n", "Σ", "ς", "aΣ", "aσ", "aς", "a\u{0}",
      "a\u{0}B",
      String(repeating: "Long ", count: 30), String(repeating: "long ", count: 30),
    ]
    let all = texts.indices.map { id in
      Edge(
        id: id, number: id, choice: nil, wide: 0, text: texts[id],
        name: id % 3 == 0 ? nil : texts[(id + 7) % texts.count])
    }
    let garage = try Garage(MemoryStorage())
    try garage.parkAll(all)
    func check(_ condition: Condition<Edge>, _ holds: (Edge) -> Bool) throws {
      let found = try garage.query(Edge.self).where(condition).values(\.id)
      #expect(found == all.filter(holds).map(\.id), "\(condition)")
    }
    for (place, text) in texts.enumerated() {
      let lower = text.lowercased()
      try check(\.text == .caseInsensitive(text)) { $0.text.lowercased() == lower }
      try check(\.text != .caseInsensitive(text)) { $0.text.lowercased() != lower }
      try check(\.name == .caseInsensitive(text)) { $0.name?.lowercased() == lower }
      for count in [1, 2, 8, 9, 30] {
        let some = (0..<count).map { texts[(place + 5 * $0) % texts.count] }
        let optional = some.map { Optional($0) }
        try check(\.text == .oneOf(some)) { some.contains($0.text) }
        try check(\.name != .oneOf(optional)) { $0.name.map { !some.contains($0) } ?? true }
        try check(\.name == .oneOf(optional + [nil])) { $0.name.map { some.contains($0) } ?? true }
        let numbers = (0..<count).map { (place + 5 * $0) % texts.count }
        try check(\.number == .oneOf(numbers)) { numbers.contains($0.number) }
        try check(\.choice == .oneOf(numbers.map { Optional($0) })) { _ in false }
      }
    }
  }

  @Test func doublesAtTheEdges() throws {
    for double in FieldQuestionTests.doubles {
      try check(\.weight == double) { $0.weight == double }
      try check(\.weight != double) { $0.weight != double }
      try check(\.weight < double) { $0.weight < double }
      try check(!(\.weight <= double)) { !($0.weight <= double) }
      try check(\.weight > double) { $0.weight > double }
      try check(\.weight >= double || \.number == 0) { $0.weight >= double || $0.number == 0 }
    }
    for day in 0..<8 {
      let date = Date(timeIntervalSinceReferenceDate: Double(day) - 0.5)
      try check(\.since == date) { $0.since == date }
      try check(\.since > date) { $0.since > date }
      try check(!(\.since < date)) { !($0.since < date) }
    }
  }

  /// What is added up and what overflows.
  @Test func sums() throws {
    #expect(
      try garage.query(Edge.self).where(\.number == -129...128).sum(\.number)
        == all.filter { -129...128 ~= $0.number }.map(\.number).reduce(0, +))
    #expect(throws: GarageError.self) { try garage.query(Edge.self).where(\.number > 1000).sum(\.number) }
    #expect(try garage.query(Edge.self).where(\.number < .min).sum(\.number) == 0)
    #expect(try garage.query(Edge.self).values(\.number) == all.map(\.number))
    #expect(try garage.query(Edge.self).values(\.choice) == all.map(\.choice))
    #expect(try garage.query(Edge.self).values(\.wide) == all.map(\.wide))
    #expect(try garage.query(Edge.self).values(\.text) == all.map(\.text))
    #expect(try garage.query(Edge.self).values(\.name) == all.map(\.name))
  }
}

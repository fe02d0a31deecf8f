import Foundation
import Testing

@testable import GarageCoding

private protocol AnyDictionary {}
extension Dictionary: AnyDictionary {}

/// Collections are read as their own `init(from:)` reads them: what that refuses is refused with its error, what it takes
/// is taken.
@Suite struct CollectionConversionTests {
  private struct Numbers: Codable, Equatable { var one = 1, two = 2 }
  private enum Day: String, Codable, CodingKeyRepresentable { case monday, tuesday }

  /// Reads `value` as `type` through JSON and ours; both must find the same, or throw the same.
  private func compare<A: Codable, B: Codable & Equatable>(_ value: A, as type: B.Type) {
    let json = Result { try JSON.decode(New<B>.self, JSON.encode(Old(value))).value }
    let ours = Result { try recode(value, as: type) }
    switch (ours, json) {
    case (.success(let ours), .success(let json)): #expect(ours == json, "\(value) as \(type)")
    case (.failure(let ours), .failure(let json)):
      // JSON's dictionaries have no order, so that another entry may be the first that fails.
      let (ours, json) = (summary(ours), summary(json))
      let kind = json.prefix { $0 != " " }
      #expect(
        isSame(ours, asJSONs: json) || A.self is any AnyDictionary.Type && ours.hasPrefix(kind),
        "\(value) as \(type): \(ours), \(json)")
    default: Issue.record("\(value) as \(type): \(ours), by JSON \(json)")
    }
  }

  @Test func dictionaries() {
    for keys in [
      ["a", "b"], ["1", "-2"], ["1", "x"], ["007", "+5"], ["9223372036854775807", "-9223372036854775808"],
      ["9223372036854775808", "1"], ["", "0"], ["monday", "tuesday"], ["monday", "sunday"],
      ["é", "e\u{301}a"],
    ] {
      let entries = Dictionary(uniqueKeysWithValues: zip(keys, [1, 2]))
      compare(entries, as: [String: Int].self)
      compare(entries, as: [Int: Int].self)
      compare(entries, as: [Day: Int].self)
      compare(entries, as: [UUID: Int].self)
      compare(entries, as: [String: String].self)
      compare(entries, as: [String: Int?].self)
      compare(entries, as: [String: [Int]].self)
      compare(entries, as: Set<Int>.self)
      compare(entries, as: [Int].self)
    }
    compare(Numbers(), as: [String: Int].self)
    compare([String: Int](), as: [Int: Point].self)
    compare(["x": Point(x: 1, y: 2)], as: [String: [String: Int]].self)
    compare(["x": [1, nil, 3]], as: [String: [Int]].self)
    compare([1, 2, 3], as: [Double: Int].self)
    compare([1, 2, 3, 4], as: [Double: Int].self)
    compare([1.5, 2], as: [Double: Int].self)
    compare(["a"], as: [Bool: String].self)
    compare([1, 2, 3, 1], as: [Double: Int].self)
  }

  @Test func arraysAndSets() {
    compare([1, 2, 2, 3], as: Set<Int>.self)
    compare(["a", "b", "a"], as: Set<String>.self)
    compare([1, nil, 2], as: [Int?].self)
    compare([1, nil, 2], as: Set<Int?>.self)
    compare([1, nil, 2], as: [Int].self)
    compare([Point(x: 1, y: 1), nil], as: [Point?].self)
    compare([Point(x: 1, y: 1)], as: [Numbers].self)
    compare([[1], [], [2, 3]], as: [Set<Int>].self)
    compare([[1], [], [2, 3]], as: [[String]].self)
    compare(1, as: [Point].self)
    compare(Point(x: 1, y: 2), as: [Point].self)
    compare((0..<5000).map { Point(x: $0, y: -$0) }, as: [Point].self)
    compare((0..<5000).map { $0 % 7 == 0 ? nil : "\($0)" }, as: [String?].self)
  }

  /// Elements that fail on the way leave nothing behind.
  @Test func failuresOnTheWay() throws {
    final class Counted: Codable, Hashable {
      @TaskLocal static var living = Counter()
      final class Counter: @unchecked Sendable { var count = 0 }
      let number: Int
      init(_ number: Int) { self.number = number; Counted.living.count += 1 }
      init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(Int.self)
        Counted.living.count += 1
        if number == 7 { throw CancellationError() }
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
      }
      deinit { Counted.living.count -= 1 }
      static func == (a: Counted, b: Counted) -> Bool { a.number == b.number }
      func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }
    Counted.$living.withValue(Counted.Counter()) {
      #expect(throws: (any Error).self) { try recode(Array(0..<10), as: [Counted].self) }
      #expect(throws: (any Error).self) { try recode(Array(0..<10), as: [Counted?].self) }
      #expect(throws: (any Error).self) { try recode(["a": 1, "b": 7, "c": 2], as: [String: Counted].self) }
      #expect(throws: (any Error).self) { try recode([1: 1, 2: 7], as: [Int: Counted].self) }
      #expect(throws: (any Error).self) { try recode((1...8).map { $0 }, as: [Counted: Int].self) }
      #expect(throws: (any Error).self) { try recode([1, 2, 3, 7], as: [Counted: Counted].self) }
      #expect(throws: (any Error).self) { try recode([1, 2, 3], as: [Counted: Counted].self) }
      #expect(throws: (any Error).self) { try recode([1, 2, 7, 4], as: [Counted: Counted].self) }
      #expect(throws: (any Error).self) { try recode(Array(0..<10), as: Set<Counted>.self) }
      #expect(Counted.living.count == 0)
    }
  }

  /// Keys that equal nothing, and keys that are written alike when they are composed.
  @Test func oddKeys() throws {
    let notANumber: [Double: Int] = [.nan: 1, 1: 2]
    let back = try copy(notANumber)
    #expect(back.count == 2 && back[1] == 2 && back.keys.contains { $0.isNaN })
    #expect(try copy([0.0: "zero", -1.0: "one"]) == [0.0: "zero", -1.0: "one"])
    let alike = [WordKey("é"): 1, WordKey("e\u{301}x"): 2, WordKey("z"): 3]
    #expect(try copy(alike) == alike)
    let texts = [
      "e\u{301}": 1, "f": 2, "a\u{0}": 3, "a": 4, "": 5, "aaaaaaaab": 6, "aaaaaaaaa": 7, "aaaaaaaa": 8,
    ]
    #expect(try copy(texts) == texts)
    #expect(try copy(Set(texts.keys)) == Set(texts.keys))
  }

  /// Equal, and yet not the same.
  private struct Marked: Codable, Hashable {
    var name: Int
    var mark: String
    static func == (a: Marked, b: Marked) -> Bool { a.name == b.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
  }

  /// Of equal elements and keys those stay that stay with JSON.
  @Test func equalElementsAndKeys() throws {
    let elements = [(1, "a"), (2, "b"), (1, "c"), (3, "d"), (2, "e")].map { Marked(name: $0.0, mark: $0.1) }
    let marks = { (set: Set<Marked>) in set.map(\.mark).sorted() }
    let expected = marks(try JSON.decode(New<Set<Marked>>.self, JSON.encode(Old(elements))).value)
    #expect(marks(try recode(elements, as: Set<Marked>.self)) == expected && expected == ["a", "b", "d"])
    /// Keys and values in turn.
    struct Pairs: Codable {
      var elements: [Marked]
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in elements {
          try container.encode(element)
          try container.encode(element.mark)
        }
      }
      init(_ elements: [Marked]) { self.elements = elements }
      init(from decoder: any Decoder) throws { elements = [] }
    }
    let byJSON = try JSON.decode(New<[Marked: String]>.self, JSON.encode(Old(Pairs(elements)))).value
    let ours = try recode(Pairs(elements), as: [Marked: String].self)
    #expect(ours == byJSON && ours.values.sorted() == ["c", "d", "e"])
    #expect(Set(ours.map { $0.key.mark + $0.value }) == Set(byJSON.map { $0.key.mark + $0.value }))
  }

  /// A map may have two keys that are one for a dictionary.
  @Test(arguments: [["\u{E9}", "e\u{301}"], ["a", "e\u{301}", "\u{E9}", "z"]])
  func keysThatAreOneText(_ keys: [String]) throws {
    struct Map: Codable {
      var keys: [String]
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DictionaryKey.self)
        for (number, key) in keys.enumerated() {
          try container.encode(number, forKey: DictionaryKey(stringValue: key))
        }
      }
      init(_ keys: [String]) { self.keys = keys }
      init(from decoder: any Decoder) throws { keys = [] }
    }
    let read = try recode(Map(keys), as: [String: Int].self)
    #expect(read.count == keys.count - 1)
    let number = try #require(read["\u{E9}"])
    #expect(keys[number] == "\u{E9}" && read.values.allSatisfy { keys.indices.contains($0) })
  }

  /// More than there is room for at once, and none.
  @Test func manyAndNone() throws {
    let many = Dictionary(
      uniqueKeysWithValues: (0..<10_000).map { ("key \($0)", $0 % 3 == 0 ? nil : "\($0)") })
    #expect(try copy(many) == many)
    let byNumber = Dictionary(uniqueKeysWithValues: (0..<10_000).map { ($0 * 77 - 5000, Point(x: $0, y: 1)) })
    #expect(try copy(byNumber) == byNumber)
    let byPoint = Dictionary(uniqueKeysWithValues: (0..<10_000).map { (Double($0), [$0]) })
    #expect(try copy(byPoint) == byPoint)
    #expect(try copy([String: Int]()).isEmpty && copy([Double: Int]()).isEmpty && copy(Set<Int>()).isEmpty)
    #expect(try copy(["x": [String: [Int: Int]](), "y": ["z": [1: 2]]]) == ["x": [:], "y": ["z": [1: 2]]])
  }
}

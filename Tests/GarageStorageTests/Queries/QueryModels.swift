import Foundation
import GarageStorage

/// Values of every kind that a condition can be about.
struct Specimen: Codable, Identifiable, Equatable {
  enum State: String, Codable { case new, open, closed }
  enum Rank: Int, Codable, CaseIterable { case low = -3, high = 70 }
  struct Address: Codable, Equatable {
    var zip: String
    var floor: Int?
  }

  var id: Int
  var age: Int
  var small: UInt8
  var huge: UInt64
  var weight: Double
  var ratio: Float
  var price: Decimal
  var name: String
  var nickname: String?
  var isDone: Bool
  var born: Date
  var seen: Date?
  var token: UUID
  var link: URL
  var blob: Data
  var state: State
  var rank: Rank?
  var address: Address
  var second: Address?
  var tags: [String]
  var marks: Set<Int>
  var levels: [Int?]
  var owner: Reference<Counter>?

  enum CodingKeys: String, CodingKey {
    // Two names that say the other property, and one that says nothing.
    case id, small, huge, weight, ratio, price, isDone, born, seen, token, link, blob, state, rank, second
    case address, tags, marks, levels, owner
    case age = "name"
    case name = "age"
    case nickname = "nick_name"
  }
}

extension Specimen {
  init(_ id: Int, _ random: inout SeededGenerator) {
    func pick<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }
    let texts = [
      "", "a", "A", "Sam", "sam", "caf\u{E9}", "cafe\u{301}", "z\u{0}y", "\u{1F1E9}\u{1F1EA}", "\r\n",
      String(repeating: "long ", count: 60), String(repeating: "x", count: 300) + "1", "\u{FFFF}",
      "stra\u{DF}e",
    ]
    let doubles: [Double] = [
      0, -0.0, 1, -1, 0.1, .nan, .infinity, -.infinity, 0x1p53, 0x1p63, .leastNonzeroMagnitude, 2.5,
    ]
    let dates = doubles.filter { $0.isFinite }.map { Date(timeIntervalSinceReferenceDate: $0) }
    func text() -> String { pick(texts) }
    func address() -> Address {
      Address(zip: text(), floor: pick([nil, 0, 1, -1, .max]))
    }
    self.init(
      id: id, age: pick([.min, -129, -128, -1, 0, 1, 18, 63, 64, 65, 1 << 40, .max]),
      small: pick([0, 1, 200, 255]),
      huge: pick([0, 63, 1 << 63, .max]), weight: pick(doubles), ratio: Float(pick(doubles)),
      price: pick([0, 1, -1, Decimal(string: "0.1")!, Decimal(string: "19.99")!, .nan]), name: text(),
      nickname: pick([nil, text()]), isDone: .random(using: &random), born: pick(dates),
      seen: pick([nil, pick(dates)]),
      token: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, pick([1, 2, 255]))),
      link: pick([URL(string: "https://a.example")!, URL(string: "file:///b")!]),
      blob: pick([Data(), Data([0]), Data([1, 2])]), state: pick([.new, .open, .closed]),
      rank: pick([nil, .low, .high]), address: address(), second: pick([nil, address()]),
      tags: (0..<Int.random(in: 0...3, using: &random)).map { _ in text() },
      marks: Set((0..<Int.random(in: 0...3, using: &random)).map { _ in pick([1, 2, 300]) }),
      levels: (0..<Int.random(in: 0...2, using: &random)).map { _ in pick([nil, 1, 2]) },
      owner: pick([nil, Reference(Counter.self, identifier: pick([1, 2]))]))
  }
}

/// A condition, and the same in plain Swift.
struct Question<Root: Codable> {
  let condition: Condition<Root>
  let holds: (Root) -> Bool
}

extension Question<Specimen> {
  /// A comparison of one property, with a value that some specimen has.
  // Long because every kind of property has a line.
  static func leaf(like other: Specimen, _ random: inout SeededGenerator) -> Question {
    let kind = Int.random(in: 0..<8, using: &random)
    func compared<V: Comparable & Codable>(_ property: KeyPath<Specimen, V>) -> Question {
      let value = other[keyPath: property]
      return switch kind {
      case 0: Question(condition: property == value) { $0[keyPath: property] == value }
      case 1: Question(condition: property != value) { $0[keyPath: property] != value }
      case 2: Question(condition: property < value) { $0[keyPath: property] < value }
      case 3: Question(condition: property <= value) { $0[keyPath: property] <= value }
      case 4: Question(condition: property > value) { $0[keyPath: property] > value }
      case 5: Question(condition: property >= value) { $0[keyPath: property] >= value }
      case 6: Question(condition: property == .oneOf([value, value])) { $0[keyPath: property] == value }
      default: Question(condition: property == .oneOf([])) { _ in false }
      }
    }
    func compared<V: Comparable & Codable>(_ property: KeyPath<Specimen, V?>) -> Question {
      guard let value = other[keyPath: property], kind > 1 else {
        return Question(condition: property == nil) { $0[keyPath: property] == nil }
      }
      return switch kind {
      case 2: Question(condition: property < value) { $0[keyPath: property].map { $0 < value } ?? false }
      case 3: Question(condition: property <= value) { $0[keyPath: property].map { $0 <= value } ?? false }
      case 4: Question(condition: property > value) { $0[keyPath: property].map { $0 > value } ?? false }
      case 5: Question(condition: property >= value) { $0[keyPath: property].map { $0 >= value } ?? false }
      default: Question(condition: property != value) { $0[keyPath: property] != value }
      }
    }
    func same<V: Equatable & Codable>(_ property: KeyPath<Specimen, V>) -> Question {
      let value = other[keyPath: property]
      return kind < 4
        ? Question(condition: property == value) { $0[keyPath: property] == value }
        : Question(condition: property != value) { $0[keyPath: property] != value }
    }
    func text(_ property: KeyPath<Specimen, String>) -> Question {
      let value = other[keyPath: property]
      let start = String(value.prefix(2))
      return switch kind {
      case 0: Question(condition: property == .hasPrefix(start)) { $0[keyPath: property].hasPrefix(start) }
      case 1: Question(condition: property == .hasSuffix(start)) { $0[keyPath: property].hasSuffix(start) }
      case 2: Question(condition: property == .contains(start)) { $0[keyPath: property].contains(start) }
      case 3:
        Question(condition: property == .caseInsensitive(value)) {
          $0[keyPath: property].lowercased() == value.lowercased()
        }
      default: compared(property)
      }
    }
    switch Int.random(in: 0..<24, using: &random) {
    case 0: return compared(\.id)
    case 1, 2: return compared(\.age)
    case 3: return compared(\.small)
    case 4: return compared(\.huge)
    case 5, 6: return compared(\.weight)
    case 7: return compared(\.ratio)
    case 8: return compared(\.price)
    case 9, 10: return text(\.name)
    case 11: return compared(\.nickname)
    case 12: return same(\.isDone)
    case 13: return compared(\.born)
    case 14: return compared(\.seen)
    case 15: return same(\.token)
    case 16: return kind < 4 ? same(\.link) : same(\.blob)
    case 17: return kind < 4 ? same(\.state) : same(\.rank)
    case 18: return text(\.address.zip)
    case 19: return compared(\.address.floor)
    case 20:
      let zip = other.second?.zip
      return Question(condition: \.second?.zip == zip) { $0.second?.zip == zip }
    case 21:
      let tag = other.tags.first ?? "none"
      return Question(condition: \.tags == .contains(tag)) { $0.tags.contains(tag) }
    case 22:
      let mark = other.marks.first ?? 7
      let level = other.levels.first ?? 1
      return kind < 4
        ? Question(condition: \.marks == .contains(mark)) { $0.marks.contains(mark) }
        : Question(condition: \.levels == .contains(level)) { $0.levels.contains(level) }
    default:
      let owner = other.owner
      return Question(condition: \.owner == owner) { $0.owner == owner }
    }
  }

  static func random(like others: [Specimen], depth: Int, _ random: inout SeededGenerator) -> Question {
    switch depth == 0 ? 0 : Int.random(in: 0..<5, using: &random) {
    case 1:
      let (left, right) = (
        Question.random(like: others, depth: depth - 1, &random),
        Question.random(like: others, depth: depth - 1, &random)
      )
      return Question(condition: left.condition && right.condition) { left.holds($0) && right.holds($0) }
    case 2:
      let (left, right) = (
        Question.random(like: others, depth: depth - 1, &random),
        Question.random(like: others, depth: depth - 1, &random)
      )
      return Question(condition: left.condition || right.condition) { left.holds($0) || right.holds($0) }
    case 3:
      let inner = Question.random(like: others, depth: depth - 1, &random)
      return Question(condition: !inner.condition) { !inner.holds($0) }
    default: return leaf(like: others.randomElement(using: &random)!, &random)
    }
  }
}

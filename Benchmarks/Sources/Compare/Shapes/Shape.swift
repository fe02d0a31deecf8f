import Foundation

/// One shape of the corpus: a type as real models have them, with code by hand for it.
protocol Shape: Codable, Equatable, HandCoded, Identifiable, SendableMetatype {
  static var title: String { get }
  /// How many objects a pass has: fewer of what is large.
  static var count: Int { get }
  /// What has to be registered with the garage.
  static var types: [any Codable.Type] { get }
  /// One of many, the same in every run. They are made in the order of their identifiers.
  static func make(_ number: Int, _ maker: inout Maker) -> Self
}

extension Shape {
  static var count: Int { 1000 }
  static var types: [any Codable.Type] { [] }

  static func makeAll() -> [Self] {
    var maker = Maker(random: SplitMix(state: 5))
    return (0..<count).map { make($0, &maker) }
  }
}

/// Makes values as real models have them: prices with cents, dates with parts of a second, names and words.
struct Maker {
  var random: SplitMix

  mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  mutating func bits<T: FixedWidthInteger>() -> T { T(truncatingIfNeeded: random.next()) }
  mutating func bool() -> Bool { Bool.random(using: &random) }
  mutating func price() -> Double { Double(int(0...1_000_000)) / 100 }
  mutating func degrees() -> Double { Double(int(-90_000_000...90_000_000)) / 1_000_000 }
  /// Eighths of a second: every coder here keeps them exactly.
  mutating func date() -> Date { Date(timeIntervalSinceReferenceDate: Double(int(0...7_000_000_000)) / 8) }
  mutating func uuid() -> UUID {
    let (high, low) = (random.next().bigEndian, random.next().bigEndian)
    return withUnsafeBytes(of: (high, low)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
  mutating func decimal() -> Decimal {
    Decimal(sign: bool() ? .plus : .minus, exponent: -2, significand: Decimal(int(1...99_999_999)))
  }
  mutating func url() -> URL {
    URL(string: "https://example.org/\(word())/\(int(1...99_999))?page=\(int(1...20))")!
  }
  mutating func data(_ count: Int) -> Data { Data((0..<count).map { _ in bits() }) }

  mutating func pick<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }
  mutating func pick<T: CaseIterable>(_ type: T.Type = T.self) -> T {
    T.allCases.randomElement(using: &random)!
  }
  mutating func array<T>(_ count: Int, _ element: (inout Maker) -> T) -> [T] {
    (0..<count).map { _ in element(&self) }
  }
  mutating func five<T>(_ value: (inout Maker) -> T) -> (T, T, T, T, T) {
    (value(&self), value(&self), value(&self), value(&self), value(&self))
  }
  /// Nil for every other one.
  mutating func maybe<T>(_ value: (inout Maker) -> T) -> T? { bool() ? value(&self) : nil }

  mutating func word() -> String { pick(Self.words) }
  mutating func words(_ count: Int, of words: [String] = Maker.words) -> String {
    array(count) { $0.pick(words) }.joined(separator: " ")
  }
  /// Text of at least so many bytes.
  mutating func text(_ byteCount: Int, of words: [String] = Maker.words) -> String {
    var text = pick(words)
    while text.utf8.count < byteCount { text += " " + pick(words) }
    return text
  }
  /// So many different words, numbered to be different.
  mutating func keys(_ count: Int) -> [String] { (0..<count).map { "\(word()) \($0)" } }
  mutating func dictionary<Value>(_ count: Int, _ value: (inout Maker) -> Value) -> [String: Value] {
    Dictionary(uniqueKeysWithValues: keys(count).map { ($0, value(&self)) })
  }

  static let words = [
    "gardener", "mayor", "ring", "traveller", "cook", "writer", "farmer", "hill", "water", "lane", "south",
    "green",
    "dragon", "way", "river", "mill", "market", "harbour", "silver", "lantern", "of", "the", "and", "under",
    "over",
  ]
}

import Foundation

@testable import GarageCoding

// Collections, and types as the compiler synthesizes their coding.

enum Suit: String, Codable, CaseIterable, Hashable { case hearts, spades }
enum Rank: Int, Codable, Hashable { case low = -1, high = 1000 }
enum TextKey: String, Codable, CodingKeyRepresentable, Hashable { case one, two, accented = "é" }
enum NumberKey: Int, Codable, CodingKeyRepresentable, Hashable { case one = 1, minus = -5, big = 1_000_000 }
enum PlainEnumKey: String, Codable, Hashable { case one, two }
struct Point: Codable, Hashable { var x: Int, y: Int }
struct WordKey: Codable, Hashable, CodingKeyRepresentable {
  var word: String
  init(_ word: String) { self.word = word }
  var codingKey: any CodingKey { PathKey(stringValue: word) }
  init?<T: CodingKey>(codingKey: T) { word = codingKey.stringValue }
}

let collectionCases: [RoundTripCase] = [
  same("[Int] empty", [Int]()), same("[Int] one", [5]), same("[Int] one negative", [-1]),
  same("[Int] mixed magnitude", [0, 1, -1, 127, 128, -129, 65_536, .max, .min]),
  same("[Int] 70000", Array(0..<70_000)), same("[Int8]", [Int8.min, 0, .max]),
  same("[Int16]", [Int16.min, 0, .max]),
  same("[Int32]", [Int32.min, 0, .max]), same("[Int64]", [Int64.min, 0, .max]),
  same("[UInt]", [0, UInt.max]),
  same("[UInt8]", [UInt8](0...255)), same("[UInt16]", [0, UInt16.max]), same("[UInt32]", [0, UInt32.max]),
  same("[UInt64]", [0, UInt64.max]),
  same("[UInt64] around Int64", [UInt64(Int64.max), UInt64(Int64.max) + 1]),
  same("[Bool] empty", [Bool]()), same("[Double] empty", [Double]()), same("[Float]", [Float(0.1), 2]),
  same("[Double] 300", (0..<300).map { Double($0) / 7 }), same("[Bool] 1000", (0..<1000).map { $0 % 3 == 0 }),
  same("[[Int]]", [[1], [], [1, 2, 3], [.max]]), same("[[[String]]]", [[["a"], []], []]),
  same("[[Double?]]", [[1, nil], [nil], []]), same("[[Int]?]", [[1], nil, []]),
  same("[Int?]", [1, nil, 3]), same("[Bool?]", [true, nil]),
  same("Int??", json: false, [Int??.none, .some(5)]),
  same("String?? in a struct", DoubleOptional(a: "x", b: nil)),
  same("[Int??]", [1 as Int??]), same("Optional none", Twin(a: Int?.none, b: Int?.some(1))),
  same("[Point?]", [Point(x: 1, y: 2), nil]),
  same("ContiguousArray", ContiguousArray([1, 2, 3])),
  same("[String: Int]", ["a": 1, "": 2, "é": 3, "👍": 4, "a\u{0}": 5]),
  same("[String: Int] empty", [String: Int]()),
  same("[String: Int] 1000", Dictionary(uniqueKeysWithValues: (0..<1000).map { ("k\($0)", $0) })),
  same("[String: [String: Int]]", ["a": ["b": 1], "c": [:]]), same("[String: Int?]", ["a": 1, "b": nil]),
  same("[Int: String]", [1: "a", -5: "b", 0: "c", .max: "d", 10: "e", 9: "f"]),
  same("[Int8: String]", [Int8(1): "a", -5: "b"]), same("[UInt64: Int]", [UInt64.max: 1]),
  same("[Suit: Int]", [Suit.hearts: 1, .spades: 2]), same("[Rank: Int]", [Rank.low: 1, .high: 2]),
  same("[TextKey: Int]", [TextKey.one: 1, .accented: 2]),
  same("[NumberKey: Int]", [NumberKey.minus: 1, .big: 2]),
  same("[PlainEnumKey: Int]", [PlainEnumKey.one: 1, .two: 2]),
  same("[WordKey: Point]", [WordKey("w"): Point(x: 1, y: 1)]),
  same(
    "[UUID: Int]",
    [
      UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!: 1,
      UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)): 2,
    ]), same("[Point: String]", [Point(x: 1, y: 2): "a", Point(x: 0, y: 0): "b"]),
  same("[Date: Int]", [Date.distantPast: 1]), same("[Double: Int]", [0.5: 1, -1.5: 2]),
  same("[Bool: Int]", [true: 1]),
  same("[[Int]: Int]", [[1, 2]: 3, []: 4]), same("[String?: Int]", [nil: 1, "a": 2]),
  same("Set<Int>", Set([1, 2, 3, 500])), same("Set<String>", Set(["a", "b", ""])),
  same("Set<Point>", Set([Point(x: 1, y: 2)])),
  same("Set empty", Set<Int>()), same("Set<Set<Int>>", Set([Set([1, 2]), []])),
  same("Set<Suit>", Set([Suit.hearts])),
  same("Set<Double>", Set([0.0, 1.5])), same("[Set<String>]", [Set(["a"]), []]),
  same("Range<Int>", 1..<5), same("ClosedRange<Double>", 0.5...1.5),
  same("PartialRangeFrom", { (3...) as PartialRangeFrom<Int> }, by: { $0.lowerBound == $1.lowerBound }),
  same("PartialRangeThrough", { (...3) as PartialRangeThrough<Int> }, by: { $0.upperBound == $1.upperBound }),
  same("Range<Date>", Date.distantPast..<Date.distantFuture),
]

struct DoubleOptional: Codable, Equatable { var a: String??, b: String?? }

// MARK: - Synthesized types

enum Theme: String, Codable { case light, dark = "the dark one" }
enum Payload: Codable, Hashable {
  case none, one(Int), named(a: String, b: Int?), mixed(String, count: Int), deep(Point), list([Int]),
    `default`(_ x: Int)
}
indirect enum Expression: Codable, Hashable {
  case number(Double), sum(Expression, Expression), negative(of: Expression), all([Expression]), maybe(
    Expression?)
}
struct NoFields: Codable, Hashable {}
struct Nested: Codable, Hashable {
  struct Inner: Codable, Hashable { var a: Int, b: [Inner2] }
  struct Inner2: Codable, Hashable { var c: String?, d: Point? }
  var inner: Inner, other: Inner?
}
struct Generic<A: Codable & Hashable, B: Codable & Hashable>: Codable, Hashable { var a: A, b: B, c: [A: B] }
struct Twin<A: Codable & Equatable, B: Codable & Equatable>: Codable, Equatable { var a: A, b: B }
@propertyWrapper struct Clamped: Codable, Hashable { var wrappedValue: Int }
@propertyWrapper struct Transparent<T: Codable & Equatable>: Codable, Equatable {
  var wrappedValue: T
  init(wrappedValue: T) { self.wrappedValue = wrappedValue }
  init(from decoder: any Decoder) throws { wrappedValue = try T(from: decoder) }
  func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}
@propertyWrapper struct Single<T: Codable & Equatable>: Codable, Equatable {
  var wrappedValue: T
  init(wrappedValue: T) { self.wrappedValue = wrappedValue }
  init(from decoder: any Decoder) throws { wrappedValue = try decoder.singleValueContainer().decode(T.self) }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}
struct Wrappers: Codable, Equatable {
  @Clamped var a: Int
  @Transparent var b: [String]
  @Single var c: Point
  @Transparent var d: Int?
  @Single var e: [Point?]
  @Single @Transparent @Single var f: Theme
}
struct Meters: RawRepresentable, Codable, Hashable { var rawValue: Double }
struct Flags: OptionSet, Codable { let rawValue: UInt8 }
final class PlainClass: Codable, Equatable {
  var a = 1, b = "x"
  var next: PlainClass?
  init(_ next: PlainClass?) { self.next = next }
  static func == (l: PlainClass, r: PlainClass) -> Bool { l.a == r.a && l.b == r.b && l.next == r.next }
}
struct Large: Codable, Equatable {
  var a = 1, b = 2.5, c = "c", d: Int?, e = [1, 2], f: String? = "f", g = true,
    h = Date(timeIntervalSinceReferenceDate: 1)
  var i = UInt8(9), j = Float(1), k = Data([1]), l = Suit.hearts, m = Point(x: 1, y: 1), n: Point?,
    o = [Point(x: 0, y: 0)]
  var p = Int128(1) << 100, q = Decimal(1), r = ["k": 1], s = Set([1]), t: [Int]? = nil, u = Int8(-1),
    v: Bool? = false
}
struct Renamed: Codable, Equatable {
  var first: Int, second: String, third: Int?
  enum CodingKeys: String, CodingKey { case third = "3", first = "eins é", second = "" }
}
struct Partly: Codable, Equatable {
  var a: Int
  var skipped = 7
  var b: Int
  enum CodingKeys: CodingKey { case b, a }
}

/// Lengths of a varint of three bytes begin at 16 384.
private let manyStructs = LongTests.areWanted ? 70_000 : 17_000

let typeCases: [RoundTripCase] = [
  same("enum raw", Theme.dark), same("enum raw Int", [Rank.low, .high]),
  same("enum payload none", Payload.none),
  same(
    "enum payloads",
    [
      Payload.one(-1), .named(a: "", b: nil), .named(a: "x", b: 1), .mixed("é", count: 0),
      .deep(Point(x: 1, y: 2)), .list([]), .list([1]), .default(3),
    ]),
  same(
    "indirect enum",
    Expression.sum(.number(1), .negative(of: .all([.number(2), .maybe(nil), .maybe(.number(3))])))),
  same("Optional enum payload", [Payload?.none, .some(.none)]),
  same("Result-like", Twin(a: Payload.one(1), b: Theme.light)),
  same("struct empty", NoFields()), same("[struct empty]", [NoFields(), NoFields()]),
  same(
    "struct nested",
    Nested(inner: .init(a: 1, b: [.init(c: nil, d: Point(x: 1, y: 1)), .init(c: "c", d: nil)]), other: nil)),
  same("generic", Generic(a: "a", b: Point(x: 1, y: 2), c: ["k": Point(x: 0, y: 0)])),
  same("generic of generic", Generic(a: Point(x: 1, y: 1), b: Generic(a: 1, b: "b", c: [2: "c"]), c: [:])),
  same(
    "property wrappers",
    Wrappers(a: 5, b: ["x"], c: Point(x: 1, y: 2), d: 6, e: [nil, Point(x: 0, y: 1)], f: .dark)),
  same("RawRepresentable struct", Meters(rawValue: 1.5)), same("OptionSet", Flags(rawValue: 5)),
  same("class", PlainClass(PlainClass(nil))), same("large struct", json: false, Large()),
  same("coding keys renamed and reordered", Renamed(first: 1, second: "x", third: nil)),
  same("coding keys renamed and reordered, all there", Renamed(first: 1, second: "x", third: 3)),
  same("coding keys for some", Partly(a: 1, b: 2)),
  same("[coding keys for some]", (0..<300).map { Partly(a: $0, b: -$0) }),
  same("\(manyStructs) structs", (0..<manyStructs).map { Point(x: $0, y: -$0) }),
  same(
    "9000 structs with optionals",
    (0..<9_000).map { DoubleOptional(a: $0 % 2 == 0 ? "x" : nil, b: $0 % 3 == 0 ? "y" : nil) }),
  same("recursive optional struct", Tree(1, [Tree(2, [Tree(3, [])]), Tree(4, [])])),
  same(
    "type-erased",
    [
      Erased.null, .bool(true), .int(5), .double(0.5), .string("x"), .array([.int(1), .null]),
      .object(["a": .array([]), "b": .object([:])]),
    ]),
]

struct Tree: Codable, Hashable {
  var value: Int
  var children: [Tree]
  init(_ value: Int, _ children: [Tree]) { (self.value, self.children) = (value, children) }
}

/// A JSON value: decodes by trying one type after the other.
enum Erased: Codable, Hashable {
  case null, bool(Bool), int(Int), double(Double), string(String), array([Erased]), object([String: Erased])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int.self) {
      self = .int(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([Erased].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: Erased].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

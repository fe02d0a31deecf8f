import Foundation

@testable import GarageCoding

// Types as apps code them by hand, and values of the standard library and Foundation that code themselves in ways of their own.

private struct AnyKey: CodingKey, Hashable {
  var stringValue: String
  var intValue: Int?
  init(_ text: String) { stringValue = text }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

// MARK: - Several values in one map

/// Fields that the type knows, and all others as they are.
private struct WithOthers: Codable, Equatable {
  var name: String
  var others: [String: Erased]
  init(_ name: String, _ others: [String: Erased]) { (self.name, self.others) = (name, others) }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: AnyKey.self)
    name = try container.decode(String.self, forKey: AnyKey("name"))
    others = [:]
    for key in container.allKeys where key.stringValue != "name" {
      others[key.stringValue] = try container.decode(Erased.self, forKey: key)
    }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: AnyKey.self)
    try container.encode(name, forKey: AnyKey("name"))
    for (key, value) in others { try container.encode(value, forKey: AnyKey(key)) }
  }
}

private struct Stamp: Codable, Equatable { var made: Date, by: String?, tags: [String] }

/// Two values and a dictionary in one map, between fields of its own.
private struct Flattened: Codable, Equatable {
  var id: Int, stamp: Stamp, point: Point, counts: [String: Int], last: Bool
  private enum CodingKeys: CodingKey { case id, last }
  init(id: Int, stamp: Stamp, point: Point, counts: [String: Int]) {
    (self.id, self.stamp, self.point, self.counts, last) = (id, stamp, point, counts, true)
  }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    point = try Point(from: decoder)
    id = try container.decode(Int.self, forKey: .id)
    stamp = try Stamp(from: decoder)
    let all = try decoder.container(keyedBy: AnyKey.self)
    counts = [:]
    for key in all.allKeys where key.stringValue.hasPrefix("n_") {
      counts[key.stringValue] = try all.decode(Int.self, forKey: key)
    }
    last = try container.decode(Bool.self, forKey: .last)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try stamp.encode(to: encoder)
    try counts.encode(to: encoder)
    try point.encode(to: encoder)
    try container.encode(last, forKey: .last)
  }
}

// MARK: - One of several

/// Told by a field beside those of the payload.
private enum Change: Codable, Equatable {
  case moved(Point), made(Stamp), gone
  private enum CodingKeys: CodingKey { case type }
  init(from decoder: any Decoder) throws {
    let type = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .type)
    self =
      switch type {
      case "moved": .moved(try Point(from: decoder))
      case "made": .made(try Stamp(from: decoder))
      default: .gone
      }
  }
  func encode(to encoder: any Encoder) throws {
    let type: String
    switch self {
    case .moved(let point):
      type = "moved"
      try point.encode(to: encoder)
    case .made(let stamp):
      type = "made"
      try stamp.encode(to: encoder)
    case .gone: type = "gone"
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(type, forKey: .type)
  }
}

/// Told by nothing but which type can be decoded, some of which come far before they fail.
private enum Untagged: Codable, Equatable {
  case stamp(Stamp), point(Point), numbers([Int]), texts([String]), theme(Theme), number(Int)
  init(from decoder: any Decoder) throws {
    if let stamp = try? Stamp(from: decoder) {
      self = .stamp(stamp)
    } else if let point = try? Point(from: decoder) {
      self = .point(point)
    } else if let numbers = try? [Int](from: decoder) {
      self = .numbers(numbers)
    } else if let texts = try? [String](from: decoder) {
      self = .texts(texts)
    } else if let theme = try? decoder.singleValueContainer().decode(Theme.self) {
      self = .theme(theme)
    } else {
      self = .number(try decoder.singleValueContainer().decode(Int.self))
    }
  }
  func encode(to encoder: any Encoder) throws {
    switch self {
    case .stamp(let value): try value.encode(to: encoder)
    case .point(let value): try value.encode(to: encoder)
    case .numbers(let value): try value.encode(to: encoder)
    case .texts(let value): try value.encode(to: encoder)
    case .theme(let value): try value.encode(to: encoder)
    case .number(let value): try value.encode(to: encoder)
    }
  }
}

private enum Outcome<Success: Codable & Equatable, Failure: Codable & Equatable>: Codable, Equatable {
  case success(Success), failure(Failure)
}

// MARK: - Containers in turn

/// Runs of text, each with attributes, or the place of these in a table that is written beside them: as `AttributedString`.
private struct Runs: Codable, Equatable {
  var runs: [(text: String, attributes: [String: Int])]
  private enum CodingKeys: CodingKey { case runs, table }
  init(_ runs: [(text: String, attributes: [String: Int])]) { self.runs = runs }
  static func == (left: Runs, right: Runs) -> Bool {
    left.runs.elementsEqual(right.runs) { $0.text == $1.text && $0.attributes == $1.attributes }
  }

  func encode(to encoder: any Encoder) throws {
    var list: any UnkeyedEncodingContainer
    var table: (any UnkeyedEncodingContainer)?
    if runs.count < 3 {
      list = encoder.unkeyedContainer()
    } else {
      var container = encoder.container(keyedBy: CodingKeys.self)
      list = container.nestedUnkeyedContainer(forKey: .runs)
      table = container.nestedUnkeyedContainer(forKey: .table)
    }
    var places: [[String: Int]: Int] = [:]
    for (text, attributes) in runs {
      try list.encode(text)
      guard var table, !attributes.isEmpty else {
        try attributes.encode(to: list.superEncoder())
        continue
      }
      if places[attributes] == nil {
        var container = table.superEncoder().container(keyedBy: AnyKey.self)
        for (key, value) in attributes { try value.encode(to: container.superEncoder(forKey: AnyKey(key))) }
        places[attributes] = places.count
      }
      try list.encode(places[attributes]!)
    }
  }

  init(from decoder: any Decoder) throws {
    runs = []
    var table: [[String: Int]] = []
    var list: any UnkeyedDecodingContainer
    if let whole = try? decoder.unkeyedContainer() {
      list = whole
    } else {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      list = try container.nestedUnkeyedContainer(forKey: .runs)
      var attributes = try container.superDecoder(forKey: .table).unkeyedContainer()
      while !attributes.isAtEnd { table.append(try [String: Int](from: attributes.superDecoder())) }
    }
    while !list.isAtEnd {
      let text = try list.decode(String.self)
      if let place = try? list.decode(Int.self) {
        // Some of the tests damage what stands there.
        guard table.indices.contains(place) else {
          throw DecodingError.dataCorruptedError(in: list, debugDescription: "no attributes at \(place)")
        }
        runs.append((text, table[place]))
      } else {
        runs.append((text, try [String: Int](from: list.superDecoder())))
      }
    }
  }
}

/// What can be read of an array, and how much there is.
private struct Lossy: Scripted {
  private struct Skipped: Decodable {}
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    try list.encode(1)
    try list.encode("two")
    try list.encodeNil()
    try list.encode(Point(x: 3, y: 3))
    try list.encode(4)
    try list.encode([5, 6])
    try list.encode(["seven": [Point(x: 7, y: 7)]])
    try list.encode(8)
  }
  static func read(_ decoder: any Decoder) throws -> String {
    var list = try decoder.unkeyedContainer()
    var numbers: [Int] = []
    while !list.isAtEnd {
      if try list.decodeNil() { continue }
      let before = list.currentIndex
      do { numbers.append(try list.decode(Int.self)) } catch {
        if list.currentIndex != before { return "moved at \(before)" }
        _ = try list.decode(Skipped.self)
      }
    }
    var end = "none"
    do { _ = try list.decode(Int.self) } catch DecodingError.valueNotFound(_, let context) {
      end = context.codingPath.last?.stringValue ?? "no key"
    }
    return "\(numbers) of \(list.count ?? -1), \(list.currentIndex), \(end)"
  }
}

/// Pairs in arrays in an array, in the order that they have.
private struct Ordered: Codable, Equatable {
  var keys: [String], values: [Double?]
  init(_ keys: [String], _ values: [Double?]) { (self.keys, self.values) = (keys, values) }
  init(from decoder: any Decoder) throws {
    (keys, values) = ([], [])
    var list = try decoder.unkeyedContainer()
    while !list.isAtEnd {
      var pair = try list.nestedUnkeyedContainer()
      keys.append(try pair.decode(String.self))
      values.append(try pair.decodeIfPresent(Double.self))
      guard pair.isAtEnd else { throw CocoaError(.coderInvalidValue) }
    }
  }
  func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    for (key, value) in zip(keys, values) {
      var pair = list.nestedUnkeyedContainer()
      try pair.encode(key)
      try pair.encode(value)
    }
  }
}

// MARK: - Defaults

/// Left out where it is false, and false where it is left out.
@propertyWrapper private struct FalseIfAbsent: Codable, Equatable {
  var wrappedValue = false
  init(wrappedValue: Bool) { self.wrappedValue = wrappedValue }
  init(from decoder: any Decoder) throws {
    wrappedValue = try decoder.singleValueContainer().decode(Bool.self)
  }
  func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}
extension KeyedDecodingContainer {
  fileprivate func decode(_ type: FalseIfAbsent.Type, forKey key: Key) throws -> FalseIfAbsent {
    try decodeIfPresent(type, forKey: key) ?? FalseIfAbsent(wrappedValue: false)
  }
}
extension KeyedEncodingContainer {
  fileprivate mutating func encode(_ value: FalseIfAbsent, forKey key: Key) throws {
    if value.wrappedValue { try encode(true, forKey: key) }
  }
}
private struct Switches: Codable, Equatable {
  @FalseIfAbsent var first: Bool
  var name: String
  @FalseIfAbsent var second: Bool
  @FalseIfAbsent var third: Bool
  var limit: Int?
}

private struct Sparse: Codable, Equatable {
  var a: Int?, b: String?, c: Date?, d: Point?, e: [Int]?, f: [String: Int]?, g: Bool?, h: Double?
  var i: UUID?, j: URL?, k: Decimal?, l: Data?, m: Set<Int>?, n: Theme?, o: Payload?, p: Float?
  var q: [Point?]?, r: [String: Point?]?, s: Int8?, t: UInt64?, u: String??, v: [[Int]?]?, w: Suit?
}

private struct Letter: Codable, Equatable {
  var character: Character
  init(_ character: Character) { self.character = character }
  init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard text.count == 1, let first = text.first else { throw CocoaError(.coderInvalidValue) }
    character = first
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(String(character))
  }
}
/// A raw value of one of two forms: what it holds, or what that encodes.
private struct Tagged<Tag, Raw: Codable & Hashable>: Codable, Hashable {
  var raw: Raw
  init(_ raw: Raw) { self.raw = raw }
  init(from decoder: any Decoder) throws {
    do { raw = try decoder.singleValueContainer().decode(Raw.self) } catch { raw = try Raw(from: decoder) }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(raw)
  }
}
private struct Inner: RawRepresentable, Codable, Hashable { var rawValue: UUID }

private let stamp = Stamp(made: Date(timeIntervalSinceReferenceDate: 0.25), by: nil, tags: ["a", "é"])
private let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

let handWrittenCases: [RoundTripCase] = [
  same(
    "known fields and others",
    WithOthers("n", ["a": .int(1), "z": .array([.null]), "b": .object(["c": .bool(true)])])),
  same("known fields alone", WithOthers("n", [:])),
  same(
    "flattened",
    Flattened(id: 1, stamp: stamp, point: Point(x: 1, y: 2), counts: ["n_b": 1, "n_a": 2, "n_": 3])),
  same("flattened without others", Flattened(id: 1, stamp: stamp, point: Point(x: 0, y: 0), counts: [:])),
  same("told by a field", [Change.moved(Point(x: 1, y: 1)), .gone, .made(stamp)]),
  same(
    "told by nothing",
    [
      Untagged.stamp(stamp), .point(Point(x: 1, y: 2)), .numbers([1, 500]), .texts(["x"]), .theme(.dark),
      .number(7),
      .numbers([]),
    ]),
  same("outcomes", [Outcome<[Point], Theme>.success([Point(x: 1, y: 1)]), .failure(.dark), .success([])]),
  same("two runs", Runs([("a", ["x": 1]), ("b", [:])])),
  same(
    "five runs",
    Runs([("a", ["x": 1]), ("b", [:]), ("c", ["y": 2, "x": 1]), ("d", ["x": 1]), ("", ["x": 1])])),
  script(Lossy.self, "[1, 4, 8] of 8, 8, Index 8"), same("ordered pairs", Ordered(["b", "a"], [nil, 1.5])),
  same("ordered pairs, none", Ordered([], [])),
  same("left out where false", Switches(first: false, name: "n", second: true, third: false, limit: nil)),
  same("left out where false, one", Switches(first: true, name: "n", second: false, third: true, limit: 1)),
  same("23 nils", Sparse()), same("22 nils", [Sparse(w: .spades), Sparse(a: 1)]),
  same(
    "some nils",
    Sparse(c: .distantPast, f: [:], j: URL(string: "a:b"), o: .some(.none), q: [nil], v: [nil, [1]])),
  same("Character by hand", [Letter("a"), Letter("👩‍🚀")]),
  same("tagged", [Tagged<Int, String>("x"): Tagged<Int, Inner>(Inner(rawValue: uuid))]),
  same("optional as a single value", [Single(wrappedValue: Int?.none), Single(wrappedValue: 5)]),
  same("optional in wrappers", [Single(wrappedValue: Single(wrappedValue: String?.none))]),
  same("optionals of dictionaries", ["a": [1: "x", 2: nil], "b": nil] as [String: [Int: String?]?]),
  same(
    "[Int: [String: [Date]]]", [1: ["a": [Date.distantPast], "b": []], -7: [:]] as [Int: [String: [Date]]]),
  same("[Enum: [Struct]]", [TextKey.accented: [Point(x: 1, y: 1)], .two: []]),
  same("[Enum: Struct?]", [.big: Point(x: 1, y: 1), .one: nil] as [NumberKey: Point?]),
  same("[UUID: Set<UUID>]", [uuid: Set([uuid])]),
  same("Set<[Int?]>", Set([[1, nil], [], [nil]] as [[Int?]])),
  same("Set<Optional>", Set([1, nil, 3] as [Int?])),
  same("[Point?: Int]", [Point(x: 1, y: 1): 1, nil: 2] as [Point?: Int]),
  same("SIMD3<Float>", SIMD3<Float>(1, -2, 0.5)), same("[SIMD2<Double>]", [SIMD2(0.1, 2), SIMD2(3, -4)]),
  same("SIMD8<Int16>", SIMD8<Int16>(repeating: -300)),
  same("ContiguousArray of structs", ContiguousArray([Point(x: 1, y: 1), Point(x: 2, y: 2)])),
  same("Duration", [Duration.seconds(1.5), .nanoseconds(-1)]),
  same("[Int128]", json: false, [Int128.max, 0, -1]),
  same("[[UInt8]]", [[UInt8]](repeating: [1, 2], count: 3)),
  same("CGPoint", CGPoint(x: 0.5, y: -1)), same("[CGRect]", [CGRect(x: 0, y: 1, width: 2, height: 3)]),
]

import Foundation

@testable import GarageCoding

// Key types of every kind, and types that write their containers by hand.

/// Encodes by one closure and decodes into the text of what it found by another.
protocol Scripted: Codable, Equatable {
  var found: String { get }
  init(found: String)
  static func write(_ encoder: any Encoder) throws
  static func read(_ decoder: any Decoder) throws -> String
}

extension Scripted {
  init(from decoder: any Decoder) throws { self.init(found: try Self.read(decoder)) }
  func encode(to encoder: any Encoder) throws { try Self.write(encoder) }
}

/// A scripted type must find the same through JSON and through ours, and what it should.
func script<T: Scripted & Sendable>(_ type: T.Type, _ expected: String) -> RoundTripCase {
  same("\(type)", T(found: expected))
}

// MARK: - Key types

private struct OneCase: Codable, Equatable { var only: Int }
private struct StringKey: CodingKey {
  var stringValue: String
  var intValue: Int? { Int(stringValue) }
  init(_ text: String) { stringValue = text }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { self.init("\(intValue)") }
}
private struct ByteKey: CodingKey {
  var byte: UInt8
  init(_ byte: UInt8) { self.byte = byte }
  var stringValue: String { "b\(byte)" }
  var intValue: Int? { nil }
  init?(stringValue: String) {
    guard let byte = UInt8(stringValue.dropFirst()) else { return nil }; self.byte = byte
  }
  init?(intValue: Int) { nil }
}
private enum IntKey: Int, CodingKey { case one = 1, seven = 7, minus = -3 }
private enum PayloadKey: CodingKey {
  case flag(Bool), rest
  var stringValue: String {
    switch self {
    case .flag(let flag): "\(flag)";
    case .rest: "rest"
    }
  }
  var intValue: Int? { nil }
  init?(stringValue: String) {
    switch stringValue {
    case "true": self = .flag(true);
    case "false": self = .flag(false);
    case "rest": self = .rest;
    default: return nil
    }
  }
  init?(intValue: Int) { nil }
}
private enum NoKey: CodingKey {}

private struct StringKeyed: Codable, Equatable {
  var values: [String: Int]
  init(_ values: [String: Int]) { self.values = values }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: StringKey.self)
    values = [:]
    for key in container.allKeys { values[key.stringValue] = try container.decode(Int.self, forKey: key) }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: StringKey.self)
    for (key, value) in values { try container.encode(value, forKey: StringKey(key)) }
  }
}
private struct ByteKeyed: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: ByteKey.self)
    for byte in [200, 3, 0, 255] as [UInt8] { try container.encode(byte, forKey: ByteKey(byte)) }
  }
  static func read(_ decoder: any Decoder) throws -> String {
    let container = try decoder.container(keyedBy: ByteKey.self)
    return try [0, 3, 200, 255 as UInt8].map { "\(try container.decode(Int.self, forKey: ByteKey($0)))" }
      .joined(separator: " ")
      + " \(container.allKeys.count) \(container.contains(ByteKey(1)))"
  }
}
/// Keys some of which are none of the type that they are read with.
private struct PartlyByteKeyed: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: StringKey.self)
    for (value, key) in ["x", "b7", "b300", "b9", ""].enumerated() {
      try container.encode(value, forKey: StringKey(key))
    }
  }
  static func read(_ decoder: any Decoder) throws -> String {
    let keys = try decoder.container(keyedBy: ByteKey.self).allKeys
    return keys.map { "\($0.byte)" }.sorted().joined(separator: " ") + " of \(keys.count)"
  }
}
private struct IntKeyed: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: IntKey.self)
    try container.encode("m", forKey: .minus)
    try container.encode("1", forKey: .one)
  }
  static func read(_ decoder: any Decoder) throws -> String {
    let container = try decoder.container(keyedBy: IntKey.self)
    return try container.decode(String.self, forKey: .one) + container.decode(String.self, forKey: .minus)
      + "\(try container.decodeIfPresent(String.self, forKey: .seven) ?? "-")"
      + container.allKeys.map { "\($0.rawValue)" }.sorted().joined(separator: ",")
  }
}
private struct PayloadKeyed: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: PayloadKey.self)
    try container.encode(1, forKey: .flag(false))
    try container.encode(2, forKey: .flag(true))
    try container.encode(3, forKey: .rest)
  }
  static func read(_ decoder: any Decoder) throws -> String {
    let container = try decoder.container(keyedBy: PayloadKey.self)
    return try
      "\(container.decode(Int.self, forKey: .rest))\(container.decode(Int.self, forKey: .flag(true)))\(container.decode(Int.self, forKey: .flag(false)))"
  }
}
private struct NoKeys: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws { _ = encoder.container(keyedBy: NoKey.self) }
  static func read(_ decoder: any Decoder) throws -> String {
    "\(try decoder.container(keyedBy: NoKey.self).allKeys.count)"
  }
}
/// Keys that are other cases, of another type, on the same map.
private struct TwoKeyTypes: Scripted {
  enum A: String, CodingKey { case x, y, z }
  enum B: String, CodingKey { case z, u, x }
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var a = encoder.container(keyedBy: A.self)
    try a.encode(1, forKey: .x)
    var b = encoder.container(keyedBy: B.self)
    try b.encode(9, forKey: .z)
    try a.encode(2, forKey: .y)
    try b.encode(4, forKey: .u)
    try a.encode(3, forKey: .z)
  }
  static func read(_ decoder: any Decoder) throws -> String {
    let a = try decoder.container(keyedBy: A.self), b = try decoder.container(keyedBy: B.self)
    return try [
      a.decode(Int.self, forKey: .x), b.decode(Int.self, forKey: .z), a.decode(Int.self, forKey: .z),
      b.decode(Int.self, forKey: .x), a.decode(Int.self, forKey: .y), b.decode(Int.self, forKey: .u),
    ]
    .map(String.init).joined() + a.allKeys.map(\.rawValue).sorted().joined()
      + b.allKeys.map(\.rawValue).sorted().joined()
  }
}

let keyCases: [RoundTripCase] = [
  same("one key", OneCase(only: 5)), same("string keys", StringKeyed(["a": 1, "é": 2, "": 3, "super": 4])),
  same(
    "1000 string keys", StringKeyed(Dictionary(uniqueKeysWithValues: (0..<1000).map { ("key \($0)", $0) }))),
  same("300 cases", ManyCases(value: 5)),
  same("255 and 256 cases", [CaseKeyed(index: 0), CaseKeyed(index: 255)]),
  script(ByteKeyed.self, "0 3 200 255 4 false"), script(PartlyByteKeyed.self, "7 9 of 2"),
  script(IntKeyed.self, "1m--3,1"),
  script(PayloadKeyed.self, "321"),
  script(NoKeys.self, "0"), script(TwoKeyTypes.self, "133124xyzuxz"),
]

// MARK: - Conditional and repeated keys

private enum K: String, CodingKey { case a, b, c, d, e }

private struct SometimesKeys: Codable, Equatable {
  var bits: Int
  init(_ bits: Int) { self.bits = bits }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: K.self)
    bits = 0
    for (index, key) in [K.a, .b, .c, .d, .e].enumerated() where container.contains(key) {
      guard try container.decode(Int.self, forKey: key) == index * 100 else {
        throw CocoaError(.coderInvalidValue)
      }
      bits |= 1 << index
    }
    let keys = container.allKeys.reduce(0) { $0 | 1 << [K.a, .b, .c, .d, .e].firstIndex(of: $1)! }
    if keys != bits { throw CocoaError(.coderInvalidValue) }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: K.self)
    for (index, key) in [K.a, .b, .c, .d, .e].enumerated() where bits & 1 << index != 0 {
      try container.encode(index * 100, forKey: key)
    }
  }
}
private struct SameKeyTwice: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: K.self)
    try container.encode(1, forKey: .a)
    try container.encode("long enough to move what follows", forKey: .b)
    try container.encode([1, 2], forKey: .a)
    try container.encode(3, forKey: .c)
    try container.encode(Point(x: 1, y: 2), forKey: .b)
    try container.encode(4, forKey: .a)
    try container.encodeIfPresent(Int?.none, forKey: .c)
  }
  static func read(_ decoder: any Decoder) throws -> String {
    let container = try decoder.container(keyedBy: K.self)
    return
      "\(try container.decode(Int.self, forKey: .a))\(try container.decode(Point.self, forKey: .b).y)\(try container.decode(Int.self, forKey: .c))\(container.allKeys.count)"
  }
}
private struct NilSemantics: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: K.self)
    try container.encodeNil(forKey: .a)
    try container.encodeIfPresent(Int?.none, forKey: .b)
    try container.encodeIfPresent(5, forKey: .c)
    try container.encode(Int?.none, forKey: .d)
  }
  static func read(_ decoder: any Decoder) throws -> String {
    let container = try decoder.container(keyedBy: K.self)
    var found = [K.a, .b, .c, .d, .e].map { container.contains($0) ? "1" : "0" }.joined()
    found += try [K.a, .c, .d].map { try container.decodeNil(forKey: $0) ? "n" : "v" }.joined()
    found += try [K.a, .b, .c, .d, .e].map {
      try container.decodeIfPresent(Int.self, forKey: $0).map(String.init) ?? "-"
    }.joined()
    found += try [K.a, .c, .d].map { try container.decode(Int?.self, forKey: $0).map(String.init) ?? "-" }
      .joined()
    for key in [K.b, .e] {
      do { _ = try container.decodeNil(forKey: key) } catch DecodingError.keyNotFound(let key, _) {
        found += " no \(key.stringValue) "
      }
    }
    return found + container.allKeys.map(\.rawValue).sorted().joined()
  }
}

// MARK: - Nested and super containers

private struct OutOfOrder: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: K.self)
    var a = outer.nestedContainer(keyedBy: K.self, forKey: .a)
    var b = outer.nestedUnkeyedContainer(forKey: .b)
    try outer.encode("between", forKey: .c)
    try b.encode(1)
    var inA = a.nestedUnkeyedContainer(forKey: .e)
    try a.encode(10, forKey: .a)
    var inB = b.nestedContainer(keyedBy: K.self)
    try outer.encode(Point(x: 5, y: 6), forKey: .d)
    try inB.encode("x", forKey: .b)
    try b.encode(2)
    try inA.encode(contentsOf: [7, 8])
    var e = outer.superEncoder(forKey: .e).singleValueContainer()
    try a.encode(11, forKey: .d)
    try e.encode([Point(x: 9, y: 9)])
    let base = outer.superEncoder()
    try inA.encode(nestedPoint)
    try inB.encode("y", forKey: .a)
    var unkeyed = base.unkeyedContainer()
    try b.encodeNil()
    var last = unkeyed.superEncoder().container(keyedBy: K.self)
    try unkeyed.encode("end")
    try last.encode(true, forKey: .c)
  }
  static let nestedPoint = Point(x: 3, y: 4)
  static func read(_ decoder: any Decoder) throws -> String {
    let outer = try decoder.container(keyedBy: K.self)
    var base = try outer.superDecoder().unkeyedContainer()
    let last = try base.superDecoder().container(keyedBy: K.self)
    var b = try outer.nestedUnkeyedContainer(forKey: .b)
    let a = try outer.nestedContainer(keyedBy: K.self, forKey: .a)
    var found = [String]()
    found.append("\(try b.decode(Int.self))")
    let inB = try b.nestedContainer(keyedBy: K.self)
    var inA = try a.nestedUnkeyedContainer(forKey: .e)
    found.append(try inB.decode(String.self, forKey: .a))
    found.append(
      "\(try inA.decode(Int.self))\(try inA.decode(Int.self))\(try inA.decode(Point.self).y)\(inA.isAtEnd)")
    found.append("\(try b.decode(Int.self))\(try b.decodeNil())\(b.isAtEnd)\(b.currentIndex)")
    found.append("\(try a.decode(Int.self, forKey: .d))\(try a.decode(Int.self, forKey: .a))")
    found.append(try inB.decode(String.self, forKey: .b))
    found.append("\(try last.decode(Bool.self, forKey: .c))\(try base.decode(String.self))")
    found.append("\(try outer.superDecoder(forKey: .e).singleValueContainer().decode([Point].self)[0].x)")
    found.append("\(try outer.decode(Point.self, forKey: .d).x)\(try outer.decode(String.self, forKey: .c))")
    return found.joined(separator: "|")
  }
}
/// Two containers for one key are one, as in JSON.
private struct NestedTwice: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: K.self)
    var first = outer.nestedContainer(keyedBy: K.self, forKey: .a)
    try first.encode(1, forKey: .a)
    try outer.encode("z", forKey: .b)
    var second = outer.nestedContainer(keyedBy: K.self, forKey: .a)
    try second.encode(2, forKey: .b)
    try first.encode(3, forKey: .c)
    var list = outer.nestedUnkeyedContainer(forKey: .d)
    try list.encode(1)
    var again = outer.nestedUnkeyedContainer(forKey: .d)
    try again.encode(2)
  }
  static func read(_ decoder: any Decoder) throws -> String {
    let outer = try decoder.container(keyedBy: K.self)
    let a = try outer.nestedContainer(keyedBy: K.self, forKey: .a)
    return try [K.a, .b, .c].map { "\(try a.decode(Int.self, forKey: $0))" }.joined()
      + "\(try outer.decode([Int].self, forKey: .d))\(try outer.decode(String.self, forKey: .b))"
  }
}
private struct EmptyNested: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: K.self)
    _ = outer.nestedContainer(keyedBy: K.self, forKey: .a)
    _ = outer.nestedUnkeyedContainer(forKey: .b)
    _ = outer.superEncoder(forKey: .c)
    _ = outer.superEncoder()
  }
  static func read(_ decoder: any Decoder) throws -> String {
    let outer = try decoder.container(keyedBy: K.self)
    return
      "\(try outer.nestedContainer(keyedBy: K.self, forKey: .a).allKeys.count)\(try outer.nestedUnkeyedContainer(forKey: .b).isAtEnd)\(try outer.decode(NoFields.self, forKey: .c))\(try outer.superDecoder().container(keyedBy: K.self).allKeys)"
  }
}
private struct NothingWritten: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws {}
  static func read(_ decoder: any Decoder) throws -> String { "read" }
}
private struct SecondContainer: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var one = encoder.unkeyedContainer()
    try one.encode(1)
    var two = encoder.unkeyedContainer()
    try two.encode(2)
    try one.encode(3)
  }
  static func read(_ decoder: any Decoder) throws -> String { "\(try [Int](from: decoder))" }
}
private struct AnyOrder: Scripted {
  var found: String
  static func write(_ encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: K.self)
    try container.encode(["s", "t"], forKey: .a)
    try container.encode(Point(x: 1, y: 2), forKey: .b)
    try container.encode(5, forKey: .c)
    try container.encode([Point(x: 3, y: 4)], forKey: .d)
  }
  static func read(_ decoder: any Decoder) throws -> String {
    let container = try decoder.container(keyedBy: K.self)
    var found = ""
    for key in [K.d, .c, .b, .a, .a, .b, .c, .d, .b, .d, .a, .c, .e] {
      if let list = try? container.decode([String].self, forKey: key) {
        found += list.joined()
      } else if let point = try? container.decode(Point.self, forKey: key) {
        found += "(\(point.x) \(point.y))"
      } else if let list = try? container.decode([Point].self, forKey: key) {
        found += "[\(list[0].x)]"
      } else if let number = try? container.decode(Int.self, forKey: key) {
        found += "\(number)"
      } else {
        found += "-"
      }
    }
    return found
  }
}

let containerCases: [RoundTripCase] = [
  same("keys under if", (0..<32).map { SometimesKeys($0) }), script(SameKeyTwice.self, "4233"),
  script(NilSemantics.self, "10110nvn--5---5- no b  no e acd"),
  script(OutOfOrder.self, "1|y|784true|2truetrue4|1110|x|trueend|9|5between"),
  script(NestedTwice.self, "123[1, 2]z"), script(EmptyNested.self, "0trueNoFields()[]"),
  script(NothingWritten.self, "read"),
  script(SecondContainer.self, "[1, 2, 3]"), script(AnyOrder.self, "[3]5(1 2)stst(1 2)5[3](1 2)[3]st5-"),
  same(
    "array of everything scripted",
    Twin(
      a: [OutOfOrder(found: "1|y|784true|2truetrue4|1110|x|trueend|9|5between")],
      b: [SometimesKeys(5), SometimesKeys(10)])),
]

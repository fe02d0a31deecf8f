import Foundation
import GarageStorage

// The types of the golden values. Their tags, properties and keys are stored: they never change.

/// Holds one value.
struct GoldenBox<Value: Codable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "golden box" }
  var id = 1
  var value: Value
}

/// Is nothing but its identifier.
struct GoldenIdentity<ID: Codable & Hashable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "golden identity" }
  var id: ID
}

struct GoldenPoint: Codable, Hashable {
  var x = 1
  var y = 2
}

/// An identifier that is its own canonical body.
struct GoldenKey: Codable, Hashable {
  var name: String
  var number: Double
  var missing: Int?
  var parts: Set<Int>
}

/// Equal values are one record.
struct GoldenAddress: Interned, TypeTagged {
  static var typeTag: String { "golden address" }
  var street: String
  var zip: Int
}

/// An identifier that names a record.
struct GoldenPlaceKey: Codable, Hashable {
  var address: GoldenAddress
}

/// An identifier that holds the name of an object.
struct GoldenNameKey: Codable, Hashable {
  var target: Reference<GoldenTarget>
}

/// Identified by its content.
struct GoldenContent: Codable, Hashable, TypeTagged {
  static var typeTag: String { "golden content" }
  var b: String
  var a: [Double]
  var missing: Int?
  var table: [String: Int]
  var set: Set<String>
}

enum GoldenColor: String, Codable, Hashable, TypeTagged {
  static var typeTag: String { "golden color" }
  case red, green
}

enum GoldenShape: Codable, Equatable {
  case nothing
  case circle(radius: Double)
  case polygon([GoldenPoint], closed: Bool)
}

struct GoldenOptionals: Codable, Equatable {
  var first: Int?
  var second: Int?
  var third: Int?
}

/// Encodes its keys in another order than it declares them, one as null, and nested ones.
struct GoldenDisorder: Codable, Equatable {
  var a = 1
  var b = "b"
  var c = [true, false]
  enum CodingKeys: CodingKey { case a, b, c, d, nested, list }
  enum NestedKeys: CodingKey { case x, y }

  init() {}
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    a = try container.decode(Int.self, forKey: .a)
    b = try container.decode(String.self, forKey: .b)
    c = try container.decode([Bool].self, forKey: .c)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(a, forKey: .a)
    try container.encode(c, forKey: .c)
    try container.encode(b, forKey: .b)
    try container.encodeNil(forKey: .d)
    var nested = container.nestedContainer(keyedBy: NestedKeys.self, forKey: .nested)
    try nested.encode(1.5, forKey: .y)
    var list = container.nestedUnkeyedContainer(forKey: .list)
    try list.encode(1)
    try list.encodeNil()
    try list.encode("two")
    var inner = list.nestedUnkeyedContainer()
    try inner.encode(UInt8(200))
  }
}

/// Has keys that are no enum's.
struct GoldenFreeKeys: Codable, Equatable {
  struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
  var fields: [String: Int]

  init(_ fields: [String: Int]) { self.fields = fields }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    fields = try Dictionary(
      uniqueKeysWithValues: container.allKeys.map {
        ($0.stringValue, try container.decode(Int.self, forKey: $0))
      })
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for (key, value) in fields { try container.encode(value, forKey: Key(stringValue: key)) }
  }
}

/// The class at the top, whose tag is the identity space's.
class GoldenAnimal: Codable, Identifiable, TypeTagged {
  class var typeTag: String { "golden animal" }
  var id: Int
  var name: String
  init(id: Int, name: String) {
    self.id = id
    self.name = name
  }
}

/// Encodes itself behind its superclass, on the same encoder.
final class GoldenDog: GoldenAnimal {
  override class var typeTag: String { "golden dog" }
  var tricks: [String]
  enum CodingKeys: CodingKey { case tricks }

  init(id: Int, name: String, tricks: [String]) {
    self.tricks = tricks
    super.init(id: id, name: name)
  }
  required init(from decoder: any Decoder) throws {
    tricks = try decoder.container(keyedBy: CodingKeys.self).decode([String].self, forKey: .tricks)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(tricks, forKey: .tricks)
  }
}

/// Encodes its superclass on an encoder of its own.
final class GoldenCat: GoldenAnimal {
  override class var typeTag: String { "golden cat" }
  var lives: Int
  enum CodingKeys: CodingKey { case lives }

  init(id: Int, name: String, lives: Int) {
    self.lives = lives
    super.init(id: id, name: name)
  }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    lives = try container.decode(Int.self, forKey: .lives)
    try super.init(from: container.superDecoder())
  }
  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(lives, forKey: .lives)
    try super.encode(to: container.superEncoder())
  }
}

/// Refers to others in every way.
final class GoldenPerson: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "golden person" }
  var id: String
  var partner: GoldenPerson?
  @Linked var friend: GoldenPerson?
  @Linked var children: [GoldenPerson]
  var home: GoldenAddress?
  var boss: Reference<GoldenPerson>?
  var pets: [GoldenAnimal] = []
  init(_ id: String) { self.id = id }
}

struct GoldenTarget: Codable, Identifiable, Equatable, TypeTagged {
  static var typeTag: String { "golden target" }
  var id: Int
}

// As many types of records as one wants.
protocol GoldenDigit { static var number: Int { get } }
enum GoldenZero: GoldenDigit { static var number: Int { 0 } }
enum GoldenNext<Digit: GoldenDigit>: GoldenDigit { static var number: Int { Digit.number + 1 } }

struct GoldenNumbered<Digit: GoldenDigit>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "golden type \(Digit.number)" }
  var id: String
}

/// Refers to an object of each of 65 types.
struct GoldenManyTypes: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "golden many types" }
  var id = 1
  var identifiers: [String]

  init() { identifiers = (0..<65).map { "t\($0)" } }

  init(from decoder: any Decoder) throws {
    var list = try decoder.unkeyedContainer()
    identifiers = []
    func decode<Digit: GoldenDigit>(_: Digit.Type) throws {
      identifiers.append(try list.decode(GoldenNumbered<Digit>.self).id)
      if Digit.number < 64 { try decode(GoldenNext<Digit>.self) }
    }
    try decode(GoldenZero.self)
  }

  func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    func encode<Digit: GoldenDigit>(_: Digit.Type) throws {
      try list.encode(GoldenNumbered<Digit>(id: identifiers[Digit.number]))
      if Digit.number < 64 { try encode(GoldenNext<Digit>.self) }
    }
    try encode(GoldenZero.self)
  }
}

import Foundation
import Testing

@testable import GarageCoding

// What older programs wrote, and the types that read it now. `recode` and `Old` → `New` share one tag.

private struct AddressBefore: Codable, Equatable { var street = "Oak", town = "Ulm", floor: Int? }
private struct AddressNow: Evolving, Equatable {
  var street: String, city: String, zip: String, floor: Int?, note: String?
  static var propertyAliases: [String: [String]] { ["city": ["place", "town"]] }
  static var prototype: AddressNow? { AddressNow(street: "?", city: "?", zip: "00000", floor: 9, note: "?") }
}

private struct Shelf<Item: Codable>: Codable {
  var one: Item, list: [Item], maybe: Item?, table: [String: Item]
  init(_ item: Item) { (one, list, maybe, table) = (item, [item, item], item, ["k": item]) }
  var all: [Item] { [one] + list + [maybe].compactMap(\.self) + table.values }
}

/// Three versions of one type: metres became centimetres, then a name was split.
private struct Height1: Codable { var name = "Ada Byron", metres = 1.5 }
private struct Height2: Evolving {
  var name = "Ada Byron", centimetres = 150
  static var version: Int { 1 }
}
private struct Height3: Evolving, Equatable {
  var first: String, last: String, centimetres: Int
  static var version: Int { 2 }
  static func upgrade(_ record: inout RecordValue, from version: Int) throws {
    if version < 1, let metres = record.remove("metres")?.doubleValue {
      record["centimetres"] = RecordValue(integer: Int(metres * 100))
    }
    if version < 2 {
      let parts = (record.remove("name")?.stringValue ?? "").split(separator: " ").map(String.init)
      guard parts.count == 2 else { throw UnreadableName() }
      record["first"] = .string(parts[0])
      record["last"] = .string(parts[1])
    }
  }
}
private struct UnreadableName: Error {}

private struct NewerHeight: Evolving {
  var first = "A", last = "B", centimetres = 1
  static var version: Int { 300 }
}

private struct DiscBefore: Evolving {
  var kind = "disc", diameter = 8
  static var version: Int { 1 }
}
private struct Disc: Evolving, Equatable {
  var kind = "disc", radius = 1
  static var version: Int { 2 }
  static func upgrade(_ record: inout RecordValue, from version: Int) throws {
    if let diameter = record.remove("diameter")?.integerValue {
      record["radius"] = RecordValue(integer: diameter / 2)
    }
  }
}
private struct Bar: Evolving, Equatable {
  var kind = "bar", length = 5
  static var version: Int { 1 }
}
private enum DrawnKeys: String, CodingKey { case kind }

/// Values of types with versions, told apart by a key that both have.
private enum Drawn: Codable, Equatable {
  case disc(Disc), bar(Bar)

  init(from decoder: any Decoder) throws {
    let kind = try decoder.container(keyedBy: DrawnKeys.self).decode(String.self, forKey: .kind)
    let container = try decoder.singleValueContainer()
    self = kind == "disc" ? .disc(try container.decode(Disc.self)) : .bar(try container.decode(Bar.self))
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .disc(let disc): try container.encode(disc)
    case .bar(let bar): try container.encode(bar)
    }
  }
}

/// Looks at one, and decodes it as an optional of the enum, which looks again.
private struct Framed: Codable, Equatable {
  var kind: String
  var drawn: Drawn?

  init(_ drawn: Drawn, _ kind: String) { (self.drawn, self.kind) = (drawn, kind) }
  init(from decoder: any Decoder) throws {
    kind = try decoder.container(keyedBy: DrawnKeys.self).decode(String.self, forKey: .kind)
    drawn = try decoder.singleValueContainer().decode(Drawn?.self)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(drawn)
  }
}

/// The same, told apart by who holds them.
private struct Gallery: Codable, Equatable {
  var items: [Drawn]

  init(_ items: [Drawn]) { self.items = items }
  init(from decoder: any Decoder) throws {
    items = []
    var list = try decoder.unkeyedContainer()
    while !list.isAtEnd {
      var ahead = list
      let look = try ahead.nestedContainer(keyedBy: DrawnKeys.self)
      let isDisc = try look.decode(String.self, forKey: .kind) == "disc"
      items.append(isDisc ? .disc(try list.decode(Disc.self)) : .bar(try list.decode(Bar.self)))
    }
  }
  func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    for item in items { try list.encode(item) }
  }
}

private final class Team: Codable, Identifiable, Equatable {
  let id: Int
  init(_ id: Int) { self.id = id }
  static func == (a: Team, b: Team) -> Bool { a.id == b.id }
}
private struct PlayerBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "player" }
  var id = 1, name = "Kim", best: Team?
}
private struct PlayerNow: Evolving, Identifiable, TypeTagged {
  static var typeTag: String { "player" }
  var id: Int, name: String, team: Team, best: Team?, places: [AddressNow], inner: Inner
  struct Inner: Codable { var depth: Int, more: [String: [Int]] }
  static var prototype: PlayerNow? {
    PlayerNow(
      id: 0, name: "", team: Team(77), best: nil,
      places: [AddressNow(street: "s", city: "c", zip: "z", floor: nil, note: nil)],
      inner: Inner(depth: 5, more: ["a": [1, 2]]))
  }
}

/// Values and records of older versions are read as the type is today.
@Suite struct EvolvingTests {
  @Test func renamedAndAddedPropertiesInline() throws {
    let shelf = try recode(Shelf(AddressBefore()), as: Shelf<AddressNow>.self)
    #expect(shelf.all.count == 5)
    // What is optional is nil, although the prototype has a value.
    for item in shelf.all {
      #expect(item == AddressNow(street: "Oak", city: "Ulm", zip: "00000", floor: nil, note: nil))
    }
    #expect(try recode(Shelf(AddressBefore(floor: 3)), as: Shelf<AddressNow>.self).one.floor == 3)
    // The present key counts before older ones, a preferred one before others.
    struct Both: Codable { var street = "s", city = "c", town = "t", place = "p", zip = "z" }
    struct Older: Codable { var street = "s", town = "t", place = "p", zip = "z" }
    #expect(try recode(Both(), as: AddressNow.self).city == "c")
    #expect(try recode(Older(), as: AddressNow.self).city == "p")
    let new = AddressNow(street: "a", city: "b", zip: "c", floor: 1, note: "d")
    #expect(try recode(new, as: AddressNow.self) == new)
  }

  @Test func upgradedInline() throws {
    let wanted = Height3(first: "Ada", last: "Byron", centimetres: 150)
    for item in try recode(Shelf(Height1()), as: Shelf<Height3>.self).all { #expect(item == wanted) }
    for item in try recode(Shelf(Height2()), as: Shelf<Height3>.self).all { #expect(item == wanted) }
    for item in try recode(Shelf(wanted), as: Shelf<Height3>.self).all { #expect(item == wanted) }
    #expect(throws: UnreadableName.self) { try recode(Height1(name: "x"), as: Height3.self) }
    #expect(throws: GraphCodingError.newerVersion(type: "Height3", identifier: nil, version: 300, known: 2)) {
      try recode(Shelf(NewerHeight()), as: Shelf<Height3>.self)
    }
    // A type that has no versions (any more).
    let error = #expect(throws: DecodingError.self) { try recode(Shelf(Height2()), as: Shelf<Height1>.self) }
    #expect("\(try #require(error))".contains("Evolving"))
  }

  /// Code around a value may look at it by a container before it decodes it.
  @Test func lookedAt() throws {
    for drawn in [Drawn.disc(Disc(radius: 3)), .bar(Bar(length: 7))] {
      #expect(try JSON.copy(Holder(drawn)).all == Holder(drawn).all)
      #expect(try roundTrip(Holder(drawn)).all == Holder(drawn).all)
      let gallery = Gallery([drawn, .bar(Bar()), drawn])
      #expect(try copy(gallery) == gallery)
    }
    let framed = Framed(.bar(Bar()), "bar")
    #expect(try roundTrip(Holder(framed)).all == Holder(framed).all)
    // It is upgraded when it is decoded.
    let wanted = Drawn.disc(Disc(radius: 4))
    for item in try recode(Shelf(DiscBefore()), as: Shelf<Drawn>.self).all { #expect(item == wanted) }
    #expect(try recode([DiscBefore(), DiscBefore()], as: Gallery.self).items == [wanted, wanted])
    // A type that reads it by nothing but a container has no versions (any more).
    struct Reading: Codable { var length: Int }
    let error = #expect(throws: DecodingError.self) { try recode(Bar(), as: Reading.self) }
    #expect("\(try #require(error))".contains("Evolving"))
  }

  @Test func upgradedRecords() throws {
    struct Before: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "upgraded" }
      var id = 1, count = 5, friend: Team? = Team(3)
    }
    struct Now: Evolving, Identifiable, TypeTagged {
      static var typeTag: String { "upgraded" }
      var id: Int, total: Int, friends: [Team]
      static var version: Int { 200 }
      static func upgrade(_ record: inout RecordValue, from version: Int) throws {
        #expect(version == 0)
        record["total"] = record.remove("count")
        let new = try RecordValue.reference(to: Team.self, identifier: 4)
        record["friends"] = .array([record.remove("friend"), new].compactMap(\.self))
      }
    }
    struct Newest: Evolving, Identifiable, TypeTagged {
      static var typeTag: String { "upgraded" }
      var id: Int, total: Int
      static var version: Int { 201 }
      static func upgrade(_ record: inout RecordValue, from version: Int) throws {
        #expect(version == 200)
        record["total"] = RecordValue(integer: (record["total"]?.integerValue ?? 0) + version)
      }
    }
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([Before()])
    source.add(graph)
    source.add(try GraphEncoder().encode([Team(4)]))
    let now = try #require(try decode(Now.self, graph.roots[0], from: source))
    #expect(now.total == 5 && now.friends == [Team(3), Team(4)])
    let rewritten = try GraphEncoder().encode([now])
    #expect(try reread(rewritten, as: Now.self).friends.count == 2)
    #expect(try reread(rewritten, as: Newest.self).total == 205)
    let (key, record) = rewritten.recordsByKey[0], identifier = Array(key[8...])
    let header = try RecordSummary(
      tag: rewritten.roots[0].tag, keyIdentifier: identifier.span.bytes, record: record.span.bytes,
      typeName: "Now")
    #expect(header.typeVersion == 200)
    for type in [Before.self, Now.self] as [any Codable.Type] {
      func check<T: Codable>(_ type: T.Type) throws {
        let known = T.self == Now.self ? 200 : 0
        let newest = try GraphEncoder().encode([Newest(id: 1, total: 2)])
        #expect(
          throws: GraphCodingError.newerVersion(
            type: String(describing: type), identifier: "1", version: 201, known: known)
        ) { try reread(newest, as: type) }
      }
      try check(type)
    }
  }

  @Test func prototypesOfRecords() throws {
    let graph = try GraphEncoder().encode([PlayerBefore(best: Team(2))])
    let player = try reread(graph, as: PlayerNow.self)
    #expect(player.name == "Kim" && player.team == Team(77) && player.best == Team(2))
    #expect(
      player.places.map(\.zip) == ["z"] && player.inner.depth == 5 && player.inner.more == ["a": [1, 2]])
    // The object the prototype refers to is the store's where that has one.
    let source = DictionarySource()
    source.add(graph)
    source.add(try GraphEncoder().encode([Team(77)]))
    #expect(try decode(PlayerNow.self, graph.roots[0], from: source)?.team == Team(77))
    #expect(try reread(try GraphEncoder().encode([PlayerBefore()]), as: PlayerNow.self).best == nil)
    // A part of a nested value that lacks one.
    struct Half: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "player" }
      var id = 1, name = "", team = Team(1), places: [Int] = [], inner = ["depth": 8]
    }
    let half = try reread(try GraphEncoder().encode([Half()]), as: PlayerNow.self)
    #expect(half.inner.depth == 8 && half.inner.more == ["a": [1, 2]] && half.places.isEmpty)
  }

  @Test func whatNoPrototypeHasIsAnError() throws {
    struct Lacking: Evolving, Equatable {
      var name: String, other: Int
      static var prototype: Lacking? { Lacking(name: "p", other: 1) }
      enum CodingKeys: String, CodingKey { case name, other }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
      }
      init(name: String, other: Int) { (self.name, self.other) = (name, other) }
    }
    struct Empty: Codable { var x = 1 }
    struct Outer: Evolving {
      var lacking: Lacking
      static var prototype: Outer? { Outer(lacking: Lacking(name: "", other: 0)) }
    }
    for body in [{ _ = try recode(Empty(), as: Lacking.self) }, { _ = try recode(Empty(), as: Outer.self) }] {
      let error = #expect(throws: DecodingError.self, performing: body)
      guard case .keyNotFound(let key, let context) = error else { throw try #require(error) }
      #expect(key.stringValue == "other")
      for remedy in ["\"other\"", "optional", "prototype", "init(from:)", "propertyAliases"] {
        #expect(context.debugDescription.contains(remedy))
      }
    }
    #expect(
      summary(#expect(throws: DecodingError.self) { try recode(Empty(), as: Outer.self) }!)
        == "keyNotFound other at value.lacking")
  }

  @Test func typesThatChangedTheirMind() throws {
    // What was an inline value has an identity now, and the reverse.
    struct Loose: Evolving {
      var id = 1, old = 5
      static var version: Int { 1 }
    }
    struct Firm: Evolving, Identifiable, TypeTagged {
      static var typeTag: String { "firm" }
      var id: Int, new: Int
      static var version: Int { 2 }
      static func upgrade(_ record: inout RecordValue, from version: Int) throws {
        record.rename("old", to: "new")
      }
    }
    struct FirmBefore: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "firm" }
      var id = 2, old = 6
    }
    struct LooseNow: Evolving, TypeTagged {
      static var typeTag: String { "firm" }
      var id: Int, new: Int
      static var version: Int { 2 }
      static func upgrade(_ record: inout RecordValue, from version: Int) throws {
        record.rename("old", to: "new")
      }
    }
    #expect(try recode(Shelf(Loose()), as: Shelf<Firm>.self).all.map(\.new) == [5, 5, 5, 5, 5])
    #expect(try recode(Shelf(FirmBefore()), as: Shelf<LooseNow>.self).all.map(\.new) == [6, 6, 6, 6, 6])
    #expect(try recode(Loose(), as: Reference<Firm>.self).identity.identifier.description == "1")
    // Something around an object is not the object.
    struct Around: Evolving {
      var firm: Firm
      static var version: Int { 9 }
      static func upgrade(_ record: inout RecordValue, from version: Int) throws { throw UnreadableName() }
      init(from decoder: any Decoder) throws { firm = try decoder.singleValueContainer().decode(Firm.self) }
      func encode(to encoder: any Encoder) throws {
        var c = encoder.singleValueContainer(); try c.encode(firm)
      }
    }
    #expect(try recode(Shelf(FirmBefore()), as: Shelf<Around>.self).one.firm.new == 6)
  }

  @Test func theIdentityOfAValueHasNoVersion() throws {
    struct Plain: Codable, Hashable, TypeTagged {
      static var typeTag: String { "hashed" }
      var x = 1
    }
    struct Versioned: Evolving, Hashable, TypeTagged {
      static var typeTag: String { "hashed" }
      var x = 1
      static var version: Int { 7 }
    }
    struct Box<T: Codable & Hashable>: Codable, Hashable, TypeTagged {
      static var typeTag: String { "box" }
      var inside: T
    }
    #expect(try GraphEncoder().identity(of: Plain()) == GraphEncoder().identity(of: Versioned()))
    #expect(
      try GraphEncoder().identity(of: Box(inside: Plain()))
        == GraphEncoder().identity(of: Box(inside: Versioned())))
  }
}

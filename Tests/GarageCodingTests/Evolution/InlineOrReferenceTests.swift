import Foundation
import Testing

@testable import GarageCoding

// A type changes from inline to reference, to Interned, to Reference, and back, without a migration.

private protocol Place: Codable, Equatable {
  var text: String { get }
  init(_ id: Int, _ text: String)
}
private struct Plain: Place {
  var id: Int, text: String; init(_ id: Int, _ text: String) { (self.id, self.text) = (id, text) }
}
private struct Identified: Place, Identifiable, TypeTagged {
  static var typeTag: String { "place" }
  var id: Int, text: String
  init(_ id: Int, _ text: String) { (self.id, self.text) = (id, text) }
}
private struct Unique: Place, Interned, TypeTagged {
  static var typeTag: String { "place" }
  var id: Int, text: String
  init(_ id: Int, _ text: String) { (self.id, self.text) = (id, text) }
}
private struct Inside: Place, Identifiable, Inlined, TypeTagged {
  static var typeTag: String { "place" }
  var id: Int, text: String
  init(_ id: Int, _ text: String) { (self.id, self.text) = (id, text) }
}
private final class Object: Place, Identifiable, TypeTagged {
  static var typeTag: String { "place" }
  var id: Int, text: String
  init(_ id: Int, _ text: String) { (self.id, self.text) = (id, text) }
  static func == (left: Object, right: Object) -> Bool { left.id == right.id && left.text == right.text }
}

/// A value everywhere.
private struct Everywhere<T: Codable>: Codable {
  var one: T, optional: T?, list: [T], optionals: [T?], table: [String: T], pairs: [Point: T], nested: [[T]]
  init(_ value: T) {
    (one, optional, list, optionals, nested) = (value, value, [value, value], [nil, value], [[value]])
    (table, pairs) = (["k": value], [Point(x: 1, y: 1): value])
  }
  var all: [T] {
    [one] + (optional.map { [$0] } ?? []) + list + optionals.compactMap { $0 } + Array(table.values)
      + Array(pairs.values) + nested.flatMap { $0 }
  }
}
private struct Links<T: Codable & Identifiable>: Codable {
  @Linked var optional: T?
  @Linked var list: [T]
  @Linked var table: [String: T]
  init(_ value: T) { (optional, list, table) = (value, [value, value], ["k": value]) }
  var all: [T] { (optional.map { [$0] } ?? []) + list + Array(table.values) }
}
private struct Unlinked<T: Codable>: Codable {
  var optional: T?, list: [T], table: [String: T]
  init(_ value: T) { (optional, list, table) = (value, [value, value], ["k": value]) }
  var all: [T] { (optional.map { [$0] } ?? []) + list + Array(table.values) }
}

/// What was inline is read as a reference, and what was a reference as a value.
@Suite struct InlineOrReferenceTests {
  private func check<A: Place, B: Place>(_: A.Type, _: B.Type) throws {
    let read = try recode(Everywhere(A(7, "text")), as: Everywhere<B>.self)
    #expect(read.all.count == 8, "\(A.self) → \(B.self)")
    #expect(read.all.allSatisfy { $0.text == "text" }, "\(A.self) → \(B.self)")
  }

  private func checkAll<A: Place>(_ type: A.Type) throws {
    try check(type, Plain.self)
    try check(type, Identified.self)
    try check(type, Unique.self)
    try check(type, Inside.self)
    try check(type, Object.self)
  }

  @Test func plain() throws { try checkAll(Plain.self) }
  @Test func identified() throws { try checkAll(Identified.self) }
  @Test func interned() throws { try checkAll(Unique.self) }
  @Test func inlined() throws { try checkAll(Inside.self) }
  @Test func classes() throws { try checkAll(Object.self) }

  @Test func links() throws {
    func check<A: Place & Identifiable, B: Place & Identifiable>(_: A.Type, _: B.Type) throws {
      let value = A(7, "text")
      #expect(
        try recode(Links(value), as: Links<B>.self).all.map(\.text) == Array(repeating: "text", count: 4))
      #expect(
        try recode(Links(value), as: Unlinked<B>.self).all.map(\.text) == Array(repeating: "text", count: 4))
      #expect(
        try recode(Unlinked(value), as: Links<B>.self).all.map(\.text) == Array(repeating: "text", count: 4))
    }
    try check(Identified.self, Identified.self)
    try check(Identified.self, Object.self)
    try check(Identified.self, Inside.self)
    try check(Inside.self, Identified.self)
    try check(Object.self, Inside.self)
    try check(Inside.self, Object.self)
    func fromPlain<A: Place>(_: A.Type) throws {
      #expect(
        try recode(Unlinked(A(7, "text")), as: Links<Object>.self).all.map(\.text)
          == Array(repeating: "text", count: 4))
      #expect(
        try recode(Links(Object(7, "text")), as: Unlinked<A>.self).all.map(\.text)
          == Array(repeating: "text", count: 4))
    }
    try fromPlain(Plain.self)
    try fromPlain(Unique.self)
  }

  private func checkReferences<A: Place>(to _: A.Type) throws {
    let value = A(7, "text"), source = DictionarySource()
    let graph = try GraphEncoder().encode([Old(Everywhere(value))])
    source.add(graph)
    let read = try found(decode(New<Everywhere<Reference<Identified>>>.self, graph.roots[0], from: source))
      .value
    #expect(read.all.count == 8 && Set(read.all).count == 1)
    // What stood inline has no record yet: the reference names it by its id.
    let identity = try read.one.identity
    if graph.records.count > 1 {
      #expect(try decode(Identified.self, identity, from: source)?.text == "text", "\(A.self)")
    } else {
      #expect(read.one == Reference(Identified.self, identifier: 7))
    }
    // And back: the target is there to be loaded.
    source.add(
      try GraphEncoder().encode([
        Identified(7, "text"), Old(Everywhere(Reference(Identified.self, identifier: 7))),
      ]))
    let back = try found(decode(New<Everywhere<A>>.self, graph.roots[0], from: source)).value
    #expect(back.all.map(\.text) == Array(repeating: "text", count: 8), "\(A.self)")
  }

  @Test func references() throws {
    try checkReferences(to: Plain.self)
    try checkReferences(to: Identified.self)
    try checkReferences(to: Unique.self)
    try checkReferences(to: Inside.self)
    try checkReferences(to: Object.self)
    struct Lazily: Codable {
      @Linked var optional: Identified?; @Linked var list: [Identified];
      @Linked var table: [String: Identified]
    }
    let lazy = try recode(Links(Identified(7, "text")), as: Unlinked<Reference<Identified>>.self)
    #expect(lazy.all.allSatisfy { $0 == Reference(Identified.self, identifier: 7) })
  }

  @Test func enumsAndWrappers() throws {
    enum Before: String, Interned, TypeTagged { case a, b; static var typeTag: String { "letter" } }
    enum After: String, Codable { case a, b }
    #expect(
      try recode(Everywhere(Before.b), as: Everywhere<After>.self).all == Array(repeating: .b, count: 8))
    #expect(
      try recode(Everywhere(After.b), as: Everywhere<Before>.self).all == Array(repeating: .b, count: 8))
    struct Wrapper: Codable, Equatable {
      var place: Identified
      init(_ place: Identified) { self.place = place }
      init(from decoder: any Decoder) throws {
        place = try decoder.singleValueContainer().decode(Identified.self)
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer(); try container.encode(place)
      }
    }
    #expect(
      try recode(Everywhere(Plain(1, "t")), as: Everywhere<Wrapper>.self).all.allSatisfy {
        $0.place.text == "t"
      })
    #expect(
      try recode(Everywhere(Wrapper(Identified(1, "t"))), as: Everywhere<Plain>.self).all.allSatisfy {
        $0.text == "t"
      })
    #expect(
      try recode(Everywhere(Wrapper(Identified(1, "t"))), as: Everywhere<Inside>.self).all.allSatisfy {
        $0.text == "t"
      })
  }
}

import Foundation
import Testing

@testable import GarageCoding

// Superclasses in containers of their own, nested containers, and values inside enums.

private class BaseBefore: Codable, Identifiable, TypeTagged {
  class var typeTag: String { "hierarchy" }
  var id = 1, surname = "Base"
}
private class SubBefore: BaseBefore {
  override class var typeTag: String { "hierarchy.sub" }
  var extra = 1
  override init() { super.init() }
  required init(from decoder: any Decoder) throws { fatalError("only written") }
  enum Keys: String, CodingKey { case extra, nested }
  enum Inner: String, CodingKey { case a }
  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(extra, forKey: .extra)
    var nested = container.nestedContainer(keyedBy: Inner.self, forKey: .nested)
    try nested.encode(5, forKey: .a)
    try super.encode(to: container.superEncoder())
  }
}

private class BaseNow: Evolving, Identifiable, TypeTagged {
  class var typeTag: String { "hierarchy" }
  var id: Int, name: String, country: String
  required init() { (id, name, country) = (0, "?", "DE") }
  class var prototype: Self? { self.init() }
  static var propertyAliases: [String: [String]] { ["name": ["surname"]] }
  class var version: Int { 1 }
  class func upgrade(_ record: inout RecordValue, from version: Int) throws {
    #expect(version == 0)
  }
}
private class SubNow: BaseNow {
  override class var typeTag: String { "hierarchy.sub" }
  var extra: Int, nested: [Int], added: [String]
  required init() {
    (extra, nested, added) = (0, [-1, -2], ["p"])
    super.init()
  }
  enum Keys: String, CodingKey { case extra, nested, second, list }
  enum Inner: String, CodingKey { case a, b }
  override class var version: Int { 2 }
  override class func upgrade(_ record: inout RecordValue, from version: Int) throws {
    try super.upgrade(&record, from: version)
    record["extra"] = RecordValue(integer: (record["extra"]?.integerValue ?? 0) * 10)
  }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    extra = try container.decode(Int.self, forKey: .extra)
    let inner = try container.nestedContainer(keyedBy: Inner.self, forKey: .nested)
    nested = [try inner.decode(Int.self, forKey: .a), try inner.decode(Int.self, forKey: .b)]
    let second = try container.nestedContainer(keyedBy: Inner.self, forKey: .second)
    nested.append(try second.decode(Int.self, forKey: .a))
    #expect(throws: DecodingError.self) { try second.decode(Int.self, forKey: .b) }
    #expect(try container.decodeNil(forKey: .list) == false)
    var list = try container.nestedUnkeyedContainer(forKey: .list)
    added = [try list.decode(String.self)]
    try super.init(from: container.superDecoder())
  }
  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(extra, forKey: .extra)
    var inner = container.nestedContainer(keyedBy: Inner.self, forKey: .nested)
    try inner.encode(nested[0], forKey: .a)
    try inner.encode(nested[1], forKey: .b)
    var second = container.nestedContainer(keyedBy: Inner.self, forKey: .second)
    try second.encode(nested[0] * 100, forKey: .a)
    try container.encode(added, forKey: .list)
    try super.encode(to: container.superEncoder())
  }
}

private enum ChoiceBefore: Codable { case first(x: Int), other }
private enum ChoiceNow: Evolving, Equatable {
  case first(x: Int, y: Int), last
  static var version: Int { 1 }
  static func upgrade(_ record: inout RecordValue, from version: Int) throws {
    record.rename("other", to: "last")
    record["first"]?["y"] = 0
  }
}

/// Superclasses, enums and long chains of older versions are read as the types are today.
@Suite struct EvolvingClassTests {
  @Test func superclassesAndNestedContainers() throws {
    let graph = try GraphEncoder().encode([SubBefore()])
    let source = DictionarySource()
    source.add(graph)
    let session = GraphDecodingSession(source: source, types: try RegisteredTypes([SubNow.self]))
    let object = try #require(try session.object(BaseNow.self, graph.roots[0]) as? SubNow)
    #expect(object.extra == 10 && object.nested == [5, -2, -100] && object.added == ["p"])
    #expect(object.id == 1 && object.name == "Base" && object.country == "DE")
    // Parked again it is of the present version, and needs none of this.
    let again = try reread(try GraphEncoder().encode([object]), as: SubNow.self)
    #expect(again.extra == 10 && again.name == "Base" && again.nested == [5, -2, 500])
    let base = try reread(try GraphEncoder().encode([BaseBefore()]), as: BaseNow.self)
    #expect(base.name == "Base" && base.country == "DE")
  }

  /// A class that got a superclass: all that this reads comes from the prototype.
  @Test func anAddedSuperclass() throws {
    struct Alone: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "hierarchy.sub" }
      var id = 1, extra = 3, nested = ["a": 1, "b": 2], second = ["a": 1], list = ["x"]
    }
    #expect(throws: (any Error).self) {
      // The record's identifier is not that of the prototype, which is told.
      try reread(try GraphEncoder().encode([Alone()]), as: SubNow.self)
    }
  }

  @Test func enums() throws {
    #expect(
      try recode([ChoiceBefore.first(x: 1), .other], as: [ChoiceNow].self) == [.first(x: 1, y: 0), .last])
    #expect(try recode([ChoiceNow.first(x: 1, y: 2)], as: [ChoiceNow].self) == [.first(x: 1, y: 2)])
  }

  @Test func thePrototypeIsEncodedOnce() throws {
    struct Counted: Evolving {
      var x: Int
      nonisolated(unsafe) static var count = 0
      static var prototype: Counted? { count += 1; return Counted(x: 4) }
    }
    struct Empty: Codable {}
    #expect(try recode(Array(repeating: Empty(), count: 50), as: [Counted].self).allSatisfy { $0.x == 4 })
    #expect(try recode(Empty(), as: Counted.self).x == 4 && Counted.count == 1)
  }

  @Test func aChainOfOldRecords() throws {
    final class LinkBefore: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "evolving.link" }
      var id: Int, next: LinkBefore?
      init(_ id: Int, _ next: LinkBefore?) { (self.id, self.next) = (id, next) }
    }
    final class LinkNow: Evolving, Identifiable, TypeTagged {
      static var typeTag: String { "evolving.link" }
      var id: Int, following: LinkNow?, text: String
      static var version: Int { 1 }
      static var propertyAliases: [String: [String]] { ["following": ["next"]] }
      static func upgrade(_ record: inout RecordValue, from version: Int) throws { record["text"] = "new" }
      init() { (id, text) = (0, "") }
    }
    try onSmallStack {
      var chain: LinkBefore?
      for id in 0..<20_000 { chain = LinkBefore(id, chain) }
      let graph = try GraphEncoder().encode([try found(chain)])
      while let link = chain { (chain, link.next) = (link.next, nil) }
      var next: LinkNow? = try reread(graph, as: LinkNow.self)
      var count = 0
      while let link = next {
        #expect(link.text == "new")
        (next, link.following) = (link.following, nil)
        count += 1
      }
      #expect(count == 20_000)
    }
  }
}

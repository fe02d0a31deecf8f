import Foundation
import Testing

@testable import GarageCoding

// `try?` is legal: of a child that threw while it was encoded nothing may remain.

private struct Refusal: Error {}
private struct Other: Codable, Identifiable { var id: String, note = "note" }
private struct Text: Interned { var text: String }
private enum K: String, CodingKey { case a, b, c, d, e }
private struct DynamicKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// Writes all sorts of things, then throws, in one of several ways.
private struct Failing: Encodable {
  var style: Int
  static let styleCount = 9

  func encode(to encoder: any Encoder) throws {
    switch style {
    case 0: throw Refusal()
    case 1:
      var container = encoder.container(keyedBy: K.self)
      try container.encode("written", forKey: .a)
      try container.encode(Other(id: "failing"), forKey: .b)
      try container.encode(Text(text: "failing"), forKey: .c)
    case 2:
      var container = encoder.unkeyedContainer()
      for index in 0..<100 { try container.encode(Other(id: "failing \(index)")) }
      try container.encode(Point(x: 1, y: 2))
    case 3:
      var container = encoder.singleValueContainer()
      try container.encode([Other(id: "failing"), Other(id: "shared")])
    case 4:
      var container = encoder.container(keyedBy: K.self)
      var nested = container.nestedUnkeyedContainer(forKey: .c)
      try nested.encode(Other(id: "failing"))
      var inner = nested.nestedContainer(keyedBy: DynamicKey.self)
      try inner.encode("x", forKey: DynamicKey(stringValue: "dynamic"))
      try Failing(style: 1).encode(to: container.superEncoder())
    case 5:
      var container = encoder.container(keyedBy: DynamicKey.self)
      for index in 0..<20 { try container.encode(index, forKey: DynamicKey(stringValue: "key \(index)")) }
      try container.encode(Failing(style: 4), forKey: DynamicKey(stringValue: "deep"))
    case 6: try [Failing(style: 5)].encode(to: encoder)
    case 7:
      var container = encoder.singleValueContainer()
      try container.encode(["k": [Failing(style: 2)]])
    default:
      var container = encoder.container(keyedBy: K.self)
      try? container.encode(Failing(style: 2), forKey: .a)
      try container.encode(Reference(Other.self, identifier: "lazy"), forKey: .b)
      try container.encode(Linked(wrappedValue: [Other(id: "linked")]), forKey: .d)
    }
    throw Refusal()
  }
}

/// Encodes failing children between others, or leaves them out.
private struct Parent: Codable, Identifiable {
  @TaskLocal static var fails = false
  var id = 1
  var kind = 0
  var style = 0
  init(kind: Int, style: Int) { (self.kind, self.style) = (kind, style) }
  init(from decoder: any Decoder) throws {}
  static let kindCount = 7

  private func failing(_ body: (Failing) throws -> Void) {
    if Parent.fails {
      #expect(throws: (any Error).self) { try body(Failing(style: style)) }
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch kind {
    case 0:
      var container = encoder.container(keyedBy: K.self)
      try container.encode(Other(id: "first"), forKey: .a)
      failing { try container.encode($0, forKey: .b) }
      try container.encode(Other(id: "shared"), forKey: .b)
      failing { try container.encodeIfPresent($0, forKey: .c) }
      failing { try container.encode([$0], forKey: .e) }
      try container.encode([Point(x: 1, y: 1)], forKey: .c)
      try container.encode(Text(text: "kept"), forKey: .d)
    case 1:
      var container = encoder.container(keyedBy: DynamicKey.self)
      failing { try container.encode($0, forKey: DynamicKey(stringValue: "z")) }
      try container.encode(1, forKey: DynamicKey(stringValue: "y"))
      failing { try container.encode($0, forKey: DynamicKey(stringValue: "y")) }
      try container.encode(Other(id: "shared"), forKey: DynamicKey(stringValue: "x"))
    case 2:
      var container = encoder.unkeyedContainer()
      failing { try container.encode($0) }
      try container.encode("one")
      failing { try container.encode($0) }
      try container.encode(Other(id: "shared"))
      #expect(container.count == 2)
      failing { try container.encode(contentsOf: [$0]) }
    case 3:
      var container = encoder.singleValueContainer()
      failing { try container.encode($0) }
      try container.encode(Other(id: "shared"))
    case 4:
      var outer = encoder.container(keyedBy: K.self)
      var nested = outer.nestedContainer(keyedBy: K.self, forKey: .a)
      var list = outer.nestedUnkeyedContainer(forKey: .b)
      try nested.encode(1, forKey: .a)
      failing { try nested.encode($0, forKey: .b) }
      failing { try list.encode($0) }
      try nested.encode(Other(id: "shared"), forKey: .b)
      try list.encode(Point(x: 1, y: 2))
      failing { try outer.encode($0, forKey: .c) }
      try outer.encode(5, forKey: .c)
    case 5:
      // A failed attempt at another kind of container, on an encoder of one's own.
      var outer = encoder.container(keyedBy: K.self)
      try outer.encode([Tolerant(style: style), Tolerant(style: style)], forKey: .a)
      try outer.encode(Other(id: "last"), forKey: .b)
    default:
      var container = encoder.container(keyedBy: K.self)
      try container.encode(Set([Point(x: 1, y: 2), Point(x: 3, y: 4)]), forKey: .a)
      failing { try container.encode(Linked(wrappedValue: [Unlinkable(id: 1, failing: $0)]), forKey: .b) }
      failing { try container.encode([1.5: [$0]], forKey: .b) }
      try container.encode(["k": Other(id: "shared")], forKey: .b)
    }
  }

  private struct Tolerant: Encodable {
    var style: Int
    func encode(to encoder: any Encoder) throws {
      if Parent.fails { try? Failing(style: 0).encode(to: encoder) }
      var container = encoder.singleValueContainer()
      if Parent.fails { try? container.encode(Failing(style: style)) }
      try container.encode("value")
    }
  }
  /// Stands inline in a link, because it is `Inlined`.
  private struct Unlinkable: Codable, Identifiable, Inlined {
    var id: Int, failing: Failing
    init(id: Int, failing: Failing) { (self.id, self.failing) = (id, failing) }
    init(from decoder: any Decoder) throws { throw Refusal() }
    func encode(to encoder: any Encoder) throws { try failing.encode(to: encoder) }
  }
}

/// Records have nothing of what failed to be encoded.
@Suite struct SwallowedErrorTests {
  @Test(arguments: 0..<Parent.kindCount, 0..<Failing.styleCount)
  func nothingRemains(kind: Int, style: Int) throws {
    func graph(_ fails: Bool) throws -> EncodedGraph {
      try Parent.$fails.withValue(fails) { try GraphEncoder().encode([Parent(kind: kind, style: style)]) }
    }
    let without = try graph(false), with = try graph(true)
    #expect(content(with) == content(without))
    #expect(with.tags == without.tags)
    #expect(with.shapes.map(\.digest).sorted() == without.shapes.map(\.digest).sorted())
  }

  @Test func anErrorLeavesTheNextGraphAlone() throws {
    let clean = try content(GraphEncoder().encode([Owner(Point(x: 1, y: 2))]))
    for style in 0..<Failing.styleCount {
      struct Thrower: Encodable, Identifiable { var id = 1, failing: Failing }
      #expect(throws: Refusal.self) { try GraphEncoder().encode([Thrower(failing: Failing(style: style))]) }
      #expect(try content(GraphEncoder().encode([Owner(Point(x: 1, y: 2))])) == clean)
    }
  }

  /// A value that a failed child had replaced in the queue comes back.
  @Test func replacedValuesComeBack() throws {
    struct Root: Codable, Identifiable {
      var id = 1
      init() {}
      init(from decoder: any Decoder) throws {}
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(Other(id: "same", note: "first"))
        try? container.encode(Replacing())
      }
      struct Replacing: Encodable {
        func encode(to encoder: any Encoder) throws {
          var container = encoder.unkeyedContainer()
          try container.encode(Other(id: "same", note: "second"))
          throw Refusal()
        }
      }
    }
    let graph = try GraphEncoder().encode([Root()])
    let source = DictionarySource()
    source.add(graph)
    let identity = try TypeDescription.identity(of: Other.self, id: "same")
    #expect(try decode(Other.self, identity, from: source)?.note == "first")
  }

  /// Also where user code hides it: a value that does not fit is no value to leave out.
  @Test func moreThanFourGigabytesThrow() throws {
    struct Vast: Encodable, Identifiable {
      var id = 1
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: K.self)
        // Zero pages that nobody touches.
        try? container.encode(Data(count: 1 << 32), forKey: .a)
        try container.encode(1, forKey: .b)
      }
    }
    #expect(throws: EncodingError.self) { try GraphEncoder().encode([Vast()]) }
  }
}

import Foundation
import Testing

@testable import GarageCoding

/// An object with an identity, hashed by its identifier.
final class Node: Codable, Identifiable, Hashable {
  var id: String
  var name: String
  init(_ id: String, name: String = "name") { (self.id, self.name) = (id, name) }
  static func == (left: Node, right: Node) -> Bool { left.id == right.id && left.name == right.name }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A place where an object may stand.
protocol Position: Codable {
  init(_ node: Node)
  var nodes: [Node] { get }
}

private enum K: String, CodingKey { case a, b }

private struct Property: Position {
  var node: Node; init(_ node: Node) { self.node = node }; var nodes: [Node] { [node] }
}
private struct OptionalProperty: Position {
  var node: Node?
  init(_ node: Node) { self.node = node }
  var nodes: [Node] { node.map { [$0] } ?? [] }
}
private struct TwiceOptional: Position {
  var node: Node??
  init(_ node: Node) { self.node = node }
  var nodes: [Node] { node.flatMap { $0 }.map { [$0] } ?? [] }
}
private struct InArray: Position { var nodes: [Node]; init(_ node: Node) { nodes = [node, node] } }
private struct InOptionalArray: Position {
  var list: [Node]?
  init(_ node: Node) { list = [node] }
  var nodes: [Node] { list ?? [] }
}
private struct InArrayOfOptionals: Position {
  var list: [Node?]
  init(_ node: Node) { list = [node, nil, node] }
  var nodes: [Node] { list.compactMap { $0 } }
}
private struct InNestedArray: Position {
  var list: [[Node]]
  init(_ node: Node) { list = [[node], [], [node]] }
  var nodes: [Node] { list.flatMap { $0 } }
}
private struct InDictionary: Position {
  var table: [String: Node], numbered: [Int: Node], pairs: [Point: [Node?]], optional: [String: Node?]
  init(_ node: Node) {
    (table, numbered, pairs, optional) = (
      ["k": node], [5: node], [Point(x: 1, y: 1): [node]], ["o": node, "n": nil]
    )
  }
  var nodes: [Node] {
    Array(table.values) + Array(numbered.values) + pairs.values.flatMap { $0.compactMap { $0 } }
      + optional.values.compactMap { $0 }
  }
}
private struct InSet: Position {
  var set: Set<Node>; init(_ node: Node) { set = [node] }; var nodes: [Node] { Array(set) }
}
private struct AsKey: Position {
  var table: [Node: Int]; init(_ node: Node) { table = [node: 1] }; var nodes: [Node] { Array(table.keys) }
}
private struct InPayload: Position {
  indirect enum Payload: Codable { case one(Node), many([Node], named: Node?), deep(Payload) }
  var payloads: [Payload]
  init(_ node: Node) { payloads = [.one(node), .many([node], named: node), .deep(.one(node))] }
  var nodes: [Node] {
    func all(_ payload: Payload) -> [Node] {
      switch payload {
      case .one(let node): [node];
      case .many(let list, let node): list + (node.map { [$0] } ?? []);
      case .deep(let inner): all(inner)
      }
    }
    return payloads.flatMap(all)
  }
}
private struct Wrapper: Position {
  struct Single: Codable {
    var node: Node
    init(_ node: Node) { self.node = node }
    init(from decoder: any Decoder) throws { node = try decoder.singleValueContainer().decode(Node.self) }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer(); try container.encode(node)
    }
  }
  var one: Single, list: [Single], optional: Single?, table: [String: Single?]
  init(_ node: Node) {
    (one, list, optional, table) = (Single(node), [Single(node)], Single(node), ["k": Single(node)])
  }
  var nodes: [Node] {
    [one.node, list[0].node] + (optional.map { [$0.node] } ?? []) + table.values.compactMap { $0?.node }
  }
}
private struct InNestedContainers: Position {
  var nodes: [Node]
  init(_ node: Node) { nodes = [node] }
  func encode(to encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: K.self)
    var nested = outer.nestedContainer(keyedBy: K.self, forKey: .a)
    var list = nested.nestedUnkeyedContainer(forKey: .b)
    try outer.superEncoder().encodeSingle(nodes[0])
    try list.encode(nodes[0])
    try nested.encode(nodes, forKey: .a)
  }
  init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: K.self)
    let nested = try outer.nestedContainer(keyedBy: K.self, forKey: .a)
    var list = try nested.nestedUnkeyedContainer(forKey: .b)
    nodes =
      [try outer.superDecoder().singleValueContainer().decode(Node.self), try list.decode(Node.self)]
      + (try nested.decode([Node].self, forKey: .a))
  }
}
private struct Generic1<T: Codable>: Codable { var value: T, more: [T] }
private struct InGenerics: Position {
  var boxed: Generic1<Node>, optional: Generic1<Node?>, list: Generic1<[Node]>,
    wrapped: Generic1<Wrapper.Single?>
  init(_ node: Node) {
    boxed = Generic1(value: node, more: [node])
    optional = Generic1(value: node, more: [nil, node])
    list = Generic1(value: [node], more: [])
    wrapped = Generic1(value: Wrapper.Single(node), more: [])
  }
  var nodes: [Node] {
    [boxed.value, boxed.more[0]] + [optional.value, optional.more[1]].compactMap { $0 } + list.value + [
      wrapped.value!.node
    ]
  }
}
private struct InLinks: Position {
  @Linked var one: Node?
  @Linked var list: [Node]
  @Linked var set: Set<Node>
  @Linked var table: [String: Node]
  @Linked var numbered: [Int: Node]
  @Linked var byEnum: [NumberKey: Node]
  @Linked var byUUID: [UUID: Node]
  init(_ node: Node) {
    (one, list, set, table, numbered, byUUID) = (
      node, [node, node], [node], ["a": node, "é": node], [-5: node, 9: node], [UUID(): node]
    )
    byEnum = [.big: node, .minus: node]
  }
  var nodes: [Node] {
    (one.map { [$0] } ?? []) + list + Array(set) + Array(table.values) + Array(numbered.values)
      + Array(byUUID.values) + Array(byEnum.values)
  }
}

extension Encoder {
  fileprivate func encodeSingle(_ value: some Encodable) throws {
    var container = singleValueContainer()
    try container.encode(value)
  }
}

private struct Root<P: Position>: Codable, Identifiable {
  var id = 1
  var first: P, plain: Node, second: P
}

/// What has an identity becomes a record wherever it stands, and comes back as one object.
@Suite struct ReferenceTests {
  private func check<P: Position>(_: P.Type) throws {
    let node = Node("n")
    let root = Root(first: P(node), plain: node, second: P(node))
    let count = root.first.nodes.count
    for types in [[], [Node.self]] as [[any Codable.Type]] {
      let graph = try GraphEncoder().encode([root])
      #expect(graph.records.count == 2, "\(P.self) does not refer")
      let source = DictionarySource()
      source.add(graph)
      let copy = try #require(try decode(Root<P>.self, graph.roots[0], from: source, types: types))
      // The nested containers of one position read the node in three places.
      #expect(copy.first.nodes.count >= count && copy.second.nodes.count >= count, "\(P.self) lost objects")
      for other in copy.first.nodes + copy.second.nodes {
        #expect(other === copy.plain, "\(P.self) does not share")
      }
      #expect(copy.plain == node)
      // And where the object is first met in that position.
      let reversed = try decode(Reversed<P>.self, graph.roots[0], from: source, types: types)
      #expect(reversed?.isShared == true, "\(P.self) does not share when it comes first")
    }
  }

  /// The same record, read the other way round.
  private struct Reversed<P: Position>: Decodable, Identifiable, TypeTagged {
    static var typeTag: String { (try? TypeTag.of(Root<P>.self).name) ?? "" }
    var id = 1, isShared: Bool
    enum Keys: CodingKey { case first, plain, second }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      let first = try container.decode(P.self, forKey: .first)
      let plain = try container.decode(Node.self, forKey: .plain)
      // Links are filled in later.
      isShared = P.self == InLinks.self || first.nodes.allSatisfy { $0 === plain }
    }
  }

  @Test func property() throws { try check(Property.self) }
  @Test func optionals() throws { try check(OptionalProperty.self); try check(TwiceOptional.self) }
  @Test func arrays() throws {
    try check(InArray.self); try check(InOptionalArray.self); try check(InArrayOfOptionals.self);
    try check(InNestedArray.self)
  }
  @Test func dictionaries() throws { try check(InDictionary.self); try check(AsKey.self) }
  @Test func sets() throws { try check(InSet.self) }
  @Test func payloads() throws { try check(InPayload.self) }
  @Test func singleValueWrappers() throws { try check(Wrapper.self) }
  @Test func nestedContainers() throws { try check(InNestedContainers.self) }
  @Test func generics() throws { try check(InGenerics.self) }
  @Test func links() throws { try check(InLinks.self) }

  // MARK: - Interned, Inlined, Reference

  struct Address: Interned { var street: String, zip: Int }
  struct Inline: Codable, Identifiable, Inlined, Equatable { var id: String, text: String }
  final class InlineClass: Codable, Identifiable, Inlined { var text = "t" }
  enum Color: String, Interned { case red, green }
  struct Owns: Codable, Identifiable {
    var id = 1
    var addresses: [Address], optional: Address?, table: [String: Address], colors: [Color]
    var inline: Inline, inlines: [Inline], inlineClass = InlineClass()
    var lazy: Reference<Node>, lazies: [Reference<Node>], lazyOptional: Reference<Node>?
  }

  @Test func markers() throws {
    let address = Address(street: "s", zip: 1), inline = Inline(id: "i", text: "t"), node = Node("n")
    let owner = Owns(
      addresses: [address, address, Address(street: "other", zip: 2)], optional: address,
      table: ["k": address],
      colors: [.red, .green, .red], inline: inline, inlines: [inline], lazy: Reference(to: node),
      lazies: [Reference(Node.self, identifier: "n"), Reference(Node.self, identifier: "m")],
      lazyOptional: nil)
    let graph = try GraphEncoder().encode([owner])
    // The owner, two addresses, two colors; neither what is inline nor what is only named.
    #expect(graph.records.count == 5)
    let copy = try roundTrip(owner)
    #expect(copy.addresses == owner.addresses && copy.optional == address && copy.table == owner.table)
    #expect(
      copy.colors == owner.colors && copy.inline == inline && copy.inlines == [inline]
        && copy.inlineClass.text == "t")
    #expect(copy.lazy == owner.lazy && copy.lazies == owner.lazies && copy.lazyOptional == nil)
    #expect(copy.lazy == copy.lazies[0] && copy.lazy != copy.lazies[1])
    // By themselves they are records of their own.
    #expect(try roundTrip(inline) == inline)
    #expect(try roundTrip(address) == address)
    #expect(try roundTrip(Color.red) == .red)
  }

  @Test func whatJSONMakesOfThem() throws {
    let node = Node("n")
    let links = Root(first: InLinks(node), plain: node, second: InLinks(node))
    let copy = try JSON.copy(links)
    #expect(copy.first.nodes.count == links.first.nodes.count && copy.first.nodes.allSatisfy { $0 == node })
    let lazy = [Reference(to: node), Reference(Node.self, identifier: "other")]
    #expect(try JSON.copy(lazy) == lazy)
    struct Plain: Codable { var x = 1 }
    struct WithLinks: Codable { var x: Int; @Linked var one: Node?; @Linked var list: [Node] }
    #expect(try JSON.decode(WithLinks.self, JSON.encode(Plain())).list.isEmpty)
    let added = try recode(Plain(), as: WithLinks.self)
    #expect(added.one == nil && added.list.isEmpty && added.x == 1)
  }

  // MARK: - Values of one identity

  struct Item: Codable, Identifiable { var id: String, version: Int, inner: [Item] = [] }

  @Test func nearestRootWinsThenTheLater() throws {
    func version(_ roots: [any Encodable]) throws -> (Int, Int) {
      let graph = try GraphEncoder().encode(roots)
      let source = DictionarySource()
      source.add(graph)
      let identity = try TypeDescription.identity(of: Item.self, id: "x")
      let item = try found(decode(Item.self, identity, from: source))
      return (item.version, graph.records.count)
    }
    let near = Item(id: "x", version: 1), far = Item(id: "x", version: 2)
    func holder(_ inner: [Item], _ id: String = "h") -> Item { Item(id: id, version: 0, inner: inner) }
    #expect(try version([holder([near, holder([far], "i")])]) == (1, 3))
    #expect(try version([holder([holder([far], "i"), near])]) == (1, 3))
    #expect(try version([holder([near, far])]) == (2, 2))
    #expect(try version([holder([far, near])]) == (1, 2))
    #expect(try version([near, far]) == (2, 1))
    #expect(try version([holder([far]), near]) == (1, 2))
    #expect(try version([near, holder([far])]) == (1, 2))
    #expect(try version([holder([holder([near], "i"), holder([far], "j")])]) == (2, 4))
    // A value that holds another of its own identity refers to itself.
    #expect(try GraphEncoder().encode([Item(id: "x", version: 1, inner: [far])]).records.count == 1)
    // A name alone is no value.
    struct Names: Codable, Identifiable {
      var id = 1, before: Reference<Item>, item: [Item], after: Reference<Item>
    }
    let name = Reference(Item.self, identifier: "x")
    #expect(try version([Names(before: name, item: [near], after: name)]) == (1, 2))
    #expect(try version([Names(before: name, item: [holder([near])], after: name)]) == (1, 3))
  }

  /// What a type around a reference refuses is told whether or not the object is there, and makes no optional nil.
  @Test(arguments: [true, false])
  func refusalsAreTold(isThere: Bool) throws {
    struct Refusal: Error {}
    struct Checked: Codable {
      var node: Reference<Node>
      init(_ id: String) { node = Reference(Node.self, identifier: id) }
      init(from decoder: any Decoder) throws {
        node = try decoder.singleValueContainer().decode(Reference<Node>.self)
        throw Refusal()
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(node)
      }
    }
    struct CheckedOnce: Codable, Identifiable { var id = 1, checked = Checked("n") }
    struct CheckedOptional: Codable, Identifiable { var id = 1, checked: Checked? = Checked("n") }
    struct CheckedElements: Codable, Identifiable { var id = 1, checked: [Checked?] = [nil, Checked("n")] }
    func check<T: Codable & Identifiable>(_ value: T) throws {
      let graph = try GraphEncoder().encode([value])
      let source = DictionarySource()
      source.add(graph)
      if isThere { source.add(try GraphEncoder().encode([Node("n")])) }
      #expect(throws: Refusal.self) { try decode(T.self, graph.roots[0], from: source) }
    }
    try check(CheckedOnce())
    try check(CheckedOptional())
    try check(CheckedElements())
  }

  @Test func rootsAreNamedOnce() throws {
    let node = Node("n")
    #expect(try GraphEncoder().encode([node, Node("m"), node]).roots.count == 2)
    #expect(try GraphEncoder().encode([]).records.isEmpty)
  }

  @Test func manyReferencesInOneRecord() throws {
    struct Many: Codable, Identifiable { var id = 1; var nodes: [Node]; var again: [Node] }
    let nodes = (0..<70_000).map { Node("\($0)") }
    let copy = try roundTrip(Many(nodes: nodes, again: nodes.reversed()))
    #expect(copy.nodes == nodes)
    #expect(zip(copy.nodes, copy.again.reversed()).allSatisfy { $0 === $1 })
  }
}

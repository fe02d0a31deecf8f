import Foundation
import GarageStorage
import Testing

// Different values of one identity have one record. A set or a dictionary's keys that hold them would be fewer when
// they are read back.

private struct Article: Codable, Hashable, Identifiable {
  var id: Int
  var text: String
}

private struct InlinedArticle: Codable, Hashable, Identifiable, Inlined {
  var id: Int
  var text: String
}

private struct Wrapped: Codable, Hashable {
  var item: Article
}

/// Forgets what tells its values apart.
private struct Forgetful: Codable, Hashable {
  var kept: Int
  var forgotten = 0
  enum CodingKeys: CodingKey { case kept }
}

private final class Node: Codable, Hashable, Identifiable {
  let id: Int
  var text: String
  init(_ id: Int, _ text: String) { (self.id, self.text) = (id, text) }
  static func == (a: Node, b: Node) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private struct Owner<Value: Codable>: Codable, Identifiable {
  var id = 1
  var value: Value
}

private struct LinkedOwner: Codable, Identifiable {
  var id = 1
  @Linked var items: Set<Article>
}

private final class MappedOwner: MappableObject {
  var name = "owner"
  var items: Set<Article> = []
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: MappedOwner.self)
    mapping.add("name", \MappedOwner.name)
    mapping.add("items", \MappedOwner.items)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

/// A collection that would lose elements is refused when it is parked.
@Suite struct ElementsOfOneIdentityTests {
  private func expectRefusal(
    _ words: [String], _ location: SourceLocation = #_sourceLocation, _ park: () throws -> Void
  ) {
    #expect(sourceLocation: location) {
      try park()
    } throws: { error in
      guard case EncodingError.invalidValue(_, let context)? = error as? EncodingError else { return false }
      return words.allSatisfy { context.debugDescription.contains($0) }
    }
  }

  @Test(arguments: Backend.allCases)
  func differentValuesOfOneIDAreRefused(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let items: Set<Article> = [
      Article(id: 1, text: "a"), Article(id: 1, text: "b"), Article(id: 2, text: "c"),
    ]
    let counts = Dictionary(uniqueKeysWithValues: items.map { ($0, $0.text) })
    let words = ["Article", "Reference", "Inlined", "\"a\"", "\"b\""]
    expectRefusal(words) { try garage.park(Owner(value: items)) }
    expectRefusal(words) { try garage.park(Owner(value: counts)) }
    expectRefusal(words) { try garage.park(Owner(value: [["x": items]])) }
    expectRefusal(words) { try garage.park(items) }
    expectRefusal(words) { try garage.park(LinkedOwner(items: Linked(wrappedValue: items))) }
    let mapped = MappedOwner()
    mapped.items = items
    expectRefusal(words) { try garage.park(mapped) }
    let key = Key<GlobalNamespace, Set<Article>>(id: "items", defaultValue: [])
    expectRefusal(words) { try garage.set(key, value: items) }
    expectRefusal(["Node", "Reference", "Inlined"]) {
      try garage.park(Owner(value: Set([Node(1, "a"), Node(1, "b")])))
    }
    let wrapped = Set(items.map { Wrapped(item: $0) })
    expectRefusal(["Wrapped"]) { try garage.park(Owner(value: wrapped)) }
    let forgetful: Set = [Forgetful(kept: 1, forgotten: 1), Forgetful(kept: 1, forgotten: 2)]
    expectRefusal(["Forgetful"]) { try garage.park(Owner(value: forgetful)) }
    #expect(try garage.count(Article.self) == 0)
  }

  @Test(arguments: Backend.allCases)
  func whatStaysApartIsParked(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let items: Set<Article> = [Article(id: 1, text: "a"), Article(id: 2, text: "a")]
    let inlined: Set<InlinedArticle> = [InlinedArticle(id: 1, text: "a"), InlinedArticle(id: 1, text: "b")]
    try garage.park(Owner(id: 1, value: items))
    try garage.park(Owner(id: 2, value: inlined))
    try garage.park(LinkedOwner(items: Linked(wrappedValue: items)))
    // Equal values, and the same object, wherever they stand.
    try garage.park(Owner(id: 3, value: ["x": Article(id: 3, text: "a"), "y": Article(id: 3, text: "a")]))
    let node = Node(1, "a")
    try garage.park(Owner(id: 4, value: ["x": [node], "y": [node, node]]))
    garage = try place.reopened(garage)
    #expect(try garage.retrieve(Owner<Set<Article>>.self, identifier: 1)?.value == items)
    #expect(try garage.retrieve(Owner<Set<InlinedArticle>>.self, identifier: 2)?.value == inlined)
    #expect(try garage.retrieve(LinkedOwner.self, identifier: 1)?.items == items)
    #expect(try garage.retrieve(Owner<[String: Article]>.self, identifier: 3)?.value["y"]?.text == "a")
    let nodes = try #require(try garage.retrieve(Owner<[String: [Node]]>.self, identifier: 4)?.value)
    #expect(nodes["x"]?.first === nodes["y"]?.last)
  }
}

import Foundation
import Testing

@testable import GarageCoding

private class Creature: Codable, Identifiable {
  var id: String, legs = 4
  init(_ id: String) { self.id = id }
}
private class Hound: Creature {
  var trick: String, friend: Creature?
  enum Keys: CodingKey { case trick, friend }
  init(_ id: String, trick: String) { self.trick = trick; super.init(id) }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    trick = try container.decode(String.self, forKey: .trick)
    friend = try container.decodeIfPresent(Creature.self, forKey: .friend)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(trick, forKey: .trick)
    try container.encodeIfPresent(friend, forKey: .friend)
  }
}
private final class Whelp: Hound {}
private final class Feline: Creature {}

private struct Menagerie: Codable, Identifiable {
  var id = 1
  var first: Creature, all: [Creature], dog: Hound?, byName: [String: Creature]
  @Linked var linked: [Creature]
  @Linked var linkedDog: Hound?
}

/// Objects come back as the class that they were, and the classes of one hierarchy share its identifiers.
@Suite struct PolymorphismTests {
  private let types: [any Codable.Type] = [Hound.self, Feline.self, Whelp.self]
  private func zoo() -> (Menagerie, Hound, Feline, Whelp) {
    let dog = Hound("Rex", trick: "sit"), cat = Feline("Tom"), puppy = Whelp("Pup", trick: "none")
    dog.friend = cat
    puppy.friend = dog
    return (
      Menagerie(
        first: dog, all: [dog, cat, puppy, Creature("any")], dog: dog, byName: ["p": puppy],
        linked: Linked(wrappedValue: [puppy, dog]), linkedDog: Linked(wrappedValue: puppy)), dog, cat, puppy
    )
  }

  @Test func classesComeBack() throws {
    let copy = try roundTrip(zoo().0, types: types)
    #expect(copy.all.map { "\(type(of: $0))" } == ["Hound", "Feline", "Whelp", "Creature"])
    #expect((copy.all[0] as? Hound)?.trick == "sit")
    #expect(copy.first === copy.dog && copy.first === copy.all[0] && copy.linked[1] === copy.first)
    #expect(copy.byName["p"] === copy.all[2] && copy.linkedDog === copy.all[2])
    #expect((copy.all[2] as? Hound)?.friend === copy.first && copy.dog?.friend === copy.all[1])
  }

  @Test func oneIdentitySpace() throws {
    let (_, dog, cat, puppy) = zoo()
    for animal in [dog, cat, puppy] {
      #expect(try GraphEncoder().identity(of: animal).tag == TypeTag.of(Creature.self).digest)
    }
    #expect(
      try TypeDescription.identity(of: Whelp.self, id: "x")
        == TypeDescription.identity(of: Creature.self, id: "x"))
  }

  @Test func askedAsAnotherClass() throws {
    let (_, dog, cat, puppy) = zoo()
    let source = DictionarySource()
    source.add(try GraphEncoder().encode([dog, cat, puppy, Creature("any")]))
    func find<T: Creature>(_ type: T.Type, _ id: String) throws -> T? {
      try decode(type, TypeDescription.identity(of: Creature.self, id: id), from: source, types: types)
    }
    #expect(try find(Creature.self, "Rex") is Hound)
    #expect(try find(Hound.self, "Pup") is Whelp)
    #expect(try find(Feline.self, "Rex") == nil)
    #expect(try find(Whelp.self, "Rex") == nil)
    #expect(try find(Hound.self, "any") == nil)
    #expect(try find(Hound.self, "nobody") == nil)
    // In one session it is one object, whatever it is asked as, in any order.
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
      let session = GraphDecodingSession(source: source, types: try RegisteredTypes(types))
      let identity = try TypeDescription.identity(of: Creature.self, id: "Pup")
      var objects: [Creature?] = []
      for index in order {
        objects.append(
          try [
            session.object(Creature.self, identity), session.object(Hound.self, identity),
            session.object(Whelp.self, identity),
          ][index])
        #expect(try session.object(Feline.self, identity) == nil)
      }
      #expect(objects.allSatisfy { $0 != nil && $0 === objects[0] })
    }
  }

  @Test func propertyOfTheWrongClass() throws {
    struct HasAnimal: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "has" }; var id = 1, pet: Creature?, pets: [Creature]
    }
    struct HasCat: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "has" }; var id = 1, pet: Feline?, pets: [Creature]
    }
    struct HasCats: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "has" }; var id = 1, pets: [Feline]
    }
    let graph = try GraphEncoder().encode([HasAnimal(pet: zoo().1, pets: [zoo().1])])
    #expect(try reread(graph, as: HasCat.self, types: types).pet == nil)
    #expect(throws: DecodingError.self) { try reread(graph, as: HasCats.self, types: types) }
  }

  @Test func unregisteredClassesAreNamed() throws {
    let graph = try GraphEncoder().encode([zoo().0])
    do {
      _ = try reread(graph, as: Menagerie.self)
      Issue.record("Nothing was thrown.")
    } catch let error as GraphCodingError {
      #expect("\(error)".contains("types:") && "\(error)".contains("Rex") && "\(error)".contains("Hound"))
    }
    // Where a property names the class itself it is known.
    struct Kennel: Codable, Identifiable { var id = 1, dog: Hound }
    #expect(try roundTrip(Kennel(dog: Hound("a", trick: "b"))).dog.trick == "b")
  }

  @Test func identityOfTheRecord() throws {
    struct Fixed: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "fixed" }
      let id = UUID()
      var x = 1
      enum CodingKeys: CodingKey { case x }
    }
    do {
      _ = try roundTrip(Fixed())
      Issue.record("Nothing was thrown.")
    } catch let error as GraphCodingError {
      guard case .identityMismatch(let type, let wanted, let found) = error else { throw error }
      #expect(
        type == "Fixed" && UUID(uuidString: wanted) != nil && UUID(uuidString: found) != nil
          && wanted != found)
      #expect("\(error)".contains("var id"))
    }
    struct Embeds: Codable, Identifiable { var id = 1, fixed: Fixed? = Fixed() }
    #expect(throws: GraphCodingError.self) { try roundTrip(Embeds()) }
  }

  @Test func twoTypesOfOneTag() throws {
    struct Full: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "shared tag" }; var id: Int, a = 1, b = "b"; var next: [Full] = []
    }
    struct Short: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "shared tag" }; var id: Int, b: String
    }
    final class Object: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "shared tag" }; var id = 0, a = 0
    }
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([Full(id: 1, next: [Full(id: 2)])])
    source.add(graph)
    let session = GraphDecodingSession(source: source, types: try RegisteredTypes())
    #expect(try session.object(Short.self, graph.roots[0])?.b == "b")
    #expect(try session.object(Full.self, graph.roots[0])?.next.first?.id == 2)
    #expect(try session.object(Object.self, graph.roots[0])?.a == 1)
    #expect(try session.object(Short.self, graph.roots[0])?.b == "b")
    let object = try session.object(Object.self, graph.roots[0])
    #expect(try session.object(Object.self, graph.roots[0]) === object)
  }
}

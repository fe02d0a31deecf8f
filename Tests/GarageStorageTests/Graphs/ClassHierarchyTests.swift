import Foundation
import GarageStorage
import Testing

private struct Zoo: Codable, Identifiable {
  var id = "zoo"
  var star: Animal
  var all: [Animal]
  var dog: Dog?
}

private class Vehicle: Codable, Identifiable, TypeTagged {
  class var typeTag: String { "vehicle" }
  var id: Int
  init(_ id: Int) { self.id = id }
}
/// Has its superclass's tag.
private final class Tram: Vehicle {}
/// Has one of its own.
private final class Boat: Vehicle {
  override class var typeTag: String { "boat" }
}

/// Not `Identifiable`: no identity space begins here.
private class Base: Codable { var note = "base" }
private class Person2: Base, Identifiable {
  var id = 1
  override init() { super.init() }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    id = try container.decode(Int.self, forKey: .id)
    try super.init(from: container.superDecoder())
  }
  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(id, forKey: .id)
    try super.encode(to: container.superEncoder())
  }
  private enum Keys: CodingKey { case id }
}

/// Objects come back as their own class, and a hierarchy shares its identifiers.
@Suite struct ClassHierarchyTests {
  private static var types: [any Codable.Type] { [Dog.self, Puppy.self, Cat.self] }

  @Test(arguments: Backend.allCases)
  func propertiesHoldObjectsOfTheirOwnClass(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage(ClassHierarchyTests.types)
    let puppy = Puppy("p")
    puppy.tricks = ["sit"]
    try garage.park(Zoo(star: puppy, all: [Cat("c"), Animal("a"), puppy, Dog("d")], dog: puppy))
    garage = try place.reopened(garage, ClassHierarchyTests.types)
    let zoo = try #require(try garage.retrieve(Zoo.self, identifier: "zoo"))
    #expect((zoo.star as? Puppy)?.tricks == ["sit"])
    #expect(zoo.all.map { "\(type(of: $0))" } == ["Cat", "Animal", "Puppy", "Dog"])
    #expect(zoo.all[2] === zoo.star && zoo.dog === zoo.star)
    #expect(try garage.retrieveAll(Animal.self).map(\.id) == ["a", "c", "d", "p"])

    // Without the classes nothing is decoded as something else.
    garage = try place.reopened(garage, [Dog.self, Cat.self])
    #expect {
      try garage.retrieve(Zoo.self, identifier: "zoo")
    } throws: { error in
      if case .unregisteredClass(let tag, _, "p")? = error as? GarageError {
        tag.hasSuffix("Puppy")
      } else {
        false
      }
    }
    #expect(try garage.retrieve(Puppy.self, identifier: "p")?.tricks == ["sit"])
  }

  @Test(arguments: Backend.allCases)
  func aHierarchyHasOneIdentitySpace(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage(ClassHierarchyTests.types)
    try garage.park(Animal("x"))
    try garage.park(Dog("x") as Animal)
    #expect(try garage.count(Animal.self) == 1)
    garage = try place.reopened(garage, ClassHierarchyTests.types)
    #expect(try garage.retrieve(Animal.self, identifier: "x") is Dog)
    #expect(try garage.retrieve(Reference<Animal>(to: Dog("x"))) is Dog)
    #expect(try garage.retrieve(Reference(Animal.self, identifier: "x")) is Dog)
    #expect(try garage.retrieve(Cat.self, identifier: "x") == nil)
    #expect(try garage.retrieveAll(Cat.self).isEmpty)
    try garage.parkAll([Cat("x"), Dog("y")] as [Animal])
    #expect(try garage.retrieve(Animal.self, identifier: "x") is Cat)
    #expect(try garage.count(Dog.self) == 1)
    var visited: [String] = []
    try garage.forEach(Dog.self) { visited.append($0.id) }
    #expect(visited == ["y"])
    try garage.write { writer in
      let count = try writer.count(Cat.self)
      #expect(count == 1)
      try writer.deleteAll(Cat.self)
    }
    #expect(try garage.retrieveAll(Animal.self).map(\.id) == ["y"])
  }

  @Test(arguments: Backend.allCases)
  func anInheritedTagIsRefused(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Boat.self])
    #expect {
      try garage.park(Tram(1))
    } throws: { error in
      if case .invalidTypeTag(let type, let reason)? = error as? GarageError {
        type.hasSuffix("Tram") && reason.contains("vehicle") && reason.contains("override")
      } else {
        false
      }
    }
    #expect(try garage.count(Vehicle.self) == 0)
    try garage.parkAll([Boat(1), Vehicle(2)])
    #expect(try garage.retrieveAll(Vehicle.self).map { $0 is Boat } == [true, false])
  }

  @Test(arguments: Backend.allCases)
  func aSpaceBeginsWithTheTopmostIdentifiedClass(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let person = Person2()
    person.note = "kept by the superclass"
    try garage.park(person)
    garage = try place.reopened(garage)
    #expect(try garage.retrieve(Person2.self, identifier: 1)?.note == person.note)
    #expect(try garage.count(Person2.self) == 1)
  }
}

import Foundation
import GarageStorage
import Testing

/// Classes around objects, such as property wrappers that are observed, and optionals that are decoded by hand.
@Suite struct ClassWrapperTests {
  @propertyWrapper private final class Observed<T: Codable>: Codable {
    var wrappedValue: T
    init(wrappedValue: T) { self.wrappedValue = wrappedValue }
    init(from decoder: any Decoder) throws {
      wrappedValue = try decoder.singleValueContainer().decode(T.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(wrappedValue)
    }
  }
  private final class Box<T: Codable & Hashable>: Codable, Hashable {
    let value: T
    init(_ value: T) { self.value = value }
    init(from decoder: any Decoder) throws {
      value = try decoder.singleValueContainer().decode(T.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
    static func == (a: Box, b: Box) -> Bool { a.value == b.value }
    func hash(into hasher: inout Hasher) { hasher.combine(value) }
  }

  private class Animal: Codable, Identifiable, Hashable {
    let id: Int
    var mother: Animal?
    init(_ id: Int) { self.id = id }
    static func == (a: Animal, b: Animal) -> Bool { a.id == b.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
  }
  private final class Dog: Animal {
    var trick = "none"
    init(_ id: Int, _ trick: String) {
      self.trick = trick
      super.init(id)
    }
    private enum CodingKeys: CodingKey { case trick }
    required init(from decoder: any Decoder) throws {
      trick = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .trick)
      try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(trick, forKey: .trick)
      try super.encode(to: encoder)
    }
  }

  private struct Team: Codable, Identifiable {
    var id: Int
    @Observed var lead: Animal
    var second: Animal
    var pet: Box<Animal>?
    var pets: [Box<Animal>] = []
  }

  @Test(arguments: Backend.allCases)
  func objectsAreInside(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Dog.self])
    let (animal, dog) = (Animal(1), Dog(2, "roll"))
    animal.mother = dog
    try garage.park(Team(id: 1, lead: animal, second: animal, pet: Box(dog), pets: [Box(animal), Box(dog)]))
    try garage.park(Team(id: 2, lead: dog, second: animal, pet: nil))
    let alone = try #require(try garage.retrieve(Team.self, identifier: 1))
    for team in [alone] + (try garage.retrieveAll(Team.self)).prefix(1) {
      #expect(team.lead.id == 1 && team.lead === team.second)
      #expect((team.lead.mother as? Dog)?.trick == "roll")
      #expect(team.pet?.value === team.lead.mother)
      #expect(team.pets.map(\.value.id) == [1, 2] && team.pets[1].value is Dog)
    }
    let other = try #require(try garage.retrieve(Team.self, identifier: 2))
    #expect((other.lead as? Dog)?.trick == "roll" && other.pet == nil)
    #expect(try garage.retrieveAll(Team.self).map(\.lead.id) == [1, 2])
  }

  // MARK: - Optionals by hand

  private struct Owned: Codable, Identifiable {
    var id: Int
    var owner: Animal?
    var friends: [Animal?]
    var lazy: Reference<Animal>?

    init(_ id: Int, _ owner: Animal?, _ friends: [Animal?]) {
      (self.id, self.owner, self.friends) = (id, owner, friends)
      lazy = owner.map { Reference(to: $0) }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      owner = try container.decodeNil(forKey: .owner) ? nil : container.decode(Animal.self, forKey: .owner)
      lazy =
        try container.decodeNil(forKey: .lazy)
        ? nil : container.decode(Reference<Animal>.self, forKey: .lazy)
      var list = try container.nestedUnkeyedContainer(forKey: .friends)
      friends = []
      while !list.isAtEnd { friends.append(try list.decodeNil() ? nil : list.decode(Animal.self)) }
    }
  }

  /// What is gone is nil for who asks first, too; what is referred to lazily stays a reference.
  @Test(arguments: Backend.allCases)
  func whatIsGoneIsNil(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let animals = (0..<4).map { Animal($0) }
    try garage.park(Owned(1, animals[0], [animals[1], nil, animals[2], animals[3]]))
    try garage.delete(animals[0])
    try garage.delete(animals[2])
    let owned = try #require(try garage.retrieve(Owned.self, identifier: 1))
    #expect(owned.owner == nil && owned.friends.map { $0?.id } == [1, nil, nil, 3])
    #expect(owned.lazy == Reference(to: animals[0]))
  }

  // MARK: - Dates

  @propertyWrapper private struct Given<T: Codable>: Codable {
    var wrappedValue: T
    init(wrappedValue: T) { self.wrappedValue = wrappedValue }
    init(from decoder: any Decoder) throws {
      wrappedValue = try decoder.singleValueContainer().decode(T.self)
    }
    func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
  }
  private struct Event: Codable, Identifiable {
    var id: Int
    @Given var date: Date
    @Given var dates: [Date]
    @Given var perhaps: Date?
    @Given var link: URL
    @Given var token: UUID
    @Given var byName: [String: Date]
  }

  /// A value that was written by its own code is read as what it is.
  @Test(arguments: Backend.allCases)
  func valuesWriteThemselves(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let dates = DateTests.dates
    let event = Event(
      id: 1, date: dates[0], dates: dates, perhaps: dates[2], link: URL(string: "https://a.b/c?d=e")!,
      token: UUID(), byName: ["a": dates[1]])
    try garage.park(event)
    let back = try #require(try garage.retrieve(Event.self, identifier: 1))
    #expect(back.date == event.date && back.dates == event.dates && back.perhaps == event.perhaps)
    #expect(back.link == event.link && back.token == event.token)
    #expect(back.byName == event.byName)
  }
}

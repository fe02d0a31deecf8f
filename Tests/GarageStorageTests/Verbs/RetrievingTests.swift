import Foundation
import GarageConformance
import GarageDriver
import GarageStorage
import Testing

/// Every way to retrieve: what it returns, in which order, and what it throws.
@Suite struct RetrievingTests {
  @Test(arguments: Backend.allCases)
  func absenceIsNil(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    #expect(try garage.retrieve(Counter.self, identifier: 1) == nil)
    #expect(try garage.retrieveAll(Counter.self).isEmpty)
    #expect(try garage.count(Counter.self) == 0)
    #expect(try !garage.contains(Counter.self, identifier: 1))
    try garage.park(Counter(id: 1))
    #expect(try garage.retrieve(Counter.self, identifier: 2) == nil)
    #expect(try garage.retrieve(Person.self, identifier: "1") == nil)
  }

  /// Room is made for as many as there were the last time. Where there are far fewer, it is given back.
  @Test(arguments: Backend.allCases)
  func roomIsGivenBack(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    // The verbs that are not asynchronous, which asynchronous code does not choose.
    func fill(_ count: Int) throws -> [Counter] {
      try garage.deleteAll(Counter.self)
      try garage.parkAll((0..<count).map { Counter(id: $0) })
      return try garage.retrieveAll(Counter.self)
    }
    for count in [500, 500, 20, 1, 0] {
      for objects in [try fill(count), try await garage.retrieveAll(Counter.self)] {
        #expect(objects.map(\.id) == Array(0..<count))
        // What the system gives is a little more than what was asked for.
        #expect(objects.capacity <= 2 * count + 8)
      }
    }
  }

  @Test(arguments: Backend.allCases)
  func identifiersConvertWhereTheyCan(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let uuid = UUID()
    try garage.park(Counter(id: 7))
    try garage.park(Item(id: uuid, name: "lamp"))
    try garage.park(Person("12"))
    try garage.park(Person(uuid.uuidString))

    #expect(try garage.retrieve(Counter.self, identifier: "7") != nil)
    #expect(try garage.retrieve(Counter.self, identifier: UInt8(7)) != nil)
    #expect(try garage.retrieve(Item.self, identifier: uuid.uuidString) != nil)
    #expect(try garage.retrieve(Person.self, identifier: 12) != nil)
    #expect(try garage.retrieve(Person.self, identifier: uuid) != nil)
    #expect(try garage.contains(Counter.self, identifier: "7"))
    #expect(try garage.contains(Person.self, identifier: uuid))
    let identifier = try garage.identifier(for: Counter(id: 7))
    #expect(try garage.retrieve(Counter.self, identifier: identifier) != nil)
    #expect(try garage.contains(Counter.self, identifier: identifier))
    try garage.delete(Counter.self, identifier: "7")
    try garage.delete(Person.self, identifier: uuid)
    #expect(try garage.count(Counter.self) == 0)
    #expect(try garage.count(Person.self) == 1)
  }

  @Test(arguments: Backend.allCases)
  func whatIsItsOwnIDIsIdentifiedByContent(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Theme.dark)
    #expect(try garage.retrieve(Theme.self, identifier: .dark) == .dark)
    #expect(try garage.retrieve(Theme.self, identifier: .light) == nil)
    #expect(try garage.retrieve(Theme.self, identifier: garage.identifier(for: Theme.dark)) == .dark)
    try garage.delete(Theme.dark)
    #expect(try garage.count(Theme.self) == 0)
  }

  @Test(arguments: Backend.allCases)
  func referencesAreRetrieved(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let reference = Reference(Counter.self, identifier: 3)
    #expect(try garage.retrieve(reference) == nil)
    try garage.park(Counter(id: 3, value: 9))
    #expect(try garage.retrieve(reference)?.value == 9)
    #expect(try garage.read { try $0.retrieve(reference)?.value } == 9)
  }

  @Test(arguments: Backend.allCases)
  func objectsComeInTheOrderOfTheirIdentifiers(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    var generator = SeededGenerator(seed: 7)
    let numbers = Set(
      (0..<300).map { _ in Int.random(in: -1_000_000...1_000_000, using: &generator) } + [.min, .max, 0])
    for number in numbers.shuffled(using: &generator).prefix(20) { try garage.park(Counter(id: number)) }
    try garage.parkAll(numbers.map { Counter(id: $0) })
    let sorted = numbers.sorted()
    #expect(try garage.retrieveAll(Counter.self).map(\.id) == sorted)
    var visited: [Int] = []
    try garage.forEach(Counter.self) { visited.append($0.id) }
    #expect(visited == sorted)
  }

  @Test(arguments: Backend.allCases, [true, false])
  func forEachStaysOnItsSnapshot(_ backend: Backend, autosaves: Bool) throws {
    let garage = try Place(backend).garage()
    garage.isAutosaveEnabled = autosaves
    try garage.parkAll((0..<600).map { Counter(id: $0 * 2) })
    var visited: [Int] = []
    try garage.forEach(Counter.self) { counter in
      visited.append(counter.id)
      // Reads and writes inside a visit are served.
      #expect(try garage.retrieve(Counter.self, identifier: counter.id) != nil)
      if counter.id % 100 == 0 {
        try garage.park(Counter(id: counter.id + 1))
        try garage.delete(Counter.self, identifier: counter.id)
      }
    }
    #expect(visited == (0..<600).map { $0 * 2 })
    #expect(try garage.count(Counter.self) == 600)
    #expect(try garage.contains(Counter.self, identifier: 101))
  }

  @Test(arguments: Backend.allCases)
  func anErrorEndsForEach(_ backend: Backend) throws {
    struct Enough: Error, Equatable {}
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<10).map { Counter(id: $0) })
    var count = 0
    #expect(throws: Enough()) {
      try garage.forEach(Counter.self) { _ in
        count += 1
        if count == 3 { throw Enough() }
      }
    }
    #expect(count == 3)
    // Errors of the closure come out as they are, also those that look like ours.
    let storageError = StorageError(.io, during: .get, driver: "mine", message: "mine")
    #expect(throws: storageError) { try garage.forEach(Counter.self) { _ in throw storageError } }
    #expect(throws: storageError) { try garage.read { _ in throw storageError } }
    #expect(throws: storageError) { try garage.write { _ in throw storageError } }
    #expect(throws: storageError) {
      try garage.write { writer in try writer.forEach(Counter.self) { _ in throw storageError } }
    }
  }

  @Test(arguments: Backend.allCases)
  func errorsOfInitFromComeOutAsTheyAre(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Moody(1, refusesToDecode: true))
    #expect(throws: Moody.Mood()) { try garage.retrieve(Moody.self, identifier: 1) }
    #expect(throws: Moody.Mood()) { try garage.retrieveAll(Moody.self) }
    #expect(throws: Moody.Mood()) { try garage.forEach(Moody.self) { _ in } }
    #expect(try garage.count(Moody.self) == 1)
    try garage.delete(Moody.self, identifier: 1)
  }

  @Test(arguments: Backend.allCases)
  func forEachSharesObjectsAmongNeighbours(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let boss = Person("zz boss")
    let people = (0..<200).map { number in
      let person = Person("\(1000 + number)")
      person.brother = boss
      return person
    }
    try garage.parkAll(people)
    garage = try place.reopened(garage)
    var bosses: Set<ObjectIdentifier> = []
    var kept: [Person] = []
    try garage.forEach(Person.self) { person in
      if let brother = person.brother { bosses.insert(ObjectIdentifier(brother)) }
      kept.append(person)
    }
    #expect(bosses.count == 1)
    #expect(kept.count == 201)
    #expect(
      try Set(garage.retrieveAll(Person.self).compactMap(\.brother).map(ObjectIdentifier.init)).count == 1)
  }

  // MARK: Classes

  @Test(arguments: Backend.allCases)
  func verbsOnAClassCoverItsSubclasses(_ backend: Backend) throws {
    let place = try Place(backend)
    let types: [any Codable.Type] = [Dog.self, Puppy.self, Cat.self]
    var garage = try place.garage(types)
    try garage.parkAll([Animal("a"), Dog("b"), Puppy("c"), Cat("d")])
    garage = try place.reopened(garage, types)

    #expect(
      try garage.retrieveAll(Animal.self).map { "\(type(of: $0))" } == ["Animal", "Dog", "Puppy", "Cat"])
    #expect(try garage.retrieveAll(Dog.self).map(\.id) == ["b", "c"])
    #expect(try garage.retrieve(Animal.self, identifier: "c") is Puppy)
    #expect(try garage.retrieve(Dog.self, identifier: "d") == nil)
    #expect(try garage.count(Animal.self) == 4)
    #expect(try garage.count(Dog.self) == 2)
    #expect(try garage.count(Puppy.self) == 1)
    #expect(try garage.contains(Dog.self, identifier: "c"))
    #expect(try !garage.contains(Dog.self, identifier: "d"))
    #expect(try !garage.contains(Dog.self, identifier: "a"))
    #expect(throws: GarageError.failedToRetrieveObject("Dog", "d")) {
      try garage.delete(Dog.self, identifier: "d")
    }

    try garage.deleteAll(Dog.self)
    #expect(try garage.retrieveAll(Animal.self).map(\.id) == ["a", "d"])
    try garage.delete(Animal.self, identifier: "d")
    try garage.deleteAll(Animal.self)
    #expect(try garage.count(Animal.self) == 0)
  }

  @Test(arguments: Backend.allCases)
  func aClassThatIsNotRegisteredIsNamed(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage([Dog.self, Cat.self])
    try garage.parkAll([Animal("a"), Cat("b")])
    garage = try place.reopened(garage, [Dog.self])
    func isUnregistered(_ error: any Error) -> Bool {
      guard case .unregisteredClass(let tag, _, let identifier)? = error as? GarageError else { return false }
      return tag.hasSuffix("Cat") && identifier == "b" && "\(error)".contains("types:")
    }
    #expect { try garage.retrieveAll(Animal.self) } throws: { isUnregistered($0) }
    #expect { try garage.count(Dog.self) } throws: { isUnregistered($0) }
    #expect { try garage.contains(Dog.self, identifier: "b") } throws: { isUnregistered($0) }
    #expect { try garage.deleteAll(Dog.self) } throws: { isUnregistered($0) }
    #expect(try garage.count(Animal.self) == 2)
    #expect(try garage.count(Cat.self) == 1)
  }

  // MARK: Former tags

  private enum Old {
    struct Book: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "old book" }
      var id: Int
      var title: String
    }
  }
  private struct Book: Codable, Identifiable, Equatable, TypeTagged {
    static var typeTag: String { "book" }
    static var formerTypeTags: [String] { ["older book", "old book"] }
    var id: Int
    var title: String
  }

  @Test(arguments: Backend.allCases)
  func recordsUnderFormerTagsAreFound(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let count = 700
    try garage.parkAll((0..<count).map { Old.Book(id: $0 * 2, title: "old \($0)") })
    // Found as they are.
    #expect(try garage.retrieve(Book.self, identifier: 4)?.title == "old 2")
    #expect(try garage.count(Book.self) == count)
    try garage.parkAll([
      Book(id: 5, title: "new"), Book(id: 6, title: "replaces"), Book(id: 1999, title: "last"),
    ])
    garage = try place.reopened(garage)

    let expected = (0..<count).map { $0 * 2 } + [5, 1999]
    #expect(try garage.retrieveAll(Book.self).map(\.id) == expected.sorted())
    #expect(try garage.count(Book.self) == count + 2)
    #expect(try garage.retrieve(Book.self, identifier: 6)?.title == "replaces")
    #expect(try garage.contains(Book.self, identifier: 8))
    #expect(try garage.retrieve(Reference(Old.Book.self, identifier: 8))?.title == "old 4")
    // Parking removed what the object was parked as before.
    #expect(try garage.retrieve(Old.Book.self, identifier: 6) == nil)
    #expect(try garage.count(Old.Book.self) == count - 1)

    // An older program parks again under the old name: the present one wins.
    try garage.park(Old.Book(id: 6, title: "late"))
    #expect(try garage.retrieve(Book.self, identifier: 6)?.title == "replaces")
    #expect(try garage.count(Book.self) == count + 2)
    var titles: [String] = []
    try garage.forEach(Book.self) { if $0.id == 6 { titles.append($0.title) } }
    #expect(titles == ["replaces"])
    try garage.delete(Book.self, identifier: 6)
    #expect(try !garage.contains(Book.self, identifier: 6))
    try garage.deleteAll(Book.self)
    #expect(try garage.count(Old.Book.self) == 0)
  }

  private enum Before {
    struct Friend: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "friend" }
      var id: Int
    }
  }
  private struct Friend: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "friend" }
    var id: Int
    var name: String?
    @Linked var friends: [Friend]
    @Linked var best: Friend?
  }

  /// A record from before a linked property was added: the property is empty.
  @Test(arguments: Backend.allCases)
  func addedLinkedPropertiesAreEmpty(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Before.Friend(id: 1))
    let friend = try #require(try garage.retrieve(Friend.self, identifier: 1))
    #expect(friend.friends.isEmpty && friend.best == nil && friend.name == nil)
  }

  // MARK: Damage

  /// Every bit of a small record, of its texts and of its key: an error, or what was parked; never another object.
  @Test func everyFlippedBitIsNoticed() throws {
    let place = try Place(.lmdb)
    var driver = try place.open()
    let item = Item(id: UUID(), name: "lamp")
    try Garage(driver).park(item)
    let record = try #require(try Driver.contents(driver, .prefix([0x10])).first)
    for bit in 0..<record.value.count * 8 {
      var bytes = record.value
      bytes[bit / 8] ^= 1 << (bit % 8)
      try Driver.put(bytes, for: record.key.bytes, driver)
      #expect {
        try Garage(driver).retrieve(Item.self, identifier: item.id)
      } throws: { error in
        switch error as? GarageError {
        case .corruptRecord("Item", item.id.uuidString, _), .newerRecordFormat("Item", item.id.uuidString, _):
          true
        default: false
        }
      }
    }
    for count in 0..<record.value.count {
      try Driver.put(Array(record.value[..<count]), for: record.key.bytes, driver)
      #expect {
        try Garage(driver).retrieveAll(Item.self)
      } throws: { error in
        if case .corruptRecord("Item", item.id.uuidString, _)? = error as? GarageError { true } else { false }
      }
    }
    try Driver.put(record.value, for: record.key.bytes, driver)
    try driver.close()
    driver = try place.open()
    #expect(try Garage(driver).retrieve(Item.self, identifier: item.id) == item)
  }
}

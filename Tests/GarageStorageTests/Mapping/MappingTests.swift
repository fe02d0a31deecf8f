import Foundation
import GarageStorage
import Testing

/// One of everything.
private final class Ketch: MappableObject {
  var name = ""
  var length = 0.0
  var built: Date?
  var flags: [String] = []
  var log: [String: [Int]] = [:]
  var owner: Skipper?
  var crew: [Skipper] = []
  var byRole: [String: Skipper] = [:]
  var watches: [[Skipper]] = []
  var replacement: [Skipper?]?
  var cabin = Cabin()
  var spare: Cabin?
  var tender: Ketch?
  var colour = Colour.white
  var unmapped = "not stored"
  init() {}
  enum Colour: String, Codable { case white, blue }

  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Ketch.self)
    mapping.add("name", \Ketch.name)
    mapping.add("length_in_metres", \Ketch.length)
    mapping.add("built", \Ketch.built)
    mapping.add("flags", \Ketch.flags)
    mapping.add("log", \Ketch.log)
    mapping.add("owner", \Ketch.owner)
    mapping.add("crew", \Ketch.crew)
    mapping.add("byRole", \Ketch.byRole)
    mapping.add("watches", \Ketch.watches)
    mapping.add("replacement", \Ketch.replacement)
    mapping.add("cabin", \Ketch.cabin)
    mapping.add("spare", \Ketch.spare)
    mapping.add("tender", \Ketch.tender)
    mapping.add("colour", \Ketch.colour)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

/// A Codable class that refers to mapped objects.
private final class Skipper: Codable, Identifiable {
  var id: String
  var boat: Ketch?
  init(_ id: String) { self.id = id }
}

private final class Nicknamed: MappableObject {
  var name = ""
  var nickname: String? = "none"
  var second: String? = "none"
  var ages: [Int]? = [1]
  var friend: Skipper? = Skipper("Sam")
  var inner: [Nicknamed]?
  init() {}
  convenience init(_ name: String) {
    self.init()
    self.name = name
  }
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Nicknamed.self)
    mapping.addMappings([
      "name": \Nicknamed.name, "nickname": \Nicknamed.nickname, "ages": \Nicknamed.ages,
      "friend": \Nicknamed.friend, "inner": \Nicknamed.inner,
    ])
    mapping.add("second", \Nicknamed.second)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

/// Anonymous.
private final class Cabin: MappableObject {
  var berths = 0
  var wood: String?
  init() {}
  convenience init(_ berths: Int) {
    self.init()
    self.berths = berths
  }
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping.mapping(for: Cabin.self)
    mapping.addMappings(["berths": \Cabin.berths, "wood": \Cabin.wood])
    return mapping
  }
}

/// Anonymous, and holds an identified object.
private final class Ticket: MappableObject {
  var seat = 0
  var boat: Ketch?
  var parts: [Ticket] = []
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Ticket.self)
    mapping.add("seat", \Ticket.seat)
    mapping.add("boat", \Ticket.boat)
    mapping.add("parts", \Ticket.parts)
    return mapping
  }
}

private func ketch(_ name: String) -> Ketch {
  let ketch = Ketch()
  ketch.name = name
  return ketch
}

/// What is mapped is stored, whatever its type, and every verb takes mapped objects.
@Suite struct MappingTests {
  @Test(arguments: Backend.allCases)
  func whatIsMappedIsStored(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (anne, bob) = (Skipper("Anne"), Skipper("Bob"))
    let boat = ketch("Réale")
    (boat.length, boat.built, boat.flags) = (12.25, Date(timeIntervalSince1970: 1_234_567.875), ["fr", "de"])
    (boat.log, boat.colour, boat.unmapped) = (["2024": [1, 2], "2025": []], .blue, "changed")
    (boat.owner, boat.crew, boat.byRole) = (anne, [anne, bob], ["cook": bob])
    (boat.watches, boat.replacement) = ([[anne], [], [bob, anne]], [bob, nil])
    (boat.cabin, boat.tender) = (Cabin(4), ketch("dinghy"))
    try garage.park(boat)
    garage = try place.reopened(garage)
    let found = try #require(try garage.retrieve(Ketch.self, identifier: "Réale"))
    #expect(found.name == boat.name && found.length == 12.25 && found.built == boat.built)
    #expect(found.flags == ["fr", "de"] && found.log == boat.log && found.colour == .blue)
    #expect(found.owner?.id == "Anne" && found.crew.map(\.id) == ["Anne", "Bob"])
    #expect(found.crew[0] === found.owner && found.byRole["cook"] === found.crew[1])
    #expect(found.watches.map { $0.map(\.id) } == [["Anne"], [], ["Bob", "Anne"]])
    #expect(found.watches[2][1] === found.owner && found.replacement?.map { $0?.id } == ["Bob", nil])
    #expect(found.cabin.berths == 4 && found.cabin.wood == nil && found.spare == nil)
    #expect(found.tender?.name == "dinghy" && found.tender?.tender == nil)
    #expect(found.unmapped == "not stored")
    #expect(try garage.retrieve(Ketch.self, identifier: "gone") == nil)
  }

  /// Whichever call it was added by, and also within a value that has no record.
  @Test(arguments: Backend.allCases)
  func whatWasNilIsNilAgain(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (with, without) = (Nicknamed("with"), Nicknamed("without"))
    (without.nickname, without.second, without.ages, without.friend) = (nil, nil, nil, nil)
    without.inner = [Nicknamed("inner")]
    without.inner?[0].nickname = nil
    try garage.parkAll([with, without])
    garage = try place.reopened(garage)
    let found = try garage.retrieveAll(Nicknamed.self)
    #expect(found.map(\.name) == ["inner", "with", "without"])
    #expect(found.map(\.nickname) == [nil, "none", nil] && found.map(\.second) == ["none", "none", nil])
    #expect(found.map(\.ages) == [[1], [1], nil] && found.map { $0.friend?.id } == ["Sam", "Sam", nil])
    #expect(found[2].inner?.map(\.nickname) == [nil] && found[1].inner == nil)
  }

  @Test(arguments: Backend.allCases)
  func everyVerbWorks(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.parkAll(["c", "a", "b"].map(ketch))
    garage = try place.reopened(garage)
    #expect(try garage.retrieveAll(Ketch.self).map(\.name) == ["a", "b", "c"])
    #expect(try garage.count(Ketch.self) == 3)
    #expect(try garage.contains(Ketch.self, identifier: "a"))
    var names: [String] = []
    try garage.forEach(Ketch.self) { names.append($0.name) }
    #expect(names == ["a", "b", "c"])
    try garage.delete(ketch("a"))
    try garage.delete(Ketch.self, identifier: "b")
    #expect(throws: GarageError.failedToRetrieveObject("Ketch", "b")) { try garage.delete(ketch("b")) }
    #expect(throws: GarageError.failedToRetrieveObject("Ketch", "a")) {
      try garage.delete(Ketch.self, identifier: "a")
    }
    let contains = try garage.contains(Ketch.self, identifier: "a")
    #expect(!contains)
    let changed = ketch("c")
    changed.length = 3
    try garage.write { writer in
      try writer.park(changed)
      #expect(try writer.retrieve(Ketch.self, identifier: "c")?.length == 3)
    }
    #expect(try garage.count(Ketch.self) == 1)
    try garage.deleteAll(Ketch.self)
    #expect(try garage.retrieveAll(Ketch.self).isEmpty)
  }

  @Test(arguments: Backend.allCases)
  func mixedObjectsAreParkedTogether(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let ticket = Ticket()
    ticket.boat = ketch("x")
    let mixed: [any MappableObject] = [ketch("a"), Cabin(2), ticket]
    try garage.parkAll(mixed)
    #expect(try garage.retrieveAll(Ketch.self).map(\.name) == ["a", "x"])
    #expect(try garage.retrieveAll(Cabin.self).map(\.berths) == [2])
    #expect(try garage.retrieveAll(Ticket.self).map { $0.boat?.name } == ["x"])
    let any: any MappableObject = ketch("b")
    try garage.park(any)
    try garage.delete(mixed[0])
    #expect(try garage.retrieveAll(Ketch.self).map(\.name) == ["b", "x"])
    // All or nothing.
    #expect(throws: GarageError.self) { try garage.parkAll([ketch("z"), ketch("")] as [any MappableObject]) }
    #expect(try garage.count(Ketch.self) == 2)
  }

  @Test(arguments: Backend.allCases)
  func anonymousObjectsAreIdentifiedByContent(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.park(Cabin(3))
    try garage.parkAll([Cabin(3), Cabin(5)])
    #expect(try garage.count(Cabin.self) == 2)
    let identifier = try garage.identifier(for: Cabin(5))
    garage = try place.reopened(garage)
    #expect(try garage.retrieve(Cabin.self, identifier: identifier)?.berths == 5)
    #expect(try garage.identifier(for: Cabin(5)) == identifier)
    try garage.delete(Cabin(5))
    #expect(try garage.retrieveAll(Cabin.self).map(\.berths) == [3])
    // Inside others they stand inline.
    let boat = ketch("b")
    boat.spare = Cabin(9)
    let ticket = Ticket()
    (ticket.boat, ticket.parts) = (boat, [Ticket(), Ticket()])
    (ticket.parts[1].seat, ticket.parts[1].boat) = (7, boat)
    try garage.park(ticket)
    #expect(try garage.count(Cabin.self) == 1 && garage.count(Ticket.self) == 1)
    let found = try #require(try garage.retrieveAll(Ticket.self).first)
    #expect(found.boat?.spare?.berths == 9 && found.parts.map(\.seat) == [0, 7])
    #expect(found.parts[0].boat == nil && found.parts[1].boat === found.boat && found.boat != nil)
  }

  @Test(arguments: Backend.allCases)
  func missingTargetsAreNilOrReported(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let boat = ketch("b")
    (boat.owner, boat.replacement) = (Skipper("gone"), [Skipper("gone")])
    try garage.park(boat)
    try garage.delete(Skipper.self, identifier: "gone")
    let found = try #require(try garage.retrieve(Ketch.self, identifier: "b"))
    #expect(found.owner == nil && found.replacement?.map { $0?.id } == [nil])
    boat.crew = [Skipper("there"), Skipper("gone")]
    try garage.park(boat)
    try garage.delete(Skipper.self, identifier: "gone")
    #expect {
      try garage.retrieve(Ketch.self, identifier: "b")
    } throws: { error in
      guard case .dataCorrupted(let context)? = error as? DecodingError else { return false }
      return context.codingPath.map(\.stringValue) == ["crew", "Index 1"]
        && context.debugDescription == "Missing Identifiable reference of type: Skipper with id: gone"
    }
  }

  @Test func otherCodersTakeMappedObjects() throws {
    let boat = ketch("json")
    (boat.length, boat.cabin) = (2, Cabin(1))
    let json = try JSONEncoder().encode(boat)
    let found = try JSONDecoder().decode(Ketch.self, from: json)
    #expect(found.name == "json" && found.length == 2 && found.cabin.berths == 1 && found.owner == nil)
    #expect(String(decoding: json, as: UTF8.self).contains("\"length_in_metres\":2"))
  }
}

// MARK: - Errors

private final class NotMapped: MappableObject {
  var name = "x"
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: NotMapped.self)
    mapping.add("title", \NotMapped.name)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

private final class OptionallyNamed: MappableObject {
  var number: Int?
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: OptionallyNamed.self)
    mapping.add("number", \OptionallyNamed.number)
    mapping.identifyingAttribute = "number"
    return mapping
  }
}

private final class Unsettable: MappableObject {
  var name = "x"
  var twice: String { name + name }
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Unsettable.self)
    mapping.addMappings(["name": \Unsettable.name, "twice": \Unsettable.twice])
    return mapping
  }
}

private final class Unnameable: MappableObject {
  var cabin = Cabin()
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Unnameable.self)
    mapping.add("cabin", \Unnameable.cabin)
    mapping.identifyingAttribute = "cabin"
    return mapping
  }
}

private final class Borrowed: MappableObject {
  var name = "x"
  init() {}
  static var objectMapping: ObjectMapping { Ketch.objectMapping }
}

/// A mapping that cannot work is an error that names the property.
@Suite struct MappingErrorTests {
  private static func reason(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "nothing was thrown"
    } catch GarageError.invalidMapping(let type, let reason) {
      return "\(type): \(reason)"
    } catch {
      return "\(error)"
    }
  }

  @Test(arguments: Backend.allCases)
  func wrongMappingsAreReported(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let notMapped = "NotMapped: its identifying attribute \"name\" is not mapped"
    #expect(MappingErrorTests.reason { try garage.park(NotMapped()) }.hasPrefix(notMapped))
    #expect(
      MappingErrorTests.reason { _ = try garage.retrieve(NotMapped.self, identifier: "x") }.hasPrefix(
        notMapped))
    #expect(MappingErrorTests.reason { try garage.delete(NotMapped()) }.hasPrefix(notMapped))
    #expect(MappingErrorTests.reason { try garage.park(Unsettable()) }.contains("\"twice\" cannot be set"))
    #expect(
      MappingErrorTests.reason { try garage.park(Borrowed()) }.contains("mapping of another class, Ketch"))
    #expect(throws: GarageError.unsupportedIDConformance("Unnameable")) { try garage.park(Unnameable()) }
    #expect(try garage.count(NotMapped.self) == 0)
  }

  @Test(arguments: Backend.allCases)
  func emptyIdentifyingAttributesAreReported(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let empty = GarageError.emptyIdentifyingAttribute(type: "Ketch", attribute: "name")
    #expect(throws: empty) { try garage.park(ketch("")) }
    let skipper = Skipper("s")
    skipper.boat = ketch("")
    #expect(throws: empty) { try garage.park(skipper) }
    #expect(empty.description.contains("\"name\" of an object of Ketch is empty"))
    let unnumbered = OptionallyNamed()
    #expect(throws: GarageError.emptyIdentifyingAttribute(type: "OptionallyNamed", attribute: "number")) {
      try garage.park(unnumbered)
    }
    unnumbered.number = 0
    try garage.park(unnumbered)
    #expect(try garage.retrieve(OptionallyNamed.self, identifier: 0)?.number == 0)
    #expect(try garage.retrieve(OptionallyNamed.self, identifier: "0")?.number == 0)
    #expect(try garage.count(Skipper.self) == 0 && garage.count(Ketch.self) == 0)
  }
}

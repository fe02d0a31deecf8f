import Foundation
import GarageStorage
import Testing

private struct Team: Codable, Identifiable {
  var id = "team"
  var captain: Counter?
  var coach: Nest?
  var list: [Counter]?
  var table: [String: Counter]?
  struct Nest: Codable { var counter: Counter }
}

private struct Crew: Codable, Identifiable {
  var id = "crew"
  @Linked var first: Person?
  @Linked var all: [Person]
}

private struct Solo: Codable, Identifiable {
  var id = "solo"
  var member: Counter
}

/// Where a record is missing that another refers to, an optional is nil and everything else an error.
@Suite struct MissingTargetTests {
  private func expectMissing(
    _ path: [String], _ type: String, _ id: String, _ location: SourceLocation = #_sourceLocation,
    _ verb: () throws -> Void
  ) {
    #expect(sourceLocation: location) {
      try verb()
    } throws: { error in
      guard case DecodingError.dataCorrupted(let context) = error else { return false }
      return context.debugDescription == "Missing Identifiable reference of type: \(type) with id: \(id)"
        && context.codingPath.map({ $0.intValue.map(String.init) ?? $0.stringValue }) == path
    }
  }

  @Test(arguments: Backend.allCases)
  func anOptionalIsNilAndTheRestAnError(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    func park(_ team: Team) throws {
      try garage.park(team)
      try garage.delete(Counter.self, identifier: 2)
      garage = try place.reopened(garage)
    }
    func team() throws -> Team? { try garage.retrieve(Team.self, identifier: "team") }
    let (one, two) = (Counter(id: 1), Counter(id: 2))

    try park(Team(captain: two, list: [one]))
    let found = try #require(try team())
    #expect(found.captain == nil && found.list == [one])
    try park(Team(coach: .init(counter: two)))
    expectMissing(["coach", "counter"], "Counter", "2") { _ = try team() }
    try park(Team(list: [one, two]))
    expectMissing(["list", "1"], "Counter", "2") { _ = try team() }
    try park(Team(table: ["a": one, "b": two]))
    expectMissing(["table", "b"], "Counter", "2") { _ = try team() }
    expectMissing(["table", "b"], "Counter", "2") { _ = try garage.retrieveAll(Team.self) }
    // The record is kept, and whole again with its target.
    try garage.park(two)
    #expect(try team()?.table == ["a": one, "b": two])

    try garage.park(Solo(member: two))
    try garage.delete(two)
    expectMissing(["member"], "Counter", "2") { _ = try garage.retrieve(Solo.self, identifier: "solo") }
  }

  @Test(arguments: Backend.allCases)
  func linkedPropertiesAreNoDifferent(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (sam, nick) = (Person("Sam"), Person("Nick"))
    var crew = Crew()
    crew.first = nick
    crew.all = [sam]
    try garage.park(crew)
    try garage.delete(nick)
    garage = try place.reopened(garage)
    let found = try #require(try garage.retrieve(Crew.self, identifier: "crew"))
    #expect(found.first == nil && found.all.map(\.id) == ["Sam"])
    crew.all = [sam, nick]
    try garage.park(crew)
    try garage.delete(nick)
    garage = try place.reopened(garage)
    expectMissing(["all", "1"], "Person", "Nick") { _ = try garage.retrieve(Crew.self, identifier: "crew") }
  }
}

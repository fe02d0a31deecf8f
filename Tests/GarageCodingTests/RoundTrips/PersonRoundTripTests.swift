import Foundation
import GarageCoding
import Testing

/// A graph with a cycle comes back with every property and every link.
@Suite struct PersonRoundTripTests {
  struct Address: Codable, Hashable { var street: String, city: String, zip: String }
  final class Person: Codable, Identifiable {
    var id: String
    var name: String
    var age: Int
    var birthdate: Date
    var address: Address
    var dates: [Date]
    var tags: [String]
    @Linked var brother: Person?
    @Linked var siblings: [Person]
    var best: Person?
    var nick: String?
    init(_ id: String) {
      self.id = id
      name = "Name of \(id)"
      age = 42
      birthdate = Date(timeIntervalSinceReferenceDate: 123.456)
      address = Address(street: "1 Main St", city: "Boston", zip: "02101")
      dates = [Date(timeIntervalSinceReferenceDate: 1), Date(timeIntervalSinceReferenceDate: 2.5)]
      tags = ["a", "bb", "ccc"]
      siblings = []
    }
  }

  @Test func personRoundTrips() throws {
    let sam = Person("Sam"), nick = Person("Nick"), emily = Person("Emily")
    sam.brother = nick
    nick.brother = sam
    sam.siblings = [nick, emily]
    sam.best = emily
    let copy = try roundTrip(sam)
    #expect(copy.name == sam.name && copy.age == 42 && copy.birthdate == sam.birthdate)
    #expect(copy.address == sam.address && copy.dates == sam.dates && copy.tags == sam.tags)
    #expect(copy.brother === copy.siblings[0])
    #expect(copy.best === copy.siblings[1])
    #expect(copy.brother?.brother === copy)
    #expect(copy.nick == nil)
    for person in [copy] + copy.siblings + [sam, nick] { person.brother = nil; person.siblings = [] }
  }
}

import Foundation
import GarageStorage

/// A person who knows others by references in place of identifiers: the same to say, and more to do, since a
/// record lists what it refers to.
struct Member: Codable, Identifiable, Equatable {
  var id: String
  var name: String
  var age: Int
  var birthdate: Date
  var address: Address
  var dates: [Date]
  var tags: [String]
  var partner: Reference<Member>
  var friends: [Reference<Member>]

  init(_ person: Person) {
    id = person.id
    name = person.name
    age = person.age
    birthdate = person.birthdate
    address = person.address
    dates = person.dates
    tags = person.tags
    partner = Reference(Member.self, identifier: person.partner)
    friends = person.friends.map { Reference(Member.self, identifier: $0) }
  }
}

/// A person together with three others: four records for a garage, one text for JSON.
struct Household: Codable, Identifiable, Equatable {
  var id: String
  var name: String
  var age: Int
  var birthdate: Date
  var address: Address
  var dates: [Date]
  var tags: [String]
  var partner: Person
  var friends: [Person]

  init(_ person: Person, among people: [Person], at index: Int) {
    func other(_ distance: Int) -> Person { people[(index + distance) % people.count] }
    id = person.id
    name = person.name
    age = person.age
    birthdate = person.birthdate
    address = person.address
    dates = person.dates
    tags = person.tags
    partner = other(1)
    friends = [other(2), other(3)]
  }
}

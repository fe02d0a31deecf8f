import Foundation
import GarageStorage

// Objects with identifiers of every kind, and a list of what a file must not hold of them.

struct HiddenPerson: Codable, Identifiable, Equatable, Syncable {
  var id: String
  var age = 1
  var friends: [HiddenPet] = []
  var syncStatus = SyncStatus.undetermined
  enum CodingKeys: CodingKey { case id, age, friends }
}

struct HiddenPet: Codable, Identifiable, Equatable {
  var id: UUID
  var name = "pet"
}

struct HiddenVisit: Codable, Identifiable, Equatable {
  var id: Date
}

struct HiddenPlace: Codable, Hashable {
  var street: String
  var number: Int
}

struct HiddenTrip: Codable, Identifiable, Equatable {
  struct ID: Codable, Hashable {
    var from: String
    var to: String
  }
  var id: ID
}

/// Refers to itself.
final class HiddenNode: Codable, Identifiable {
  var id: String
  @Linked var next: HiddenNode?
  init(_ id: String) { self.id = id }
}

class HiddenAnimal: Codable, Identifiable {
  var id: String
  init(_ id: String) { self.id = id }
}
final class HiddenDog: HiddenAnimal {}
final class HiddenCat: HiddenAnimal {}

final class HiddenBoat: MappableObject {
  var name = ""
  var captain: HiddenBoat?
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: HiddenBoat.self)
    mapping.add("name", \HiddenBoat.name)
    mapping.add("captain", \HiddenBoat.captain)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

enum Hidden {
  static let uuid = UUID(
    uuid: (0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24, 0x7A, 0x3E, 0x6E, 0x5F))
  static let date = Date(timeIntervalSinceReferenceDate: 123_456_789.25)
  static let mark = "SECRET-IDENTIFIER"
  static let long = mark + String(repeating: "-long", count: 100)

  static func people(_ count: Int) -> [HiddenPerson] {
    (0..<count).map { number in
      HiddenPerson(
        id: "\(mark)-\(number)", age: number, friends: number == 0 ? [HiddenPet(id: uuid)] : [],
        syncStatus: SyncStatus(rawValue: number % 4) ?? .undetermined)
    }
  }

  static let place = HiddenPlace(street: "Main", number: 7)

  /// Parks something under an identifier of every kind.
  static func park(in garage: Garage) throws {
    try garage.parkAll(people(300))
    try garage.park(HiddenPerson(id: long))
    try garage.park(HiddenVisit(id: date))
    try garage.park(place)
    try garage.park(HiddenTrip(id: HiddenTrip.ID(from: mark, to: "there")))
    let boat = HiddenBoat()
    boat.name = mark
    boat.captain = boat
    try garage.park(boat)
    boat.captain = nil
  }

  /// The bytes of identifiers as keys would hold them.
  static func traces(_ garage: Garage) throws -> [(name: String, bytes: Data)] {
    let identifiers = [
      ("UUID", try garage.identifier(for: HiddenPet(id: uuid))),
      ("date", try garage.identifier(for: HiddenVisit(id: date))),
      ("digest of content", try garage.identifier(for: place)),
    ]
    // Without the byte that tells the kind.
    return [("string", Data(mark.utf8))] + identifiers.map { ($0.0, Data($0.1.bytes.dropFirst())) }
  }
}

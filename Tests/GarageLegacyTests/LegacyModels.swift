import Foundation
import GarageLegacy
import GarageStorage

/// As an app on GarageStorage for Swift has it: Codable and Identifiable.
final class Citizen: Codable, Identifiable, Syncable {
  var id: String
  var age: Int
  var height: Double
  var balance: Decimal
  var born: Date
  var photo: Data?
  var home: URL?
  var boss: Citizen?
  var friends: [Citizen]
  var postal: Postal
  var isActive: Bool
  @Linked var spouse: Citizen?
  var doctor: Reference<Citizen>?
  /// Not among the coding keys.
  var syncStatus = SyncStatus.undetermined

  enum CodingKeys: CodingKey {
    case id, age, height, balance, born, photo, home, boss, friends, postal, isActive, spouse, doctor
  }

  init(_ id: String, postal: Postal) {
    (self.id, age, height, balance, born) = (id, 0, 0, 0, Date(timeIntervalSinceReferenceDate: 0))
    (friends, self.postal, isActive) = ([], postal, false)
  }
}

/// Identified by its content.
struct Postal: Codable, Hashable {
  var street: String
  var number: Int
}

struct Token: Codable, Identifiable {
  var id: UUID
  var owner: Citizen
}

struct Room: Codable, Identifiable {
  var id: Int
  var next: Room2?
}

struct Room2: Codable, Identifiable {
  var id: Int
  var size = 1.5
}

/// What was Objective-C's MCVessel.
final class Vessel: SyncableObject {
  var name = ""
  var launched: Date?
  var sister: Vessel?
  var fleet: [Vessel] = []
  var cargo: [Crate] = []
  var byHold: [String: Crate] = [:]
  var grid: [[Int]] = []
  var captain: Citizen?
  var isAfloat = false
  var syncStatus = SyncStatus.undetermined
  init() {}

  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Vessel.self)
    mapping.add("name", \Vessel.name)
    mapping.add("launched_on", \Vessel.launched)
    mapping.add("sister", \Vessel.sister)
    mapping.add("fleet", \Vessel.fleet)
    mapping.add("cargo", \Vessel.cargo)
    mapping.add("byHold", \Vessel.byHold)
    mapping.add("grid", \Vessel.grid)
    mapping.add("captain", \Vessel.captain)
    mapping.add("isAfloat", \Vessel.isAfloat)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

/// Anonymous.
final class Crate: SyncableObject, Equatable {
  var weight = 0.0
  var label: String?
  var inner: [Crate] = []
  var packed: Date?
  var syncStatus = SyncStatus.undetermined
  init() {}
  convenience init(_ weight: Double, _ label: String? = nil) {
    self.init()
    (self.weight, self.label) = (weight, label)
  }
  static func == (a: Crate, b: Crate) -> Bool {
    a.weight == b.weight && a.label == b.label && a.inner == b.inner && a.packed == b.packed
  }

  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Crate.self)
    mapping.add("weight", \Crate.weight)
    mapping.add("label", \Crate.label)
    mapping.add("inner", \Crate.inner)
    mapping.add("packed", \Crate.packed)
    return mapping
  }
}

/// Refers to its kind by a plain property.
final class Pilgrim: Codable, Identifiable {
  var id: String
  var next: Pilgrim?
  init(_ id: String) { self.id = id }
}

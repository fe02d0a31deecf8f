import Foundation
import GarageStorage

// All of these belong to the main actor, and so do their conformances.

final class Person: Codable, Identifiable {
  var id: String
  var age = 0
  var mother: Reference<Person>?
  var friends: [Reference<Person>] = []
  var address: Address?
  @Linked var brother: Person?
  @Linked var children: [Person]
  @Linked var cousins: [String: Person]

  init(_ id: String) { self.id = id }
}

struct Address: Codable, Hashable {
  var street: String
  var city: String
}

struct Errand: Codable, Identifiable, Syncable {
  var id: UUID
  var title: String
  var syncStatus = SyncStatus.undetermined
}

struct Ticket: Codable, Identifiable, Indexed {
  var id: Int
  var seat: String
  static var indexes: [Index<Ticket>] {
    MainActor.preconditionIsolated()
    return [Index(\.seat, .unique)]
  }
}

/// It belongs to no actor, but which of two is greater does.
nonisolated struct Rank: Codable { var number: Int }
extension Rank: @MainActor Comparable {
  static func < (left: Rank, right: Rank) -> Bool {
    MainActor.preconditionIsolated()
    return left.number < right.number
  }
  static func == (left: Rank, right: Rank) -> Bool { left.number == right.number }
}
nonisolated struct Soldier: Codable, Identifiable {
  var id: Int
  var rank: Rank
}

class Animal: Codable, Identifiable, TypeTagged {
  class var typeTag: String { "animal" }
  var id: Int
  var keeper: Reference<Person>?
  init(_ id: Int) { self.id = id }
}

final class Dog: Animal {
  override class var typeTag: String { "dog" }
}

struct Currency: Interned {
  var code: String
}

struct Note: Codable, Identifiable, Evolving {
  var id: Int
  var text: String
  var currency: Currency
  static var prototype: Note? { Note(id: 0, text: "", currency: Currency(code: "EUR")) }
}

final class Boat: MappableObject {
  var name = ""
  var captain: Boat?
  var crew: [Boat] = []
  var weights: [String: Double] = [:]
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Boat.self)
    mapping.add("name", \Boat.name)
    mapping.add("captain", \Boat.captain)
    mapping.add("crew", \Boat.crew)
    mapping.add("weights", \Boat.weights)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

enum Theme: String, Codable { case light, dark }

enum Settings: Namespace { static let id = "settings" }
enum Appearance: Namespace {
  typealias Parent = Settings
  static let id = "appearance"
}

extension KeyType where Self == Key<Appearance, Theme> {
  static var theme: Self { Key(id: "theme", defaultValue: .light) }
}

extension KeyType where Self == Key<Settings, Int> {
  static var launches: Self { Key(id: "launches", defaultValue: 0) }
}

final class Editor {
  @Stored<Key<Appearance, Theme>> var theme: Theme
  init(_ garage: Garage) { _theme = Stored(.theme, in: garage) }
}

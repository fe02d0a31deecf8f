import Foundation
import Testing

@testable import GarageStorage

/// References where types put them in ways of their own: in classes with a place for their superclass, under keys that were
/// others before, in wrappers, and in arrays whose elements have each their meaning.
@Suite struct RelationFormTests {
  private func expectSound(_ garage: Garage) throws {
    let report = try garage.verifyIndexes()
    #expect(report.isSound, "\(report)")
  }

  private func harbour(_ backend: Backend, _ isIndexed: Bool) throws -> Garage {
    let types: [any Codable.Type] = [Tug.self, Barge.self, Vessel.self]
    return try backend.relations(Place(backend), isIndexed: isIndexed, types: types)
  }

  /// Where its superclass stands each class says itself.
  @Test(arguments: Backend.allCases, [true, false])
  func subclassesAreFound(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try harbour(backend, isIndexed)
    let (a, b) = (Mate(id: "a"), Mate(id: "b"))
    try garage.parkAll([
      Vessel(1, captain: a), Tug(2, captain: a, pilot: b), Barge(3, captain: a, pilot: a),
      Vessel(4, captain: b), Tug(5, captain: b, pilot: a), Barge(6, captain: b, pilot: a),
    ])
    func find<R: Vessel, V: Codable>(_ property: KeyPath<R, V>) throws -> [Int] {
      try garage.retrieveReferrers(R.self, of: a, by: property).map(\.id)
    }
    #expect(try find(\Vessel.captain) == [1, 2, 3])
    #expect(try find(\Tug.captain) == [2])
    #expect(try find(\Tug.pilot) == [5])
    #expect(try find(\Barge.pilot) == [3, 6])
    #expect(try garage.retrieveReferrers(Vessel.self, of: a).map(\.id) == [1, 2, 3, 5, 6])
  }

  @Test(arguments: Backend.allCases, [true, false])
  func subclassesTakeAlongWhatTheyOwn(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try harbour(backend, isIndexed)
    for id in 0..<3 {
      let (captain, boat) = (Mate(id: "\(id)"), Mate(id: "boat \(id)"))
      let vessel =
        switch id {
        case 0: Vessel(id, captain: captain)
        case 1: Tug(id, captain: captain, pilot: captain)
        default: Barge(id, captain: captain, pilot: captain)
        }
      vessel.boats = [boat]
      try garage.park(vessel)
      #expect(try garage.count(Mate.self) == 2)
      try garage.delete(vessel)
      #expect(try garage.retrieveAll(Mate.self).map(\.id) == ["\(id)"])
      try garage.deleteAll(Mate.self)
    }
    try expectSound(garage)
  }

  /// A superclass may have the same key for a property of its own.
  @Test(arguments: Backend.engines, [true, false])
  func aSuperclassHasKeysOfItsOwn(_ backend: Backend, isIndexed: Bool) throws {
    let types: [any Codable.Type] = [Cattery.self]
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed, types: types)
    let (a, b) = (Mate(id: "a"), Mate(id: "b"))
    try garage.parkAll([
      Cattery(1, guest: a, cat: nil), Cattery(2, guest: a, cat: b), Cattery(3, guest: b, cat: a),
    ])
    func find<V: Codable>(_ property: KeyPath<Cattery, V>) throws -> [Int] {
      try garage.retrieveReferrers(Cattery.self, of: a, by: property).map(\.id)
    }
    #expect(try find(\.guest) == [1, 2] && find(\.cat) == [3])
    try garage.delete(Cattery.self, identifier: 1)
    #expect(try garage.retrieveAll(Mate.self).map(\.id) == ["a", "b"])
    try garage.delete(Cattery.self, identifier: 2)
    #expect(try garage.retrieveAll(Mate.self).map(\.id) == ["a"])
    try expectSound(garage)
  }

  /// Records of an older version have a property under its older name, or as something else.
  @Test(arguments: Backend.allCases, [true, false])
  func olderRecordsAreFound(_ backend: Backend, isIndexed: Bool) throws {
    let place = try Place(backend)
    let (a, b) = (Mate(id: "a"), Mate(id: "b"))
    let before = try backend.relations(place, isIndexed: isIndexed)
    try before.parkAll([OldCrew(id: 1, chief: a, second: b), OldCrew(id: 2, chief: b, second: a)])
    try before.close()
    let garage = try backend.relations(place, isIndexed: isIndexed)
    try garage.park(Crew(id: 3, boss: a, deputy: b))
    #expect(try garage.retrieveReferrers(Crew.self, of: a, by: \.boss).map(\.id) == [1, 3])
    #expect(try garage.retrieveReferrers(Crew.self, of: a, by: \.deputy).map(\.id) == [2])
    // A crew owns its deputy.
    try garage.delete(Crew.self, identifier: 2)
    #expect(try garage.retrieveAll(Mate.self).map(\.id) == ["b"])
    // One cannot be without a boss, whatever the property was called.
    try garage.park(a)
    #expect(throws: GarageError.self) { try garage.delete(a, referrers: .nullify) }
    try garage.delete(b, referrers: .nullify)
    #expect(try garage.retrieveAll(Crew.self).map { $0.deputy == nil } == [true, true])
    try expectSound(garage)
  }

  /// What an object owns that cannot be decoded is read from where the property stands, if that is known; else nothing goes.
  @Test(arguments: Backend.allCases)
  func undecodableObjectsAreDeleted(_ backend: Backend) throws {
    let place = try Place(backend)
    let (a, b) = (Mate(id: "a"), Mate(id: "b"))
    let before = try backend.relations(place, isIndexed: false)
    try before.parkAll([OldPatrol(id: 1, lead: a, spare: b), OldPatrol(id: 2, lead: a, spare: nil)])
    try before.delete(a, referrers: .leave)
    try before.park(Tandem(id: 1, need: a, left: b, right: nil))
    try before.delete(a, referrers: .leave)
    try before.close()
    let garage = try backend.relations(place, isIndexed: false)
    #expect(throws: (any Error).self) { try garage.retrieve(Patrol.self, identifier: 1) }
    let error = #expect(throws: GarageError.self) { try garage.delete(Tandem.self, identifier: 1) }
    #expect(error.map { "\($0)".contains("Owned(\"codingKey\"") } ?? false, "\(String(describing: error))")
    #expect(try garage.count(Tandem.self) == 1 && garage.count(Mate.self) == 1)
    try garage.delete(Patrol.self, identifier: 2)
    #expect(try garage.count(Mate.self) == 1)
    try garage.delete(Patrol.self, identifier: 1)
    #expect(try garage.count(Mate.self) == 0 && garage.count(Patrol.self) == 0)
  }

  /// Of what a newer program parked nobody knows what it owns: there the property's key may have another meaning.
  @Test(arguments: Backend.engines, [true, false])
  func whatIsNewerStays(_ backend: Backend, isIndexed: Bool) throws {
    let place = try Place(backend)
    let (a, b) = (Mate(id: "a"), Mate(id: "b"))
    let other = try backend.relations(place, isIndexed: isIndexed)
    try other.park(NewSentry(id: 1, spare: a, relief: b))
    try other.close()
    let garage = try backend.relations(place, isIndexed: isIndexed)
    let error = #expect(throws: GarageError.self) { try garage.delete(Sentry.self, identifier: 1) }
    guard case .newerTypeVersion? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(throws: GarageError.self) { try garage.deleteAll(Sentry.self) }
    #expect(try garage.count(Sentry.self) == 1 && garage.count(Mate.self) == 2)
    try garage.park(Sentry(id: 2, spare: b))
    try garage.delete(Sentry.self, identifier: 2)
    #expect(try garage.retrieveAll(Mate.self).map(\.id) == ["a"])
  }

  /// A wrapper of a generic type encodes a nil, and does not decode without.
  @Test(arguments: Backend.allCases, [true, false])
  func aNilStaysWhereOneIsAskedFor(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    let (a, b) = (Mate(id: "a"), Mate(id: "b"))
    try garage.parkAll([
      Locker(id: 1, owner: a, heir: b, bare: a), Locker(id: 2, owner: nil, heir: a, bare: b),
      Locker(id: 3, owner: b, heir: nil, bare: nil),
    ])
    try garage.delete(a, referrers: .nullify)
    #expect(
      try garage.retrieveAll(Locker.self) == [
        Locker(id: 1, owner: nil, heir: b, bare: nil), Locker(id: 2, owner: nil, heir: nil, bare: b),
        Locker(id: 3, owner: b, heir: nil, bare: nil),
      ])
    // An object that is gone is nil in the wrapper, too.
    try garage.delete(b, referrers: .leave)
    #expect(
      try garage.retrieveAll(Locker.self) == (1...3).map { Locker(id: $0, owner: nil, heir: nil, bare: nil) })
    try expectSound(garage)
  }

  /// Who needs a number of elements that he has no longer refuses: his objects stay readable.
  @Test(arguments: Backend.allCases, [true, false])
  func elementsThatAreNeededStay(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    let (a, b) = (Mate(id: "a"), Mate(id: "b"))
    try garage.park(Watch(id: 1, ends: Watch.Ends(from: a, to: b), members: [a, b]))
    func isRefused(_ mate: Mate) -> Bool {
      do {
        try garage.delete(mate, referrers: .nullify)
        return false
      } catch GarageError.stillReferredTo {
        return true
      } catch {
        Issue.record(error)
        return false
      }
    }
    #expect(isRefused(a) && isRefused(b))
    try garage.park(Watch(id: 1, ends: nil, members: [a, b]))
    #expect(!isRefused(a))
    #expect(try garage.retrieveAll(Watch.self) == [Watch(id: 1, ends: nil, members: [b])])
    // The last one is needed.
    #expect(isRefused(b))
    #expect(try garage.retrieveAll(Watch.self) == [Watch(id: 1, ends: nil, members: [b])])
    try expectSound(garage)
  }
}

private struct Mate: Codable, Identifiable, Hashable {
  var id: String
}

private class Vessel: Codable, Identifiable, DeleteRules {
  let id: Int
  var captain: Mate?
  var boats: [Mate] = []

  init(_ id: Int, captain: Mate?) { (self.id, self.captain) = (id, captain) }

  class var owned: [Owned<Vessel>] { [Owned(\.boats)] }
}

/// Has its superclass under a key of its own choice.
private final class Tug: Vessel {
  var pilot: Mate?

  init(_ id: Int, captain: Mate?, pilot: Mate?) {
    self.pilot = pilot
    super.init(id, captain: captain)
  }

  private enum CodingKeys: String, CodingKey { case pilot, vessel }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    pilot = try container.decodeIfPresent(Mate.self, forKey: .pilot)
    try super.init(from: container.superDecoder(forKey: .vessel))
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(pilot, forKey: .pilot)
    try super.encode(to: container.superEncoder(forKey: .vessel))
  }
}

/// Has what its superclass has beside its own.
private final class Barge: Vessel {
  var pilot: Mate?

  init(_ id: Int, captain: Mate?, pilot: Mate?) {
    self.pilot = pilot
    super.init(id, captain: captain)
  }

  private enum CodingKeys: String, CodingKey { case pilot = "the pilot" }

  required init(from decoder: any Decoder) throws {
    pilot = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Mate.self, forKey: .pilot)
    try super.init(from: decoder)
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(pilot, forKey: .pilot)
    try super.encode(to: encoder)
  }
}

private class Kennel: Codable, Identifiable {
  let id: Int
  var guest: Mate?

  init(_ id: Int, guest: Mate?) { (self.id, self.guest) = (id, guest) }
}

/// Has a key that its superclass has in a container of its own.
private final class Cattery: Kennel, DeleteRules {
  var cat: Mate?
  static var owned: [Owned<Cattery>] { [Owned(\.cat)] }

  init(_ id: Int, guest: Mate?, cat: Mate?) {
    self.cat = cat
    super.init(id, guest: guest)
  }

  private enum CodingKeys: String, CodingKey { case cat = "guest" }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    cat = try container.decodeIfPresent(Mate.self, forKey: .cat)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(cat, forKey: .cat)
    try super.encode(to: container.superEncoder())
  }
}

private struct OldCrew: Codable, Identifiable, TypeTagged {
  var id: Int
  var chief: Mate
  var second: Mate?
  static var typeTag: String { "crew of relations" }
}

private struct Crew: Codable, Identifiable, TypeTagged, Evolving, DeleteRules {
  var id: Int
  var boss: Mate
  var deputy: Mate?
  static var typeTag: String { "crew of relations" }
  static var propertyAliases: [String: [String]] { ["boss": ["chief"], "deputy": ["second"]] }
  static var owned: [Owned<Crew>] { [Owned(\.deputy)] }
}

private struct OldPatrol: Codable, Identifiable, TypeTagged {
  var id: Int
  var lead: Mate
  var spare: Mate?
  static var typeTag: String { "patrol of relations" }
}

private struct Patrol: Codable, Identifiable, TypeTagged, Evolving, DeleteRules {
  var id: Int
  var lead: Mate
  var spare: Mate?
  static var typeTag: String { "patrol of relations" }
  static var version: Int { 1 }
  static var owned: [Owned<Patrol>] { [Owned(\.spare)] }
}

private struct NewSentry: Codable, Identifiable, TypeTagged, Evolving {
  var id: Int
  var spare: Mate?
  var relief: Mate?
  static var typeTag: String { "sentry of relations" }
  static var version: Int { 2 }
}

private struct Sentry: Codable, Identifiable, TypeTagged, Evolving, DeleteRules {
  var id: Int
  var spare: Mate?
  static var typeTag: String { "sentry of relations" }
  static var version: Int { 1 }
  static var owned: [Owned<Sentry>] { [Owned("spare", \.spare)] }
}

/// Owns by a property that is stored nowhere.
private struct Tandem: Codable, Identifiable, DeleteRules {
  var id: Int
  var need: Mate
  var left: Mate?
  var right: Mate?
  var either: Mate? { left ?? right }
  static var owned: [Owned<Tandem>] { [Owned(\.either)] }
}

@propertyWrapper private struct Lasting<Value: Codable & Hashable>: Codable, Hashable {
  var wrappedValue: Value
}

/// Leaves no trace of itself.
@propertyWrapper private struct Bare<Value: Codable & Hashable>: Codable, Hashable {
  var wrappedValue: Value

  init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  init(from decoder: any Decoder) throws {
    wrappedValue = try decoder.singleValueContainer().decode(Value.self)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

private struct Locker: Codable, Identifiable, Hashable {
  var id: Int
  @Lasting var owner: Mate?
  @Lasting var heir: Mate?
  @Bare var bare: Mate?
}

private struct Watch: Codable, Identifiable, Hashable {
  /// Two elements, of which each has its meaning.
  struct Ends: Codable, Hashable {
    var (from, to): (Mate, Mate)

    init(from: Mate, to: Mate) { (self.from, self.to) = (from, to) }
    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      from = try container.decode(Mate.self)
      to = try container.decode(Mate.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(from)
      try container.encode(to)
    }
  }

  var id: Int
  var ends: Ends?
  var members: [Mate]

  init(id: Int, ends: Ends?, members: [Mate]) { (self.id, self.ends, self.members) = (id, ends, members) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    ends = try container.decodeIfPresent(Ends.self, forKey: .ends)
    members = try container.decode([Mate].self, forKey: .members)
    if members.isEmpty {
      throw DecodingError.dataCorruptedError(
        forKey: .members, in: container, debugDescription: "nobody is on watch")
    }
  }
}

import Testing

@testable import GarageStorage

/// Coding keys that are named for what an object owns. One that is wrong is told, and nothing goes or stays by mistake.
@Suite struct OwnedKeyTests {
  private func reason(_ delete: () throws -> Void) -> String? {
    do {
      try delete()
      return nil
    } catch GarageError.invalidQuery(_, let reason) {
      return reason
    } catch {
      Issue.record(error)
      return nil
    }
  }

  /// Where the library finds the property, and where its objects alone tell.
  @Test(arguments: Backend.engines, [true, false])
  func aKeyOfNoPropertyIsRefused(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    let (a, b) = (Hub(id: "a"), Hub(id: "b"))
    try garage.park(Misnamed(id: 1, hub: a, other: b))
    let misnamed = reason { try garage.delete(Misnamed.self, identifier: 1) }
    #expect(misnamed?.contains("Owned(\"hob\"") ?? false, "\(misnamed ?? "deleted")")
    #expect(misnamed?.contains("under \"hub\"") ?? false, "\(misnamed ?? "deleted")")
    try garage.park(Obscure(id: 1, hub: a, other: b))
    let obscure = reason { try garage.delete(Obscure.self, identifier: 1) }
    #expect(obscure?.contains("Owned(\"hob\"") ?? false, "\(obscure ?? "deleted")")
    #expect(try garage.count(Misnamed.self) == 1 && garage.count(Obscure.self) == 1)
    #expect(try garage.count(Hub.self) == 2)
    // Where it owns nothing no harm is done.
    try garage.park(Obscure(id: 2, hub: nil, other: b))
    try garage.delete(Obscure.self, identifier: 2)
    #expect(try garage.count(Hub.self) == 2)
  }

  @Test(arguments: Backend.engines)
  func anEmptyKeyIsRefused(_ backend: Backend) throws {
    let garage = try backend.relations(Place(backend), isIndexed: true)
    let (a, b) = (Hub(id: "a"), Hub(id: "b"))
    try garage.park(KeylessOwner(id: 1, hub: a, other: b))
    try garage.park(HalfNamed(id: 1, hub: a))
    #expect(reason { try garage.delete(KeylessOwner.self, identifier: 1) }?.contains("is empty") ?? false)
    #expect(reason { try garage.delete(HalfNamed.self, identifier: 1) }?.contains("is empty") ?? false)
    #expect(reason { try garage.deleteAll(KeylessOwner.self) } != nil)
    #expect(try garage.count(KeylessOwner.self) == 1 && garage.count(HalfNamed.self) == 1)
    #expect(try garage.count(Hub.self) == 2)
  }

  /// Keys that are right, also where nothing stands under them, and of properties that the library does not find.
  @Test(arguments: Backend.engines, [true, false])
  func keysThatAreRightStayRight(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    let (a, b) = (Hub(id: "a"), Hub(id: "b"))
    func left() throws -> [String] { try garage.retrieveAll(Hub.self).map(\.id) }
    for hub in [a, nil] {
      try garage.parkAll([a, b])
      try garage.park(PartNamed(id: 1, part: PartNamed.Part(hub: hub), other: b))
      try garage.delete(PartNamed.self, identifier: 1)
      #expect(try left() == (hub == nil ? ["a", "b"] : ["b"]))
      try garage.parkAll([a, b])
      try garage.park(Defaulted(id: 1, hub: hub, other: b))
      try garage.delete(Defaulted.self, identifier: 1)
      // What stands in for it is not owned.
      #expect(try left() == (hub == nil ? ["a", "b"] : ["b"]))
    }
    try garage.parkAll([a, b])
    let child = NamedChild(1)
    (child.hub, child.pet) = (a, b)
    try garage.park(child)
    try garage.delete(child)
    #expect(try left() == [])
  }
}

private struct Misnamed: Codable, Identifiable, DeleteRules {
  var id: Int
  var hub: Hub?
  var other: Hub
  static var owned: [Owned<Misnamed>] { [Owned("hob", \.hub)] }
}

/// Takes no other hubs than those that it has, so that none of it can be made up to find the property.
private struct Obscure: Codable, Identifiable, DeleteRules {
  var id: Int
  var hub: Hub?
  var other: Hub
  static var owned: [Owned<Obscure>] { [Owned("hob", \.hub)] }

  init(id: Int, hub: Hub?, other: Hub) { (self.id, self.hub, self.other) = (id, hub, other) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    hub = try container.decodeIfPresent(Hub.self, forKey: .hub)
    other = try container.decode(Hub.self, forKey: .other)
    if other.id != "b" || ![nil, "a"].contains(hub?.id) {
      throw DecodingError.dataCorruptedError(forKey: .hub, in: container, debugDescription: "no such hub")
    }
  }
}

private struct KeylessOwner: Codable, Identifiable, DeleteRules {
  var id: Int
  var hub: Hub?
  var other: Hub
  static var owned: [Owned<KeylessOwner>] { [Owned("", \.hub)] }
}

private struct HalfNamed: Codable, Identifiable, DeleteRules {
  var id: Int
  var hub: Hub?
  static var owned: [Owned<HalfNamed>] { [Owned("hub.", \.hub)] }
}

private struct PartNamed: Codable, Identifiable, DeleteRules {
  struct Part: Codable {
    var hub: Hub?
    var count = 1
  }
  var id: Int
  var part: Part
  var other: Hub
  static var owned: [Owned<PartNamed>] { [Owned("part.hub", \.part.hub)] }
}

/// Has another hub in place of one that it was not given.
private struct Defaulted: Codable, Identifiable, DeleteRules {
  var id: Int
  var hub: Hub?
  var other: Hub
  static var owned: [Owned<Defaulted>] { [Owned("hub", \.hub)] }

  init(id: Int, hub: Hub?, other: Hub) { (self.id, self.hub, self.other) = (id, hub, other) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    other = try container.decode(Hub.self, forKey: .other)
    hub = try container.decodeIfPresent(Hub.self, forKey: .hub) ?? other
  }
}

private class NamedParent: Codable, Identifiable {
  let id: Int
  var hub: Hub?
  init(_ id: Int) { self.id = id }
}

/// Its superclass writes into a container of its own.
private final class NamedChild: NamedParent, DeleteRules {
  var pet: Hub?
  static var owned: [Owned<NamedChild>] { [Owned("hub", \.hub), Owned("pet", \.pet)] }

  private enum CodingKeys: CodingKey { case pet }

  override init(_ id: Int) { super.init(id) }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    pet = try container.decodeIfPresent(Hub.self, forKey: .pet)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(pet, forKey: .pet)
    try super.encode(to: container.superEncoder())
  }
}

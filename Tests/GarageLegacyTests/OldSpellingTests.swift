import Foundation
import GarageDriver
import GarageLegacy
import GarageMemory
import GarageStorage
import Testing

// Code as apps on GarageStorage have it. That it compiles is half of the test.

/// Both protocols, as the old one asked for.
private final class OldPerson: MappableObject, SyncableObject {
  var name = ""
  var friends: [OldPerson] = []
  var syncStatus = SyncStatus.undetermined
  init() {}
  convenience init(_ name: String, _ status: SyncStatus = .undetermined) {
    self.init()
    (self.name, syncStatus) = (name, status)
  }
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping.mapping(for: OldPerson.self)
    mapping.addMappings(["name": \OldPerson.name, "friends": \OldPerson.friends])
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

private final class OldPet: MappableObject, Syncable {
  var name = ""
  var syncStatus = SyncStatus.undetermined
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: OldPet.self)
    mapping.add("name", \OldPet.name)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

/// The sync status came later.
private class OldAddress: MappableObject {
  var city = ""
  required init() {}
  class var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: OldAddress.self)
    mapping.add("city", \OldAddress.city)
    mapping.identifyingAttribute = "city"
    return mapping
  }
}
private final class OldSyncingAddress: OldAddress, SyncableObject {
  var syncStatus = SyncStatus.notSynced
}
extension OldLate: SyncableObject {}
private final class OldLate: MappableObject {
  var syncStatus = SyncStatus.undetermined
  init() {}
  static var objectMapping: ObjectMapping { ObjectMapping(for: OldLate.self) }
}

// `Mappable` in every place.
private struct OldNote: Mappable, Hashable {
  var id: String
  var text = ""
}
private struct OldTag: Codable, Mappable { var id: Int }
private struct OldList: Codable, Identifiable { var id: UUID }
extension OldList: Mappable {}
private final class OldBox: Mappable {
  var id = "box"
}
extension Mappable {
  fileprivate var label: String { "\(Self.self) \(id)" }
  fileprivate func park(in garage: Garage) throws { try garage.park(self) }
}
extension Mappable where ID == String {
  fileprivate static func find(_ id: String, in garage: Garage) throws -> Self? {
    try garage.retrieve(Self.self, identifier: id)
  }
}
private func store<T: Mappable>(_ object: T, _ garage: Garage) throws { try garage.park(object) }
private func storeAll(_ objects: [any Mappable], _ garage: Garage) throws { try garage.parkAll(any: objects) }

/// Types that were written for GarageStorage are parked and retrieved as they stand.
@Suite struct OldSpellingTests {
  private func garage() throws -> Garage {
    try Garage(
      MemoryStorage(),
      types: [OldPerson.self, OldPet.self, OldAddress.self, OldSyncingAddress.self, OldNote.self])
  }

  @Test func objectsWithAStatus() throws {
    let garage = try garage()
    let (sam, nick, rex) = (OldPerson("Sam", .syncing), OldPerson("Nick"), OldPet())
    rex.name = "Rex"
    try garage.parkObjects([nick, sam, rex])
    #expect(try garage.retrieveObjects(withStatus: .syncing).count == 1)
    #expect(try garage.retrieveObjects(withStatus: .undetermined).count == 2)
    // One, several of a class, several classes; known as their class, as mapped, as syncable.
    try garage.setSyncStatus(.notSynced, for: sam)
    try garage.setSyncStatus(.undetermined, for: [nick, sam])
    let mixed: [any MappableObject] = [nick, rex]
    try garage.setSyncStatus(.synced, for: mixed)
    try garage.setSyncStatus(.synced, for: [nick, rex])
    for object in mixed {
      #expect(try garage.syncStatus(for: object) == .synced)
      try garage.setSyncStatus(.syncing, for: object)
    }
    #expect(nick.syncStatus == .syncing)
    #expect(try garage.syncStatus(for: nick) == .syncing)
    let both: [any SyncableObject] = [nick, sam]
    for object in both { try garage.setSyncStatus(.syncing, for: object) }
    let any: any MappableObject & Syncable = sam
    try garage.setSyncStatus(.syncing, for: any)
    #expect(try garage.syncStatus(for: any) == .syncing)
    try garage.setSyncStatus(.syncing, for: sam as any Syncable)
    // What is found can be changed, parked and deleted.
    let found = try garage.retrieveObjects(withStatus: .syncing)
    #expect(found.count == 3)
    try garage.setSyncStatus(.synced, for: found)
    try garage.parkObjects(found)
    let syncables: [any Syncable] = try garage.retrieveObjects(withStatus: .synced)
    #expect(syncables.count == 3)
    for object in found {
      try garage.parkObject(object)
      try garage.deleteObject(object)
    }
    #expect(try garage.retrieveAllObjects(OldPerson.self).isEmpty)
    let classes: [any MappableObject.Type] = [OldPerson.self, OldPet.self]
    for type in classes { try garage.deleteAllObjects(type) }
  }

  @Test func classesWithAndWithoutAStatus() throws {
    let garage = try garage()
    let address = OldAddress()
    address.city = "Boston"
    let syncing = OldSyncingAddress()
    syncing.city = "Paris"
    try garage.parkObjects([address, syncing, OldPerson("Sam")])
    #expect(try garage.retrieveObjects(withStatus: .undetermined, ofClass: OldAddress.self).isEmpty)
    #expect(
      try garage.retrieveObjects(withStatus: .undetermined, ofClass: OldPerson.self).map(\.name) == ["Sam"])
    #expect(try garage.retrieveObjects(withStatus: .notSynced, ofClass: OldSyncingAddress.self).count == 1)
    for body in [
      { try garage.setSyncStatus(.synced, for: address) },
      { try garage.setSyncStatus(.synced, for: [address]) },
      { _ = try garage.syncStatus(for: address) },
    ] as [() throws -> Void] {
      #expect { try body() } throws: { $0 as? GarageError == .notSyncable("OldAddress") }
    }
    // Not parked: none is changed.
    let sam = OldPerson("Sam")
    #expect(throws: GarageError.self) { try garage.setSyncStatus(.synced, for: [sam, OldPerson("Nick")]) }
    #expect(throws: GarageError.self) {
      try garage.setSyncStatus(.synced, for: [sam, OldPet()] as [any MappableObject])
    }
    #expect(try garage.syncStatus(for: sam) == .undetermined)
  }

  @Test func mappableIsAProtocol() throws {
    let garage = try garage()
    try store(OldNote(id: "a", text: "one"), garage)
    try OldTag(id: 7).park(in: garage)
    try storeAll([OldList(id: UUID()), OldBox()], garage)
    #expect(OldTag(id: 7).label == "OldTag 7")
    #expect(try OldNote.find("a", in: garage)?.text == "one")
    #expect(try OldBox.find("box", in: garage) != nil)
    #expect(try garage.count(OldList.self) == 1)
  }

  /// As the guide says: a name with a slash is refused, by an error that says what to do, and a path takes its place.
  @Test func namesHaveNoFolders() throws {
    for name in ["A/B", "/A", "A/", "", "..", "."] {
      #expect { try Garage(named: name) } throws: { error in
        "\(error)".contains("open the storage at a path")
      }
    }
  }
}

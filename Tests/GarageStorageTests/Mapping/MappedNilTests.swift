import Foundation
import GarageStorage
import Testing

// What has a value in new objects, and had none when it was parked.

/// Of three releases: as it was, with a version, with other keys.
private protocol Flagged: MappableObject, TypeTagged {
  var name: String { get set }
  var flag: String? { get set }
}
extension Flagged {
  static var typeTag: String { "flagged, of mapped nils" }
}

private enum First {
  final class Boat: Flagged {
    var name = ""
    var flag: String? = "DE"
    var port: Quay? = Quay(id: "new")
    var tender: RowBoat? = RowBoat()
    init() {}
    static var objectMapping: ObjectMapping {
      let mapping = ObjectMapping(for: Boat.self)
      mapping.add("name", \Boat.name)
      mapping.add("flag", \Boat.flag)
      mapping.add("port", \Boat.port)
      mapping.add("tender", \Boat.tender)
      mapping.identifyingAttribute = "name"
      return mapping
    }
  }
}

private struct Quay: Codable, Identifiable, Equatable {
  var id: String
}

/// Without an identity.
private final class RowBoat: MappableObject {
  var oars: Int? = 2
  var colour: String? = "red"
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: RowBoat.self)
    mapping.add("oars", \RowBoat.oars)
    mapping.add("colour", \RowBoat.colour)
    return mapping
  }
}

private enum Second {
  final class Boat: Flagged, Evolving {
    static var version: Int { 1 }
    static func upgrade(_ value: inout RecordValue, from version: Int) throws { value["length"] = 12 }
    var name = ""
    var flag: String? = "DE"
    var length: Int? = 1
    /// Not known before.
    var crew: Int? = 4
    var tender: RowBoat? = RowBoat()
    init() {}
    static var objectMapping: ObjectMapping {
      let mapping = ObjectMapping(for: Boat.self)
      mapping.add("name", \Boat.name)
      mapping.add("length", \Boat.length)
      mapping.add("crew", \Boat.crew)
      mapping.add("flag", \Boat.flag)
      mapping.add("tender", \Boat.tender)
      mapping.identifyingAttribute = "name"
      return mapping
    }
  }
}

private enum Third {
  final class Boat: Flagged, Evolving {
    static var propertyAliases: [String: [String]] { ["ensign": ["flag"]] }
    var name = ""
    var flag: String? = "DE"
    init() {}
    static var objectMapping: ObjectMapping {
      let mapping = ObjectMapping(for: Boat.self)
      mapping.add("name", \Boat.name)
      mapping.add("ensign", \Boat.flag)
      mapping.identifyingAttribute = "name"
      return mapping
    }
  }
}

private enum Fourth {
  /// Listed as any value.
  final class Boat: Flagged {
    var name = ""
    var flag: String? = "DE"
    init() {}
    static var objectMapping: ObjectMapping {
      let mapping = ObjectMapping(for: Boat.self)
      mapping.addMappings(["name": \Boat.name, "flag": \Boat.flag])
      mapping.identifyingAttribute = "name"
      return mapping
    }
  }
}

/// A class and one that adds nothing to its mapping, which is made once for both.
private enum Common {
  class Boat: MappableObject {
    var name = ""
    var flag: String? = "DE"
    required init() {}
    nonisolated(unsafe) static let objectMapping: ObjectMapping = {
      let mapping = ObjectMapping(for: Common.Boat.self)
      mapping.add("name", \Common.Boat.name)
      mapping.add("flag", \Common.Boat.flag)
      return mapping
    }()
  }

  final class Raft: Boat {
    required init() {
      super.init()
      flag = nil
    }
  }
}

private enum Owner {
  struct Before: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "owner of mapped nils" }
    var id: Int
    var best: RowBoat
    var all: [RowBoat]
  }
  struct After: Codable, Identifiable, TypeTagged, Evolving {
    static var typeTag: String { "owner of mapped nils" }
    static var version: Int { 1 }
    static func upgrade(_ value: inout RecordValue, from version: Int) throws { value["note"] = "new" }
    var id: Int
    var best: RowBoat
    var all: [RowBoat]
    var note: String
  }
}

/// A property that was nil when its object was parked is nil again, whatever `init()` gives it.
@Suite struct MappedNilTests {
  private func boat(_ name: String, flag: String? = nil, port: Quay? = nil) -> First.Boat {
    let boat = First.Boat()
    (boat.name, boat.flag, boat.port) = (name, flag, port)
    boat.tender?.colour = nil
    return boat
  }

  private func dinghy(_ oars: Int?) -> RowBoat {
    let dinghy = RowBoat()
    dinghy.oars = oars
    return dinghy
  }

  @Test(arguments: Backend.allCases) func versionsDoNotBringItBack(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.parkAll([boat("a"), boat("b", flag: "FR")])
    func expectNils() throws {
      let found = try garage.retrieveAll(Second.Boat.self)
      #expect(found.map(\.flag) == [nil, "FR"])
      #expect(found.map(\.length) == [12, 12])
      // One that the record does not know.
      #expect(found.map(\.crew) == [4, 4])
      #expect(found.map { $0.tender?.colour } == [nil, nil] && found.map { $0.tender?.oars } == [2, 2])
    }
    try expectNils()
    try garage.migrateAll(Second.Boat.self)
    garage = try place.reopened(garage)
    try expectNils()
    #expect(try garage.verify().isSound)
  }

  @Test(arguments: Backend.allCases) func othersAroundItDoNotBringItBack(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.park(Owner.Before(id: 1, best: dinghy(nil), all: [dinghy(3), dinghy(nil)]))
    for _ in 0..<2 {
      let found = try #require(try garage.retrieve(Owner.After.self, identifier: 1))
      #expect(found.note == "new" && found.best.oars == nil && found.all.map(\.oars) == [3, nil])
      try garage.migrateAll(Owner.After.self)
      garage = try place.reopened(garage)
    }
  }

  @Test(arguments: Backend.allCases) func otherKeysDoNotBringItBack(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([boat("a"), boat("b", flag: "FR")])
    #expect(try garage.retrieveAll(Third.Boat.self).map(\.flag) == [nil, "FR"])
    try garage.migrateAll(Third.Boat.self)
    #expect(try garage.retrieveAll(Third.Boat.self).map(\.flag) == [nil, "FR"])
  }

  @Test(arguments: Backend.allCases) func norDoesAnotherWayToListIt(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([boat("a"), boat("b", flag: "FR")])
    #expect(try garage.retrieveAll(Fourth.Boat.self).map(\.flag) == [nil, "FR"])
  }

  /// Records that are written again without being decoded.
  @Test(arguments: Backend.allCases) func storedChangesDoNotBringItBack(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (left, kept) = (Quay(id: "left"), Quay(id: "kept"))
    try garage.parkAll([boat("a", port: left), boat("b", flag: "FR", port: left), boat("c", port: kept)])
    try garage.delete(left, referrers: .nullify)
    func expect(_ flags: [String?], _ ports: [String?]) throws {
      garage = try place.reopened(garage)
      let found = try garage.retrieveAll(First.Boat.self)
      #expect(found.map(\.flag) == flags && found.map { $0.port?.id } == ports)
      #expect(found.allSatisfy { $0.tender?.colour == nil && $0.tender?.oars == 2 })
      #expect(try garage.verify().isSound)
    }
    try expect([nil, "FR", nil], [nil, nil, "kept"])
    let type = try #require(try garage.typeNames().keys.first { $0.contains("flagged") })
    let identifiers = try garage.identifiers(ofTypeNamed: type, limit: 10)
    for identifier in identifiers {
      try garage.changeStoredObject(ofTypeNamed: type, identifier: identifier) { $0["added"] = 1 }
    }
    try expect([nil, "FR", nil], [nil, nil, "kept"])
    // A key that is taken out has no value; one that is given a value has it.
    try garage.changeStoredObject(ofTypeNamed: type, identifier: identifiers[1]) { $0.remove("flag") }
    try garage.changeStoredObject(ofTypeNamed: type, identifier: identifiers[2]) { $0["flag"] = "IT" }
    try expect([nil, nil, "IT"], [nil, nil, "kept"])
  }

  @Test func otherCodersDoNotBringItBack() throws {
    let data = try JSONEncoder().encode(boat("a", port: Quay(id: "p")))
    let found = try JSONDecoder().decode(First.Boat.self, from: data)
    #expect(found.flag == nil && found.port?.id == "p" && found.tender?.colour == nil)
    #expect(found.tender?.oars == 2)
  }

  /// What new objects have is another thing in a subclass, also where it has its superclass's mapping.
  @Test func otherCodersTellClassesApart() throws {
    func again<B: Common.Boat>(_ boat: B) throws -> B {
      try JSONDecoder().decode(B.self, from: JSONEncoder().encode(boat))
    }
    #expect(try again(Common.Raft()).flag == nil)
    let boat = Common.Boat()
    boat.flag = nil
    #expect(try again(boat).flag == nil)
    let raft = Common.Raft()
    raft.flag = "FR"
    #expect(try again(raft).flag == "FR")
  }
}

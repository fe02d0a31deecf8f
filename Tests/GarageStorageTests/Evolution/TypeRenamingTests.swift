import Foundation
import GarageDriver
import GarageStorage
import Testing

private struct ShipBefore: Codable, Identifiable, TypeTagged, Equatable {
  static var typeTag: String { "GarageStorageTests.OldShip" }
  var id: String
  var sister: Reference<ShipBefore>?
}
private struct Ship: Codable, Identifiable, TypeTagged, Equatable {
  static var typeTag: String { "renaming.ship" }
  var id: String
  var sister: Reference<Ship>?
}
private struct FleetBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "renaming.fleet" }
  var id: Int
  var ships: [ShipBefore]
}
private struct FleetNow: Codable, Identifiable, TypeTagged, Equatable {
  static var typeTag: String { "renaming.fleet" }
  var id: Int
  var ships: [Ship]
}

private class RenamedBase: Codable, Identifiable, TypeTagged {
  class var typeTag: String { "renaming.base" }
  var id: Int
  init(_ id: Int) { self.id = id }
}
private final class RenamedOld: RenamedBase { override class var typeTag: String { "renaming.sub.old" } }
private final class RenamedNew: RenamedBase { override class var typeTag: String { "renaming.sub.new" } }

@Suite struct TypeRenamingTests {
  @Test(arguments: Backend.allCases) func valuesOfTypedKeysReferToTheNewName(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let before = Key<GlobalNamespace, ShipBefore?>(id: "flagship", defaultValue: nil)
    let now = Key<GlobalNamespace, Ship?>(id: "flagship", defaultValue: nil)
    try garage.set(before, value: ShipBefore(id: "queen"))
    #expect(try garage.migrateAll(from: ShipBefore.self, to: Ship.self).updatedReferences == 1)
    #expect(try place.reopened(garage).get(now)?.id == "queen")
  }

  @Test(arguments: Backend.allCases) func everythingUnderAnOldNameMoves(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let long = String(repeating: "long", count: 100)
    let ships = (0..<600).map { ShipBefore(id: "s\($0)") } + [ShipBefore(id: long)]
    try garage.parkAll(ships)
    let queen = ShipBefore(id: "queen", sister: Reference(ShipBefore.self, identifier: "s1"))
    try garage.park(FleetBefore(id: 1, ships: [queen, ships[0], ships[600]]))
    #expect(try garage.count(Ship.self) == 0)
    // The name without its module is found.
    let report = try garage.migrateAll(fromOldClassName: "OldShip", to: Ship.self)
    #expect(report.rewritten == 602 && report.updatedReferences == 1 && report.failedCount == 0, "\(report)")
    garage = try place.reopened(garage)
    #expect(try garage.count(Ship.self) == 602 && garage.count(ShipBefore.self) == 0)
    let fleet = try #require(try garage.retrieve(FleetNow.self, identifier: 1))
    #expect(fleet.ships.map(\.id) == ["queen", "s0", long])
    #expect(try garage.retrieve(#require(fleet.ships[0].sister))?.id == "s1")
    #expect(try garage.migrateAll(from: ShipBefore.self, to: Ship.self).rewritten == 0)
  }

  @Test(arguments: Backend.allCases) func anIdentifierUnderBothNames(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll((0..<300).map { ShipBefore(id: "s\($0)") })
    try garage.park(Ship(id: "s299"))
    try garage.park(FleetBefore(id: 1, ships: [ShipBefore(id: "s1")]))
    let before = try Driver.contents(place.open())
    let error = GarageError.identifierConflict(
      type: "Ship", identifier: "s299", oldName: "GarageStorageTests.OldShip")
    #expect(throws: error) { try garage.migrateAll(from: ShipBefore.self, to: Ship.self) }
    #expect("\(error)".contains("s299"))
    #expect(try Driver.contents(place.open()) == before)
  }

  @Test(arguments: Backend.allCases) func subclasses(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage([RenamedNew.self])
    try garage.park(RenamedBase(1))
    try garage.park(RenamedOld(2))
    let report = try garage.migrateAll(from: RenamedOld.self, to: RenamedNew.self)
    #expect(report.rewritten == 1 && report.updatedReferences == 0)
    let all = try garage.retrieveAll(RenamedBase.self)
    #expect(all.map(\.id) == [1, 2] && all[1] is RenamedNew)
    // One that became the topmost class, and one that would have to leave its superclass.
    try garage.park(RenamedOld(3))
    #expect(try garage.migrateAll(from: RenamedOld.self, to: RenamedBase.self).rewritten == 1)
    #expect(try garage.retrieve(RenamedBase.self, identifier: 3) != nil)
    try garage.park(RenamedOld(4))
    #expect(throws: GarageError.self) { try garage.migrateAll(from: RenamedOld.self, to: Ship.self) }
  }

  @Test(arguments: Backend.allCases) func damagedRecordsStayAndAreReported(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.parkAll((0..<3).map { ShipBefore(id: "s\($0)") })
    try garage.close()
    let driver = try place.open()
    let record = try #require(try Driver.contents(driver, .prefix([0x10])).sorted { $0.key < $1.key }.first)
    try Driver.put(Array(record.value.dropLast()) + [0xFF], for: record.key.bytes, driver)
    garage = try Garage(driver)
    let report = try garage.migrateAll(from: ShipBefore.self, to: Ship.self)
    #expect(report.rewritten == 2 && report.failed.map(\.identifier) == ["s0"])
    #expect(try garage.retrieveAll(Ship.self).map(\.id) == ["s1", "s2"])
  }
}

import Foundation
import GarageDriver
import Testing

@testable import GarageStorage

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

private struct BerthBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "renaming.berth.old" }
  var id: Int, code: String
}
private struct Berth: Codable, Identifiable, Indexed, TypeTagged {
  static var typeTag: String { "renaming.berth" }
  static var indexes: [Index<Berth>] { [Index(\.code, .unique, .hashed)] }
  var id: Int, code: String
}

private class RenamedBase: Codable, Identifiable, TypeTagged {
  class var typeTag: String { "renaming.base" }
  var id: Int
  init(_ id: Int) { self.id = id }
}
private final class RenamedOld: RenamedBase { override class var typeTag: String { "renaming.sub.old" } }
private final class RenamedNew: RenamedBase { override class var typeTag: String { "renaming.sub.new" } }

/// A class that stands alone, and the same when it has a superclass.
private final class HuntingHoundBefore: Codable, Identifiable, Syncable, TypeTagged {
  static var typeTag: String { "renaming.hound" }
  var id: Int
  var syncStatus = SyncStatus.notSynced
  init(_ id: Int) { self.id = id }
}
private class HuntingBeast: Codable, Identifiable, Syncable, TypeTagged {
  class var typeTag: String { "renaming.beast" }
  var id: Int
  var syncStatus = SyncStatus.notSynced
  init(_ id: Int) { self.id = id }
}
private final class HuntingHound: HuntingBeast { override class var typeTag: String { "renaming.hound" } }
private struct HuntingKennelBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "renaming.kennel" }
  var id: Int, hound: HuntingHoundBefore, other: Reference<HuntingHoundBefore>
}
private struct HuntingKennel: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "renaming.kennel" }
  var id: Int, hound: HuntingHound, other: Reference<HuntingHound>
}

/// A type under its old name, under the new one with the old one as a former tag, and without that.
private struct BuoyBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "renaming.buoy.old" }
  var id: Int
}
private struct BuoyBetween: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "renaming.buoy" }
  static var formerTypeTags: [String] { ["renaming.buoy.old"] }
  var id: Int
}
private struct Buoy: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "renaming.buoy" }
  var id: Int
}
private struct ChannelBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "renaming.channel" }
  var id: Int, buoys: [BuoyBefore]
}
private struct Channel: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "renaming.channel" }
  var id: Int, buoys: [Buoy]
}

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

  /// What was just an object of the topmost class becomes one of a subclass; those of others stay what they are.
  @Test(arguments: Backend.allCases) func theTopmostClassBecomesASubclass(_ backend: Backend) throws {
    let garage = try Place(backend).garage([RenamedOld.self, RenamedNew.self])
    try garage.parkAll([RenamedBase(1), RenamedOld(2), RenamedBase(3)])
    #expect(try garage.migrateAll(from: RenamedBase.self, to: RenamedNew.self).rewritten == 2)
    #expect(try garage.retrieveAll(RenamedNew.self).map(\.id) == [1, 3])
    #expect(try garage.retrieve(RenamedBase.self, identifier: 2) is RenamedOld)
    #expect(try garage.migrateAll(from: RenamedBase.self, to: RenamedNew.self).rewritten == 0)
  }

  /// `migrateAll` of the type moves its records. What refers to them needs the former tag until it is changed, too.
  @Test(arguments: Backend.allCases) func aFormerTagGoesInTwoSteps(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(ChannelBefore(id: 1, buoys: [BuoyBefore(id: 1), BuoyBefore(id: 2)]))
    let before = Key<GlobalNamespace, BuoyBefore?>(id: "buoy", defaultValue: nil)
    let now = Key<GlobalNamespace, Buoy?>(id: "buoy", defaultValue: nil)
    try garage.set(before, value: BuoyBefore(id: 3))
    #expect(try garage.migrateAll(BuoyBetween.self).rewritten == 3)
    let report = try garage.migrateAll(fromOldClassName: "renaming.buoy.old", to: Buoy.self)
    #expect(report.rewritten == 0 && report.updatedReferences == 2 && report.failedCount == 0, "\(report)")
    #expect(try garage.retrieve(Channel.self, identifier: 1)?.buoys.map(\.id) == [1, 2])
    #expect(try garage.get(now)?.id == 3)
  }

  /// A class that gets a superclass shares that one's identifiers: its objects, and what refers to them, move there.
  @Test(arguments: Backend.allCases) func aClassGetsASuperclass(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage([HuntingHound.self])
    try garage.parkAll([HuntingHoundBefore(1), HuntingHoundBefore(2)])
    let other = Reference(HuntingHoundBefore.self, identifier: 1)
    try garage.park(HuntingKennelBefore(id: 1, hound: HuntingHoundBefore(3), other: other))
    let before = Key<GlobalNamespace, Reference<HuntingHoundBefore>?>(id: "hound", defaultValue: nil)
    try garage.set(before, value: other)
    try garage.park(HuntingBeast(4))
    try garage.park(HuntingHound(5))
    #expect(try garage.retrieveAll(HuntingBeast.self).map(\.id) == [4, 5])
    for isFirst in [true, false] {
      let report = try garage.migrateAll(from: HuntingHound.self, to: HuntingHound.self)
      #expect(
        report.rewritten == (isFirst ? 3 : 0) && report.updatedReferences == (isFirst ? 2 : 0), "\(report)")
      #expect(report.failedCount == 0, "\(report)")
    }
    garage = try place.reopened(garage, [HuntingHound.self])
    #expect(try garage.retrieveAll(HuntingHound.self).map(\.id) == [1, 2, 3, 5])
    #expect(try garage.retrieveAll(HuntingHound.self, withStatus: .notSynced).map(\.id) == [1, 2, 3, 5])
    let all = try garage.retrieveAll(HuntingBeast.self)
    #expect(all.map(\.id) == [1, 2, 3, 4, 5] && all[0] is HuntingHound && !(all[3] is HuntingHound))
    let kennel = try #require(try garage.retrieve(HuntingKennel.self, identifier: 1))
    #expect(kennel.hound.id == 3)
    #expect(try garage.retrieve(kennel.other)?.id == 1)
    let now = Key<GlobalNamespace, Reference<HuntingHound>?>(id: "hound", defaultValue: nil)
    #expect(try garage.retrieve(#require(try garage.get(now)))?.id == 1)
    #expect(try garage.typeNames()["renaming.hound"] == nil)
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

  private func ship(_ id: Int, sister: Int) -> ShipBefore {
    ShipBefore(id: "s\(id)", sister: Reference(ShipBefore.self, identifier: "s\(sister)"))
  }

  /// References to a record that could not move lead to it, and move with it when it was mended.
  @Test(arguments: Backend.allCases) func whatRefersToWhatStaysKeepsTheOldName(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let ships = [ship(0, sister: 1), ship(1, sister: 2), ship(2, sister: 0)]
    try garage.parkAll(ships)
    try garage.park(FleetBefore(id: 1, ships: ships))
    let before = Key<GlobalNamespace, Reference<ShipBefore>?>(id: "flagship", defaultValue: nil)
    let now = Key<GlobalNamespace, Reference<Ship>?>(id: "flagship", defaultValue: nil)
    try garage.set(before, value: Reference(ShipBefore.self, identifier: "s0"))
    try garage.close()
    let driver = try place.open()
    let record = try #require(
      try Driver.contents(driver, .prefix([0x10])).first { $0.key.bytes.suffix(2) == Array("s0".utf8)[...] })
    try Driver.put(Array(record.value.dropLast()) + [0xFF], for: record.key.bytes, driver)
    garage = try Garage(driver)
    var report = try garage.migrateAll(from: ShipBefore.self, to: Ship.self)
    #expect(report.rewritten == 2 && report.updatedReferences == 1, "\(report)")
    #expect(report.failed.map(\.identifier) == ["s0"])
    try Driver.put(record.value, for: record.key.bytes, driver)
    let referrers = try garage.referrers(of: ShipBefore.self, identifier: "s0")
    #expect(Set(referrers.map(\.identifier.description)) == ["1", "s2"])
    #expect(try garage.retrieve(#require(try garage.get(before)))?.id == "s0")
    report = try garage.migrateAll(from: ShipBefore.self, to: Ship.self)
    #expect(report.rewritten == 1 && report.updatedReferences == 3 && report.failedCount == 0, "\(report)")
    garage = try Garage(driver)
    let fleet = try #require(try garage.retrieve(FleetNow.self, identifier: 1))
    #expect(fleet.ships.map(\.id) == ["s0", "s1", "s2"])
    #expect(try fleet.ships.map { try garage.retrieve(#require($0.sister))?.id } == ["s1", "s2", "s0"])
    #expect(try garage.retrieve(#require(try garage.get(now)))?.id == "s0")
  }

  @Test(arguments: Backend.allCases) func whatAUniqueIndexForbidsChangesNothing(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll([1, 2, 3].map { BerthBefore(id: $0, code: "b\($0)") })
    try garage.park(Berth(id: 4, code: "b2"))
    let key = Key<GlobalNamespace, Reference<BerthBefore>?>(id: "berth", defaultValue: nil)
    try garage.set(key, value: Reference(BerthBefore.self, identifier: 2))
    let before = try Driver.contents(place.open())
    let error = #expect(throws: GarageError.self) {
      try garage.migrateAll(from: BerthBefore.self, to: Berth.self)
    }
    guard case .notUnique? = error else { throw try #require(error) }
    #expect(try Driver.contents(place.open()) == before)
    #expect(try garage.retrieve(#require(try garage.get(key)))?.code == "b2")
    try garage.park(Berth(id: 4, code: "b4"))
    let report = try garage.migrateAll(from: BerthBefore.self, to: Berth.self)
    #expect(report.rewritten == 3 && report.updatedReferences == 1 && report.failedCount == 0, "\(report)")
    #expect(try garage.verifyIndexes().isSound)
  }

  /// Values whose seal does not open stand in nobody's way.
  @Test func whatDoesNotOpenIsReported() throws {
    let place = try Place(.sealedSQLite)
    var garage = try place.garage()
    func added(_ range: StorageKeyRange, _ body: () throws -> Void) throws -> [StorageKey: [UInt8]] {
      let before = try Driver.contents(place.openBase(), range)
      try body()
      return try Driver.contents(place.openBase(), range).filter { before[$0.key] == nil }
    }
    try garage.parkAll((1..<4).map { ship($0, sister: 0) })
    let flagship = Key<GlobalNamespace, Reference<ShipBefore>?>(id: "flagship", defaultValue: nil)
    let other = Key<GlobalNamespace, Reference<ShipBefore>?>(id: "other", defaultValue: nil)
    try garage.park(FleetBefore(id: 1, ships: [ship(1, sister: 0)]))
    try garage.set(flagship, value: Reference(ShipBefore.self, identifier: "s1"))
    var damaged = try added(KeyLayout.allRecords) {
      try garage.park(ship(0, sister: 1))
      try garage.park(FleetBefore(id: 2, ships: [ship(1, sister: 0)]))
    }
    damaged.merge(
      try added(KeyLayout.allValues) {
        try garage.set(other, value: Reference(ShipBefore.self, identifier: "s1"))
      }
    ) { $1 }
    try garage.close()
    #expect(damaged.count == 3)
    let base = try place.openBase()
    for (key, value) in damaged { try Driver.put(value.dropLast() + [value.last! ^ 1], for: key.bytes, base) }
    garage = try place.garage()
    for isFirst in [true, false] {
      let report = try garage.migrateAll(from: ShipBefore.self, to: Ship.self)
      // The first fleet, the flagship, and no moved one: the record that they refer to stays.
      #expect(
        report.rewritten == (isFirst ? 3 : 0) && report.updatedReferences == (isFirst ? 2 : 0), "\(report)")
      #expect(Set(report.failed.map(\.identifier)).isSuperset(of: ["s0", "2"]))
      #expect(Set(report.failed.map(\.type)) == ["Ship", "key"] && report.failedCount == 3)
    }
    #expect(try garage.retrieve(FleetNow.self, identifier: 1)?.ships.map(\.id) == ["s1"])
  }
}

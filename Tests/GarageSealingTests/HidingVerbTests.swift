import Foundation
import GarageDriver
import GarageSealing
import GarageStorage
import InsecureSealer
import Synchronization
import Testing

private struct OldHiddenShip: Codable, Identifiable, Equatable, TypeTagged {
  static var typeTag: String { "hiding.old ship" }
  var id: String
  var sister: Reference<OldHiddenShip>?
}
private struct HiddenShip: Codable, Identifiable, Equatable, TypeTagged {
  static var typeTag: String { "hiding.ship" }
  static let formerTypeTags = ["hiding.former ship"]
  var id: String
  var sister: Reference<HiddenShip>?
}
private struct FormerHiddenShip: Codable, Identifiable, TypeTagged, Syncable {
  static var typeTag: String { "hiding.former ship" }
  var id: String
  var syncStatus = SyncStatus.synced
}
private struct HiddenFleet: Codable, Identifiable, Equatable, TypeTagged {
  static var typeTag: String { "hiding.fleet" }
  var id: String
  var ships: [OldHiddenShip]
}
private struct HiddenFleetNow: Codable, Identifiable, Equatable, TypeTagged {
  static var typeTag: String { "hiding.fleet" }
  var id: String
  var ships: [HiddenShip]
}
private struct HiddenCityBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "hiding.city" }
  var id: String
}
private struct HiddenCity: Evolving, Identifiable, Equatable, TypeTagged {
  static var typeTag: String { "hiding.city" }
  static var prototype: HiddenCity? { HiddenCity(id: "", size: 9) }
  var id: String
  var size: Int
}

/// Every verb that takes an identifier, or finds one, works in a garage that hides them.
@Suite struct HidingVerbTests {
  private func hidden(_ place: SealedPlace, types: [any Codable.Type] = []) throws -> Garage {
    try Garage(place.sealed(), types: types, hidesIdentifiers: true)
  }

  @Test(arguments: SealedBase.allCases)
  func parkingRetrievingDeleting(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    var garage = try hidden(place)
    try Hidden.park(in: garage)
    try garage.close()
    garage = try hidden(place)
    let people = Hidden.people(300) + [HiddenPerson(id: Hidden.long)]
    let all = try garage.retrieveAll(HiddenPerson.self)
    #expect(all.sorted { $0.id < $1.id } == people.sorted { $0.id < $1.id })
    // In no order that says anything, but always in the same.
    #expect(all.map(\.id) != all.map(\.id).sorted())
    var visited: [HiddenPerson] = []
    try garage.forEach(HiddenPerson.self) { visited.append($0) }
    #expect(visited == all)
    for person in people { #expect(try garage.retrieve(HiddenPerson.self, identifier: person.id) == person) }
    #expect(try garage.retrieve(HiddenPerson.self, identifier: "nobody") == nil)
    #expect(try garage.contains(HiddenPerson.self, identifier: Hidden.long))
    #expect(try !garage.contains(HiddenPerson.self, identifier: Hidden.long + "er"))
    #expect(try garage.count(HiddenPerson.self) == 301)

    #expect(try garage.retrieve(HiddenPet.self, identifier: Hidden.uuid) != nil)
    #expect(try garage.retrieve(HiddenPet.self, identifier: Hidden.uuid.uuidString) != nil)
    #expect(try garage.retrieve(HiddenVisit.self, identifier: Hidden.date) == HiddenVisit(id: Hidden.date))
    let trip = HiddenTrip.ID(from: Hidden.mark, to: "there")
    #expect(try garage.retrieve(HiddenTrip.self, identifier: trip)?.id == trip)
    let identifier = try garage.identifier(for: Hidden.place)
    #expect(try garage.retrieve(HiddenPlace.self, identifier: identifier) == Hidden.place)
    let boat = try #require(try garage.retrieve(HiddenBoat.self, identifier: Hidden.mark))
    #expect(boat.captain === boat)
    boat.captain = nil

    // Parking again replaces.
    try garage.park(HiddenPerson(id: Hidden.long, age: 77))
    #expect(try garage.retrieve(HiddenPerson.self, identifier: Hidden.long)?.age == 77)
    try garage.delete(HiddenPerson.self, identifier: Hidden.long)
    try garage.delete(people[5])
    try garage.delete(Hidden.place)
    try garage.delete(boat)
    #expect(throws: GarageError.failedToRetrieveObject("HiddenPerson", Hidden.long)) {
      try garage.delete(HiddenPerson.self, identifier: Hidden.long)
    }
    #expect(try garage.count(HiddenPerson.self) == 299 && garage.count(HiddenPlace.self) == 0)
    try garage.deleteAll(HiddenPerson.self)
    #expect(try garage.retrieveAll(HiddenPerson.self).isEmpty)
    #expect(try garage.retrieveAll(HiddenPerson.self, withStatus: .synced).isEmpty)
    try garage.deleteAllObjects()
    #expect(try place.plain().keys().allSatisfy { $0.bytes[0] < 0x10 })
    // The setting stays.
    try garage.park(HiddenPerson(id: "again"))
    #expect(try hidden(place).retrieve(HiddenPerson.self, identifier: "again") != nil)
  }

  @Test(arguments: SealedBase.allCases)
  func referencesCyclesAndClasses(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    var garage = try hidden(place, types: [HiddenDog.self])
    let nodes = (0..<200).map { HiddenNode("node \($0)" + String(repeating: "x", count: $0 * 2)) }
    for (number, node) in nodes.enumerated() { node.next = nodes[(number + 1) % nodes.count] }
    try garage.park(nodes[0])
    for node in nodes { node.next = nil }
    try garage.parkAll([HiddenAnimal("cow"), HiddenDog("rex")])
    try garage.close()
    garage = try hidden(place, types: [HiddenDog.self])
    let first = try #require(try garage.retrieve(HiddenNode.self, identifier: "node 0"))
    var node = first
    for _ in 0..<199 { node = try #require(node.next) }
    #expect(node.next === first)
    node.next = nil
    #expect(try garage.retrieve(Reference(HiddenNode.self, identifier: nodes[150].id))?.id == nodes[150].id)
    let all = try garage.retrieveAll(HiddenNode.self)
    #expect(all.count == 200)
    for node in all { node.next = nil }
    let animals = try garage.retrieveAll(HiddenAnimal.self)
    #expect(Set(animals.map(\.id)) == ["cow", "rex"])
    #expect(animals.filter { $0 is HiddenDog }.map(\.id) == ["rex"])
    #expect(try garage.count(HiddenDog.self) == 1)
    #expect(try !garage.contains(HiddenDog.self, identifier: "cow"))
    try garage.deleteAll(HiddenDog.self)
    #expect(try garage.retrieveAll(HiddenAnimal.self).map(\.id) == ["cow"])
    // A missing class is named, and so is its object.
    try garage.park(HiddenDog("rex"))
    try garage.close()
    let stranger = try hidden(place)
    for verb in [
      { _ = try stranger.count(HiddenCat.self) }, { _ = try stranger.retrieveAll(HiddenAnimal.self) },
    ] {
      #expect {
        try verb()
      } throws: { error in
        guard case .unregisteredClass(_, _, let id)? = error as? GarageError else { return false }
        return id == "rex"
      }
    }
  }

  @Test(arguments: SealedBase.allCases)
  func syncStatuses(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    var garage = try hidden(place, types: [HiddenPerson.self])
    try garage.parkAll(Hidden.people(40))
    try garage.park(HiddenPerson(id: Hidden.long, syncStatus: .syncing))
    #expect(try garage.retrieveAll(HiddenPerson.self, withStatus: .syncing).count == 11)
    let waiting = try garage.retrieveAll(HiddenPerson.self, withStatus: .notSynced)
    try garage.setSyncStatus(.syncing, for: waiting)
    try garage.close()
    garage = try hidden(place, types: [HiddenPerson.self])
    #expect(try garage.retrieveAll(HiddenPerson.self, withStatus: .notSynced).isEmpty)
    #expect(try garage.retrieveAll(withStatus: .syncing).count == 21)
    #expect(try garage.syncStatus(for: waiting[3]) == .syncing)
    #expect(throws: GarageError.failedToRetrieveObject("HiddenPerson", "nobody")) {
      try garage.setSyncStatus(.synced, for: waiting + [HiddenPerson(id: "nobody")])
    }
    #expect(try garage.retrieveAll(HiddenPerson.self, withStatus: .synced).count == 10)
    try garage.delete(HiddenPerson.self, identifier: Hidden.long)
    #expect(try garage.retrieveAll(HiddenPerson.self, withStatus: .syncing).count == 20)
    let entries = try place.plain().keys().filter { $0.bytes[0] == 0x21 }
    #expect(entries.count == 40)
  }

  @Test(arguments: SealedBase.allCases)
  func transactionsUnsavedChangesAndKeys(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    let garage = try hidden(place)
    try garage.parkAll(Hidden.people(10))
    garage.isAutosaveEnabled = false
    try garage.park(HiddenPerson(id: "unsaved", age: 5, syncStatus: .synced))
    try garage.delete(HiddenPerson.self, identifier: "\(Hidden.mark)-3")
    #expect(try garage.count(HiddenPerson.self) == 10)
    #expect(try garage.retrieveAll(HiddenPerson.self, withStatus: .synced).map(\.age).sorted() == [5, 7])
    #expect(try hidden(place).count(HiddenPerson.self) == 10)
    #expect(try hidden(place).retrieve(HiddenPerson.self, identifier: "unsaved") == nil)
    try garage.save()
    garage.isAutosaveEnabled = true
    #expect(try hidden(place).retrieve(HiddenPerson.self, identifier: "unsaved")?.age == 5)

    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try garage.write { writer in
        try writer.forEach(HiddenPerson.self) { try writer.delete($0) }
        let count = try writer.count(HiddenPerson.self)
        #expect(count == 0)
        throw Stop()
      }
    }
    #expect(try garage.read { try $0.count(HiddenPerson.self) } == 10)
    let favourite = Key<GlobalNamespace, HiddenPerson?>(id: "favourite", defaultValue: nil)
    try garage.set(favourite, value: HiddenPerson(id: "kept", age: 3))
    #expect(try garage.get(favourite)?.age == 3)
    #expect(try garage.retrieve(HiddenPerson.self, identifier: "kept")?.age == 3)
    try garage.delete(HiddenPerson.self, identifier: "kept")
    #expect(try garage.get(favourite) == nil)
  }

  @Test(arguments: SealedBase.allCases)
  func migrationAndRenaming(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    var garage = try hidden(place)
    try garage.parkAll(
      (0..<300).map { HiddenCityBefore(id: "city \($0)") } + [HiddenCityBefore(id: Hidden.long)])
    #expect(try garage.migrateAll(HiddenCity.self).rewritten == 301)
    #expect(try garage.migrateAll(HiddenCity.self).unchanged == 301)
    #expect(try garage.retrieve(HiddenCity.self, identifier: Hidden.long)?.size == 9)

    // Records under a former tag, among those under the present one, and before them where both are there.
    try garage.parkAll((0..<40).map { FormerHiddenShip(id: "ship \($0)") })
    try garage.parkAll((20..<60).map { HiddenShip(id: "ship \($0)") })
    let ids = Set(try garage.retrieveAll(HiddenShip.self).map(\.id))
    #expect(ids.count == 60 && ids.contains("ship 3"))
    #expect(try garage.count(HiddenShip.self) == 60)
    #expect(try garage.retrieve(HiddenShip.self, identifier: "ship 5") != nil)
    // The 20 that were parked anew left their former records, and entries, behind.
    #expect(try garage.retrieveAll(FormerHiddenShip.self, withStatus: .synced).count == 20)
    #expect(try garage.migrateAll(HiddenShip.self).rewritten == 20)
    #expect(try garage.count(FormerHiddenShip.self) == 0 && garage.count(HiddenShip.self) == 60)
    try garage.deleteAll(HiddenShip.self)

    let ships = (0..<300).map {
      OldHiddenShip(id: "old \($0)", sister: Reference(OldHiddenShip.self, identifier: "old 1"))
    }
    try garage.park(HiddenFleet(id: "fleet", ships: ships + [OldHiddenShip(id: Hidden.long)]))
    let before = Set(try place.plain().keys().map { $0.bytes.suffix(16) })
    let report = try garage.migrateAll(from: OldHiddenShip.self, to: HiddenShip.self)
    #expect(report.rewritten == 301 && report.updatedReferences == 1 && report.failedCount == 0, "\(report)")
    #expect(Set(try place.plain().keys().map { $0.bytes.suffix(16) }).subtracting(before).count <= 1)
    try garage.close()
    garage = try hidden(place)
    let fleet = try #require(try garage.retrieve(HiddenFleetNow.self, identifier: "fleet"))
    #expect(fleet.ships.count == 301 && fleet.ships[300].id == Hidden.long)
    #expect(try garage.retrieve(try #require(fleet.ships[7].sister))?.id == "old 1")

    try garage.parkAll([OldHiddenShip(id: "old 5")])
    #expect(
      throws: GarageError.identifierConflict(
        type: "HiddenShip", identifier: "old 5", oldName: "hiding.old ship")
    ) { try garage.migrateAll(from: OldHiddenShip.self, to: HiddenShip.self) }
  }

  /// Where a graph is fetched level by level.
  @Test func fetchingAhead() throws {
    let storage = DistantStorage(try SealedPlace(.memory).sealed())
    let garage = try Garage(storage, hidesIdentifiers: true)
    struct Tree: Codable, Identifiable {
      var id: String
      var children: [Tree] = []
    }
    func tree(_ id: String, _ depth: Int) -> Tree {
      Tree(id: id, children: depth == 0 ? [] : (0..<4).map { tree("\(id).\($0)", depth - 1) })
    }
    try garage.park(tree("root", 4))
    storage.gets.store(0, ordering: .relaxed)
    let root = try #require(try garage.retrieve(Tree.self, identifier: "root"))
    #expect(root.children[3].children[3].children[3].children[3].id == "root.3.3.3.3")
    #expect(storage.gets.load(ordering: .relaxed) <= 6)
    #expect(try garage.retrieveAll(Tree.self).count == 341)
    #expect(storage.gets.load(ordering: .relaxed) <= 30)
  }

  private struct Shell: Codable, Identifiable, Indexed {
    static var indexes: [Index<Shell>] { [Index(\.kind, .hashed)] }
    var id: Int
    var kind: Int
  }

  /// The identifiers of what an index finds stand in its records, which are asked for many at a time.
  @Test func identifiersByAnIndex() throws {
    let storage = DistantStorage(try SealedPlace(.memory).sealed())
    let garage = try Garage(storage, hidesIdentifiers: true)
    try garage.parkAll((0..<600).map { Shell(id: $0, kind: $0 % 2) })
    let query = garage.query(Shell.self).where(\.kind == 1)
    _ = try query.identifiers()
    storage.gets.store(0, ordering: .relaxed)
    let found = try query.identifiers()
    let gets = storage.gets.load(ordering: .relaxed)
    #expect(gets <= 20)
    #expect(found.count == 300)
    #expect(Set(found.map(\.description)) == Set((0..<600).filter { $0 % 2 == 1 }.map { "\($0)" }))
  }
}

/// Says that its round trips are expensive, and counts them.
private final class DistantStorage: StorageDriver {
  let base: any StorageDriver
  let info: StorageInfo
  let gets = Atomic<Int>(0)

  init(_ base: any StorageDriver) {
    self.base = base
    var info = base.info
    info.roundTripsAreExpensive = true
    self.info = info
  }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try base.read { try body(DistantTransaction($0, self)) }
  }
  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write(body)
  }
  func close() throws { try base.close() }
}

private final class DistantTransaction: ReadTransaction {
  let base: any ReadTransaction
  let storage: DistantStorage
  init(_ base: any ReadTransaction, _ storage: DistantStorage) { (self.base, self.storage) = (base, storage) }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    storage.gets.add(1, ordering: .relaxed)
    return try base.withValue(for: key, body)
  }
  func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    storage.gets.add(1, ordering: .relaxed)
    try base.withValues(for: keys, visit)
  }
  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try base.scan(range, direction, visit)
  }
}

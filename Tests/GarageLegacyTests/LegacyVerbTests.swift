import Foundation
import GarageDriver
import GarageLegacy
import GarageMemory
import GarageStorage
import Synchronization
import Testing

/// Verbs under the names that they had in GarageStorage.
@Suite struct LegacyVerbTests {
  @Test func aGarageIsOpenedByName() throws {
    let name = "garage-test-\(UUID().uuidString)"
    let path = try DataFolder.path(forStoreNamed: name, driver: "test") + ".garage"
    defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
    let garage = try Garage(named: name)
    try garage.park(Room2(id: 1, size: 2))
    try garage.close()
    #expect(try Garage(named: name, types: [Room2.self]).retrieve(Room2.self, identifier: 1)?.size == 2)
    #expect(throws: (any Error).self) { try Garage(named: "a/b") }
  }

  @Test func theOldSpellingsDoTheSame() throws {
    let garage = try Garage(MemoryStorage())
    let vessel = Vessel()
    vessel.name = "V"
    try garage.parkObject(vessel)
    try garage.parkObjects([Crate(1), Crate(2)])
    #expect(try garage.retrieveObject(Vessel.self, identifier: "V")?.name == "V")
    #expect(try garage.retrieveAllObjects(Crate.self).count == 2)
    try garage.deleteObject(vessel)
    try garage.deleteAllObjects(Crate.self)
    #expect(try garage.retrieveAllObjects(Crate.self).isEmpty && garage.count(Vessel.self) == 0)
    try garage.parkObject(vessel)
    garage.deleteAllObjects { result in #expect(throws: Never.self) { try result.get() } }
    #expect(try garage.count(Vessel.self) == 0)
  }

  @Test func objectsAreFoundByStatusUnderTheOldNames() throws {
    let garage = try Garage(MemoryStorage(), types: [Vessel.self, Crate.self])
    let (one, two, crate) = (Vessel(), Vessel(), Crate(1))
    (one.name, two.name) = ("1", "2")
    (one.syncStatus, crate.syncStatus) = (.notSynced, .notSynced)
    try garage.parkObjects([one, two, crate])
    #expect(try garage.retrieveObjects(withStatus: .notSynced, ofClass: Vessel.self).map(\.name) == ["1"])
    let all = try garage.retrieveObjects(withStatus: .notSynced)
    #expect(Set(all.map { "\(type(of: $0))" }) == ["Vessel", "Crate"] && all.count == 2)
    try garage.setSyncStatus(.synced, for: [one, two])
    #expect(try garage.syncStatus(for: two) == .synced)
    #expect(try garage.retrieveObjects(withStatus: .synced, ofClass: Vessel.self).count == 2)
  }

  /// In tasks, too: on another thread than the task's.
  @Test(arguments: ImportTarget.allCases)
  func theyAreThereForTasks(_ target: ImportTarget) async throws {
    let store = try OldStore()
    for id in 0..<20 { try store.add("Room2", "\(id)", "{\"id\":\(id),\"size\":\(id * 2)}") }
    try await target.withGarage([Room2.self, Vessel.self, Crate.self]) { garage in
      var importer = GarageStorageImporter(storeAt: store.url, types: [Room2.self])
      let count = Atomic(0)
      let countInTasks = Atomic(0)
      importer.didImport = { _ in
        count.add(1, ordering: .relaxed)
        if withUnsafeCurrentTask(body: { $0 != nil }) { countInTasks.add(1, ordering: .relaxed) }
      }
      let report = try await importer.importObjects(into: garage)
      #expect(report.failures.isEmpty && report.importedCounts == ["Room2": 20], "\(report)")
      #expect(count.load(ordering: .relaxed) == 20 && countInTasks.load(ordering: .relaxed) == 0)
      #expect(try await garage.retrieve(Room2.self, identifier: 7)?.size == 14)

      let (one, two, crate) = (Vessel(), Vessel(), Crate(1))
      (one.name, two.name) = ("1", "2")
      (one.syncStatus, crate.syncStatus) = (.notSynced, .notSynced)
      try await garage.parkObject(one)
      try await garage.parkObjects([two, crate])
      #expect(try await garage.retrieveObject(Vessel.self, identifier: "2")?.name == "2")
      #expect(try await garage.retrieveAllObjects(Vessel.self).count == 2)
      #expect(
        try await garage.retrieveObjects(withStatus: .notSynced, ofClass: Vessel.self).map(\.name) == ["1"])
      #expect(try await garage.retrieveObjects(withStatus: .notSynced).count == 2)
      try await garage.deleteObject(one)
      try await garage.deleteAllObjects(Crate.self)
      #expect(try await garage.retrieveAllObjects(Vessel.self).map(\.name) == ["2"])
      #expect(try await garage.count(Crate.self) == 0)
    }
  }
}

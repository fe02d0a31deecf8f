import Foundation
import GarageStorage
import Synchronization
import Testing

/// Identified by an attribute; the status is not mapped.
private final class MappedChore: MappableObject, Syncable {
  var name = ""
  var label: MappedTicket?
  var next: MappedChore?
  var syncStatus = SyncStatus.undetermined
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: MappedChore.self)
    mapping.add("name", \MappedChore.name)
    mapping.add("label", \MappedChore.label)
    mapping.add("next", \MappedChore.next)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

/// Anonymous.
private final class MappedTicket: MappableObject, Syncable {
  var text = ""
  var syncStatus = SyncStatus.undetermined
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: MappedTicket.self)
    mapping.add("text", \MappedTicket.text)
    return mapping
  }
}

/// What finding by status reads, and what else it finds.
@Suite struct SyncFindingTests {
  @Test(arguments: [false, true])
  func otherRecordsAreNotRead(_ roundTripsAreExpensive: Bool) throws {
    let storage = CountingStorage(try Place(.memory).open(), roundTripsAreExpensive: roundTripsAreExpensive)
    let garage = try Garage(storage, types: [Errand.self])
    try garage.parkAll((0..<1000).map { Errand(id: $0, syncStatus: $0 % 100 == 7 ? .notSynced : .synced) })
    let expected = (0..<10).map { $0 * 100 + 7 }
    storage.gets.store(0, ordering: .relaxed)
    #expect(try garage.retrieveAll(Errand.self, withStatus: .notSynced).map(\.id) == expected)
    #expect(storage.gets.load(ordering: .relaxed) <= 12)
    storage.gets.store(0, ordering: .relaxed)
    #expect(try garage.allSyncables(.notSynced).map { ($0 as? Errand)?.id } == expected)
    #expect(storage.gets.load(ordering: .relaxed) <= 12)
    // More than one block of keys.
    #expect(try garage.retrieveAll(Errand.self, withStatus: .synced).count == 990)
  }

  @Test(arguments: Backend.allCases)
  func mappedObjects(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage([MappedChore.self])
    let (wash, dry) = (MappedChore(), MappedChore())
    (wash.name, dry.name) = ("wash", "dry")
    (wash.next, dry.next) = (dry, wash)
    (wash.syncStatus, dry.syncStatus) = (.notSynced, .synced)
    wash.label = MappedTicket()
    wash.label?.text = "urgent"
    wash.label?.syncStatus = .syncing
    try garage.park(wash)
    garage = try place.reopened(garage, [MappedChore.self])
    let found = try #require(try garage.retrieveAll(MappedChore.self, withStatus: .notSynced).first)
    #expect(found.name == "wash" && found.syncStatus == .notSynced)
    #expect(found.next?.syncStatus == .synced && found.next?.next === found)
    #expect(found.label?.text == "urgent" && found.label?.syncStatus == .syncing)
    try garage.setSyncStatus(.syncing, for: found)
    #expect(found.syncStatus == .syncing)
    #expect(try garage.allSyncables(.syncing).count == 1)
    found.next?.next = nil
    wash.next = nil
  }
}

private struct AgedNoteBefore: Codable, Identifiable, TypeTagged, Syncable {
  static var typeTag: String { "aged sync note" }
  var id: Int
  var name: String
  var stamp: AgedStampBefore
  var syncStatus = SyncStatus.undetermined
  enum CodingKeys: String, CodingKey { case id, name, stamp }
}
private struct AgedStampBefore: Codable, Syncable {
  var old: Int
  var syncStatus = SyncStatus.undetermined
  enum CodingKeys: String, CodingKey { case old }
}
private struct AgedNote: Codable, Identifiable, TypeTagged, Evolving, Syncable {
  static var typeTag: String { "aged note of today" }
  static var formerTypeTags: [String] { ["aged sync note"] }
  static var version: Int { 1 }
  static func upgrade(_ record: inout RecordValue, from version: Int) throws {
    record.rename("name", to: "title")
    record["stamp"]?["extra"] = .integer(5)
  }
  var id: Int
  var title: String
  var stamp: AgedStamp
  var syncStatus = SyncStatus.undetermined
  enum CodingKeys: String, CodingKey { case id, title, stamp }
}
private struct AgedStamp: Codable, Evolving, Syncable {
  static var version: Int { 2 }
  static func upgrade(_ record: inout RecordValue, from version: Int) throws {
    record.rename("old", to: "new")
  }
  var new: Int
  var extra: Int
  var syncStatus = SyncStatus.undetermined
  enum CodingKeys: String, CodingKey { case new, extra }
}

extension SyncFindingTests {
  /// Statuses come along when types change, of records and of what stands in them.
  @Test(arguments: Backend.allCases)
  func typesThatEvolve(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage([AgedNote.self])
    let stamp = AgedStampBefore(old: 7, syncStatus: .syncing)
    try garage.parkAll(
      (1...3).map { AgedNoteBefore(id: $0, name: "n", stamp: stamp, syncStatus: .notSynced) })
    func expectAll() throws {
      let found = try garage.retrieveAll(AgedNote.self, withStatus: .notSynced)
      #expect(found.map(\.id) == [1, 2, 3])
      #expect(found.allSatisfy { $0.title == "n" && $0.stamp.new == 7 && $0.stamp.extra == 5 })
      #expect(found.allSatisfy { $0.syncStatus == .notSynced && $0.stamp.syncStatus == .syncing })
    }
    try expectAll()
    try garage.migrateAll(AgedNote.self)
    try expectAll()
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
    #expect(try garage.retrieveAll(AgedNoteBefore.self, withStatus: .notSynced).isEmpty)
  }

  @Test(arguments: Backend.allCases)
  func renamedTypesKeepTheirStatuses(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll([PlainNote(id: 1), PlainNote(id: 2)])
    try garage.setSyncStatus(.syncing, for: SyncedNote(id: 2))
    try garage.migrateAll(from: PlainNote.self, to: MovedNote.self)
    #expect(try garage.retrieveAll(MovedNote.self, withStatus: .syncing).map(\.id) == [2])
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
  }
}

import Foundation
import GarageCoding
import GarageDriver
import GarageStorage
import Testing

/// A sync status is stored beside its object, and set without encoding that again.
@Suite struct SyncStatusTests {
  static let statuses: [SyncStatus] = [.undetermined, .notSynced, .syncing, .synced]

  /// What the index says, which must be what the records say.
  static func expectIndexFollows(
    _ driver: any StorageDriver, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    var records: Set<[UInt8]> = []
    for (key, record) in try Driver.contents(driver, .prefix([0x10])) {
      guard let status = RecordSummary.uncheckedSyncStatus(of: record.span.bytes) else { continue }
      records.insert([0x21, UInt8(status.rawValue)] + key.bytes.dropFirst())
    }
    let entries = try Driver.contents(driver, .prefix([0x21]))
    #expect(Set(entries.keys.map(\.bytes)) == records, sourceLocation: sourceLocation)
    #expect(entries.values.allSatisfy { $0.isEmpty }, sourceLocation: sourceLocation)
  }

  @Test func rawValuesAreThoseOfGarageStorage() throws {
    #expect(SyncStatus.allCases.map(\.rawValue) == [0, 1, 2, 3])
    #expect(SyncStatus.allCases == SyncStatusTests.statuses)
    let data = try JSONEncoder().encode(SyncStatus.allCases)
    #expect(String(decoding: data, as: UTF8.self) == "[0,1,2,3]")
  }

  @Test(arguments: Backend.allCases)
  func parkingStoresTheStatusAndRetrievingSetsIt(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    for (number, status) in SyncStatusTests.statuses.enumerated() {
      try garage.park(Errand(id: number, title: "e", syncStatus: status))
      try garage.park(Parcel(id: "\(number)", syncStatus: status))
      try garage.park(Courier("\(number)", status))
    }
    garage = try place.reopened(garage)
    for (number, status) in SyncStatusTests.statuses.enumerated() {
      #expect(try garage.retrieve(Errand.self, identifier: number)?.syncStatus == status)
      #expect(try garage.retrieve(Parcel.self, identifier: "\(number)")?.syncStatus == status)
      #expect(try garage.retrieve(Courier.self, identifier: "\(number)")?.syncStatus == status)
      #expect(try garage.retrieveAll(Errand.self, withStatus: status).map(\.id) == [number])
      #expect(try garage.retrieveAll(Parcel.self, withStatus: status).map(\.syncStatus) == [status])
      #expect(try garage.retrieveAll(Courier.self, withStatus: status).map(\.id) == ["\(number)"])
    }
    #expect(try garage.retrieveAll(Courier.self).map(\.syncStatus) == SyncStatusTests.statuses)
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
  }

  @Test(arguments: Backend.allCases)
  func referencedObjectsHaveTheirs(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (ann, bob) = (Courier("Ann", .synced), Courier("Bob", .syncing))
    ann.parcels = [Parcel(id: "p", syncStatus: .notSynced)]
    (ann.friend, bob.friend) = (bob, ann)
    try garage.park(ann)
    garage = try place.reopened(garage)
    let again = try #require(try garage.retrieve(Courier.self, identifier: "Ann"))
    #expect(again.syncStatus == .synced)
    #expect(again.parcels.first?.syncStatus == .notSynced)
    #expect(again.friend?.syncStatus == .syncing)
    #expect(again.friend?.friend === again)
    again.friend?.friend = nil
    #expect(try garage.retrieveAll(Parcel.self, withStatus: .notSynced).map(\.id) == ["p"])
  }

  @Test(arguments: Backend.allCases)
  func settingChangesTheStatusAlone(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let errand = Errand(id: 7, title: "buy", syncStatus: .notSynced)
    try garage.park(errand)
    let before = try Driver.contents(garage.driver(of: place), .prefix([0x10])).values.first
    try garage.setSyncStatus(.synced, for: Errand(id: 7, title: "not parked"))
    let after = try Driver.contents(garage.driver(of: place), .prefix([0x10])).values.first
    // But for the flags of one byte, and the checksum of four.
    #expect(before?.count == after?.count)
    #expect((1...5).contains(zip(before ?? [], after ?? []).count { $0 != $1 }))
    #expect(try garage.syncStatus(for: errand) == .synced)
    // Also where the coding keys have an older one.
    #expect(
      try garage.retrieve(Errand.self, identifier: 7) == Errand(id: 7, title: "buy", syncStatus: .synced))
    #expect(try garage.retrieveAll(Errand.self, withStatus: .notSynced).isEmpty)
    #expect(try garage.retrieveAll(Errand.self, withStatus: .synced).count == 1)
    // The caller's value keeps its own, and brings it back when it is parked again.
    #expect(errand.syncStatus == .notSynced)
    try garage.park(errand)
    #expect(try garage.syncStatus(for: errand) == .notSynced)
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
  }

  @Test(arguments: Backend.allCases)
  func objectsOfClassesGetTheStatus(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let (ann, bob) = (Courier("Ann", .notSynced), Courier("Bob", .notSynced))
    try garage.parkAll([ann, bob])
    try garage.setSyncStatus(.syncing, for: ann)
    #expect(ann.syncStatus == .syncing && bob.syncStatus == .notSynced)
    try garage.setSyncStatus(.synced, for: [ann, bob])
    #expect(ann.syncStatus == .synced && bob.syncStatus == .synced)
    #expect(throws: GarageError.self) { try garage.setSyncStatus(.notSynced, for: [ann, Courier("nobody")]) }
    #expect(ann.syncStatus == .synced)
  }

  @Test(arguments: Backend.allCases)
  func manyAreSetTogetherOrNotAtAll(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let errands = (0..<300).map { Errand(id: $0, syncStatus: .notSynced) }
    try garage.parkAll(errands)
    let missing = errands.dropLast() + [Errand(id: 1000)]
    #expect(throws: GarageError.failedToRetrieveObject("Errand", "1000")) {
      try garage.setSyncStatus(.synced, for: missing)
    }
    #expect(try garage.retrieveAll(Errand.self, withStatus: .notSynced).count == 300)
    #expect(try garage.retrieveAll(Errand.self, withStatus: .synced).isEmpty)
    // Also inside a write that goes on after the error.
    try garage.write { writer in
      _ = #expect(throws: GarageError.self) { try writer.setSyncStatus(.synced, for: missing) }
    }
    #expect(try garage.retrieveAll(Errand.self, withStatus: .notSynced).count == 300)
    try garage.setSyncStatus(.synced, for: errands)
    #expect(try garage.retrieveAll(Errand.self, withStatus: .synced).map(\.id) == Array(0..<300))
    try garage.setSyncStatus(.syncing, for: [errands[3], errands[3]])
    #expect(try garage.retrieveAll(Errand.self, withStatus: .syncing).map(\.id) == [3])
    try garage.setSyncStatus(.syncing, for: [Errand]())
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
  }

  @Test(arguments: Backend.allCases)
  func whatIsMissingThrows(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let error = GarageError.failedToRetrieveObject("Parcel", "x")
    #expect(throws: error) { try garage.setSyncStatus(.synced, for: Parcel(id: "x")) }
    #expect(throws: error) { try garage.syncStatus(for: Parcel(id: "x")) }
    #expect(throws: error) { try garage.read { try $0.syncStatus(for: Parcel(id: "x")) } }
    #expect(try garage.retrieveAll(Parcel.self, withStatus: .undetermined).isEmpty)
  }

  @Test(arguments: Backend.allCases)
  func theTypeComesFromTheContext(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Parcel.self, Errand.self])
    try garage.parkAll([Errand(id: 2, syncStatus: .syncing), Errand(id: 1, syncStatus: .syncing)])
    try garage.park(Parcel(id: "a", syncStatus: .syncing))
    let errands: [Errand] = try garage.retrieveAll(withStatus: .syncing)
    #expect(errands.map(\.id) == [1, 2])
    let all: [any Syncable] = try garage.retrieveAll(withStatus: .syncing)
    #expect(all.count == 3)
    #expect(try garage.retrieveAll(withStatus: .synced).isEmpty)
  }

  @Test(arguments: Backend.allCases)
  func allRegisteredTypesAreCovered(_ backend: Backend) throws {
    let place = try Place(backend)
    let types: [any Codable.Type] = [
      Errand.self, Courier.self, Beast.self, Wolf.self, Bear.self, Tree.self, Remark.self, Counter.self,
    ]
    var garage = try place.garage(types)
    try garage.park(Errand(id: 1, syncStatus: .notSynced))
    try garage.park(Errand(id: 2, syncStatus: .synced))
    try garage.park(Courier("c", .notSynced))
    try garage.parkAll([
      Wolf("w", .notSynced), Bear("b", .notSynced), Beast("x", .notSynced), Beast("y", .synced),
    ])
    let tree = Tree("t")
    tree.syncStatus = .notSynced
    try garage.park(tree)
    try garage.park(Plant("p"))
    try garage.park(Remark(text: "r", syncStatus: .notSynced))
    try garage.park(Counter(id: 1))
    garage = try place.reopened(garage, types)
    let objects: [any Syncable] = try garage.retrieveAll(withStatus: .notSynced)
    #expect(
      Set(objects.map { "\(type(of: $0))" }) == [
        "Errand", "Courier", "Wolf", "Bear", "Beast", "Tree", "Remark",
      ])
    #expect(objects.count == 7)
    #expect(objects.allSatisfy { $0.syncStatus == .notSynced })
    #expect(try garage.read { try $0.allSyncables(.notSynced).count } == 7)

    // What was found can be set as it was found.
    try garage.setSyncStatus(.synced, for: objects)
    #expect(try garage.allSyncables(.notSynced).isEmpty)
    #expect(try garage.allSyncables(.synced).count == 9)
    #expect(try garage.syncStatus(for: objects[0]) == .synced)
    try garage.setSyncStatus(.syncing, for: objects[0])
    #expect(try garage.syncStatus(for: objects[0]) == .syncing)
    try garage.setSyncStatus(.synced, for: objects[0])

    // None is left out silently.
    garage = try place.reopened(
      garage, [Errand.self, Courier.self, Beast.self, Wolf.self, Bear.self, Remark.self])
    #expect {
      try garage.allSyncables(.synced)
    } throws: { error in
      guard case GarageError.unregisteredClass(let tag, _, _) = error else { return false }
      return tag.hasSuffix("Tree") && "\(error)".contains("types:")
    }
  }

  @Test(arguments: Backend.allCases)
  func classHierarchies(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage([Wolf.self, Bear.self, Tree.self])
    try garage.parkAll([Wolf("w", .syncing), Bear("b", .syncing), Beast("x", .syncing), Bear("y", .synced)])
    #expect(
      try garage.retrieveAll(Beast.self, withStatus: .syncing).map { "\(type(of: $0)) \($0.id)" } == [
        "Bear b", "Wolf w", "Beast x",
      ])
    #expect(try garage.retrieveAll(Wolf.self, withStatus: .syncing).map(\.id) == ["w"])
    #expect(try garage.retrieveAll(Bear.self, withStatus: .synced).map(\.id) == ["y"])
    // A superclass without a status.
    let tree = Tree("t")
    tree.syncStatus = .synced
    try garage.parkAll([tree, Plant("p")])
    #expect(try garage.retrieveAll(Plant.self).compactMap { ($0 as? Tree)?.syncStatus } == [.synced])
    #expect(try garage.retrieveAll(Tree.self, withStatus: .synced).map(\.id) == ["t"])
    try garage.delete(Plant.self, identifier: "t")
    #expect(try garage.retrieveAll(Tree.self, withStatus: .synced).isEmpty)
    // Deleting one class leaves the others and their entries.
    try garage.deleteAll(Wolf.self)
    #expect(try garage.retrieveAll(Beast.self, withStatus: .syncing).map(\.id) == ["b", "x"])
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
    try garage.deleteAll(Beast.self)
    #expect(try garage.retrieveAll(Beast.self, withStatus: .syncing).isEmpty)
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
  }
}

extension Garage {
  /// The storage below, for tests that look there. What is in memory is the same value.
  func driver(of place: Place) throws -> any StorageDriver { try place.open() }
}

extension GarageReading {
  func allSyncables(_ status: SyncStatus) throws -> [any Syncable] { try retrieveAll(withStatus: status) }
}

import Foundation
import GarageConformance
import GarageDriver
import GarageStorage
import Testing

/// The index of statuses follows whatever becomes of the objects.
@Suite struct SyncIndexTests {
  private struct Stop: Error {}

  @Test(arguments: Backend.allCases)
  func deletingAndParkingAgain(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll((0..<6).map { Errand(id: $0, syncStatus: .notSynced) })
    try garage.parkAll([Parcel(id: "a", syncStatus: .notSynced), Parcel(id: "b", syncStatus: .synced)])
    try garage.delete(Errand(id: 0))
    try garage.delete(Errand.self, identifier: 1)
    try garage.park(Errand(id: 2, syncStatus: .synced))
    try garage.park(Errand(id: 3, title: "again", syncStatus: .notSynced))
    #expect(try garage.retrieveAll(Errand.self, withStatus: .notSynced).map(\.id) == [3, 4, 5])
    #expect(try garage.retrieveAll(Errand.self, withStatus: .synced).map(\.id) == [2])
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
    try garage.deleteAll(Errand.self)
    #expect(try garage.retrieveAll(Errand.self, withStatus: .notSynced).isEmpty)
    #expect(try garage.retrieveAll(Parcel.self, withStatus: .notSynced).count == 1)
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
    try garage.deleteAllObjects()
    #expect(try Driver.contents(garage.driver(of: place), .prefix([0x21])).isEmpty)
  }

  private struct Barge: Codable, Identifiable, Syncable, TypeTagged {
    static var typeTag: String { "barge" }
    static var formerTypeTags: [String] { ["barge, formerly"] }
    var id: Int
    var syncStatus = SyncStatus.undetermined
  }
  private struct BargeWithoutStatus: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "barge" }
    var id: Int
  }
  private struct FormerBarge: Codable, Identifiable, Syncable, TypeTagged {
    static var typeTag: String { "barge, formerly" }
    var id: Int
    var syncStatus = SyncStatus.undetermined
  }

  /// An entry that a type without statuses left behind hides no object of an older program.
  @Test(arguments: Backend.allCases)
  func anEntryThatIsLeftOverHidesNothing(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Barge(id: 1, syncStatus: .notSynced))
    try garage.park(BargeWithoutStatus(id: 1))
    try garage.delete(BargeWithoutStatus(id: 1))
    try garage.park(FormerBarge(id: 1, syncStatus: .notSynced))
    #expect(try garage.retrieveAll(Barge.self, withStatus: .notSynced).map(\.id) == [1])
    try garage.park(Barge(id: 1, syncStatus: .synced))
    #expect(try garage.retrieveAll(Barge.self, withStatus: .notSynced).isEmpty)
    #expect(try garage.retrieveAll(Barge.self, withStatus: .synced).map(\.id) == [1])
  }

  @Test(arguments: Backend.allCases)
  func writesThatRollBack(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll([Errand(id: 1, syncStatus: .notSynced), Errand(id: 2, syncStatus: .synced)])
    #expect(throws: Stop.self) {
      try garage.write { writer in
        try writer.setSyncStatus(.synced, for: Errand(id: 1))
        try writer.park(Errand(id: 3, syncStatus: .synced))
        try writer.delete(Errand.self, identifier: 2)
        #expect(try writer.retrieveAll(Errand.self, withStatus: .synced).map(\.id) == [1, 3])
        #expect(try writer.syncStatus(for: Errand(id: 1)) == .synced)
        #expect(try garage.retrieveAll(Errand.self, withStatus: .synced).map(\.id) == [2])
        throw Stop()
      }
    }
    #expect(try garage.retrieveAll(Errand.self, withStatus: .synced).map(\.id) == [2])
    #expect(try garage.retrieveAll(Errand.self, withStatus: .notSynced).map(\.id) == [1])
    try garage.write { writer in
      try writer.setSyncStatus(.synced, for: [Errand(id: 1)])
      try writer.delete(Errand.self, identifier: 2)
    }
    #expect(try garage.read { try $0.retrieveAll(Errand.self, withStatus: .synced).map(\.id) } == [1])
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
  }

  @Test(arguments: Backend.allCases)
  func aWriteThatFailsLeavesBoth(_ backend: Backend) throws {
    guard backend.isFaulty else { return }
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll((0..<10).map { Errand(id: $0, syncStatus: .notSynced) })
    for operation in 0..<24 {
      place.plan.reset()
      place.plan.fail(.put, after: operation)
      try? garage.setSyncStatus(.synced, for: (0..<10).map { Errand(id: $0) })
      place.plan.reset()
      #expect(try [0, 10].contains(garage.retrieveAll(Errand.self, withStatus: .synced).count))
      try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
      try garage.setSyncStatus(.notSynced, for: (0..<10).map { Errand(id: $0) })
    }
  }

  @Test(arguments: Backend.allCases)
  func unsavedChangesAreVisible(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    let (garage, other) = (try Garage(driver), try Garage(driver))
    try garage.parkAll((0..<4).map { Errand(id: $0, syncStatus: .notSynced) })
    garage.isAutosaveEnabled = false
    try garage.setSyncStatus(.syncing, for: Errand(id: 0))
    try garage.park(Errand(id: 1, syncStatus: .synced))
    try garage.delete(Errand.self, identifier: 2)
    try garage.park(Errand(id: 9, syncStatus: .notSynced))
    #expect(try garage.retrieveAll(Errand.self, withStatus: .notSynced).map(\.id) == [3, 9])
    #expect(try garage.retrieveAll(Errand.self, withStatus: .syncing).map(\.id) == [0])
    #expect(try garage.syncStatus(for: Errand(id: 1)) == .synced)
    #expect(try other.retrieveAll(Errand.self, withStatus: .notSynced).map(\.id) == [0, 1, 2, 3])
    garage.discardUnsavedChanges()
    #expect(try garage.retrieveAll(Errand.self, withStatus: .notSynced).map(\.id) == [0, 1, 2, 3])
    try garage.setSyncStatus(.syncing, for: [Errand(id: 0), Errand(id: 3)])
    try garage.save()
    #expect(try other.retrieveAll(Errand.self, withStatus: .syncing).map(\.id) == [0, 3])
    try SyncStatusTests.expectIndexFollows(driver)
  }

  /// What becomes of a status through another garage before unsaved changes are saved leaves no object without its entry.
  @Test(arguments: Backend.allCases)
  func anotherSetsTheStatusBeforeTheSave(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let (garage, other) = (try Garage(driver), try Garage(driver))
    try garage.parkAll((0..<3).map { Errand(id: $0, syncStatus: .notSynced) })
    let (ann, parcel) = (Courier("Ann", .notSynced), Parcel(id: "p"))
    ann.parcels = [parcel]
    try garage.park(ann)
    garage.isAutosaveEnabled = false
    try garage.park(Errand(id: 0, title: "again", syncStatus: .notSynced))
    try garage.setSyncStatus(.notSynced, for: Errand(id: 1))
    try garage.delete(Errand.self, identifier: 2)
    try garage.park(Errand(id: 3, syncStatus: .notSynced))
    try garage.delete(parcel, referrers: .nullify)
    try other.park(Errand(id: 3))
    try other.setSyncStatus(.synced, for: (0..<4).map { Errand(id: $0) })
    try other.setSyncStatus(.synced, for: ann)
    try garage.save()
    #expect(try other.retrieveAll(Errand.self, withStatus: .notSynced).map(\.id) == [0, 1, 3])
    #expect(try other.retrieveAll(Errand.self, withStatus: .synced).isEmpty)
    #expect(try other.retrieveAll(Courier.self, withStatus: .notSynced).map(\.parcels) == [[]])
    try SyncStatusTests.expectIndexFollows(driver)
  }

  /// Setting a status puts an entry back that is gone, as `verify()` advises.
  @Test(arguments: Backend.allCases)
  func settingAStatusMendsTheIndex(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let garage = try Garage(driver)
    try garage.park(Errand(id: 1, syncStatus: .notSynced))
    let entry = try #require(try Driver.contents(driver, .prefix([0x21])).keys.first)
    try driver.write { transaction in
      try transaction.remove(entry)
      return .commit(())
    }
    #expect(try !garage.verify().isSound)
    try garage.setSyncStatus(.notSynced, for: Errand(id: 1))
    #expect(try garage.verify().isSound)
    try SyncStatusTests.expectIndexFollows(driver)
  }

  /// Identifiers that are cut in keys, at the limit and behind it.
  @Test(arguments: Backend.allCases)
  func longIdentifiers(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let parcels = [237, 238, 239, 240, 241, 1000, 100_000].flatMap { count in
      ["a", "b"].map { Parcel(id: String(repeating: "x", count: count - 1) + $0, syncStatus: .notSynced) }
    }
    try garage.parkAll(parcels)
    #expect(try garage.retrieveAll(Parcel.self, withStatus: .notSynced).count == parcels.count)
    try garage.setSyncStatus(.synced, for: [parcels[4], parcels[13]])
    #expect(
      Set(try garage.retrieveAll(Parcel.self, withStatus: .synced).map(\.id)) == [
        parcels[4].id, parcels[13].id,
      ])
    #expect(try garage.syncStatus(for: parcels[13]) == .synced)
    try garage.delete(parcels[13])
    #expect(try garage.retrieveAll(Parcel.self, withStatus: .synced).map(\.id) == [parcels[4].id])
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
  }

  /// Random changes, against a dictionary.
  @Test(arguments: Backend.allCases)
  func historiesAgreeWithAModel(_ backend: Backend) throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededGenerator(seed: seed)
    let place = try Place(backend)
    let garage = try place.garage()
    var model: [Int: SyncStatus] = [:]
    for step in 0..<120 {
      let id = Int.random(in: 0..<12, using: &random)
      let status = SyncStatus.allCases.randomElement(using: &random) ?? .synced
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        try garage.park(Errand(id: id, syncStatus: status))
        model[id] = status
      case 2, 3:
        let ids = [id, (id + 5) % 12]
        let isThere = ids.allSatisfy { model[$0] != nil }
        do {
          try garage.setSyncStatus(status, for: ids.map { Errand(id: $0) })
          #expect(isThere, "seed \(seed), step \(step)")
          for id in ids { model[id] = status }
        } catch { #expect(!isThere, "seed \(seed), step \(step): \(error)") }
      case 4 where model[id] != nil:
        try garage.delete(Errand.self, identifier: id)
        model[id] = nil
      default:
        garage.isAutosaveEnabled.toggle()
        if garage.isAutosaveEnabled { try garage.save() }
      }
      for status in SyncStatus.allCases {
        let expected = model.filter { $0.value == status }.keys.sorted()
        #expect(
          try garage.retrieveAll(Errand.self, withStatus: status).map(\.id) == expected,
          "seed \(seed), step \(step)")
      }
    }
    try garage.save()
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
  }

  // MARK: - Types that change

  @Test(arguments: Backend.allCases)
  func aTypeMayBecomeSyncableOrCeaseToBe(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll([PlainNote(id: 1), PlainNote(id: 2)])
    // Without a status: the object keeps what its own `init(from:)` gives.
    #expect(try garage.retrieve(SyncedNote.self, identifier: 1)?.syncStatus == .notSynced)
    #expect(try garage.syncStatus(for: SyncedNote(id: 1)) == .undetermined)
    #expect(try garage.retrieveAll(SyncedNote.self, withStatus: .undetermined).isEmpty)
    try garage.setSyncStatus(.syncing, for: SyncedNote(id: 1))
    #expect(try garage.retrieveAll(SyncedNote.self, withStatus: .syncing).map(\.id) == [1])
    #expect(try garage.retrieve(SyncedNote.self, identifier: 1)?.syncStatus == .syncing)
    #expect(try garage.retrieve(PlainNote.self, identifier: 1) == PlainNote(id: 1))
    // An entry that a type without a status left behind finds nothing.
    try garage.park(PlainNote(id: 1, text: "plain"))
    #expect(try garage.retrieveAll(SyncedNote.self, withStatus: .syncing).isEmpty)
    try garage.park(SyncedNote(id: 1, syncStatus: .synced))
    #expect(try garage.retrieveAll(SyncedNote.self, withStatus: .syncing).isEmpty)
    #expect(try garage.retrieveAll(SyncedNote.self, withStatus: .synced).map(\.id) == [1])
    try garage.deleteAll(PlainNote.self)
    #expect(try Driver.contents(garage.driver(of: place), .prefix([0x21])).isEmpty)
  }

  @Test(arguments: Backend.allCases)
  func formerTagsAreFound(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage([MovedNote.self])
    try garage.parkAll((1...4).map { SyncedNote(id: $0, syncStatus: .syncing) })
    #expect(try garage.retrieveAll(MovedNote.self, withStatus: .syncing).map(\.id) == [1, 2, 3, 4])
    #expect(try garage.allSyncables(.syncing).count == 4)
    try garage.setSyncStatus(.synced, for: MovedNote(id: 2))
    try garage.park(MovedNote(id: 3, syncStatus: .notSynced))
    try garage.delete(MovedNote.self, identifier: 4)
    #expect(try garage.retrieveAll(MovedNote.self, withStatus: .syncing).map(\.id) == [1])
    #expect(try garage.retrieveAll(MovedNote.self, withStatus: .synced).map(\.id) == [2])
    #expect(try garage.retrieveAll(MovedNote.self, withStatus: .notSynced).map(\.id) == [3])
    try SyncStatusTests.expectIndexFollows(garage.driver(of: place))
    // An older program parked it once more under the old name: the present tag's record is the one.
    try garage.park(SyncedNote(id: 3, syncStatus: .syncing))
    #expect(try garage.retrieveAll(MovedNote.self, withStatus: .syncing).map(\.id) == [1])
    #expect(try garage.allSyncables(.syncing).count == 1)
  }

  /// Damage is an error, not an object that is missing.
  @Test(arguments: Backend.allCases)
  func damagedRecords(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll([Errand(id: 1, syncStatus: .syncing), Errand(id: 2, syncStatus: .syncing)])
    let driver = try garage.driver(of: place)
    for (byte, bit) in [(1, 1), (1, 4), (20, 1)] as [(Int, UInt8)] {
      let key = try #require(try Driver.contents(driver, .prefix([0x10])).keys.min())
      var record = try #require(try Driver.contents(driver)[key])
      record[byte] ^= bit
      try Driver.put(record, for: key.bytes, driver)
      #expect(throws: GarageError.self) { try garage.retrieveAll(Errand.self, withStatus: .syncing) }
      #expect(throws: GarageError.self) {
        try garage.setSyncStatus(.synced, for: [Errand(id: 2), Errand(id: 1)])
      }
      #expect(throws: GarageError.self) { try garage.syncStatus(for: Errand(id: 1)) }
      #expect(try garage.syncStatus(for: Errand(id: 2)) == .syncing)
      // Parking mends it, and the index with it.
      try garage.park(Errand(id: 1, syncStatus: .syncing))
      #expect(try garage.retrieveAll(Errand.self, withStatus: .syncing).map(\.id) == [1, 2])
      try SyncStatusTests.expectIndexFollows(driver)
    }
  }

  // MARK: - Beside other indexes

  private struct Chore: Codable, Identifiable, Equatable, Syncable, Indexed {
    static var indexes: [Index<Chore>] {
      [Index(\.age, .readable), Index(\.email, .unique, .readable), Index(each: \.tags, .readable)]
    }
    var id: Int
    var age = 0
    var email: String?
    var tags: [String] = []
    var owner: Reference<Errand>?
    var syncStatus = SyncStatus.undetermined
  }

  /// A status that stays unsaved changes no field, but whoever set it has the object with these fields until it is saved, and
  /// finds it by them, whatever others save.
  @Test(arguments: Backend.engines)
  func objectsOfAnUnsavedStatusAreFoundByTheirFields(_ backend: Backend) throws {
    let place = try Place(backend)
    let (garage, other) = (try place.garage(), try place.garage())
    let chores = [
      Chore(id: 1, age: 20, email: "a", tags: ["x"]), Chore(id: 2, age: 20, email: "b", tags: ["x", "y"]),
    ]
    try garage.parkAll(chores)
    try garage.withAutosaveDisabled {
      // From here on the unsaved objects are looked for in the indexes.
      try garage.park(Chore(id: 4))
      try garage.setSyncStatus(.synced, for: [chores[0], chores[0]])
    }
    try other.park(Chore(id: 1, age: 40, email: "c", tags: ["z"]))
    #expect(try garage.retrieve(Chore.self, identifier: 1)?.age == 20)
    #expect(try garage.query(Chore.self).where(\.age == 20).values(\.id) == [1, 2])
    #expect(try garage.query(Chore.self).where(\.age == 40).isEmpty())
    #expect(try garage.query(Chore.self).where(\.email == "a").values(\.id) == [1])
    #expect(try garage.query(Chore.self).where(\.tags == .contains("x")).count() == 2)
    #expect(throws: GarageError.self) {
      try garage.withAutosaveDisabled { try garage.park(Chore(id: 3, email: "a")) }
    }
    try garage.save()
    #expect(try other.query(Chore.self).where(\.age == 20).values(\.id) == [1, 2])
    #expect(try other.retrieveAll(Chore.self, withStatus: .synced).map(\.email) == ["a"])
    #expect(try other.verifyIndexes().isSound)
  }

  /// The same of those who refer to an object: it could be deleted although they do.
  @Test(arguments: Backend.engines)
  func referrersOfAnUnsavedStatusAreFound(_ backend: Backend) throws {
    let place = try Place(backend)
    let option: ReferrerOption = backend.isSealed ? .hashed : .indexed
    let garage = try Garage(place.open(), referrers: option)
    let other = try Garage(place.open(), referrers: option)
    let errand = Errand(id: 7)
    try garage.park(errand)
    try garage.park(Chore(id: 1, owner: Reference(to: errand)))
    #expect(try garage.referrers(of: errand).count == 1)
    try garage.withAutosaveDisabled {
      try garage.park(Chore(id: 4))
      try garage.setSyncStatus(.synced, for: Chore(id: 1))
    }
    try other.park(Chore(id: 1))
    #expect(try garage.retrieve(Chore.self, identifier: 1)?.owner?.id == 7)
    #expect(try garage.referrers(of: errand).count == 1)
    #expect(throws: GarageError.self) {
      try garage.withAutosaveDisabled { try garage.delete(errand, referrers: .deny) }
    }
    try garage.save()
    #expect(try other.referrers(of: errand).count == 1)
    #expect(try other.verifyIndexes().isSound)
  }
}

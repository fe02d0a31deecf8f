import GarageStorage
import Testing

/// The status of mapped objects.
private final class Chore: MappableObject, Syncable {
  var id = 0
  var title = ""
  var syncStatus = SyncStatus.undetermined
  init() {}
  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Chore.self)
    mapping.add("id", \Chore.id)
    mapping.add("title", \Chore.title)
    mapping.add("status", \Chore.syncStatus)
    mapping.identifyingAttribute = "id"
    return mapping
  }
}

/// It is stored under another name, and in a form of its own.
private struct SentLetter: Codable, Identifiable, Syncable, Equatable {
  var id: Int
  var title = ""
  var isSent: Bool? = false
  var syncStatus: SyncStatus {
    get { isSent == true ? .synced : .notSynced }
    set { isSent = newValue == .synced }
  }
}

/// Its status is indexed, which cannot be.
private struct Listed: Codable, Identifiable, Syncable, Indexed {
  static var indexes: [Index<Listed>] { [Index(\.syncStatus)] }
  var id: Int
  var syncStatus = SyncStatus.undetermined
}

/// A status that was set beside an object is the one that queries see.
@Suite struct SyncQueryTests {
  /// - Parameter status: where the status is, and what stands there for it.
  private func expectStatus<T: Codable & SendableMetatype, Status: Codable & Hashable & Sendable>(
    _ garage: Garage, _ type: T.Type, title: any KeyPath<T, String> & Sendable,
    id: any KeyPath<T, Int> & Sendable,
    _ status: any KeyPath<T, Status> & Sendable, _ value: (SyncStatus) -> Status
  ) throws {
    let (waiting, sent) = (value(.notSynced), value(.synced))
    let query = garage.query(T.self)
    #expect(try query.where(status == waiting).values(id) == [2])
    #expect(try query.where(status == sent).values(id) == [1])
    #expect(try query.where(status != sent).values(id) == [2])
    #expect(try query.where(status == waiting && title == "x").count() == 1)
    #expect(try query.where(status == .oneOf([sent])).values(id) == [1])
    #expect(try query.values(status) == [sent, waiting])
    #expect(try Set(query.distinct(status)) == [sent, waiting])
    #expect(try query.countByValue(status) == [sent: 1, waiting: 1])
  }

  @Test(arguments: Backend.allCases) func itIsTheOneBeside(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let errands = [1, 2].map { Errand(id: $0, title: "x", syncStatus: .notSynced) }
    try garage.parkAll(errands)
    try garage.setSyncStatus(.synced, for: errands[0])
    try expectStatus(garage, Errand.self, title: \.title, id: \.id, \.syncStatus) { $0 }
    let chores = [1, 2].map { id in
      let chore = Chore()
      (chore.id, chore.title, chore.syncStatus) = (id, "x", .notSynced)
      return chore
    }
    try garage.parkAll(chores)
    try garage.setSyncStatus(.synced, for: chores[0])
    try expectStatus(garage, Chore.self, title: \.title, id: \.id, \.syncStatus) { $0 }
    let letters = [1, 2].map { SentLetter(id: $0, title: "x") }
    try garage.parkAll(letters)
    try garage.setSyncStatus(.synced, for: letters[0])
    try expectStatus(garage, SentLetter.self, title: \.title, id: \.id, \.isSent) { $0 == .synced }
    // What has no status of its own follows none.
    #expect(try garage.query(Errand.self).where(\.title == "x").updateAll { $0.title = "y" } == 2)
    #expect(try garage.query(Errand.self).where(\.syncStatus == .notSynced).deleteAll() == 1)
    #expect(try garage.retrieveAll(Errand.self).map(\.id) == [1])
  }

  @Test(arguments: Backend.allCases) func subclassesHaveTheirs(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Wolf.self, Bear.self])
    let beasts = [Wolf("a", .notSynced), Bear("b", .notSynced), Beast("c", .notSynced)]
    try garage.parkAll(beasts)
    try garage.setSyncStatus(.synced, for: beasts[1])
    #expect(try garage.query(Beast.self).where(\.syncStatus == .notSynced).values(\.id) == ["a", "c"])
    #expect(try garage.query(Bear.self).where(\.syncStatus == .synced).values(\.id) == ["b"])
  }

  @Test(arguments: Backend.allCases) func itIsNotIndexed(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Listed.self])
    do {
      try garage.buildIndexes()
      Issue.record("an index of a sync status was made")
    } catch GarageError.invalidIndex(_, _, let reason) {
      #expect(reason.contains("retrieveAll(_:withStatus:)"))
    }
  }
}

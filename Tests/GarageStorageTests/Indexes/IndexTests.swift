import Foundation
import GarageDriver
import GarageMemory
import Synchronization
import Testing

@testable import GarageStorage

/// Declaring, making, listing and dropping indexes.
@Suite struct IndexTests {
  private static let open = Backend.allCases.filter { !$0.isSealed }

  /// A new store has its indexes from the first object on.
  @Test(arguments: open)
  func areMadeByParking(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.park(Fellow(id: 1, email: "a@b", age: 5, tags: ["x", "y", "x"]))
    let indexes = try garage.indexes(of: Fellow.self)
    #expect(
      indexes.map(\.name) == [
        "age", "any name", "email", "lastName, firstName", "shelf, place", "tags", "zip",
      ])
    #expect(indexes.allSatisfy { $0.state == .ready })
    #expect(indexes.map(\.entries) == [1, 1, 1, 1, 1, 2, 1])
    #expect(indexes.filter(\.isUnique).map(\.name) == ["email", "shelf, place"])
    #expect(
      try garage.query(Fellow.self).where(\.lastName == .caseInsensitive("DOE")).explain().indexes == [
        "any name"
      ])
    try garage.delete(Fellow.self, identifier: 1)
    #expect(try garage.indexes(of: Fellow.self).map(\.entries) == Array(repeating: 0, count: 7))
    #expect(try garage.verifyIndexes().isSound)
  }

  /// Who adds a declaration has the index filled when he first asks.
  @Test(arguments: open)
  func areFilledByAsking(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let members = (0..<500).map { Fellow(id: $0, age: $0 % 10) }
    try garage.parkAll(members)
    for name in try garage.indexes(of: Fellow.self).map(\.name) {
      try garage.dropIndex(name, of: Fellow.self)
    }
    #expect(try garage.indexes(of: Fellow.self).isEmpty)
    let left = try Driver.contents(place.open(), KeyLayout.allEntries)
    #expect(left.isEmpty)
    // This garage does not make them again by itself.
    try garage.park(Fellow(id: 500))
    #expect(try garage.indexes(of: Fellow.self).isEmpty)
    garage = try place.reopened(garage)
    let query = garage.query(Fellow.self).where(\.age == 3)
    #expect(try query.count() == 50)
    #expect(try query.explain().indexes == ["age"])
    #expect(try garage.indexes(of: Fellow.self).allSatisfy { $0.state == .ready })
    #expect(try garage.verifyIndexes().isSound)
    var progress: [IndexProgress] = []
    try garage.dropIndex("age", of: Fellow.self)
    try garage.buildIndexes { progress.append($0) }
    #expect(progress.last?.isComplete == true && progress.last?.indexes == ["age"])
    #expect(progress.last?.objectCount == 501)
    #expect(throws: GarageError.self) { try garage.dropIndex("none", of: Fellow.self) }
  }

  /// A store without indexes stays as it was; one with them is of format 2, which older libraries refuse.
  @Test(arguments: open)
  func raiseTheFormat(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    func version() throws -> Int? {
      try place.open().read { try StoreMetadata(in: $0, driver: "")?.version }
    }
    try garage.park(Counter(id: 1))
    #expect(try garage.query(Counter.self).where(\.id == 1).count() == 1)
    #expect(try version() == 1)
    try garage.park(Fellow(id: 1))
    #expect(try version() == 2)
    #expect(try place.reopened(garage).query(Fellow.self).count() == 1)
  }

  /// Every way by which records change.
  @Test(arguments: open)
  func followEveryChange(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<200).map { Fellow(id: $0, age: $0, tags: ["\($0 % 7)"]) })
    try garage.query(Fellow.self).where(\.age < 50).updateAll { $0.age += 1000 }
    #expect(try garage.query(Fellow.self).where(\.age >= 1000).count() == 50)
    #expect(try garage.query(Fellow.self).where(\.tags == .contains("3")).deleteAll() > 20)
    try garage.migrateAll(Fellow.self)
    try garage.write { writer in
      try writer.park(Fellow(id: 1000, age: -1))
      #expect(try writer.query(Fellow.self).where(\.age == -1).values(\.id) == [1000])
      try writer.delete(Fellow.self, identifier: 1000)
      #expect(try writer.query(Fellow.self).where(\.age == -1).isEmpty())
    }
    let report = try garage.verifyIndexes()
    #expect(report.isSound, "\(report)")
    #expect(report.entryCount > 500)
    try garage.deleteAll(Fellow.self)
    try garage.park(Fellow(id: 3))
    #expect(try garage.verifyIndexes().entryCount == 6)
    try garage.deleteAllObjects()
    #expect(try garage.verifyIndexes().entryCount == 0)
  }

  /// Damage is found in both directions.
  @Test(arguments: open)
  func verifyingFindsDamage(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll((0..<20).map { Fellow(id: $0, age: $0) })
    let driver = try place.open()
    let entries = try Driver.contents(driver, KeyLayout.allEntries).keys.sorted()
    try driver.write { transaction in
      try transaction.remove(entries[3])
      return .commit(())
    }
    #expect(try garage.verifyIndexes().damagedIndexes.count == 1)
    try driver.write { transaction in
      try transaction.put([1], for: StorageKey(entries[3].bytes + [7]))
      return .commit(())
    }
    let report = try garage.verifyIndexes()
    #expect(report.faults.contains { $0.contains("lacks") })
    #expect(report.faults.contains { $0.contains("no record has") || $0.contains("without an identifier") })
  }

  /// The verbs of tasks, and one that is cancelled and goes on.
  @Test(arguments: open)
  func tasksMakeThem(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    try await garage.parkAll((0..<300).map { Counter(id: $0, value: $0 % 7) })
    try garage.indexing.declare([Index(\Counter.value)])
    let building = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await garage.buildIndexes()
    }
    await #expect(throws: CancellationError.self) { try await building.value }
    let progress = Mutex<[IndexProgress]>([])
    try await garage.buildIndexes { step in progress.withLock { $0.append(step) } }
    #expect(progress.withLock { $0.last?.isComplete } == true)
    #expect(try await garage.indexes(of: Counter.self).map(\.entries) == [300])
    #expect(try await garage.verifyIndexes().entryCount == 300)
    try await garage.dropIndex("value", of: Counter.self)
    #expect(try await garage.indexes(of: Counter.self).isEmpty)
    await #expect(throws: GarageError.self) { try await garage.dropIndex("value", of: Counter.self) }
  }

  @Test func aPropertyThatIsNotStoredIsRefused() throws {
    let garage = try Garage(MemoryStorage())
    let error = #expect(throws: GarageError.self) { try garage.park(Shouting(id: 1, name: "a")) }
    #expect("\(error as Any)".contains("the property is computed"), "\(error as Any)")
  }

  /// A question about a type that no store takes is answered with an error of the garage's, whoever asks.
  @Test func typesWithoutIdentityAreRefused() async throws {
    let garage = try Place(.memory).garage()
    func expectRefusal(_ error: (any Error)?) {
      guard case GarageError.missingConformance? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    let query = garage.query(Nameless.self).where(\.size > 1)
    expectRefusal(#expect(throws: (any Error).self) { _ = try query.explain() })
    expectRefusal(#expect(throws: (any Error).self) { _ = try query.count() })
    await expectRefusal(#expect(throws: (any Error).self) { _ = try await query.count() })
  }

  @Test func sealedStoresTakeNoReadableIndex() throws {
    let garage = try Place(.sealedSQLite).garage()
    let error = #expect(throws: GarageError.self) { try garage.park(Fellow(id: 1)) }
    #expect("\(error as Any)".contains("the storage is sealed"))
    try garage.park(Secret(id: 1, code: "abc", note: nil))
    #expect(throws: GarageError.self) { try garage.park(Secret(id: 2, code: "abc", note: "x")) }
    try garage.park(Secret(id: 2, code: "abd", note: nil))
    let query = garage.query(Secret.self).where(\.code == "abc")
    #expect(try query.values(\.id) == [1])
    #expect(try query.explain().indexes == ["code"])
    #expect(try garage.query(Secret.self).where(\.note == nil).count() == 2)
    #expect(try garage.verifyIndexes().isSound)
  }
}

private struct Shouting: Codable, Identifiable, Indexed {
  var id: Int
  var name: String
  var loud: String { name.uppercased() }
  static var indexes: [Index<Shouting>] { [Index(\.loud)] }
}

private struct Nameless: Codable, Indexed {
  var size: Int
  static var indexes: [Index<Nameless>] { [Index(\.size)] }
}

private struct Secret: Codable, Identifiable, Indexed {
  var id: Int
  var code: String
  var note: String?
  static var indexes: [Index<Secret>] { [Index(\.code, .unique, .hashed), Index(\.note, .hashed)] }
}

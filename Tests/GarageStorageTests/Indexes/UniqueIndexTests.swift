import Foundation
import Synchronization
import Testing

@testable import GarageStorage

private struct Tank: Codable, Identifiable, Indexed {
  var id: Int
  var level: Double

  static let indexes: [Index<Tank>] = [Index(\.level, .unique)]
}

private struct Coffer: Codable, Identifiable, Indexed {
  var id: Int
  var code: String

  static let indexes: [Index<Coffer>] = [Index(\.code, .unique, .hashed)]
}

private struct Cashbox: Codable, Identifiable, Indexed {
  var id: Int
  var code: String

  static let indexes: [Index<Cashbox>] = [Index(\.code, .unique, .hashed)]
}

private struct Meeting: Codable, Identifiable, Indexed {
  var id: Int
  var start: Date

  static let indexes: [Index<Meeting>] = [Index(\.start, .unique)]
}

/// Values that no two objects share.
@Suite struct UniqueIndexTests {
  private static let open = Backend.allCases.filter { !$0.isSealed }

  private func expectTaken(_ index: String, _ value: String, _ existing: Int, _ body: () throws -> Void) {
    #expect(throws: GarageError.notUnique(index: index, value: value, existing: "\(existing)")) { try body() }
  }

  @Test(arguments: open)
  func aValueIsTakenOnce(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Fellow(id: 1, email: "a"))
    try garage.park(Fellow(id: 1, email: "a", age: 3))
    expectTaken("email", "\"a\"", 1) { try garage.park(Fellow(id: 2, email: "a")) }
    #expect(try garage.count(Fellow.self) == 1)
    // Nil never collides.
    try garage.parkAll([Fellow(id: 3), Fellow(id: 4), Fellow(id: 5, shelf: 1), Fellow(id: 6, shelf: 1)])
    try garage.park(Fellow(id: 7, shelf: 1, place: 2))
    expectTaken("shelf, place", "1, 2", 7) { try garage.park(Fellow(id: 8, shelf: 1, place: 2)) }
    // Two of one call.
    #expect(throws: GarageError.self) {
      try garage.parkAll([Fellow(id: 20, email: "z"), Fellow(id: 21, email: "z")])
    }
    #expect(try !garage.contains(Fellow.self, identifier: 20))
    try garage.delete(Fellow.self, identifier: 1)
    try garage.park(Fellow(id: 2, email: "a"))
    #expect(try garage.verifyIndexes().isSound)
  }

  /// `Date.description` ends the process where the seconds are no number, and has no text for dates far away.
  @Test(arguments: open)
  func errorsNameDatesOfAnyKind(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let texts: [(seconds: Double, text: String)] = [
      (.nan, "nan s since 2001-01-01T00:00:00Z"), (1e300, "1e+300 s since 2001-01-01T00:00:00Z"),
      (-.infinity, "-inf s since 2001-01-01T00:00:00Z"), (86_400.5, "2001-01-02T00:00:00.5Z"),
    ]
    for (number, date) in texts.enumerated() {
      let start = Date(timeIntervalSinceReferenceDate: date.seconds)
      try garage.park(Meeting(id: number, start: start))
      expectTaken("start", date.text, number) { try garage.park(Meeting(id: 100, start: start)) }
    }
    #expect(try garage.count(Meeting.self) == 4)
  }

  /// What one call removes is free for what it adds.
  @Test(arguments: open)
  func valuesSwapInOneCall(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<40).map { Fellow(id: $0, email: "\($0)") })
    try garage.parkAll((0..<40).map { Fellow(id: $0, email: "\(39 - $0)") })
    #expect(try garage.query(Fellow.self).where(\.email == "0").values(\.id) == [39])
    #expect(try garage.verifyIndexes().isSound)
  }

  /// An error that is caught leaves nothing of its call behind.
  @Test(arguments: open)
  func aCaughtErrorLeavesNothing(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Fellow(id: 1, email: "a"))
    try garage.write { writer in
      #expect(throws: GarageError.self) {
        try writer.parkAll([Fellow(id: 2, email: "b"), Fellow(id: 3, email: "a")])
      }
      try writer.park(Fellow(id: 4, email: "c"))
    }
    #expect(try garage.query(Fellow.self).values(\.id) == [1, 4])
    #expect(try garage.verifyIndexes().isSound)
  }

  /// Values of any length are compared as they are, also where entries hold them cut.
  @Test(arguments: open)
  func longValues(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let long = String(repeating: "x", count: 5000)
    try garage.park(Fellow(id: 1, email: long + "1"))
    try garage.park(Fellow(id: 2, email: long + "2"))
    #expect(throws: GarageError.self) { try garage.park(Fellow(id: 3, email: long + "2")) }
    #expect(try garage.query(Fellow.self).where(\.email == long + "2").values(\.id) == [2])
    let ordered = garage.query(Fellow.self).where(\.email != nil).sorted(by: \.email, .descending)
    #expect(try ordered.limit(1).values(\.id) == [2])
  }

  /// 0 and -0 are equal, and so one value. NaN is one value, too, though it equals nothing.
  @Test(arguments: open)
  func numbersOfOneValue(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([Tank(id: 1, level: 0), Tank(id: 2, level: .nan), Tank(id: 3, level: .infinity)])
    expectTaken("level", "0", 1) { try garage.park(Tank(id: 4, level: -0.0)) }
    expectTaken("level", "nan", 2) { try garage.park(Tank(id: 4, level: .nan)) }
    expectTaken("level", "nan", 2) { try garage.park(Tank(id: 4, level: -.nan)) }
    try garage.parkAll([Tank(id: 2, level: .infinity), Tank(id: 3, level: .nan)])
    expectTaken("level", "nan", 3) { try garage.park(Tank(id: 2, level: .nan)) }
    #expect(try garage.query(Tank.self).where(\.level == .nan).isEmpty())
    #expect(try garage.verifyIndexes().isSound)
  }

  /// Checked against what is not saved, and again when it is saved, where nothing is lost.
  @Test(arguments: open)
  func unsavedChanges(_ backend: Backend) throws {
    let place = try Place(backend)
    let (garage, other) = (try place.garage(), try place.garage())
    try garage.park(Fellow(id: 1, email: "a"))
    garage.isAutosaveEnabled = false
    try garage.park(Fellow(id: 2, email: "b"))
    #expect(throws: GarageError.self) { try garage.park(Fellow(id: 3, email: "b")) }
    #expect(throws: GarageError.self) { try garage.park(Fellow(id: 3, email: "a")) }
    try other.park(Fellow(id: 9, email: "b"))
    #expect(throws: GarageError.self) { try garage.save() }
    #expect(garage.hasUnsavedChanges)
    #expect(try garage.retrieve(Fellow.self, identifier: 2)?.email == "b")
    #expect(try other.count(Fellow.self) == 2)
    try garage.park(Fellow(id: 2, email: "c"))
    try garage.save()
    #expect(try other.query(Fellow.self).where(\.email == "c").values(\.id) == [2])
    #expect(try garage.verifyIndexes().isSound)
  }

  enum Meanwhile: CaseIterable { case nothing, isAskedFor, anotherTypeIsMet, anotherGarageMakesIt }

  /// Hashed values are compared with those that are not saved, too, also if the index gets other hashes meanwhile.
  @Test(arguments: Backend.engines, Meanwhile.allCases)
  func unsavedChangesOfHashedValues(_ backend: Backend, _ meanwhile: Meanwhile) throws {
    let place = try Place(backend)
    let (garage, other) = (try place.garage(), try place.garage())
    func expectTaken(_ id: Int, _ code: String) {
      do {
        try garage.park(Coffer(id: id, code: code))
        Issue.record("\(code) is there twice")
      } catch GarageError.notUnique {
      } catch {
        Issue.record(error)
      }
    }
    garage.isAutosaveEnabled = false
    try garage.parkAll([Coffer(id: 1, code: "a"), Coffer(id: 2, code: "b")])
    try garage.delete(Coffer.self, identifier: 2)
    switch meanwhile {
    case .nothing: break
    case .isAskedFor: #expect(try garage.query(Coffer.self).where(\.code == "a").values(\.id) == [1])
    case .anotherTypeIsMet: try garage.park(Cashbox(id: 1, code: "a"))
    case .anotherGarageMakesIt:
      try other.parkAll([Coffer(id: 1, code: "y"), Coffer(id: 9, code: "z")])
    }
    expectTaken(3, "a")
    if meanwhile == .anotherGarageMakesIt { expectTaken(3, "z") }
    // What is removed or replaced before it is saved holds nothing.
    try garage.parkAll([Coffer(id: 3, code: "b"), Coffer(id: 4, code: "y")])
    try garage.park(Coffer(id: 1, code: "c"))
    try garage.park(Coffer(id: 5, code: "a"))
    expectTaken(6, "a")
    #expect(try garage.query(Coffer.self).where(\.code == "a").values(\.id) == [5])
    #expect(try garage.query(Coffer.self).where(\.code == "y").values(\.id) == [4])
    try garage.save()
    #expect(try garage.query(Coffer.self).where(\.code == "a").values(\.id) == [5])
    expectTaken(6, "c")
    #expect(try garage.verifyIndexes().isSound)
  }

  /// Objects that were there and share a value keep the index from being used, and `buildIndexes` says which.
  @Test(arguments: open)
  func objectsThatWereThere(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<30).map { Counter(id: $0) })
    try garage.indexing.declare([Index("same", \Counter.value, .unique)])
    #expect(throws: GarageError.self) { try garage.buildIndexes() }
    #expect(try garage.indexes(of: Counter.self).map(\.state) == [.building])
    #expect(try garage.query(Counter.self).where(\.value == 0).count() == 30)
    try garage.parkAll((0..<30).map { Counter(id: $0, value: $0) })
    try garage.buildIndexes()
    #expect(try garage.query(Counter.self).where(\.value == 4).explain().indexes == ["same"])
    expectTaken("same", "4", 4) { try garage.park(Counter(id: 100, value: 4)) }
  }

  /// Of many threads that want a value one gets it.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb])
  func manyThreads(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let taken = Mutex(0)
    try await onThreads(16) { thread in
      for round in 0..<20 {
        do {
          try garage.park(Fellow(id: thread * 100 + round, email: "\(round)"))
          taken.withLock { $0 += 1 }
        } catch GarageError.notUnique {
        } catch {
          Issue.record(error)
        }
      }
    }
    #expect(taken.withLock { $0 } == 20)
    #expect(try await garage.count(Fellow.self) == 20)
    #expect(try await garage.verifyIndexes().isSound)
  }
}

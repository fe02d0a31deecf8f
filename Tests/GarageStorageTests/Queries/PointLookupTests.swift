import Foundation
import GarageDriver
import GarageMemory
import Testing

@testable import GarageStorage

/// What a query for one value remembers of the way there, when that changes between two equal queries.
@Suite struct PointLookupTests {
  private struct Stop: Error {}

  private static func index(_ backend: Backend) -> [Index<Counter>] {
    [backend.isSealed ? Index(\Counter.value, .readable) : Index(\Counter.value)]
  }

  /// Asks for each value in the same words, and compares with a filter over all that the reader sees.
  private func ask(_ reader: some GarageReading, _ hint: Comment = "") throws {
    let all = try reader.retrieveAll(Counter.self).sorted { $0.id < $1.id }
    for value in -1...6 {
      let query = reader.query(Counter.self).where(\.value == value)
      let expected = all.filter { $0.value == value }
      #expect(try query.retrieveAll().map(\.id) == expected.map(\.id), hint)
      #expect(try query.limit(1).retrieveAll().map(\.id) == expected.prefix(1).map(\.id), hint)
      #expect(try query.limit(0).retrieveAll().isEmpty)
      #expect(try query.first()?.id == expected.first?.id, hint)
    }
  }

  private func counters(_ offset: Int) -> [Counter] {
    (0..<12).map { Counter(id: $0, value: ($0 + offset) % 5) }
  }

  /// An index is declared, built, dropped and built again, by this garage and by another one.
  @Test(arguments: Backend.allCases)
  func indexesComeAndGo(_ backend: Backend) throws {
    let place = try Place(backend)
    let (a, b) = (try place.garage(), try place.garage())
    try a.parkAll(counters(0))
    try ask(a, "none")
    try b.make(PointLookupTests.index(backend))
    try ask(a, "built by the other")
    #expect(try a.query(Counter.self).where(\.value == 1).explain().indexes == ["value"])
    try b.parkAll(counters(1))
    try ask(a, "changed by the other")
    try a.dropIndex("value", of: Counter.self)
    try a.parkAll(counters(2))
    try ask(a, "dropped")
    try ask(b, "dropped by the other")
    try b.make(PointLookupTests.index(backend))
    try ask(a, "built again by the other")
    try b.dropIndex("value", of: Counter.self)
    try b.parkAll(counters(3))
    try ask(a, "dropped by the other")
    try a.make(PointLookupTests.index(backend))
    try a.make([backend.isSealed ? Index(\Counter.value, \.id, .readable) : Index(\Counter.value, \.id)])
    try ask(a, "built beside another one")
    try ask(b, "built beside another one, by the other")
    try a.dropIndex("value", of: Counter.self)
    try ask(a, "one of two is left")
    try b.parkAll(counters(4))
    try ask(a, "one of two is left, and others write")
    #expect(try a.verifyIndexes().isSound)
  }

  /// A catalog that was seen in a transaction which is rolled back was never there.
  @Test(arguments: Backend.allCases.filter { !$0.isSealed })
  func rollsBack(_ backend: Backend) throws {
    func ask(_ reader: some GarageReading) throws {
      let all = try reader.retrieveAll(Fellow.self)
      for age in 0..<4 {
        let found = try reader.query(Fellow.self).where(\.age == age).retrieveAll()
        #expect(found == all.filter { $0.age == age })
      }
      let found = try reader.query(Fellow.self).where(\.email == "2").retrieveAll()
      #expect(found == all.filter { $0.email == "2" })
    }
    let place = try Place(backend)
    let (a, b) = (try place.garage(), try place.garage())
    for _ in 0..<2 {
      #expect(throws: Stop.self) {
        try a.write { writer in
          try writer.parkAll((0..<9).map { Fellow(id: $0, email: "\($0)", age: $0 % 3, place: $0) })
          try ask(writer)
          throw Stop()
        }
      }
      try ask(a)
    }
    try b.parkAll((0..<9).map { Fellow(id: $0, email: "\($0)", age: $0 % 4, place: $0) })
    try ask(a)
    #expect(throws: Stop.self) {
      try a.write { writer in
        try writer.park(Fellow(id: 1, age: 3))
        try writer.delete(Fellow.self, identifier: 2)
        try ask(writer)
        throw Stop()
      }
    }
    try ask(a)
    try a.write { writer in
      try writer.park(Fellow(id: 1, age: 3))
      try writer.delete(Fellow.self, identifier: 2)
      try ask(writer)
    }
    try ask(a)
    try ask(b)
    #expect(try a.verifyIndexes().isSound)
  }

  /// Unsaved changes hide what the storage holds, and what others commit to it.
  @Test(arguments: Backend.allCases)
  func unsavedChanges(_ backend: Backend) throws {
    let place = try Place(backend)
    let (a, b) = (try place.garage(), try place.garage())
    try a.make(PointLookupTests.index(backend))
    try a.parkAll(counters(0))
    try ask(a)
    a.isAutosaveEnabled = false
    try a.park(Counter(id: 3, value: 6))
    try a.delete(Counter.self, identifier: 4)
    try ask(a, "unsaved")
    try b.parkAll([Counter(id: 3, value: 1), Counter(id: 5, value: 6)])
    try ask(a, "unsaved, and others wrote")
    try a.write { try ask($0, "unsaved, in a write") }
    try a.read { try ask($0, "unsaved, in a read") }
    try ask(b, "the other")
    a.discardUnsavedChanges()
    try ask(a, "discarded")
    try a.park(Counter(id: 3, value: 6))
    try b.dropIndex("value", of: Counter.self)
    try ask(a, "unsaved, and others dropped the index")
    try a.save()
    try ask(a, "saved")
    try ask(b, "the other, afterwards")
  }

  /// That somebody listens changes nothing of what a writer sees through unsaved changes.
  @Test(arguments: Backend.allCases)
  func unsavedChangesThatAreHeard(_ backend: Backend) throws {
    let place = try Place(backend)
    let (a, b) = (try place.garage(), try place.garage())
    try a.make(PointLookupTests.index(backend))
    try a.parkAll(counters(0))
    let changes = a.changes()
    a.isAutosaveEnabled = false
    try a.park(Counter(id: 3, value: 6))
    try b.park(Counter(id: 3, value: 1))
    try a.write { writer in
      try ask(writer)
      #expect(try writer.query(Counter.self).where(\.value == 1).values(\.id) == [1, 6, 11])
      #expect(try writer.query(Counter.self).where(\.value >= 6).values(\.id) == [3])
    }
    withExtendedLifetime(changes) {}
  }

  /// Properties of several types and names, also such as a record may lack.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb])
  func oddShapes(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let long = String(repeating: "x", count: 300)
    let all = (0..<40).map { number in
      Oddity(
        id: "o\(number)", text: ["", "a", "e\u{301}", "é", long, long + "y", "a\0b", "😀"][number % 8],
        number: [nil, Int.min, -1, 0, 1, Int.max][number % 6], inner: Oddity.Inner(level: number % 3))
    }
    try garage.parkAll(all)
    let sorted = try garage.retrieveAll(Oddity.self)
    for text in ["", "a", "\u{e9}", "e\u{301}", long, long + "y", long + "z", "a\0b", "a\0", "😀"] {
      let found = try garage.query(Oddity.self).where(\.text == text).retrieveAll()
      #expect(found == sorted.filter { $0.text == text }, "\(text.debugDescription)")
    }
    for number in [nil, Int.min, -1, 0, 1, 2, Int.max] {
      let found = try garage.query(Oddity.self).where(\.number == number).retrieveAll()
      #expect(found == sorted.filter { $0.number == number }, "\(String(describing: number))")
    }
    for level in 0..<4 {
      let found = try garage.query(Oddity.self).where(\.inner.level == level).retrieveAll()
      #expect(found == sorted.filter { $0.inner.level == level })
      let computed = try garage.query(Oddity.self).where(\.doubled == 2 * level).retrieveAll()
      #expect(computed == sorted.filter { $0.inner.level == level })
    }
    #expect(try garage.verifyIndexes().isSound)
  }

  private struct Stamped: Codable, Identifiable, Indexed {
    var id: Int
    var uuid: UUID
    var other: UUID?
    var date: Date
    var wide: Int64
    var narrow: Int32
    static var indexes: [Index<Stamped>] {
      [Index(\.uuid), Index(\.other), Index(\.date), Index(\.wide), Index(\.narrow)]
    }
  }

  /// Values of each type that takes the short way.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb])
  func allCommonTypes(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    func uuid(_ last: UInt8) -> UUID { UUID(uuid: (200, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, last)) }
    let dates = [0, -0.0, 0.5, -1e9, .nan].map { Date(timeIntervalSinceReferenceDate: $0) }
    let wides = [Int64.min, -1, 0, 1 << 53, 1 << 53 + 1, .max]
    try garage.parkAll(
      (0..<40).map { number in
        Stamped(
          id: number, uuid: uuid(UInt8(number % 7)), other: number % 3 == 0 ? nil : uuid(UInt8(number % 5)),
          date: dates[number % 5], wide: wides[number % 6], narrow: [Int32.min, 0, 7, .max][number % 4])
      })
    let all = try garage.retrieveAll(Stamped.self)
    let query = garage.query(Stamped.self)
    func check(_ condition: Condition<Stamped>, _ holds: (Stamped) -> Bool) throws {
      #expect(
        try query.where(condition).retrieveAll().map(\.id) == all.filter(holds).map(\.id), "\(condition)")
    }
    for last in UInt8(0)..<8 {
      try check(\.uuid == uuid(last)) { $0.uuid == uuid(last) }
      try check(\.other == uuid(last)) { $0.other == uuid(last) }
    }
    try check(\.other == nil) { $0.other == nil }
    for date in dates { try check(\.date == date) { $0.date == date } }
    for wide in wides { try check(\.wide == wide) { $0.wide == wide } }
    for narrow in [Int32.min, 0, 7, 8, .max] { try check(\.narrow == narrow) { $0.narrow == narrow } }
  }

  /// A key path made anew for each query, and one type in two garages.
  @Test func keyPathsOfAllOrigins() throws {
    let storages = [MemoryStorage(), MemoryStorage()]
    let garages = try storages.map { try Garage($0) }
    try garages[0].parkAll((0..<6).map { Oddity(id: "\($0)", text: "t", inner: Oddity.Inner(level: $0)) })
    try garages[1].parkAll((0..<6).map { Oddity(id: "\($0)", text: "t", inner: Oddity.Inner(level: $0 / 2)) })
    for round in 0..<200 {
      let path = (\Oddity.inner).appending(path: \.level)
      let found = try garages.map { try $0.query(Oddity.self).where(path == round % 6).retrieveAll().count }
      #expect(found == [1, round % 6 < 3 ? 2 : 0])
    }
  }
}

/// An object with stored fields under other names, nested, absent and of all lengths.
private struct Oddity: Codable, Identifiable, Equatable, Indexed {
  struct Inner: Codable, Equatable {
    var level = 0
    enum CodingKeys: String, CodingKey { case level = "l e v e l" }
  }
  var id: String
  var text: String
  var number: Int?
  var inner = Inner()
  var doubled: Int { 2 * inner.level }

  enum CodingKeys: String, CodingKey {
    case id
    case text = "number"
    case number = "text"
    case inner
  }

  static var indexes: [Index<Oddity>] { [Index(\.text), Index(\.number), Index(\.inner.level)] }
}

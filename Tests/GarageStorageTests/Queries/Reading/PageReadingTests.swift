import Synchronization
import Testing

@testable import GarageStorage

/// Pages read what is in them, and not again what was in those before.
@Suite struct PageReadingTests {
  private struct Resident: Codable, Identifiable {
    var id: Int
    var city: String
    var name: String
    var level: Int

    init(_ id: Int) {
      self.id = id
      city = id % 4 == 0 ? "Ulm" : "Berlin"
      name = "name \(id * 7919 % 1000)"
      level = id * 7 % 5
    }
  }

  private static let open = Backend.engines.filter { !$0.isSealed }
  private static let count = 2000
  private static let size = 20

  @Test(arguments: open)
  func isLinear(_ backend: Backend) throws {
    let storage = VisitCountingStorage(try Place(backend).open())
    let garage = try Garage(storage)
    try garage.make([Index(\.city, \.name), Index(\.level)] as [Index<Resident>])
    try garage.parkAll((0..<PageReadingTests.count).map(Resident.init))
    let query = garage.query(Resident.self)
    let berlin = query.where(\.city == "Berlin")
    let third = query.where(\.level == 3)
    // A compound index, many with the same value, a range, and one value or two in the order of identifiers.
    let queries: [(Query<Resident>, Int)] = [SortDirection.ascending, .descending].flatMap { direction in
      [
        (berlin.sorted(by: \.name, direction), 1500),
        (berlin.sorted(by: \.name, direction).limit(700), 700),
        (query.sorted(by: \.level, direction), 2000),
        (query.where(\.level >= 1).sorted(by: \.level, direction), 1600),
        (third.sorted(by: \.id, direction), 400),
      ]
    }
    let unsorted = [(third, 400), (query.where(\.level == .oneOf([1, 3])), 800)]
    for (query, count) in queries + unsorted {
      // What is read once for all is no part of it.
      _ = try query.page(size: 1)
      storage.visits.store(0, ordering: .relaxed)
      var (found, cursor) = (0, nil as QueryCursor?)
      repeat {
        let page = try query.page(after: cursor, size: PageReadingTests.size)
        found += page.objects.count
        cursor = page.next
      } while cursor != nil
      let visits = storage.visits.load(ordering: .relaxed)
      #expect(found == count, "\(query)")
      // An entry and a record of each, and of two values also what is read twice; the rest is what each page begins with.
      #expect(visits <= 8 * count, "\(query)")
    }
  }

  private struct Part: Codable, Identifiable, Equatable {
    var id: Int
    var kind: Int
    var note = 0
  }

  /// Where one value has far more entries than all others, these are not read again for each block of its own.
  @Test func valuesOfFewAreNotReadOverAndOver() throws {
    let (kinds, each, many) = (62, 30, 5000)
    let count = kinds * each + many
    let rare = Set((0..<kinds * each).map { $0 * count / (kinds * each) })
    var rareCount = 0
    let parts = (0..<count).map { id in
      if rare.contains(id) { rareCount += 1 }
      return Part(id: id, kind: rare.contains(id) ? rareCount % kinds : kinds)
    }
    let storage = VisitCountingStorage(try Place(.memory).open())
    let garage = try Garage(storage)
    try garage.make([Index(\.kind)] as [Index<Part>])
    try garage.parkAll(parts)
    let query = garage.query(Part.self).where(\.kind == .oneOf(Array(0...kinds)))
    #expect(try query.limit(300).retrieveAll() == Array(parts.prefix(300)))
    storage.visits.store(0, ordering: .relaxed)
    // None is found: all are looked at.
    #expect(try query.where(\.note == 1).limit(5).retrieveAll().isEmpty)
    let visits = storage.visits.load(ordering: .relaxed)
    #expect(visits <= 5 * count / 2)
  }

  private struct Spot: Codable, Identifiable, Equatable {
    var id: Int
    var left = 1
    var right = 0
  }

  /// Few have both values, and most have one of them: its first entries lead to others alone.
  @Test(arguments: open)
  func firstEntriesAreNotLookedThroughForEver(_ backend: Backend) throws {
    let count = 6000
    let spots = (0..<count).map { id in
      Spot(id: id, left: id % 1000 == 1 ? 0 : 1, right: id % 1000 == 0 ? 1 : 0)
    }
    let storage = VisitCountingStorage(try Place(backend).open())
    let garage = try Garage(storage)
    try garage.make([Index(\.left), Index(\.right)] as [Index<Spot>])
    try garage.parkAll(spots)
    // Whichever of the indexes is the first.
    for value in [0, 1] {
      let query = garage.query(Spot.self).where(\.left == value && \.right == value)
      let expected = spots.filter { $0.left == value && $0.right == value }
      #expect(expected.count == 6)
      func expectFew(
        _ expected: [Spot], _ location: SourceLocation = #_sourceLocation, _ body: () throws -> [Spot]
      ) throws {
        storage.visits.store(0, ordering: .relaxed)
        #expect(try body() == expected, sourceLocation: location)
        let visits = storage.visits.load(ordering: .relaxed)
        #expect(visits <= count, sourceLocation: location)
      }
      try expectFew(expected) { try query.limit(10).retrieveAll() }
      try expectFew(expected) { try query.sorted(by: \.id).limit(10).retrieveAll() }
      try expectFew(expected.reversed()) { try query.sorted(by: \.id, .descending).limit(10).retrieveAll() }
      for query in [query, query.sorted(by: \.id)] {
        let first = try query.page(size: 3)
        #expect(first.objects == Array(expected[..<3]))
        try expectFew(Array(expected[3...])) { try query.page(after: first.next, size: 4).objects }
      }
    }
  }
}

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
}

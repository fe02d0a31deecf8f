import Synchronization
import Testing

@testable import GarageStorage

/// Queries whose indexes lead to nearly all objects, and those that entries answer without a record.
@Suite struct EntriesOfManyTests {
  private struct Ticket: Codable, Identifiable, Equatable {
    var id: Int
    var city: String
    var level: Int?

    init(_ id: Int) {
      self.id = id
      // Long ones are cut in entries.
      let long = String(repeating: "Ulm ", count: 80) + "\(id % 3)"
      city = id % 50 == 0 ? long : id % 4 == 0 ? "Ulm" : "Berlin"
      level = id % 3 == 0 ? nil : id % 7
    }
  }

  private static let open = Backend.engines.filter { !$0.isSealed }

  private func makeGarage(_ storage: any StorageDriver, _ tickets: [Ticket]) throws -> Garage {
    let garage = try Garage(storage)
    try garage.make([Index(\.city), Index(\.level)] as [Index<Ticket>])
    try garage.parkAll(tickets)
    return garage
  }

  private static var conditions: [(Condition<Ticket>, (Ticket) -> Bool)] {
    [
      (\.city == "Ulm", { $0.city == "Ulm" }),
      (\.city != "Ulm", { $0.city != "Ulm" }),
      (!(\.city == "Ulm"), { $0.city != "Ulm" }),
      (\.city > "Ulm", { $0.city > "Ulm" }),
      (\.level == nil, { $0.level == nil }),
      (!(\.level == 3), { $0.level != 3 }),
      (\.level >= 1, { ($0.level ?? 0) >= 1 }),
      (\.level == .oneOf([1, 2, nil]), { [1, 2, nil].contains($0.level) }),
      (\.city == "Ulm" && \.level == 3, { $0.city == "Ulm" && $0.level == 3 }),
    ]
  }

  @Test(arguments: open)
  func identifiersAndCountsAreThoseOfTheObjects(_ backend: Backend) throws {
    let tickets = (0..<900).map(Ticket.init)
    let garage = try makeGarage(try Place(backend).open(), tickets)
    for (condition, holds) in EntriesOfManyTests.conditions {
      let query = garage.query(Ticket.self).where(condition)
      let expected = tickets.filter(holds)
      let found = try query.identifiers().map { try garage.retrieve(Ticket.self, identifier: $0) }
      #expect(found == expected, "\(condition)")
      #expect(try query.count() == expected.count, "\(condition)")
    }
  }

  /// The entries of one value tell all, and no record is read.
  @Test(arguments: open)
  func identifiersTakeNoRecords(_ backend: Backend) throws {
    let tickets = (0..<900).map(Ticket.init)
    let storage = VisitCountingStorage(try Place(backend).open())
    let garage = try makeGarage(storage, tickets)
    let query = garage.query(Ticket.self).where(\.city == "Ulm")
    let count = try query.identifiers().count
    storage.visits.store(0, ordering: .relaxed)
    #expect(try query.identifiers().count == count)
    let visits = storage.visits.load(ordering: .relaxed)
    #expect(visits < count + 20)
  }

  private struct Parcel: Codable, Identifiable {
    var id: String
    var level: Int
  }

  /// Nor do those of a few: a long identifier makes no value that is cut.
  @Test(arguments: open)
  func countsTakeNoRecords(_ backend: Backend) throws {
    let storage = VisitCountingStorage(try Place(backend).open())
    let garage = try Garage(storage)
    try garage.make([Index(\.level)] as [Index<Parcel>])
    let long = String(repeating: "parcel ", count: 50)
    try garage.parkAll((0..<300).map { Parcel(id: long + "\($0)", level: $0 % 3) })
    let query = garage.query(Parcel.self).where(\.level == 1)
    #expect(try query.count() == 100)
    storage.visits.store(0, ordering: .relaxed)
    #expect(try query.limit(80).count() == 80)
    #expect(try query.limit(200).count() == 100)
    let visits = storage.visits.load(ordering: .relaxed)
    #expect(visits < 180 + 40)
  }

  /// An index that leads to nearly all is left for a scan, of however many objects: to ask for each of them took several times
  /// as long as without the index.
  @Test func nearlyAllAreReadInTheirOrder() throws {
    let tickets = (0..<20_000).map(Ticket.init)
    let storage = CountingStorage(try Place(.memory).open())
    let garage = try makeGarage(storage, tickets)
    let query = garage.query(Ticket.self).where(!(\.level == 3))
    let expected = tickets.filter { $0.level != 3 }
    #expect(try query.count() == expected.count)
    storage.gets.store(0, ordering: .relaxed)
    #expect(try query.retrieveAll() == expected)
    // Many at a time, they would be some twenty.
    let gets = storage.gets.load(ordering: .relaxed)
    #expect(gets < 10)
  }
}

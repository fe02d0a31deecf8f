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

  private struct Word: Codable, Identifiable, Equatable {
    var id: Int
    var text: String
    var number: Double?
  }

  /// Of what begins with ASCII, or is not one value, entries tell all but what may be made of several characters.
  @Test(arguments: open)
  func beginningsAndDifferencesAreToldByEntries(_ backend: Backend) throws {
    let texts = [
      "", "S", "Sa", "SA", "Sam", "S\u{301}", "S\u{301}a", "Sa\u{301}", "S\u{0}", "S\u{1}a", "S\r\n",
      "S\u{7F}", "S\u{80}", "ſ", "s",
      "T", "R\u{FFFF}", "S" + String(repeating: "long ", count: 60), "Śa", "Saé", "S\u{200D}", "K",
      "\u{212A}", "\u{212A}a",
    ]
    let numbers: [Double?] = [nil, .nan, 0, -0.0, 1, -1, .infinity]
    let words = (0..<600).map { id in
      Word(id: id, text: texts[id % texts.count], number: numbers[id * 5 % numbers.count])
    }
    let garage = try Garage(Place(backend).open())
    try garage.make([Index(\.text), Index(\.number)] as [Index<Word>])
    try garage.parkAll(words)
    func check(_ condition: Condition<Word>, _ holds: (Word) -> Bool) throws {
      let query = garage.query(Word.self).where(condition)
      let expected = words.filter(holds)
      #expect(try query.count() == expected.count, "\(condition)")
      #expect(try query.limit(20).count() == min(20, expected.count), "\(condition)")
      #expect(try query.identifiers().map(\.description) == expected.map { "\($0.id)" }, "\(condition)")
      #expect(try query.values(\.id) == expected.map(\.id), "\(condition)")
    }
    for text in texts {
      try check(\.text == .hasPrefix(text)) { $0.text.hasPrefix(text) }
      try check(\.text != .hasPrefix(text)) { !$0.text.hasPrefix(text) }
      try check(\.text != text) { $0.text != text }
      try check(\.text == .hasPrefix(text) && \.text != "Sam") { $0.text.hasPrefix(text) && $0.text != "Sam" }
      try check(\.text != .oneOf([text, "T"])) { $0.text != text && $0.text != "T" }
    }
    for number in numbers {
      try check(\.number != number) { $0.number != number }
      guard let number else { continue }
      try check(!(\.number < number)) { !($0.number.map { $0 < number } ?? false) }
      try check(!(\.number >= number)) { !($0.number.map { $0 >= number } ?? false) }
      try check(\.number > -1 && \.number != number) {
        ($0.number.map { $0 > -1 } ?? false) && $0.number != number
      }
    }
  }

  /// Neither are records read to count them.
  @Test func beginningsAreCountedWithoutRecords() throws {
    let storage = CountingStorage(try Place(.memory).open())
    let garage = try Garage(storage)
    try garage.make([Index(\.text)] as [Index<Word>])
    try garage.parkAll((0..<3000).map { Word(id: $0, text: $0 % 3 == 0 ? "Sam \($0)" : "Tom", number: nil) })
    let query = garage.query(Word.self)
    #expect(try query.where(\.text == .hasPrefix("S")).count() == 1000)
    storage.gets.store(0, ordering: .relaxed)
    #expect(try query.where(\.text == .hasPrefix("S")).count() == 1000)
    #expect(try query.where(\.text != "Tom").count() == 1000)
    #expect(try query.where(\.text != .hasPrefix("Sam")).count() == 2000)
    let gets = storage.gets.load(ordering: .relaxed)
    #expect(gets < 30)
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

import GarageStorage
import Synchronization
import Testing

/// What objects have where records have nothing, or a nil, is theirs: queries ask them.
@Suite struct DefaultedValueTests {
  private static let open = Backend.engines.filter { !$0.isSealed }

  // MARK: - A default of what is around a value

  private enum First {
    struct User: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "user of defaulted values" }
      var id: Int
    }
  }
  private struct Look: Codable, Equatable {
    enum Mode: String, Codable { case light, dark }
    enum Shade: Codable { case soft, hard }
    struct Spot: Codable, Equatable { var x = 0, y = 0 }
    var theme: String?
    var mode = Mode.light
    var shade = Shade.soft
    var spot = Spot()
    var size = 12
    var inner: Inner?
    struct Inner: Codable, Equatable { var note: String? }
  }
  private struct User: Codable, Identifiable, TypeTagged, Equatable {
    static var typeTag: String { "user of defaulted values" }
    var id: Int
    var look: Look

    init(_ id: Int, _ look: Look) { (self.id, self.look) = (id, look) }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      look =
        try container.decodeIfPresent(Look.self, forKey: .look)
        ?? Look(
          theme: "light", mode: .dark, shade: .hard, spot: .init(x: 1, y: 2), inner: .init(note: "default"))
    }
  }

  @Test(arguments: open, [false, true])
  func ofWhatIsAroundIt(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<6).map { First.User(id: $0) })
    try garage.parkAll((6..<9).map { User($0, Look()) })
    try garage.park(User(9, Look(theme: "light", mode: .dark, shade: .hard, inner: Look.Inner(note: nil))))
    if isIndexed {
      try garage.make([
        Index(\User.look.theme, .readable), Index(\User.look.mode, .readable), Index(\User.look.size),
      ])
    }
    let all = try garage.retrieveAll(User.self)
    func expect(_ condition: Condition<User>, _ holds: (User) -> Bool) throws {
      let query = garage.query(User.self).where(condition)
      #expect(try query.values(\.id).sorted() == all.filter(holds).map(\.id), "\(condition)")
      #expect(try query.count() == all.count(where: holds), "\(condition)")
      #expect(try query.retrieveAll().map(\.id).sorted() == all.filter(holds).map(\.id), "\(condition)")
    }
    try expect(\.look.theme == nil) { $0.look.theme == nil }
    try expect(\.look.theme != nil) { $0.look.theme != nil }
    try expect(\.look.theme == "light") { $0.look.theme == "light" }
    try expect(\.look.mode == .dark) { $0.look.mode == .dark }
    try expect(\.look.mode != .dark) { $0.look.mode != .dark }
    try expect(\.look.shade == .hard) { $0.look.shade == .hard }
    try expect(\.look.shade == .soft) { $0.look.shade == .soft }
    try expect(\.look.spot == Look.Spot(x: 1, y: 2)) { $0.look.spot == Look.Spot(x: 1, y: 2) }
    try expect(\.look.inner?.note == nil) { $0.look.inner?.note == nil }
    try expect(\.look.inner == nil) { $0.look.inner == nil }
    try expect(\.look.size == 12) { $0.look.size == 12 }
    let query = garage.query(User.self)
    #expect(try query.sorted(by: \.id).values(\.look.theme) == all.map(\.look.theme))
    #expect(try Set(query.distinct(\.look.theme)) == Set(all.map(\.look.theme)))
    #expect(try query.sorted(by: \.look.theme).values(\.id) == [6, 7, 8, 0, 1, 2, 3, 4, 5, 9])
  }

  // MARK: - A default in place of a nil

  private enum Formerly {
    struct Item: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "item of defaulted values" }
      var id: Int
      var rank: Int?
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(rank, forKey: .rank)
      }
    }
  }
  private struct Item: Codable, Identifiable, TypeTagged, Equatable {
    static var typeTag: String { "item of defaulted values" }
    var id: Int
    var rank: Int

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      rank = try container.decodeIfPresent(Int.self, forKey: .rank) ?? 0
    }
  }

  @Test(arguments: open, [false, true])
  func inPlaceOfANil(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try Place(backend).garage()
    let ranks = [nil, -5, 3, nil, 0, 7, nil, -1]
    try garage.parkAll(ranks.enumerated().map { Formerly.Item(id: $0.offset, rank: $0.element) })
    if isIndexed { try garage.make([Index(\Item.rank)]) }
    let query = garage.query(Item.self)
    func expect(_ condition: Condition<Item>, _ holds: (Int) -> Bool) throws {
      let expected = ranks.indices.filter { holds(ranks[$0] ?? 0) }
      #expect(try query.where(condition).values(\.id).sorted() == expected, "\(condition)")
      #expect(try query.where(condition).count() == expected.count, "\(condition)")
      #expect(try query.where(condition).retrieveAll().map(\.id).sorted() == expected, "\(condition)")
    }
    try expect(\.rank == 0) { $0 == 0 }
    try expect(\.rank != 0) { $0 != 0 }
    try expect(\.rank < 1) { $0 < 1 }
    try expect(\.rank >= 0) { $0 >= 0 }
    try expect(\.rank == .oneOf([0, 3])) { $0 == 0 || $0 == 3 }
    try expect(\.rank > -2 && \.rank < 3) { $0 > -2 && $0 < 3 }
    #expect(try query.countByValue(\.rank) == [0: 4, -5: 1, 3: 1, 7: 1, -1: 1])
    let sorted = query.sorted(by: \.rank)
    #expect(try sorted.values(\.rank) == [-5, -1, 0, 0, 0, 0, 3, 7])
    var found: [Int] = []
    var page = try sorted.page(size: 1)
    while !page.objects.isEmpty {
      found += page.objects.map(\.rank)
      guard let next = page.next else { break }
      page = try sorted.page(after: next, size: 1)
    }
    #expect(found == [-5, -1, 0, 0, 0, 0, 3, 7])
  }

  // MARK: - Types that expect what they have written

  private struct Job: Codable, Identifiable {
    enum Level: String { case low, high }
    static let wasMadeUp = Atomic<Bool>(false)
    struct Surprise: Error {}

    var id: Int
    var title: String
    var level: Level

    private enum CodingKeys: CodingKey { case id, title, level }

    init(_ id: Int) { (self.id, title, level) = (id, "job \(id)", .high) }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      title = try container.decode(String.self, forKey: .title)
      // An app would end here.
      guard let level = Level(rawValue: try container.decode(String.self, forKey: .level)) else {
        Job.wasMadeUp.store(true, ordering: .relaxed)
        throw Surprise()
      }
      self.level = level
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(title, forKey: .title)
      try container.encode(level.rawValue, forKey: .level)
    }
  }
  private struct Other: Codable, Identifiable {
    var id: Int
    var name: String
  }

  /// The first question about a type is one for a single value, in a store that has an index of another one.
  @Test func theFirstQuestionLooksAtObjects() throws {
    let place = try Place(.memory)
    let garage = try place.garage()
    try garage.make([Index(\Other.name)])
    try garage.parkAll((0..<10).map { Job($0) })
    let found = try garage.query(Job.self).where(\.title == "job 3").retrieveAll()
    #expect(found.map(\.id) == [3])
    let wasMadeUp = Job.wasMadeUp.load(ordering: .relaxed)
    #expect(!wasMadeUp)
  }

  // MARK: - References by a former name

  private enum Before {
    struct Person: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "customer of defaulted values" }
      var id: Int
    }
    struct Ticket: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "ticket of defaulted values" }
      var id: Int
      var owner: Reference<Person>?
    }
  }
  private struct Person: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "person of defaulted values" }
    static var formerTypeTags: [String] { ["customer of defaulted values"] }
    var id: Int
  }
  private struct Ticket: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "ticket of defaulted values" }
    var id: Int
    var owner: Reference<Person>?
  }

  @Test(arguments: open, [false, true])
  func referencesByAFormerName(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<3).map { Before.Person(id: $0) })
    try garage.parkAll(
      (0..<12).map { id in
        Before.Ticket(id: id, owner: id % 4 == 3 ? nil : Reference(Before.Person.self, identifier: id % 4))
      })
    try garage.parkAll((12..<16).map { Ticket(id: $0, owner: Reference(Person.self, identifier: $0 % 4)) })
    if isIndexed { try garage.make([Index(\Ticket.owner)]) }
    let query = garage.query(Ticket.self)
    let one = Reference(Person.self, identifier: 1)
    #expect(try query.where(\.owner == one).values(\.id).sorted() == [1, 5, 9, 13])
    #expect(try query.where(\.owner != one).count() == 12)
    let some: Condition<Ticket> = \.owner == .oneOf([one, Reference(Person.self, identifier: 2)])
    #expect(try query.where(some).values(\.id).sorted() == [1, 2, 5, 6, 9, 10, 13, 14])
  }
}

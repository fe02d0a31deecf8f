import Foundation
import Testing

@testable import GarageStorage

/// Types whose `init(from:)` ends the program where it does not find what their objects have: such values are never made up.
@Suite struct ForcedValueTests {
  enum Level: String, Codable, CaseIterable, Comparable, Sendable {
    case low, middle, high
    static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }
  enum Size: Int, Codable, Sendable { case small = 40, large = 50 }
  struct Span: Codable, Equatable, Sendable {
    var bounds: ClosedRange<Int>
    var name: String
    init(_ bounds: ClosedRange<Int>, _ name: String) { (self.bounds, self.name) = (bounds, name) }

    private enum CodingKeys: CodingKey { case lower, upper, name }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let lower = try container.decode(Int.self, forKey: .lower)
      bounds = lower...(try container.decode(Int.self, forKey: .upper))
      name = try container.decode(String.self, forKey: .name)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(bounds.lowerBound, forKey: .lower)
      try container.encode(bounds.upperBound, forKey: .upper)
      try container.encode(name, forKey: .name)
    }
  }

  /// One value, made of another.
  struct Code: Codable, Hashable, Sendable {
    var number: Int
    init(_ number: Int) { self.number = number }
    init(from decoder: any Decoder) throws {
      number = Int(try decoder.singleValueContainer().decode(String.self))!
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode("\(number)")
    }
  }
  @propertyWrapper struct Digits: Codable, Equatable, Sendable {
    var wrappedValue: Int
    init(wrappedValue: Int) { self.wrappedValue = wrappedValue }
    init(from decoder: any Decoder) throws {
      let text = try String(from: decoder)
      precondition(text.hasPrefix("n"))
      wrappedValue = Int(text.dropFirst())!
    }
    func encode(to encoder: any Encoder) throws { try "n\(wrappedValue)".encode(to: encoder) }
  }
  /// Read by what its parts read themselves with.
  struct Seal: Codable, Equatable, Sendable {
    var bytes: Data, day: Date, token: UUID
    init(_ id: Int) {
      (bytes, day) = (Data([7, UInt8(id % 5), 7, 7]), Date(timeIntervalSinceReferenceDate: Double(id % 3)))
      token = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(id % 2)))
    }
    private enum CodingKeys: CodingKey { case bytes, day, token }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      bytes = try Data(from: container.superDecoder(forKey: .bytes))
      day = try Date(from: container.superDecoder(forKey: .day))
      token = try UUID(from: container.superDecoder(forKey: .token))
      precondition(bytes.count == 4 && bytes[0] == 7)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try bytes.encode(to: container.superEncoder(forKey: .bytes))
      try container.encode(day, forKey: .day)
      try container.encode(token, forKey: .token)
    }
  }

  /// - Parameter Store: tells apart the types of different tests: what is known of a type, its process knows.
  struct Ticket<Store: Sendable>: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var title: String
    var count: Int
    var level: Level
    var size: Size
    var link: URL
    var token: UUID
    var number: Int
    var share: Double
    var day: Date
    var small: UInt8
    var window: ClosedRange<Int>
    var second: String
    var numbers: [Int]
    var priority: Int?
    var grid: [[Int]]
    var span: Span
    var isOpen: Bool
    /// Of a wire format.
    var given: String, family: String

    init(_ id: Int) {
      self.id = id
      (title, count) = ("title \(id % 9)", id % 13)
      (level, size) = (Level.allCases[id % 3], id % 2 == 0 ? .small : .large)
      link = URL(string: "https://example.org/\(id % 4)")!
      token = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(id % 7)))
      (number, share) = (id % 11, Double(id % 5) / 4)
      day = Date(timeIntervalSinceReferenceDate: Double(id % 6) * 86_400)
      small = UInt8(id % 200)
      window = (id * 10)...(id * 10 + 5)
      second = "s\(id % 3)"
      numbers = (0..<id % 4).map { $0 * 2 }
      priority = id % 4 == 3 ? id % 5 : nil
      grid = [[id, 1], [2, 3]]
      span = Span(id * 7...id * 7 + 3, "span \(id % 3)")
      isOpen = id % 2 == 0
      (given, family) = ("given \(id % 4)", "family \(id % 5)")
    }

    private enum CodingKeys: CodingKey {
      case id, title, count, level, size, link, token, number, share, day, small, lower, upper, pair, numbers,
        priority, grid, span, isOpen, name
    }
    private struct Name: Codable { var given: String, family: String, initials: String }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      title = try container.decode(String.self, forKey: .title)
      count = try container.decode(Int.self, forKey: .count)
      level = Level(rawValue: try container.decode(String.self, forKey: .level))!
      size = Size(rawValue: try container.decode(Int.self, forKey: .size))!
      link = URL(string: try container.decode(String.self, forKey: .link))!
      token = UUID(uuidString: try container.decode(String.self, forKey: .token))!
      number = Int(try container.decode(String.self, forKey: .number))!
      share = Double(try container.decode(String.self, forKey: .share))!
      let day = try container.decode(String.self, forKey: .day)
      self.day = (try? Date(day, strategy: .iso8601))!
      small = UInt8(try container.decode(Int.self, forKey: .small))
      let lower = try container.decode(Int.self, forKey: .lower)
      window = lower...(try container.decode(Int.self, forKey: .upper))
      second = String(try container.decode(String.self, forKey: .pair).split(separator: ",")[1])
      numbers = try container.decode([String].self, forKey: .numbers).map { Int($0)! }
      priority = try container.decodeIfPresent(String.self, forKey: .priority).map { Int($0)! }
      let flat = try container.decode([Int].self, forKey: .grid)
      grid = [[flat[0], flat[1]], [flat[2], flat[3]]]
      span = try container.decode(Span.self, forKey: .span)
      isOpen = try container.decode(Bool.self, forKey: .isOpen)
      let name = try container.decode(Name.self, forKey: .name)
      (given, family) = (name.given, name.family)
      precondition(name.initials == "gf")
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(title, forKey: .title)
      try container.encode(count, forKey: .count)
      try container.encode(level.rawValue, forKey: .level)
      try container.encode(size.rawValue, forKey: .size)
      try container.encode(link.absoluteString, forKey: .link)
      try container.encode(token.uuidString, forKey: .token)
      try container.encode("\(number)", forKey: .number)
      try container.encode("\(share)", forKey: .share)
      try container.encode(day.formatted(.iso8601), forKey: .day)
      try container.encode(Int(small), forKey: .small)
      try container.encode(window.lowerBound, forKey: .lower)
      try container.encode(window.upperBound, forKey: .upper)
      try container.encode("first,\(second)", forKey: .pair)
      try container.encode(numbers.map { "\($0)" }, forKey: .numbers)
      try container.encodeIfPresent(priority.map { "\($0)" }, forKey: .priority)
      try container.encode(grid.flatMap { $0 }, forKey: .grid)
      try container.encode(span, forKey: .span)
      try container.encode(isOpen, forKey: .isOpen)
      try container.encode(Name(given: given, family: family, initials: "gf"), forKey: .name)
    }
  }

  private enum First: Sendable {}

  /// - Parameter decodes: whether the objects have to be asked: not for what is stored as it is.
  func check<Root: Codable & Equatable & SendableMetatype>(
    _ garage: Garage, _ objects: [Root], decodes: Bool = true, _ condition: Condition<Root>,
    _ holds: (Root) -> Bool
  ) throws {
    let query = garage.query(Root.self).where(condition)
    #expect(try query.retrieveAll() == objects.filter(holds), "\(condition)")
    #expect(try query.explain().description.contains("decodes") == decodes, "\(condition)")
  }

  private func checkAll<Store>(_ garage: Garage, _ tickets: [Ticket<Store>]) throws {
    try check(garage, tickets, decodes: false, \.title == "title 3") { $0.title == "title 3" }
    try check(garage, tickets, decodes: false, \.count >= 10) { $0.count >= 10 }
    try check(garage, tickets, decodes: false, \.isOpen == true) { $0.isOpen }
    try check(garage, tickets, decodes: false, \.span.name == "span 1") { $0.span.name == "span 1" }
    try check(garage, tickets, \.level == .high) { $0.level == .high }
    try check(garage, tickets, \.level > .low) { $0.level > .low }
    try check(garage, tickets, \.size == .large) { $0.size == .large }
    try check(garage, tickets, \.link == URL(string: "https://example.org/2")!) { $0.link.path == "/2" }
    let token = tickets[3].token
    try check(garage, tickets, \.token == token) { $0.token == token }
    try check(garage, tickets, \.number > 8) { $0.number > 8 }
    try check(garage, tickets, \.share == 0.5) { $0.share == 0.5 }
    try check(garage, tickets, \.day >= tickets[4].day) { $0.day >= tickets[4].day }
    // Of another width, and the same number.
    try check(garage, tickets, decodes: false, \.small > 20) { $0.small > 20 }
    try check(garage, tickets, \.window == 50...55) { $0.window == 50...55 }
    try check(garage, tickets, \.window.lowerBound >= 90) { $0.window.lowerBound >= 90 }
    try check(garage, tickets, \.second == "s1") { $0.second == "s1" }
    try check(garage, tickets, \.numbers == .contains(4)) { $0.numbers.contains(4) }
    try check(garage, tickets, \.priority == 3) { $0.priority == 3 }
    try check(garage, tickets, \.priority == nil) { $0.priority == nil }
    try check(garage, tickets, \.given == "given 2") { $0.given == "given 2" }
    try check(garage, tickets, \.span == tickets[2].span) { $0.span == tickets[2].span }
    let query = garage.query(Ticket<Store>.self)
    #expect(try query.values(\.level) == tickets.map(\.level))
    #expect(try query.values(\.number) == tickets.map(\.number))
    #expect(try query.sorted(by: \.title).retrieveAll().map(\.title) == tickets.map(\.title).sorted())
    #expect(try query.sorted(by: \.day, .descending).first()?.day == tickets.map(\.day).max())
    #expect(try query.sum(\.number) == tickets.map(\.number).reduce(0, +))
    #expect(try query.countByValue(\.level)[.low] == tickets.count { $0.level == .low })
    #expect(try Set(query.distinct(\.size)) == Set(tickets.map(\.size)))
  }

  @Test(arguments: Backend.allCases)
  func askedOfObjectsThatAreThere(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let query = garage.query(Ticket<First>.self)
    // There is nothing to learn from.
    #expect(try query.where(\.level == .high && \.title == "a").retrieveAll().isEmpty)
    #expect(try query.sorted(by: \.number).values(\.link).isEmpty)
    let tickets = (0..<40).map(Ticket<First>.init)
    try garage.parkAll(tickets)
    try checkAll(garage, tickets)
  }

  struct Parcel: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var name: String
    var code: Code
    var other: Code?
    @Digits var digits: Int
    var codes: [Code]
    var seal: Seal
    init(_ id: Int) {
      (self.id, name, code, other) = (id, "name \(id % 3)", Code(id % 7), id % 2 == 0 ? nil : Code(id % 5))
      (digits, codes, seal) = (id % 6, (0..<id % 3).map(Code.init), Seal(id))
    }
  }

  /// Has nothing of what it makes something else of, and keeps other things that it has not either.
  struct Sparse: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var name: String
    var note: String?
    var number: Int?
    var level: Level?
    var link: URL?
    var codes: [Int]
    var rank: Int
    var remark: String?

    private enum CodingKeys: String, CodingKey {
      case id, name, note, number, level, link, codes, rank, remark = "re"
    }
    init(_ id: Int) { (self.id, name, codes, rank) = (id, "name \(id % 3)", [], 9) }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      name = try container.decode(String.self, forKey: .name)
      note = try container.decodeIfPresent(String.self, forKey: .note)
      number = try container.decodeIfPresent(String.self, forKey: .number).map { Int($0)! }
      level = (try? container.decode(String.self, forKey: .level)).map { Level(rawValue: $0)! }
      if container.contains(.link) {
        link = URL(string: try container.decode(String.self, forKey: .link) + "://")!
      }
      codes = try container.decode([String].self, forKey: .codes).map { Int($0)! }
      rank = try container.decodeIfPresent(Int.self, forKey: .rank) ?? 9
      remark = try container.decodeIfPresent(String.self, forKey: .remark)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(name, forKey: .name)
      try container.encodeIfPresent(note, forKey: .note)
      try container.encodeIfPresent(number.map { "\($0)" }, forKey: .number)
      try container.encodeIfPresent(level?.rawValue, forKey: .level)
      try container.encode(codes.map { "\($0)" }, forKey: .codes)
      if rank != 9 { try container.encode(rank, forKey: .rank) }
      try container.encodeIfPresent(remark, forKey: .remark)
    }
  }

  @Test(arguments: Backend.allCases)
  func nilInAllThatTell(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    var all = (0..<60).map(Sparse.init)
    for id in 25..<35 {
      (all[id].note, all[id].number, all[id].level) = ("note", id, .middle)
      (all[id].codes, all[id].rank, all[id].remark) = ([id], id, "re \(id)")
    }
    try garage.parkAll(all)
    try check(garage, all, decodes: false, \.name == "name 2") { $0.name == "name 2" }
    try check(garage, all, decodes: false, \.note == "note") { $0.note == "note" }
    // By its key it may be any of the texts that there are none of.
    try check(garage, all, \.remark == "re 27") { $0.remark == "re 27" }
    try check(garage, all, \.number == 30) { $0.number == 30 }
    try check(garage, all, \.number == nil) { $0.number == nil }
    try check(garage, all, \.level == .middle) { $0.level == .middle }
    try check(garage, all, \.codes == .contains(31)) { $0.codes.contains(31) }
    try check(garage, all, decodes: false, \.rank == 30) { $0.rank == 30 }
  }

  @Test(arguments: Backend.allCases)
  func typesOfOneValue(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let parcels = (0..<40).map(Parcel.init)
    try garage.parkAll(parcels)
    try check(garage, parcels, decodes: false, \.name == "name 2") { $0.name == "name 2" }
    try check(garage, parcels, decodes: false, \.other == nil) { $0.other == nil }
    try check(garage, parcels, \.code == Code(3)) { $0.code == Code(3) }
    try check(garage, parcels, \.code.number > 4) { $0.code.number > 4 }
    try check(garage, parcels, \.other == Code(3)) { $0.other == Code(3) }
    try check(garage, parcels, \.digits == 4) { $0.digits == 4 }
    try check(garage, parcels, \.codes == .contains(Code(1))) { $0.codes.contains(Code(1)) }
    try check(garage, parcels, \.seal.token == parcels[1].seal.token) { $0.id % 2 == 1 }
    try check(garage, parcels, \.seal.day > parcels[0].seal.day) { $0.id % 3 != 0 }
    try check(garage, parcels, \.seal.bytes == parcels[2].seal.bytes) { $0.id % 5 == 2 }
    #expect(try garage.query(Parcel.self).values(\.digits) == parcels.map(\.digits))
  }

  struct Order<Store: Sendable>: Codable, Identifiable, Equatable, Indexed, Sendable {
    static var indexes: [Index<Order>] { [Index(\.name), Index(\.total, .unique), Index(\.part.name)] }
    struct Part: Codable, Equatable, Sendable {
      var name: String, level: Level
      private enum CodingKeys: CodingKey { case name, level }
      init(_ id: Int) { (name, level) = ("part \(id % 3)", Level.allCases[id % 3]) }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        level = Level(rawValue: try container.decode(String.self, forKey: .level))!
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(level.rawValue, forKey: .level)
      }
    }
    var id: Int
    var name: String
    var total: Int
    var part: Part
    var parts: [Part]
    var byName: [String: Part]
    init(_ id: Int) {
      (self.id, name, total, part) = (id, "name \(id % 5)", id * 3, Part(id))
      (parts, byName) = ((0..<id % 3).map(Part.init), ["a": Part(id + 1)])
    }
  }
  private enum Second: Sendable {}
  private enum Third: Sendable {}

  private func checkAll<Store>(_ garage: Garage, _ orders: [Order<Store>]) throws {
    try check(garage, orders, decodes: false, \.name == "name 3") { $0.name == "name 3" }
    try check(garage, orders, decodes: false, \.part.name == "part 2") { $0.part.name == "part 2" }
    try check(garage, orders, decodes: false, \.total > 90) { $0.total > 90 }
    try check(garage, orders, \.part.level == .middle) { $0.part.level == .middle }
    let query = garage.query(Order<Store>.self)
    #expect(try query.where(\.name == "name 3").explain().indexes == ["name"])
    #expect(try query.where(\.part.name == "part 2").explain().indexes == ["part.name"])
    #expect(try query.countByValue(\.name)["name 1"] == 8)
    #expect(throws: GarageError.self) { try garage.park(Order<Store>.twin) }
    #expect(try garage.verifyIndexes().isSound)
  }

  @Test(arguments: Backend.allCases.filter { !$0.isSealed })
  func indexedBeforeThereAreObjects(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    // Nothing is found, whatever it is asked with.
    #expect(try garage.query(Order<Second>.self).where(\.name == "a").retrieveAll().isEmpty)
    let orders = (0..<40).map(Order<Second>.init)
    try garage.parkAll(orders)
    try checkAll(garage, orders)
  }

  /// Makes something else of text, and says so where it cannot.
  struct Letter: Codable, Identifiable, Equatable, Indexed, Sendable {
    static var indexes: [Index<Letter>] { [Index(\.mail)] }
    struct Mail: RawRepresentable, Codable, Hashable, Sendable {
      let rawValue: String
      init?(rawValue: String) {
        guard rawValue.contains("@") else { return nil }
        self.rawValue = rawValue
      }
    }
    var id: Int
    var mail: Mail
    private enum CodingKeys: CodingKey { case id, mail }
    init(_ id: Int, _ mail: Mail) { (self.id, self.mail) = (id, mail) }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      guard let mail = Mail(rawValue: try container.decode(String.self, forKey: .mail)) else {
        throw DecodingError.dataCorruptedError(
          forKey: .mail, in: container, debugDescription: "It is no address.")
      }
      self.mail = mail
    }
  }

  /// Cannot be told from one that ends the program. But an index needs its field.
  @Test(arguments: Backend.allCases.filter { !$0.isSealed })
  func indexOfWhatIsMadeOfAnother(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let letters = try (0..<20).map {
      Letter($0, try #require(Letter.Mail(rawValue: "\($0 % 4)@example.org")))
    }
    try garage.parkAll(letters)
    let mail = letters[3].mail
    try check(garage, letters, decodes: false, \.mail == mail) { $0.mail == mail }
    #expect(try garage.query(Letter.self).where(\.mail == mail).explain().indexes == ["mail"])
  }

  struct Box: Sendable { var level: Level }
  /// Has something of the program's.
  struct Dependent: Codable, Identifiable, Equatable, Indexed, Sendable {
    static let key = CodingUserInfoKey(rawValue: "box")!
    static var indexes: [Index<Dependent>] { [Index(\.name)] }
    var id: Int
    var name: String
    var level: Level
    private enum CodingKeys: CodingKey { case id, name }
    init(_ id: Int) { (self.id, name, level) = (id, "name \(id % 4)", .high) }
    init(from decoder: any Decoder) throws {
      level = (decoder.userInfo[Dependent.key] as! Box).level
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      name = try container.decode(String.self, forKey: .name)
    }
  }

  @Test(arguments: Backend.allCases.filter { !$0.isSealed })
  func findsUserInfo(_ backend: Backend) throws {
    let garage = try Place(backend).garage(userInfo: [Dependent.key: Box(level: .high)])
    #expect(try garage.query(Dependent.self).where(\.name == "name 1").count() == 0)
    let all = (0..<20).map(Dependent.init)
    try garage.parkAll(all)
    try check(garage, all, decodes: false, \.name == "name 1") { $0.name == "name 1" }
    #expect(try garage.query(Dependent.self).where(\.name == "name 1").explain().indexes == ["name"])
  }
}

extension ForcedValueTests.Order {
  /// With the total of another one.
  fileprivate static var twin: Self {
    var order = Self(1000)
    order.total = 9
    return order
  }
}

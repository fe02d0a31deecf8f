import Foundation
import GarageMemory
import Testing

@testable import GarageStorage

/// Properties that have what a field has in some objects, and not in all: what they are made of is decided by code.
@Suite struct ComputedPropertyTests {
  enum Level: Int, Codable, CaseIterable {
    case low = 1, middle, high
    /// The raw value, but for the last case.
    var weight: Int { self == .high ? 10 : rawValue }
  }
  struct Box: Codable, Equatable {
    var width: Int
    var height: Int
    var area: Int { width * height }
    var longer: Int {
      get { max(width, height) }
      set { width = newValue }
    }
  }

  struct Offer: Codable, Identifiable, Equatable {
    var id: Int
    var price: Int
    var quantity: Int
    var first: String
    var last: String
    var isNew: Bool
    var isPaid: Bool
    var ratio: Double
    var scale: Double
    var begin: Date
    var end: Date
    var sale: Int?
    var box: Box
    var spare: Box?
    var level: Level
    /// Made when it is decoded, and not stored.
    let sum: Int
    let mostlyPrice: Int
    var seen: Int { didSet {} }

    enum CodingKeys: CodingKey {
      case id, price, quantity, first, last, isNew, isPaid, ratio, scale, begin, end, sale, box, spare, level,
        seen
    }

    init(_ id: Int, _ random: inout SeededGenerator) {
      func pick<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }
      self.id = id
      price = pick([-3, -1, 0, 1, 2, 50])
      quantity = pick([-2, 0, 1, 2, 7])
      first = pick(["", "Ann", "Bob"])
      last = pick(["", "Ann", "Zed"])
      isNew = pick([true, false])
      isPaid = pick([true, false])
      ratio = pick([-1.5, 0, 1, 2.5])
      scale = pick([-1, 0, 1, 2])
      begin = pick([Date.distantPast, Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1)])
      end = pick([Date.distantFuture, Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1)])
      sale = pick([nil, 0, 1, 9])
      box = Box(width: pick([0, 1, 2, 3]), height: pick([0, 1, 2, 3]))
      spare = pick([nil, Box(width: 1, height: 2), Box(width: 2, height: 1)])
      level = pick(Level.allCases)
      seen = pick([0, 1, 2])
      (sum, mostlyPrice) = Offer.made(price, quantity)
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      func read<T: Decodable>(_ key: CodingKeys) throws -> T { try container.decode(T.self, forKey: key) }
      (id, price, quantity) = try (read(.id), read(.price), read(.quantity))
      (first, last, isNew, isPaid) = try (read(.first), read(.last), read(.isNew), read(.isPaid))
      (ratio, scale, begin, end) = try (read(.ratio), read(.scale), read(.begin), read(.end))
      sale = try container.decodeIfPresent(Int.self, forKey: .sale)
      (box, level, seen) = try (read(.box), read(.level), read(.seen))
      spare = try container.decodeIfPresent(Box.self, forKey: .spare)
      (sum, mostlyPrice) = Offer.made(price, quantity)
    }

    private static func made(_ price: Int, _ quantity: Int) -> (Int, Int) {
      (price * quantity, max(price, quantity))
    }

    var total: Int { price * quantity }
    var larger: Int { max(price, quantity) }
    var smaller: Int { min(price, quantity) }
    var size: Int { abs(price) }
    var capped: Int { min(price, 2) }
    var isEither: Bool { isNew || isPaid }
    var isBoth: Bool { isNew && isPaid }
    var isOdd: Bool { isNew != isPaid }
    var shown: String { first.isEmpty ? last : first }
    var lowercased: String { first.lowercased() }
    var product: Double { ratio * scale }
    var latest: Date { max(begin, end) }
    var toPay: Int { sale ?? price }
    var positive: Int? { price > 0 ? price : nil }
    var named: String? { first.isEmpty ? nil : first }
    /// The price, under another name.
    var cost: Int {
      get { price }
      set { price = newValue }
    }
    var highest: Int {
      get { max(price, quantity) }
      set { price = newValue }
    }
    var isAny: Bool {
      get { isNew || isPaid }
      set { isNew = newValue }
    }
  }

  class Account: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "account of computed properties" }
    var id: Int
    var gains: Int
    var losses: Int
    final var rest: Int
    let limit: Int
    var box: Box?

    init(_ id: Int, _ random: inout SeededGenerator) {
      self.id = id
      gains = Int.random(in: 0...3, using: &random)
      losses = Int.random(in: 0...3, using: &random)
      rest = Int.random(in: 0...3, using: &random)
      limit = Int.random(in: 0...3, using: &random)
      box = Bool.random(using: &random) ? Box(width: gains, height: losses) : nil
    }

    var larger: Int { max(gains, losses) }
    var product: Int {
      get { gains * losses }
      set { gains = newValue }
    }
    final var rests: Int { max(rest, limit) }
  }

  @Test(arguments: Backend.engines)
  func properties(_ backend: Backend) throws {
    var random = SeededGenerator(seed: 45)
    let garage = try Place(backend).garage()
    let offers = (0..<100).map { Offer($0, &random) }
    try garage.parkAll(offers)
    let query = garage.query(Offer.self)

    func check<Value: Codable & Comparable & Hashable>(_ property: KeyPath<Offer, Value>) throws {
      let values = offers.map { $0[keyPath: property] }
      for value in Set(values) {
        #expect(try query.where(property == value).count() == values.count { $0 == value }, "\(property)")
        #expect(try query.where(property < value).count() == values.count { $0 < value }, "\(property)")
      }
      #expect(try query.values(property) == values, "\(property)")
      #expect(try query.sorted(by: property).values(property) == values.sorted(), "\(property)")
      #expect(try query.max(property) == values.max(), "\(property)")
    }
    func checkEquality<Value: Codable & Hashable>(_ property: KeyPath<Offer, Value>) throws {
      let values = offers.map { $0[keyPath: property] }
      for value in Set(values) {
        #expect(try query.where(property == value).count() == values.count { $0 == value }, "\(property)")
      }
      #expect(try query.values(property) == values, "\(property)")
      #expect(try query.countByValue(property) == Dictionary(values.map { ($0, 1) }, uniquingKeysWith: +))
    }
    for property in [
      \.total, \.larger, \.smaller, \.size, \.capped, \.toPay, \.cost, \.highest, \.sum, \.mostlyPrice,
      \.seen,
      \.box.area, \.box.longer, \.box.width, \.level.rawValue, \.level.weight, \.first.count,
    ] as [KeyPath<Offer, Int>] { try check(property) }
    for property in [\.shown, \.lowercased, \.first] as [KeyPath<Offer, String>] { try check(property) }
    try check(\.product)
    try check(\.latest)
    for property in [\.isEither, \.isBoth, \.isOdd, \.isAny, \.isNew] as [KeyPath<Offer, Bool>] {
      try checkEquality(property)
    }
    for property in [
      \.positive, \.sale, \.spare?.area, \.spare?.longer, \.spare?.width,
      \.spare?.area.magnitude.nonzeroBitCount,
    ] as [KeyPath<Offer, Int?>] { try checkEquality(property) }
    try checkEquality(\.named)
  }

  @Test(arguments: Backend.engines)
  func propertiesOfClasses(_ backend: Backend) throws {
    var random = SeededGenerator(seed: 46)
    let garage = try Place(backend).garage()
    let accounts = (0..<100).map { Account($0, &random) }
    try garage.parkAll(accounts)
    let query = garage.query(Account.self)
    for property in [\.gains, \.losses, \.rest, \.limit, \.larger, \.product, \.rests]
      as [KeyPath<Account, Int>]
    {
      let values = accounts.map { $0[keyPath: property] }
      for value in 0...9 {
        #expect(try query.where(property == value).count() == values.count { $0 == value }, "\(property)")
      }
      #expect(try query.values(property) == values, "\(property)")
    }
    for property in [\.box?.width, \.box?.area, \.box?.longer] as [KeyPath<Account, Int?>] {
      let values = accounts.map { $0[keyPath: property] }
      for value in [nil, 0, 1, 2, 3, 6] {
        #expect(try query.where(property == value).count() == values.count { $0 == value }, "\(property)")
      }
      #expect(try query.values(property) == values, "\(property)")
    }
  }

  /// What is stored is decided from bytes all the same.
  @Test func whatIsStored() throws {
    let garage = try Garage(MemoryStorage())
    func decides<Root: Codable & SendableMetatype>(_ condition: Condition<Root>) throws -> Bool {
      try !garage.query(Root.self).where(condition).explain().description.contains("decodes")
    }
    #expect(
      try decides(\Offer.price == 1 && \.first == "" && \.sale == nil && \.box.width == 1 && \.seen == 1))
    #expect(try decides(\Offer.spare?.height == 1 && \.cost == 1 && \.level == .low && \.level.rawValue > 1))
    #expect(try decides(\Account.gains == 1 && \.rest == 1 && \.limit == 1 && \.box?.width == 1))
    #expect(try !decides(\Offer.total == 1))
    #expect(try !decides(\Offer.highest == 1))
    #expect(try !decides(\Offer.sum == 1))
    #expect(try !decides(\Offer.level.weight == 1))
  }

  /// Reads a property from one field or another, as a third one says.
  private struct Versioned: Codable, Identifiable, Equatable {
    var id: Int
    var version: Int
    var isShort: Bool
    var title: String
    var amount: Int

    enum CodingKeys: CodingKey { case id, version, isShort, title, longTitle, amount, cents }

    init(_ id: Int) {
      (self.id, version, isShort) = (id, id % 6, id % 2 == 0)
      (title, amount) = ("title \(id % 3)", id % 4)
    }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      version = try container.decode(Int.self, forKey: .version)
      isShort = try container.decode(Bool.self, forKey: .isShort)
      title = try container.decode(String.self, forKey: isShort ? .title : .longTitle)
      amount = try container.decode(Int.self, forKey: version < 5 ? .amount : .cents)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(version, forKey: .version)
      try container.encode(isShort, forKey: .isShort)
      try container.encode(isShort ? title : "short", forKey: .title)
      try container.encode(isShort ? "long" : title, forKey: .longTitle)
      try container.encode(version < 5 ? amount : -1, forKey: .amount)
      try container.encode(version < 5 ? -1 : amount, forKey: .cents)
    }
  }

  @Test(arguments: Backend.engines)
  func oneFieldOrAnother(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let all = (0..<60).map(Versioned.init)
    try garage.parkAll(all)
    let query = garage.query(Versioned.self)
    for number in -1...4 {
      #expect(try query.where(\.amount == number).retrieveAll() == all.filter { $0.amount == number })
    }
    for title in ["title 0", "title 1", "title 2", "short", "long"] {
      #expect(try query.where(\.title == title).retrieveAll() == all.filter { $0.title == title })
    }
    #expect(try query.values(\.title) == all.map(\.title))
    #expect(try query.sum(\.amount) == all.reduce(0) { $0 + $1.amount })
    #expect(try query.sorted(by: \.title).values(\.title) == all.map(\.title).sorted())
  }

  private struct Priced: Codable, Identifiable, Indexed {
    static var indexes: [Index<Priced>] { [Index(\.total)] }
    var id: Int
    var price: Int
    var quantity: Int
    var total: Int { price * quantity }
  }

  @Test func noIndexIsOfOne() throws {
    let garage = try Garage(MemoryStorage())
    let error = #expect(throws: GarageError.self) {
      try garage.park(Priced(id: 1, price: 2, quantity: 3))
      try garage.buildIndexes()
    }
    #expect("\(try #require(error))".contains("the property is computed"))
  }

  /// Code that not every object may be asked: on objects that are there it works.
  private struct Album: Codable, Identifiable {
    var id: Int
    var songs: [String]
    var current: Int
    var best: Box?
    var seconds: Int
    var playing: String { songs[current] }
    var average: Int { seconds / (songs.count - 1) }
  }

  @Test func codeThatTraps() throws {
    let garage = try Garage(MemoryStorage())
    let albums = (0..<20).map {
      Album(
        id: $0, songs: ["a", "b", "c\($0 % 2)"], current: $0 % 3, best: Box(width: $0, height: 1), seconds: $0
      )
    }
    try garage.parkAll(albums)
    let query = garage.query(Album.self)
    #expect(try query.where(\.playing == "b").count() == albums.count { $0.playing == "b" })
    #expect(try query.where(\.average > 5).count() == albums.count { $0.average > 5 })
    #expect(try query.where(\.songs[2] == "c1").count() == 10)
    #expect(try query.where(\.best!.width == 3).count() == 1)
    #expect(try query.sorted(by: \.best!.width, .descending).values(\.best!.width).first == 19)
    #expect(try query.values(\.songs[1]) == albums.map(\.songs[1]))
  }
}

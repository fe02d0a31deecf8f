import Foundation
import Testing

@testable import GarageStorage

/// Computed properties that can be set: their key paths look like those of a class's stored properties, and of wrapped and
/// observed ones, but what they have is made by code, which may take nothing but what objects have.
@Suite struct SettablePropertyTests {
  enum Level: Int, Codable, Sendable { case low = 30, high = 70 }

  /// Each of them ends the program where it meets what no object has.
  struct Order: Codable, Identifiable, Equatable {
    var id: Int
    private var rawLevel: Int
    private var link: String
    private var codes: [Int]
    private var place: Int
    private var digits: String
    var note: String { didSet {} }

    init(_ id: Int) {
      self.id = id
      rawLevel = id % 3 == 0 ? 30 : 70
      link = "https://example.org/\(id % 7)"
      codes = [1000 + id % 4, 2000, 3000]
      place = id % 3
      digits = "\(500 + id % 5)"
      note = "note \(id % 2)"
    }

    var level: Level {
      get { Level(rawValue: rawLevel)! }
      set { rawLevel = newValue.rawValue }
    }
    var url: URL {
      get { URL(string: link)! }
      set { link = newValue.absoluteString }
    }
    var code: Int {
      get { codes[place] }
      set { codes[place] = newValue }
    }
    var number: Int {
      get { Int(digits)! }
      set { digits = "\(newValue)" }
    }
    /// A link, which is not the one that is stored.
    var secureLink: String {
      get { String(link.split(separator: ":", maxSplits: 1)[1]) }
      set { link = "https:" + newValue }
    }
  }

  /// What some objects have is shown as something else.
  struct Product: Codable, Identifiable, Equatable {
    var id: Int
    private var storedName: String
    private var count: Int
    private var first: String?
    private var second: String?
    private var cents: Int

    init(_ id: Int) {
      self.id = id
      (storedName, count) = (id % 3 == 0 ? "" : "name \(id % 4)", id % 5 - 2)
      (first, second, cents) = (id % 2 == 0 ? "a" : nil, id % 3 == 0 ? "b" : nil, id % 6)
    }

    var name: String {
      get { storedName.isEmpty ? "Unnamed" : storedName }
      set { storedName = newValue }
    }
    var quantity: Int {
      get { max(0, count) }
      set { count = newValue }
    }
    var best: String? {
      get { first ?? second }
      set { first = newValue }
    }
    var isOut: Bool {
      get { count == 0 }
      set { count = newValue ? 0 : 1 }
    }
    /// As it is stored.
    var price: Int {
      get { cents }
      set { cents = newValue }
    }
  }

  class Player: Codable, Identifiable, TypeTagged {
    class var typeTag: String { "player with settable properties" }
    var id: Int
    var name: String
    private var rawLevel: Int
    var home: Home

    init(_ id: Int) {
      self.id = id
      (name, rawLevel, home) = ("name \(id % 4)", id % 3 == 0 ? 30 : 70, Home(id % 5))
    }

    var level: Level {
      get { Level(rawValue: rawLevel)! }
      set { rawLevel = newValue.rawValue }
    }
  }
  class Home: Codable {
    var street: String
    @Kept var number: Int
    init(_ id: Int) { (street, number) = ("street \(id)", 100 + id) }
  }
  /// Holds its value in an object.
  @propertyWrapper struct Kept: Codable {
    private final class Storage {
      var value: Int
      init(_ value: Int) { self.value = value }
    }
    private var storage: Storage
    init(wrappedValue: Int) { storage = Storage(wrappedValue) }
    var wrappedValue: Int {
      get { storage.value }
      set { storage = Storage(newValue) }
    }
    init(from decoder: any Decoder) throws { storage = Storage(try Int(from: decoder)) }
    func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
  }

  private func check<Root: Codable & Identifiable & SendableMetatype, Value: Codable & Hashable>(
    _ property: KeyPath<Root, Value>, _ all: [Root], _ garage: Garage
  ) throws where Root.ID: Codable {
    let values = all.map { $0[keyPath: property] }
    let query = garage.query(Root.self)
    for value in Set(values) {
      #expect(try query.where(property == value).count() == values.count { $0 == value }, "\(value)")
      #expect(try query.where(property != value).count() == values.count { $0 != value }, "\(value)")
    }
    #expect(try query.values(property) == values)
    #expect(try query.countByValue(property) == Dictionary(values.map { ($0, 1) }, uniquingKeysWith: +))
  }

  private func decides<Root: Codable & SendableMetatype>(
    _ condition: Condition<Root>, _ garage: Garage
  ) throws -> Bool {
    try !garage.query(Root.self).where(condition).explain().description.contains("decodes")
  }

  @Test(arguments: Backend.allCases)
  func codeThatTraps(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let orders = (0..<60).map(Order.init)
    try garage.parkAll(orders)
    try check(\.level, orders, garage)
    try check(\.url, orders, garage)
    try check(\.code, orders, garage)
    try check(\.number, orders, garage)
    try check(\.secureLink, orders, garage)
    try check(\.note, orders, garage)
    let query = garage.query(Order.self)
    #expect(try query.sorted(by: \.number).values(\.number) == orders.map(\.number).sorted())
    #expect(try query.where(\.code > 2000).count() == orders.count { $0.code > 2000 })
    #expect(try decides(\Order.note == "note 1" && \.id == 1, garage))
    #expect(try !decides(\Order.level == .low, garage))
  }

  @Test(arguments: Backend.allCases)
  func otherValues(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let products = (0..<60).map(Product.init)
    try garage.parkAll(products)
    try check(\.name, products, garage)
    try check(\.quantity, products, garage)
    try check(\.best, products, garage)
    try check(\.isOut, products, garage)
    try check(\.price, products, garage)
    let query = garage.query(Product.self)
    #expect(try query.where(\.name == .hasPrefix("Un")).count() == 20)
    #expect(try query.where(\.quantity < 1).count() == products.count { $0.quantity < 1 })
    #expect(try query.sorted(by: \.quantity).values(\.quantity) == products.map(\.quantity).sorted())
    #expect(try query.min(\.name) == products.map(\.name).min())
    #expect(try decides(\Product.price == 1, garage))
  }

  @Test(arguments: Backend.allCases)
  func ofClasses(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let players = (0..<40).map(Player.init)
    try garage.parkAll(players)
    try check(\.level, players, garage)
    try check(\.name, players, garage)
    try check(\.home.street, players, garage)
    try check(\.home.number, players, garage)
    #expect(try decides(\Player.name == "name 1", garage))
    #expect(try decides(\Player.home.street == "street 1", garage))
    #expect(try decides(\Player.home.number == 101, garage))
    #expect(try !decides(\Player.level == .low, garage))
  }

  private struct Indexable: Codable, Identifiable, Indexed {
    static var indexes: [Index<Indexable>] { [Index(\.level)] }
    var id: Int
    private var rawLevel = 30
    var level: Level {
      get { Level(rawValue: rawLevel)! }
      set { rawLevel = newValue.rawValue }
    }
    init(id: Int) { self.id = id }
  }

  @Test(arguments: Backend.allCases.filter { !$0.isSealed })
  func noIndexIsOfOne(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let error = #expect(throws: GarageError.self) {
      try garage.park(Indexable(id: 1))
      try garage.buildIndexes()
    }
    #expect("\(try #require(error))".contains("the property is computed"))
  }
}

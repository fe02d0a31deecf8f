import Foundation
import GarageMemory
import Testing

@testable import GarageStorage

/// Equality with values of types of one's own: decided from bytes, and by indexes, where these say what `==` says.
@Suite struct EqualityTests {
  struct Number: RawRepresentable, Codable, Hashable { var rawValue: Int }
  struct Token<Owner>: Codable, Hashable {
    var text: String
    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }
  struct Flags: OptionSet, Codable, Hashable {
    var rawValue: UInt8
    static let red = Flags(rawValue: 1)
    static let blue = Flags(rawValue: 2)
  }
  struct Serial: RawRepresentable, Codable, Hashable { var rawValue: UUID }
  struct Outer: RawRepresentable, Codable, Hashable { var rawValue: Number }
  struct Weight: RawRepresentable, Codable, Hashable { var rawValue: Double }
  /// Takes text of a form alone.
  struct Mail: RawRepresentable, Codable, Hashable {
    let rawValue: String
    init?(rawValue: String) {
      guard rawValue.contains("@") else { return nil }
      self.rawValue = rawValue
    }
  }

  // Whose `==` says more than their bytes.

  struct Caseless: RawRepresentable, Codable, Hashable {
    var rawValue: String
    static func == (left: Caseless, right: Caseless) -> Bool {
      left.rawValue.lowercased() == right.rawValue.lowercased()
    }
    func hash(into hasher: inout Hasher) { hasher.combine(rawValue.lowercased()) }
  }
  struct Domain: RawRepresentable, Codable, Hashable {
    var rawValue: String
    private var domain: Substring? { rawValue.split(separator: "@").last }
    static func == (left: Domain, right: Domain) -> Bool { left.domain == right.domain }
    func hash(into hasher: inout Hasher) { hasher.combine(domain) }
  }
  struct Modulo: RawRepresentable, Codable, Hashable {
    var rawValue: Int
    static func == (left: Modulo, right: Modulo) -> Bool { left.rawValue % 7 == right.rawValue % 7 }
    func hash(into hasher: inout Hasher) { hasher.combine(rawValue % 7) }
  }
  /// Is another value when it is read than it was when it was written.
  struct Lowered: Codable, Hashable {
    var text: String
    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self).lowercased()
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }
  /// Is hashed by nothing that would tell.
  struct Rounded: RawRepresentable, Codable, Equatable {
    var rawValue: Double
    static func == (left: Rounded, right: Rounded) -> Bool {
      left.rawValue.rounded() == right.rawValue.rounded()
    }
  }

  // Enums without raw values.

  enum State: Codable, Hashable, CaseIterable { case new, open, closed }
  /// Reads what it does not know as the first.
  enum Lenient: Codable, Hashable {
    case unknown, known
    private enum Keys: CodingKey { case unknown, known }
    init(from decoder: any Decoder) throws {
      self = try decoder.container(keyedBy: Keys.self).contains(.known) ? .known : .unknown
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      _ = container.nestedContainer(keyedBy: Keys.self, forKey: self == .known ? .known : .unknown)
    }
  }

  struct Item: Codable, Identifiable, Equatable {
    struct Part: Codable, Equatable {
      var number: Number
      var state: State
      var perhaps: State?
    }
    var id: Int
    var number: Number
    var second: Number?
    var token: Token<Item>
    var flags: Flags
    var serial: Serial
    var outer: Outer
    var weight: Weight
    var mail: Mail
    var numbers: [Number]
    var tokens: Set<Token<Item>>?
    var part: Part
    var other: Part?
    var caseless: Caseless
    var domain: Domain
    var modulo: Modulo
    var lowered: Lowered
    var rounded: Rounded
    var state: State
    var next: State?
    var usual: State
    var lenient: Lenient

    init(_ id: Int) {
      self.id = id
      number = Number(rawValue: id % 5)
      second = id % 3 == 0 ? nil : Number(rawValue: id % 4)
      token = Token(["a", "A", "b", "\u{e9}", "e\u{301}"][id % 5])
      flags = [[], .red, .blue, [.red, .blue]][id % 4]
      serial = Serial(rawValue: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(id % 3))))
      outer = Outer(rawValue: Number(rawValue: id % 6))
      weight = Weight(rawValue: [0, -0.0, .nan, 1.5][id % 4])
      mail = Mail(rawValue: "sam\(id % 3)@example.org")!
      numbers = (0..<id % 4).map { Number(rawValue: $0) }
      tokens = id % 2 == 0 ? nil : [Token("t\(id % 3)")]
      part = Part(number: number, state: State.allCases[id % 3], perhaps: id % 4 == 0 ? nil : .open)
      other = id % 5 == 0 ? nil : part
      caseless = Caseless(rawValue: ["sam", "Sam", "tim"][id % 3])
      domain = Domain(rawValue: "user\(id)@example.\(id % 2 == 0 ? "org" : "com")")
      modulo = Modulo(rawValue: id)
      lowered = Lowered(["SAM", "sam", "tim"][id % 3])
      rounded = Rounded(rawValue: Double(id % 8) / 4)
      state = State.allCases[id % 3]
      next = id % 2 == 0 ? nil : State.allCases[id % 3]
      usual = State.allCases[id % 3]
      lenient = id % 2 == 0 ? .known : .unknown
    }

    enum CodingKeys: String, CodingKey {
      // Two that have each other's.
      case state = "next", next = "state"
      case id, number, second, token, flags, serial, outer, weight, mail, numbers, tokens, part, other,
        caseless,
        domain, modulo, lowered, rounded, usual, lenient
    }
  }

  /// - Parameter decodes: whether the objects have to be asked.
  private func check(
    _ query: Query<Item>, _ items: [Item], decodes: Bool = false, _ condition: Condition<Item>,
    _ holds: (Item) -> Bool
  ) throws {
    let wanted = items.filter(holds).map(\.id)
    #expect(try query.where(condition).retrieveAll().map(\.id) == wanted, "\(condition)")
    #expect(try query.where(!condition).count() == items.count - wanted.count, "\(condition)")
    #expect(try query.where(condition).explain().description.contains("decodes") == decodes, "\(condition)")
  }

  @Test(arguments: Backend.allCases)
  func isWhatSwiftSays(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<60).map(Item.init))
    let items = try garage.retrieveAll(Item.self)
    let query = garage.query(Item.self)
    func check(_ condition: Condition<Item>, decodes: Bool = false, _ holds: (Item) -> Bool) throws {
      try self.check(query, items, decodes: decodes, condition, holds)
    }
    try check(\.number == Number(rawValue: 3)) { $0.number.rawValue == 3 }
    try check(\.number == .oneOf([Number(rawValue: 3), Number(rawValue: 0)])) {
      [0, 3].contains($0.number.rawValue)
    }
    try check(\.second == Number(rawValue: 2)) { $0.second?.rawValue == 2 }
    try check(\.second == nil) { $0.second == nil }
    try check(\.token == Token("a")) { $0.token.text == "a" }
    try check(\.token == Token("\u{e9}")) { $0.token.text == "\u{e9}" }
    try check(\.flags == [.red, .blue]) { $0.flags.rawValue == 3 }
    try check(\.serial == items[1].serial) { $0.serial == items[1].serial }
    try check(\.outer == Outer(rawValue: Number(rawValue: 5))) { $0.outer.rawValue.rawValue == 5 }
    try check(\.weight == Weight(rawValue: 0)) { $0.weight.rawValue == 0 }
    try check(\.weight == Weight(rawValue: .nan)) { _ in false }
    try check(\.mail == items[2].mail) { $0.mail == items[2].mail }
    try check(\.numbers == .contains(Number(rawValue: 2))) { $0.numbers.contains(Number(rawValue: 2)) }
    try check(\.tokens == .contains(Token("t1"))) { $0.tokens?.contains(Token("t1")) ?? false }
    try check(\.part.number == Number(rawValue: 1)) { $0.part.number.rawValue == 1 }
    try check(\.other?.number == Number(rawValue: 1)) { $0.other?.number.rawValue == 1 }

    try check(\.caseless == Caseless(rawValue: "SAM"), decodes: true) { $0.caseless.rawValue != "tim" }
    try check(\.domain == Domain(rawValue: "x@example.org"), decodes: true) { $0.id % 2 == 0 }
    try check(\.modulo == Modulo(rawValue: 2), decodes: true) { $0.id % 7 == 2 }
    try check(\.lowered == Lowered("sam"), decodes: true) { $0.id % 3 < 2 }
    try check(\.rounded == Rounded(rawValue: 1), decodes: true) { $0.rounded == Rounded(rawValue: 1) }
  }

  @Test(arguments: Backend.allCases)
  func casesWithoutRawValues(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let items = (0..<60).map(Item.init)
    try garage.parkAll(items)
    let query = garage.query(Item.self)
    func check(_ condition: Condition<Item>, decodes: Bool = false, _ holds: (Item) -> Bool) throws {
      try self.check(query, items, decodes: decodes, condition, holds)
    }
    try check(\.state == .open) { $0.state == .open }
    try check(\.next == .closed) { $0.next == .closed }
    try check(\.next == nil) { $0.next == nil }
    try check(\.part.state == .new) { $0.part.state == .new }
    try check(\.part.perhaps == .open) { $0.part.perhaps == .open }
    try check(\.other?.state == .open) { $0.other?.state == .open }
    try check(\.other?.perhaps == .open) { $0.other?.perhaps == .open }
    try check(\.state == .oneOf([.new, .open])) { $0.state != .closed }
    try check(\.lenient == .known, decodes: true) { $0.lenient == .known }
    try check(\.lenient == .unknown, decodes: true) { $0.lenient == .unknown }
  }

  /// Has a case where nothing is stored.
  struct Defaulted: Codable, Identifiable {
    var id: Int
    var state: State
    enum CodingKeys: CodingKey { case id, state }
    init(_ id: Int) { (self.id, state) = (id, State.allCases[id % 3]) }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      state = try container.decodeIfPresent(State.self, forKey: .state) ?? .new
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      if state != .new { try container.encode(state, forKey: .state) }
    }
  }

  @Test(arguments: Backend.allCases)
  func aCaseThatIsNotStored(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<30).map(Defaulted.init))
    #expect(try garage.query(Defaulted.self).where(\.state == .new).count() == 10)
    #expect(try garage.query(Defaulted.self).where(\.state == .open).count() == 10)
    #expect(try garage.query(Defaulted.self).where(\.state != .new).count() == 20)
  }

  struct Order: Codable, Identifiable, Indexed {
    static var indexes: [Index<Order>] {
      [
        Index(\.customer, .readable), Index(\.token, .unique, .readable), Index(\.caseless, .readable),
        Index(each: \.numbers, .readable),
      ]
    }
    var id: Int
    var customer: Number?
    var token: Token<Order>
    var caseless: Caseless
    var numbers: [Number]
  }

  /// An index of identifiers of one's own types leads to what has them.
  @Test(arguments: Backend.allCases)
  func indexes(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll(
      (0..<60).map {
        Order(
          id: $0, customer: $0 % 4 == 0 ? nil : Number(rawValue: $0 % 10), token: Token("t\($0)"),
          caseless: Caseless(rawValue: $0 % 2 == 0 ? "Sam" : "sam"), numbers: [Number(rawValue: $0 % 3)])
      })
    func check(_ condition: Condition<Order>, _ index: String?, _ count: Int) throws {
      let query = garage.query(Order.self).where(condition)
      #expect(try query.retrieveAll().count == count, "\(condition)")
      #expect(try query.explain().indexes == (index.map { [$0] } ?? []), "\(condition)")
    }
    try check(\.customer == Number(rawValue: 3), "customer", 6)
    try check(\.customer == nil, "customer", 15)
    try check(\.token == Token("t7"), "token", 1)
    try check(\.token == .oneOf([Token("t7"), Token("t8"), Token("none")]), "token", 2)
    try check(\.numbers == .contains(Number(rawValue: 1)), "numbers", 20)
    try check(\.caseless == Caseless(rawValue: "SAM"), nil, 60)
  }

  enum Only: Codable, Hashable { case new }
  struct Odd: Codable, Identifiable {
    var id: Int
    var state: State?
    var only: Only
    var perhaps: Only?
  }

  /// An enum with a single case is no other enum's.
  @Test(arguments: Backend.allCases)
  func aCaseThatIsAlone(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll(
      (0..<30).map {
        Odd(
          id: $0, state: $0 % 2 == 0 ? nil : State.allCases[$0 % 3], only: .new,
          perhaps: $0 % 5 == 0 ? nil : .new)
      })
    #expect(try garage.query(Odd.self).where(\.only == .new).count() == 30)
    #expect(try garage.query(Odd.self).where(\.perhaps == .new).count() == 24)
    #expect(try garage.query(Odd.self).where(\.perhaps == nil).count() == 6)
    #expect(try garage.query(Odd.self).where(\.state == .new).count() == 5)
  }
}

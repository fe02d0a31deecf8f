import Foundation
import Testing

@testable import GarageStorage

/// Equality with values of types of one's own that are written as maps: of one scalar or several.
@Suite struct ScalarsEqualityTests {
  struct OwnerID: Codable, Hashable { var value: UUID }
  struct Point: Codable, Hashable {
    var x: Double
    var y: Double
  }
  struct Place2: Codable, Hashable {
    var point: Point
    var name: String
    var kind: Kind
    enum Kind: String, Codable { case city, village }
    enum CodingKeys: String, CodingKey { case point = "name", name = "point", kind }
  }
  /// Some of which may not be there.
  struct Partial: Codable, Hashable {
    var a: Int
    var b: Int?
  }
  struct Listed: Codable, Hashable {
    var a: Int
    var list: [Int]
  }
  /// The same amount, whatever it is called.
  struct Money: Codable, Hashable {
    var amount: Int
    var note: String
    static func == (left: Money, right: Money) -> Bool { left.amount == right.amount }
    func hash(into hasher: inout Hasher) { hasher.combine(amount) }
  }
  /// The same wherever it begins.
  struct Pair: Codable, Hashable {
    var left: Int
    var right: Int
    static func == (a: Pair, b: Pair) -> Bool { Set([a.left, a.right]) == Set([b.left, b.right]) }
    func hash(into hasher: inout Hasher) { hasher.combine(Set([left, right])) }
  }
  /// Has a value for what is not written.
  struct Scaled: Codable, Hashable {
    var value: Int
    var scale: Int
    init(_ value: Int, _ scale: Int) { (self.value, self.scale) = (value, scale) }
    enum CodingKeys: CodingKey { case value, scale }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      value = try container.decode(Int.self, forKey: .value)
      scale = try container.decodeIfPresent(Int.self, forKey: .scale) ?? 1
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(value, forKey: .value)
      if scale != 1 { try container.encode(scale, forKey: .scale) }
    }
  }

  struct Shop: Codable, Identifiable, Equatable {
    var id: Int
    var owner: OwnerID
    var former: OwnerID?
    var point: Point
    var place: Place2
    var inner: Inner
    var other: Inner?
    var partial: Partial
    var listed: Listed
    var money: Money
    var pair: Pair
    var scaled: Scaled
    var moved: Point { Point(x: point.y, y: point.x) }
    var settled: Point

    struct Inner: Codable, Equatable { var owner: OwnerID }

    static func owner(_ number: Int) -> OwnerID {
      OwnerID(value: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number))))
    }

    init(_ id: Int) {
      self.id = id
      owner = Shop.owner(id % 5)
      former = id % 3 == 0 ? nil : Shop.owner(id % 4)
      point = Point(x: [0, -0.0, 1.5, .nan][id % 4], y: Double(id % 3))
      place = Place2(
        point: point, name: ["a", "\u{e9}", "e\u{301}"][id % 3], kind: id % 2 == 0 ? .city : .village)
      inner = Inner(owner: Shop.owner(id % 6))
      other = id % 4 == 0 ? nil : inner
      partial = Partial(a: id % 3, b: id % 2 == 0 ? nil : 1)
      listed = Listed(a: id % 2, list: id % 3 == 0 ? [] : [1])
      money = Money(amount: id % 4, note: "note \(id)")
      pair = id % 2 == 0 ? Pair(left: 1, right: 2) : Pair(left: 2, right: id % 3)
      scaled = Scaled(id % 3, id % 2)
      settled = Point(x: 1, y: Double(id % 2))
    }
    enum CodingKeys: String, CodingKey {
      case id, owner = "former", former = "owner", point, place, inner, other, partial, listed, money, pair,
        scaled, settled
    }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      owner = try container.decode(OwnerID.self, forKey: .owner)
      former = try container.decodeIfPresent(OwnerID.self, forKey: .former)
      point = try container.decode(Point.self, forKey: .point)
      place = try container.decode(Place2.self, forKey: .place)
      inner = try container.decode(Inner.self, forKey: .inner)
      other = try container.decodeIfPresent(Inner.self, forKey: .other)
      partial = try container.decode(Partial.self, forKey: .partial)
      listed = try container.decode(Listed.self, forKey: .listed)
      money = try container.decode(Money.self, forKey: .money)
      pair = try container.decode(Pair.self, forKey: .pair)
      scaled = try container.decode(Scaled.self, forKey: .scaled)
      settled = try container.decodeIfPresent(Point.self, forKey: .settled) ?? Point(x: 1, y: 0)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(owner, forKey: .owner)
      try container.encodeIfPresent(former, forKey: .former)
      try container.encode(point, forKey: .point)
      try container.encode(place, forKey: .place)
      try container.encode(inner, forKey: .inner)
      try container.encodeIfPresent(other, forKey: .other)
      try container.encode(partial, forKey: .partial)
      try container.encode(listed, forKey: .listed)
      try container.encode(money, forKey: .money)
      try container.encode(pair, forKey: .pair)
      try container.encode(scaled, forKey: .scaled)
      if settled.y != 0 { try container.encode(settled, forKey: .settled) }
    }
  }

  @Test(arguments: Backend.engines)
  func valuesOfSeveralScalars(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let shops = (0..<60).map(Shop.init)
    try garage.parkAll(shops)
    let query = garage.query(Shop.self)
    func check(_ condition: Condition<Shop>, decodes: Bool = false, _ holds: (Shop) -> Bool) throws {
      let wanted = shops.filter(holds).map(\.id)
      #expect(try query.where(condition).retrieveAll().map(\.id) == wanted, "\(condition)")
      #expect(try query.where(!condition).count() == shops.count - wanted.count, "\(condition)")
      #expect(try query.where(condition).explain().description.contains("decodes") == decodes, "\(condition)")
    }
    let owner = Shop.owner(3)
    try check(\.owner == owner) { $0.owner == owner }
    try check(\.former == owner) { $0.former == owner }
    try check(\.former == nil) { $0.former == nil }
    try check(\.owner == .oneOf([owner, Shop.owner(0)])) { [owner, Shop.owner(0)].contains($0.owner) }
    try check(\.former == .oneOf([owner, nil]), decodes: true) { $0.former == owner || $0.former == nil }
    try check(\.inner.owner == owner) { $0.inner.owner == owner }
    try check(\.other?.owner == owner) { $0.other?.owner == owner }
    for shop in shops[..<12] {
      try check(\.point == shop.point) { $0.point == shop.point }
      try check(\.place == shop.place) { $0.place == shop.place }
      try check(\.partial == shop.partial, decodes: true) { $0.partial == shop.partial }
      try check(\.listed == shop.listed, decodes: true) { $0.listed == shop.listed }
      try check(\.money == shop.money, decodes: true) { $0.money == shop.money }
      try check(\.pair == shop.pair, decodes: true) { $0.pair == shop.pair }
      try check(\.scaled == shop.scaled, decodes: true) { $0.scaled == shop.scaled }
      try check(\.moved == shop.moved, decodes: true) { $0.moved == shop.moved }
      try check(\.settled == shop.settled, decodes: true) { $0.settled == shop.settled }
    }
  }

  struct Parcel: Codable, Identifiable, Indexed {
    static var indexes: [Index<Parcel>] {
      [Index(\.owner.value, .readable), Index(\.point.x, \.point.y, .readable)]
    }
    var id: Int
    var owner: OwnerID
    var point: Point
  }

  struct Rental: Codable, Identifiable, Indexed {
    static var indexes: [Index<Rental>] { [Index(\.owner, .readable), Index(\.number, .unique, .readable)] }
    var id: Int
    var owner: OwnerID?
    var number: EqualityTests.Serial
  }

  @Test(arguments: Backend.engines)
  func indexesOfScalars(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll(
      (0..<60).map {
        Parcel(id: $0, owner: Shop.owner($0 % 6), point: Point(x: Double($0 % 4), y: Double($0 % 3)))
      })
    let query = garage.query(Parcel.self)
    #expect(try query.where(\.owner == Shop.owner(2)).retrieveAll().count == 10)
    #expect(try query.where(\.owner == Shop.owner(2)).explain().indexes == ["owner.value"])
    #expect(try query.where(\.owner == .oneOf([Shop.owner(2), Shop.owner(4)])).retrieveAll().count == 20)
    #expect(
      try query.where(\.owner == .oneOf([Shop.owner(2), Shop.owner(4)])).explain().indexes.contains(
        "owner.value"))
    let without = garage.query(Shop.self).where(\.owner == Shop.owner(2))
    #expect(try without.explain().description.contains("would read less with Index(\\.owner"))
    try garage.parkAll(
      (0..<60).map {
        Rental(
          id: $0, owner: $0 % 6 == 0 ? nil : Shop.owner($0 % 6),
          number: EqualityTests.Serial(rawValue: UUID()))
      })
    let rentals = garage.query(Rental.self).where(\.owner == Shop.owner(2))
    #expect(try rentals.retrieveAll().count == 10 && rentals.explain().indexes == ["owner"])
    #expect(try garage.query(Rental.self).where(\.owner == nil).count() == 10)
    let rental = try #require(try rentals.first())
    #expect(throws: GarageError.self) { try garage.park(Rental(id: 99, owner: nil, number: rental.number)) }
    #expect(
      try garage.query(Rental.self).where(\.number == rental.number).retrieveAll().map(\.id) == [rental.id])
    #expect(try query.where(\.point == Point(x: 1, y: 2)).retrieveAll().count == 5)
    #expect(try query.where(\.point == Point(x: 1, y: 2)).explain().indexes == ["point.x, point.y"])
  }
}

import GarageStorage
import Testing

/// Mapped objects that are encoded into what somebody else has begun.
@Suite struct MappedInsideTests {
  private final class Engine: MappableObject {
    var power = 0
    var fuel: String?
    init() {}
    convenience init(_ power: Int, _ fuel: String?) {
      self.init()
      (self.power, self.fuel) = (power, fuel)
    }
    static var objectMapping: ObjectMapping {
      let mapping = ObjectMapping(for: Engine.self)
      mapping.add("power", \Engine.power)
      mapping.add("fuel", \Engine.fuel)
      return mapping
    }
  }
  private final class Radio: MappableObject {
    var band = ""
    init() {}
    static var objectMapping: ObjectMapping {
      let mapping = ObjectMapping(for: Radio.self)
      mapping.add("band", \Radio.band)
      return mapping
    }
  }

  /// Where the engine's fields stand among the car's own.
  enum Order: Int, Codable, CaseIterable {
    case last, first, betweenTwo, behindASuperclass, behindANestedContainer
  }

  private struct Car: Codable, Identifiable {
    var id: Int
    var order: Order
    var engine: Engine
    var radio = Radio()

    init(_ id: Int, _ order: Order, _ engine: Engine, _ band: String) {
      (self.id, self.order, self.engine) = (id, order, engine)
      radio.band = band
    }

    enum CodingKeys: CodingKey { case id, order, note }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      order = try container.decode(Order.self, forKey: .order)
      engine = try Engine(from: decoder)
      radio = try Radio(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      if order == .first { try engine.encode(to: encoder) }
      if order == .behindASuperclass {
        var inner = container.superEncoder().singleValueContainer()
        try inner.encode("super")
      }
      if order == .behindANestedContainer {
        var inner = container.nestedUnkeyedContainer(forKey: .note)
        try engine.encode(to: encoder)
        try inner.encode("note")
      }
      try container.encode(id, forKey: .id)
      if order == .betweenTwo { try engine.encode(to: encoder) }
      try container.encode(order, forKey: .order)
      if order == .last || order == .behindASuperclass { try engine.encode(to: encoder) }
      try radio.encode(to: encoder)
    }
  }

  @Test(arguments: Backend.allCases, Order.allCases)
  func comesBack(_ backend: Backend, _ order: Order) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([
      Car(7, order, Engine(90, "gas"), "FM"), Car(8, order, Engine(9, nil), "AM"),
    ])
    let cars = try garage.retrieveAll(Car.self)
    #expect(cars.map(\.id) == [7, 8])
    #expect(cars.map(\.order) == [order, order])
    #expect(cars.map(\.engine.power) == [90, 9])
    #expect(cars.map(\.engine.fuel) == ["gas", nil])
    #expect(cars.map(\.radio.band) == ["FM", "AM"])
  }
}

import Foundation
import GarageMemory
import Testing

@testable import GarageStorage

/// Questions about classes: each subclass has the properties at places of its own, and what is asked of bytes has to say the same
/// as what is asked of objects.
@Suite struct SubclassQueryTests {
  class Vehicle: Codable, Identifiable, Indexed {
    static var indexes: [Index<Vehicle>] {
      [Index(\.wheels, .readable), Index(\.maker, .readable), Index(\.built, \.wheels, .readable)]
    }

    var id: Int
    var wheels: Int?
    var maker: String
    var built: Date?
    /// What a subclass may compute.
    var label: String { maker }

    init(_ id: Int, _ random: inout SeededGenerator) {
      self.id = id
      wheels = [nil, 2, 4, 18].randomElement(using: &random)!
      maker = ["Ada", "Bertha", "caf\u{E9}", "cafe\u{301}", ""].randomElement(using: &random)!
      built = [nil, Date(timeIntervalSinceReferenceDate: 5), Date(timeIntervalSinceReferenceDate: -5)]
        .randomElement(using: &random)!
    }
  }

  /// Appends to the container of its superclass.
  class Truck: Vehicle {
    var load = 0.0
    enum CodingKeys: String, CodingKey { case load }
    override var label: String { "truck of \(maker)" }

    override init(_ id: Int, _ random: inout SeededGenerator) {
      load = [0, 7.5, .nan].randomElement(using: &random)!
      super.init(id, &random)
    }
    required init(from decoder: any Decoder) throws {
      try super.init(from: decoder)
      load = try decoder.container(keyedBy: CodingKeys.self).decode(Double.self, forKey: .load)
    }
    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(load, forKey: .load)
    }
  }

  /// Has its superclass in a container of its own, and the maker in another form.
  final class Bicycle: Vehicle {
    var gears = 1
    enum CodingKeys: String, CodingKey { case gears }

    override init(_ id: Int, _ random: inout SeededGenerator) {
      gears = Int.random(in: 1...3, using: &random)
      super.init(id, &random)
      maker = maker.uppercased()
    }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      gears = try container.decode(Int.self, forKey: .gears)
      try super.init(from: container.superDecoder())
      maker = maker.uppercased()
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(gears, forKey: .gears)
      try super.encode(to: container.superEncoder())
    }
  }

  final class Tanker: Truck {}

  private static func vehicle(_ id: Int, _ random: inout SeededGenerator) -> Vehicle {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: Vehicle(id, &random)
    case 1: Truck(id, &random)
    case 2: Bicycle(id, &random)
    default: Tanker(id, &random)
    }
  }

  @Test(arguments: Backend.allCases, [false, true])
  func saysWhatObjectsSay(_ backend: Backend, isIndexed: Bool) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let vehicles = (0..<200).map { SubclassQueryTests.vehicle($0, &random) }
    let place = try Place(backend)
    let garage = try Garage(
      place.open(), types: [Truck.self, Bicycle.self, Tanker.self], hidesIdentifiers: backend.isSealed)
    try garage.parkAll(vehicles)
    let indexes = try garage.indexes(of: Vehicle.self).map(\.name)
    #expect(indexes.count == 3)
    if !isIndexed { for index in indexes { try garage.dropIndex(index, of: Vehicle.self) } }
    let hint: Comment = "seed \(seed)"
    try check(garage, Vehicle.self, vehicles, hint)
    try check(garage, Truck.self, vehicles.compactMap { $0 as? Truck }, hint)
    try check(garage, Bicycle.self, vehicles.compactMap { $0 as? Bicycle }, hint)
    try check(garage, Tanker.self, vehicles.compactMap { $0 as? Tanker }, hint)
    let trucks = vehicles.compactMap { $0 as? Truck }
    #expect(
      try Set(garage.query(Truck.self).where(\.load == 7.5).values(\.id))
        == Set(trucks.filter { $0.load == 7.5 }.map(\.id)), hint)
    #expect(try garage.query(Bicycle.self).min(\.gears) == 1, hint)
  }

  private func check<T: Vehicle>(
    _ garage: Garage, _ type: T.Type, _ all: [T], _ hint: Comment
  ) throws {
    #expect(try Set(garage.retrieveAll(T.self).map(\.id)) == Set(all.map(\.id)), hint)
    #expect(try garage.count(T.self) == all.count, hint)
    let query = garage.query(T.self)
    let conditions: [(Condition<T>, (T) -> Bool)] = [
      (\.wheels == 4, { $0.wheels == 4 }),
      (\.wheels == nil, { $0.wheels == nil }),
      (\.wheels > 2 || \.maker == "ADA", { $0.wheels.map { $0 > 2 } ?? false || $0.maker == "ADA" }),
      (\.maker == "caf\u{E9}", { $0.maker == "caf\u{E9}" }),
      (!(\.maker == .hasPrefix("B")), { !$0.maker.hasPrefix("B") }),
      (
        \.built < Date(timeIntervalSinceReferenceDate: 0),
        { $0.built.map { $0.timeIntervalSinceReferenceDate < 0 } ?? false }
      ),
      (\.label == "truck of Ada", { $0.label == "truck of Ada" }),
    ]
    for (condition, holds) in conditions {
      let found = try query.where(condition)
      let wanted = all.filter(holds)
      let hint: Comment = "\(T.self) \(condition), \(hint.rawValue)"
      #expect(try Set(found.values(\.id)) == Set(wanted.map(\.id)), hint)
      #expect(try found.count() == wanted.count, hint)
      #expect(try Set(found.retrieveAll().map(\.id)) == Set(wanted.map(\.id)), hint)
      let sorted = wanted.sorted { ($0.wheels ?? .min, $0.id) < ($1.wheels ?? .min, $1.id) }
      let inOrder = found.sorted(by: \.wheels).sorted(by: \.id)
      #expect(try inOrder.retrieveAll().map(\.id) == sorted.map(\.id), hint)
      #expect(
        try inOrder.retrieveAll().map { "\(Swift.type(of: $0))" } == sorted.map { "\(Swift.type(of: $0))" },
        hint)
      #expect(try inOrder.values(\.id) == sorted.map(\.id), hint)
      #expect(try inOrder.values(\.wheels) == sorted.map(\.wheels), hint)
      #expect(try inOrder.values(\.maker, \.built).map(\.0) == sorted.map(\.maker), hint)
      #expect(try inOrder.limit(7).values(\.id) == sorted.prefix(7).map(\.id), hint)
      #expect(
        try inOrder.distinct(\.wheels)
          == wanted.reduce(into: Set()) { $0.insert($1.wheels) }.sorted { ($0 ?? .min) < ($1 ?? .min) }, hint)
      #expect(
        try found.countByValue(\.maker) == wanted.reduce(into: [:]) { $0[$1.maker, default: 0] += 1 }, hint)
      #expect(try found.sum(\.wheels) == wanted.reduce(0) { $0 + ($1.wheels ?? 0) }, hint)
      #expect(try found.max(\.built) == wanted.compactMap(\.built).max(), hint)
    }
    // Decided from bytes, but for what a class computes or reads in another form.
    #expect(try query.where(\.wheels == 4).explain().description.contains("decodes") == false, hint)
  }

  /// Has a default for what its superclass leaves nil.
  final class Scooter: Vehicle {
    override init(_ id: Int, _ random: inout SeededGenerator) { super.init(id, &random) }
    required init(from decoder: any Decoder) throws {
      try super.init(from: decoder)
      wheels = wheels ?? 3
    }
  }

  /// What an index has as nil is the default in objects of such a subclass.
  @Test(arguments: Backend.allCases, [false, true])
  func defaultsOfSubclasses(_ backend: Backend, isIndexed: Bool) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let place = try Place(backend)
    let garage = try Garage(place.open(), types: [Scooter.self], hidesIdentifiers: backend.isSealed)
    for id in 0..<80 {
      if id % 2 == 0 {
        try garage.park(Vehicle(id, &random))
      } else {
        try garage.park(Scooter(id, &random))
      }
    }
    if !isIndexed {
      for index in try garage.indexes(of: Vehicle.self) { try garage.dropIndex(index.name, of: Vehicle.self) }
    }
    let all = try garage.retrieveAll(Vehicle.self)
    let query = garage.query(Vehicle.self)
    func expect(_ condition: Condition<Vehicle>, _ holds: (Vehicle) -> Bool) throws {
      let wanted = Set(all.filter(holds).map(\.id))
      #expect(try Set(query.where(condition).retrieveAll().map(\.id)) == wanted, "\(condition), seed \(seed)")
      #expect(try query.where(condition).count() == wanted.count, "\(condition), seed \(seed)")
    }
    try expect(\.wheels == nil) { $0.wheels == nil }
    try expect(\.wheels != nil) { $0.wheels != nil }
    try expect(\.wheels == 3) { $0.wheels == 3 }
    try expect(\.wheels == .oneOf([nil, 4])) { $0.wheels == nil || $0.wheels == 4 }
    try expect(!(\.wheels > 2)) { !($0.wheels.map { $0 > 2 } ?? false) }
    let wheels = all.map { $0.wheels ?? 0 }.sorted()
    #expect(
      try query.sorted(by: \.wheels).limit(60).values(\.wheels).map { $0 ?? 0 } == Array(wheels.prefix(60)))
    #expect(try query.max(\.wheels) == all.compactMap(\.wheels).max())
  }
}

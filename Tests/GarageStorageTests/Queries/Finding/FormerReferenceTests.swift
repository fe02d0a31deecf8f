import Testing

@testable import GarageStorage

/// References that were stored while their target's type had another name are equal to those made today, in Swift and in
/// queries, wherever they stand.
@Suite struct FormerReferenceTests {
  private struct Link<Target: Codable & Identifiable>: Codable, Hashable {
    var to: Reference<Target>
    var weight: Int
  }

  /// Written as the reference alone.
  private struct Wrap<Target: Codable & Identifiable>: Codable, Hashable {
    var to: Reference<Target>

    init(_ to: Reference<Target>) { self.to = to }
    init(from decoder: any Decoder) throws {
      to = try decoder.singleValueContainer().decode(Reference<Target>.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(to)
    }
  }

  private struct OldSailor: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "old sailor of former references" }
    var id: Int
  }
  private struct Sailor: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "sailor of former references" }
    static var formerTypeTags: [String] { ["old sailor of former references"] }
    var id: Int
  }

  private struct OldShip: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "ship of former references" }
    var id: Int
    var captain: Reference<OldSailor>
    var crew: [Reference<OldSailor>]
    var link: Link<OldSailor>
    var wrap: Wrap<OldSailor>
    var wraps: [Wrap<OldSailor>]

    init(_ id: Int) {
      let one = Reference(OldSailor.self, identifier: id % 3)
      self.id = id
      (captain, link, wrap) = (one, Link(to: one, weight: id % 2), Wrap(one))
      crew = [one, Reference(OldSailor.self, identifier: 7)]
      wraps = [Wrap(one)]
    }
  }
  private struct Ship: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "ship of former references" }
    var id: Int
    var captain: Reference<Sailor>
    var crew: [Reference<Sailor>]
    var link: Link<Sailor>
    var wrap: Wrap<Sailor>
    var wraps: [Wrap<Sailor>]

    init(_ id: Int) {
      let one = Reference(Sailor.self, identifier: id % 3)
      self.id = id
      (captain, link, wrap) = (one, Link(to: one, weight: id % 2), Wrap(one))
      crew = [one]
      wraps = [Wrap(one)]
    }
  }

  static let open = Backend.engines.filter { !$0.isSealed }

  private func garage(_ backend: Backend) throws -> Garage {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<3).map { OldSailor(id: $0) })
    try garage.parkAll((0..<6).map { OldShip($0) })
    try garage.parkAll((6..<12).map { Ship($0) })
    return garage
  }

  @Test(arguments: open)
  func areEqual(_ backend: Backend) throws {
    let garage = try garage(backend)
    let one = Reference(Sailor.self, identifier: 1)
    let ships = try garage.retrieveAll(Ship.self)
    let equal = ships.filter { $0.captain == one }
    #expect(equal.map(\.id) == [1, 4, 7, 10])
    let captains = Set(ships.map(\.captain))
    #expect(captains.count == 3)
    let found = try garage.retrieve(equal[0].captain)
    #expect(found?.id == 1)
  }

  @Test(arguments: open, [false, true])
  func areFound(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try garage(backend)
    if isIndexed {
      try garage.make([
        Index(\Ship.captain), Index(each: \Ship.crew), Index(\Ship.wrap), Index("to", \Ship.link.to),
      ])
    }
    let one = Reference(Sailor.self, identifier: 1)
    let links = [Link(to: one, weight: 0), Link(to: one, weight: 1)]
    let captain: Condition<Ship> = \.captain == one
    let captains: Condition<Ship> = \.captain == .oneOf([one])
    let crew: Condition<Ship> = \.crew == .contains(one)
    let target: Condition<Ship> = \.link.to == one
    let link: Condition<Ship> = \.link == .oneOf(links)
    let wrap: Condition<Ship> = \.wrap == Wrap(one)
    let oneWrap: Condition<Ship> = \.wrap == .oneOf([Wrap(one)])
    let wraps: Condition<Ship> = \.wraps == .contains(Wrap(one))
    let conditions = [captain, captains, crew, target, link, wrap, oneWrap, wraps]
    for condition in conditions {
      let query = garage.query(Ship.self).where(condition)
      #expect(try query.retrieveAll().map(\.id) == [1, 4, 7, 10], "\(condition)")
      #expect(try query.count() == 4, "\(condition)")
      #expect(try garage.query(Ship.self).where(!condition).count() == 8, "\(condition)")
    }
    let seven: Condition<Ship> = \.crew == .contains(Reference(Sailor.self, identifier: 7))
    #expect(try garage.query(Ship.self).where(seven).count() == 6)
    let light: Condition<Ship> = \.link == Link(to: one, weight: 0)
    #expect(try garage.query(Ship.self).where(light).count() == 2)
  }

  @Test(arguments: open, [false, true])
  func areOneValue(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try garage(backend)
    if isIndexed { try garage.make([Index(\Ship.captain)]) }
    let query = garage.query(Ship.self)
    let captains = try query.distinct(\.captain)
    #expect(captains.count == 3)
    let counts = try query.countByValue(\.captain)
    let expected = Dictionary(
      uniqueKeysWithValues: (0..<3).map { (Reference(Sailor.self, identifier: $0), 4) })
    #expect(counts == expected)
  }
}

/// Elements that are optionals of optionals.
@Suite struct DoublyOptionalElementTests {
  private struct Grid: Codable, Identifiable {
    var id: Int
    var cells: [Int??]
  }

  @Test(arguments: Backend.engines)
  func haveOneNil(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let none: Int?? = .none
    let some: Int?? = .some(.none)
    try garage.parkAll([Grid(id: 0, cells: [none]), Grid(id: 1, cells: [some, 1]), Grid(id: 2, cells: [2])])
    let grids = try garage.retrieveAll(Grid.self)
    for cell in [none, some, 1, 2] {
      let found = try garage.query(Grid.self).where(\.cells == .contains(cell)).identifiers().count
      #expect(found == grids.filter { $0.cells.contains(cell) }.count)
    }
  }
}

import Testing

@testable import GarageStorage

/// References in the payloads of enums, which stand under another key in each case.
@Suite struct PayloadReferrerTests {
  private let a = Hub(id: "a")
  private let b = Hub(id: "b")

  private var cargoes: [Cargo] {
    [.crate(a), .barrel(a, count: 2), .rack([b, a]), .empty, .crate(b), .rack([])]
  }

  @Test(arguments: Backend.engines, [true, false])
  func areFoundInEveryCase(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    for (id, cargo) in cargoes.enumerated() {
      try garage.park(Van(id: id, cargo: cargo, trailer: cargo, owner: id == 3 ? a : b))
      try garage.park(Sledge(id: id, cargo: cargo))
    }
    func find<V: Codable>(_ property: KeyPath<Van, V>) throws -> [Int] {
      try garage.retrieveReferrers(Van.self, of: a, by: property).map(\.id)
    }
    #expect(try find(\.cargo) == [0, 1, 2])
    #expect(try find(\.trailer) == [0, 1, 2])
    #expect(try find(\.owner) == [3])
    #expect(try garage.retrieveReferrers(Sledge.self, of: a, by: \.cargo).map(\.id) == [0, 1, 2])
  }

  @Test(arguments: Backend.engines, [true, false])
  func goWithTheirOwner(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    for cargo in cargoes {
      try garage.park(Van(id: 1, cargo: cargo, trailer: nil, owner: Hub(id: "owner")))
      try garage.delete(Van.self, identifier: 1)
      #expect(try garage.retrieveAll(Hub.self).map(\.id) == ["owner"], "\(cargo)")
      try garage.park(Sledge(id: 1, cargo: cargo))
      try garage.delete(Sledge.self, identifier: 1)
      #expect(try garage.retrieveAll(Hub.self).map(\.id) == ["owner"], "\(cargo)")
    }
  }
}

private enum Cargo: Codable {
  case crate(Hub)
  case barrel(Hub, count: Int)
  case rack([Hub])
  case empty
}

private struct Van: Codable, Identifiable, DeleteRules {
  var id: Int
  var cargo: Cargo
  var trailer: Cargo?
  var owner: Hub
  static var owned: [Owned<Van>] { [Owned(\.cargo)] }
}

/// Has the key of its cargo's case beside its own.
private struct Sledge: Codable, Identifiable, DeleteRules {
  var id: Int
  var cargo: Cargo
  static var owned: [Owned<Sledge>] { [Owned(\.cargo)] }

  private enum CodingKeys: String, CodingKey { case id }

  init(id: Int, cargo: Cargo) { (self.id, self.cargo) = (id, cargo) }

  init(from decoder: any Decoder) throws {
    id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
    cargo = try Cargo(from: decoder)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try cargo.encode(to: encoder)
  }
}

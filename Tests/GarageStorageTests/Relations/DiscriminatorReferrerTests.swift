import Testing

@testable import GarageStorage

/// Types whose own code decides by one of their values under which key a property stands.
@Suite struct DiscriminatorReferrerTests {
  private let a = Hub(id: "a")
  private let b = Hub(id: "b")

  private func stock(_ garage: Garage) throws {
    try garage.parkAll([
      KindAddress(id: 1, kind: "home", hub: a), KindAddress(id: 2, kind: "work", hub: a),
      KindAddress(id: 3, kind: "home", hub: b, other: a), KindAddress(id: 4, kind: "boat", hub: b, other: a),
      KindAddress(id: 5, kind: "home", hub: nil),
    ])
    for (id, kind) in KindBerth.Kind.allCases.enumerated() {
      try garage.park(KindBerth(id: id, kind: kind, own: a, lent: b))
      try garage.park(KindBerth(id: 10 + id, kind: kind, own: b, lent: a))
    }
    for (id, kind) in TextBerth.kinds.enumerated() {
      try garage.park(TextBerth(id: id, kind: kind, own: a, lent: b))
      try garage.park(TextBerth(id: 10 + id, kind: kind, own: b, lent: a))
    }
  }

  @Test(arguments: Backend.engines, [true, false])
  func areFoundUnderEveryKey(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    try stock(garage)
    func addresses<V: Codable>(_ property: KeyPath<KindAddress, V>) throws -> [Int] {
      try garage.retrieveReferrers(KindAddress.self, of: a, by: property).map(\.id)
    }
    func berths<V: Codable>(_ property: KeyPath<KindBerth, V>) throws -> [Int] {
      try garage.retrieveReferrers(KindBerth.self, of: a, by: property).map(\.id)
    }
    func texts<V: Codable>(_ property: KeyPath<TextBerth, V>) throws -> [Int] {
      try garage.retrieveReferrers(TextBerth.self, of: a, by: property).map(\.id)
    }
    #expect(try addresses(\.hub) == [1, 2])
    #expect(try addresses(\.other) == [3, 4])
    #expect(try berths(\.own) == [0, 1, 2, 3])
    #expect(try berths(\.lent) == [10, 11, 12, 13])
    #expect(try texts(\.own) == [0, 1, 2])
    #expect(try texts(\.lent) == [10, 11, 12])
  }

  /// What is owned goes, and nothing else, whichever key it stands under.
  @Test(arguments: Backend.engines, [true, false])
  func goWithTheirOwner(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try backend.relations(Place(backend), isIndexed: isIndexed)
    for kind in ["home", "work", "boat"] {
      try garage.park(KindAddress(id: 1, kind: kind, hub: a, other: b))
      try garage.delete(KindAddress.self, identifier: 1)
      #expect(try garage.retrieveAll(Hub.self).map(\.id) == ["b"], "\(kind)")
    }
    for kind in KindBerth.Kind.allCases {
      try garage.park(KindBerth(id: 1, kind: kind, own: a, lent: b))
      try garage.delete(KindBerth.self, identifier: 1)
      #expect(try garage.retrieveAll(Hub.self).map(\.id) == ["b"], "\(kind)")
    }
    // Which text decides it only objects show that are there.
    for (id, kind) in TextBerth.kinds.enumerated() {
      try garage.park(TextBerth(id: id, kind: kind, own: Hub(id: "own \(id)"), lent: b))
    }
    for id in TextBerth.kinds.indices {
      try garage.delete(TextBerth.self, identifier: id)
      let rest = TextBerth.kinds.indices.dropFirst(id + 1).map { "own \($0)" }
      #expect(try Set(garage.retrieveAll(Hub.self).map(\.id)) == Set(["b"] + rest), "\(id)")
    }
  }
}

/// Has its hub under a key for each kind.
private struct KindAddress: Codable, Identifiable, DeleteRules {
  var id: Int
  var kind: String
  var hub: Hub?
  var other: Hub?
  static var owned: [Owned<KindAddress>] { [Owned(\.hub)] }

  init(id: Int, kind: String, hub: Hub?, other: Hub? = nil) {
    (self.id, self.kind, self.hub, self.other) = (id, kind, hub, other)
  }

  private enum CodingKeys: CodingKey { case id, kind, other, home, work }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    kind = try container.decode(String.self, forKey: .kind)
    other = try container.decodeIfPresent(Hub.self, forKey: .other)
    hub = try container.decodeIfPresent(Hub.self, forKey: kind == "home" ? .home : .work)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(kind, forKey: .kind)
    try container.encodeIfPresent(other, forKey: .other)
    try container.encodeIfPresent(hub, forKey: kind == "home" ? .home : .work)
  }
}

/// In one of its kinds two keys have each other's meaning.
private struct KindBerth: Codable, Identifiable, DeleteRules {
  enum Kind: String, Codable, CaseIterable { case dock, buoy, quay, swing }
  var id: Int
  var kind: Kind
  var own: Hub?
  var lent: Hub?
  static var owned: [Owned<KindBerth>] { [Owned(\.own)] }

  init(id: Int, kind: Kind, own: Hub?, lent: Hub?) {
    (self.id, self.kind, self.own, self.lent) = (id, kind, own, lent)
  }

  private enum CodingKeys: CodingKey { case id, kind, first, second }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    kind = try container.decode(Kind.self, forKey: .kind)
    let first = try container.decodeIfPresent(Hub.self, forKey: .first)
    let second = try container.decodeIfPresent(Hub.self, forKey: .second)
    (own, lent) = kind == .quay ? (second, first) : (first, second)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(kind, forKey: .kind)
    try container.encodeIfPresent(kind == .quay ? lent : own, forKey: .first)
    try container.encodeIfPresent(kind == .quay ? own : lent, forKey: .second)
  }
}

/// In one of its kinds, which a text names, two keys have each other's meaning.
private struct TextBerth: Codable, Identifiable, DeleteRules {
  static let kinds = ["dock", "quay", "buoy"]
  var id: Int
  var kind: String
  var own: Hub?
  var lent: Hub?
  static var owned: [Owned<TextBerth>] { [Owned(\.own)] }

  init(id: Int, kind: String, own: Hub?, lent: Hub?) {
    (self.id, self.kind, self.own, self.lent) = (id, kind, own, lent)
  }

  private enum CodingKeys: CodingKey { case id, kind, first, second }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    kind = try container.decode(String.self, forKey: .kind)
    let first = try container.decodeIfPresent(Hub.self, forKey: .first)
    let second = try container.decodeIfPresent(Hub.self, forKey: .second)
    (own, lent) = kind == "quay" ? (second, first) : (first, second)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(kind, forKey: .kind)
    try container.encodeIfPresent(kind == "quay" ? lent : own, forKey: .first)
    try container.encodeIfPresent(kind == "quay" ? own : lent, forKey: .second)
  }
}

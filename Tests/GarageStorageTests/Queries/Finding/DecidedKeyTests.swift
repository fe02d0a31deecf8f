import GarageStorage
import Testing

/// Types whose own code decides by a value that objects have under which key a property stands: where it is not under the one, the
/// object is asked.
@Suite struct DecidedKeyTests {
  private struct Fare: Codable, Identifiable, TypeTagged, Equatable {
    static var typeTag: String { "fare of decided keys" }
    var id: Int
    var kind: String
    var price: Int?
    var note: String?

    private enum CodingKeys: CodingKey { case id, kind, home, work, note }

    private static func key(_ kind: String) -> CodingKeys { kind == "home" ? .home : .work }

    init(id: Int, kind: String, price: Int?, note: String?) {
      (self.id, self.kind, self.price, self.note) = (id, kind, price, note)
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      kind = try container.decode(String.self, forKey: .kind)
      price = try container.decodeIfPresent(Int.self, forKey: Fare.key(kind))
      note = try container.decodeIfPresent(String.self, forKey: .note)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(kind, forKey: .kind)
      try container.encodeIfPresent(price, forKey: Fare.key(kind))
      try container.encodeIfPresent(note, forKey: .note)
    }
  }

  @Test(arguments: Backend.engines.filter { !$0.isSealed }, [false, true])
  func queriesFindAll(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try Place(backend).garage()
    let fares = (0..<24).map { number in
      Fare(
        id: number, kind: ["home", "work", "boat"][number % 3], price: number % 4 == 0 ? nil : number % 5,
        note: number % 2 == 0 ? "note" : nil)
    }
    try garage.parkAll(fares)
    if isIndexed { try garage.make([Index(\Fare.price), Index(\Fare.note)]) }
    func expect(_ condition: Condition<Fare>, _ holds: (Fare) -> Bool) throws {
      let query = garage.query(Fare.self).where(condition)
      #expect(try query.identifiers().count == fares.count(where: holds), "\(condition)")
      #expect(try query.values(\.id).sorted() == fares.filter(holds).map(\.id), "\(condition)")
      #expect(try query.count() == fares.count(where: holds), "\(condition)")
    }
    try expect(\.price == 3) { $0.price == 3 }
    try expect(\.price != 3) { $0.price != 3 }
    try expect(\.price == nil) { $0.price == nil }
    try expect(\.price != nil) { $0.price != nil }
    try expect(\.price > 2) { $0.price.map { $0 > 2 } ?? false }
    try expect(\.price == 1 && \.note == "note") { $0.price == 1 && $0.note == "note" }
    try expect(\.note == nil) { $0.note == nil }
    let all = garage.query(Fare.self)
    #expect(try all.sorted(by: \.id).values(\.price) == fares.map(\.price))
    #expect(try all.max(\.price) == 4)
    #expect(try all.sum(\.price) == fares.compactMap(\.price).reduce(0, +))
    let ordered = try all.where(\.price != nil).sorted(by: \.price).values(\.price).compactMap { $0 }
    #expect(ordered == fares.compactMap(\.price).sorted())
  }
}

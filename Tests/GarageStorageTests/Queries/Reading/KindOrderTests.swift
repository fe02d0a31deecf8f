import GarageStorage
import Testing

/// Numbers that records hold as text, as older objects of a type may that reads both, are sorted as numbers.
@Suite struct KindOrderTests {
  private struct Level: Codable, Identifiable, Equatable {
    var id: Int
    var height: Int
    var kind: String

    private enum CodingKeys: CodingKey { case id, height, kind }

    init(_ id: Int) { (self.id, height, kind) = (id, id * 37 % 60, id % 2 == 0 ? "a" : "b") }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      kind = try container.decode(String.self, forKey: .kind)
      if let number = try? container.decode(Int.self, forKey: .height) {
        height = number
      } else {
        height = Int(try container.decode(String.self, forKey: .height)) ?? 0
      }
    }

    /// Not at either end, where objects are surveyed.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(kind, forKey: .kind)
      if (20..<40).contains(id) {
        try container.encode("\(height)", forKey: .height)
      } else {
        try container.encode(height, forKey: .height)
      }
    }
  }

  @Test(arguments: Backend.engines.filter { !$0.isSealed }, [false, true])
  func queriesAreInOrder(_ backend: Backend, isIndexed: Bool) throws {
    let garage = try Place(backend).garage()
    let levels = (0..<60).map { Level($0) }
    try garage.parkAll(levels)
    if isIndexed { try garage.make([Index(\Level.height), Index(\Level.kind, \Level.height)]) }
    let all = garage.query(Level.self)
    let heights = levels.map(\.height).sorted()
    #expect(try all.sorted(by: \.height).values(\.height) == heights)
    #expect(try all.sorted(by: \.height).limit(30).retrieveAll().map(\.height) == Array(heights.prefix(30)))
    let backwards = all.sorted(by: \.height, .descending)
    #expect(try backwards.limit(30).values(\.height) == Array(heights.reversed().prefix(30)))
    let few = levels.filter { $0.kind == "a" }.map(\.height).sorted()
    #expect(
      try all.where(\.kind == "a").sorted(by: \.height).limit(20).values(\.height) == Array(few.prefix(20)))
    #expect(try all.min(\.height) == 0)
    #expect(try all.max(\.height) == 59)
    #expect(try all.where(\.height < 30).count() == 30)
    #expect(try all.where(\.height == 45).retrieveAll() == levels.filter { $0.height == 45 })
    var page = try all.sorted(by: \.height).page(size: 7)
    var found = page.objects
    while let next = page.next {
      page = try all.sorted(by: \.height).page(after: next, size: 7)
      found += page.objects
    }
    #expect(found.map(\.height) == heights)
  }

  private struct Crate: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "crate of kind order tests" }
    var id: Int
    var weight: Int
  }
  /// The same with less room for the weight.
  private struct SmallCrate: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "crate of kind order tests" }
    var id: Int
    var weight: UInt8?
  }

  /// It is refused as where the object is retrieved.
  @Test(arguments: Backend.engines)
  func aNumberThatDoesNotFitIsNotNil(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([Crate(id: 1, weight: 7), Crate(id: 2, weight: 300)])
    let crates = garage.query(SmallCrate.self)
    #expect(throws: DecodingError.self) { try garage.retrieve(SmallCrate.self, identifier: 2) }
    #expect(throws: DecodingError.self) { try crates.values(\.weight) }
    #expect(throws: DecodingError.self) { try crates.sorted(by: \.weight).values(\.weight, \.id) }
    let first = try crates.where(\.id == 1).values(\.weight)
    #expect(first == [7])
  }
}

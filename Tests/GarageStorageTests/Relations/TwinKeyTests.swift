import GarageStorage
import Testing

/// A map may have two keys that are the same text in other bytes. Both stay when its record is written again without its type.
@Suite struct TwinKeyTests {
  private struct TextKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }

  private struct Flag: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "flag of twin keys" }
    var id: Int
  }

  /// Written under "é" in one scalar and in two.
  private struct Twins: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "twins of twin keys" }
    var id: Int
    var first: Int
    var second: Reference<Flag>?
    var third: Int
    var flag: Reference<Flag>?

    init(_ id: Int, second: Reference<Flag>?) {
      (self.id, first, third) = (id, id + 1, id + 2)
      self.second = second
      flag = Reference(Flag.self, identifier: 1)
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: TextKey.self)
      id = try container.decode(Int.self, forKey: TextKey("id"))
      first = try container.decode(Int.self, forKey: TextKey("\u{E9}"))
      third = try container.decode(Int.self, forKey: TextKey("e\u{301}"))
      second = try container.decodeIfPresent(Reference<Flag>.self, forKey: TextKey("second"))
      flag = try container.decodeIfPresent(Reference<Flag>.self, forKey: TextKey("flag"))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: TextKey.self)
      try container.encode(id, forKey: TextKey("id"))
      try container.encode(first, forKey: TextKey("\u{E9}"))
      try container.encode(third, forKey: TextKey("e\u{301}"))
      try container.encodeIfPresent(second, forKey: TextKey("second"))
      try container.encodeIfPresent(flag, forKey: TextKey("flag"))
    }
  }

  @Test(arguments: Backend.engines)
  func nullifyingKeepsBoth(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([Flag(id: 1), Flag(id: 2)])
    try garage.parkAll([Twins(10, second: nil), Twins(20, second: Reference(Flag.self, identifier: 2))])
    for flag in [1, 2] {
      try garage.delete(Flag.self, identifier: flag, referrers: .nullify)
      let found = try garage.retrieveAll(Twins.self)
      #expect(found.map(\.first) == [11, 21])
      #expect(found.map(\.third) == [12, 22])
      #expect(found.map { $0.flag == nil } == [true, true])
      #expect(found.map { $0.second == nil } == [true, flag == 2])
    }
  }
}

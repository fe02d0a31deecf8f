import GarageStorage
import Testing

/// Keys that another property had before.
@Suite struct ReusedKeyTests {
  private enum First {
    struct Sign: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "sign of reused keys" }
      var id: Int
      var title: String?
      var label: String?
    }
  }
  private enum Second {
    struct Sign: Codable, Identifiable, TypeTagged, Evolving, Equatable {
      static var typeTag: String { "sign of reused keys" }
      static var propertyAliases: [String: [String]] { ["label": ["title"], "tip": ["label"]] }
      var id: Int
      var label: String?
      var tip: String?
    }
  }
  private enum Versioned {
    struct Sign: Codable, Identifiable, TypeTagged, Evolving, Equatable {
      static var typeTag: String { "sign of reused keys" }
      static var version: Int { 1 }
      static var propertyAliases: [String: [String]] { ["tip": ["label"], "label": ["title"]] }
      var id: Int
      var label: String?
      var tip: String?
    }
  }
  /// The same, with names that sort the other way.
  private enum Third {
    struct Sign: Codable, Identifiable, TypeTagged, Evolving, Equatable {
      static var typeTag: String { "sign of reused keys" }
      static var propertyAliases: [String: [String]] { ["a": ["label"], "label": ["title"]] }
      var id: Int
      var label: String?
      var a: String?
    }
  }

  @Test(arguments: Backend.allCases)
  func eachValueMovesOnce(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([
      First.Sign(id: 1, title: "T", label: "L"), First.Sign(id: 2, title: "T"), First.Sign(id: 3, label: "L"),
    ])
    #expect(try garage.retrieve(Second.Sign.self, identifier: 1) == Second.Sign(id: 1, label: "T", tip: "L"))
    #expect(try garage.retrieve(Second.Sign.self, identifier: 2) == Second.Sign(id: 2, label: "T"))
    #expect(try garage.retrieve(Third.Sign.self, identifier: 1) == Third.Sign(id: 1, label: "T", a: "L"))
    #expect(try garage.retrieve(Third.Sign.self, identifier: 2) == Third.Sign(id: 2, label: "T"))
    // Only the version tells that this is no value of today.
    #expect(try garage.retrieve(Second.Sign.self, identifier: 3) == Second.Sign(id: 3, label: "L"))
    #expect(try garage.retrieve(Versioned.Sign.self, identifier: 3) == Versioned.Sign(id: 3, tip: "L"))
  }

  /// What is parked today comes back as it is.
  @Test(arguments: Backend.allCases)
  func presentValuesStay(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let signs = [
      Second.Sign(id: 1, label: "L"), Second.Sign(id: 2, tip: "T"), Second.Sign(id: 3, label: "L", tip: "T"),
    ]
    try garage.parkAll(signs)
    #expect(try garage.retrieveAll(Second.Sign.self) == signs)
    let versioned = signs.map { Versioned.Sign(id: $0.id, label: $0.label, tip: $0.tip) }
    try garage.parkAll(versioned)
    #expect(try garage.retrieveAll(Versioned.Sign.self) == versioned)
  }
}

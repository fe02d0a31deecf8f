import Foundation
import Testing

@testable import GarageStorage

/// Conditions on what is inside of values that evolve and have no record of their own: older ones have it under other keys, in
/// another form, or not at all.
@Suite struct EvolvingPartTests {
  private func garage(_ place: Place) throws -> Garage {
    let before = try Garage(place.open())
    try before.parkAll([
      OldHouse(
        id: 1, site: OldSite(town: "Ulm", zip: 5, width: 1), past: OldSite(town: "Ulm", zip: 5, width: 1)),
      OldHouse(id: 2, site: OldSite(town: nil, zip: nil, width: 0), past: nil),
    ])
    try before.parkAll([OldScale(id: 1, load: OldLoad(grams: 2)), OldScale(id: 2, load: OldLoad(grams: 20))])
    try before.close()
    let garage = try Garage(place.open())
    try garage.park(House(id: 3, site: Site(city: "Ulm", code: 5, width: 2), past: nil))
    try garage.park(Scale(id: 3, load: Load(grams: 20)))
    return garage
  }

  private func expect<Root: Codable & Identifiable & SendableMetatype>(
    _ condition: Condition<Root>, _ garage: Garage, _ filter: (Root) -> Bool
  ) throws where Root.ID == Int {
    let expected = try garage.retrieveAll(Root.self).filter(filter).map(\.id)
    let query = garage.query(Root.self).where(condition)
    #expect(try query.retrieveAll().map(\.id) == expected, "\(condition)")
    #expect(try query.count() == expected.count, "\(condition)")
  }

  @Test(arguments: Backend.allCases)
  func olderKeysCount(_ backend: Backend) throws {
    let garage = try garage(Place(backend))
    try expect(\House.site.city == "Ulm", garage) { $0.site.city == "Ulm" }
    try expect(\House.site.city == nil, garage) { $0.site.city == nil }
    try expect(\House.site.code > 3, garage) { ($0.site.code ?? 0) > 3 }
    try expect(\House.site.code == nil, garage) { $0.site.code == nil }
    try expect(\House.past?.city == "Ulm", garage) { $0.past?.city == "Ulm" }
    try expect(\House.past?.city == nil, garage) { $0.past?.city == nil }
    try expect(\House.site.width == 1, garage) { $0.site.width == 1 }
    #expect(try garage.query(House.self).values(\.site.city) == ["Ulm", nil, "Ulm"])
    #expect(try garage.query(House.self).sorted(by: \.site.code).retrieveAll().map(\.id) == [2, 1, 3])
    #expect(try garage.query(House.self).countByValue(\.site.code) == [5: 2, nil: 1])
  }

  @Test(arguments: Backend.allCases)
  func olderVersionsCount(_ backend: Backend) throws {
    let garage = try garage(Place(backend))
    try expect(\Scale.load.grams == 20, garage) { $0.load.grams == 20 }
    try expect(\Scale.load.note == "weighed", garage) { $0.load.note == "weighed" }
    try expect(\Scale.load.note == nil, garage) { $0.load.note == nil }
    #expect(try garage.query(Scale.self).values(\.load.grams) == [20, 200, 20])
    #expect(try garage.query(Scale.self).sorted(by: \.load.grams).retrieveAll().map(\.id) == [1, 3, 2])
    #expect(try garage.query(Scale.self).sum(\.load.grams) == 240)
  }
}

private struct OldSite: Codable {
  var town: String?
  var zip: Int?
  var width: Int
}

private struct OldHouse: Codable, Identifiable, TypeTagged {
  var id: Int
  var site: OldSite
  var past: OldSite?
  static var typeTag: String { "evolving house" }
}

private struct Site: Codable, Evolving {
  var city: String?
  var code: Int?
  var width: Int
  static var propertyAliases: [String: [String]] { ["city": ["town"], "code": ["zip"]] }
}

private struct House: Codable, Identifiable, TypeTagged, Indexed {
  var id: Int
  var site: Site
  var past: Site?
  static var typeTag: String { "evolving house" }
  static var indexes: [Index<House>] {
    [Index(\.site.city, .readable), Index(\.site.code, .readable), Index(\.past?.city, .readable)]
  }
}

private struct OldLoad: Codable {
  var grams: Int
  var note: String?
}

private struct OldScale: Codable, Identifiable, TypeTagged {
  var id: Int
  var load: OldLoad
  static var typeTag: String { "evolving scale" }
}

private struct Load: Codable, Evolving {
  var grams: Int
  var note: String?
  static var version: Int { 1 }
  static func upgrade(_ record: inout RecordValue, from version: Int) throws {
    if case .integer(let grams)? = record["grams"] { record["grams"] = .integer(grams * 10) }
    record["note"] = .string("weighed")
  }
}

private struct Scale: Codable, Identifiable, TypeTagged {
  var id: Int
  var load: Load
  static var typeTag: String { "evolving scale" }
}

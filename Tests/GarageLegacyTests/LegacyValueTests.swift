import Foundation
import GarageLegacy
import GarageMemory
import GarageStorage
import Testing

struct LegacyAccount: Codable, Identifiable {
  var id: Int
  var lastLogin: Date
}

struct LegacyShare: Codable, Identifiable, Equatable {
  var id: Int
  var part: Decimal
  var ratio: Double
}

/// Types that have changed since GarageStorage: heights were in metres, areas in another unit, and a length had another key.
struct LegacyTower: Codable, Identifiable, Evolving, Equatable {
  struct Floor: Codable, Evolving, Equatable {
    var area: Double
    static var version: Int { 3 }
    static func upgrade(_ record: inout RecordValue, from version: Int) throws {
      if version < 3, let area = record["area"]?.doubleValue { record["area"] = .double(area / 4) }
    }
  }

  var id: Int
  var height: Double
  var built: Date
  var floors: [Floor]
  var neighbour: Reference<LegacyTower>?
  static var version: Int { 1 }
  static func upgrade(_ record: inout RecordValue, from version: Int) throws {
    if version < 1, let metres = record["height"]?.doubleValue { record["height"] = .double(metres * 100) }
  }
}

final class LegacyMast: MappableObject, Evolving {
  var name = ""
  var length = 0
  var raised: Date?
  var tower: LegacyTower?
  init() {}

  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: LegacyMast.self)
    mapping.add("name", \LegacyMast.name)
    mapping.add("length", \LegacyMast.length)
    mapping.add("raised", \LegacyMast.raised)
    mapping.add("tower", \LegacyMast.tower)
    mapping.identifyingAttribute = "name"
    return mapping
  }

  static var version: Int { 2 }
  static func upgrade(_ record: inout RecordValue, from version: Int) throws {
    if version < 2 { record.rename("metres", to: "length") }
  }
}

/// The same numbers in each run of a seed.
private struct DigitSource: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 33
  }
}

/// Values that are not like most come over as they were.
@Suite struct LegacyValueTests {
  /// "Never", as devices in several places wrote it, and days before there were zones.
  @Test func datesOfLongAgo() throws {
    let birth = Date(timeIntervalSinceReferenceDate: -3_807_947_400)
    let dates: [(text: String, date: Date)] = [
      ("0001-01-01T00:00:00Z", .distantPast), ("0001-01-01T00:53:28+00:53:28", .distantPast),
      ("0001-01-01T09:18:59+09:18:59", .distantPast), ("0001-12-31T19:03:58-04:56:02", .distantPast),
      ("0001-01-02T00:00:00+00:00", .distantPast + 86_400), ("1880-05-01T12:50:00Z", birth),
      ("1880-05-01T13:43:28+00:53:28", birth), ("1880-05-01T13:43:28+005328", birth),
      ("4001-01-01T00:00:00Z", .distantFuture),
    ]
    let store = try OldStore()
    for (place, entry) in dates.enumerated() {
      try store.add("LegacyAccount", "\(place)", "{\"id\":\(place),\"lastLogin\":\"\(entry.text)\"}")
      try store.add(
        "MCVessel", "V\(place)", "{\"name\":\"V\(place)\",\"launched_on\":\(OldJSON.date(entry.text))}")
    }
    let garage = try Garage(MemoryStorage())
    let report = try GarageStorageImporter(
      storeAt: store.url, types: [LegacyAccount.self], names: ["MCVessel": Vessel.self]
    ).importObjects(into: garage)
    #expect(report.failures.isEmpty, "\(report)")
    for (place, entry) in dates.enumerated() {
      #expect(
        try garage.retrieve(LegacyAccount.self, identifier: place)?.lastLogin == entry.date, "\(entry.text)")
      #expect(
        try garage.retrieve(Vessel.self, identifier: "V\(place)")?.launched == entry.date, "\(entry.text)")
    }
  }

  /// What GarageStorage parked is of version 0, whether it stands by itself or in another object.
  @Test func objectsOfOlderFormAreUpgraded() throws {
    let store = try OldStore()
    let day = "2015-07-01T10:00:00Z"
    try store.add(
      "LegacyTower", "1",
      "{\"id\":1,\"height\":1.5,\"built\":\"\(day)\",\"floors\":[{\"area\":8},{\"area\":2.0}],\"neighbour\":\"2\"}"
    )
    try store.add("LegacyTower", "2", "{\"id\":2,\"height\":2,\"built\":\"\(day)\",\"floors\":[]}")
    let tower = OldJSON.reference("LegacyTower", "1")
    try store.add(
      "MCMast", "main",
      "{\"name\":\"main\",\"metres\":7,\"raised\":\(OldJSON.date(day)),\"tower\":\(tower)}")
    let garage = try Garage(MemoryStorage())
    let report = try GarageStorageImporter(
      storeAt: store.url, types: [LegacyTower.self], names: ["MCMast": LegacyMast.self]
    ).importObjects(into: garage)
    #expect(report.failures.isEmpty && report.importedCount == 3, "\(report)")
    let first = try #require(try garage.retrieve(LegacyTower.self, identifier: 1))
    let date = Date(timeIntervalSince1970: 1_435_744_800)
    #expect(first.height == 150 && first.built == date && first.floors.map(\.area) == [2, 0.5])
    #expect(try garage.retrieve(#require(first.neighbour))?.height == 200)
    let mast = try #require(try garage.retrieve(LegacyMast.self, identifier: "main"))
    #expect(mast.length == 7 && mast.raised == date && mast.tower == first)
  }

  /// Read as a `Decimal` and as a `Double`: what Foundation's decoder reads.
  private func compare(_ numbers: [String], _ comment: String) throws {
    let store = try OldStore()
    try store.run("BEGIN")
    for (id, number) in numbers.enumerated() {
      try store.add("LegacyShare", "\(id)", json(id, number))
    }
    try store.run("COMMIT")
    let garage = try Garage(MemoryStorage())
    let report = try GarageStorageImporter(storeAt: store.url, types: [LegacyShare.self]).importObjects(
      into: garage)
    #expect(report.failures.isEmpty && report.importedCount == numbers.count, "\(comment): \(report)")
    for (id, number) in numbers.enumerated() {
      let wanted = try JSONDecoder().decode(LegacyShare.self, from: Data(json(id, number).utf8))
      #expect(
        try garage.retrieve(LegacyShare.self, identifier: id) == wanted, "\(comment): \(number)")
    }
  }

  private func json(_ id: Int, _ number: String) -> String {
    "{\"id\":\(id),\"part\":\(number),\"ratio\":\(number)}"
  }

  @Test func decimalsKeepAllTheirDigits() throws {
    let third = Decimal(1) / 3
    let decimals: [Decimal] = [
      third, Decimal(2) / 3, -third, Decimal(200) / 7, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
      .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .pi, third * 1000, 0,
    ]
    let texts = [
      "123456789012345678901234567890.12345678", "340282366920938463463374607431768211455",
      "340282366920938463463374607431768211455e-20", "0.00000000000000000000000000000000000000000000000001",
      "0.0", "1.50", "1e3", "2.5E-7", "99999999999999999999999999999999999999000000",
    ]
    try compare(decimals.map { "\($0)" } + texts, "texts")
  }

  /// Foundation writes it in the first of these forms.
  @Test(arguments: ["-0", "-0.0", "-0e3"]) func aNegativeZeroKeepsItsSign(_ number: String) throws {
    let store = try OldStore()
    try store.add("LegacyShare", "1", json(1, number))
    let garage = try Garage(MemoryStorage())
    let report = try GarageStorageImporter(storeAt: store.url, types: [LegacyShare.self]).importObjects(
      into: garage)
    #expect(report.failures.isEmpty)
    let share = try #require(try garage.retrieve(LegacyShare.self, identifier: 1))
    #expect(share.ratio == 0 && share.ratio.sign == .minus && share.part == 0)
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func anyDecimalKeepsItsDigits(_ seed: UInt64) throws {
    var random = DigitSource(state: seed)
    let numbers = (0..<200).map { _ in
      let digits = (0..<38).map {
        "\($0 == 0 ? Int.random(in: 1...9, using: &random) : .random(in: 0...9, using: &random))"
      }
      let count = Int.random(in: 0..<38, using: &random)
      let sign = Bool.random(using: &random) ? "-" : ""
      let whole = count == 0 ? "0" : digits[..<count].joined()
      return "\(sign)\(whole).\(digits[count...].joined())"
    }
    try compare(numbers, "seed \(seed)")
  }
}

import Foundation
import GarageStorage
import Testing

// One type as ten programs declared it, each after the other, all under one tag.

private enum Account {
  struct V0: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "ten.account" }
    var id: Int, name: String
  }
  /// A name of its own for each part, without saying a version: by a hand-written coder.
  struct V1: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "ten.account" }
    var id: Int, name: String, note: String?
  }
  /// `name` is `title` now.
  struct V2: Evolving, Identifiable, TypeTagged {
    static var typeTag: String { "ten.account" }
    var note: String?, id: Int, title: String
    static var propertyAliases: [String: [String]] { ["title": ["name"]] }
  }
  /// An added property that has no default.
  struct V3: Evolving, Identifiable, TypeTagged {
    static var typeTag: String { "ten.account" }
    var id: Int, title: String, country: String
    static var propertyAliases: [String: [String]] { V2.propertyAliases }
    static var prototype: V3? { V3(id: 0, title: "", country: "DE") }
  }
  /// A balance in euros.
  struct V4: Evolving, Identifiable, TypeTagged {
    static var typeTag: String { "ten.account" }
    var id: Int, title: String, country: String, balance: Double
    static var version: Int { 1 }
  }
  /// A balance in cents.
  struct V5: Evolving, Identifiable, TypeTagged {
    static var typeTag: String { "ten.account" }
    var id: Int, title: String, country: String, cents: Int
    static var version: Int { 2 }
  }
  /// An owner, which is a record of its own, and inline places.
  struct V6: Evolving, Identifiable, TypeTagged {
    static var typeTag: String { "ten.account" }
    var id: Int, title: String, country: String, cents: Int, owner: TenOwner, places: [Place1]
    static var version: Int { 2 }
  }
  /// The inline values have versions.
  struct V7: Evolving, Identifiable, TypeTagged {
    static var typeTag: String { "ten.account" }
    var id: Int, title: String, country: String, cents: Int, owner: TenOwner, places: [Place2]
    static var version: Int { 2 }
  }
  /// Several owners.
  struct V8: Evolving, Identifiable, TypeTagged {
    static var typeTag: String { "ten.account" }
    var id: Int, title: String, country: String, cents: Int, owners: [TenOwner], places: [Place2]
    static var version: Int { 3 }
  }
  /// Today's.
  struct V9: Evolving, Identifiable, TypeTagged, Equatable {
    static var typeTag: String { "ten.account" }
    var id: Int, title: String, country: String, cents: Int
    var owners: [TenOwner], places: [Place3], opened: Date, note: String?
    static var propertyAliases: [String: [String]] { V2.propertyAliases }
    static var prototype: V9? {
      V9(
        id: 0, title: "", country: "DE", cents: 0, owners: [], places: [],
        opened: Date(timeIntervalSinceReferenceDate: 5), note: "never read")
    }
    static var version: Int { 4 }
    static func upgrade(_ record: inout RecordValue, from version: Int) throws {
      if version == 1, let balance = record.remove("balance")?.doubleValue {
        record["cents"] = RecordValue(integer: Int(balance * 100))
      }
      if version < 3, let owner = record.remove("owner") { record["owners"] = .array([owner]) }
    }
  }

  struct Place1: Codable { var x = 1 }
  struct Place2: Evolving {
    var x = 2, y = 3
    static var version: Int { 1 }
  }
  struct Place3: Evolving, Equatable {
    var point: [Int]
    static var version: Int { 2 }
    static func upgrade(_ record: inout RecordValue, from version: Int) throws {
      record["point"] = .array([record["x"] ?? 0, record["y"] ?? 0])
    }
  }

  /// What each program parked.
  static let all: [@Sendable (Garage) throws -> Void] = [
    { try $0.park(V0(id: 0, name: "n0")) },
    { try $0.park(V1(id: 1, name: "n1", note: "kept")) },
    { try $0.park(V2(note: nil, id: 2, title: "n2")) },
    { try $0.park(V3(id: 3, title: "n3", country: "FR")) },
    { try $0.park(V4(id: 4, title: "n4", country: "FR", balance: 1.5)) },
    { try $0.park(V5(id: 5, title: "n5", country: "FR", cents: 7)) },
    {
      try $0.park(
        V6(id: 6, title: "n6", country: "FR", cents: 7, owner: TenOwner(id: "a"), places: [Place1()]))
    },
    {
      try $0.park(
        V7(id: 7, title: "n7", country: "FR", cents: 7, owner: TenOwner(id: "a"), places: [Place2()]))
    },
    {
      let owners = [TenOwner(id: "a"), TenOwner(id: "b")]
      try $0.park(
        V8(id: 8, title: "n8", country: "FR", cents: 7, owners: owners, places: [Place2(), Place2()]))
    },
    { try $0.park(today(9, "n9", cents: 8, [TenOwner(id: "b")], [[9, 9]], opened: 77, note: "new")) },
  ]

  static let expected: [V9] = [
    today(0, "n0", "DE"), today(1, "n1", "DE", note: "kept"), today(2, "n2", "DE"), today(3, "n3"),
    today(4, "n4", cents: 150), today(5, "n5", cents: 7),
    today(6, "n6", cents: 7, [TenOwner(id: "a")], [[1, 0]]),
    today(7, "n7", cents: 7, [TenOwner(id: "a")], [[2, 3]]),
    today(8, "n8", cents: 7, [TenOwner(id: "a"), TenOwner(id: "b")], [[2, 3], [2, 3]]),
    today(9, "n9", cents: 8, [TenOwner(id: "b")], [[9, 9]], opened: 77, note: "new"),
  ]

  private static func today(
    _ id: Int, _ title: String, _ country: String = "FR", cents: Int = 0, _ owners: [TenOwner] = [],
    _ points: [[Int]] = [], opened: Double = 5, note: String? = nil
  ) -> V9 {
    V9(
      id: id, title: title, country: country, cents: cents, owners: owners,
      places: points.map(Place3.init(point:)),
      opened: Date(timeIntervalSinceReferenceDate: opened), note: note)
  }
}

struct TenOwner: Codable, Identifiable, Equatable { var id: String }

/// A type that changed nine times reads what each of its versions wrote.
@Suite struct TenVersionsTests {
  @Test(arguments: Backend.allCases) func tenOldVersionsOpenAndRead(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    for park in Account.all {
      try park(garage)
      garage = try place.reopened(garage)
    }
    #expect(try garage.retrieveAll(Account.V9.self) == Account.expected)
    for account in Account.expected {
      #expect(try garage.retrieve(Account.V9.self, identifier: account.id) == account)
    }
    // A program of the past cannot read what is newer, and says so.
    #expect(throws: GarageError.newerTypeVersion(type: "V4", identifier: "9", version: 4, known: 1)) {
      try garage.retrieve(Account.V4.self, identifier: 9)
    }

    // For good: afterwards they are what today's program writes.
    let report = try garage.migrateAll(Account.V9.self)
    #expect(report.rewritten == 9 && report.unchanged == 1 && report.failedCount == 0, "\(report)")
    garage = try place.reopened(garage)
    #expect(try garage.retrieveAll(Account.V9.self) == Account.expected)
    let again = try garage.migrateAll(Account.V9.self)
    #expect(again.rewritten == 0 && again.unchanged == 10)
    #expect(try garage.retrieveAll(PlainAccount.self).map(\.title) == (0...9).map { "n\($0)" })
    #expect(throws: GarageError.self) { try garage.retrieve(Account.V8.self, identifier: 0) }
  }

  /// Today's keys without any way to read older ones.
  private struct PlainAccount: Evolving, Identifiable, TypeTagged {
    static var typeTag: String { "ten.account" }
    var id: Int, title: String, country: String, cents: Int, owners: [TenOwner], places: [PlainPlace],
      opened: Date
    static var version: Int { 4 }
  }
  private struct PlainPlace: Evolving {
    var point: [Int]
    static var version: Int { 2 }
  }
}

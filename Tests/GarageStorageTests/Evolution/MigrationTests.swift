import Foundation
import GarageDriver
import GarageStorage
import Testing

private struct CityBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "migration.city.old" }
  var id: Int, name = "old", mayor: Mayor? = nil, gone = "x"
}
private struct CityNow: Evolving, Identifiable, TypeTagged, Equatable {
  static var typeTag: String { "migration.city" }
  static var formerTypeTags: [String] { ["migration.city.old"] }
  var id: Int, title: String, mayor: Mayor?
  static var propertyAliases: [String: [String]] { ["title": ["name"]] }
}
private final class Mayor: Codable, Identifiable, Equatable {
  var id: Int, city: Reference<CityNow>?
  init(_ id: Int) { self.id = id }
  static func == (a: Mayor, b: Mayor) -> Bool { a.id == b.id }
}

private class MigratedAnimal: Evolving, Identifiable, TypeTagged {
  class var typeTag: String { "migration.animal" }
  var id: Int
  init(_ id: Int) { self.id = id }
  class var version: Int { 0 }
}
private final class MigratedDog: MigratedAnimal {
  override class var typeTag: String { "migration.dog" }
  class var formerTypeTags: [String] { ["migration.hound"] }
  var tricks: [String] = []
  override init(_ id: Int) { super.init(id) }
  required init(from decoder: any Decoder) throws {
    tricks = try decoder.container(keyedBy: Keys.self).decode([String].self, forKey: .tricks)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(tricks, forKey: .tricks)
  }
  private enum Keys: String, CodingKey { case tricks }
}

private struct EmbeddingBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "migration.embedding" }
  struct Part: Codable { var id: Int, text: String }
  var id: Int, parts: [Part]
}
private struct EmbeddingNow: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "migration.embedding" }
  struct Part: Codable, Identifiable, Equatable { var id: Int, text: String }
  var id: Int, parts: [Part]
}

private struct TagBefore: Codable, Hashable, TypeTagged {
  static var typeTag: String { "migration.tag" }
  var text: String
}
private struct TagNow: Evolving, Hashable, TypeTagged {
  static var typeTag: String { "migration.tag" }
  var text: String, color: String
  static var prototype: TagNow? { TagNow(text: "", color: "red") }
}

private struct VisitBefore: Codable, Identifiable, Syncable, TypeTagged {
  static var typeTag: String { "migration.visit.old" }
  var id: Int, day: Date, syncStatus: SyncStatus
}
private struct VisitNow: Evolving, Identifiable, Syncable, TypeTagged {
  static var typeTag: String { "migration.visit" }
  static var formerTypeTags: [String] { ["migration.visit.old"] }
  var id: Int, day: Date, syncStatus: SyncStatus, place: String
  static var prototype: VisitNow? {
    VisitNow(id: 0, day: Date(timeIntervalSince1970: 0), syncStatus: .undetermined, place: "?")
  }
}
private struct VisitRenamed: Codable, Identifiable, Syncable, TypeTagged {
  static var typeTag: String { "migration.visit.renamed" }
  var id: Int, syncStatus: SyncStatus
}

private struct TicketBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "migration.ticket" }
  struct Seat: Codable { var id: Int, code: String }
  var id: Int, seat: Seat
}
private struct SeatNow: Codable, Identifiable, Indexed, TypeTagged {
  static var typeTag: String { "migration.seat" }
  static var indexes: [Index<SeatNow>] { [Index(\.code, .unique, .hashed)] }
  var id: Int, code: String
}
private struct TicketNow: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "migration.ticket" }
  var id: Int, seat: Reference<SeatNow>
}

private struct BadgeBefore: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "migration.badge" }
  struct Pin: Codable { var id: Int }
  var id: Int, pins: [Pin]
}
private struct BadgeNow: Evolving, Identifiable, Indexed, TypeTagged {
  static var typeTag: String { "migration.badge" }
  static var version: Int { 1 }
  static var indexes: [Index<BadgeNow>] { [Index(\.code, .unique, .hashed)] }
  struct Pin: Codable, Identifiable { var id: Int }
  var id: Int, pins: [Pin], code: String
  static func upgrade(_ record: inout RecordValue, from version: Int) throws { record["code"] = "?" }
}

/// `migrateAll` rewrites old records once, reports those it cannot read, and leaves the others as they are.
@Suite struct MigrationTests {
  @Test(arguments: Backend.allCases) func statusesAndDatesStay(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let day = Date(timeIntervalSince1970: 1000)
    try garage.withDateEncodingStrategy(.iso8601) {
      try garage.parkAll((0..<4).map { VisitBefore(id: $0, day: day, syncStatus: .notSynced) })
    }
    try garage.setSyncStatus(.synced, for: VisitBefore(id: 2, day: day, syncStatus: .notSynced))
    let report = try garage.withDateDecodingStrategy(.iso8601) { try garage.migrateAll(VisitNow.self) }
    #expect(report.rewritten == 4 && report.failedCount == 0, "\(report)")
    garage = try place.reopened(garage)
    let visits = try garage.retrieveAll(VisitNow.self)
    #expect(visits.map(\.day) == [day, day, day, day] && visits.allSatisfy { $0.place == "?" })
    #expect(try garage.retrieveAll(VisitNow.self, withStatus: .synced).map(\.id) == [2])
    #expect(try garage.retrieveAll(VisitBefore.self, withStatus: .notSynced).isEmpty)
    try garage.migrateAll(from: VisitNow.self, to: VisitRenamed.self)
    #expect(try garage.retrieveAll(VisitRenamed.self, withStatus: .notSynced).map(\.id) == [0, 1, 3])
    #expect(try garage.retrieveAll(VisitNow.self, withStatus: .notSynced).isEmpty)
  }

  @Test(arguments: Backend.allCases) func recordsMoveToThePresentTagAndForm(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let mayor = Mayor(1)
    try garage.parkAll((0..<700).map { CityBefore(id: $0, mayor: $0 % 2 == 0 ? mayor : nil) })
    try garage.park(CityNow(id: 700, title: "new", mayor: nil))
    // A newer one of an identifier hides the older.
    try garage.parkAll([CityNow(id: 5, title: "newer", mayor: nil)])
    let before = try Driver.contents(place.open())
    let report = try garage.migrateAll(CityNow.self)
    #expect(report.rewritten == 699 && report.unchanged == 2 && report.failedCount == 0, "\(report)")
    garage = try place.reopened(garage)
    let cities = try garage.retrieveAll(CityNow.self)
    #expect(
      cities.count == 701 && cities[5].title == "newer"
        && cities[6] == CityNow(id: 6, title: "old", mayor: mayor))
    #expect(try garage.retrieveAll(CityBefore.self).isEmpty)
    #expect(try Driver.contents(place.open()).count == before.count)
    #expect(try garage.migrateAll(CityNow.self).unchanged == 701)
  }

  @Test(arguments: Backend.allCases) func whatCannotBeReadIsReportedAndKept(_ backend: Backend) throws {
    struct Strict: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "migration.city.old" }
      var id: Int, name: String?
    }
    struct Number: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "migration.city.old" }
      var id: Int, name: Int
    }
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.parkAll((0..<50).map { CityBefore(id: $0) })
    try garage.park(Number(id: 20, name: 7))
    try garage.close()
    // One more is damaged.
    let driver = try place.open()
    let records = try Driver.contents(driver, .prefix([0x10])).sorted { $0.key < $1.key }
    let damaged = try #require(records.dropFirst(30).first)
    var bytes = damaged.value
    bytes[bytes.count - 1] ^= 1
    try Driver.put(bytes, for: damaged.key.bytes, driver)
    garage = try Garage(driver)
    let report = try garage.migrateAll(Strict.self)
    #expect(
      report.rewritten == 48 && report.failedCount == 2 && report.failed.map(\.identifier) == ["20", "30"],
      "\(report)")
    #expect(report.failed[0].error is DecodingError)
    guard case GarageError.corruptRecord = report.failed[1].error else { throw report.failed[1].error }
    #expect("\(report)".contains("48 rewritten") && "\(report)".contains("\"20\""))
    let after = try Driver.contents(driver, .prefix([0x10]))
    #expect(after.count == 50 && after[damaged.key] == bytes && after[records[20].key] == records[20].value)
    #expect(try garage.retrieve(Number.self, identifier: 20)?.name == 7)
    #expect(try garage.retrieve(Strict.self, identifier: 21)?.name == "old")
    #expect(try garage.migrateAll(Strict.self).unchanged == 48)
  }

  @Test(arguments: Backend.allCases) func classesOfAHierarchy(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage([MigratedDog.self])
    let dog = MigratedDog(2)
    dog.tricks = ["sit"]
    try garage.park(MigratedAnimal(1))
    try garage.park(dog)
    #expect(try garage.migrateAll(MigratedAnimal.self).unchanged == 2)
    #expect(try garage.migrateAll(MigratedDog.self).unchanged == 1)
    #expect(try garage.retrieve(MigratedAnimal.self, identifier: 2) is MigratedDog)
    // A garage that was not told about dogs keeps them, and says so.
    let report = try place.reopened(garage).migrateAll(MigratedAnimal.self)
    #expect(report.unchanged == 1 && report.failed.map(\.identifier) == ["2"])
  }

  @Test(arguments: Backend.allCases) func embeddedObjectsBecomeRecords(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let parts = (1...3).map { EmbeddingBefore.Part(id: $0, text: "inline") }
    try garage.park(EmbeddingBefore(id: 1, parts: parts))
    try garage.park(EmbeddingBefore(id: 2, parts: parts))
    // One that is there is not overwritten with the copy.
    try garage.park(EmbeddingNow.Part(id: 2, text: "parked"))
    #expect(try garage.migrateAll(EmbeddingNow.self).rewritten == 2)
    let now = try #require(try garage.retrieve(EmbeddingNow.self, identifier: 1))
    #expect(now.parts.map(\.text) == ["inline", "parked", "inline"])
    #expect(try garage.count(EmbeddingNow.Part.self) == 3)
  }

  /// What stood inline and has a value that another has keeps its owner as it is, and no other record.
  @Test(arguments: Backend.allCases) func whatStoodInlineAndIsNotUnique(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let codes = ["a", "b", "c", "b", "d"]
    try garage.parkAll(
      codes.enumerated().map { TicketBefore(id: $0, seat: TicketBefore.Seat(id: $0, code: $1)) })
    for rewritten in [4, 0] {
      let report = try garage.migrateAll(TicketNow.self)
      #expect(report.rewritten == rewritten && report.failed.map(\.identifier) == ["3"], "\(report)")
      guard case GarageError.notUnique? = report.failed.first?.error else {
        throw report.failed[0].error
      }
      #expect(try garage.query(SeatNow.self).values(\.id) == [0, 1, 2, 4])
    }
    try garage.park(SeatNow(id: 1, code: "e"))
    #expect(try garage.migrateAll(TicketNow.self).rewritten == 1)
    #expect(try garage.retrieve(SeatNow.self, identifier: 3)?.code == "b")
    #expect(try garage.verifyIndexes().isSound)
  }

  /// A record that is left as it is leaves nothing else behind.
  @Test(arguments: Backend.allCases) func recordsThatAreNotUnique(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([1, 2].map { BadgeBefore(id: $0, pins: [BadgeBefore.Pin(id: $0)]) })
    let report = try garage.migrateAll(BadgeNow.self)
    #expect(report.rewritten == 1 && report.failed.map(\.identifier) == ["2"], "\(report)")
    #expect(try garage.query(BadgeNow.Pin.self).values(\.id) == [1])
    #expect(try garage.verifyIndexes().isSound)
  }

  @Test(arguments: Backend.allCases) func valuesKeepTheIdentifierOfTheirOldContent(_ backend: Backend) throws
  {
    let garage = try Place(backend).garage()
    let before = TagBefore(text: "a")
    try garage.park(before)
    let identifier = try garage.identifier(for: before)
    #expect(try garage.migrateAll(TagNow.self).rewritten == 1)
    #expect(try garage.retrieve(TagNow.self, identifier: identifier) == TagNow(text: "a", color: "red"))
    #expect(try garage.migrateAll(TagNow.self).unchanged == 1)
  }

  /// Many batches, and objects that each reach all that follow.
  @Test(arguments: Backend.engines) func longChains(_ backend: Backend) throws {
    final class ChainBefore: Codable, Identifiable, TypeTagged {
      static var typeTag: String { "migration.chain" }
      var id: Int, next: ChainBefore?
      init(_ id: Int, _ next: ChainBefore?) { (self.id, self.next) = (id, next) }
    }
    final class ChainNow: Evolving, Identifiable, TypeTagged {
      static var typeTag: String { "migration.chain" }
      var id: Int, following: ChainNow?
      static var propertyAliases: [String: [String]] { ["following": ["next"]] }
      init() { id = 0 }
    }
    let count = runsLongTests ? 5_000 : 1_500
    let garage = try Place(backend).garage()
    var chain: ChainBefore?
    for id in 0..<count { chain = ChainBefore(id, chain) }
    try garage.park(try #require(chain))
    while let link = chain { (chain, link.next) = (link.next, nil) }
    let report = try garage.migrateAll(ChainNow.self)
    #expect(report.rewritten == count && report.unchanged == 0, "\(report)")
    #expect(try garage.migrateAll(ChainNow.self).unchanged == count)
    #expect(try garage.count(ChainNow.self) == count)
  }

  @Test(arguments: Backend.allCases) func unsavedChangesAreMigratedToo(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    garage.isAutosaveEnabled = false
    try garage.park(CityBefore(id: 1))
    #expect(try garage.migrateAll(CityNow.self).rewritten == 1)
    #expect(garage.hasUnsavedChanges)
    try garage.save()
    #expect(try place.reopened(garage).retrieve(CityNow.self, identifier: 1)?.title == "old")
  }

  @Test(arguments: Backend.allCases) func aFailingStoreIsNoFailedRecord(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(CityBefore(id: 1))
    try garage.write { _ in
      _ = #expect(throws: GarageError.nestedWrite) { try garage.migrateAll(CityNow.self) }
    }
    try garage.close()
    if backend == .memory { return }
    #expect(throws: GarageError.closed) { try garage.migrateAll(CityNow.self) }
  }
}

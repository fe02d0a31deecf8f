import Foundation
import GarageDriver
import GarageLegacy
import GarageMemory
import GarageSQLite
import GarageStorage
import Testing

/// A store of GarageStorage that is damaged, or is none, is reported and never ends the process.
@Suite struct LegacyDamageTests {
  private func reasons(_ report: GarageStorageImportReport) -> [String: String] {
    Dictionary(report.failures.map { ($0.identifier, $0.reason) }, uniquingKeysWith: { $0 + $1 })
  }

  @Test func whatCannotBeDecodedIsReported() throws {
    let store = try OldStore()
    try store.add("Pilgrim", "whole", "{\"id\":\"whole\",\"super\":{}}")
    try store.add("Pilgrim", "cut", "{\"id\":\"cut\",\"next")
    try store.add("Pilgrim", "noData", nil)
    try store.add("Pilgrim", "list", "[1]")
    try store.add(nil, "noType", "{}")
    try store.add("Pilgrim", nil, "{\"id\":\"x\"}")
    try store.add("Stranger", "unknown", "{}")
    try store.add("Room2", "5", "{\"id\":5,\"size\":\"large\"}")
    try store.add("Room2", "6", "{\"id\":6}")
    try store.add(
      "Token", "A1B2C3D4-0000-0000-0000-000000000001",
      "{\"id\":\"A1B2C3D4-0000-0000-0000-000000000001\",\"owner\":\"Nobody\"}")
    try store.add("Pilgrim", "one", "{\"id\":\"one\",\"next\":\"two\"}")
    try store.add("Pilgrim", "two", "{\"id\":\"two\",\"next\":\"one\"}")
    try store.add("Pilgrim", "afterCut", "{\"id\":\"afterCut\",\"next\":\"cut\"}")
    try store.add("Pilgrim", "afterGone", "{\"id\":\"afterGone\",\"next\":\"gone\"}")
    try store.add("Pilgrim", "twice", "{\"id\":\"twice\",\"next\":\"whole\"}", modified: 5)
    try store.add("Pilgrim", "twice", "{\"id\":\"twice\"}", modified: 4)
    try store.add("Pilgrim", "deep", "{\"id\":" + String(repeating: "[", count: 100_000))
    try store.add(
      "Vessel", "V",
      "{\"name\":\"V\",\"launched_on\":{\"gs_type\":\"gs_transformableType\",\"gs_transformableType\":\"gs_other\"}}"
    )
    let garage = try Garage(MemoryStorage())
    let report = try GarageStorageImporter(
      storeAt: store.url, types: [Pilgrim.self, Room2.self, Token.self, Citizen.self, Vessel.self]
    ).importObjects(into: garage)
    #expect(report.importedCounts == ["Pilgrim": 3], "\(report)")
    #expect(try garage.retrieveAll(Pilgrim.self).map(\.id) == ["afterGone", "twice", "whole"])
    #expect(try garage.retrieve(Pilgrim.self, identifier: "twice")?.next?.id == "whole")

    let reasons = reasons(report)
    #expect(
      reasons["cut"]?.contains("no JSON") == true && reasons["list"]?.contains("no JSON object") == true)
    #expect(
      reasons["noData"] == GarageError.storageDataIsNil("Pilgrim").description
        && reasons["noType"] == "it has no type")
    #expect(reasons[""] == "it has no identifier" && reasons["unknown"]?.contains("names:") == true)
    #expect(reasons["5"]?.contains("Double") == true && reasons["6"]?.contains("size") == true)
    #expect(
      reasons["A1B2C3D4-0000-0000-0000-000000000001"]?.contains(
        "Missing Identifiable reference of type: Citizen with id: Nobody") == true)
    for name in ["one", "two"] {
      #expect(reasons[name]?.contains("→ Pilgrim \"") == true && reasons[name]?.contains("@Linked") == true)
    }
    #expect(reasons["afterCut"]?.contains("Pilgrim \"cut\"") == true)
    #expect(reasons["twice"]?.contains("newer") == true && reasons["deep"]?.contains("too deep") == true)
    #expect(reasons["V"]?.contains("gs_other") == true)
    #expect(report.failures.map(\.row) == report.failures.map(\.row).sorted())
  }

  /// Numbers that fit no integer, wherever they stand.
  @Test func numbersWithoutMeasureDoNotEndTheProcess() throws {
    let numbers = [
      "1e300", "-1e300", "1e999", "-1e999", "1e18", "-1e18", "9223372036854775808", "0.5", "-1", "1e-400",
    ]
    let store = try OldStore()
    var ids = 0
    for number in numbers {
      for type in ["Room2", "Citizen", "Token", "Crate", "Vessel"] {
        ids += 1
        try store.add(
          type, "\(ids)",
          """
          {"id":\(type == "Room2" ? number : "\"\(ids)\""),"size":\(number),"age":\(number),"height":\(number),
          "balance":\(number),"born":\(number),"weight":\(number),"name":\(number),"launched_on":\(number),
          "grid":[[\(number)]],"postal":{"street":"s","number":\(number)},"friends":[\(number)],"isActive":true}
          """)
        try store.run(
          """
          UPDATE ZGSCOREDATAOBJECT SET ZGS_MODIFIEDDATE = \(number), ZGS_CREATIONDATE = \(number),
            ZGS_SYNCSTATUS = \(number) WHERE Z_PK = \(ids)
          """)
      }
      ids += 1
      try store.add("Room2", "\(ids)", "{\"id\":\(ids),\"size\":2}")
      try store.run("UPDATE ZGSCOREDATAOBJECT SET ZGS_MODIFIEDDATE = \(number) WHERE Z_PK = \(ids)")
    }
    for strategy in [nil, .secondsSince1970, .millisecondsSince1970, .iso8601]
      as [JSONDecoder.DateDecodingStrategy?]
    {
      let garage = try Garage(MemoryStorage())
      var importer = GarageStorageImporter(
        storeAt: store.url, types: [Room2.self, Citizen.self, Token.self, Crate.self, Vessel.self])
      importer.dateDecodingStrategy = strategy
      let report = try importer.importObjects(into: garage)
      #expect(report.importedCount >= numbers.count && report.importedCount + report.failures.count == ids)
      #expect(try garage.count(Room2.self) >= numbers.count)
    }
  }

  /// Core Data notes the greatest key, and that may be damaged as anything else.
  @Test func aGreatestKeyThatIsNoneIsNotCountedTo() throws {
    for greatest in ["9223372036854775807", "-1", "NULL"] {
      let store = try OldStore(journal: "DELETE")
      try store.run("BEGIN")
      for number in 0..<1000 { try store.add("Room2", "\(number)", "{\"id\":\(number),\"size\":1}") }
      try store.run("COMMIT; UPDATE Z_PRIMARYKEY SET Z_MAX = \(greatest)")
      store.close()
      var bytes = try Data(contentsOf: store.url)
      let page = bytes.count / 2 / 4096 * 4096
      bytes.replaceSubrange(page..<(page + 4096), with: Data(repeating: 0xFF, count: 4096))
      try bytes.write(to: store.url)
      let garage = try Garage(MemoryStorage())
      let report = try GarageStorageImporter(storeAt: store.url, types: [Room2.self]).importObjects(
        into: garage)
      #expect(!report.failures.isEmpty)
      #expect(greatest == "-1" || report.importedCount > 0)
    }
  }

  @Test(arguments: [1, 2, 3])
  func whatIsWholeInADamagedFileComesOver(_ seed: Int) throws {
    let count = 1000
    let store = try OldStore(journal: "DELETE")
    try store.run("BEGIN")
    for number in 0..<count {
      try store.add("Room2", "\(number)", "{\"id\":\(number),\"size\":\(number).5}")
    }
    try store.run("COMMIT")
    store.close()
    var bytes = try Data(contentsOf: store.url)
    let pageSize = 4096, pages = bytes.count / pageSize
    // Not the first pages: they hold the table's root.
    let damaged = [pages / 3 * seed / 2 + 6, pages - 2 - seed]
    for page in damaged {
      for offset in 0..<pageSize {
        bytes[page * pageSize + offset] = UInt8(truncatingIfNeeded: offset &* 37 &+ seed)
      }
    }
    try bytes.write(to: store.url)
    let before = try store.snapshot()
    let garage = try Garage(MemoryStorage())
    let report = try GarageStorageImporter(storeAt: store.url, types: [Room2.self]).importObjects(
      into: garage)
    let found = try garage.retrieveAll(Room2.self)
    #expect(
      found.count == report.importedCount && found.count > count / 2 && found.count < count, "seed \(seed)")
    for room in found { #expect(room.size == Double(room.id) + 0.5) }
    #expect(report.importedCount + report.failures.count == count, "seed \(seed): \(report.importedCount)")
    #expect(try store.snapshot() == before)
  }

  @Test func whatIsNoStoreIsRefused() throws {
    let garage = try Garage(MemoryStorage())
    let store = try OldStore(journal: "DELETE")
    func importing(_ url: URL) throws {
      _ = try GarageStorageImporter(storeAt: url, types: [Room2.self]).importObjects(into: garage)
    }
    let missing = store.folder.appendingPathComponent("missing")
    #expect(throws: GarageStorageImportError.noStore(path: missing.path)) { try importing(missing) }
    try Data("not a database, but long enough to be taken for one".utf8).write(to: missing)
    #expect(throws: GarageStorageImportError.self) { try importing(missing) }
    try store.run("DROP TABLE ZGSCOREDATAOBJECT")
    #expect(throws: GarageStorageImportError.noGarageStorageStore(path: store.url.path)) {
      try importing(store.url)
    }
  }

  /// It is not even read, because closing it would drop its locks.
  @Test func anOpenGarageIsRefused() throws {
    let store = try OldStore()
    let url = store.folder.appendingPathComponent("garage")
    let garage = try Garage(SQLiteStorage(at: url))
    #expect(throws: GarageStorageImportError.noGarageStorageStore(path: url.path)) {
      _ = try GarageStorageImporter(storeAt: url, types: [Room2.self]).importObjects(into: garage)
    }
  }

  @Test func anErrorLeavesTheGarageAsItWas() throws {
    struct Enough: Error {}
    let store = try OldStore()
    for number in 0..<10 { try store.add("Room2", "\(number)", "{\"id\":\(number),\"size\":1}") }
    let garage = try Garage(MemoryStorage())
    var importer = GarageStorageImporter(storeAt: store.url, types: [Room2.self])
    importer.didImport = { if $0.formerIdentifier == "7" { throw Enough() } }
    #expect(throws: Enough.self) { _ = try importer.importObjects(into: garage) }
    #expect(try garage.count(Room2.self) == 0)
  }
}

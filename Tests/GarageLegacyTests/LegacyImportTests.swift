import Foundation
import GarageCoding
import GarageDriver
import GarageLMDB
import GarageLegacy
import GarageMemory
import GarageSQLite
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

/// Where things are moved to.
enum ImportTarget: String, CaseIterable {
  case memory, sqlite, lmdb, sealedSQLite
  /// Sealed, without identifiers in its keys.
  case hiding

  func withGarage(_ body: (Garage) throws -> Void) throws {
    let (garage, folder) = try open([])
    defer { try? FileManager.default.removeItem(at: folder) }
    defer { try? garage.close() }
    try body(garage)
  }

  nonisolated(nonsending)
    func withGarage(_ types: [any Codable.Type], _ body: (Garage) async throws -> Void) async throws
  {
    let (garage, folder) = try open(types)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(garage)
    try await garage.close()
  }

  private func open(_ types: [any Codable.Type]) throws -> (Garage, URL) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("import-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let place = folder.appendingPathComponent("store")
    let driver: any StorageDriver =
      switch self {
      case .memory: MemoryStorage()
      case .sqlite: try SQLiteStorage(at: place)
      case .lmdb: try LMDBStorage(at: place, options: LMDBStorage.Options(mapByteCount: 1 << 28))
      case .sealedSQLite, .hiding:
        try SealedStorage(SQLiteStorage(at: place), sealer: InsecureTestSealer(key: 3))
      }
    return (try Garage(driver, types: types, hidesIdentifiers: self == .hiding), folder)
  }
}

private let objectsOfEachKind = 400

/// A store with objects of both kinds, and what they were.
private func makeStore(_ store: OldStore) throws {
  try store.run("BEGIN")
  for number in 0..<objectsOfEachKind {
    try addCitizen(number, store)
    try store.add(
      "Postal", "\(Int64.max - Int64(number))", "{\"street\":\"Rue \(number)\",\"number\":\(number)}",
      status: 0)
    try addVessel(number, store)
  }
  let crate =
    "{\"weight\":7.25,\"label\":\"alone\",\"inner\":[\(OldJSON.anonymous("MCCrate", "{\"weight\":1}"))]}"
  try store.add("MCCrate", "d41d8cd98f00b204e9800998ecf8427e", crate)
  try store.run("COMMIT")
}

/// Nobody is his own friend's boss: plain properties must not form a circle.
private func friends(of number: Int) -> [Int] {
  guard number > 0, number % 3 == 0 else { return [] }
  return [number + 1, number + 2].filter { $0 < objectsOfEachKind }
}

private func addCitizen(_ number: Int, _ store: OldStore) throws {
  // A boss is a line of text, and an empty array is left out.
  let boss = number > 0 ? ",\"boss\":\"C\(number / 2)\"" : ""
  let friends = friends(of: number).map { "\"C\($0)\"" }
  let friendsText = friends.isEmpty ? "" : ",\"friends\":[\(friends.joined(separator: ","))]"
  let photo =
    number % 5 == 0 ? ",\"photo\":\"\(Data([1, 2, UInt8(number % 256)]).base64EncodedString())\"" : ""
  let json = """
    {"id":"C\(number)","age":\(number),"height":\(1 + Double(number) / 1000),"balance":\(number).07,\
    "born":"\(1970 + number % 60)-03-0\(1 + number % 9)T01:02:03+02:00","home":"https://example.org/\(number)"\
    ,"postal":{"street":"Straße \\u00e9 \(number)","number":3},"isActive":\(number % 2 == 0),"super":{}\
    ,"spouse":"C\(number ^ 1)","doctor":"C7"\(boss)\(friendsText)\(photo)}
    """
  try store.add("Citizen", "C\(number)", json, status: number % 4, modified: 700_000_000 + Double(number))
}

private func addVessel(_ number: Int, _ store: OldStore) throws {
  let crate =
    "{\"weight\":\(number).5,\"label\":\"“\(number)”\",\"packed\":\(OldJSON.date("2015-07-01T10:00:00Z"))}"
  let json = """
    {"name":"V\(number)","launched_on":\(OldJSON.date("2001-01-01T00:00:\(10 + number % 50)Z")),\
    "sister":\(OldJSON.reference("MCVessel", "V\(number ^ 1)")),\
    "fleet":[\(OldJSON.reference("MCVessel", "V\(number)")),\
    \(OldJSON.reference("MCVessel", "V\((number + 1) % objectsOfEachKind)"))],\
    "cargo":[\(OldJSON.anonymous("MCCrate", crate, status: 2)),\(OldJSON.anonymous("MCCrate", "{\"weight\":2}"))],\
    "byHold":{"aft":\(OldJSON.anonymous("MCCrate", "{\"weight\":3,\"label\":null}"))},"grid":[[1,2],[],[\(number)]],\
    "captain":\(OldJSON.reference("Citizen", "C\(number)")),"isAfloat":1}
    """
  try store.add("MCVessel", "V\(number)", json, status: 3)
}

private func check(_ citizens: [Citizen]) {
  let byName = Dictionary(uniqueKeysWithValues: citizens.map { ($0.id, $0) })
  #expect(byName.count == objectsOfEachKind)
  for number in 0..<objectsOfEachKind {
    guard let citizen = byName["C\(number)"] else { continue }
    #expect(citizen.age == number && citizen.height == 1 + Double(number) / 1000)
    #expect(citizen.balance == Decimal(string: "\(number).07"))
    let born = DateComponents(
      calendar: Calendar(identifier: .gregorian), timeZone: TimeZone(secondsFromGMT: 7200),
      year: 1970 + number % 60, month: 3, day: 1 + number % 9, hour: 1, minute: 2, second: 3)
    #expect(citizen.born == born.date)
    #expect(citizen.home?.absoluteString == "https://example.org/\(number)")
    #expect(citizen.photo == (number % 5 == 0 ? Data([1, 2, UInt8(number % 256)]) : nil))
    #expect(citizen.postal == Postal(street: "Straße é \(number)", number: 3))
    #expect(citizen.isActive == (number % 2 == 0))
    #expect(citizen.boss === (number > 0 ? byName["C\(number / 2)"] : nil))
    #expect(citizen.spouse === byName["C\(number ^ 1)"])
    #expect(citizen.syncStatus.rawValue == number % 4)
    #expect(citizen.doctor == Reference(Citizen.self, identifier: "C7"))
    #expect(citizen.friends.map(\.id) == friends(of: number).map { "C\($0)" })
    for friend in citizen.friends { #expect(friend === byName[friend.id]) }
  }
}

private func check(_ vessels: [Vessel]) {
  let byName = Dictionary(uniqueKeysWithValues: vessels.map { ($0.name, $0) })
  #expect(byName.count == objectsOfEachKind)
  for number in 0..<objectsOfEachKind {
    guard let vessel = byName["V\(number)"] else { continue }
    #expect(vessel.launched == Date(timeIntervalSinceReferenceDate: Double(10 + number % 50)))
    #expect(vessel.sister === byName["V\(number ^ 1)"])
    #expect(vessel.fleet.map(\.name) == ["V\(number)", "V\((number + 1) % objectsOfEachKind)"])
    #expect(vessel.fleet[0] === vessel)
    let crate = Crate(Double(number) + 0.5, "“\(number)”")
    crate.packed = Date(timeIntervalSince1970: 1_435_744_800)
    #expect(vessel.cargo == [crate, Crate(2)] && vessel.byHold == ["aft": Crate(3)])
    #expect(vessel.syncStatus == .synced && vessel.cargo.map(\.syncStatus) == [.syncing, .undetermined])
    #expect(vessel.grid == [[1, 2], [], [number]] && vessel.captain?.id == "C\(number)" && vessel.isAfloat)
  }
}

/// What refers to itself is taken apart, so that it is freed.
private func takeApart(_ citizens: [Citizen], _ vessels: [Vessel]) {
  for citizen in citizens { (citizen.boss, citizen.friends, citizen.spouse) = (nil, [], nil) }
  for vessel in vessels { (vessel.sister, vessel.fleet) = (nil, []) }
}

/// Everything in a store of GarageStorage comes over as it was.
@Suite struct LegacyImportTests {
  private var types: [any Codable.Type] { [Citizen.self, Postal.self] }
  private var names: [String: any Codable.Type] { ["MCVessel": Vessel.self, "MCCrate": Crate.self] }

  @Test(arguments: ImportTarget.allCases)
  func everyObjectComesOverAsItWas(_ target: ImportTarget) throws {
    let store = try OldStore()
    try makeStore(store)
    // The log has not been moved into the file.
    let before = try store.snapshot()
    #expect(before.keys.contains { $0.hasSuffix("-wal") })
    try target.withGarage { garage in
      var dates: [String: (Date?, Date?, Int?)] = [:]
      var importer = GarageStorageImporter(storeAt: store.url, types: types, names: names)
      importer.didImport = {
        dates["\($0.typeName) \($0.formerIdentifier ?? "")"] = (
          $0.creationDate, $0.modificationDate, $0.syncStatus
        )
      }
      let report = try importer.importObjects(into: garage)
      #expect(report.failures.isEmpty && report.notices.isEmpty, "\(report)")
      #expect(report.importedCounts == ["Citizen": 400, "Postal": 400, "Vessel": 400, "Crate": 1])
      #expect(dates["Citizen C5"]?.0 == Date(timeIntervalSinceReferenceDate: 700_000_000))
      #expect(dates["Citizen C5"]?.1 == Date(timeIntervalSinceReferenceDate: 700_000_005))
      #expect(dates["Citizen C5"]?.2 == 1 && dates["MCVessel V0"]?.2 == 3)

      #expect(try garage.count(Citizen.self) == 400 && garage.count(Postal.self) == 400)
      let (citizens, vessels) = (try garage.retrieveAll(Citizen.self), try garage.retrieveAll(Vessel.self))
      check(citizens)
      check(vessels)
      let postal = Postal(street: "Rue 3", number: 3)
      #expect(try garage.retrieve(Postal.self, identifier: garage.identifier(for: postal)) == postal)
      let crate = Crate(7.25, "alone")
      crate.inner = [Crate(1)]
      #expect(try garage.retrieveAll(Crate.self) == [crate])
      let waiting = try garage.retrieveAll(Citizen.self, withStatus: .notSynced)
      #expect(waiting.map(\.id).sorted() == stride(from: 1, to: 400, by: 4).map { "C\($0)" }.sorted())
      let synced = try garage.retrieveObjects(withStatus: .synced, ofClass: Vessel.self)
      #expect(synced.count == 400)
      takeApart(citizens + waiting, vessels + synced)

      // Again: the same records.
      #expect(try importer.importObjects(into: garage).importedCount == 1201)
      #expect(try garage.count(Postal.self) == 400 && garage.count(Crate.self) == 1)
    }
    #expect(try store.snapshot() == before)
  }

  @Test func recordsBearTheTimeOfTheLastChange() throws {
    let store = try OldStore()
    try store.add("Room", "1", "{\"id\":1}", status: 3, modified: 700_000_123.25)
    let storage = MemoryStorage()
    let garage = try Garage(storage)
    let report = try GarageStorageImporter(storeAt: store.url, types: [Room.self]).importObjects(into: garage)
    // Rooms have no status here.
    #expect(report.failures.isEmpty && report.notices.map(\.identifier) == ["1"])
    #expect(report.notices[0].reason.contains("Room is not Syncable"))
    let milliseconds = UInt64((700_000_123.25 + 978_307_200) * 1000)
    let place = RecordHead.timeOffset..<RecordHead.byteCount
    let time = withUnsafeBytes(of: milliseconds.littleEndian) { Array($0.prefix(place.count)) }
    let records = try storage.read { transaction in
      var records: [[UInt8]] = []
      try transaction.scan(.all, .forward) { _, value in
        records.append(value.withUnsafeBytes { Array($0) })
        return .continue
      }
      return records
    }
    #expect(records.contains { $0.count > place.upperBound && Array($0[place]) == time })
  }

  @Test func statusesThatAreNoneAreReported() throws {
    let store = try OldStore()
    try store.add("MCVessel", "a", "{\"name\":\"a\"}", status: 9)
    try store.add("MCVessel", "b", "{\"name\":\"b\"}", status: nil)
    let garage = try Garage(MemoryStorage())
    let importer = GarageStorageImporter(storeAt: store.url, types: [], names: names)
    let report = try importer.importObjects(into: garage)
    #expect(report.failures.isEmpty && report.notices.map(\.identifier) == ["a"])
    #expect(report.notices[0].reason.contains("no such status"))
    #expect(try garage.retrieveAll(Vessel.self, withStatus: .undetermined).map(\.name) == ["a", "b"])
  }

  @Test func identifiersAreConverted() throws {
    let store = try OldStore(journal: "DELETE")
    let uuid = UUID()
    try store.add(
      "Citizen", "Sam",
      "{\"id\":\"Sam\",\"age\":1,\"height\":2,\"balance\":3,\"born\":\"2020-01-01T00:00:00Z\",\"postal\":{\"street\":\"s\",\"number\":1},\"isActive\":false}"
    )
    try store.add("Token", uuid.uuidString, "{\"id\":\"\(uuid.uuidString)\",\"owner\":\"Sam\"}")
    try store.add("Room", "7", "{\"id\":7,\"next\":\"8\"}")
    try store.add("Room2", "8", "{\"id\":8,\"size\":0.1}")
    let garage = try Garage(MemoryStorage())
    let importer = GarageStorageImporter(
      storeAt: store.url, types: [Citizen.self, Token.self, Room.self, Room2.self])
    let report = try importer.importObjects(into: garage)
    #expect(report.importedCount == 4, "\(report)")
    #expect(try garage.retrieve(Token.self, identifier: uuid)?.owner.id == "Sam")
    #expect(try garage.retrieve(Room.self, identifier: 7)?.next?.size == 0.1)
  }

  @Test func encryptedStoresAreDecrypted() throws {
    func seal(_ text: String) -> String { Data(text.utf8.reversed()).base64EncodedString() }
    let store = try OldStore()
    let crate =
      "{\"gs_identifier\":\"kGSAnonymousObject\",\"gs_type\":\"MCCrate\",\"kGSAnonymousDataKey\":\"\(seal("{\"weight\":4}"))\"}"
    try store.add("MCVessel", "V", seal("{\"name\":\"V\",\"cargo\":[\(crate)]}"))
    try store.add("MCVessel", "W", "{\"name\":\"W\"}")
    let garage = try Garage(MemoryStorage())
    struct NotSealed: Error {}
    let importer = GarageStorageImporter(storeAt: store.url, types: [], names: names) { text in
      guard let data = Data(base64Encoded: text) else { throw NotSealed() }
      return Data(data.reversed())
    }
    let report = try importer.importObjects(into: garage)
    #expect(report.importedCounts == ["Vessel": 1])
    #expect(report.failures.map(\.identifier) == ["W"] && report.failures[0].reason.contains("NotSealed"))
    #expect(try garage.retrieve(Vessel.self, identifier: "V")?.cargo == [Crate(4)])
  }

  @Test func anotherDateStrategyIsTaken() throws {
    let store = try OldStore()
    let rest =
      "\"age\":1,\"height\":2,\"balance\":3,\"postal\":{\"street\":\"s\",\"number\":1},\"isActive\":false"
    try store.add("Citizen", "a", "{\"id\":\"a\",\"born\":1500,\(rest)}")
    let garage = try Garage(MemoryStorage())
    var importer = GarageStorageImporter(storeAt: store.url, types: types)
    #expect(try importer.importObjects(into: garage).failures[0].reason.contains("dateDecodingStrategy"))
    importer.dateDecodingStrategy = .millisecondsSince1970
    #expect(try importer.importObjects(into: garage).failures.isEmpty)
    #expect(try garage.retrieve(Citizen.self, identifier: "a")?.born == Date(timeIntervalSince1970: 1.5))

    // The records are written with the garage's own.
    let rounding = try Garage(MemoryStorage(), dateEncodingStrategy: .iso8601, dateDecodingStrategy: .iso8601)
    #expect(try importer.importObjects(into: rounding).failures.isEmpty)
    #expect(try rounding.retrieve(Citizen.self, identifier: "a")?.born == Date(timeIntervalSince1970: 1))
  }

  @Test func aLongChainOfTextsNeedsNoStack() throws {
    let count = 20_000
    let store = try OldStore()
    try store.run("BEGIN")
    for number in 0..<count {
      let next = number + 1 < count ? ",\"next\":\"P\(number + 1)\"" : ""
      try store.add("Pilgrim", "P\(number)", "{\"id\":\"P\(number)\"\(next)}")
    }
    try store.run("COMMIT")
    let garage = try Garage(MemoryStorage())
    let report = try GarageStorageImporter(storeAt: store.url, types: [Pilgrim.self]).importObjects(
      into: garage)
    #expect(report.importedCount == count && report.failures.isEmpty)
    var last = try #require(try garage.retrieve(Pilgrim.self, identifier: "P\(count - 100)"))
    var length = 1
    while let next = last.next { (last, length) = (next, length + 1) }
    #expect(length == 100)
  }
}

import Foundation
import GarageDriver
import GarageStorage
import Testing

/// What is exported is taken in again as it was, and nothing is taken in of a file that is not whole.
@Suite struct ExchangeTests {
  private struct Stop: Error {}

  /// All but metadata: texts, records, sync statuses, typed keys.
  private func contents(_ driver: any StorageDriver) throws -> [StorageKey: [UInt8]] {
    try Driver.contents(driver).filter { $0.key.bytes[0] != 0 }
  }

  private func file(_ place: Place, _ name: String = "export.jsonl") -> URL {
    place.folder.appending(path: name)
  }

  @Test(arguments: Backend.copied, Backend.engines)
  func everyDriverToEveryDriver(_ from: Backend, _ to: Backend) throws {
    let store = try CareStore(from)
    let file = file(store.place)
    var calls: [CareProgress] = []
    let result = try store.garage.export(to: file) { calls.append($0) }
    let records = try contents(store.driver)
    #expect(result.objectCount == records.keys.count { $0.bytes[0] == 0x10 } && result.keyCount == 2)
    #expect(calls.last?.completedUnitCount == calls.last?.totalUnitCount)
    #expect(try Data(contentsOf: file).count == result.byteCount)
    #expect(!FileManager.default.fileExists(atPath: file.path + ".partial"))

    let destination = try Place(to).open()
    let garage = try Garage(destination, types: [Dog.self, Puppy.self])
    #expect(try garage.import(from: file) == result)
    #expect(try contents(destination) == records)
    #expect(try garage.verify().findings.isEmpty)
    #expect(
      try garage.get(CareKeys.number) == 7 && garage.retrieveAll(Errand.self, withStatus: .synced).count == 1)
    // A second time nothing changes.
    try garage.import(from: file)
    #expect(try contents(destination) == records)
    // And what is exported of it is the same file.
    let second = store.place.folder.appending(path: "second.jsonl")
    try garage.export(to: second)
    #expect(try Data(contentsOf: second) == Data(contentsOf: file))
  }

  /// Hidden identifiers stand open in the file, and are hidden anew, with another key, or not at all.
  @Test(arguments: [true, false], [true, false])
  func hiddenIdentifiers(_ hidesHere: Bool, _ hidesThere: Bool) throws {
    let store = try CareStore(.sealedSQLite, hidesIdentifiers: hidesHere)
    try store.garage.export(to: file(store.place))
    let place = try Place(.sealedSQLite)
    let garage = try Garage(place.open(), types: [Dog.self, Puppy.self], hidesIdentifiers: hidesThere)
    try garage.import(from: file(store.place))
    #expect(try garage.verify().findings.isEmpty)
    #expect(try garage.count(CareNode.self) == 20)
    #expect(try garage.retrieve(CareLeaf.self, identifier: String(repeating: "long ", count: 100)) != nil)
    let node = try #require(try garage.retrieve(CareNode.self, identifier: 4))
    #expect(node.parent?.id == "leaf 1" && node.links.map(\.id) == [5, 8])
    if !hidesHere && !hidesThere { #expect(try contents(place.open()) == contents(store.driver)) }
  }

  /// The lines say what the objects hold, in the form that Docs/Format.md draws.
  @Test func otherProgramsReadIt() throws {
    let store = try CareStore(.sqlite)
    try store.garage.export(to: file(store.place))
    let lines = try String(contentsOf: file(store.place), encoding: .utf8).split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(lines.first?["garage"] as? String == "export")
    let node = try #require(
      lines.first { ($0["type"] as? String)?.hasSuffix("CareNode") == true && $0["id"] as? String == "4" })
    let value = try #require(node["value"] as? [String: Any])
    #expect(value["name"] as? String == "node 4" && value["id"] as? Int == 4)
    let parent = try #require((value["parent"] as? [String: Any])?["$reference"] as? [String: Any])
    #expect(parent["id"] as? String == "leaf 1")
    let number = try #require(lines.first { $0["name"] as? String == "care:number" })
    #expect(number["value"] as? Int == 7 && number["namespaces"] as? [String] == ["care"])
    let end = try #require(lines.last?["end"] as? [String: Any])
    #expect(end["objects"] as? Int == lines.count { $0["type"] != nil })
  }

  /// Whatever byte is another one, or wherever the file ends: an error that names the line, and nothing is taken in.
  @Test(arguments: [Backend.memory, .sqlite])
  func nothingIsTakenInOfADamagedFile(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let store = try CareStore(backend)
    try store.garage.export(to: file(store.place))
    let whole = try Data(contentsOf: file(store.place))
    let driver = try Place(backend).open()
    let garage = try Garage(driver)
    try garage.park(Counter(id: 1))
    let before = try Driver.contents(driver)
    let damaged = file(store.place, "damaged.jsonl")
    func expectDamage(_ data: Data, _ what: String) throws {
      try data.write(to: damaged)
      do {
        try garage.import(from: damaged)
        Issue.record("\(what) was taken in (seed \(seed))")
      } catch GarageError.damagedExport(let line, let reason) {
        #expect(line >= 1 && !reason.isEmpty)
      } catch {
        Issue.record("\(what): \(error) (seed \(seed))")
      }
      #expect(try Driver.contents(driver) == before, "\(what) (seed \(seed))")
    }
    for _ in 0..<(runsLongTests ? 150 : 70) {
      let place = Int.random(in: 0..<(whole.count - 1), using: &random)
      var data = whole
      data[place] ^= UInt8.random(in: 1...255, using: &random)
      try expectDamage(data, "byte \(place)")
      try expectDamage(whole.prefix(place), "cut at \(place)")
    }
    try expectDamage(Data(), "an empty file")
    try expectDamage(whole + Data("{}\n".utf8), "a line behind the last")
    try expectDamage(Data("{\"garage\": \"export\", \"version\": 2}\n".utf8), "a newer version")
    for (opening, name) in [("{\"a\":", "objects in objects"), ("{\"a\":[", "lists and objects")] {
      try expectDamage(Data(String(repeating: opening, count: 300_000).utf8), name)
    }
    let lines = whole.split(separator: 0x0A, omittingEmptySubsequences: true)
    for place in [1, lines.count / 2, lines.count - 2] {
      var rest = lines
      rest.remove(at: place)
      try expectDamage(Data(rest.joined(separator: [0x0A])), "without line \(place + 1)")
    }
    expectStorageError(.notFound) { try garage.import(from: file(store.place, "none")) }
    // Without the last line feed it is whole.
    try whole.dropLast().write(to: damaged)
    try garage.import(from: damaged)
    #expect(try garage.count(Counter.self) == 1 && garage.verify().isSound)
  }

  @Test(arguments: Backend.engines)
  func endedEarlyNothingIsChanged(_ backend: Backend) async throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try await garage.parkAll((0..<5000).map { Counter(id: $0, value: 1) })
    let file = file(place)
    #expect(throws: Stop.self) { try garage.export(to: file) { _ in throw Stop() } }
    let cancelled = Task { try await garage.export(to: file) }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(!FileManager.default.fileExists(atPath: file.path + ".partial"))
    try await garage.export(to: file)
    expectStorageError(.alreadyThere) { try garage.export(to: file) }
    try await garage.parkAll((0..<5000).map { Counter(id: $0, value: 2) })
    #expect(throws: Stop.self) { try garage.import(from: file) { _ in throw Stop() } }
    #expect(try here { try garage.retrieve(Counter.self, identifier: 0)?.value == 2 })
    try await garage.import(from: file)
    #expect(try here { try garage.retrieveAll(Counter.self).allSatisfy { $0.value == 1 } })
  }

  /// What is damaged is named, and nothing is left of the file.
  @Test(arguments: Backend.engines)
  func damageIsNotExported(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let key = try #require(try Driver.contents(store.driver, .prefix([0x10])).keys.max())
    try Driver.put([1, 2, 3], for: key.bytes, store.driver)
    #expect(throws: GarageError.self) { try store.garage.export(to: file(store.place)) }
    #expect(!FileManager.default.fileExists(atPath: file(store.place).path))
  }

  /// Where an address has a path, too, that is not where the file is.
  @Test func onlyFilesAreExportedToAndTakenIn() throws {
    let store = try CareStore(.memory)
    let path = file(store.place).path
    let url = try #require(URL(string: "https://localhost" + path))
    expectStorageError(.notFound) { try store.garage.export(to: url) }
    #expect(!FileManager.default.fileExists(atPath: path))
    try store.garage.export(to: file(store.place))
    expectStorageError(.notFound) { try store.garage.import(from: url) }
  }

  /// Closing a descriptor of a file drops the locks of the whole process. The next process would take itself for the only one that
  /// has the store, and remove its log.
  @Test func aStoreThatIsTakenForAnExportStaysLocked() throws {
    let place = try Place(.sqlite)
    let garage = try place.garage()
    let key = Key<GlobalNamespace, Int>(id: "count", defaultValue: 0)
    try garage.set(key, value: 1)
    let path = place.storePath.path
    // Twice: the second call knows the files.
    for suffix in ["", "-shm", "", "-shm"] {
      let error = #expect(throws: GarageError.self) {
        try garage.import(from: URL(filePath: path + suffix))
      }
      guard case .damagedExport(line: 1, reason: _)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    let child = try Child("count-key", "sqlite", path, "1")
    _ = try child.firstLine()
    try child.send("go")
    try child.wait()
    #expect(FileManager.default.fileExists(atPath: path + "-wal"))
    #expect(try garage.get(key) == 2)
  }

  /// Indexes are made of what comes in.
  @Test(arguments: Backend.engines)
  func indexesFollow(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try Garage(place.open(), types: [Indexed1.self])
    try garage.parkAll((0..<50).map { Indexed1(id: $0, group: $0 % 5) })
    try garage.export(to: file(place))
    let other = try Garage(Place(backend).open(), types: [Indexed1.self])
    try other.park(Indexed1(id: 7, group: 99))
    try other.import(from: file(place))
    let query = other.query(Indexed1.self).where(\.group == 2)
    #expect(try query.count() == 10 && other.query(Indexed1.self).where(\.group == 99).count() == 0)
    #expect(try other.verifyIndexes().isSound && other.verify().findings.isEmpty)
  }

  /// Objects of the file have values of a unique index that others have until they are replaced.
  @Test(arguments: Backend.engines)
  func objectsThatHaveSwappedUniqueValuesComeBack(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll((0..<1500).map { ExchangedGuest(id: $0, name: "\($0)") })
    try garage.export(to: file(place))
    try garage.parkAll((0..<1500).map { ExchangedGuest(id: $0, name: "\(1499 - $0)") })
    try garage.import(from: file(place))
    #expect(try garage.retrieveAll(ExchangedGuest.self).allSatisfy { $0.name == "\($0.id)" })
    #expect(try garage.verify().findings.isEmpty && garage.verifyIndexes().isSound)
    // One that is not replaced has the value of one that comes: nothing is changed.
    try garage.park(ExchangedGuest(id: 7, name: "free"))
    try garage.park(ExchangedGuest(id: 2000, name: "7"))
    #expect(throws: GarageError.self) { try garage.import(from: file(place)) }
    #expect(try garage.retrieve(ExchangedGuest.self, identifier: 7)?.name == "free")
    #expect(try garage.count(ExchangedGuest.self) == 1501)
  }
}

private struct ExchangedGuest: Codable, Identifiable, Indexed {
  var id: Int
  var name: String
  static var indexes: [Index<ExchangedGuest>] { [Index(\.name, .unique, .readable)] }
}

private struct Indexed1: Codable, Identifiable, Indexed {
  var id: Int
  var group: Int
  static var indexes: [Index<Indexed1>] { [Index(\.group, .readable)] }
}

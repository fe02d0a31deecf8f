import Foundation
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

/// Every page of a small store damaged, one at a time: that is noticed, and what no damaged page has a part of is saved.
@Suite struct SalvageTests {
  private static let engines: [Backend] = [.sqlite, .lmdb]

  @Test(arguments: engines, DamagedPages.Damage.allCases)
  func everyPage(_ backend: Backend, _ damage: DamagedPages.Damage) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let store = try DamagedPages(backend, seed: seed)
    var (savedCount, untouchedCount, olderCount) = (0, 0, 0)
    // Every third one, unless there is time for all.
    let step = runsLongTests ? 1 : 3
    for page in stride(from: Int.random(in: 0..<step, using: &random), to: store.pageCount, by: step) {
      let other = Int.random(in: 0..<store.pageCount, using: &random)
      let touched = try store.damage(page, damage, with: other)
      let what = "\(backend) page \(page) of \(store.pageCount) \(damage) (other \(other), seed \(seed))"
      if touched.isEmpty { continue }
      try expectNoticed(store, what)
      var untouched = store.untouched(touched)
      // Without the newest of its meta pages LMDB's store is the one before the last commit.
      if backend == .lmdb && !touched.isDisjoint(with: [0, 1]) { untouched.remove(Marked.mark(999)) }
      let saved = try salvage(store, older: false, what)
      // Nothing comes back that was deleted, but where the state before is all there is.
      let older = backend == .lmdb && !touched.isDisjoint(with: [0, 1])
      if !older { #expect(saved.isSubset(of: Set(store.numbers.map(Marked.mark))), "\(what)") }
      let withOlder = untouched.isSubset(of: saved) ? saved : try salvage(store, older: true, what)
      let lost = untouched.subtracting(withOlder)
      #expect(lost.isEmpty, "\(what): lost \(lost.sorted())")
      savedCount += untouched.intersection(saved).count
      olderCount += untouched.intersection(withOlder.subtracting(saved)).count
      untouchedCount += untouched.count
    }
    #expect(untouchedCount > 1000 / step)
    // Where the list of free pages is lost, too, it has to be asked for: that is the exception.
    if damage == .zeroed { #expect(olderCount * 10 < untouchedCount, "\(olderCount) of \(untouchedCount)") }
  }

  /// Verification finds it, or the engine refuses the file; where neither does, nothing that is kept there was touched.
  private func expectNoticed(_ store: DamagedPages, _ what: String) throws {
    if store.place.backend == .lmdb {
      do {
        if try !LMDBStorage.integrityComplaints(at: store.place.storePath).isEmpty { return }
      } catch is StorageError { return }
    }
    // For reading only: of a file without a byte another opening would make a new store.
    let driver: any StorageDriver
    do { driver = try store.place.open(readOnly: true) } catch is StorageError { return }
    defer { try? driver.close() }
    let garage: Garage
    do { garage = try Garage(driver) } catch is GarageError { return }
    // What opens can be verified: damage is a finding then, and no error.
    if try !garage.verify().findings.isEmpty { return }
    #expect(try Driver.contents(driver) == store.contents, "\(what): not noticed")
  }

  private func salvage(_ store: DamagedPages, older: Bool, _ what: String) throws -> Set<String> {
    let driver = MemoryStorage()
    let garage = try Garage(driver)
    do {
      let report = try GarageSalvage(from: store.source, into: garage, includingOlder: older).run()
      let records = try Driver.contents(driver, .prefix([0x10]))
      #expect(report.objectCount == records.count, "\(what): \(report)")
      for (key, record) in records where store.records[key] != nil {
        #expect(store.records[key] == record, "\(what)")
      }
      return Set(
        try garage.identifiers(ofTypeNamed: String(reflecting: Marked.self), limit: 10_000).map(\.description)
      )
    } catch GarageError.storage(let error) {
      // A file without any page that says what it is.
      #expect([.notAStorage, .notFound].contains(error.kind), "\(what): \(error)")
      return []
    }
  }

  /// A whole store comes over wholly, whatever is in it, and through a seal.
  @Test(arguments: [Backend.sqlite, .lmdb, .sealedSQLite], [false, true])
  func aWholeStoreComesOver(_ backend: Backend, hidesIdentifiers: Bool) async throws {
    if hidesIdentifiers && !backend.isSealed { return }
    let store = try CareStore(backend, hidesIdentifiers: hidesIdentifiers)
    try await store.garage.parkAll(
      (0..<300).map { Letter(id: $0, text: String(repeating: "\($0)", count: $0 * 20)) })
    try await store.garage.delete(Letter.self, identifier: 299)
    let contents = try Driver.contents(store.driver).filter { ![0x00, 0x20].contains($0.key.bytes[0]) }
    // SQLite's last commits stand in the log alone.
    let copy = try Place(backend)
    try FileManager.default.removeItem(at: copy.folder)
    try FileManager.default.copyItem(at: store.place.folder, to: copy.folder)
    let pages: any SalvageSource =
      backend == .lmdb ? LMDBPages(at: copy.storePath) : SQLitePages(at: copy.storePath)
    let source: any SalvageSource =
      backend.isSealed ? try SealedPages(pages, sealer: InsecureTestSealer(key: 7)) : pages
    let driver = try Place(backend).open()
    let garage = try Garage(driver, types: [Dog.self, Puppy.self], hidesIdentifiers: hidesIdentifiers)
    let report = try await GarageSalvage(from: source, into: garage).run()
    #expect(report.damagedCount == 0 && report.notes.isEmpty && report.olderCount == 0, "\(report)")
    #expect(try here { try garage.verify().findings.isEmpty })
    let found = try Driver.contents(driver).filter { ![0x00, 0x20].contains($0.key.bytes[0]) }
    if hidesIdentifiers { #expect(found.count == contents.count) } else { #expect(found == contents) }
    #expect(try here { try garage.get(CareKeys.number) == 7 && garage.count(Letter.self) == 299 })
    // Once more, nothing changes.
    let second = try await GarageSalvage(from: source, into: garage).run()
    #expect(second.objectCount == 0 && second.keyCount == 0)
  }

  /// To read the file of a store that is open here would take its locks away.
  @Test func anOpenStoreIsRefused() throws {
    let place = try Place(.sqlite)
    let garage = try place.garage()
    try garage.parkAll((0..<10).map { Counter(id: $0) })
    let source = SQLitePages(at: place.storePath)
    let other = try Garage(MemoryStorage())
    expectStorageError(.busy) { _ = try GarageSalvage(from: source, into: other).run() }
    expectStorageError(.busy) { _ = try GarageSalvage(from: source, into: garage).run() }
    try garage.park(Counter(id: 10))
    try garage.close()
    let report = try GarageSalvage(from: source, into: other).run()
    #expect(report.objectCount == 11)
  }

  /// What was found only where an older state may be.
  private struct OlderEntries: SalvageSource {
    let driver = "test"
    let entries: [StorageKey: [UInt8]]
    func forEachEntry(_ visit: (RawSpan, RawSpan, Bool) throws -> Void) throws -> [String] {
      for (key, value) in entries { try visit(key.bytes.span.bytes, value.span.bytes, false) }
      return []
    }
  }

  /// A key that was removed has no value again, unless that is asked for, as a deleted object is none.
  @Test func olderKeysStayAway() throws {
    let driver = MemoryStorage()
    let old = try Garage(driver)
    try old.set(CareKeys.number, value: 3)
    try old.park(Letter(id: 1, text: "old"))
    let source = OlderEntries(entries: try Driver.contents(driver))
    for includesOlder in [false, true] {
      let garage = try Garage(MemoryStorage())
      try garage.park(Letter(id: 2, text: "new"))
      let report = try GarageSalvage(from: source, into: garage, includingOlder: includesOlder).run()
      #expect(try garage.contains(CareKeys.number) == includesOlder)
      #expect(try garage.contains(Letter.self, identifier: 1) == includesOlder)
      #expect(report.olderKeyCount == 1 && report.olderCount == 1)
      #expect(report.keyCount == (includesOlder ? 1 : 0) && report.objectCount == report.keyCount)
      #expect("\(report)".contains("1 key found that may be of an older state"))
      // What the garage has is not replaced.
      try garage.set(CareKeys.number, value: 9)
      try GarageSalvage(from: source, into: garage, includingOlder: includesOlder).run()
      #expect(try garage.get(CareKeys.number) == 9)
    }
  }

  /// A garage that has a later state of an object keeps it.
  @Test(arguments: engines)
  func whatIsLaterStays(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll([Counter(id: 1, value: 1), Counter(id: 2, value: 1)])
    try garage.close()
    usleep(3000)
    let other = try Garage(MemoryStorage())
    try other.park(Counter(id: 2, value: 5))
    let source: any SalvageSource =
      backend == .lmdb ? LMDBPages(at: place.storePath) : SQLitePages(at: place.storePath)
    let report = try GarageSalvage(from: source, into: other).run()
    #expect(report.objectCount == 1)
    #expect(try other.retrieveAll(Counter.self).map(\.value) == [1, 5])
  }

  /// Where the coding keys of a type are lost its objects come over all the same, and its indexes fit in the end.
  @Test(arguments: Backend.engines)
  func objectsOfAnIndexedTypeComeOverWithoutItsCodingKeys(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    try Garage(driver).parkAll((0..<30).map { Shelf(id: $0, row: $0 % 3) })
    let shapes = try Driver.contents(driver, .prefix([0x02])).keys
    #expect(!shapes.isEmpty)
    try driver.write { transaction in
      for key in shapes { try transaction.remove(key) }
      return .commit(())
    }
    let saved = try Garage(Place(backend).open(), types: [Shelf.self])
    let report = try GarageSalvage(from: EntrySource(driver), into: saved).run()
    #expect(report.objectCount == 30 && report.damagedCount == 0, "\(report)")
    #expect(
      try saved.verify().findings.allSatisfy { $0.place == .record && $0.description.contains("shape") })
    // This process knows the type.
    try saved.repair()
    #expect(try saved.verify().findings.isEmpty)
    #expect(try saved.query(Shelf.self).where(\.row == 1).count() == 10)
  }

  /// Objects come over though others have, for a while or for good, their value in a unique index.
  @Test(arguments: Backend.engines)
  func objectsComeOverWhoseUniqueValuesAreTaken(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let damaged = try Garage(driver)
    let saved = try Garage(Place(backend).open())
    try saved.parkAll([
      SalvagedGuest(id: 1, name: "a"), SalvagedGuest(id: 2, name: "b"), SalvagedGuest(id: 3, name: "c"),
    ])
    usleep(3000)
    // Since then two have swapped, and a new one has the name of one that was deleted.
    try damaged.parkAll([
      SalvagedGuest(id: 1, name: "b"), SalvagedGuest(id: 2, name: "a"), SalvagedGuest(id: 4, name: "c"),
    ])
    let report = try GarageSalvage(from: EntrySource(driver), into: saved).run()
    #expect(report.objectCount == 1 && report.notes.count == 1, "\(report)")
    #expect(try saved.retrieveAll(SalvagedGuest.self).map(\.name) == ["b", "a", "c", "c"])
    #expect(try saved.query(SalvagedGuest.self).where(\.name == "c").count() == 2)
    try saved.delete(SalvagedGuest.self, identifier: 3)
    try saved.buildIndexes()
    #expect(try saved.query(SalvagedGuest.self).where(\.name == "a").first()?.id == 2)
    #expect(try saved.verify().findings.isEmpty && saved.verifyIndexes().isSound)
  }

  @Test(arguments: engines)
  func endsWhereItIsToEnd(_ backend: Backend) async throws {
    struct Stop: Error {}
    let place = try Place(backend)
    let garage = try place.garage()
    try await garage.parkAll((0..<3000).map { Counter(id: $0) })
    try await garage.close()
    let source: any SalvageSource =
      backend == .lmdb ? LMDBPages(at: place.storePath) : SQLitePages(at: place.storePath)
    let other = try Garage(MemoryStorage())
    #expect(throws: Stop.self) { try GarageSalvage(from: source, into: other).run { _ in throw Stop() } }
    let task = Task { try await GarageSalvage(from: source, into: other).run() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await GarageSalvage(from: source, into: other).run()
    #expect(try here { try other.count(Counter.self) == 3000 })
    for missing in [
      LMDBPages(at: place.folder.appending(path: "none")),
      SQLitePages(at: place.folder.appending(path: "none")),
    ]
      as [any SalvageSource]
    {
      expectStorageError(.notFound) { _ = try GarageSalvage(from: missing, into: other).run() }
    }
  }
}

private struct Shelf: Codable, Identifiable, Indexed {
  var id: Int
  var row: Int
  static var indexes: [Index<Shelf>] { [Index(\.row, .readable)] }
}

private struct SalvagedGuest: Codable, Identifiable, Indexed {
  var id: Int
  var name: String
  static var indexes: [Index<SalvagedGuest>] { [Index(\.name, .unique, .readable)] }
}

import Foundation
import GarageDriver
import GarageMemory
import GarageStorage
import Testing

/// Entries that somebody else put among those of a garage, in every space of keys: each is reported, and no verb crashes over
/// it, or keeps back what is whole.
@Suite struct ForeignEntryTests {
  /// Those of a garage, what is reserved, and what is nobody's.
  private static let spaces: [UInt8] = [
    0x00, 0x01, 0x02, 0x10, 0x1E, 0x1F, 0x20, 0x21, 0x30, 0x40, 0x77, 0xFF,
  ]
  /// Around where a tag begins and ends, a hash, and what identifiers have at most.
  private static let keyByteCounts = [0, 1, 2, 7, 8, 9, 10, 16, 17, 24, 25, 33, 248, 249, 400]
  private static let valueByteCounts = [0, 1, 2, 11, 12, 13, 60]

  private typealias Entry = (key: [UInt8], value: [UInt8])

  private func entries(_ space: UInt8, _ random: inout SeededGenerator) -> [Entry] {
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
    return Self.keyByteCounts.map { count in
      (
        [space] + bytes(count),
        bytes(Self.valueByteCounts[Int.random(in: 0..<Self.valueByteCounts.count, using: &random)])
      )
    }
  }

  private func put(_ entries: [Entry], _ driver: any StorageDriver) throws {
    try driver.write { transaction in
      for (key, value) in entries { try transaction.put(value, for: StorageKey(key)) }
      return .commit(())
    }
  }

  @Test(arguments: Backend.engines, [false, true])
  func eachIsReported(_ backend: Backend, hidesIdentifiers: Bool) throws {
    if hidesIdentifiers && !backend.isSealed { return }
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let store = try CareStore(backend, hidesIdentifiers: hidesIdentifiers)
    let before = try store.garage.storedTypes()
    for space in Self.spaces {
      for (place, entry) in entries(space, &random).enumerated() {
        // All of them take a while where a store is on a disk.
        if backend != .memory && !runsLongTests && (place + Int(space)) % 5 != 0 { continue }
        let what = "\(StorageKey(entry.key)): \(entry.value), seed \(seed)"
        try put([entry], store.driver)
        let report = try store.garage.verify()
        #expect(!report.findings.isEmpty, "\(what)")
        #expect(report.objectCount >= 20, "\(what): \(report)")
        let types = try store.garage.storedTypes()
        #expect(before.allSatisfy(types.contains), "\(what): \(types)")
        try store.driver.write { transaction in
          try transaction.remove(StorageKey(entry.key))
          return .commit(())
        }
      }
      #expect(try store.garage.verify().findings.isEmpty, "seed \(seed)")
    }
  }

  /// All of them at once.
  @Test(arguments: Backend.engines)
  func noVerbCrashes(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let store = try CareStore(backend)
    let (garage, driver) = (store.garage, store.driver)
    let before = try Set(Driver.contents(driver, .prefix([0x10])).keys)
    try garage.park(Counter(id: 1))
    let counter = try #require(
      try Driver.contents(driver, .prefix([0x10])).keys.first { !before.contains($0) })
    try put([(counter.bytes, Array(repeating: 0x6F, count: 40))], driver)
    for space in Self.spaces { try put(entries(space, &random), driver) }
    #expect(try garage.verify().findings.count > 50, "seed \(seed)")
    _ = try garage.statistics()
    let names = try garage.storedTypeNames()
    #expect(try names == garage.storedTypes().map(\.name))
    #expect(try Set(names) == Set(garage.typeNames().keys))
    // What is listed can be asked for under the name that it is listed by, and deleted.
    var unreadable: [(String, Identifier)] = []
    for name in names {
      guard let identifiers = try? garage.identifiers(ofTypeNamed: name, limit: 1000) else { continue }
      #expect(!identifiers.isEmpty, "\(name), seed \(seed)")
      for identifier in identifiers {
        do {
          #expect(try garage.storedObject(ofTypeNamed: name, identifier: identifier) != nil)
          _ = try? garage.referrers(of: RecordIdentity(typeNamed: name, identifier))
        } catch is GarageError { unreadable.append((name, identifier)) }
      }
    }
    #expect(!unreadable.isEmpty)
    var damaged = 0
    #expect(try garage.storedKeyValues { _ in damaged += 1 }.count == 2 && damaged > 5)
    #expect(throws: GarageError.self) { try garage.storedKeyValues() }
    #expect(try garage.storedKeyCount() == damaged + 2)
    var marks = StoreMarks()
    let differences = try garage.differences(from: &marks, limit: 10_000)
    #expect(differences.entries.count == differences.objectCounts[.added]! + differences.keyCounts[.added]!)
    // Where something that is reached is damaged, nothing is said to be garbage.
    _ = try? garage.unreachable(from: [.all(CareNode.self)])
    #expect(throws: GarageError.self) { try garage.unreachable(from: [.keys]) }
    let file = store.place.folder.appending(path: "export")
    #expect(throws: GarageError.self) { try garage.export(to: file) }
    #expect(!FileManager.default.fileExists(atPath: file.path))
    let copy = MemoryStorage()
    try garage.copy(to: copy)
    #expect(try Driver.contents(copy) == Driver.contents(driver))
    _ = try? garage.migrateAll(fromOldClassName: "CareLeaf", to: CareFolio.self)
    try garage.repair()
    let saved = try Garage(MemoryStorage(), types: [Dog.self, Puppy.self])
    let report = try GarageSalvage(from: EntrySource(driver), into: saved).run()
    #expect(report.damagedCount > 10, "seed \(seed)")
    #expect(try saved.verify().isSound && saved.count(CareNode.self) == 20)
    for (name, identifier) in unreadable {
      try garage.deleteStoredObject(ofTypeNamed: name, identifier: identifier)
      #expect(try garage.storedObject(ofTypeNamed: name, identifier: identifier) == nil)
    }
  }

  /// What has a key that none of a garage's entries has is no damage, and keeps no export back.
  @Test(arguments: Backend.engines)
  func anExportLeavesThemOut(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let before = store.place.folder.appending(path: "before")
    try store.garage.export(to: before)
    let foreign: [Entry] = [
      ([0x01], [1]), ([0x01, 1, 2], [1, 2]), ([0x02] + [UInt8](repeating: 7, count: 9), [3]),
      ([0x10], [1]), ([0x10] + [UInt8](repeating: 0x55, count: 8), [3]),
    ]
    try put(foreign, store.driver)
    let report = try store.garage.verify()
    #expect(report.isSound && report.findings.count == foreign.count, "\(report)")
    let behind = store.place.folder.appending(path: "behind")
    try store.garage.export(to: behind)
    #expect(try Data(contentsOf: before) == Data(contentsOf: behind))
  }

  /// Entries that name no record are passed over by who looks for objects by their status, also where they are cut.
  @Test(arguments: Backend.engines)
  func aSyncStatusOfNoRecordIsPassedOver(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    let garage = try Garage(driver, types: [Errand.self])
    try garage.parkAll((0..<4).map { Errand(id: $0, syncStatus: SyncStatus.allCases[$0]) })
    for status in SyncStatus.allCases {
      var cut: [Entry] = []
      for count in 0...12 {
        for byte in [0x00, 0x55, 0xFF] as [UInt8] {
          cut.append(([0x21, UInt8(status.rawValue)] + [UInt8](repeating: byte, count: count), []))
        }
      }
      try put(cut, driver)
      let found: [any Syncable] = try garage.retrieveAll(withStatus: status)
      #expect(found.count == 1, "\(status)")
      #expect(try garage.retrieveAll(Errand.self, withStatus: status).map(\.id) == [status.rawValue])
    }
    #expect(try garage.verify().findings.contains { $0.severity == .notice })
    try garage.repair()
    for status in SyncStatus.allCases {
      let found: [any Syncable] = try garage.retrieveAll(withStatus: status)
      #expect(found.count == 1, "\(status)")
    }
  }

  /// A type whose name is lost is listed by its digest, which stands for the name.
  @Test(arguments: Backend.engines, [false, true])
  func aTypeWithoutItsNameIsListed(_ backend: Backend, isDamaged: Bool) throws {
    let place = try Place(backend)
    let driver = try place.open()
    try Garage(driver).parkAll((0..<3).map { CareLeaf(id: "leaf \($0)") })
    let text = try #require(try Driver.contents(driver, .prefix([0x01])).keys.first)
    try driver.write { transaction in
      if isDamaged { try transaction.put([1, 2], for: text) } else { try transaction.remove(text) }
      return .commit(())
    }
    let garage = try Garage(driver)
    let name = text.bytes[1...].map { String(format: "%02x", $0) }.joined()
    #expect(try garage.storedTypes().map(\.name) == [name] && garage.storedTypeNames() == [name])
    let identifiers = try garage.identifiers(ofTypeNamed: name, limit: 9)
    #expect(identifiers.map(\.description) == ["leaf 0", "leaf 1", "leaf 2"])
    let identity = try #require(try garage.identity(describedAs: "leaf 1", ofTypeNamed: name))
    #expect(try garage.storedObject(identity)?.type == name)
    #expect(try garage.unreachable(from: [.allNamed(name)]).isEmpty)
    #expect(try garage.unreachable(from: [.allNamed("\(name)0")]).count == 3)
    try garage.changeStoredObject(ofTypeNamed: name, identifier: identity.identifier) {
      $0["text"] = "another"
    }
    try garage.deleteStoredObject(ofTypeNamed: name, identifier: identifiers[0])
    #expect(
      try garage.retrieve(CareLeaf.self, identifier: "leaf 1") == CareLeaf(id: "leaf 1", text: "another"))
    #expect(try garage.count(CareLeaf.self) == 2)
  }
}

private struct CareFolio: Codable, Identifiable { var id: String }

/// The entries of a storage, as if its pages were read.
struct EntrySource: SalvageSource {
  let driver: String
  private let entries: [(key: [UInt8], value: [UInt8])]

  init(_ storage: any StorageDriver) throws {
    driver = storage.info.name
    entries = try Driver.contents(storage).map { ($0.key.bytes, $0.value) }
  }

  func forEachEntry(_ visit: (RawSpan, RawSpan, Bool) throws -> Void) throws -> [String] {
    for (key, value) in entries { try visit(key.span.bytes, value.span.bytes, true) }
    return []
  }
}

import Foundation
import GarageDriver
import GarageStorage
import Testing

/// `verify` finds whatever is wrong with a store, says where, and finds nothing where all is well.
@Suite struct VerifyTests {
  func keys(of type: String, in garage: Garage, _ driver: any StorageDriver) throws -> [StorageKey] {
    // A tag's text stands under the digest that its records' keys have.
    let texts = try Driver.contents(driver, .prefix([0x01]))
    let tag = try #require(texts.first { String(decoding: $0.value, as: UTF8.self).hasSuffix(type) })
    return try Driver.contents(driver, .prefix([0x10] + tag.key.bytes[1...])).keys.sorted()
  }

  @Test(arguments: Backend.allCases, [false, true])
  func aSoundStoreHasNoFindings(_ backend: Backend, hidesIdentifiers: Bool) throws {
    if hidesIdentifiers && !backend.isSealed { return }
    let store = try CareStore(backend, hidesIdentifiers: hidesIdentifiers)
    var calls: [CareProgress] = []
    let report = try store.garage.verify { calls.append($0) }
    #expect(report.findings.isEmpty && report.isSound, "\(report)")
    let contents = try Driver.contents(store.driver)
    #expect(report.objectCount == contents.keys.count { $0.bytes[0] == 0x10 })
    #expect(report.keyCount == 2)
    #expect(calls.last == CareProgress(completedUnitCount: contents.count, totalUnitCount: contents.count))
    #expect(try Garage(Place(backend).open()).verify().findings.isEmpty)
  }

  /// Every bit of a record is covered: a flipped one is damage of that object, and of no other.
  @Test(arguments: Backend.engines)
  func everyFlippedBitOfARecordIsFound(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let key = try keys(of: "CareNode", in: store.garage, store.driver)[7]
    let record = try #require(try Driver.contents(store.driver)[key])
    for position in stride(from: 0, to: record.count * 8, by: backend == .memory ? 1 : 17) {
      var damaged = record
      damaged[position / 8] ^= 1 << (position % 8)
      try Driver.put(damaged, for: key.bytes, store.driver)
      let report = try store.garage.verify()
      let found = report.findings.filter { $0.severity == .damage }
      #expect(
        found.count == 1 && found.first?.place == .record && found.first?.identifier == "7"
          && found.first?.type?.hasSuffix("CareNode") == true,
        "bit \(position): \(report)")
    }
    for count in [0, 1, 5, record.count / 2, record.count - 1] {
      try Driver.put(Array(record[..<count]), for: key.bytes, store.driver)
      #expect(try !store.garage.verify().isSound, "cut at \(count)")
    }
  }

  @Test(arguments: Backend.allCases)
  func whatIsMissingOrLeftOverIsFound(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let (garage, driver) = (store.garage, store.driver)
    func expect(
      _ place: VerificationReport.Place, _ severity: VerificationReport.Severity, _ words: String,
      after change: (any WriteTransaction) throws -> Void
    ) throws {
      let before = try Driver.contents(driver)
      try driver.write { transaction in
        try change(transaction)
        return .commit(())
      }
      let report = try garage.verify()
      #expect(
        report.findings.contains {
          $0.place == place && $0.severity == severity && $0.description.contains(words)
        }, "\(words): \(report)")
      #expect(report.isSound == (severity == .notice), "\(words): \(report)")
      try driver.write { transaction in
        try transaction.removeAll(in: .all)
        for (key, value) in before { try transaction.put(value, for: key) }
        return .commit(())
      }
      #expect(try garage.verify().findings.isEmpty)
    }
    let contents = try Driver.contents(driver)
    func first(_ space: UInt8) throws -> StorageKey {
      try #require(contents.keys.filter { $0.bytes[0] == space }.min())
    }
    let text = StorageKey([0x01] + (try keys(of: "CareNode", in: garage, driver)[0]).bytes[1..<9])
    let shape = try first(0x02)
    let status = try first(0x21)
    let value = try #require(
      contents.keys.first {
        $0.bytes[0] == 0x30 && String(decoding: $0.bytes, as: UTF8.self).hasSuffix("number")
      })
    try expect(.text, .damage, "name is not in the store") { try $0.remove(text) }
    // Also where it is that of a subclass, which is in no key.
    for kind in [Dog.self, Puppy.self] as [Animal.Type] {
      let name = try #require(
        contents.first { $0.key.bytes[0] == 0x01 && $0.value == Array(String(reflecting: kind).utf8) }?.key)
      try expect(.text, .damage, "name is not in the store") { try $0.remove(name) }
    }
    try expect(.text, .damage, "digest") { try $0.put(Array("another name".utf8), for: text) }
    try expect(.record, .damage, "shape") { try $0.remove(shape) }
    try expect(.syncStatus, .damage, "no entry") { try $0.remove(status) }
    try expect(.syncStatus, .notice, "not there") {
      try $0.put([], for: StorageKey([0x21, 0x01] + Array(repeating: 9, count: 8) + [0x20, 0x80]))
    }
    try expect(.unknown, .notice, "no such status") {
      try $0.put([], for: StorageKey([0x21, 0x09] + status.bytes[2...]))
    }
    try expect(.unknown, .notice, "none of a garage's") { try $0.put([1], for: StorageKey([0x77, 1])) }
    try expect(.unknown, .notice, "none of a garage's") {
      try $0.put([1], for: StorageKey([0x00] + Array("zzz".utf8)))
    }
    try expect(.value, .damage, "care:number") { try $0.put([1, 2, 3], for: value) }
    try expect(.metadata, .damage, "metadata") {
      try $0.put([1, 2, 3], for: StorageKey([0x00] + Array("garage".utf8)))
    }
  }

  @Test(arguments: Backend.allCases)
  func referencesToWhatIsGoneAreNotices(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let garage = store.garage
    try garage.delete(CareLeaf.self, identifier: "leaf 1")
    try garage.delete(CareNode.self, identifier: 3)
    let report = try garage.verify()
    #expect(report.isSound && report.findings.allSatisfy { $0.place == .reference }, "\(report)")
    func paths(_ id: String) -> Set<String?> {
      Set(report.findings.filter { $0.identifier == id }.map(\.path))
    }
    // 1, 4, 7 … have leaf 1 as their parent; 2 links to 3 next; 9 · 7 % 20 is 3; 18 + 5 is 3.
    #expect(paths("4") == ["parent"], "\(report)")
    #expect(
      paths("2") == ["links[0]"] && paths("9") == ["links[1]"] && paths("18") == ["others[0]"], "\(report)")
    #expect(report.findings.contains { $0.identifier == "care:favourites" }, "\(report)")
    // The type was renamed: its objects stand elsewhere, and nothing is said to be lost.
    try garage.migrateAll(fromOldClassName: "CareLeaf", to: RenamedLeaf.self)
    #expect(try garage.verify().isSound)
  }

  @Test(arguments: Backend.engines)
  func endsWhereItIsToEnd(_ backend: Backend) async throws {
    let store = try CareStore(backend)
    try await store.garage.parkAll((0..<3000).map { Counter(id: $0) })
    struct Enough: Error {}
    #expect(throws: Enough.self) { try store.garage.verify { _ in throw Enough() } }
    #expect(throws: Enough.self) { try store.garage.statistics { _ in throw Enough() } }
    let garage = store.garage
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try garage.verify()
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    try await garage.close()
    #expect(throws: GarageError.self) { try garage.verify() }
  }
}

private struct RenamedLeaf: Codable, Identifiable { var id: String }

import Foundation
import GarageDriver
import GarageMemory
import GarageStorage
import Testing

/// `repair` makes again what follows from the records, and touches none of them.
@Suite struct RepairTests {
  private func store(_ backend: Backend) throws -> (Garage, any StorageDriver) {
    let store = try CareStore(backend)
    try store.garage.parkAll((0..<40).map { Stock(id: $0, group: $0 % 4) })
    return (store.garage, store.driver)
  }

  @Test(arguments: Backend.allCases)
  func whereNothingIsWrongNothingIsDone(_ backend: Backend) async throws {
    let (garage, driver) = try store(backend)
    let before = try Driver.contents(driver)
    let report = try await garage.repair()
    #expect(report.isEmpty)
    #expect(try Driver.contents(driver) == before)
  }

  @Test(arguments: Backend.allCases)
  func whatFollowsFromRecordsIsMadeAgain(_ backend: Backend) throws {
    let (garage, driver) = try store(backend)
    let before = try Driver.contents(driver)
    let keys = before.keys.sorted()
    let statuses = keys.filter { $0.bytes[0] == 0x21 }
    let entries = keys.filter { $0.bytes[0] == 0x20 }
    let texts = keys.filter { $0.bytes[0] == 0x01 || $0.bytes[0] == 0x02 }
    #expect(statuses.count == 6 && entries.count == 40 && !texts.isEmpty)
    try driver.write { transaction in
      for key in statuses.prefix(3) { try transaction.remove(key) }
      // Entries that mean nothing: of a record that is not there, and of another status.
      try transaction.put([], for: StorageKey([0x21, 0x01] + Array(repeating: 9, count: 8) + [0x20, 0x80]))
      try transaction.put(
        [], for: StorageKey([0x21, (statuses[5].bytes[1] + 1) % 4] + statuses[5].bytes[2...]))
      for key in entries.prefix(7) { try transaction.remove(key) }
      try transaction.put([9, 0], for: StorageKey(entries[9].bytes + [0x20, 0x80]))
      for (place, key) in texts.enumerated() {
        if place % 2 == 0 { try transaction.remove(key) } else { try transaction.put([1, 2], for: key) }
      }
      return .commit(())
    }
    // Another garage: this one knows its texts already.
    let other = try Garage(driver, types: [Dog.self, Puppy.self, Stock.self])
    #expect(try !other.verify().isSound)
    let report = try other.repair()
    #expect(report.addedSyncStatuses == 3 && report.removedSyncStatuses == 2, "\(report)")
    #expect(report.indexes.count == 1, "\(report)")
    #expect(
      try Driver.contents(driver).filter { $0.key.bytes[0] != 0 } == before.filter { $0.key.bytes[0] != 0 })
    #expect(try other.verify().findings.isEmpty)
    #expect(try other.repair().isEmpty)
    #expect(try other.query(Stock.self).where(\.group == 1).count() == 10)
    try garage.close()
  }

  /// So is the index of who refers to whom.
  @Test(arguments: Backend.engines)
  func theIndexOfReferencesIsMadeAgain(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    let garage = try Garage(driver, referrers: backend.isSealed ? .readable : .indexed)
    try garage.parkAll((0..<30).map { CareNode($0) })
    let nodes = try garage.retrieveAll(CareNode.self)
    for node in nodes { node.links = [nodes[(node.id + 1) % 30]] }
    try garage.parkAll(nodes)
    let before = try Driver.contents(driver)
    let entries = before.keys.filter { $0.bytes[0] == 0x1E || $0.bytes[0] == 0x1F }.sorted()
    #expect(entries.count == 30)
    try driver.write { transaction in
      for key in entries.prefix(9) { try transaction.remove(key) }
      return .commit(())
    }
    #expect(try !garage.verify().isSound)
    let report = try garage.repair()
    #expect(report.indexes.count == 1, "\(report)")
    #expect(try garage.verify().findings.isEmpty)
    #expect(
      try Driver.contents(driver).filter { $0.key.bytes[0] != 0 } == before.filter { $0.key.bytes[0] != 0 })
  }

  /// A damaged record stays as it is, and so do the entries that name it.
  @Test(arguments: Backend.engines)
  func recordsAreNotTouched(_ backend: Backend) throws {
    let (garage, driver) = try store(backend)
    let key = try #require(try Driver.contents(driver, .prefix([0x10])).keys.min())
    try Driver.put([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], for: key.bytes, driver)
    let before = try Driver.contents(driver)
    let report = try garage.repair()
    #expect(report.addedSyncStatuses == 0 && report.removedSyncStatuses == 0, "\(report)")
    let after = try Driver.contents(driver)
    for space in [0x01, 0x02, 0x10, 0x21, 0x30] as [UInt8] {
      #expect(after.filter { $0.key.bytes[0] == space } == before.filter { $0.key.bytes[0] == space })
    }
  }

  @Test(arguments: Backend.engines)
  func endsWhereItIsToEnd(_ backend: Backend) async throws {
    struct Stop: Error {}
    let (garage, _) = try store(backend)
    try await garage.parkAll((0..<2000).map { Counter(id: $0) })
    #expect(throws: Stop.self) { try garage.repair { _ in throw Stop() } }
    let task = Task { try await garage.repair() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await garage.close()
    #expect(throws: GarageError.closed) { try garage.repair() }
  }
}

private struct Stock: Codable, Identifiable, Indexed {
  var id: Int
  var group: Int
  static var indexes: [Index<Stock>] { [Index(\.group, .readable)] }
}

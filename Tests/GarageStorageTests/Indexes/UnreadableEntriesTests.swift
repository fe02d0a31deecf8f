import Synchronization
import Testing

@testable import GarageStorage

/// The entries of records that cannot be read, and are removed or replaced all the same.
@Suite struct UnreadableEntriesTests {
  /// Damages the records of all beads.
  private func damage(_ driver: any StorageDriver) throws {
    for (key, record) in try Driver.contents(driver, KeyLayout.allRecords) {
      var damaged = record
      damaged[damaged.count / 2] ^= 0x10
      try Driver.put(damaged, for: key.bytes, driver)
    }
  }

  /// They are looked for together, in one scan of the index, and not in one for each record.
  @Test(arguments: [true, false])
  func areFoundTogether(_ isReplaced: Bool) throws {
    let count = 400
    let storage = VisitCountingStorage(try Place(.memory).open())
    let garage = try Garage(storage, referrers: .indexed)
    let beads = (0..<count).map { Bead(id: $0, next: Reference(Bead.self, identifier: $0 + 1)) }
    try garage.parkAll(beads)
    #expect(try garage.referrerIndex()?.entries == count)
    try damage(storage)
    let before = storage.visits.load(ordering: .relaxed)
    if isReplaced {
      try garage.parkAll(beads.map { Bead(id: $0.id, next: nil) })
    } else {
      try garage.collectGarbage(roots: [])
    }
    let visits = storage.visits.load(ordering: .relaxed) - before
    #expect(visits < 20 * count, "\(visits)")
    #expect(try garage.count(Bead.self) == (isReplaced ? count : 0))
    #expect(try garage.referrerIndex()?.entries == 0)
    #expect(try garage.verifyIndexes().isSound)
  }

  /// Those of others stay, also where an identifier is the end of another one.
  @Test(arguments: Backend.engines.filter { !$0.isSealed })
  func thoseOfOthersStay(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try backend.relations(place, isIndexed: true)
    let names = ["b", "ab", "P\u{50}b", "bb", "", "c"]
    try garage.parkAll(names.map { Labelled(id: $0, label: "of \($0)", hub: Hub(id: $0)) })
    let driver = try place.open()
    let record = try Driver.contents(driver, KeyLayout.allRecords).first { key, record in
      key.bytes.suffix(1) == [UInt8(ascii: "b")] && key.bytes.count == 11
        && String(decoding: record, as: UTF8.self).contains("of b")
    }
    let (key, whole) = try #require(record)
    var damaged = whole
    damaged[damaged.count - 1] ^= 1
    try Driver.put(damaged, for: key.bytes, driver)
    #expect(throws: GarageError.self) { try garage.retrieve(Labelled.self, identifier: "b") }
    try garage.delete(Labelled.self, identifier: "b")
    #expect(try garage.query(Labelled.self).where(\.label == .hasPrefix("of")).count() == names.count - 1)
    #expect(try garage.referrers(of: Hub(id: "b")).isEmpty)
    #expect(try garage.referrers(of: Hub(id: "ab")).count == 1)
    let report = try garage.verifyIndexes()
    #expect(report.isSound, "\(report)")
  }
}

private struct Labelled: Codable, Identifiable, Indexed {
  var id: String
  var label: String
  var hub: Hub
  static var indexes: [Index<Labelled>] { [Index(\.label)] }
}

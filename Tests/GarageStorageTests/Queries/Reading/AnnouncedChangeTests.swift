import GarageDriver
import GarageMemory
import Synchronization
import Testing

@testable import GarageStorage

/// Over a network each record that is asked for alone takes a trip: what changes many objects asks for many at once.
@Suite struct AnnouncedChangeTests {
  private struct Plain: Codable, Identifiable, Equatable {
    var id: Int
    var number = 0
  }

  private struct Shelved: Codable, Identifiable, Equatable, Indexed {
    static var indexes: [Index<Shelved>] { [Index(\.shelf), Index(\.number)] }
    var id: Int
    var shelf = 1
    var number = 0
    /// In no index.
    var note = 0
  }

  private struct Titled: Codable, Identifiable, Equatable, Indexed {
    static var indexes: [Index<Titled>] { [Index(\.title)] }
    var id: Int
    var title: String

    init(_ id: Int) {
      self.id = id
      title = String(repeating: "a long title ", count: 20) + "\(id * 7 % 100)"
    }
  }

  private struct Sheet: Codable, Identifiable {
    var id: Int
  }

  private struct Album: Codable, Identifiable, Indexed {
    static var indexes: [Index<Album>] { [Index(\.number)] }
    var id: Int
    var number = 0
    var sheets: [Sheet]
  }

  private struct Folder: Codable, Identifiable, DeleteRules {
    static var owned: [Owned<Folder>] { [Owned(\.sheets)] }
    var id: Int
    var number = 0
    var sheets: [Sheet]
  }

  private static let count = 1500
  /// Texts of types, the catalog of indexes, and what tells an end, for each block of objects.
  private static let most = 100

  private func expectFew(
    _ storage: AnnouncedStorage, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Int
  ) throws {
    storage.loneGets.store(0, ordering: .relaxed)
    let count = try body()
    #expect(count == AnnouncedChangeTests.count, sourceLocation: location)
    let gets = storage.loneGets.load(ordering: .relaxed)
    #expect(gets <= AnnouncedChangeTests.most, sourceLocation: location)
  }

  @Test func ofWhatAQueryFinds() throws {
    let storage = AnnouncedStorage()
    let garage = try Garage(storage)
    try garage.parkAll((0..<AnnouncedChangeTests.count).map { Plain(id: $0) })
    try garage.parkAll((0..<AnnouncedChangeTests.count).map { Shelved(id: $0) })
    let plain = garage.query(Plain.self).where(\.number == 0)
    let shelved = garage.query(Shelved.self).where(\.shelf == 1)
    try expectFew(storage) { try plain.updateAll { $0.number = 0 } }
    try expectFew(storage) { try shelved.updateAll { $0.number += 1 } }
    #expect(try garage.query(Shelved.self).where(\.number == 1).count() == AnnouncedChangeTests.count)
    #expect(try garage.verifyIndexes().isSound)
    try expectFew(storage) { try plain.deleteAll() }
    try expectFew(storage) { try shelved.deleteAll() }
    #expect(try garage.count(Plain.self) + garage.count(Shelved.self) == 0)
    #expect(try garage.verifyIndexes().isSound)
  }

  /// Records to which an index leads, and of which its entries do not tell whether they are found.
  @Test func ofWhatIsListedInOrder() throws {
    let storage = AnnouncedStorage()
    let garage = try Garage(storage)
    let things = (0..<AnnouncedChangeTests.count).map { Shelved(id: $0, number: $0 % 7, note: $0 % 3) }
    try garage.parkAll(things)
    let query = garage.query(Shelved.self)
    // Without an order, and what is counted, too.
    try expectFew(storage) { try query.where(\.shelf == 1).retrieveAll().count }
    try expectFew(storage) { try query.where(\.shelf == 1 && \.note >= 0).retrieveAll().count }
    try expectFew(storage) { try query.where(\.shelf == 1 && \.note >= 0).count() }
    for direction in [SortDirection.ascending, .descending] {
      try expectFew(storage) {
        try query.where(\.shelf == 1 && \.note >= 0).sorted(by: \.id, direction).retrieveAll().count
      }
      let ofNumbers = query.where(\.note >= 0).sorted(by: \.number, direction)
      try expectFew(storage) { try ofNumbers.limit(AnnouncedChangeTests.count).retrieveAll().count }
      try expectFew(storage) { try ofNumbers.page(size: AnnouncedChangeTests.count).objects.count }
      try expectFew(storage) { try ofNumbers.limit(AnnouncedChangeTests.count).values(\.note).count }
      let found = things.filter { $0.note == 1 }
      let byID = query.where(\.shelf == 1 && \.note == 1).sorted(by: \.id, direction)
      let isAscending = direction == .ascending
      #expect(try pages(of: byID) == (isAscending ? found : found.reversed()))
      let byNumber = query.where(\.note == 1).sorted(by: \.number, direction)
      let sorted = found.sorted {
        $0.number == $1.number ? $0.id < $1.id : ($0.number < $1.number) == isAscending
      }
      #expect(try pages(of: byNumber) == sorted)
    }
  }

  /// Entries of long values that begin alike are in no order: their records tell it.
  @Test func ofWhatBeginsAlike() throws {
    let storage = AnnouncedStorage()
    let garage = try Garage(storage)
    let things = (0..<AnnouncedChangeTests.count).map { Titled($0) }
    try garage.parkAll(things)
    let all = garage.query(Titled.self).where(\.title >= "a")
    try expectFew(storage) { try all.count() }
    try expectFew(storage) { try all.limit(AnnouncedChangeTests.count).count() }
    #expect(try all.limit(700).count() == 700)
    for direction in [SortDirection.ascending, .descending] {
      let query = garage.query(Titled.self).sorted(by: \.title, direction)
      try expectFew(storage) { try query.limit(AnnouncedChangeTests.count).retrieveAll().count }
      let expected = things.sorted {
        $0.title == $1.title ? $0.id < $1.id : ($0.title < $1.title) == (direction == .ascending)
      }
      #expect(try query.limit(100).retrieveAll() == Array(expected.prefix(100)))
      let first = try query.page(size: 90)
      #expect(try query.page(after: first.next, size: 90).objects == Array(expected[90..<180]))
    }
  }

  private func pages(of query: Query<Shelved>) throws -> [Shelved] {
    var page = try query.page(size: 40)
    var found = page.objects
    while let next = page.next {
      page = try query.page(after: next, size: 40)
      found += page.objects
    }
    return found
  }

  /// What is found by an index, or in an order, refers to others: these are fetched along with it.
  @Test func ofWhatIsReferredTo() throws {
    let storage = AnnouncedStorage()
    let garage = try Garage(storage)
    let count = AnnouncedChangeTests.count
    try garage.parkAll(
      (0..<count).map { Album(id: $0, number: $0 % 3, sheets: [Sheet(id: 2 * $0), Sheet(id: 2 * $0 + 1)]) })
    let query = garage.query(Album.self)
    let found = query.where(\.number == .oneOf([0, 1, 2]))
    try expectFew(storage) { try found.retrieveAll().count }
    try expectFew(storage) { try query.where(\.number >= 0).retrieveAll().count }
    try expectFew(storage) { try query.sorted(by: \.number).limit(count).retrieveAll().count }
    try expectFew(storage) { try query.sorted(by: \.number).page(size: count).objects.count }
    try expectFew(storage) { try found.page(size: count).objects.count }
    let sheets = try found.limit(10).retrieveAll().map { $0.sheets.map(\.id) }
    #expect(sheets == (0..<10).map { [2 * $0, 2 * $0 + 1] })
  }

  @Test func ofWhatIsOwned() throws {
    let storage = AnnouncedStorage()
    let garage = try Garage(storage)
    try garage.parkAll(
      (0..<AnnouncedChangeTests.count).map {
        Folder(id: $0, sheets: [Sheet(id: 2 * $0), Sheet(id: 2 * $0 + 1)])
      })
    let folders = garage.query(Folder.self).where(\.number >= 0)
    // What they refer to is fetched along with them.
    try expectFew(storage) { try folders.updateAll { $0.number += 1 } }
    #expect(try garage.count(Sheet.self) == 2 * AnnouncedChangeTests.count)
    try expectFew(storage) { try folders.deleteAll() }
    #expect(try garage.count(Sheet.self) == 0)
    try garage.parkAll((0..<AnnouncedChangeTests.count).map { Sheet(id: $0) })
    try expectFew(storage) { try garage.collectGarbage(roots: [.keys]) }
    #expect(try garage.count(Sheet.self) == 0)
  }
}

/// Counts the records that are asked for one by one, and were not announced.
private final class AnnouncedStorage: StorageDriver {
  private let base = MemoryStorage()
  let info: StorageInfo
  let loneGets = Atomic<Int>(0)

  init() {
    var info = base.info
    info.roundTripsAreExpensive = true
    self.info = info
  }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try base.read { try body(AnnouncedReadTransaction($0, self)) }
  }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write { try body(AnnouncedWriteTransaction($0, self)) }
  }

  func close() throws { try base.close() }
}

private class AnnouncedReadTransaction: ReadTransaction {
  private let base: any ReadTransaction
  private let storage: AnnouncedStorage
  var announced: Set<StorageKey> = []

  init(_ base: any ReadTransaction, _ storage: AnnouncedStorage) {
    (self.base, self.storage) = (base, storage)
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    if !announced.contains(StorageKey(key)) { storage.loneGets.add(1, ordering: .relaxed) }
    return try base.withValue(for: key, body)
  }

  func withValues(for keys: [StorageKey], _ visit: (Int, RawSpan?) throws -> Void) throws {
    storage.loneGets.add(1, ordering: .relaxed)
    try base.withValues(for: keys, visit)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    try base.scan(range, direction, visit)
  }
}

private final class AnnouncedWriteTransaction: AnnouncedReadTransaction, WriteTransaction, AnnouncedReading {
  private let base: any WriteTransaction

  init(_ base: any WriteTransaction, _ storage: AnnouncedStorage) {
    self.base = base
    super.init(base, storage)
  }

  func willGet(_ keys: [StorageKey]) -> Bool {
    announced = Set(keys)
    return true
  }

  func mayRemember(_ key: StorageKey) {}

  func put(_ value: RawSpan, for key: RawSpan) throws { try base.put(value, for: key) }

  func remove(_ key: RawSpan) throws { try base.remove(key) }
}

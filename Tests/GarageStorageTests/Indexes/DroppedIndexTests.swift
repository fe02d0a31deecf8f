import Foundation
import GarageDriver
import GarageMemory
import Synchronization
import Testing

@testable import GarageStorage

/// The entries of a dropped index go a block at a time.
@Suite struct DroppedIndexTests {
  private struct Ware: Codable, Identifiable {
    var id: Int
    var kind = 0
  }

  /// A block that has time for a few entries reads no more than some: all that are left were read with each, over and over.
  @Test func blocksLookForWhatTheyHaveTimeFor() throws {
    let storage = SlowRemovalStorage()
    let garage = try Garage(storage)
    try garage.make([Index(\.kind)] as [Index<Ware>])
    let count = 640
    try garage.parkAll((0..<count).map { Ware(id: $0) })
    #expect(try garage.query(Ware.self).where(\.kind == 0).count() == count)
    let before = storage.visitCount
    try garage.dropIndex("kind", of: Ware.self)
    #expect(storage.visitCount - before <= 2 * count)
    #expect(try garage.indexes(of: Ware.self).isEmpty)
    #expect(try garage.verifyIndexes().isSound)
    #expect(try garage.verify().isSound)
    #expect(try garage.count(Ware.self) == count)
  }

  /// As many entries as fit into a block, one less and one more, and several blocks.
  @Test(arguments: Backend.engines.filter { !$0.isSealed })
  func nothingIsLeft(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.make([Index(\.kind), Index(\.id, \.kind)] as [Index<Ware>])
    for count in [1, 63, 64, 65, 192, 1000] {
      try garage.parkAll((0..<count).map { Ware(id: $0, kind: $0 % 5) })
      for index in try garage.indexes(of: Ware.self) { try garage.dropIndex(index.name, of: Ware.self) }
      #expect(try garage.indexes(of: Ware.self).isEmpty)
      #expect(try garage.verify().isSound)
      try garage.buildIndexes()
      #expect(try garage.verifyIndexes().isSound)
      #expect(try garage.query(Ware.self).where(\.kind == 0).count() == (count + 4) / 5)
    }
  }
}

/// Takes long to remove an entry, and counts those that scans lend in writes.
private final class SlowRemovalStorage: StorageDriver {
  private let base = MemoryStorage()
  private let visits = Atomic<Int>(0)

  var info: StorageInfo { base.info }
  var visitCount: Int { visits.load(ordering: .relaxed) }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R { try base.read(body) }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write { try body(SlowRemovalTransaction($0, self)) }
  }

  func close() throws { try base.close() }

  fileprivate func countVisit() { visits.add(1, ordering: .relaxed) }
}

private final class SlowRemovalTransaction: WriteTransaction {
  private let base: any WriteTransaction
  private let storage: SlowRemovalStorage

  init(_ base: any WriteTransaction, _ storage: SlowRemovalStorage) {
    (self.base, self.storage) = (base, storage)
  }

  func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try base.withValue(for: key, body)
  }

  func scan(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    let storage = storage
    try base.scan(range, direction) { key, value in
      storage.countVisit()
      return try visit(key, value)
    }
  }

  func put(_ value: RawSpan, for key: RawSpan) throws { try base.put(value, for: key) }

  func remove(_ key: RawSpan) throws {
    // So that a block's time is over behind 64 of them.
    usleep(500)
    try base.remove(key)
  }
}

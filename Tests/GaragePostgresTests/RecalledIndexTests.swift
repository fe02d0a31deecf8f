import Foundation
import GarageDriver
import GaragePostgres
import GarageStorage
import Synchronization
import Testing

/// Which indexes a store has every write needs to know, and does not ask for each time: what it remembers of them is checked
/// where it commits. So it makes no difference where others make and drop them.
@Suite(.serialized) struct RecalledIndexTests {
  private struct Volume: Codable, Identifiable, Indexed, Equatable {
    static let isIndexed = Atomic<Bool>(false)
    static var indexes: [Index<Volume>] {
      isIndexed.load(ordering: .sequentiallyConsistent) ? [Index(\.code, .unique)] : []
    }
    var id: Int
    var code: Int
  }

  private struct Stop: Error {}

  /// Two storages on one store, which remember each for itself. The first garage declares no index.
  private func twoGarages() throws -> (ours: Garage, theirs: Garage, ourStorage: PostgreSQLStorage) {
    let name = Server.newName()
    let storage = try Server.open(name)
    Volume.isIndexed.store(false, ordering: .sequentiallyConsistent)
    let ours = try Garage(storage)
    try ours.park(Volume(id: 0, code: 0))
    try ours.park(Volume(id: 1, code: 1))
    Volume.isIndexed.store(true, ordering: .sequentiallyConsistent)
    let theirs = try Garage(Server.open(name), types: [Volume.self])
    return (ours, theirs, storage)
  }

  @Test func whatOthersMakeIsKeptUp() throws {
    let (ours, theirs, storage) = try twoGarages()
    try theirs.buildIndexes()
    try ours.park(Volume(id: 2, code: 2))
    #expect(try theirs.query(Volume.self).where(\.code == 2).retrieveAll() == [Volume(id: 2, code: 2)])
    #expect(throws: GarageError.self) { try ours.park(Volume(id: 3, code: 2)) }
    // Known by now: what was there before, what others have of the same code, and the commit.
    let before = storage.roundTripCount
    try ours.park(Volume(id: 4, code: 4))
    #expect(storage.roundTripCount - before <= 3)
    try ours.parkAll((10..<40).map { Volume(id: $0, code: $0) })
    #expect(try theirs.verifyIndexes().isSound)
    #expect(try theirs.verify().findings.isEmpty)
  }

  /// A closure that is not to be run again is never refused because of what is only remembered.
  @Test func closuresAreNotRefused() throws {
    let (ours, theirs, _) = try twoGarages()
    try theirs.buildIndexes()
    try ours.write { try $0.park(Volume(id: 2, code: 2)) }
    try ours.park(Volume(id: 3, code: 3))
    try theirs.dropIndex("code", of: Volume.self)
    try ours.write { try $0.park(Volume(id: 4, code: 2)) }
    #expect(try theirs.count(Volume.self) == 5)
    #expect(try theirs.verifyIndexes().isSound)
  }

  /// What an index that is gone would forbid is done.
  @Test func whatIsDroppedForbidsNothing() throws {
    let (ours, theirs, _) = try twoGarages()
    try theirs.buildIndexes()
    try ours.park(Volume(id: 2, code: 2))
    try theirs.dropIndex("code", of: Volume.self)
    try ours.park(Volume(id: 3, code: 2))
    #expect(try ours.count(Volume.self) == 4)
    #expect(try theirs.verifyIndexes().isSound)
  }

  /// Who throws has thrown, also where what it was told first was not so.
  @Test func whoThrowsIsHeard() throws {
    let (ours, theirs, _) = try twoGarages()
    try theirs.buildIndexes()
    let runs = Atomic<Int>(0)
    #expect(throws: Stop.self) {
      try ours.write(retrying: 5) { writer in
        runs.add(1, ordering: .relaxed)
        try writer.park(Volume(id: 2, code: 2))
        throw Stop()
      }
    }
    #expect((1...2).contains(runs.load(ordering: .relaxed)))
    #expect(throws: Stop.self) {
      try ours.write(retrying: 5) { writer in
        try writer.park(Volume(id: 2, code: 2))
        throw Stop()
      }
    }
    #expect(try ours.count(Volume.self) == 2)
    try ours.park(Volume(id: 2, code: 2))
    #expect(try theirs.verifyIndexes().isSound)
  }

  /// Indexes come and go while others write.
  @Test func theyComeAndGoUnderLoad() throws {
    let (ours, theirs, _) = try twoGarages()
    let isOver = Atomic<Bool>(false)
    // Who fills an index reads all records, and is refused as long as another process is faster: the others slow down.
    let refusedCount = Atomic<UInt32>(0)
    @Sendable func again(isFilling: Bool = false, _ body: () throws -> Void) throws {
      let end = ContinuousClock.now + .seconds(120)
      while true {
        do {
          try body()
          if isFilling { refusedCount.store(0, ordering: .relaxed) }
          return
        } catch let error as GarageError where error.isRetryable && ContinuousClock.now < end {
          if isFilling { refusedCount.add(1, ordering: .relaxed) }
        }
      }
    }
    try inThreads(3) { thread in
      if thread == 0 {
        defer { isOver.store(true, ordering: .sequentiallyConsistent) }
        for _ in 0..<(runsLongTests ? 30 : 4) {
          try again(isFilling: true) { try theirs.buildIndexes() }
          try again(isFilling: true) { try theirs.dropIndex("code", of: Volume.self) }
        }
        try again(isFilling: true) { try theirs.buildIndexes() }
      } else {
        let garage = thread == 1 ? theirs : ours
        var round = 0
        while !isOver.load(ordering: .sequentiallyConsistent) {
          let id = thread * 1_000_000 + round % 50
          try again { try garage.park(Volume(id: id, code: thread * 1_000_000 + round)) }
          round += 1
          usleep(30_000 * (1 + min(refusedCount.load(ordering: .relaxed), 20) * 5))
        }
      }
    }
    #expect(try ours.verifyIndexes().isSound)
    #expect(try ours.verify().findings.isEmpty)
    for volume in try ours.retrieveAll(Volume.self) {
      #expect(try theirs.query(Volume.self).where(\.code == volume.code).retrieveAll() == [volume])
    }
  }
}

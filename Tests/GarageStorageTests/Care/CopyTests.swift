import Foundation
import GarageDriver
import GarageMemory
import GarageStorage
import Testing

/// `copy` makes another store of the same entries, whatever the drivers, and is a garage only when it is complete.
@Suite struct CopyTests {
  private struct Stop: Error {}

  @Test(arguments: Backend.copied, Backend.copied)
  func everyDriverToEveryDriver(_ from: Backend, _ to: Backend) throws {
    let store = try CareStore(from)
    let place = try Place(to)
    let destination = try place.open()
    try store.garage.copy(to: destination)
    #expect(try Driver.contents(destination) == Driver.contents(store.driver))
    let copy = try Garage(destination, types: [Dog.self, Puppy.self])
    #expect(try copy.verify().findings.isEmpty)
    #expect(try copy.count(CareNode.self) == 20 && copy.get(CareKeys.number) == 7)
    #expect(throws: GarageError.destinationNotEmpty(driver: destination.info.name)) {
      try store.garage.copy(to: destination)
    }
  }

  @Test(arguments: Backend.allCases)
  func leavesAloneWhatIsNoCopy(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let other = MemoryStorage()
    try Driver.put([1], for: [5], other)
    #expect(throws: GarageError.self) { try store.garage.copy(to: other) }
    #expect(try Driver.contents(other).count == 1)
    // Nor does it go on with the copy of another garage.
    let half = MemoryStorage()
    #expect(throws: Stop.self) { try self.fill(store.garage).copy(to: half) { _ in throw Stop() } }
    let stranger = try Garage(Place(backend).open())
    try stranger.park(Counter(id: 1))
    #expect(throws: GarageError.self) { try stranger.copy(to: half) }
  }

  private func fill(_ garage: Garage) throws -> Garage {
    try garage.parkAll((0..<9000).map { Counter(id: $0) })
    return garage
  }

  /// Ended at any point, changed meanwhile on both sides, and gone on with: it is one state of the store in the end.
  @Test(arguments: Backend.engines)
  func goesOnWhereItEnded(_ backend: Backend) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let store = try CareStore(backend)
    let garage = try fill(store.garage)
    for _ in 0..<(runsLongTests ? 4 : 2) {
      let place = try Place(backend == .memory ? .sqlite : .memory)
      let destination = try place.open()
      for _ in 0..<3 {
        var calls = 0
        let last = Int.random(in: 1...8, using: &random)
        do {
          try garage.copy(to: destination) { _ in
            calls += 1
            if calls == last { throw Stop() }
          }
        } catch is Stop {}
        #expect(throws: GarageError.self, "seed \(seed)") { try Garage(destination) }
        for _ in 0..<50 {
          let id = Int.random(in: 0..<12000, using: &random)
          if Bool.random(using: &random) {
            try garage.park(Counter(id: id, value: Int.random(in: 0...9, using: &random)))
          } else if try garage.contains(Counter.self, identifier: id) {
            try garage.delete(Counter.self, identifier: id)
          }
        }
      }
      try garage.copy(to: destination)
      #expect(try Driver.contents(destination) == Driver.contents(store.driver), "seed \(seed)")
    }
  }

  private struct Late: Codable, Identifiable, Indexed {
    static var indexes: [Index<Late>] { [Index(\.name, .readable)] }
    var id: Int
    var name: String
  }

  /// What was copied before the store got its first index, and so another format, is gone on with.
  @Test(arguments: Backend.engines) func goesOnBehindAFirstIndex(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let garage = try fill(store.garage)
    let destination = try Place(backend == .memory ? .sqlite : .memory).open()
    var callCount = 0
    #expect(throws: Stop.self) {
      try garage.copy(to: destination) { _ in
        callCount += 1
        if callCount == 4 { throw Stop() }
      }
    }
    try garage.park(Late(id: 1, name: "late"))
    #expect(try garage.query(Late.self).where(\.name == "late").count() == 1)
    try garage.copy(to: destination)
    #expect(try Driver.contents(destination) == Driver.contents(store.driver))
    #expect(try Garage(destination).verifyIndexes().isSound)
  }

  /// Of two calls the later one goes on. The other changes nothing any more, above all not what is parked in the complete copy.
  @Test(arguments: Backend.engines) func anEarlierCallGivesWay(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let garage = try fill(store.garage)
    let destination = try Place(backend == .memory ? .sqlite : .memory).open()
    var isFirst = true
    #expect(throws: GarageError.destinationNotEmpty(driver: destination.info.name)) {
      try garage.copy(to: destination) { progress in
        guard isFirst, progress.completedUnitCount > 0 else { return }
        isFirst = false
        try garage.copy(to: destination)
        try Garage(destination).park(Late(id: 7, name: "parked in the copy"))
      }
    }
    #expect(try Garage(destination).retrieve(Late.self, identifier: 7)?.name == "parked in the copy")
    #expect(try Garage(destination).verify().findings.isEmpty)
  }

  /// A writer that never rests does not hold it up, and what it copies is one state.
  @Test(arguments: Backend.engines)
  func copiesOneStateWhileOthersWrite(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try fill(try place.garage())
    let thread = Thread {
      // Both always have the same value.
      for value in 1..<100 where !Thread.current.isCancelled {
        try? garage.parkAll([Counter(id: 0, value: value), Counter(id: 8999, value: value)])
      }
    }
    thread.start()
    let destination = MemoryStorage()
    if backend.isSealed { thread.cancel() }
    try garage.copy(to: destination)
    thread.cancel()
    let copy = try Garage(destination)
    let ends = try [0, 8999].map { try copy.retrieve(Counter.self, identifier: $0)?.value }
    #expect(ends[0] == ends[1] && ends[0] != nil)
    #expect(try copy.count(Counter.self) == 9000)
  }

  @Test func whatIsHiddenIsNotCopiedToWhereItCouldBeRead() throws {
    let store = try CareStore(.sealedSQLite, hidesIdentifiers: true)
    let plain = MemoryStorage()
    #expect(throws: GarageError.self) { try store.garage.copy(to: plain) }
    #expect(try Driver.contents(plain).isEmpty)
    let sealed = try Place(.sealedSQLite).open()
    try store.garage.copy(to: sealed)
    #expect(try Garage(sealed).retrieve(CareLeaf.self, identifier: "leaf 1")?.text == "of some")
  }
}

import Foundation
import GarageDriver
import GarageMemory
import GarageSealing
import GarageStorage
import InsecureSealer
import Synchronization
import Testing

/// A store has one writer at a time, or where several write the same comes of it, through whichever garage and storage value
/// it is reached.
@Suite struct OneWriterTests {
  /// Two garages on one store: on one storage value, or on two.
  private func pair(_ place: Place, ownValues: Bool) throws -> (Garage, Garage) {
    let storage = try place.open()
    return (try Garage(storage), try Garage(ownValues ? anotherValue(place, storage) : storage))
  }

  private func anotherValue(_ place: Place, _ storage: any StorageDriver) throws -> any StorageDriver {
    if let memory = storage as? MemoryStorage { return MemoryStorage(sharing: memory) }
    return try place.open()
  }

  /// Saving or not, with unsaved changes before it or not, on both sides.
  @Test(arguments: Backend.allCases, [false, true])
  func aWriteInsideAWriteOfAnotherGarageThrows(_ backend: Backend, ownValues: Bool) throws {
    let (one, two) = try pair(Place(backend), ownValues: ownValues)
    func makeUnsaved(_ garage: Garage) throws {
      try garage.withAutosaveDisabled { try garage.park(Counter(id: 0)) }
    }
    for choice in 0..<16 {
      if choice & 1 != 0 { try makeUnsaved(one) }
      if choice & 2 != 0 { try makeUnsaved(two) }
      one.isAutosaveEnabled = choice & 4 == 0
      two.isAutosaveEnabled = choice & 8 == 0
      try one.write { writer in
        try writer.park(Counter(id: choice))
        #expect(throws: GarageError.nestedWrite, "\(choice)") { try two.park(Counter(id: 99)) }
        #expect(throws: GarageError.nestedWrite, "\(choice)") { try two.write { _ in } }
        #expect(throws: GarageError.nestedWrite, "\(choice)") { try one.park(Counter(id: 99)) }
        #expect(throws: GarageError.nestedWrite, "\(choice)") { try one.set(.launchCount, value: 1) }
        if two.hasUnsavedChanges {
          #expect(throws: GarageError.nestedWrite, "\(choice)") { try two.save() }
        }
        // Reads are served.
        _ = try two.retrieveAll(Counter.self)
        _ = try one.retrieveAll(Counter.self)
      }
      (one.isAutosaveEnabled, two.isAutosaveEnabled) = (true, true)
      try one.save()
      try two.save()
      #expect(try two.contains(Counter.self, identifier: choice))
      #expect(try !two.contains(Counter.self, identifier: 99))
    }
  }

  /// Two threads that cross, each inside a write that stays unsaved, waited for each other for ever.
  @Test(arguments: Backend.allCases, [false, true])
  func threadsThatCrossDoNotWaitForEachOther(_ backend: Backend, ownValues: Bool) async throws {
    let (one, two) = try pair(Place(backend), ownValues: ownValues)
    (one.isAutosaveEnabled, two.isAutosaveEnabled) = (false, false)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (task, (outer, inner)) in [(one, two), (two, one)].enumerated() {
        group.addTask {
          for round in 0..<200 {
            try outer.write(retrying: 1000) { writer in
              try writer.park(Counter(id: task * 1000 + round))
              #expect(throws: GarageError.nestedWrite) { try inner.park(Counter(id: 5000)) }
            }
            if round % 10 == 0 { try outer.save() }
          }
        }
      }
      try await group.waitForAll()
    }
    try await one.save()
    try await two.save()
    #expect(try await one.count(Counter.self) == 400)
  }

  /// What the random operations of many threads add up to, by a model that is nothing but sums.
  ///
  /// Each garage has accounts of its own, because unsaved changes of two garages to one object overwrite each other.
  /// `GARAGE_THREAD_OPERATIONS` makes it longer.
  @Test(arguments: Backend.engines, [false, true])
  func manyThreadsOverThreeGaragesAddUp(_ backend: Backend, ownValues: Bool) async throws {
    let place = try Place(backend)
    let storage = try place.open()
    let garages = try (0..<3).map { try Garage($0 > 0 && ownValues ? anotherValue(place, storage) : storage) }
    let operations = Int(ProcessInfo.processInfo.environment["GARAGE_THREAD_OPERATIONS"] ?? "") ?? 2000
    let seed = UInt64.random(in: 0...UInt64.max)
    let sums = Sums()
    try await onThreads(16) { thread in
      let worker = Worker(garages, sums, SeededGenerator(seed: seed &+ UInt64(thread)))
      for _ in 0..<operations / 16 { try worker.step() }
    }
    for garage in garages { try await garage.save() }
    for reader in garages + [try Garage(storage)] {
      for garage in 0..<3 {
        #expect(try Worker.sum(of: garage, in: reader) == sums.values.withLock { $0[garage] }, "seed \(seed)")
      }
    }
  }
}

/// What the accounts of each garage have to add up to.
private final class Sums: Sendable {
  let values = Mutex([0, 0, 0])
}

/// One thread's random operations on any of three garages.
private final class Worker {
  private let garages: [Garage]
  private let sums: Sums
  private var generator: SeededGenerator

  init(_ garages: [Garage], _ sums: Sums, _ generator: SeededGenerator) {
    self.garages = garages
    self.sums = sums
    self.generator = generator
  }

  private static func accounts(of garage: Int) -> Range<Int> { garage * 10..<garage * 10 + 10 }

  static func sum(of garage: Int, in reader: Garage) throws -> Int {
    try reader.read { reader in
      try accounts(of: garage).reduce(0) {
        try $0 + (reader.retrieve(Counter.self, identifier: $1)?.value ?? 0)
      }
    }
  }

  func step() throws {
    let number = Int.random(in: 0..<3, using: &generator)
    let garage = garages[number]
    switch Int.random(in: 0..<20, using: &generator) {
    case 0...5: try move(in: number)
    case 6...8: try garage.withAutosaveDisabled { try move(in: number) }
    case 9, 10: try add(in: number)
    case 11: try garage.withAutosaveDisabled { try add(in: number) }
    case 12: garage.isAutosaveEnabled.toggle()
    case 13: try garage.save()
    case 14: try writeInsideWrite(number)
    case 15: try giveUp(in: number)
    case 16:
      // One state, whoever saves meanwhile.
      try garage.read(retrying: 1000) { reader in
        let first = try reader.retrieveAll(Counter.self)
        #expect(try reader.retrieveAll(Counter.self) == first)
      }
    case 17: _ = try garage.count(Counter.self)
    case 18: _ = try garage.contains(Counter.self, identifier: account(in: number))
    default: _ = try garage.retrieve(Counter.self, identifier: account(in: number))
    }
  }

  private func account(in garage: Int) -> Int {
    Int.random(in: Worker.accounts(of: garage), using: &generator)
  }

  private func change(_ account: Int, by amount: Int, _ writer: GarageWriter) throws {
    var counter = try writer.retrieve(Counter.self, identifier: account) ?? Counter(id: account)
    counter.value += amount
    try writer.park(counter)
  }

  private func move(in number: Int) throws {
    let (from, to) = (account(in: number), account(in: number))
    let amount = Int.random(in: 1..<100, using: &generator)
    try garages[number].write(retrying: 1000) { writer in
      try change(from, by: -amount, writer)
      try change(to, by: amount, writer)
    }
  }

  private func add(in number: Int) throws {
    let (account, amount) = (account(in: number), Int.random(in: 1..<100, using: &generator))
    try garages[number].write(retrying: 1000) { try change(account, by: amount, $0) }
    // What was acknowledged is there in the end, saved by whom ever.
    sums.values.withLock { $0[number] += amount }
  }

  private func giveUp(in number: Int) throws {
    struct Stop: Error {}
    let account = account(in: number)
    #expect(throws: Stop.self) {
      try garages[number].write(retrying: 1000) { writer in
        try change(account, by: 1_000_000, writer)
        throw Stop()
      }
    }
  }

  private func writeInsideWrite(_ number: Int) throws {
    let other = garages[(number + 1) % 3]
    let (account, otherAccount) = (account(in: number), account(in: (number + 1) % 3))
    try garages[number].write(retrying: 1000) { writer in
      try change(account, by: 0, writer)
      #expect(throws: GarageError.nestedWrite) { try other.park(Counter(id: otherAccount, value: 1_000_000)) }
    }
  }
}

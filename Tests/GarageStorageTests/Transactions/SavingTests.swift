import Foundation
import GarageConformance
import GarageDriver
import GarageSealing
import GarageStorage
import InsecureSealer
import Synchronization
import Testing

/// Without autosave changes are seen here at once and stored when they are saved, and none is lost.
@Suite struct SavingTests {
  struct Stop: Error, Equatable {}

  @Test(arguments: Backend.allCases)
  func unsavedChangesAreSeenHereAndNotThere(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let (garage, other) = (try Garage(driver), try Garage(driver))
    try garage.parkAll((0..<4).map { Counter(id: $0) })
    #expect(garage.isAutosaveEnabled)
    #expect(!garage.hasUnsavedChanges)

    garage.isAutosaveEnabled = false
    #expect(!garage.hasUnsavedChanges)
    try garage.park(Counter(id: 2, value: 22))
    try garage.park(Counter(id: 9, value: 99))
    try garage.park(Address(street: "a", city: "b"))
    try garage.delete(Counter.self, identifier: 0)
    #expect(garage.hasUnsavedChanges)
    let expected = [Counter(id: 1), Counter(id: 2, value: 22), Counter(id: 3), Counter(id: 9, value: 99)]
    #expect(try garage.retrieveAll(Counter.self) == expected)
    #expect(try garage.count(Counter.self) == 4)
    #expect(try garage.contains(Counter.self, identifier: 9))
    #expect(try garage.retrieve(Counter.self, identifier: 0) == nil)
    #expect(try garage.read { try $0.retrieveAll(Address.self).count } == 1)
    #expect(throws: GarageError.failedToRetrieveObject("Counter", "0")) {
      try garage.delete(Counter.self, identifier: 0)
    }
    #expect(try other.retrieveAll(Counter.self) == (0..<4).map { Counter(id: $0) })
    #expect(try other.count(Address.self) == 0)

    try garage.save()
    #expect(!garage.hasUnsavedChanges)
    #expect(try garage.retrieveAll(Counter.self) == expected)
    #expect(try other.retrieveAll(Counter.self) == expected)
    #expect(try other.retrieveAll(Address.self).count == 1)
  }

  @Test(arguments: Backend.allCases)
  func unsavedChangesCanBeDiscarded(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    let garage = try Garage(driver)
    try garage.parkAll((0..<4).map { Counter(id: $0) })
    let before = try Driver.contents(driver)
    garage.isAutosaveEnabled = false
    garage.discardUnsavedChanges()
    try garage.deleteAll(Counter.self)
    try garage.park(Person("Sam"))
    #expect(try garage.count(Counter.self) == 0)
    garage.discardUnsavedChanges()
    #expect(!garage.hasUnsavedChanges)
    #expect(try garage.count(Counter.self) == 4)
    #expect(try garage.count(Person.self) == 0)
    try garage.save()
    #expect(try Driver.contents(driver) == before)
  }

  @Test(arguments: Backend.allCases)
  func closingDropsUnsavedChanges(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    garage.isAutosaveEnabled = false
    try garage.park(Counter(id: 1))
    garage = try place.reopened(garage)
    #expect(try garage.count(Counter.self) == 0)
  }

  /// Turning it on saves nothing by itself; the next change does.
  @Test(arguments: Backend.allCases)
  func turningAutosaveOnSavesWithTheNextChange(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let (garage, other) = (try Garage(driver), try Garage(driver))
    garage.isAutosaveEnabled = false
    try garage.park(Counter(id: 1, value: 1))
    garage.isAutosaveEnabled = true
    #expect(garage.hasUnsavedChanges)
    #expect(try other.count(Counter.self) == 0)
    try garage.write { writer in
      #expect(try writer.retrieve(Counter.self, identifier: 1)?.value == 1)
      try writer.park(Counter(id: 2))
    }
    #expect(!garage.hasUnsavedChanges)
    #expect(try other.retrieveAll(Counter.self) == [Counter(id: 1, value: 1), Counter(id: 2)])
    try garage.park(Counter(id: 3))
    #expect(!garage.hasUnsavedChanges)
    #expect(try other.count(Counter.self) == 3)
  }

  @Test(arguments: Backend.allCases)
  func aClosureCanDisableSaving(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let (garage, other) = (try Garage(driver), try Garage(driver))
    let result = try garage.withAutosaveDisabled {
      #expect(!garage.isAutosaveEnabled)
      #expect(other.isAutosaveEnabled)
      try garage.park(Counter(id: 1))
      try garage.withAutosaveDisabled { try garage.park(Counter(id: 2)) }
      try other.withAutosaveDisabled {
        #expect(!garage.isAutosaveEnabled && !other.isAutosaveEnabled)
        try garage.park(Counter(id: 3))
      }
      #expect(!garage.isAutosaveEnabled && other.isAutosaveEnabled)
      return 7
    }
    #expect(result == 7)
    #expect(garage.isAutosaveEnabled)
    #expect(garage.hasUnsavedChanges)
    #expect(try other.count(Counter.self) == 0)
    try garage.save()
    #expect(try other.count(Counter.self) == 3)

    #expect(throws: Stop()) {
      try garage.withAutosaveDisabled {
        try garage.park(Counter(id: 4))
        throw Stop()
      }
    }
    #expect(garage.isAutosaveEnabled)
    #expect(garage.hasUnsavedChanges)
    #expect(try garage.contains(Counter.self, identifier: 4))
    garage.discardUnsavedChanges()
    #expect(try garage.count(Counter.self) == 3)
  }

  @Test(arguments: Backend.allCases)
  func savingIsDisabledForTheCallingTaskAlone(_ backend: Backend) async throws {
    let driver = try Place(backend).open()
    let (garage, other) = (try Garage(driver), try Garage(driver))
    // The task inherits task-local values, but is none of the closure's business.
    let task = garage.withAutosaveDisabled { Task { garage.isAutosaveEnabled } }
    #expect(await task.value)
    // On a thread of its own, because the closure waits for tasks.
    let inside = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let result = garage.withAutosaveDisabled {
          let notes = Notes()
          Task.detached { notes.add(garage.isAutosaveEnabled) }
          Task { notes.add(garage.isAutosaveEnabled) }
          return notes.wait(for: 2) + [garage.isAutosaveEnabled]
        }
        continuation.resume(returning: result)
      }
    }
    #expect(inside == [true, true, false])
    try await garage.park(Counter(id: 1))
    #expect(try await other.count(Counter.self) == 1)
  }

  /// What tasks say.
  final class Notes: Sendable {
    private let notes = Mutex<[Bool]>([])
    private let added = DispatchSemaphore(value: 0)

    func add(_ note: Bool) {
      notes.withLock { $0.append(note) }
      added.signal()
    }

    func wait(for count: Int) -> [Bool] {
      for _ in 0..<count { added.wait() }
      return notes.withLock { $0 }
    }
  }

  @Test(arguments: Backend.allCases)
  func readersKeepTheirStateOverASave(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Counter(id: 1))
    garage.isAutosaveEnabled = false
    try garage.park(Counter(id: 2))
    try garage.read { reader in
      try garage.park(Counter(id: 3))
      #expect(try reader.retrieveAll(Counter.self).map(\.id) == [1, 2])
      try garage.save()
      #expect(try reader.retrieveAll(Counter.self).map(\.id) == [1, 2])
      try garage.delete(Counter.self, identifier: 1)
      try garage.save()
      try garage.park(Counter(id: 4))
      garage.discardUnsavedChanges()
      #expect(try reader.retrieveAll(Counter.self).map(\.id) == [1, 2])
    }
    #expect(try garage.retrieveAll(Counter.self).map(\.id) == [2, 3])
  }

  @Test(arguments: Backend.allCases)
  func aFailedWriteLeavesTheUnsavedChanges(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    garage.isAutosaveEnabled = false
    try garage.park(Counter(id: 1))
    #expect(throws: Stop()) {
      try garage.write { writer in
        try writer.park(Counter(id: 2))
        try writer.delete(Counter.self, identifier: 1)
        throw Stop()
      }
    }
    #expect(throws: Moody.Mood()) {
      try garage.park(Crowd(id: "a", members: [Counter(id: 3)], moody: Moody(1, refusesToEncode: true)))
    }
    #expect(try garage.retrieveAll(Counter.self) == [Counter(id: 1)])
    try garage.save()
    #expect(try garage.retrieveAll(Counter.self) == [Counter(id: 1)])
  }

  /// A save that fails leaves the store as it was and the changes unsaved; the next one succeeds.
  @Test(arguments: [StorageError.Operation.write, .put, .commit], [false, true])
  func aFailedSaveLosesNothing(_ operation: StorageError.Operation, isSealed: Bool) throws {
    let place = try Place(.faultySQLite)
    let base = try place.open()
    let driver: any StorageDriver =
      isSealed ? try SealedStorage(base, sealer: InsecureTestSealer(key: 7)) : base
    let garage = try Garage(driver)
    try garage.park(Counter(id: 0))
    let before = try Driver.contents(driver)
    garage.isAutosaveEnabled = false
    try garage.parkAll((1..<5).map { Counter(id: $0) })
    try garage.park(Person("Sam"))
    place.plan.reset()
    var failures = 0
    while true {
      place.plan.reset()
      place.plan.fail(operation, after: failures, with: .storageFull)
      do {
        try garage.save()
        break
      } catch GarageError.storage(let error) {
        #expect(error.kind == .storageFull)
      }
      place.plan.reset()
      failures += 1
      #expect(garage.hasUnsavedChanges)
      #expect(try garage.count(Counter.self) == 5)
      #expect(try Driver.contents(driver) == before)
    }
    place.plan.reset()
    #expect(failures > 0)
    #expect(!garage.hasUnsavedChanges)
    #expect(try Garage(driver).count(Counter.self) == 5)
    #expect(try Garage(driver).retrieve(Person.self, identifier: "Sam") != nil)
  }

  @Test(arguments: Backend.allCases)
  func savingAndDiscardingInsideAWrite(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    garage.isAutosaveEnabled = false
    try garage.park(Counter(id: 1))
    try garage.write { writer in
      #expect(throws: GarageError.nestedWrite) { try garage.save() }
      try writer.park(Counter(id: 2))
    }
    #expect(try garage.count(Counter.self) == 2)
    #expect(throws: GarageError.unsavedChangesDiscarded) {
      try garage.write { writer in
        try writer.park(Counter(id: 3))
        garage.discardUnsavedChanges()
        #expect(!garage.hasUnsavedChanges)
      }
    }
    #expect(try garage.count(Counter.self) == 0)
    try garage.park(Counter(id: 4))
    try garage.save()
    #expect(try garage.retrieveAll(Counter.self).map(\.id) == [4])
    // Saved changes are in the store, and a write to it discards nothing.
    garage.isAutosaveEnabled = true
    try garage.write { writer in
      try writer.park(Counter(id: 5))
      garage.discardUnsavedChanges()
      try garage.save()
    }
    #expect(try garage.count(Counter.self) == 2)
  }

  @Test(arguments: Backend.allCases)
  func valuesBeyondTheLimitAreRefusedBeforeTheyAreSaved(_ backend: Backend) throws {
    struct Large: Codable, Identifiable { var id: Int; var data: Data }
    let garage = try Place(backend).garage()
    garage.isAutosaveEnabled = false
    try garage.park(Large(id: 1, data: Data(repeating: 7, count: 10_000_000)))
    try garage.save()
    #expect(try garage.retrieve(Large.self, identifier: 1)?.data.count == 10_000_000)
  }

  // MARK: Threads

  /// Threads that save, discard, change and read at once: every reader sees a sum that some order of whole
  /// transactions explains, and nothing deadlocks.
  @Test(arguments: Backend.allCases)
  func manyThreadsSaveAndDiscard(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let accounts = 6
    try await garage.parkAll((0..<accounts).map { Counter(id: $0, value: 100) })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(100 + task))
          for round in 0..<60 {
            let (from, to) = (
              Int.random(in: 0..<accounts, using: &generator), Int.random(in: 0..<accounts, using: &generator)
            )
            @Sendable func move() throws {
              try garage.write(retrying: 1000) { writer in
                guard from != to else { return }
                var (a, b) = (
                  try #require(try writer.retrieve(Counter.self, identifier: from)),
                  try #require(try writer.retrieve(Counter.self, identifier: to))
                )
                a.value -= 7
                b.value += 7
                try writer.parkAll([a, b])
              }
            }
            switch (round + task) % 5 {
            case 0, 1: try move()
            case 2: try garage.withAutosaveDisabled(move)
            case 3: try garage.save()
            default: garage.discardUnsavedChanges()
            }
          }
        }
      }
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<60 {
            let total = try garage.retrieveAll(Counter.self).reduce(0) { $0 + $1.value }
            #expect(total == accounts * 100)
            try garage.read(retrying: 1000) { reader in
              let first = try reader.retrieveAll(Counter.self)
              let second = try reader.retrieveAll(Counter.self)
              #expect(first == second)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try await garage.save()
    #expect(try await garage.retrieveAll(Counter.self).reduce(0) { $0 + $1.value } == accounts * 100)
  }

  /// Two garages on one store, each writing inside the other's closures from two threads: refused or served.
  @Test(arguments: Backend.allCases)
  func twoGaragesDoNotWaitForEachOther(_ backend: Backend) async throws {
    let driver = try Place(backend).open()
    let (one, two) = (try Garage(driver), try Garage(driver))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (task, (outer, inner)) in [(one, two), (two, one), (one, two)].enumerated() {
        group.addTask {
          for round in 0..<40 {
            let number = task * 1000 + round
            try outer.write(retrying: 1000) { writer in
              try writer.park(Counter(id: number))
              do { try inner.park(Counter(id: number + 500)) } catch GarageError.nestedWrite {}
            }
            if round % 4 == task {
              try outer.withAutosaveDisabled { try outer.park(Counter(id: number, value: 1)) }
              try outer.save()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try await one.save()
    try await two.save()
    let ids = Set(try await one.retrieveAll(Counter.self).map(\.id))
    for task in 0..<3 { for round in 0..<40 { #expect(ids.contains(task * 1000 + round)) } }
  }

  // MARK: Against a model

  /// Random histories of changes, saves, discards and reopenings, compared with dictionaries.
  @Test(arguments: Backend.allCases, [1, 2, 3] as [UInt64])
  func randomHistoriesAgreeWithAModel(_ backend: Backend, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let place = try Place(backend)
    var garage = try place.garage()
    var (saved, current) = ([Int: Int](), [Int: Int]())
    func keep() { if garage.isAutosaveEnabled { saved = current } }
    for step in 0..<300 {
      let (id, value) = (
        Int.random(in: 0..<12, using: &generator), Int.random(in: 0..<1000, using: &generator)
      )
      switch Int.random(in: 0..<12, using: &generator) {
      case 0...3:
        try garage.park(Counter(id: id, value: value))
        current[id] = value
        keep()
      case 4, 5:
        if current.removeValue(forKey: id) != nil {
          try garage.delete(Counter.self, identifier: id)
        } else {
          #expect(throws: GarageError.failedToRetrieveObject("Counter", "\(id)")) {
            try garage.delete(Counter.self, identifier: id)
          }
        }
        keep()
      case 6:
        try? garage.write { writer in
          try writer.deleteAll(Counter.self)
          try writer.park(Counter(id: id, value: value))
          if value % 2 == 0 { throw Stop() }
        }
        if value % 2 == 1 { current = [id: value] }
        keep()
      case 7:
        garage.isAutosaveEnabled.toggle()
      case 8:
        try garage.save()
        saved = current
      case 9:
        garage.discardUnsavedChanges()
        current = saved
      case 10:
        garage = try place.reopened(garage)
        current = saved
      default:
        try garage.withAutosaveDisabled { try garage.park(Counter(id: id, value: value)) }
        current[id] = value
      }
      let found = try garage.retrieveAll(Counter.self)
      let expected = current.sorted { $0.key < $1.key }.map { Counter(id: $0.key, value: $0.value) }
      #expect(found == expected, "seed \(seed), step \(step)")
      if found != expected { return }
      #expect(
        try garage.contains(Counter.self, identifier: id) == (current[id] != nil),
        "seed \(seed), step \(step)")
    }
  }
}

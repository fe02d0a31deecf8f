import Foundation
import GarageConformance
import GarageDriver
import GarageStorage
import Synchronization
import Testing

@Suite struct KeyHookTests {
  private struct Stop: Error, Equatable {}
  private let traced = TracingKey<InnerSpace>()
  private let hooked = Key<HookedSpace, Int>(id: "hooked", defaultValue: 0)
  private let inner = Key<InnerSpace, Int>(id: "inner", defaultValue: 0)
  private let second = Key<SecondSpace, Int>(id: "second", defaultValue: 0)

  private func withLog(_ body: (HookLog) throws -> Void) rethrows {
    let log = HookLog()
    try HookLog.$current.withValue(log) { try body(log) }
  }

  @Test(arguments: Backend.allCases)
  func hooksRunInOrder(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try withLog { log throws in
      try garage.set(traced, value: 1)
      let after = ["pre inner", "pre hooked", "post inner", "post hooked"]
      #expect(log.take() == ["process 0 → 1", "will 0 → 10"] + after + ["did 0 → 10"])
      #expect(try garage.get(traced) == 10)
      try garage.update(traced) { $0 = 2 }
      #expect(log.take() == ["process 10 → 2", "will 10 → 20"] + after + ["did 10 → 20"])
      try garage.remove(traced)
      #expect(log.take() == ["will 20 → 0"] + after + ["did 20 → 0"])
      try garage.remove(traced)
      #expect(log.take() == [])
      try garage.set(inner, value: 1)
      #expect(log.take() == after)
      try garage.clear(InnerSpace.self)
      #expect(log.take() == after)
      try garage.set(hooked, value: 1)
      #expect(log.take() == ["pre hooked", "post hooked"])
      try garage.clear()
      #expect(log.take() == [])
    }
  }

  @Test(arguments: Backend.allCases)
  func hooksRunOnceForEachCommit(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try withLog { log throws in
      try garage.write { writer in
        try writer.set(hooked, value: 1)
        try writer.set(second, value: 1)
        try writer.set(traced, value: 1)
        try writer.set(inner, value: 1)
        try writer.set(traced, value: 2)
        #expect(log.take() == ["process 0 → 1", "will 0 → 10", "process 10 → 2", "will 10 → 20"])
      }
      #expect(
        log.take() == [
          "pre second", "pre inner", "pre hooked", "post second", "post inner", "post hooked", "did 0 → 10",
          "did 10 → 20",
        ])
      try garage.write { try $0.park(Counter(id: 1)) }
      #expect(try garage.read { try $0.get(inner) } == 1)
      #expect(log.take() == [])
    }
  }

  @Test(arguments: Backend.allCases)
  func nothingRunsOnRollback(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try withLog { log throws in
      #expect(throws: Stop.self) {
        try garage.write { writer in
          try writer.set(inner, value: 1)
          throw Stop()
        }
      }
      #expect(log.take() == [])
      #expect(throws: Stop.self) { try garage.update(inner) { _ in throw Stop() } }
      #expect(log.take() == [])
    }
  }

  @Test(arguments: Backend.faulty)
  func whatFollowsACommitDoesNotRunWhenItFails(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try withLog { log throws in
      for operation in [StorageError.Operation.put, .commit] {
        place.plan.reset()
        place.plan.fail(operation, after: 0)
        #expect(throws: GarageError.self) { try garage.set(traced, value: 1) }
        #expect(!log.take().contains { $0.hasPrefix("post") || $0.hasPrefix("did") })
        #expect(try !garage.contains(traced))
      }
      place.plan.reset()
      try garage.set(traced, value: 1)
      #expect(log.take().last == "did 0 → 10")
    }
  }

  @Test(arguments: Backend.allCases)
  func aThrowingHookPreventsTheCommit(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try withLog { log throws in
      log.action.withLock { $0["pre hooked"] = { throw Stop() } }
      #expect(throws: Stop()) { try garage.set(traced, value: 1) }
      #expect(log.take() == ["process 0 → 1", "will 0 → 10", "pre inner", "pre hooked"])
      #expect(throws: Stop()) {
        try garage.write { writer in
          try writer.park(Counter(id: 1))
          try writer.set(inner, value: 1)
        }
      }
      #expect(throws: Stop()) { try garage.clear(HookedSpace.self) }
      #expect(try garage.storedKeys().isEmpty)
      #expect(try garage.count(Counter.self) == 0)
    }
  }

  @Test(arguments: Backend.allCases)
  func hooksMayReadTheGarage(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let inner = inner
    try garage.set(inner, value: 1)
    try withLog { log throws in
      log.action.withLock { action in
        action["pre inner"] = {
          HookLog.note("before: \(try garage.get(inner))")
          #expect(throws: GarageError.nestedWrite) { try garage.set(inner, value: 9) }
        }
        action["post inner"] = {
          HookLog.note("after: \(try garage.get(inner))")
          // That is over: the garage can be changed.
          try garage.park(Counter(id: 7))
        }
      }
      try garage.set(inner, value: 2)
      #expect(
        log.take() == ["pre inner", "before: 1", "pre hooked", "post inner", "after: 2", "post hooked"])
      #expect(try garage.contains(Counter.self, identifier: 7))
    }
  }

  @Test(arguments: Backend.allCases)
  func hooksOfManyThreadsAllRun(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let (threads, rounds) = (8, 25)
    let inner = inner
    let log = HookLog()
    let seen = Mutex<[Int]>([])
    log.action.withLock { action in
      action["post inner"] = { [garage] in
        let value = try garage.get(inner)
        seen.withLock { $0.append(value) }
      }
    }
    try Threads.run(threads) { _ in
      try HookLog.$current.withValue(log) {
        for _ in 0..<rounds { try garage.update(inner) { $0 += 1 } }
      }
    }
    let entries = log.take()
    for entry in ["post inner", "post hooked"] {
      #expect(entries.count { $0 == entry } == threads * rounds)
    }
    // Before each commit: also before one that another one came before, and that is made again.
    for entry in ["pre inner", "pre hooked"] {
      let count = entries.count { $0 == entry }
      #expect(backend.isPostgres ? count >= threads * rounds : count == threads * rounds)
    }
    #expect(seen.withLock { $0.count } == threads * rounds)
    #expect(seen.withLock { $0.max() } == threads * rounds)
  }

  // MARK: - Unsaved changes

  @Test(arguments: Backend.allCases)
  func hooksWaitForTheCommitOfUnsavedChanges(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try withLog { log throws in
      garage.isAutosaveEnabled = false
      try garage.set(traced, value: 1)
      try garage.set(inner, value: 1)
      try garage.write { try $0.set(second, value: 1) }
      #expect(log.take() == ["process 0 → 1", "will 0 → 10"])
      try garage.save()
      #expect(
        log.take() == [
          "pre inner", "pre second", "pre hooked", "post inner", "post second", "post hooked", "did 0 → 10",
        ])
      try garage.save()
      #expect(log.take() == [])

      try garage.set(inner, value: 2)
      garage.discardUnsavedChanges()
      try garage.save()
      #expect(log.take() == [])
      #expect(try garage.get(inner) == 1)
    }
  }

  /// Changes that cancel each other out are never committed, and what comes later is not their commit.
  @Test(arguments: Backend.allCases)
  func hooksGoWithTheChangesThatAreUndone(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try withLog { log throws in
      garage.isAutosaveEnabled = false
      try garage.set(traced, value: 1)
      try garage.clear()
      #expect(!garage.hasUnsavedChanges)
      try garage.save()
      #expect(log.take() == ["process 0 → 1", "will 0 → 10"])
      try garage.set(second, value: 2)
      try garage.save()
      #expect(log.take() == ["pre second", "pre hooked", "post second", "post hooked"])
    }
  }

  @Test(arguments: Backend.allCases)
  func aThrowingHookLeavesChangesUnsaved(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try withLog { log throws in
      garage.isAutosaveEnabled = false
      try garage.set(inner, value: 5)
      try garage.park(Counter(id: 1))
      log.action.withLock { $0["pre inner"] = { throw Stop() } }
      #expect(throws: Stop()) { try garage.save() }
      #expect(log.take() == ["pre inner"])
      #expect(garage.hasUnsavedChanges)
      #expect(try garage.get(inner) == 5)

      // It sees what is about to be saved, and cannot add to it.
      let inner = inner
      log.action.withLock { action in
        action["pre inner"] = {
          HookLog.note("sees \(try garage.get(inner))")
          #expect(throws: GarageError.nestedWrite) { try garage.set(inner, value: 6) }
        }
      }
      try garage.save()
      #expect(log.take() == ["pre inner", "sees 5", "pre hooked", "post inner", "post hooked"])
      #expect(!garage.hasUnsavedChanges)

      try garage.set(inner, value: 7)
      log.action.withLock { $0["pre inner"] = { garage.discardUnsavedChanges() } }
      #expect(throws: GarageError.unsavedChangesDiscarded) { try garage.save() }
      #expect(try garage.get(inner) == 5)
    }
  }

  // MARK: - Damage

  @Test(arguments: Backend.engines)
  func whoObservesChangesIsNotToldOfDamage(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let garage = try Garage(driver)
    try garage.set(traced, value: 1)
    let (key, value) = try #require(
      try Driver.contents(driver, .prefix([0x30])).first)
    try Driver.put(value + [0], for: key.bytes, driver)
    try withLog { log throws in
      #expect(throws: GarageError.self) { try garage.set(traced, value: 2) }
      #expect(log.take() == [])
      try garage.remove(traced)
      #expect(log.take() == ["pre inner", "pre hooked", "post inner", "post hooked"])
      try garage.set(traced, value: 2)
      #expect(try garage.get(traced) == 20)
    }
  }
}

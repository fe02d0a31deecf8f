import Dispatch
import Foundation
import GarageStorage
import Synchronization
import Testing

/// Hooks and change functions of the verbs for tasks: at their time, and in the task of who commits.
@Suite struct AsyncKeyHookTests {
  private let traced = TracingKey<InnerSpace>()
  private let hooked = Key<HookedSpace, Int>(id: "hooked", defaultValue: 0)

  private func withLog(_ body: (HookLog) async throws -> Void) async rethrows {
    let log = HookLog()
    try await HookLog.$current.withValue(log) { try await body(log) }
  }

  /// What was noted, but for what runs before a commit, which may be on a thread that knows no task.
  private func take(_ log: HookLog) -> [String] { log.take().filter { !$0.hasPrefix("pre") } }

  @Test(arguments: Backend.allCases)
  func hooksRunInOrder(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    try await withLog { log in
      let after = ["pre inner", "pre hooked", "post inner", "post hooked"]
      try await garage.set(traced, value: 1)
      #expect(log.take() == ["process 0 → 1", "will 0 → 10"] + after + ["did 0 → 10"])
      try await garage.update(traced) { $0 = 2 }
      #expect(log.take() == ["process 10 → 2", "will 10 → 20"] + after + ["did 10 → 20"])
      try await garage.remove(traced)
      #expect(log.take() == ["will 20 → 0"] + after + ["did 20 → 0"])
      try await garage.remove(traced)
      #expect(log.take() == [])
    }
  }

  /// What is discarded was never changed.
  @Test(arguments: Backend.allCases)
  func whatIsUnsavedIsNotTold(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    try await withLog { log in
      garage.isAutosaveEnabled = false
      let after = ["post inner", "post hooked"]
      try await garage.set(traced, value: 1)
      #expect(take(log) == ["process 0 → 1", "will 0 → 10"])
      await garage.discardUnsavedChanges()
      try await garage.save()
      #expect(take(log) == [])

      try await garage.set(traced, value: 1)
      try await garage.update(traced) { $0 = 2 }
      #expect(take(log) == ["process 0 → 1", "will 0 → 10", "process 10 → 2", "will 10 → 20"])
      try await garage.save()
      #expect(take(log) == after + ["did 0 → 10", "did 10 → 20"])

      try await garage.remove(traced)
      #expect(take(log) == ["will 20 → 0"])
      await garage.discardUnsavedChanges()
      #expect(try await garage.get(traced) == 20)
      try await garage.remove(traced)
      #expect(take(log) == ["will 20 → 0"])
      try await garage.save()
      #expect(take(log) == after + ["did 20 → 0"])
    }
  }

  /// Who removes a key is told of the value that was removed, and not of one that was there before.
  @Test(arguments: Backend.engines, [true, false])
  func removingTellsOfWhatWasRemoved(_ backend: Backend, autosaves: Bool) async throws {
    let garage = try Place(backend).garage()
    let traced = traced
    try await withLog { log in
      garage.isAutosaveEnabled = autosaves
      try await garage.set(traced, value: 1)
      try await garage.save()
      _ = log.take()
      log.action.withLock { action in
        action["will 10 → 0"] = {
          // Somebody else's change, while the removal is on its way.
          try garage.set(traced, value: 5)
        }
      }
      try await garage.remove(traced)
      try await garage.save()
      let told = log.take().filter { $0.hasPrefix("will") || $0.hasPrefix("did") }
      let others = ["will 10 → 50", "did 10 → 50"]
      let order =
        autosaves
        ? ["will 10 → 0"] + others + ["will 50 → 0", "did 50 → 0"]
        : ["will 10 → 0", others[0], "will 50 → 0", others[1], "did 50 → 0"]
      #expect(told == order)
      #expect(try await !garage.contains(traced))
    }
  }

  // MARK: - Unsaved changes that others save

  /// Whoever saves unsaved changes by the way runs what waits for their commit, in its own task.
  @Test(arguments: Backend.allCases)
  func hooksRunInTheTaskThatSaves(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let verbs: [() async throws -> Void] = [
      { try await garage.park(Counter(id: 1)) },
      { try await garage.parkAll([Counter(id: 2), Counter(id: 3)]) },
      { try await garage.delete(Counter.self, identifier: 1) },
      { try await garage.set(.launchCount, value: 1) },
    ]
    for (number, verb) in verbs.enumerated() {
      try await garage.withAutosaveDisabled { try await garage.set(traced, value: number + 1) }
      try await withLog { log in
        try await verb()
        #expect(
          take(log) == ["post inner", "post hooked", "did \(number * 10) → \(number * 10 + 10)"],
          "verb \(number)")
      }
      #expect(!garage.hasUnsavedChanges)
    }
  }

  /// A namespace is told once of a commit that saves changes of its keys and makes another one: it was told twice.
  @Test(arguments: Backend.allCases)
  func hooksRunOnceForWhatIsSavedTogether(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let second = TracingKey<InnerSpace>(stringValue: "second")
    let plain = Key<InnerSpace, Int>(id: "plain", defaultValue: 0)
    let after = ["post inner", "post hooked"]
    func leaveUnsaved(_ value: Int) async throws {
      try await garage.withAutosaveDisabled { try await garage.set(traced, value: value) }
    }
    try await withLog { log in
      try await leaveUnsaved(1)
      _ = log.take()
      try await garage.set(second, value: 1)
      #expect(take(log) == ["process 0 → 1", "will 0 → 10"] + after + ["did 0 → 10", "did 0 → 10"])
      try await leaveUnsaved(2)
      _ = log.take()
      try await garage.update(plain) { $0 += 1 }
      #expect(take(log) == after + ["did 10 → 20"])
      try await leaveUnsaved(3)
      _ = log.take()
      try await garage.remove(second)
      #expect(take(log) == ["will 10 → 0"] + after + ["did 20 → 30", "did 10 → 0"])
    }
    #expect(!garage.hasUnsavedChanges)
    #expect(try await garage.get(traced) == 30)
    #expect(try await garage.get(plain) == 1)
    #expect(try await !garage.contains(second))
  }

  /// As by the verb that is not async, which saves them, too.
  @Test(arguments: Backend.allCases)
  func removingWhatIsNotThereSavesWhatIsUnsaved(_ backend: Backend) async throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try await garage.withAutosaveDisabled { try await garage.park(Counter(id: 1)) }
    try await garage.withAutosaveDisabled { try await garage.remove(.launchCount) }
    #expect(garage.hasUnsavedChanges)
    try await garage.remove(.launchCount)
    #expect(!garage.hasUnsavedChanges)
    #expect(try await place.garage().contains(Counter.self, identifier: 1))
  }

  /// The same where they became unsaved while the change was in the queue.
  @Test(arguments: Backend.durable)
  func hooksRunOnceForWhatWasUnsavedMeanwhile(_ backend: Backend) async throws {
    // There the change waits for nobody.
    if backend.isPostgres { return }
    let garage = try Place(backend).garage()
    let (isInside, isDone) = (
      AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self)
    )
    let mayEnd = DispatchSemaphore(value: 0)
    let traced = traced
    Thread.detachNewThread {
      do {
        try garage.withAutosaveDisabled {
          try garage.write { writer in
            try writer.set(traced, value: 1)
            isInside.continuation.finish()
            mayEnd.wait()
          }
        }
      } catch {
        Issue.record("\(error)")
        isInside.continuation.finish()
      }
      isDone.continuation.finish()
    }
    for await _ in isInside.stream {}
    let log = HookLog()
    let plain = Key<InnerSpace, Int>(id: "plain", defaultValue: 0)
    let setting = Task { try await HookLog.$current.withValue(log) { try await garage.set(plain, value: 1) } }
    // Time to get into the queue. Where it is not enough, nothing unusual happens.
    try await Task.sleep(for: .milliseconds(30))
    mayEnd.signal()
    for await _ in isDone.stream {}
    try await setting.value
    #expect(take(log) == ["post inner", "post hooked", "did 0 → 10"])
    #expect(!garage.hasUnsavedChanges)
    #expect(try await garage.get(traced) == 10)
    #expect(try await garage.get(plain) == 1)
  }

  /// Also where the changes became unsaved while its own was in the queue.
  @Test(arguments: Backend.durable)
  func hooksRunInTheTaskThatWaitedForItsTurn(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let (isInside, isDone) = (
      AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self)
    )
    let mayEnd = DispatchSemaphore(value: 0)
    let traced = traced
    // Has the turn until it may end, and leaves something unsaved.
    Thread.detachNewThread {
      do {
        try garage.withAutosaveDisabled {
          try garage.write { writer in
            try writer.set(traced, value: 1)
            isInside.continuation.finish()
            mayEnd.wait()
          }
        }
      } catch {
        Issue.record("\(error)")
        isInside.continuation.finish()
      }
      isDone.continuation.finish()
    }
    for await _ in isInside.stream {}
    let log = HookLog()
    let parking = Task { try await HookLog.$current.withValue(log) { try await garage.park(Counter(id: 1)) } }
    // Time to get into the queue. Where it is not enough, nothing unusual happens.
    try await Task.sleep(for: .milliseconds(30))
    mayEnd.signal()
    for await _ in isDone.stream {}
    try await parking.value
    try await HookLog.$current.withValue(log) { try await garage.save() }
    #expect(take(log) == ["post inner", "post hooked", "did 0 → 10"])
    #expect(try await garage.get(traced) == 10)
    #expect(try await garage.contains(Counter.self, identifier: 1))
  }
}

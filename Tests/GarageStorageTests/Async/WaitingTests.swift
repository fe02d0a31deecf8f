import Foundation
import GarageDriver
import GarageStorage
import Synchronization
import Testing

/// No verb keeps a task's thread, or the main actor, while an engine waits.
@Suite struct WaitingTests {
  /// What a verb did to the threads of tasks.
  private func inTasks(_ storage: SlowStorage) -> Int {
    storage.readsInTasks.load(ordering: .relaxed) + storage.writesInTasks.load(ordering: .relaxed)
  }

  @Test(arguments: [Backend.memory, .sqlite, .lmdb]) func verbsWaitElsewhere(_ backend: Backend) async throws
  {
    let storage = SlowStorage(try Place(backend).open(), milliseconds: 0, isDurable: true)
    let garage = try Garage(storage)
    let sam = Person("Sam")
    sam.brother = Person("Nick")
    try await garage.park(sam)
    storage.setPause(milliseconds: 200)
    let before = inTasks(storage)
    try await garage.park(Counter(id: 1))
    try await garage.parkAll([Counter(id: 2), Counter(id: 3)])
    try await garage.delete(Counter.self, identifier: 1)
    try await garage.set(.launchCount, value: 1)
    #expect(try await garage.retrieveAll(Counter.self).count == 2)
    #expect(try await garage.count(Counter.self) == 2)
    try await garage.write { try $0.park(Counter(id: 4)) }
    #expect(try await garage.read { try $0.count(Counter.self) } == 3)
    try await garage.forEach(Counter.self) { _ in }
    for try await _ in garage.objects(Counter.self) {}
    #expect(try await garage.query(Counter.self).count() == 3)
    #expect(try await garage.retrieve(Reference(Person.self, identifier: "Sam"))?.brother?.id == "Nick")
    #expect(try await garage.migrateAll(Counter.self).unchanged == 3)
    try await garage.withAutosaveDisabled { try await garage.park(Counter(id: 5)) }
    try await garage.save()
    _ = try await garage.typeNames()
    _ = try await garage.storedKeys()
    try await garage.clear()
    try await garage.deleteAll(Counter.self)
    try await garage.deleteAllObjects()
    #expect(inTasks(storage) == before)
    try await garage.close()
  }

  /// The main actor's timer goes on while a thousand tasks wait for a slow disk.
  @MainActor @Test(arguments: [Backend.memory, .sqlite]) func theMainActorGoesOn(_ backend: Backend)
    async throws
  {
    let storage = SlowStorage(try Place(backend).open(), milliseconds: 200, isDurable: true)
    let garage = try Garage(storage)
    let isDone = Atomic<Bool>(false)
    async let work: Void = withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<1000 { group.addTask { try await garage.park(Counter(id: task)) } }
      try await group.waitForAll()
      isDone.store(true, ordering: .relaxed)
    }
    let before = inTasks(storage)
    var count = 0
    while !isDone.load(ordering: .relaxed) {
      try await Task.sleep(for: .milliseconds(5))
      count += 1
    }
    try await work
    // How long the timer's pauses are says more of the machine than of the library, with other tests beside this one: who
    // waited for the disk does not depend on that.
    #expect(inTasks(storage) == before && count > 0)
    storage.setPause(milliseconds: 0)
    #expect(try await garage.count(Counter.self) == 1000)
  }

  /// Cancelled at random: what threw is not there, what returned is, and the garage goes on.
  @Test(arguments: Backend.engines) func cancellingLeavesNothingHalfDone(_ backend: Backend) async throws {
    let garage = try Garage(SlowStorage(try Place(backend).open(), isDurable: true))
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededGenerator(seed: seed)
    var outcomes: [Int: Bool] = [:]
    // 30 tasks each.
    for round in 0..<(runsLongTests ? 340 : 20) {
      var tasks: [(Int, Task<Bool, any Error>)] = []
      for number in 0..<30 {
        let id = round * 100 + number
        let isKey = number % 5 == 0
        tasks.append(
          (
            id,
            Task {
              do {
                if isKey {
                  try await garage.update(.launchCount) { $0 += 1 }
                  return false
                }
                try await garage.parkAll([Counter(id: id), Counter(id: -id - 1)])
                return true
              } catch is CancellationError { return false }
            }
          ))
      }
      for (_, task) in tasks where Int.random(in: 0..<2, using: &generator) == 0 {
        if Int.random(in: 0..<3, using: &generator) == 0 { await Task.yield() }
        task.cancel()
      }
      for (id, task) in tasks { outcomes[id] = try await task.value }
    }
    let there = Set(try await garage.retrieveAll(Counter.self).map(\.id))
    for (id, isThere) in outcomes {
      #expect(there.contains(id) == isThere, "seed \(seed)")
      #expect(there.contains(-id - 1) == isThere, "seed \(seed)")
    }
    try await garage.park(Counter(id: 1))
    try await garage.close()
  }

  @Test(arguments: Backend.engines) func tasksAndThreadsShareCommits(_ backend: Backend) async throws {
    let slow = SlowStorage(try Place(backend).open(), milliseconds: 10, isDurable: true)
    let garage = try Garage(slow)
    let before = slow.commitCount.load(ordering: .relaxed)
    async let threads: Void = onThreads(8) { thread in
      for round in 0..<5 { try garage.park(Counter(id: 10_000 + thread * 10 + round)) }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<200 {
        group.addTask {
          try await garage.park(Counter(id: task))
          if task % 10 == 0 {
            try await garage.write(retrying: 1000) { try $0.park(Counter(id: 1000 + task)) }
          }
        }
      }
      try await group.waitForAll()
    }
    try await threads
    let commits = slow.commitCount.load(ordering: .relaxed) - before
    #expect(commits < 130, "\(commits)")
    #expect(try await garage.count(Counter.self) == 260)
  }
}

import Synchronization
import Testing

@testable import GarageStorage

/// The threads of the library's, where the system gives none.
@Suite struct WorkerThreadTests {
  /// A job that nobody runs would be waited for for ever.
  @Test func whoGetsNoThreadRunsTheJobItself() {
    let threads = WorkerThreads { _ in false }
    let count = Atomic<Int>(0)
    for _ in 0..<3 { threads.run { count.add(1, ordering: .relaxed) } }
    let elsewhere = threads.runElsewhere { count.add(100, ordering: .relaxed) }
    let total = count.load(ordering: .relaxed)
    #expect(total == 3 && !elsewhere)
  }

  /// Work of others is not done by the settings of the caller.
  @Test func theCallersSettingsAreNotThoseOfTheJob() throws {
    let threads = WorkerThreads { _ in false }
    let garage = try Place(.memory).garage()
    let autosaves = Atomic<Bool>(false)
    garage.withAutosaveDisabled {
      threads.run { autosaves.store(garage.isAutosaveEnabled, ordering: .relaxed) }
    }
    let found = autosaves.load(ordering: .relaxed)
    #expect(found)
  }

  /// Threads that are there are used again, and new ones run what they are started for.
  @Test func threadsRunJobs() async {
    for round in 0..<100 {
      let seen = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
        WorkerThreads.shared.run { continuation.resume(returning: round) }
      }
      #expect(seen == round)
    }
  }
}

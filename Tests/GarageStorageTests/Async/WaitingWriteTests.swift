import Dispatch
import Foundation
import GarageStorage
import Synchronization
import Testing

/// Changes of tasks that wait behind one that takes long.
@Suite struct WaitingWriteTests {
  /// A write that goes on until it is told to end.
  private final class LongWrite: Sendable {
    private let mayEnd = DispatchSemaphore(value: 0)
    private let hasEnded = AsyncStream.makeStream(of: Void.self)

    /// Returns when the write has begun.
    init(in garage: Garage) async {
      let hasBegun = AsyncStream.makeStream(of: Void.self)
      // On a thread that may wait.
      Thread.detachNewThread { [mayEnd, hasEnded] in
        do {
          try garage.write { _ in
            hasBegun.continuation.finish()
            mayEnd.wait()
          }
        } catch { Issue.record("\(error)") }
        hasEnded.continuation.finish()
      }
      for await _ in hasBegun.stream {}
    }

    func end() async {
      mayEnd.signal()
      for await _ in hasEnded.stream {}
    }
  }

  private final class Tally: Sendable {
    let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }
  }

  /// Some calls, each of a task of its own.
  private struct Calls {
    private let begun = Tally()
    private let tasks: [Task<Void, any Error>]

    init(_ count: Int, _ call: @escaping @Sendable (Int) async throws -> Void) {
      let tally = begun
      tasks = (0..<count).map { number in
        Task {
          tally.count.add(1, ordering: .relaxed)
          try await call(number)
        }
      }
    }

    /// Waits until all have begun, as far as others can know.
    func begin() async throws {
      let haveBegun = try await comesTrue { begun.value == tasks.count }
      #expect(haveBegun)
    }

    func cancel(_ isMeant: (Int) -> Bool = { _ in true }) {
      for (number, task) in tasks.enumerated() where isMeant(number) { task.cancel() }
    }

    /// How many threw a `CancellationError`, when all have ended.
    func cancelledCount() async -> Int {
      var count = 0
      for task in tasks {
        do { try await task.value } catch is CancellationError { count += 1 } catch { Issue.record(error) }
      }
      return count
    }
  }

  #if os(Linux)
    private func threadCount() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
  #else
    private func threadCount() throws -> Int { 0 }
  #endif

  /// Queries that change keep no thread while they wait, and are cancelled until their turn has come.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb])
  func queriesThatChangeWaitInTheQueue(_ backend: Backend) async throws {
    let garage = try Garage(SlowStorage(try Place(backend).open(), isDurable: true))
    let counters = (0..<10).map { Counter(id: $0) }
    try await garage.parkAll(counters)
    let write = await LongWrite(in: garage)
    let before = try threadCount()
    let calls = Calls(1_000) { number in
      let query = garage.query(Counter.self).where(\.id == number % 10)
      if number % 3 == 0 {
        _ = try await query.deleteAll()
      } else {
        _ = try await query.updateAll { $0.value += 1 }
      }
    }
    try await calls.begin()
    // Other tests have threads, too, but not by the hundred.
    let more = try threadCount() - before
    #expect(more < 500)
    calls.cancel()
    await write.end()
    #expect(await calls.cancelledCount() == 1_000)
    #expect(try await garage.retrieveAll(Counter.self) == counters)
  }

  /// Most of many changes that wait are cancelled at once, and the others are made.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb])
  func manyThatWaitAreCancelled(_ backend: Backend) async throws {
    let garage = try Garage(SlowStorage(try Place(backend).open(), isDurable: true))
    let write = await LongWrite(in: garage)
    let calls = Calls(20_000) { number in try await garage.park(Counter(id: number)) }
    try await calls.begin()
    calls.cancel { $0 % 4 != 0 }
    await write.end()
    #expect(await calls.cancelledCount() == 15_000)
    #expect(try await garage.count(Counter.self) == 5_000)
  }

  @Test(arguments: [Backend.memory, .sqlite, .lmdb])
  func renamingIsCancelledWhileItWaits(_ backend: Backend) async throws {
    let garage = try Garage(SlowStorage(try Place(backend).open(), isDurable: true))
    try await garage.park(Counter(id: 1))
    let write = await LongWrite(in: garage)
    let calls = Calls(2) { number in
      if number == 0 {
        _ = try await garage.migrateAll(from: Counter.self, to: Moody.self)
      } else {
        _ = try await garage.migrateAll(fromOldClassName: "Counter", to: Moody.self)
      }
    }
    try await calls.begin()
    calls.cancel()
    await write.end()
    #expect(await calls.cancelledCount() == 2)
    #expect(try await garage.count(Counter.self) == 1)
    #expect(try await garage.count(Moody.self) == 0)
  }

  /// Where there is no queue, many that wait are in nobody's way, and are cancelled all the same.
  @Test func thoseThatAreInNoQueueWaitByThemselves() async throws {
    let (garage, other) = (try Place(.memory).garage(), try Place(.memory).garage())
    try await other.park(Counter(id: 1))
    let write = await LongWrite(in: garage)
    let calls = Calls(100) { number in
      switch number % 3 {
      case 0: try await garage.park(Counter(id: number))
      case 1: try await garage.write { try $0.park(Counter(id: number)) }
      default: _ = try await garage.query(Counter.self).updateAll { $0.value += 1 }
      }
    }
    try await calls.begin()
    let served = Tally()
    let others = Calls(2) { number in
      let count =
        number == 0
        ? try await other.retrieveAll(Counter.self).count
        : try await other.query(Counter.self).updateAll { $0.value = 1 }
      #expect(count == 1)
      served.count.add(1, ordering: .relaxed)
    }
    let areServed = try await comesTrue { served.value == 2 }
    #expect(areServed)
    calls.cancel()
    await write.end()
    #expect(await calls.cancelledCount() == 100)
    #expect(await others.cancelledCount() == 0)
    #expect(try await garage.count(Counter.self) == 0)
    try await garage.park(Counter(id: 7))
    #expect(try await garage.query(Counter.self).updateAll { $0.value = 3 } == 1)
    #expect(try await garage.retrieve(Counter.self, identifier: 7)?.value == 3)
  }
}

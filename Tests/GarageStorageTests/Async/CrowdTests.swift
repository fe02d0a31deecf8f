import Foundation
import GarageDriver
import Synchronization
import Testing

@testable import GarageStorage

/// Very many tasks that wait at once, for threads that read or for a commit.
@Suite struct CrowdTests {
  private final class Tally: Sendable {
    private let number = Atomic<Int>(0)
    func add() { number.add(1, ordering: .relaxed) }
    var count: Int { number.load(ordering: .relaxed) }
  }

  /// Holds the next commit of a storage until it is let go.
  private final class HeldCommit: Sendable {
    private let hasCome = Atomic<Bool>(false)
    private let mayGo = Atomic<Bool>(false)

    init(of storage: SlowStorage) {
      storage.willCommit.withLock {
        $0 = {
          self.hasCome.store(true, ordering: .releasing)
          while !self.mayGo.load(ordering: .acquiring) { usleep(500) }
        }
      }
    }

    var isHeld: Bool { hasCome.load(ordering: .acquiring) }

    func letGo() { mayGo.store(true, ordering: .releasing) }
  }

  @Test(arguments: Backend.engines) func manyReadsWait(_ backend: Backend) async throws {
    let storage = HoldingStorage(try Place(backend).open())
    let garage = try Garage(storage)
    try await garage.parkAll((0..<100).map { Counter(id: $0, value: $0 * 7) })
    let started = Tally()
    storage.holdReads()
    defer { storage.letGo() }
    let tasks: [Task<Int?, any Error>] = (0..<20_000).map { number in
      Task {
        started.add()
        return try await garage.read { try $0.retrieve(Counter.self, identifier: number % 100)?.value }
      }
    }
    let haveStarted = try await comesTrue { started.count == tasks.count }
    #expect(haveStarted)
    for number in tasks.indices where number % 3 == 0 { tasks[number].cancel() }
    storage.letGo()
    var wrong: [Int] = []
    var cancelledCount = 0
    for (number, task) in tasks.enumerated() {
      do {
        if try await task.value != number % 100 * 7 { wrong.append(number) }
      } catch is CancellationError {
        cancelledCount += 1
        if number % 3 != 0 { wrong.append(number) }
      }
    }
    #expect(wrong.isEmpty)
    // Those that had begun went on.
    #expect(cancelledCount >= 6667 - 32)
    #expect(try await garage.count(Counter.self) == 100)
  }

  @Test(arguments: Backend.engines) func manyAreCancelledBehindACommit(_ backend: Backend) async throws {
    let slow = SlowStorage(try Place(backend).open(), isDurable: true)
    let garage = try Garage(slow)
    let commit = HeldCommit(of: slow)
    defer { commit.letGo() }
    let first = Task { try await garage.park(Counter(id: -1)) }
    #expect(try await comesTrue { commit.isHeld })
    let started = Tally()
    let tasks: [Task<Void, any Error>] = (0..<20_000).map { number in
      Task {
        started.add()
        try await garage.park(Counter(id: number))
      }
    }
    let haveStarted = try await comesTrue { started.count == tasks.count }
    #expect(haveStarted)
    for number in tasks.indices where number % 4 != 0 { tasks[number].cancel() }
    // They are told while nobody can commit.
    var cancelledCount = 0
    for number in tasks.indices where number % 4 != 0 {
      if case .failure(let error) = await tasks[number].result, error is CancellationError {
        cancelledCount += 1
      }
    }
    #expect(cancelledCount == 15_000)
    commit.letGo()
    try await first.value
    for number in tasks.indices where number % 4 == 0 { try await tasks[number].value }
    let there = Set(try await garage.retrieveAll(Counter.self).map(\.id))
    #expect(there == Set(stride(from: 0, to: 20_000, by: 4)).union([-1]))
  }

  /// What runs is what was not cancelled, in the order in which it came, whether it is committed together or alone.
  @Test(arguments: [Backend.memory, .sqlite, .lmdb]) func theOrderIsKept(_ backend: Backend) async throws {
    let slow = SlowStorage(try Place(backend).open(), isDurable: true)
    let garage = try Garage(slow)
    let queue = try #require(garage.store.commits)
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let commit = HeldCommit(of: slow)
    defer { commit.letGo() }
    let first = Task { try await garage.park(Counter(id: -1)) }
    #expect(try await comesTrue { commit.isHeld })
    let ran = Mutex<[Int]>([])
    let told = Mutex<Set<Int>>([])
    let jobs: [CommitJob] = (0..<2000).map { number in
      let isBytes = number % 50 != 7
      let work: CommitJob.Work =
        isBytes
        ? .bytes { _ in ran.withLock { $0.append(number) } }
        : .transaction { ran.withLock { $0.append(number) } }
      return CommitJob(of: garage, work, byteCount: 10) { _ in told.withLock { _ = $0.insert(number) } }
    }
    for job in jobs { queue.submit(job) }
    // The first is among them.
    let cancelled = Set([0] + jobs.indices.filter { _ in Int.random(in: 0..<3, using: &random) > 0 })
    for number in cancelled.shuffled(using: &random) {
      let wasThere = queue.cancel(jobs[number])
      jobs[number].settle(CancellationError())
      let isThere = queue.cancel(jobs[number])
      #expect(wasThere && !isThere, "seed \(seed)")
    }
    let toldAtOnce = told.withLock { $0 }
    #expect(toldAtOnce == cancelled, "seed \(seed)")
    commit.letGo()
    try await first.value
    let areAllTold = try await comesTrue { told.withLock { $0.count } == jobs.count }
    let order = ran.withLock { $0 }
    #expect(areAllTold, "seed \(seed)")
    #expect(order == jobs.indices.filter { !cancelled.contains($0) }, "seed \(seed)")
    try await garage.park(Counter(id: 1))
  }

  /// The queue compared with an array: what is taken together, put back, and cancelled in between.
  @Test func theQueueDoesWhatAnArrayDoes() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    let hint: Comment = "seed \(seed)"
    var random = SeededGenerator(seed: seed)
    let storage = try Place(.memory).open()
    let garage = try Garage(storage)
    let queue = CommitQueue(storage.info)
    try #require(try queue.beginIfFree())
    var (all, model): ([CommitJob], [CommitJob]) = ([], [])
    func names(_ jobs: [CommitJob]) -> [ObjectIdentifier] { jobs.map { ObjectIdentifier($0) } }
    func cancel(_ job: CommitJob) {
      let index = model.firstIndex { $0 === job }
      #expect(queue.cancel(job) == (index != nil), hint)
      if let index { model.remove(at: index) }
    }
    for _ in 0..<600 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        for _ in 0..<Int.random(in: 1..<40, using: &random) {
          let isBytes = Int.random(in: 0..<300, using: &random) > 0
          let byteCount = Int.random(in: 0..<200, using: &random) == 0 ? 3 << 20 : 10
          let work: CommitJob.Work = isBytes ? .bytes { _ in } : .transaction {}
          let job = CommitJob(of: garage, work, byteCount: byteCount) { _ in }
          all.append(job)
          model.append(job)
          queue.submit(job)
        }
      case 4..<7:
        for _ in 0..<20 { if let job = all.randomElement(using: &random) { cancel(job) } }
      case 7:
        if let job = model.first { cancel(job) }
      default:
        let batch = Array(all.suffix(Int.random(in: 0...2, using: &random)))
        var (expected, room) = ([CommitJob](), 8 << 20)
        for job in batch { room -= job.byteCount }
        for job in model {
          if expected.count + batch.count == 512 || room <= 0 || !job.isBytes { break }
          room -= job.byteCount
          expected.append(job)
        }
        let taken = queue.takeBytes(behind: batch)
        #expect(names(taken) == names(expected), hint)
        model.removeFirst(taken.count)
        if let job = taken.first { #expect(!queue.cancel(job), hint) }
        let back = taken.dropFirst(Int.random(in: 0...taken.count, using: &random))
        queue.putBack(back)
        model.insert(contentsOf: back, at: 0)
      }
    }
    for job in model { #expect(queue.cancel(job), hint) }
    #expect(queue.takeBytes(behind: []).isEmpty, hint)
    queue.end()
    // Nobody is left who would have the turn.
    #expect(try queue.beginIfFree(), hint)
    queue.end()
  }
}

import Foundation
import GarageDriver
import GarageStorage
import Synchronization

/// What threads and tasks do to a garage.
final class ConcurrentTrial: Sendable {
  private struct Note: Codable, Identifiable, Sendable {
    var id: Int
    var text: String
  }
  private struct Other: Codable, Identifiable, Equatable, Sendable { var id: Int }

  private typealias Question = ConcurrencyComparison.Question

  private let garage: Garage
  private let driver: any StorageDriver
  private let scale: Int
  private let next = Atomic<Int>(1)
  private let expectedCount = Atomic<Int>(1)
  private let expectedSum = Atomic<Int>(0)
  private static let many = 64
  static let listenerCount = 1000

  init(_ garage: Garage, _ driver: any StorageDriver, scale: Int) {
    (self.garage, self.driver, self.scale) = (garage, driver, scale)
  }

  /// - Parameter hasToWait: whether commits wait for a disk. As long as a log grows they wait longer: it gets the size
  ///   that it keeps.
  func prepare(hasToWait: Bool) throws {
    try garage.park(Note(id: 0, text: "the first"))
    try garage.write { writer in for key in Self.keys { try writer.set(key, value: 0) } }
    if hasToWait { for _ in 0..<1000 { try park() } }
  }

  private static let keys = (0..<many).map { Key<GlobalNamespace, Int>(id: "count \($0)", defaultValue: 0) }

  // MARK: - How much

  func count(_ question: ConcurrencyComparison.Question, _ peer: String? = nil) -> Int {
    switch question {
    case .getInTask, .getsOfTasks: 1000 * scale
    case .parkInTask: 10 * scale
    case .otherListeners: 50 * scale
    case .typeListeners: 20 * scale
    case .polling: 1000 * scale
    case .parkAllHeard: 40 * 1000
    case .hearing: 10 * scale
    default:
      switch peer {
      case ConcurrencyComparison.oneThread, ConcurrencyComparison.oneTask: 10 * scale
      case ConcurrencyComparison.eachAlone: Self.many * scale / 4
      default: Self.many * scale
      }
    }
  }

  // MARK: - Who does it

  func run(_ question: ConcurrencyComparison.Question, _ peer: String? = nil) throws {
    let count = count(question, peer)
    switch (question, peer) {
    case (.getInTask, nil): try tasks(1, count) { try await self.getInTask() }
    case (.getsOfTasks, nil): try tasks(1000, count) { try await self.getInTask() }
    case (.getInTask, _): try tasks(1, count) { try self.get() }
    case (.getsOfTasks, _): for _ in 0..<count { try get() }
    case (.parkInTask, nil), (.manyTasks, _?): try tasks(1, count) { try await self.parkInTask() }
    case (.manyTasks, nil): try tasks(Self.many, count) { try await self.parkInTask() }
    case (.eightThreads, nil): try threads(8, count) { _ in try self.park() }
    case (.manyThreads, nil), (.failing, _?): try threads(Self.many, count) { _ in try self.park() }
    case (.manyThreads, ConcurrencyComparison.eachAlone):
      try threads(Self.many, count) { _ in try self.parkAlone() }
    case (.failing, nil):
      try threads(Self.many, count) { number in number % 100 == 0 ? try self.fail() : try self.park() }
    case (.ownKeys, nil), (.oneKey, nil):
      try tasks(Self.many, count) { try await self.updateInTask(question == .oneKey ? 0 : Self.taskNumber) }
    case (.ownKeys, ConcurrencyComparison.oneTask), (.oneKey, ConcurrencyComparison.oneTask):
      try tasks(1, count) { try await self.updateInTask(0) }
    case (.ownKeys, _), (.oneKey, _):
      try threads(Self.many, count) { number in
        try self.update(question == .oneKey ? 0 : number / (count / Self.many) % Self.many)
      }
    case (.parkAllHeard, _):
      for _ in 0..<(count / 1000) {
        let first = next.add(1000, ordering: .relaxed).oldValue
        expectedCount.add(1000, ordering: .relaxed)
        try garage.parkAll((first..<(first + 1000)).map { Note(id: $0, text: "one of many") })
      }
    case (.hearing, nil):
      for _ in 0..<count { try hear() }
    case (.polling, _):
      let signal = driver as? any ChangeSignaling
      for _ in 0..<count { try WrongResult.unless(try signal?.foreignChangeMark() != nil, "no mark") }
    case (.parkInTask, _), (.eightThreads, _), (.manyThreads, _), (.hearing, _), (.otherListeners, _),
      (.typeListeners, _):
      for _ in 0..<count { try park() }
    }
  }

  func verify() throws {
    try WrongResult.unless(
      try garage.count(Note.self) == expectedCount.load(ordering: .relaxed), "not every park is there")
    let sum = try Self.keys.reduce(0) { try $0 + garage.get($1) }
    try WrongResult.unless(sum == expectedSum.load(ordering: .relaxed), "an update got lost")
  }

  // MARK: - What is done

  private func get() throws {
    try WrongResult.unless(try garage.retrieve(Note.self, identifier: 0) != nil, "nothing there")
  }

  private func getInTask() async throws {
    try WrongResult.unless(try await garage.retrieve(Note.self, identifier: 0) != nil, "nothing there")
  }

  private func newNote() -> Note {
    expectedCount.add(1, ordering: .relaxed)
    return Note(id: next.add(1, ordering: .relaxed).oldValue, text: "a note of some thirty characters")
  }

  private func park() throws { try garage.park(newNote()) }
  private func parkInTask() async throws { try await garage.park(newNote()) }
  private func parkAlone() throws {
    let note = newNote()
    try garage.write { try $0.park(note) }
  }

  private func fail() throws {
    do {
      try garage.delete(Note.self, identifier: -1)
    } catch GarageError.failedToRetrieveObject {
      return
    }
    throw WrongResult("what is not there was deleted")
  }

  @TaskLocal private static var taskNumber = 0

  private func update(_ key: Int) throws {
    try garage.update(Self.keys[key]) { $0 += 1 }
    expectedSum.add(1, ordering: .relaxed)
  }

  private func updateInTask(_ key: Int) async throws {
    try await garage.update(Self.keys[key]) { $0 += 1 }
    expectedSum.add(1, ordering: .relaxed)
  }

  // MARK: - Listeners

  private let heard = DispatchSemaphore(value: 0)

  /// Runs `body` while those listen whom the question is about.
  func isHeard(_ question: ConcurrencyComparison.Question, _ isHeard: Bool, _ body: () throws -> Void) throws {
    guard isHeard else { return try body() }
    let begun = DispatchSemaphore(value: 0)
    var listeners: [Task<Void, any Error>] = []
    let count: Int
    switch question {
    case .otherListeners, .typeListeners: count = Self.listenerCount
    case .parkAllHeard, .hearing: count = 1
    default: count = 0
    }
    for number in 0..<count {
      listeners.append(
        Task { [self] in
          if question == .otherListeners {
            for try await _ in garage.values(of: Other.self, identifier: number) { begun.signal() }
          } else if question == .typeListeners {
            // Slow ones, which look once and do not come back: what a commit itself does for each is measured.
            var values = garage.values(of: garage.query(Note.self).limit(1)).makeAsyncIterator()
            _ = try await values.next()
            begun.signal()
            while !Task.isCancelled { try await Task.sleep(for: .seconds(60)) }
          } else {
            var changes = garage.changes().makeAsyncIterator()
            begun.signal()
            while await changes.next() != nil {
              awake.store(DispatchTime.now().uptimeNanoseconds, ordering: .releasing)
              heard.signal()
            }
          }
        })
    }
    for _ in 0..<count { begun.wait() }
    defer { for listener in listeners { listener.cancel() } }
    try body()
  }

  private func hear() throws {
    let start = DispatchTime.now().uptimeNanoseconds
    try park()
    // It is awake for nothing, too: what another process may have committed is news.
    var end: UInt64
    repeat {
      heard.wait()
      end = awake.load(ordering: .acquiring)
    } while end < start
    let waited = Double(end - start)
    allWaits.withLock { $0.append(waited) }
  }

  /// When the listener was awake last.
  private let awake = Atomic<UInt64>(0)
  private let allWaits = Mutex<[Double]>([])

  /// How long it took from before each park until the listener was awake, the shortest first.
  var waits: [Double] { allWaits.withLock { $0.sorted() } }

  func forgetWaits() { allWaits.withLock { $0 = [] } }

  // MARK: - Many at once

  /// Runs a body so often in all, on so many threads, each with the numbers of its own.
  private func threads(_ threadCount: Int, _ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    let group = DispatchGroup()
    let share = count / threadCount
    for thread in 0..<threadCount {
      group.enter()
      Thread.detachNewThread {
        do {
          for number in 0..<share { try body(thread * share + number) }
        } catch { failure.withLock { $0 = error } }
        group.leave()
      }
    }
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }

  /// The same in tasks, of which the calling thread, which is none, waits for the last.
  private func tasks(_ taskCount: Int, _ count: Int, _ body: @escaping @Sendable () async throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    let done = DispatchSemaphore(value: 0)
    let share = count / taskCount
    Task {
      do {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<taskCount {
            group.addTask {
              try await Self.$taskNumber.withValue(number) {
                for _ in 0..<share { try await body() }
              }
            }
          }
          try await group.waitForAll()
        }
      } catch { failure.withLock { $0 = error } }
      done.signal()
    }
    done.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

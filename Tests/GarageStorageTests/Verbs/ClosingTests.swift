import Foundation
import GarageDriver
import GarageMemory
import GarageSealing
import GarageStorage
import InsecureSealer
import Synchronization
import Testing

/// Closing means the same on every storage, whether or not it closes that, too.
@Suite struct ClosingTests {
  /// The places that are opened, and memory under a seal.
  enum Stack: CaseIterable {
    case memory, sealedMemory, faultyMemory, sqlite, lmdb, sealedSQLite

    func garage(_ place: Place, _ memory: MemoryStorage) throws -> Garage {
      switch self {
      case .memory: try Garage(memory)
      case .sealedMemory: try Garage(SealedStorage(memory, sealer: InsecureTestSealer(key: 3)))
      case .faultyMemory, .sqlite, .lmdb, .sealedSQLite: try place.garage()
      }
    }

    func place() throws -> Place {
      switch self {
      case .memory, .sealedMemory: try Place(.memory)
      case .faultyMemory: try Place(.faultyMemory)
      case .sqlite: try Place(.sqlite)
      case .lmdb: try Place(.lmdb)
      case .sealedSQLite: try Place(.sealedSQLite)
      }
    }
  }

  /// How a call is under way when the garage is closed.
  enum Call: CaseIterable {
    case read, write, unsavedWrite, forEach

    func run(_ garage: Garage, _ meanwhile: @escaping () throws -> Void) throws {
      switch self {
      case .read: try garage.read { _ in try meanwhile() }
      case .write:
        try garage.write { writer in
          try writer.park(Counter(id: 1, value: 1))
          try meanwhile()
        }
      case .unsavedWrite:
        try garage.withAutosaveDisabled {
          try garage.write { writer in
            try writer.park(Counter(id: 1, value: 1))
            try meanwhile()
          }
        }
      case .forEach: try garage.forEach(Counter.self) { _ in try meanwhile() }
      }
    }
  }

  private static func isClosed(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return false
    } catch GarageError.closed { return true }
  }

  @Test(arguments: Stack.allCases, Call.allCases)
  func closingInsideACallIsRefused(_ stack: Stack, _ call: Call) throws {
    let (place, memory) = (try stack.place(), MemoryStorage())
    let garage = try stack.garage(place, memory)
    try garage.park(Counter(id: 7))
    var refusals = 0
    try call.run(garage) {
      do { try garage.close() } catch GarageError.storage(let error) {
        #expect(error.kind == .closeInsideTransaction)
        refusals += 1
      }
    }
    #expect(refusals == 1)
    // It is as open as before.
    try garage.park(Counter(id: 8))
    #expect(try garage.contains(Counter.self, identifier: 8))
    try garage.close()
    try garage.close()
  }

  @Test(arguments: Stack.allCases, Call.allCases)
  func closingWaitsForCallsOfOtherThreads(_ stack: Stack, _ call: Call) throws {
    let (place, memory) = (try stack.place(), MemoryStorage())
    let garage = try stack.garage(place, memory)
    try garage.park(Counter(id: 7))
    let (entered, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let ended = Mutex(false)
    try withThread {
      try call.run(garage) {
        entered.signal()
        mayEnd.wait()
        // What the call still does counts as done before the garage was closed.
        ended.withLock { $0 = true }
      }
    } meanwhile: {
      entered.wait()
      let closed = DispatchSemaphore(value: 0)
      let wasEnded = Mutex(false)
      try withThread {
        defer { closed.signal() }
        try garage.close()
        let isOver = ended.withLock { $0 }
        wasEnded.withLock { $0 = isOver }
      } meanwhile: {
        // A while in which a close that does not wait would be over.
        #expect(closed.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
        mayEnd.signal()
      }
      let isOver = wasEnded.withLock { $0 }
      #expect(isOver)
    }
    #expect(try ClosingTests.isClosed { _ = try garage.count(Counter.self) })
    #expect(try ClosingTests.isClosed { try garage.park(Counter(id: 9)) })
    #expect(try ClosingTests.isClosed { try garage.save() })
  }

  /// Numbers that were acknowledged before the garage was closed are there, and no others.
  @Test(arguments: Stack.allCases)
  func nothingIsCommittedAfterClosing(_ stack: Stack) throws {
    let (place, memory) = (try stack.place(), MemoryStorage())
    for round in 0..<10 {
      let garage = try stack.garage(place, memory)
      let threads = 4
      let parked = Mutex([Int](repeating: 0, count: threads))
      let group = DispatchGroup()
      for thread in 0..<threads {
        Thread.detachNewThread(in: group) {
          do {
            while true {
              let next = parked.withLock { $0[thread] } + 1
              try garage.park(Counter(id: thread, value: next))
              parked.withLock { $0[thread] = next }
            }
          } catch GarageError.closed {} catch { Issue.record(error) }
        }
      }
      usleep(UInt32(round) * 700)
      try garage.close()
      let again = try stack.garage(place, memory)
      let seen = try (0..<threads).map { try again.retrieve(Counter.self, identifier: $0)?.value ?? 0 }
      group.wait()
      #expect(try (0..<threads).map { try again.retrieve(Counter.self, identifier: $0)?.value ?? 0 } == seen)
      let acknowledged = parked.withLock { $0 }
      #expect(acknowledged == seen)
      try again.deleteAllObjects()
      try again.close()
    }
  }

  @Test(arguments: [false, true])
  func closingOneOfTwoGaragesInMemoryLeavesTheOther(isSealed: Bool) throws {
    let memory = MemoryStorage()
    let stack: Stack = isSealed ? .sealedMemory : .memory
    let place = try stack.place()
    let (one, other) = (try stack.garage(place, memory), try stack.garage(place, memory))
    try one.park(Counter(id: 1, value: 1))
    // It neither waits for the calls of the other one nor is refused inside them.
    try other.write { writer in
      try writer.park(Counter(id: 2, value: 2))
      try one.close()
      #expect(try ClosingTests.isClosed { _ = try one.count(Counter.self) })
      try writer.park(Counter(id: 3, value: 3))
    }
    #expect(try other.retrieveAll(Counter.self) == (1...3).map { Counter(id: $0, value: $0) })
    try other.park(Counter(id: 4, value: 4))
    #expect(try stack.garage(place, memory).count(Counter.self) == 4)
    try other.close()
    // The storage itself is still open.
    try memory.read { _ in }
  }

  /// Who closes a storage in memory closes it under its garages, on the terms of any storage.
  @Test(arguments: [Stack.memory, .sealedMemory], Call.allCases)
  func closingTheStorageClosesItsGarages(_ stack: Stack, _ call: Call) throws {
    let (place, memory) = (try stack.place(), MemoryStorage())
    let garage = try stack.garage(place, memory)
    try garage.park(Counter(id: 7))
    try call.run(garage) {
      let error = #expect(throws: StorageError.self) { try memory.close() }
      #expect(error?.kind == .closeInsideTransaction)
    }
    // It is as open as before; and one object, so that a loop over all runs once.
    try garage.park(Counter(id: 7))
    let (entered, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let ended = Atomic<Bool>(false)
    try withThread {
      try call.run(garage) {
        entered.signal()
        mayEnd.wait()
        ended.store(true, ordering: .releasing)
      }
    } meanwhile: {
      entered.wait()
      try withThread {
        try memory.close()
        let isOver = ended.load(ordering: .acquiring)
        #expect(isOver)
      } meanwhile: {
        // Later than close can see that a call is under way.
        usleep(20_000)
        mayEnd.signal()
      }
    }
    #expect(try ClosingTests.isClosed { _ = try garage.count(Counter.self) })
    #expect(try ClosingTests.isClosed { try garage.park(Counter(id: 9)) })
    #expect(try ClosingTests.isClosed { _ = try Garage(memory) })
    try garage.close()
  }

  /// Reads nest as deep with what closing counts as without.
  @Test(arguments: [Stack.memory, .sqlite, .lmdb])
  func readsNestAsDeepAsTheStorageLetsThem(_ stack: Stack) throws {
    let (place, memory) = (try stack.place(), MemoryStorage())
    let garage = try stack.garage(place, memory)
    var deepest = 0
    func nest(_ depth: Int) throws {
      try garage.read { _ in
        deepest = depth
        if depth < 70 { try nest(depth + 1) }
      }
    }
    #expect(throws: GarageError.self) { try nest(1) }
    #expect(deepest == StorageLifetime.maximumReadDepth)
    try garage.close()
  }
}

/// Runs `body` on a thread of its own and `meanwhile` on this one, and passes on what either throws.
private func withThread(_ body: @escaping () throws -> Void, meanwhile: () throws -> Void) throws {
  let group = DispatchGroup()
  let failure = Mutex<(any Error)?>(nil)
  nonisolated(unsafe) let body = body
  Thread.detachNewThread(in: group) {
    do { try body() } catch { failure.withLock { $0 = error } }
  }
  defer { group.wait() }
  try meanwhile()
  group.wait()
  if let error = failure.withLock({ $0 }) { throw error }
}

extension Thread {
  fileprivate static func detachNewThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    detachNewThread {
      body()
      group.leave()
    }
  }
}

import Foundation
import GarageDriver
import Synchronization
import Testing

/// Calls are counted by thread: writers wait, nested writes are refused, and closing waits for the others.
struct StorageLifetimeTests {
  @Test func transactionsAreCountedByThread() throws {
    let gate = WriterGate()
    let first = StorageLifetime(driver: "Test", gate: gate),
      second = StorageLifetime(driver: "Test", gate: gate)
    let other = StorageLifetime(driver: "Test")
    #expect(!first.isInsideTransaction && first.depthOnThisThread == 0)
    try first.withRead {
      try second.withWrite {
        try other.withRead {
          #expect(first.isInsideTransaction && second.isInsideTransaction && other.isInsideTransaction)
          #expect(
            first.depthOnThisThread == 2 && second.depthOnThisThread == 2 && other.depthOnThisThread == 1)
        }
        #expect(!other.isInsideTransaction)
      }
      #expect(!second.isInsideTransaction && second.depthOnThisThread == 1)
    }
    #expect(first.depthOnThisThread == 0)
  }

  @Test func anErrorOfTheBodyPassesAndLeaves() throws {
    struct Stop: Error {}
    let lifetime = StorageLifetime(driver: "Test")
    #expect(throws: Stop.self) { try lifetime.withRead { throw Stop() } }
    #expect(throws: Stop.self) { try lifetime.withWrite { throw Stop() } }
    #expect(!lifetime.isInsideTransaction)
    try lifetime.withWrite {}
    try lifetime.close {}
  }

  @Test func readsNestSixtyFourDeep() throws {
    let lifetime = StorageLifetime(driver: "Test")
    func nest(_ depth: Int) throws -> Int {
      do {
        return try lifetime.withRead { try nest(depth + 1) }
      } catch let error as StorageError where error.kind == .readersFull {
        return depth
      }
    }
    #expect(try nest(0) == StorageLifetime.maximumReadDepth)
    // The limit is a thread's and a value's own.
    let other = StorageLifetime(driver: "Test")
    #expect(try other.withRead { try nest(0) } == 64)
    // A write among them is not counted.
    #expect(try lifetime.withRead { try lifetime.withWrite { try nest(1) } } == 64)
    #expect(try nest(0) == 64)
  }

  @Test func aWriteInsideAWriteIsRefusedThroughEveryValue() throws {
    let gate = WriterGate()
    let first = StorageLifetime(driver: "Test", gate: gate),
      second = StorageLifetime(driver: "Test", gate: gate)
    try first.withWrite {
      #expect(gate.isHeldByThisThread)
      try expectError(.nestedWrite) { try second.withWrite {} }
      try expectError(.nestedWrite) { try first.withWrite {} }
      #expect(gate.isHeldByThisThread)
      try StorageLifetime(driver: "Test").withWrite {}
    }
    #expect(!gate.isHeldByThisThread)
    try second.withWrite {}
  }

  @Test func oneThreadAtATimeWrites() throws {
    let gate = WriterGate()
    let writers = Atomic<Int>(0)
    // Guarded by the gate alone.
    nonisolated(unsafe) var total = 0
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<1000 {
        try? gate.withWriter(driver: "Test") {
          if writers.wrappingAdd(1, ordering: .relaxed).newValue == 1 { total += 1 }
          writers.wrappingSubtract(1, ordering: .relaxed)
        }
      }
    }
    #expect(total == 4000)
  }

  @Test func closeRefusesInsideATransaction() throws {
    let lifetime = StorageLifetime(driver: "Test")
    for isWrite in [false, true] {
      let body = { () throws -> Void in
        try expectError(.closeInsideTransaction) { try lifetime.close { Issue.record("released") } }
        // Inside another value's transaction it may close.
        try StorageLifetime(driver: "Other").close {}
      }
      if isWrite { try lifetime.withWrite(body) } else { try lifetime.withRead(body) }
    }
    #expect(!lifetime.isClosed)
    try lifetime.close {}
    #expect(lifetime.isClosed)
  }

  @Test func aLifetimeEndsWithTheOneAroundIt() throws {
    let outer = StorageLifetime(driver: "Test")
    let first = StorageLifetime(within: outer)
    let second = StorageLifetime(within: outer)
    try first.close {}
    try expectError(.closed) { try first.withRead {} }
    try second.withWrite {
      try expectError(.closeInsideTransaction) { try outer.close { Issue.record("released") } }
      // They share a writer.
      try expectError(.nestedWrite) { try outer.withWrite {} }
    }
    try outer.withRead { try second.withRead {} }
    try outer.close {}
    try expectError(.closed) { try second.withRead {} }
    try expectError(.closed) { try StorageLifetime(within: outer).withRead {} }
  }

  @Test func aLifetimeThatLeftIsNotHeld() throws {
    let outer = StorageLifetime(driver: "Test")
    weak var seen: StorageLifetime?
    do {
      let inner = StorageLifetime(within: outer)
      seen = inner
      #expect(seen != nil)
      inner.leave(outer)
    }
    #expect(seen == nil)
  }

  @Test func closeReleasesOnce() throws {
    let lifetime = StorageLifetime(driver: "Test")
    var count = 0
    for _ in 0..<3 { try lifetime.close { count += 1 } }
    #expect(count == 1)
    try expectError(.closed) { try lifetime.withRead {} }
    try expectError(.closed) { try lifetime.withWrite {} }
  }

  @Test func closeWaitsForOtherThreads() throws {
    let lifetime = StorageLifetime(driver: "Test")
    let hasEntered = DispatchSemaphore(value: 0), mayLeave = DispatchSemaphore(value: 0)
    let hasLeft = Atomic<Bool>(false)
    let reader = Thread {
      try? lifetime.withRead {
        hasEntered.signal()
        mayLeave.wait()
        hasLeft.store(true, ordering: .sequentiallyConsistent)
      }
    }
    reader.start()
    hasEntered.wait()
    let leaver = Thread {
      // Only once nothing new may begin: the close below has begun to wait.
      while !lifetime.isClosed { usleep(100) }
      mayLeave.signal()
    }
    leaver.start()
    try lifetime.close {
      let hasWaited = hasLeft.load(ordering: .sequentiallyConsistent)
      #expect(hasWaited)
    }
  }
}

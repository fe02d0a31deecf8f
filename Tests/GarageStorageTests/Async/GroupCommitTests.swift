import Foundation
import GarageDriver
import GarageStorage
import Synchronization
import Testing

/// Threads that change a garage at the same time share the wait for the disk.
@Suite struct GroupCommitTests {
  /// A key's value that ends in this name.
  private struct Named: Codable, Identifiable, Equatable {
    var id: String
    var value = 0
  }

  @Test(arguments: Backend.allCases) func whatComesMeanwhileIsCommittedTogether(_ backend: Backend) throws {
    let slow = SlowStorage(try Place(backend).open(), milliseconds: 20, isDurable: true)
    let garage = try Garage(slow)
    let before = slow.commitCount.load(ordering: .relaxed)
    try Threads.run(32) { thread in
      for round in 0..<4 { try garage.park(Counter(id: thread * 100 + round, value: round)) }
    }
    let commits = slow.commitCount.load(ordering: .relaxed) - before
    // Alone each of the 128 would be a commit of 20 ms.
    #expect(commits < 40, "\(commits) commits")
    #expect(try garage.count(Counter.self) == 128)
  }

  /// Threads that park, delete, set and fail; compared with what each thread knows of its own objects.
  @Test(arguments: Backend.allCases) func whatWasAcknowledgedIsThereAndWhatFailedIsNot(_ backend: Backend)
    throws
  {
    let slow = SlowStorage(try Place(backend).open(), isDurable: true)
    let garage = try Garage(slow)
    slow.badKey.withLock { $0 = Array("bad".utf8) }
    // At full size some ten thousand groups.
    let rounds = runsLongTests ? 10_000 : 150
    let seed = UInt64.random(in: 0...UInt64.max)
    try Threads.run(12) { thread in
      var generator = SeededGenerator(seed: seed &+ UInt64(thread))
      var model: [String: Int] = [:]
      for round in 0..<rounds {
        let id = "\(thread)-\(Int.random(in: 0..<8, using: &generator))"
        switch Int.random(in: 0..<20, using: &generator) {
        case 0:
          #expect(throws: SlowStorage.Bad.self, "seed \(seed)") {
            try garage.parkAll([Named(id: id, value: -1), Named(id: "\(thread)bad")])
          }
        case 1...4:
          if model.removeValue(forKey: id) != nil {
            try garage.delete(Named.self, identifier: id)
          } else {
            #expect(throws: GarageError.failedToRetrieveObject("Named", id), "seed \(seed)") {
              try garage.delete(Named.self, identifier: id)
            }
          }
        case 5:
          try garage.write(retrying: 1000) {
            try $0.park(Named(id: id, value: round)); model[id] = round
          }
        case 6:
          try garage.update(.launchCount) { $0 += 1 }
        default:
          try garage.park(Named(id: id, value: round))
          model[id] = round
        }
        #expect(try garage.retrieve(Named.self, identifier: id)?.value == model[id], "seed \(seed)")
      }
      for (id, value) in model {
        #expect(try garage.retrieve(Named.self, identifier: id)?.value == value, "seed \(seed)")
      }
    }
  }

  @Test(arguments: Backend.engines) func aCommitThatFailsIsTriedForEachAlone(_ backend: Backend) throws {
    let slow = SlowStorage(try Place(backend).open(), milliseconds: 10, isDurable: true)
    let garage = try Garage(slow)
    try garage.park(Counter(id: -1))
    slow.badCommitCount.store(1, ordering: .relaxed)
    let failed = Mutex<Set<Int>>([])
    try Threads.run(16) { thread in
      for round in 0..<5 {
        let id = thread * 10 + round
        do { try garage.park(Counter(id: id)) } catch GarageError.storage {
          failed.withLock { _ = $0.insert(id) }
        }
      }
    }
    // At most the one whose commit it was.
    let lost = failed.withLock { $0 }
    #expect(lost.count <= 1)
    for thread in 0..<16 {
      for round in 0..<5 {
        let id = thread * 10 + round
        #expect(try garage.contains(Counter.self, identifier: id) == !lost.contains(id))
      }
    }
  }

  private final class Tally: Sendable {
    let count = Atomic<Int>(0)
  }

  /// Where nobody knows whether a group was committed, each of it is told so, and none of it is done again.
  @Test(arguments: Backend.engines) func whatMayBeCommittedIsNotDoneTwice(_ backend: Backend) async throws {
    let slow = SlowStorage(try Place(backend).open(), isDurable: true)
    let garage = try Garage(slow)
    try await garage.parkAll((0..<16).map { Counter(id: $0) })
    let begun = Tally()
    let unknown = Tally()
    slow.willCommit.withLock {
      $0 = {
        // The others come meanwhile. While other tests hold all threads of the pool, they do not come for minutes.
        for _ in 0..<6_000 where begun.count.load(ordering: .relaxed) < 16 { usleep(100_000) }
        usleep(1_000_000)
        slow.lostAnswerCount.store(3, ordering: .relaxed)
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<16 {
        group.addTask {
          begun.count.add(1, ordering: .relaxed)
          let key = Key<GlobalNamespace, Int>(id: "count \(number)", defaultValue: 0)
          func trying(_ body: () async throws -> Void) async {
            do { try await body() } catch GarageError.storage(let error) where error.kind == .outcomeUnknown {
              #expect(!error.isRetryable)
              unknown.count.add(1, ordering: .relaxed)
            } catch { Issue.record(error) }
          }
          for _ in 0..<4 { await trying { try await garage.update(key) { $0 += 1 } } }
          await trying { try await garage.delete(Counter.self, identifier: number) }
        }
      }
    }
    for number in 0..<16 {
      let key = Key<GlobalNamespace, Int>(id: "count \(number)", defaultValue: 0)
      #expect(try await garage.get(key) == 4)
    }
    #expect(try await garage.count(Counter.self) == 0)
    // All of a group are told.
    #expect(unknown.count.load(ordering: .relaxed) > 3)
  }

  /// Unsaved changes are saved with the next change, also where that is one of many.
  @Test(arguments: Backend.engines) func unsavedChangesAreSavedInBetween(_ backend: Backend) throws {
    let place = try Place(backend)
    let storage = try place.open()
    let garage = try Garage(SlowStorage(storage, milliseconds: 2, isDurable: true))
    try Threads.run(12) { thread in
      for round in 0..<20 {
        let id = thread * 100 + round
        if thread % 3 == 0 {
          try garage.withAutosaveDisabled { try garage.park(Counter(id: id, value: 1)) }
          if round % 7 == 0 { try garage.save() }
        } else {
          try garage.park(Counter(id: id, value: 2))
        }
        #expect(try garage.contains(Counter.self, identifier: id))
      }
    }
    try garage.save()
    #expect(!garage.hasUnsavedChanges)
    #expect(try Garage(storage).count(Counter.self) == 240)
  }

  /// From inside a read or a write nothing waits for a turn.
  @Test(arguments: Backend.engines) func insideTransactionsNobodyWaits(_ backend: Backend) throws {
    let garage = try Garage(SlowStorage(try Place(backend).open(), milliseconds: 1, isDurable: true))
    for id in 0..<4 { try garage.park(Counter(id: id)) }
    try Threads.run(8) { thread in
      for round in 0..<10 {
        switch thread % 4 {
        case 0: try garage.read { _ in try garage.park(Counter(id: 100 + thread)) }
        case 1:
          try garage.write(retrying: 1000) { writer in
            #expect(throws: GarageError.nestedWrite) { try garage.park(Counter(id: 999)) }
            #expect(throws: GarageError.nestedWrite) { try garage.write { _ in } }
            #expect(throws: GarageError.nestedWrite) { try garage.delete(Counter.self, identifier: 1) }
            try writer.park(Counter(id: 200 + round))
          }
        case 2:
          try again {
            try garage.forEach(Counter.self) {
              if $0.id < 4 { try garage.park(Counter(id: $0.id, value: round)) }
            }
          }
        default: try garage.park(Counter(id: 300 + round))
        }
      }
    }
    #expect(try !garage.contains(Counter.self, identifier: 999))
  }

  /// The hooks of a key run on the thread that set it, and may change the garage.
  @Test(arguments: Backend.engines) func hooksRunWhereTheKeyWasSet(_ backend: Backend) throws {
    let garage = try Garage(SlowStorage(try Place(backend).open(), milliseconds: 1, isDurable: true))
    let actions = Meddler.Actions()
    _ = actions
    try Threads.run(8) { thread in
      for round in 0..<10 {
        let mine = Thread.current
        let key = WatchedKey(name: "\(thread)") { value in
          #expect(Thread.current === mine)
          do { try garage.park(Counter(id: thread * 100 + value)) } catch { Issue.record(error) }
        }
        try garage.set(key, value: round)
      }
    }
    #expect(try garage.count(Counter.self) == 80)
  }

  private struct WatchedKey: KeyType {
    typealias NamespaceType = GlobalNamespace
    typealias ValueType = Int
    var name: String
    var action: (Int) -> Void
    var stringValue: String { name }
    var defaultValue: Int { -1 }
    func didChange(_ oldValue: Int, newValue: Int) { action(newValue) }
  }

  @Test(arguments: Backend.engines) func closingEndsWhoeverWaits(_ backend: Backend) throws {
    let slow = SlowStorage(try Place(backend).open(), milliseconds: 5, isDurable: true)
    let garage = try Garage(slow)
    let closedCount = Atomic<Int>(0)
    let acknowledged = Mutex<Set<Int>>([])
    try Threads.run(9) { thread in
      if thread == 8 {
        usleep(30_000)
        return try garage.close()
      }
      for round in 0... {
        let id = thread * 1000 + round
        do { try garage.park(Counter(id: id)) } catch GarageError.closed {
          closedCount.add(1, ordering: .relaxed)
          return
        }
        acknowledged.withLock { _ = $0.insert(id) }
      }
    }
    #expect(closedCount.load(ordering: .relaxed) == 8)
  }
}

import Foundation
import GarageConformance
import GarageDriver
import GarageStorage
import Synchronization
import Testing

/// Transactions: all or nothing, one state for each reader, and users' code that calls the garage inside them.
@Suite struct TransactionTests {
  struct Stop: Error, Equatable {}

  @Test(arguments: Backend.allCases)
  func aWriteIsAllOrNothing(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    let garage = try Garage(driver)
    try garage.park(Counter(id: 1, value: 1))
    let before = try Driver.contents(driver)
    #expect(throws: Stop()) {
      try garage.write { writer in
        try writer.park(Counter(id: 2))
        try writer.parkAll([Counter(id: 3), Counter(id: 1, value: 9)])
        try writer.park(Address(street: "a", city: "b"))
        try writer.delete(Counter.self, identifier: 2)
        try writer.deleteAll(Counter.self)
        #expect(try writer.count(Counter.self) == 0)
        try writer.deleteAllObjects()
        throw Stop()
      }
    }
    #expect(try Driver.contents(driver) == before)

    let sum = try garage.write { writer in
      try writer.park(Counter(id: 2, value: 2))
      try writer.delete(Counter.self, identifier: 1)
      #expect(try writer.retrieveAll(Counter.self) == [Counter(id: 2, value: 2)])
      #expect(try writer.contains(Counter.self, identifier: 2))
      #expect(try writer.retrieve(Counter.self, identifier: "2")?.value == 2)
      // The garage itself goes on with the last commit.
      #expect(try garage.retrieveAll(Counter.self) == [Counter(id: 1, value: 1)])
      #expect(try garage.read { try $0.contains(Counter.self, identifier: 1) })
      return try writer.retrieveAll(Counter.self).reduce(0) { $0 + $1.value }
    }
    #expect(sum == 2)
    #expect(try place.reopened(garage).retrieveAll(Counter.self) == [Counter(id: 2, value: 2)])
  }

  /// A verb that fails inside a write did nothing, and the write can go on.
  @Test(arguments: Backend.allCases)
  func aFailedVerbLeavesTheWriteAsItWas(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.write { writer in
      try writer.park(Counter(id: 1))
      let bad = Crowd(id: "a", members: [Counter(id: 2)], moody: Moody(1, refusesToEncode: true))
      #expect(throws: Moody.Mood()) { try writer.park(bad) }
      #expect(throws: GarageError.failedToRetrieveObject("Counter", "5")) {
        try writer.delete(Counter.self, identifier: 5)
      }
      #expect(throws: GarageError.missingConformance("Shapeless")) { try writer.park(any: Shapeless()) }
      try writer.park(Counter(id: 3))
    }
    #expect(try garage.retrieveAll(Counter.self).map(\.id) == [1, 3])
  }

  @Test(arguments: Backend.allCases)
  func readsSeeOneState(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll([Counter(id: 1), Counter(id: 2)])
    try garage.read { reader in
      #expect(try reader.count(Counter.self) == 2)
      try garage.park(Counter(id: 3))
      try garage.delete(Counter.self, identifier: 1)
      #expect(try reader.retrieveAll(Counter.self).map(\.id) == [1, 2])
      #expect(try garage.retrieveAll(Counter.self).map(\.id) == [2, 3])
      try garage.read { inner in
        let ids = try inner.retrieveAll(Counter.self).map(\.id)
        #expect(ids == [2, 3])
        #expect(try reader.retrieveAll(Counter.self).map(\.id) == [1, 2])
      }
    }
  }

  @Test(arguments: Backend.allCases)
  func aNestedWriteIsRefused(_ backend: Backend) throws {
    let driver = try Place(backend).open()
    let garage = try Garage(driver)
    let other = try Garage(driver)
    try garage.park(Counter(id: 9))
    for autosaves in [true, false] {
      garage.isAutosaveEnabled = autosaves
      try garage.write { writer in
        #expect(throws: GarageError.nestedWrite) { try garage.write { _ in } }
        #expect(throws: GarageError.nestedWrite) { try garage.park(Counter(id: 1)) }
        #expect(throws: GarageError.nestedWrite) { try garage.delete(Counter.self, identifier: 9) }
        #expect(throws: GarageError.nestedWrite) { try garage.deleteAllObjects() }
        #expect(throws: GarageError.nestedWrite) {
          try garage.withAutosaveDisabled { try garage.park(Counter(id: 2)) }
        }
        #expect(throws: GarageError.nestedWrite) { try other.park(Counter(id: 1)) }
        try writer.park(Counter(id: 3))
      }
    }
    try garage.save()
    #expect(try garage.retrieveAll(Counter.self).map(\.id) == [3, 9])
  }

  @Test(arguments: Backend.allCases)
  func transactionsEndWithTheirClosures(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Counter(id: 1))
    for autosaves in [true, false] {
      garage.isAutosaveEnabled = autosaves
      let (reader, writer) = (try garage.read { $0 }, try garage.write { $0 })
      let verbs: [() throws -> Void] = [
        { _ = try reader.retrieve(Counter.self, identifier: 1) },
        { _ = try reader.retrieveAll(Counter.self) },
        { _ = try reader.count(Counter.self) }, { _ = try writer.contains(Counter.self, identifier: 1) },
        { try reader.forEach(Counter.self) { _ in } }, { try writer.park(Counter(id: 2)) },
        { try writer.delete(Counter.self, identifier: 1) }, { try writer.deleteAllObjects() },
      ]
      for (number, verb) in verbs.enumerated() {
        #expect(throws: GarageError.transactionEnded, "verb \(number)") { try verb() }
      }
    }
    #expect(try garage.retrieveAll(Counter.self).map(\.id) == [1])
  }

  @Test(arguments: Backend.allCases, [true, false])
  func writersMayChangeWhatTheyVisit(_ backend: Backend, autosaves: Bool) throws {
    let garage = try Place(backend).garage()
    garage.isAutosaveEnabled = autosaves
    try garage.parkAll((0..<600).map { Counter(id: $0) })
    var visited: [Counter] = []
    try garage.write { writer in
      try writer.forEach(Counter.self) { counter in
        visited.append(counter)
        switch counter.id % 3 {
        case 0: try writer.park(Counter(id: counter.id, value: 1))
        case 1: try writer.delete(counter)
        default: try writer.park(Counter(id: counter.id + 10_000))
        }
        // What changes before its turn is met as it is then.
        if counter.id == 0 {
          try writer.park(Counter(id: 599, value: 5))
          try writer.delete(Counter.self, identifier: 598)
        }
      }
    }
    #expect(visited.map(\.id) == (0..<600).filter { $0 != 598 })
    #expect(visited.last?.value == 5)
    let after = try garage.retrieveAll(Counter.self)
    #expect(after.count(where: { $0.id % 3 == 1 && $0.id < 600 }) == 0)
    #expect(after.count(where: { $0.id >= 10_000 }) == 200)
  }

  /// An object that was loaded behind another one and then changed is met as it is then.
  @Test(arguments: Backend.allCases)
  func writersVisitObjectsAsTheyAre(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let (a, b) = (Person("a", age: 1), Person("b", age: 1))
    a.brother = b
    try garage.park(a)
    var ages: [Int] = []
    try garage.write { writer in
      try writer.forEach(Person.self) { person in
        ages.append(person.age)
        if person.id == "a" {
          #expect(person.brother?.age == 1)
          try writer.park(Person("b", age: 2))
        }
      }
    }
    #expect(ages == [1, 2])
  }

  // MARK: Users' code that calls the garage while it is coded

  @Test(arguments: Backend.allCases, [true, false])
  func codeThatEncodesMayCallTheGarage(_ backend: Backend, autosaves: Bool) throws {
    let actions = Meddler.Actions()
    let garage = try Place(backend).garage(userInfo: [Meddler.key: actions])
    garage.isAutosaveEnabled = autosaves
    try garage.park(Counter(id: 1))
    // Outside of transactions everything is served.
    actions.onEncode = {
      #expect(try garage.retrieve(Counter.self, identifier: 1) != nil)
      try garage.park(Counter(id: 2))
      try garage.write { try $0.park(Counter(id: 3)) }
    }
    try garage.park(Meddler(1))
    #expect(try garage.count(Counter.self) == 3)

    // Inside a write, reads see the last commit and writes are told no.
    var isRefused = false
    actions.onEncode = {
      #expect(try garage.retrieve(Counter.self, identifier: 4) == nil)
      do { try garage.park(Counter(id: 5)) } catch GarageError.nestedWrite { isRefused = true }
    }
    try garage.write { writer in
      try writer.park(Counter(id: 4))
      try writer.park(Meddler(2))
    }
    #expect(isRefused)
    #expect(try garage.retrieveAll(Counter.self).map(\.id) == [1, 2, 3, 4])
    #expect(try garage.count(Meddler.self) == 2)

    // An error of such a call is an error of the coding.
    actions.onEncode = { try garage.park(Counter(id: 6)) }
    #expect(throws: GarageError.nestedWrite) { try garage.write { try $0.park(Meddler(3)) } }
    #expect(try garage.count(Meddler.self) == 2)
  }

  @Test(arguments: Backend.allCases, [true, false])
  func codeThatDecodesMayCallTheGarage(_ backend: Backend, autosaves: Bool) throws {
    let actions = Meddler.Actions()
    let garage = try Place(backend).garage(userInfo: [Meddler.key: actions])
    garage.isAutosaveEnabled = autosaves
    try garage.parkAll((1...3).map { Meddler($0) })
    try garage.park(Counter(id: 1))

    actions.onDecode = {
      let counter = try #require(try garage.retrieve(Counter.self, identifier: 1))
      try garage.park(Counter(id: 1, value: counter.value + 1))
      try garage.delete(Counter.self, identifier: 1)
      try garage.write { try $0.park(Counter(id: 1, value: counter.value + 1)) }
    }
    #expect(try garage.retrieveAll(Meddler.self).count == 3)
    try garage.forEach(Meddler.self) { _ in }
    #expect(try garage.retrieve(Meddler.self, identifier: 1) != nil)
    #expect(try garage.retrieve(Counter.self, identifier: 1)?.value == 7)

    var refusals = 0
    actions.onDecode = {
      #expect(try garage.retrieve(Counter.self, identifier: 1)?.value == 7)
      do { try garage.park(Counter(id: 2)) } catch GarageError.nestedWrite { refusals += 1 }
    }
    try garage.write { writer in
      try writer.park(Counter(id: 1, value: 8))
      #expect(try writer.retrieve(Meddler.self, identifier: 1) != nil)
      #expect(try writer.retrieveAll(Meddler.self).count == 3)
    }
    #expect(refusals == 4)
    #expect(try garage.retrieve(Counter.self, identifier: 1)?.value == 8)
  }

  /// The same object, retrieved by itself while it is decoded, ends at the limit of nested reads.
  @Test(arguments: Backend.allCases)
  func endlessRetrievingEnds(_ backend: Backend) throws {
    let actions = Meddler.Actions()
    let garage = try Place(backend).garage(userInfo: [Meddler.key: actions])
    try garage.park(Meddler(1))
    actions.onDecode = { _ = try garage.retrieve(Meddler.self, identifier: 1) }
    #expect {
      try garage.retrieve(Meddler.self, identifier: 1)
    } throws: { error in
      switch error as? GarageError {
      case .storage(let error): error.kind == .readersFull
      case .nestingTooDeep: true
      default: false
      }
    }
    actions.onDecode = {}
    #expect(try garage.retrieve(Meddler.self, identifier: 1) != nil)
  }

  // MARK: Trying again

  @Test func verbsAreRepeatedWhereTheEngineAsksForIt() throws {
    let storage = ConflictingStorage(try Place(.sqlite).open())
    let garage = try Garage(storage)
    storage.conflicts.store(3, ordering: .relaxed)
    try garage.park(Counter(id: 1))
    storage.conflicts.store(2, ordering: .relaxed)
    try garage.delete(Counter.self, identifier: 1)
    #expect(try garage.count(Counter.self) == 0)
    garage.isAutosaveEnabled = false
    try garage.park(Counter(id: 2))
    storage.conflicts.store(2, ordering: .relaxed)
    try garage.save()
    #expect(!garage.hasUnsavedChanges)
    garage.isAutosaveEnabled = true

    // Not without end.
    storage.conflicts.store(1000, ordering: .relaxed)
    #expect {
      try garage.park(Counter(id: 1))
    } throws: { error in
      (error as? GarageError)?.isRetryable == true
    }
    #expect(storage.conflicts.load(ordering: .relaxed) > 900)
  }

  @Test func closuresAreRepeatedOnlyWhenAsked() throws {
    let storage = ConflictingStorage(try Place(.sqlite).open())
    let garage = try Garage(storage)
    var runs = 0
    storage.conflicts.store(1, ordering: .relaxed)
    #expect {
      try garage.write { writer in
        runs += 1
        try writer.park(Counter(id: 1))
      }
    } throws: { ($0 as? GarageError)?.isRetryable == true }
    #expect(runs == 1)
    #expect(try garage.count(Counter.self) == 0)
    storage.conflicts.store(2, ordering: .relaxed)
    try garage.write(retrying: 2) { writer in
      runs += 1
      try writer.park(Counter(id: 1))
    }
    #expect(runs == 4)
    #expect(try garage.count(Counter.self) == 1)
    // An error of the closure's own is none of the engine's.
    #expect(throws: Stop()) {
      try garage.write(retrying: 5) { _ in
        runs += 1
        throw Stop()
      }
    }
    #expect(runs == 5)
  }

  // MARK: Threads

  @Test(arguments: Backend.allCases)
  func manyThreadsKeepASum(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let (accounts, rounds) = (8, 40)
    try await garage.parkAll((0..<accounts).map { Counter(id: $0, value: 100) })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(task))
          for _ in 0..<rounds {
            let (from, to) = (
              Int.random(in: 0..<accounts, using: &generator), Int.random(in: 0..<accounts, using: &generator)
            )
            guard from != to else { continue }
            try garage.write(retrying: 1000) { writer in
              var (a, b) = (
                try #require(try writer.retrieve(Counter.self, identifier: from)),
                try #require(try writer.retrieve(Counter.self, identifier: to))
              )
              a.value -= 7
              b.value += 7
              try writer.parkAll([a, b])
            }
          }
        }
        group.addTask {
          for _ in 0..<rounds {
            let total = try garage.retrieveAll(Counter.self).reduce(0) { $0 + $1.value }
            #expect(total == accounts * 100)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

/// Lets writes fail at their commit, as engines do whose transactions may lose against others.
private final class ConflictingStorage: StorageDriver {
  private let base: any StorageDriver
  /// How many commits are going to fail.
  let conflicts = Atomic<Int>(0)

  init(_ base: any StorageDriver) { self.base = base }

  var info: StorageInfo { base.info }
  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R { try base.read(body) }
  func close() throws { try base.close() }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write { transaction in
      let outcome = try body(transaction)
      if conflicts.load(ordering: .relaxed) > 0 {
        conflicts.subtract(1, ordering: .relaxed)
        throw StorageError(
          .conflict, during: .commit, driver: "test", isRetryable: true, message: "Try again.")
      }
      return outcome
    }
  }
}

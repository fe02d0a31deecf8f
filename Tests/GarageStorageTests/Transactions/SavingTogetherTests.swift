import Foundation
import GarageConformance
import GarageDriver
import GarageMemory
import GarageStorage
import Synchronization
import Testing

/// A change made with autosave on saves what is unsaved, too: all in one commit, or nothing.
@Suite struct SavingTogetherTests {
  struct Stop: Error, Equatable {}

  /// What changes something, each by a way of its own.
  enum Change: String, CaseIterable, Sendable {
    case park, parkAll, parkAny, delete, deleteAll, write, set, update, removeKey, clear, setStatus

    func make(_ garage: Garage) throws {
      switch self {
      case .park: try garage.park(Counter(id: 100))
      case .parkAll: try garage.parkAll([Counter(id: 100), Counter(id: 101)])
      case .parkAny: try garage.park(any: Counter(id: 100))
      case .delete: try garage.delete(Counter.self, identifier: 50)
      case .deleteAll: try garage.deleteAll(Animal.self)
      case .write: try garage.write { try $0.park(Counter(id: 100)) }
      case .set: try garage.set(.launchCount, value: 3)
      case .update: try garage.update(.launchCount) { $0 += 1 }
      case .removeKey: try garage.remove(.launchCount)
      case .clear: try garage.clear(OtherSpace.self)
      case .setStatus: try garage.setSyncStatus(.synced, for: SyncedNote(id: 1))
      }
    }
  }

  struct SyncedNote: Codable, Identifiable, Syncable {
    var id: Int
    var syncStatus = SyncStatus.notSynced
  }

  private func prepared(_ place: Place) throws -> Garage {
    let garage = try place.garage()
    try garage.park(Counter(id: 50))
    try garage.park(SyncedNote(id: 1))
    try garage.set(.launchCount, value: 1)
    return garage
  }

  @Test(arguments: Backend.allCases, Change.allCases)
  func eachChangeSavesWhatIsUnsaved(_ backend: Backend, _ change: Change) throws {
    let place = try Place(backend)
    let garage = try prepared(place)
    try garage.withAutosaveDisabled {
      try garage.park(Counter(id: 1, value: 1))
      try garage.set(.nickname, value: "Sam")
      try garage.parkAll([Person("Sam"), Person("Nick")])
    }
    #expect(garage.hasUnsavedChanges)
    try change.make(garage)
    #expect(!garage.hasUnsavedChanges)
    let later = try place.reopened(garage)
    #expect(try later.retrieve(Counter.self, identifier: 1) == Counter(id: 1, value: 1))
    #expect(try later.get(.nickname) == "Sam")
    #expect(try later.count(Person.self) == 2)
    // The change itself, too.
    switch change {
    case .park, .parkAll, .parkAny, .write: #expect(try later.contains(Counter.self, identifier: 100))
    case .delete: #expect(try !later.contains(Counter.self, identifier: 50))
    case .deleteAll, .clear: break
    case .set: #expect(try later.get(.launchCount) == 3)
    case .update: #expect(try later.get(.launchCount) == 2)
    case .removeKey: #expect(try later.get(.launchCount) == 0)
    case .setStatus: #expect(try later.syncStatus(for: SyncedNote(id: 1)) == .synced)
    }
  }

  /// Six objects that were visible were gone after a restart.
  @Test(arguments: Backend.durable)
  func nothingIsSwallowedAfterAClosureWithoutAutosave(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.withAutosaveDisabled { try garage.park(Counter(id: 0)) }
    for id in 1..<6 { try garage.park(Counter(id: id)) }
    #expect(try garage.count(Counter.self) == 6)
    // As if the process had ended: nothing is saved on the way.
    garage = try place.garage()
    #expect(try garage.count(Counter.self) == 6)
  }

  @Test(arguments: Backend.allCases)
  func changesReachTheStoreInTheirOrder(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    let (garage, other) = (try Garage(driver), try Garage(driver))
    try garage.withAutosaveDisabled {
      try garage.park(Counter(id: 1, value: 1))
      try garage.park(Counter(id: 2, value: 1))
      try garage.delete(Counter.self, identifier: 2)
    }
    try garage.write { writer in
      #expect(try writer.retrieve(Counter.self, identifier: 1)?.value == 1)
      #expect(try writer.retrieve(Counter.self, identifier: 2) == nil)
      // A read beside the writer sees the last commit and what is unsaved before it.
      #expect(try garage.retrieve(Counter.self, identifier: 1)?.value == 1)
      #expect(try other.retrieve(Counter.self, identifier: 1) == nil)
      try writer.park(Counter(id: 1, value: 2))
      try writer.park(Counter(id: 2, value: 2))
    }
    #expect(try other.retrieveAll(Counter.self) == [Counter(id: 1, value: 2), Counter(id: 2, value: 2)])
  }

  @Test(arguments: Backend.allCases)
  func whereTheChangeThrowsNothingIsSavedAndNothingLost(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    let garage = try Garage(driver)
    try garage.park(Counter(id: 50))
    let before = try Driver.contents(driver)
    try garage.withAutosaveDisabled { try garage.park(Counter(id: 1, value: 1)) }
    #expect(throws: Stop()) {
      try garage.write { writer in
        try writer.park(Counter(id: 2))
        throw Stop()
      }
    }
    #expect(throws: GarageError.failedToRetrieveObject("Counter", "7")) {
      try garage.delete(Counter.self, identifier: 7)
    }
    #expect(throws: Moody.Mood()) {
      try garage.park(Crowd(id: "a", members: [Counter(id: 3)], moody: Moody(1, refusesToEncode: true)))
    }
    #expect(throws: Stop()) { try garage.update(.launchCount) { _ in throw Stop() } }
    #expect(garage.hasUnsavedChanges)
    #expect(try Driver.contents(driver) == before)
    #expect(try garage.retrieveAll(Counter.self) == [Counter(id: 1, value: 1), Counter(id: 50)])
    // What was unsaved can still be dropped, and saved.
    try garage.withAutosaveDisabled { try garage.park(Counter(id: 2)) }
    try garage.park(Counter(id: 3))
    #expect(try Garage(driver).retrieveAll(Counter.self).map(\.id) == [1, 2, 3, 50])
  }

  /// Each operation of the storage fails in turn: begin, put, commit.
  @Test(arguments: Backend.faulty)
  func whereTheStorageFailsNothingIsSavedAndNothingLost(_ backend: Backend) throws {
    let place = try Place(backend)
    let driver = try place.open()
    let garage = try Garage(driver)
    try garage.park(Counter(id: 0))
    let before = try Driver.contents(driver)
    try garage.withAutosaveDisabled {
      try garage.parkAll((1..<4).map { Counter(id: $0) })
      try garage.park(Person("Sam"))
    }
    for operation in [StorageError.Operation.write, .put, .commit] {
      // So many as there are in the whole transaction, as found by letting it fail until it succeeds.
      for failure in 0..<(operation == .put ? 4 : 1) {
        place.plan.reset()
        place.plan.fail(operation, after: failure, with: .storageFull)
        #expect(throws: GarageError.self, "\(operation) \(failure)") { try garage.park(Counter(id: 9)) }
        place.plan.reset()
        #expect(garage.hasUnsavedChanges)
        #expect(try garage.retrieveAll(Counter.self).map(\.id) == [0, 1, 2, 3])
        #expect(try Driver.contents(driver) == before)
      }
    }
    try garage.park(Counter(id: 9))
    #expect(!garage.hasUnsavedChanges)
    let other = try Garage(driver)
    #expect(try other.retrieveAll(Counter.self).map(\.id) == [0, 1, 2, 3, 9])
    #expect(try other.retrieve(Person.self, identifier: "Sam") != nil)
  }

  @Test(arguments: Backend.allCases)
  func discardingInsideTheChangeMakesItThrow(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.withAutosaveDisabled { try garage.park(Counter(id: 1)) }
    #expect(throws: GarageError.unsavedChangesDiscarded) {
      try garage.write { writer in
        try writer.park(Counter(id: 2))
        garage.discardUnsavedChanges()
      }
    }
    #expect(!garage.hasUnsavedChanges)
    #expect(try garage.count(Counter.self) == 0)
    try garage.park(Counter(id: 3))
    #expect(try garage.retrieveAll(Counter.self).map(\.id) == [3])
  }

  // MARK: Hooks

  /// Counts the hooks of its keys, in the task that a test runs in.
  enum CountedSpace: Namespace {
    final class Counts: Sendable {
      /// Pre, post, did.
      let counts = Mutex([0, 0, 0])
      let refuses = Mutex(false)
    }
    @TaskLocal static var current: Counts?
    static let id = "counted"
    static func preCommitHook() throws {
      current?.counts.withLock { $0[0] += 1 }
      if current?.refuses.withLock({ $0 }) == true { throw Stop() }
    }
    static func postCommitHook() { current?.counts.withLock { $0[1] += 1 } }
  }

  struct CountedKey: KeyType {
    typealias NamespaceType = CountedSpace
    typealias ValueType = Int
    var stringValue = "counted"
    var defaultValue = 0
    func didChange(_ oldValue: Int, newValue: Int) {
      CountedSpace.current?.counts.withLock { $0[2] += 1 }
    }
  }

  @Test(arguments: Backend.engines)
  func hooksOfUnsavedChangesRunAroundTheCommitThatSavesThem(_ backend: Backend) throws {
    let counts = CountedSpace.Counts()
    let garage = try Place(backend).garage()
    let key = CountedKey()
    try CountedSpace.$current.withValue(counts) {
      try garage.withAutosaveDisabled {
        try garage.set(key, value: 1)
        try garage.set(key, value: 2)
      }
      #expect(counts.counts.withLock(\.self) == [0, 0, 0])
      counts.refuses.withLock { $0 = true }
      #expect(throws: Stop()) { try garage.park(Counter(id: 1)) }
      #expect(counts.counts.withLock(\.self) == [1, 0, 0])
      #expect(garage.hasUnsavedChanges)
      #expect(try garage.get(key) == 2)
      #expect(try garage.count(Counter.self) == 0)
      counts.refuses.withLock { $0 = false }
      try garage.park(Counter(id: 1))
      #expect(counts.counts.withLock(\.self) == [2, 1, 2])
      try garage.park(Counter(id: 2))
      #expect(counts.counts.withLock(\.self) == [2, 1, 2])
    }
  }

  /// An attempt that came too late changes nothing, and no hook runs after it.
  @Test(arguments: Backend.engines)
  func hooksRunOnceForEachCommit(_ backend: Backend) async throws {
    let counts = CountedSpace.Counts()
    let garage = try Place(backend).garage()
    let key = CountedKey()
    try await CountedSpace.$current.withValue(counts) {
      var isOvertaken = false
      try await garage.update(key) { value in
        if !isOvertaken { try here { try garage.set(key, value: 10) } }
        isOvertaken = true
        value += 1
      }
    }
    #expect(try await garage.get(key) == 11)
    // Before each of the three that were tried.
    #expect(counts.counts.withLock(\.self) == [3, 2, 2])
  }

  // MARK: Readers

  private final class Flag: Sendable {
    let isSet = Atomic<Bool>(false)
  }

  /// A reader never sees what is unsaved before a state of the store that has newer changes in the same commit.
  @Test(arguments: Backend.engines)
  func readersSeeTheCommitAsAWhole(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    try await garage.parkAll([Counter(id: 1), Counter(id: 2)])
    let isDone = Flag()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { isDone.isSet.store(true, ordering: .releasing) }
        for value in 1...400 {
          // Unsaved: 1 is ahead. Saved: both are equal, and 1 is not what was unsaved.
          try garage.withAutosaveDisabled { try garage.park(Counter(id: 1, value: 2 * value - 1)) }
          try garage.parkAll([Counter(id: 1, value: 2 * value), Counter(id: 2, value: 2 * value)])
        }
      }
      for _ in 0..<3 {
        group.addTask {
          var last = 0
          while !isDone.isSet.load(ordering: .acquiring) {
            let values = try garage.retrieveAll(Counter.self).map(\.value)
            let isWhole = values[0] == values[1] || (values[0] == values[1] + 1 && values[0] % 2 == 1)
            #expect(isWhole, "\(values)")
            #expect(values[0] >= last, "\(values) after \(last)")
            last = values[0]
            if !isWhole { return }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await garage.retrieveAll(Counter.self).map(\.value) == [800, 800])
  }
}

import Foundation
import GarageDriver
import GarageLMDB
import GarageSQLite
import GarageStorage
import Testing

/// Many who change one key at once.
@Suite(.serialized) struct KeyRaceTests {
  /// A storage whose commits do not wait for the disk, where the engine can do without.
  private func relaxed(_ place: Place) throws -> any StorageDriver {
    switch place.backend {
    case .sqlite:
      var options = SQLiteStorage.Options()
      options.durability = .normal
      return try SQLiteStorage(at: place.storePath, options: options)
    case .lmdb:
      return try LMDBStorage(
        at: place.storePath, options: LMDBStorage.Options(durability: .normal, mapByteCount: 1 << 28))
    default: return try place.open()
    }
  }

  @Test(arguments: Backend.allCases)
  func aHundredThreadsCountToAHundredThousand(_ backend: Backend) throws {
    let garage = try Garage(relaxed(Place(backend)))
    try Threads.run(100) { _ in
      for _ in 0..<1000 { try garage.update(.launchCount) { $0 += 1 } }
    }
    #expect(try garage.get(.launchCount) == 100_000)
  }

  /// Some threads' changes are saved at once, others' join those that are not.
  @Test(arguments: Backend.allCases)
  func countingWithUnsavedChanges(_ backend: Backend) throws {
    let garage = try Garage(relaxed(Place(backend)))
    try Threads.run(10) { thread in
      for round in 0..<100 {
        if thread % 2 == 0 {
          try garage.update(.launchCount) { $0 += 1 }
        } else {
          try garage.withAutosaveDisabled { _ = try garage.update(.launchCount) { $0 += 1 } }
          if round % 10 == 0 { try garage.save() }
        }
      }
    }
    try garage.save()
    #expect(try garage.get(.launchCount) == 1000)
  }

  @Test(arguments: [Backend.sqlite, .lmdb])
  func fourProcessesCountToAHundredThousand(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try Garage(relaxed(place))
    let children = try (0..<4).map { _ in
      try Child("count-key", backend.rawValue, place.storePath.path, "25000")
    }
    for child in children { #expect(try child.firstLine().hasPrefix("ready=")) }
    for child in children { try child.send("go") }
    for child in children { #expect(try child.wait()["counted"] == "25000") }
    #expect(try garage.get(Key<GlobalNamespace, Int>(id: "count", defaultValue: 0)) == 100_000)
    try garage.close()
  }
}

import Foundation
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageStorage

/// A garage on one of its drivers.
final class GarageStore: StoreUnderTest {
  let who: String
  private let garage: Garage
  private let workload: Workload
  private let isDurable: Bool

  init(_ who: String, _ driver: any StorageDriver, _ workload: Workload) throws {
    self.who = who
    self.workload = workload
    isDurable = driver.info.isDurable
    garage = try Self.garage(driver)
  }

  /// A garage that works on one core, as the peers do: what more of them give has rows of its own, by the clock.
  static func garage(_ driver: any StorageDriver, types: [any Codable.Type] = []) throws -> Garage {
    let garage = try Garage(driver, types: types)
    garage.usesSeveralCores = false
    return garage
  }

  static func memory(_ workload: Workload) throws -> GarageStore {
    try GarageStore("memory", memoryDriver(), workload)
  }

  static func sqlite(at folder: URL, _ workload: Workload) throws -> GarageStore {
    try GarageStore("sqlite", sqliteDriver(at: folder), workload)
  }

  static func lmdb(at folder: URL, _ workload: Workload) throws -> GarageStore {
    try GarageStore("lmdb", lmdbDriver(at: folder), workload)
  }

  static func memoryDriver() -> any StorageDriver { MemoryStorage() }

  static func sqliteDriver(at folder: URL) throws -> any StorageDriver {
    // The defaults, said aloud: they are what the peers are set to.
    var options = SQLiteStorage.Options()
    options.durability = .full
    options.cacheByteCount = SQLiteSettings.writerCacheByteCount
    options.memoryMapByteCount = SQLiteSettings.memoryMapByteCount
    options.walCheckpointByteCount = SQLiteSettings.checkpointByteCount
    return try SQLiteStorage(at: folder.appending(path: "garage"), options: options)
  }

  static func lmdbDriver(at folder: URL) throws -> any StorageDriver {
    try LMDBStorage(at: folder, options: LMDBStorage.Options(durability: .full))
  }

  func close() throws { try garage.close() }

  var settings: String {
    switch who {
    case "sqlite":
      """
      driver's options: WAL, synchronous FULL, cache 64 MiB (readers 16), mmap 256 MiB, copies the log from 1000 pages on \
      and empties it from 16 MiB on
      """
    case "lmdb": "driver's options: durable commits, MDB_NOTLS"
    default: "persistent tree, nothing to set"
    }
  }

  var operations: [Operation] {
    let (garage, workload) = (garage, workload)
    let retrieved = Retrieved()
    let retrieve: (Range<Int>) throws -> Void = { range in
      for index in range {
        if let person = try garage.retrieve(Person.self, identifier: workload.wantedIDs[index]) {
          retrieved.people.append(person)
        }
      }
    }
    return [
      Operation(
        name: Name.parkAll, who: who, count: workload.people.count,
        run: { try garage.parkAll(workload.people) },
        verify: {
          try WrongResult.unless(garage.count(Person.self) == workload.people.count, "objects are missing")
        }),
      Operation(
        name: Name.parkShuffled, who: who, count: workload.shuffled.count,
        run: { try garage.parkAll(workload.shuffled) },
        verify: {
          try WrongResult.unless(garage.count(Person.self) == workload.people.count, "objects are missing")
        }),
      Operation(
        name: Name.retrieve, who: who, count: workload.wantedIDs.count,
        prepare: { retrieved.prepare(workload.wantedIDs.count) },
        run: { try retrieve(workload.wantedIDs.indices) }, runPart: retrieve,
        verify: { try retrieved.verify(workload.wantedPeople) }),
      Operation(
        name: Name.retrieveTogether, who: who, count: workload.wantedIDs.count,
        prepare: { retrieved.prepare(workload.wantedIDs.count) },
        run: {
          try garage.read { reader in
            for id in workload.wantedIDs {
              if let person = try reader.retrieve(Person.self, identifier: id) {
                retrieved.people.append(person)
              }
            }
          }
        },
        verify: { try retrieved.verify(workload.wantedPeople) }),
      Operation(
        name: Name.retrieveAll, who: who, count: workload.people.count,
        prepare: { retrieved.people = [] },
        run: { retrieved.people = try garage.retrieveAll(Person.self) },
        verify: { try retrieved.verify(workload.people) }),
      Operation(
        name: Name.parkAgain, who: who, count: workload.people.count,
        run: { try garage.parkAll(workload.people) },
        verify: {
          let count = try garage.count(Person.self)
          try WrongResult.unless(count == workload.people.count, "\(count) are there")
        }),
      Operation(
        name: isDurable ? Name.parkOne : Name.parkOneInMemory, who: who, count: workload.additional.count,
        run: { for person in workload.additional { try garage.park(person) } },
        verify: {
          for person in workload.additional {
            let found = try garage.retrieve(Person.self, identifier: person.id)
            try WrongResult.unless(found == person, "\(person.id) is missing or another")
          }
        }),
      Operation(
        name: Name.delete, who: who, count: workload.unwantedIDs.count,
        run: {
          try garage.write { writer in
            for id in workload.unwantedIDs { try writer.delete(Person.self, identifier: id) }
          }
        },
        verify: {
          let left = try garage.count(Person.self)
          let expected = workload.people.count + workload.additional.count - workload.unwantedIDs.count
          try WrongResult.unless(left == expected, "\(left) are left, not \(expected)")
        }),
    ]
  }
}

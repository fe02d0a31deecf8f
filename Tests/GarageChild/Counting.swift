import Foundation
import GarageDriver
import GarageLMDB
import GarageSQLite
import GarageStorage

/// Adds to a key that other processes add to at the same time.
enum Counting {
  static func run(_ driver: String, at path: String, rounds: Int) throws {
    let garage = try Garage(relaxed(driver, at: path))
    let key = Key<GlobalNamespace, Int>(id: "count", defaultValue: 0)
    Command.report(["ready": "yes"])
    _ = readLine()
    for _ in 0..<rounds {
      while true {
        do {
          try garage.update(key) { $0 += 1 }
          break
        } catch let error as GarageError where error.isRetryable {
          // Another process had the store for longer than an engine waits.
        }
      }
    }
    Command.report(["counted": rounds])
    try garage.close()
  }

  /// Commits that do not wait for the disk, where the engine can do without.
  private static func relaxed(_ driver: String, at path: String) throws -> any StorageDriver {
    if driver == "postgres" { return try openStorage(driver, at: path) }
    let url = URL(fileURLWithPath: path)
    if driver == "lmdb" { return try LMDBStorage(at: url, options: LMDBStorage.Options(durability: .normal)) }
    var options = SQLiteStorage.Options()
    options.durability = .normal
    return try SQLiteStorage(at: url, options: options)
  }
}

enum Holding {
  /// Writes into a storage until it reads a line.
  static func run(_ storage: any StorageDriver) throws {
    try storage.write { transaction in
      try transaction.removeAll(in: .all)
      Command.report(["ready": "yes"])
      _ = readLine()
      return .rollBack(())
    }
    try storage.close()
  }
}

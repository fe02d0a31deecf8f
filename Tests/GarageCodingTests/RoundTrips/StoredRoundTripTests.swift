import Foundation
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageStorage
import Testing

/// The same table of values, through a garage that is closed and opened again.
@Suite(.serialized) struct StoredRoundTripTests {
  @Test(arguments: ["memory", "sqlite", "lmdb"])
  func everyCaseComesBackFromAStore(_ driver: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "garage-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let memory = MemoryStorage()
    func open() throws -> any StorageDriver {
      switch driver {
      case "sqlite": try SQLiteStorage(at: folder.appending(path: "store"))
      case "lmdb": try LMDBStorage(at: folder.appending(path: "store"))
      default: memory
      }
    }

    // The longest one takes as long as all others.
    let cases = RoundTripTests.cases.filter {
      driver == "memory" || LongTests.areWanted || !$0.name.contains("70000 structs")
    }
    var store = GarageStore(garage: try Garage(open()))
    for (id, testCase) in cases.enumerated() { try testCase.keep(id, store) }
    try store.garage.close()
    store = GarageStore(garage: try Garage(open()))
    for (id, testCase) in cases.enumerated() { try testCase.check(id, store) }
    try store.garage.close()
  }

  private struct GarageStore: HolderStore {
    var garage: Garage
    func keep<T: Codable>(_ holder: Holder<T>) throws { try garage.park(holder) }
    func holder<T: Codable>(of type: T.Type, id: Int) throws -> Holder<T>? {
      try garage.retrieve(Holder<T>.self, identifier: id)
    }
  }
}

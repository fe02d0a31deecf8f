import Foundation
import GRDB
import GarageStorage

/// The stores that questions are put to: garages on each of the three drivers, and databases of GRDB, on disk and in memory.
struct QueriedStores {
  static let records = "GRDB columns"

  let garages: [(who: String, garage: Garage)]
  /// What stands behind ``records`` in the name of each, and the database.
  let databases: [(suffix: String, database: any DatabaseWriter)]

  /// Opens the stores that `only` names, or all of them where it is empty, each in a new folder below `root`.
  init(_ only: [String], below root: URL) throws {
    func isOpen(_ name: String) -> Bool { only.isEmpty || only.contains(name) }
    func place(_ name: String) throws -> URL {
      let folder = root.appending(path: name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return folder
    }
    var garages: [(who: String, garage: Garage)] = []
    if isOpen("memory") { garages.append(("memory", try Garage(GarageStore.memoryDriver()))) }
    if isOpen("sqlite") {
      garages.append(("sqlite", try Garage(GarageStore.sqliteDriver(at: place("sqlite")))))
    }
    if isOpen("lmdb") { garages.append(("lmdb", try Garage(GarageStore.lmdbDriver(at: place("lmdb"))))) }
    self.garages = garages
    databases =
      try isOpen(Self.records)
      ? [("", GRDBStore.open(at: place("grdb"))), (", in memory", GRDBStore.open(at: nil))] : []
  }

  func close() throws {
    for (_, garage) in garages { try garage.close() }
    for (_, database) in databases { try database.close() }
  }
}

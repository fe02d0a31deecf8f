import Foundation
import GarageDriver
import GarageLMDB
import GarageSQLite
import GarageSealing
import GarageStorage
import InsecureSealer

/// Does one of the verbs that go through whole stores again and again, until it is killed.
enum Caring {
  /// What the stores hold. Its name does not depend on the module.
  struct Thing: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "thing" }
    var id: Int
    var text = ""
    var next: Reference<Thing>?
  }

  /// What has entries that follow from its records.
  struct Chore: Codable, Identifiable, TypeTagged, Syncable, Indexed {
    static var typeTag: String { "chore" }
    static var indexes: [Index<Chore>] { [Index(\.group, .readable)] }
    var id: Int
    var group: Int
    var syncStatus = SyncStatus.undetermined
  }

  /// Chores with every status.
  static func fillChores(_ garage: Garage, count: Int = 900) throws {
    try garage.parkAll(
      (0..<count).map { Chore(id: $0, group: $0 % 7, syncStatus: SyncStatus.allCases[$0 % 4]) })
  }

  /// Takes away every third entry that follows from a record.
  private static func spoil(_ storage: any StorageDriver) throws {
    try storage.write { transaction in
      var keys: [StorageKey] = []
      for space in [0x20, 0x21] as [UInt8] {
        var place = 0
        try transaction.scanKeys(.prefix([space]), .forward) { key in
          place += 1
          if place % 3 == 0 { keys.append(StorageKey(key)) }
          return .continue
        }
      }
      for key in keys { try transaction.remove(key) }
      return .commit(())
    }
  }

  /// The sealers between which a store is changed, to and fro.
  static let sealers = [InsecureTestSealer(key: 7), InsecureTestSealer(key: 8)]

  private static func rekey(_ url: URL, _ driver: String, _ round: Int) throws {
    let base = try openStorage(driver == "sealedSQLite" ? "sqlite" : driver, at: url.path)
    let storage = try SealedStorage(
      base, sealer: sealers[round % 2], formerSealers: [sealers[(round + 1) % 2]])
    guard try storage.rekey(batchCount: 40).isComplete else { throw Failure("not all opens") }
    try storage.close()
  }

  /// Parks what the trials begin with: things of which every second one leads to the next but one.
  static func fill(_ garage: Garage, count: Int = 600) throws {
    try garage.parkAll(
      (0..<count).map { id in
        Thing(
          id: id, text: String(repeating: "thing \(id) ", count: id % 50 == 0 ? 1200 : 5),
          next: id % 2 == 0 && id + 2 < count ? Reference(Thing.self, identifier: id + 2) : nil)
      })
  }

  /// - Parameters:
  ///   - place: where copies go, or the file or store that something is taken from.
  static func run(_ verb: String, _ storage: any StorageDriver, _ driver: String, _ place: String) throws
    -> Never
  {
    let garage = try Garage(storage)
    Command.report(["ready": 1])
    let url = URL(fileURLWithPath: place)
    var round = 0
    while true {
      round += 1
      switch verb {
      case "backup":
        try garage.park(Thing(id: 1, text: "round \(round)"))
        try garage.backup(to: url.appending(path: "copy-\(round)"), compacting: round % 2 == 0)
      case "compact":
        try garage.parkAll((10_000..<10_400).map { Thing(id: $0, text: String(repeating: "x", count: 300)) })
        for id in 10_000..<10_400 { try garage.delete(Thing.self, identifier: id) }
        try garage.compact()
      case "import":
        try garage.parkAll((0..<600).map { Thing(id: $0, text: "other") })
        try garage.import(from: url)
      case "export": try garage.export(to: url.appending(path: "export-\(round)"))
      case "salvage":
        let source: any SalvageSource = driver == "lmdb" ? LMDBPages(at: url) : SQLitePages(at: url)
        try GarageSalvage(
          from: driver == "sealedSQLite"
            ? try SealedPages(source, sealer: InsecureTestSealer(key: 7)) : source,
          into: garage
        ).run()
        try garage.deleteAll(Thing.self)
      case "repair":
        try spoil(storage)
        try garage.repair()
      case "copy":
        try garage.park(Thing(id: 1, text: "round \(round)"))
        let other = try openStorage(
          driver == "sqlite" ? "lmdb" : "sqlite", at: url.appending(path: "copy-\(round)").path)
        try garage.copy(to: other)
        try other.close()
      case "rekey": try rekey(url, driver, round)
      case "gc":
        // Those of odd numbers are reached by nobody.
        try garage.parkAll((0..<600).filter { $0 % 2 == 1 }.map { Thing(id: $0, text: "garbage") })
        try garage.collectGarbage(roots: [.object(Thing.self, identifier: 0)])
      default: throw Failure("\(verb) is no verb of these")
      }
    }
  }
}

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
        try garage.repair()
      case "gc":
        // Those of odd numbers are reached by nobody.
        try garage.parkAll((0..<600).filter { $0 % 2 == 1 }.map { Thing(id: $0, text: "garbage") })
        try garage.collectGarbage(roots: [.object(Thing.self, identifier: 0)])
      default: throw Failure("\(verb) is no verb of these")
      }
    }
  }
}

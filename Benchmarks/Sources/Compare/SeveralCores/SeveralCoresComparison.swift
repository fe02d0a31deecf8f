import Foundation
import GarageDriver
import GarageStorage

/// Many objects that refer to nothing, parked and retrieved with the machine's other cores, beside one core. Here the
/// clock counts: processor time is not saved.
struct SeveralCoresComparison {
  let folder: URL
  /// The stores to open; all where it is empty.
  let only: [String]
  let isWanted: (String) -> Bool

  private static let objects: [any FlatObject.Type] = [FlatContact.self, FlatReading.self]
  /// Says all of them, as the name of a row for `--only`.
  static let allName = "several cores"
  static let oneCore = "one core"
  private static func parkName(_ title: String) -> String { "park with several cores: \(title)" }
  private static func retrieveAllName(_ title: String) -> String { "retrieveAll with several cores: \(title)" }
  static let names = [allName] + objects.flatMap { [parkName($0.title), retrieveAllName($0.title)] }
  private static let subjects = ["memory", "sqlite", "lmdb"]
  private static let count = 100_000

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    var samples = Samples()
    let wanted = Self.objects.filter {
      isWanted(Self.allName) || isWanted(Self.parkName($0.title)) || isWanted(Self.retrieveAllName($0.title))
    }
    try rounds.run("several cores") { round in
      samples.beginRound()
      for type in wanted { try measure(type, round, &samples) }
    }
    return wanted.flatMap { type in
      [Self.parkName(type.title), Self.retrieveAllName(type.title)].flatMap { name in
        Self.subjects.compactMap { subject in
          ResultRow(name, subject, Self.oneCore, who: "\(subject), \(Self.oneCore)", samples)
        }
      }
    }
  }

  private func measure<T: FlatObject>(_ type: T.Type, _ round: Int, _ samples: inout Samples) throws {
    let root = folder.appending(path: "garage-compare-cores-\(getpid())")
    defer { try? FileManager.default.removeItem(at: root) }
    let objects = T.makeAll(Self.count)
    var stores: [(who: String, garage: Garage)] = []
    for subject in Self.subjects where only.isEmpty || only.contains(subject) {
      for isAlone in [false, true] {
        let folder = root.appending(path: "\(subject)-\(isAlone)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let garage = try Garage(driver(subject, at: folder))
        garage.usesSeveralCores = !isAlone
        stores.append((isAlone ? "\(subject), \(Self.oneCore)" : subject, garage))
      }
    }
    for (who, garage) in stores.rotated(by: round) {
      try samples.measure(
        Operation(
          name: Self.parkName(T.title), who: who, count: objects.count, run: { try garage.parkAll(objects) },
          verify: {}))
    }
    for pass in 0..<3 {
      for (who, garage) in stores.rotated(by: round + pass) {
        var found: [T] = []
        try samples.measure(
          Operation(
            name: Self.retrieveAllName(T.title), who: who, count: objects.count,
            run: { found = try garage.retrieveAll(T.self) },
            verify: { try WrongResult.unless(found == objects, "other objects came back") }))
      }
    }
    for (_, garage) in stores { try garage.close() }
  }

  private func driver(_ subject: String, at folder: URL) throws -> any StorageDriver {
    switch subject {
    case "memory": GarageStore.memoryDriver()
    case "sqlite": try GarageStore.sqliteDriver(at: folder)
    default: try GarageStore.lmdbDriver(at: folder)
    }
  }
}

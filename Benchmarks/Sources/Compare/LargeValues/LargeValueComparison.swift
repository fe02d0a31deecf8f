import Foundation
import GarageDriver
import GarageStorage

/// Objects with a large value each, and bare values of the same size, beside what each engine is fastest with: a table
/// of blobs by number in SQLite, LMDB itself, a dictionary.
///
/// Everybody ends with a copy of his own of each value that he gets, in memory that is let go at once.
struct LargeValueComparison {
  /// Where the stores are made.
  let folder: URL
  /// The stores to open; all where it is empty.
  let only: [String]

  static let name = "large values"
  static let names = [name]
  static let blobTable = "plain table of blobs"
  static let dictionary = "dictionary"

  /// How many values there are of each size, and how many are put in one transaction: enough that each commit is
  /// copied from SQLite's log into the file.
  static let sizes: [Size] = [
    Size(title: "5 KB", byteCount: 5_000, count: 5_000, part: 1_000, gets: 200),
    Size(title: "100 KB", byteCount: 100_000, count: 250, part: 50, gets: 25),
    Size(title: "2 MB", byteCount: 2_000_000, count: 20, part: 4, gets: 4),
  ]

  struct Size {
    var title: String
    var byteCount: Int
    var count: Int
    var part: Int
    var gets: Int

    var putName: String { "put \(title)" }
    var getName: String { "get \(title)" }
    var containsName: String { "contains, \(title) each" }
    var countName: String { "count, \(title) each" }
    var names: [String] { [putName, getName, containsName, countName] }
  }

  /// Those that must not be much slower than in a plain table of blobs.
  static let measuredNames = sizes.flatMap { [$0.putName, $0.getName] }

  /// Garages by the name of their driver, and the drivers alone.
  private static let subjects: [(subject: String, peer: String, who: String)] = [
    ("memory", dictionary, dictionary), ("memory driver", dictionary, dictionary),
    ("sqlite", blobTable, blobTable), ("sqlite driver", blobTable, blobTable),
    ("lmdb", RawStore.who, "raw C LMDB"), ("lmdb driver", RawStore.who, "raw C LMDB"),
  ]

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    var samples = Samples()
    let workloads = Self.sizes.map(LargeWorkload.init)
    try rounds.run(Self.name) { round in
      samples.beginRound()
      for workload in workloads { try runRound(round, workload, &samples) }
    }
    return Self.sizes.flatMap(\.names).flatMap { name in
      Self.subjects.compactMap { ResultRow(name, $0.subject, $0.peer, who: $0.who, samples) }
    }
  }

  private func runRound(_ round: Int, _ workload: LargeWorkload, _ samples: inout Samples) throws {
    let root = folder.appending(path: "garage-large-\(getpid())")
    defer { try? FileManager.default.removeItem(at: root) }
    let stores = try open(below: root, workload)
    let all = stores.map(\.operations)
    for number in 0..<4 {
      let operations = all.compactMap { $0.count > number ? $0[number] : nil }
      let part = number == 0 ? workload.size.part : number == 1 ? workload.size.gets : workload.order.count
      try samples.measureInParts(operations.rotated(by: round), of: part)
    }
    for store in stores { try store.close() }
  }

  private func open(below root: URL, _ workload: LargeWorkload) throws -> [LargeStore] {
    func isOpened(_ name: String) -> Bool { only.isEmpty || only.contains(name) }
    func place(_ name: String) throws -> URL {
      let folder = root.appending(path: name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return folder
    }
    let drivers: [(String, (URL) throws -> any StorageDriver)] = [
      ("memory", { _ in GarageStore.memoryDriver() }), ("sqlite", { try GarageStore.sqliteDriver(at: $0) }),
      ("lmdb", { try GarageStore.lmdbDriver(at: $0) }),
    ]
    var stores: [LargeStore] = []
    for (name, driver) in drivers where isOpened(name) {
      stores.append(try .garage(name, driver(place(name)), workload))
      stores.append(try .driver(name + " driver", driver(place(name + " driver")), workload))
    }
    if isOpened("memory") { stores.append(.dictionary(workload)) }
    if isOpened("sqlite") { stores.append(try .blobTable(place("blobs"), workload)) }
    if isOpened("lmdb") { stores.append(try .rawLMDB(place("raw"), workload)) }
    return stores
  }
}

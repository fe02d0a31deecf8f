import Foundation

/// The garage on each of its drivers beside GRDB and the bare engines: one round fills every store anew.
struct StoreComparison {
  let workload: Workload
  /// Where the stores are made; on the disk that is to be measured.
  let folder: URL
  /// What is wanted; everything before it is done, but not timed.
  let isWanted: (String) -> Bool

  static let names = [
    Name.parkAll, Name.parkShuffled, Name.retrieve, Name.retrieveTogether, Name.retrieveAll, Name.parkOne,
    Name.parkOneInMemory,
    Name.delete,
  ]

  /// Which stores stand beside which.
  private static let subjects: [(subject: String, raw: String, suffix: String)] = [
    ("memory", "raw C SQLite, in memory", ", in memory"),
    ("sqlite", "raw C SQLite", ""),
    ("lmdb", "raw C LMDB", ""),
  ]
  private static let peers = [
    "GRDB columns", "GRDB fetchOne", "GRDB cached statement", "GRDB fetchAll", "GRDB JSON column",
  ]

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    var samples = Samples()
    var sizes: [String: Double] = [:]
    try rounds.run("stores") { round in
      sizes = try runRound(round, &samples)
    }
    return Self.rows(samples) + sizeRows(sizes)
  }

  private static func rows(_ samples: Samples) -> [ResultRow] {
    names.flatMap { name in
      subjects.flatMap { subject, raw, suffix in
        peers.compactMap { ResultRow(name, subject, $0, who: $0 + suffix, samples) }
          + [ResultRow(name, subject, RawStore.who, who: raw, samples)].compactMap { $0 }
      }
    }
  }

  // MARK: One round

  private struct Place {
    var name: String
    var folder: URL?
    var store: any StoreUnderTest
  }

  /// Returns how large the files were after the bulk park, in bytes per object.
  private func runRound(_ round: Int, _ samples: inout Samples) throws -> [String: Double] {
    if isWanted(Name.parkShuffled) {
      try withPlaces(round) { places in try run(Name.parkShuffled, places, &samples) }
    }
    return try withPlaces(round) { places in
      if round == 0 { for place in places { say("  \(place.name): \(try place.store.settings)") } }
      try run(Name.parkAll, places, &samples)
      let sizes = Self.sizes(of: places, objects: workload.people.count)
      for name in Self.names where mustRun(name) { try run(name, places, &samples) }
      return sizes
    }
  }

  private func run(_ name: String, _ places: [Place], _ samples: inout Samples) throws {
    for place in places {
      for operation in place.store.operations where operation.name == name {
        if isWanted(name) {
          try samples.measure(operation)
        } else {
          try operation.prepare()
          try operation.run()
        }
      }
    }
  }

  /// Opens every store anew, each round in another order, and removes them all afterwards.
  private func withPlaces<R>(_ round: Int, _ body: ([Place]) throws -> R) throws -> R {
    let root = folder.appending(path: "garage-compare-\(getpid())")
    defer { try? FileManager.default.removeItem(at: root) }
    let places = try open(below: root).rotated(by: round)
    let result = try body(places)
    for place in places { try place.store.close() }
    return result
  }

  /// Of what comes after the bulk parks. Deleting counts on the objects that are parked one by one.
  private func mustRun(_ name: String) -> Bool {
    switch name {
    case Name.parkAll, Name.parkShuffled: false
    case Name.parkOne, Name.parkOneInMemory: isWanted(name) || isWanted(Name.delete)
    default: isWanted(name)
    }
  }

  private func open(below root: URL) throws -> [Place] {
    func place(_ name: String, _ store: (URL) throws -> any StoreUnderTest) throws -> Place {
      let folder = root.appending(path: name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return Place(name: name, folder: folder, store: try store(folder))
    }
    let workload = workload
    return [
      Place(name: "memory", store: try GarageStore.memory(workload)),
      try place("sqlite") { try GarageStore.sqlite(at: $0, workload) },
      try place("lmdb") { try GarageStore.lmdb(at: $0, workload) },
      try place("GRDB columns") { try GRDBStore(.columns, at: $0, workload) },
      try place("GRDB JSON column") { try GRDBStore(.json, at: $0, workload) },
      Place(name: "GRDB columns, in memory", store: try GRDBStore(.columns, at: nil, workload)),
      Place(name: "GRDB JSON column, in memory", store: try GRDBStore(.json, at: nil, workload)),
      try place("raw C SQLite") { try RawStore(.sqlite(at: $0), workload) },
      try place("raw C LMDB") { try RawStore(.lmdb(at: $0), workload) },
      Place(
        name: "raw C SQLite, in memory", store: try RawStore(.sqlite(at: nil), workload, isInMemory: true)),
    ]
  }

  // MARK: Sizes

  /// What the database files take, their logs left out: those are emptied in time.
  private static func sizes(of places: [Place], objects: Int) -> [String: Double] {
    var sizes: [String: Double] = [:]
    for place in places {
      guard let folder = place.folder,
        let files = try? FileManager.default.contentsOfDirectory(
          at: folder, includingPropertiesForKeys: [.fileSizeKey])
      else { continue }
      let bytes = files.filter { file in !["-wal", "-shm", "lock.mdb"].contains { file.path.hasSuffix($0) } }
        .compactMap { try? $0.resourceValues(forKeys: [.fileSizeKey]).fileSize }.reduce(0, +)
      sizes[place.name] = Double(bytes) / Double(objects)
    }
    return sizes
  }

  private func sizeRows(_ sizes: [String: Double]) -> [ResultRow] {
    guard isWanted(Name.bytes) else { return [] }
    return Self.subjects.flatMap { subject, raw, _ in
      ["GRDB columns", "GRDB JSON column", raw].compactMap { peer in
        guard let bytes = sizes[subject], let peerBytes = sizes[peer] else { return nil }
        return ResultRow(
          Name.bytes, subject, peer == raw ? RawStore.who : peer, bytes: bytes, peerBytes: peerBytes,
          objects: workload.people.count)
      }
    }
  }
}

import Foundation

/// The garage on each of its drivers beside GRDB and the bare engines: one round fills every store anew.
struct StoreComparison {
  let workload: Workload
  /// Where the stores are made; on the disk that is to be measured.
  let folder: URL
  /// The stores to open; all where it is empty.
  let only: [String]
  /// What is wanted; everything before it is done, but not timed.
  let isWanted: (String) -> Bool

  static let names = [
    Name.parkAll, Name.parkShuffled, Name.retrieve, Name.retrieveTogether, Name.retrieveAll, Name.parkAgain,
    Name.parkOne, Name.parkOneInMemory, Name.delete,
  ]
  static let sizeNames = [Name.bytes, Name.parkMemory, Name.retrieveAllMemory]

  /// Which stores stand beside which.
  private static let subjects: [(subject: String, raw: String, suffix: String)] = [
    ("memory", "raw C SQLite, in memory", ", in memory"),
    ("sqlite", "raw C SQLite", ""),
    ("lmdb", "raw C LMDB", ""),
  ]
  private static let peers = [
    "GRDB columns", "GRDB fetchOne", "GRDB cached statement", "GRDB fetchAll", "GRDB JSON column",
    "GRDB by hand",
  ]

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    var samples = Samples()
    var sizes: [String: Double] = [:]
    try rounds.run("stores") { round in
      samples.beginRound()
      sizes = try runRound(round, &samples)
    }
    return rows(samples) + sizeRows(sizes) + (try memoryRows(samples))
  }

  private func rows(_ samples: Samples) -> [ResultRow] {
    Self.names.filter(isWanted).flatMap { name in
      Self.rows { subject, peer, who in ResultRow(name, subject, peer, who: who, samples) }
    }
  }

  /// The rows that `row` makes of each subject and each of its peers, who may go by another name.
  private static func rows(_ row: (_ subject: String, _ peer: String, _ who: String) -> ResultRow?)
    -> [ResultRow]
  {
    subjects.flatMap { subject, raw, suffix in
      peers.compactMap { row(subject, $0, $0 + suffix) }
        + [row(subject, RawStore.who, raw), row(subject, RawCodingStore.who, RawCodingStore.who(raw))].compactMap { $0 }
    }
  }

  /// What a bulk park and a retrieval of all objects take of memory, in a round of its own.
  private func memoryRows(_ samples: Samples) throws -> [ResultRow] {
    let operationNames = [(Name.parkMemory, Name.parkAll), (Name.retrieveAllMemory, Name.retrieveAll)]
    guard operationNames.contains(where: { isWanted($0.0) }) else { return [] }
    say("stores: peak memory")
    var peaks: [String: Double] = [:]
    try withPlaces(0) { places in
      for (name, operationName) in operationNames {
        for operation in places.flatMap(\.store.operations) where operation.name == operationName {
          peaks[name + operation.who] = try samples.measureMemory(operation)
        }
      }
    }
    return operationNames.map(\.0).filter(isWanted).flatMap { name in
      Self.rows { subject, peer, who in
        guard let bytes = peaks[name + subject], let peerBytes = peaks[name + who], bytes > 0 else {
          return nil
        }
        return ResultRow(
          name, subject, peer, bytes: bytes, peerBytes: peerBytes, objects: workload.people.count)
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
    let operations = places.flatMap(\.store.operations).filter { $0.name == name }
    if isWanted(name) {
      let (whole, divisible) = (
        operations.filter { $0.runPart == nil }, operations.filter { $0.runPart != nil }
      )
      for operation in whole { try samples.measure(operation) }
      try samples.measureInParts(divisible, of: 100)
    } else {
      for operation in operations {
        try operation.prepare()
        try operation.run()
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
    func place(_ name: String, _ store: (URL) throws -> any StoreUnderTest) throws -> Place? {
      if !only.isEmpty && !only.contains(name) { return nil }
      let folder = root.appending(path: name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return Place(name: name, folder: folder, store: try store(folder))
    }
    func inMemory(_ name: String, _ store: () throws -> any StoreUnderTest) throws -> Place? {
      if !only.isEmpty && !only.contains(name) { return nil }
      return Place(name: name, store: try store())
    }
    let workload = workload
    return [
      try inMemory("memory") { try GarageStore.memory(workload) },
      try place("sqlite") { try GarageStore.sqlite(at: $0, workload) },
      try place("lmdb") { try GarageStore.lmdb(at: $0, workload) },
      try place("GRDB columns") { try GRDBStore(.columns, at: $0, workload) },
      try place("GRDB JSON column") { try GRDBStore(.json, at: $0, workload) },
      try place("GRDB by hand") { try GRDBStore(.byHand, at: $0, workload) },
      try inMemory("GRDB columns, in memory") { try GRDBStore(.columns, at: nil, workload) },
      try inMemory("GRDB JSON column, in memory") { try GRDBStore(.json, at: nil, workload) },
      try place("raw C SQLite") { try RawStore(.sqlite(at: $0), workload) },
      try place("raw C LMDB") { try RawStore(.lmdb(at: $0), workload) },
      try place(RawCodingStore.who("raw C SQLite")) { try RawCodingStore(.sqlite(at: $0), workload) },
      try place(RawCodingStore.who("raw C LMDB")) { try RawCodingStore(.lmdb(at: $0), workload) },
      try inMemory("GRDB by hand, in memory") { try GRDBStore(.byHand, at: nil, workload) },
      try inMemory("raw C SQLite, in memory") { try RawStore(.sqlite(at: nil), workload, isInMemory: true) },
    ].compactMap { $0 }
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
      ["GRDB columns", "GRDB JSON column", "GRDB by hand", raw].compactMap { peer in
        guard let bytes = sizes[subject], let peerBytes = sizes[peer] else { return nil }
        return ResultRow(
          Name.bytes, subject, peer == raw ? RawStore.who : peer, bytes: bytes, peerBytes: peerBytes,
          objects: workload.people.count)
      }
    }
  }
}

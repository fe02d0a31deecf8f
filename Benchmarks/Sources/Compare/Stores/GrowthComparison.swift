import CRawStores
import Foundation
import GarageDriver
import GarageMemory
import GarageStorage

/// What a get costs while the store grows, the garage beside the bare engine with the same records; and how much
/// memory it takes to go through all objects.
struct GrowthComparison {
  let largest: Int
  let folder: URL
  let rounds: Int
  let isWanted: (String) -> Bool

  private static let sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]
  static let getNames = sizes.map(getName)
  static let names = getNames + sizes.map(memoryName)

  private static func getName(_ size: Int) -> String { "retrieve at \(short(size))" }
  private static func memoryName(_ size: Int) -> String { "forEach memory at \(short(size))" }
  private static func short(_ size: Int) -> String {
    size < 1_000_000 ? "\(size / 1000) k" : "\(size / 1_000_000) M"
  }

  /// How many are parked in one transaction, and how many are asked for.
  private static let batch = 100_000
  private static let smallestBatch = 1000
  private static let wanted = 10_000

  func rows() throws -> [ResultRow] {
    let sizes = Self.sizes.filter {
      $0 <= largest && (isWanted(Self.getName($0)) || isWanted(Self.memoryName($0)))
    }
    if sizes.isEmpty { return [] }
    let root = folder.appending(path: "garage-compare-growth-\(getpid())")
    defer { try? FileManager.default.removeItem(at: root) }
    let stores = try open(below: root)
    var samples = Samples()
    var memoryRows: [ResultRow] = []
    var sample = Sampler(count: Self.wanted)
    var count = 0
    for size in sizes {
      say("growth: to \(size) objects")
      while count < size {
        let people = Person.make(
          min(Self.batch, size - count), seed: UInt64(1000 + count), batch: count / Self.smallestBatch)
        count += people.count
        try add(people, to: stores, &sample)
      }
      if isWanted(Self.getName(size)) {
        let name = Self.getName(size)
        try measure(name, stores, sample, &samples)
        // The next size may be long in coming.
        for store in stores {
          if let row = ResultRow(name, store.subject, RawStore.who, who: store.engine.who, samples) {
            say(String(format: "  \(store.subject): %.0f ns, raw C %.0f ns", row.subjectValue, row.peerValue))
          }
        }
      }
      if isWanted(Self.memoryName(size)) {
        memoryRows += try stores.compactMap { try Self.memory(size, $0.subject, $0.garage) }
      }
    }
    for store in stores {
      try store.garage.close()
      store.engine.close()
    }
    return sizes.flatMap { size in
      stores.compactMap {
        ResultRow(Self.getName(size), $0.subject, RawStore.who, who: $0.engine.who, samples)
      }
    } + memoryRows
  }

  private struct Pair {
    var subject: String
    var garage: Garage
    var engine: RawEngine
  }

  private func open(below root: URL) throws -> [Pair] {
    func folder(_ name: String) throws -> URL {
      let folder = root.appending(path: name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return folder
    }
    return [
      Pair(
        subject: "sqlite", garage: try Garage(GarageStore.sqliteDriver(at: folder("sqlite"))),
        engine: try .sqlite(at: folder("raw C SQLite"))),
      Pair(
        subject: "lmdb", garage: try Garage(GarageStore.lmdbDriver(at: folder("lmdb"))),
        engine: try .lmdb(at: folder("raw C LMDB"))),
    ]
  }

  /// The new records stand behind the old ones, so that ten millions of them are a matter of minutes.
  private func add(_ people: [Person], to stores: [Pair], _ sample: inout Sampler) throws {
    let entries = try Entries(people)
    for store in stores {
      try store.garage.parkAll(people)
      let code = entries.withRaw { store.engine.putAll($0, nil) }
      try WrongResult.unless(code == 0, "\(store.engine.who) returned \(code)")
    }
    sample.add(people, entries)
  }

  private func measure(_ name: String, _ stores: [Pair], _ sample: Sampler, _ samples: inout Samples) throws {
    let order = Array(0..<UInt32(sample.people.count))
    let entries = sample.entries
    for round in 0..<rounds {
      samples.beginRound()
      var operations: [Operation] = []
      for store in stores {
        let retrieved = Retrieved()
        let retrieve: (Range<Int>) throws -> Void = { range in
          for index in range {
            let found = try store.garage.retrieve(Person.self, identifier: sample.people[index].id)
            if let found { retrieved.people.append(found) }
          }
        }
        operations.append(
          Operation(
            name: name, who: store.subject, count: order.count, prepare: { retrieved.prepare(order.count) },
            run: { try retrieve(order.indices) }, runPart: retrieve,
            verify: { try retrieved.verify(sample.people) }))
        var equal = 0
        let get: (Range<Int>) -> Void = { range in
          equal += order.withUnsafeBufferPointer { order in
            guard let start = order.baseAddress else { return 0 }
            return entries.withRaw { store.engine.get($0, start + range.lowerBound, range.count, 0) }
          }
        }
        operations.append(
          Operation(
            name: name, who: store.engine.who, count: order.count, prepare: { equal = 0 },
            run: { get(order.indices) }, runPart: get,
            verify: { try WrongResult.unless(equal == order.count, "\(equal) values are as expected") }))
      }
      try samples.measureInParts(operations.rotated(by: round), of: 100)
    }
  }
}

// MARK: - Memory

extension GrowthComparison {
  /// What `forEach` allocates at most, beside what `retrieveAll` returns; nil where it cannot be told.
  fileprivate static func memory(_ size: Int, _ subject: String, _ garage: Garage) throws -> ResultRow? {
    let before = raw_heap_bytes()
    // Of 10 million objects the array alone would take gigabytes.
    if before == 0 || size > 1_000_000 { return nil }
    var (most, count) = (before, 0)
    try garage.forEach(Person.self) { _ in
      count += 1
      if count % 500 == 0 { most = max(most, raw_heap_bytes()) }
    }
    try WrongResult.unless(count == size, "\(memoryName(size)) by \(subject): \(count) objects")
    let start = raw_heap_bytes()
    let all = try garage.retrieveAll(Person.self)
    let whole = raw_heap_bytes() - start
    try WrongResult.unless(all.count == size, "\(memoryName(size)) by \(subject): \(all.count) objects")
    return ResultRow(
      memoryName(size), subject, "retrieveAll", bytes: Double(max(1, most - before)),
      peerBytes: Double(whole),
      objects: size)
  }
}

/// Keeps a random few of all that went by: every one with the same chance, in random order.
private struct Sampler {
  let count: Int
  private(set) var people: [Person] = []
  private var records: [Entries] = []
  private var seen = 0
  private var random = SplitMix(state: 5)

  init(count: Int) { self.count = count }

  /// The records of ``people``, in the same order.
  var entries: Entries {
    let all = Entries()
    for record in records { all.append(record) }
    return all
  }

  mutating func add(_ people: [Person], _ entries: Entries) {
    for index in people.indices.shuffled(using: &random) {
      seen += 1
      if self.people.count < count {
        self.people.append(people[index])
        records.append(entries.subset([index]))
      } else {
        // Algorithm R (Vitter 1985).
        let at = Int.random(in: 0..<seen, using: &random)
        if at >= count { continue }
        self.people[at] = people[index]
        records[at] = entries.subset([index])
      }
    }
  }
}

import CRawStores
import Foundation
import GarageDriver
import GarageMemory
import GarageStorage
import Synchronization

private enum Measured: Namespace { static let id = "settings" }

/// Typed keys whose value is an `Int`: beside a dictionary behind a lock in memory, and beside the bare engines.
struct KeyComparison {
  /// Where the stores are made.
  let folder: URL
  /// How many values are set one by one, each waiting for the disk where there is one.
  let durableSets: Int
  /// The garages to open; all where it is empty.
  let only: [String]
  let isWanted: (String) -> Bool

  static let getName = "get key"
  static let setName = "set key"
  static let names = [getName, setName]
  static let dictionary = "dictionary behind a lock"

  private static let keyCount = 100
  private static let gets = 20_000
  /// How often those take turns in a round that wait for no disk.
  private static let passes = 15

  private var keys: [Key<Measured, Int>] {
    (0..<Self.keyCount).map { Key(id: "number \($0)", defaultValue: 0) }
  }

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    var samples = Samples()
    let entries = try keyEntries()
    try rounds.run("keys") { round in
      samples.beginRound()
      try runRound(round, entries, &samples)
    }
    return Self.names.flatMap { name in
      [
        ResultRow(name, "memory", Self.dictionary, samples),
        ResultRow(name, "sqlite", RawStore.who, who: "raw C SQLite", samples),
        ResultRow(name, "lmdb", RawStore.who, who: "raw C LMDB", samples),
      ].compactMap { $0 }
    }
  }

  /// What the garage keeps, for those who know bytes only.
  private func keyEntries() throws -> Entries {
    let storage = MemoryStorage()
    let garage = try Garage(storage)
    for (number, key) in keys.enumerated() { try garage.set(key, value: number) }
    let entries = Entries()
    // The space of typed keys, see Docs/Format.md.
    try storage.read { transaction in
      try transaction.scan(.prefix([0x30]), .forward) { key, value in
        entries.append(key: [UInt8](copying: key), value: [UInt8](copying: value))
        return .continue
      }
    }
    try WrongResult.unless(entries.count == keys.count, "\(entries.count) of \(keys.count) keys are stored")
    return entries
  }

  private func runRound(_ round: Int, _ entries: Entries, _ samples: inout Samples) throws {
    let root = folder.appending(path: "garage-keys-\(getpid())")
    defer { try? FileManager.default.removeItem(at: root) }
    func place(_ name: String) throws -> URL {
      let folder = root.appending(path: name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return folder
    }
    func isOpened(_ name: String) -> Bool { only.isEmpty || only.contains(name) }
    let drivers: [(String, Int, (URL) throws -> any StorageDriver)] = [
      ("memory", Self.gets, { _ in GarageStore.memoryDriver() }),
      ("sqlite", durableSets, { try GarageStore.sqliteDriver(at: $0) }),
      ("lmdb", durableSets, { try GarageStore.lmdbDriver(at: $0) }),
    ]
    var operations = [getFromDictionary, setInDictionary]
    var garages: [Garage] = []
    for (who, sets, driver) in drivers where isOpened(who) {
      let garage = try Garage(driver(place(who)))
      try garage.write { writer in
        for (number, key) in keys.enumerated() { try writer.set(key, value: number) }
      }
      operations += [get(who, garage), set(who, garage, sets)]
      garages.append(garage)
    }
    var engines: [RawEngine] = []
    let makeEngines: [(String, (URL) throws -> RawEngine)] = [
      ("raw C SQLite", { try RawEngine.sqlite(at: $0) }), ("raw C LMDB", { try RawEngine.lmdb(at: $0) }),
    ]
    for (who, open) in makeEngines where isOpened(who) {
      let engine = try open(place(who))
      _ = entries.withRaw { engine.putAll($0, nil) }
      operations += [get(engine, entries), set(engine, entries)]
      engines.append(engine)
    }
    // A turn that waits for no disk takes a millisecond or a few: many of them, lest one that was disturbed decides.
    let isShort = { (operation: Operation) in
      operation.name == Self.getName || [Self.dictionary, "memory"].contains(operation.who)
    }
    let (short, long) = (operations.filter(isShort), operations.filter { !isShort($0) })
    for pass in 0..<Self.passes {
      for operation in short.rotated(by: round + pass) where isWanted(operation.name) {
        try samples.measure(operation)
      }
    }
    for operation in long.rotated(by: round) where isWanted(operation.name) { try samples.measure(operation) }
    for garage in garages { try garage.close() }
    for engine in engines { engine.close() }
  }

  // MARK: Operations

  private func get(_ who: String, _ garage: Garage) -> Operation {
    let keys = keys
    var sum = 0
    return Operation(
      name: Self.getName, who: who, count: Self.gets, prepare: { sum = 0 },
      run: {
        for _ in 0..<(Self.gets / keys.count) { for key in keys { sum += try garage.get(key) } }
      },
      verify: { try Self.verify(sum) })
  }

  private func set(_ who: String, _ garage: Garage, _ count: Int) -> Operation {
    let keys = keys
    return Operation(
      name: Self.setName, who: who, count: count,
      run: {
        for number in 0..<count { try garage.set(keys[number % keys.count], value: number % keys.count) }
      },
      verify: {
        for (number, key) in keys.enumerated() {
          try WrongResult.unless(garage.get(key) == number, "\(key.stringValue) has another value")
        }
      })
  }

  private final class Numbers: Sendable {
    let all = Mutex<[String: Int]>([:])
  }

  private var getFromDictionary: Operation {
    let names = keys.map(\.stringValue)
    let numbers = Numbers()
    for (number, name) in names.enumerated() { numbers.all.withLock { $0[name] = number } }
    var sum = 0
    return Operation(
      name: Self.getName, who: Self.dictionary, count: Self.gets, prepare: { sum = 0 },
      run: {
        for _ in 0..<(Self.gets / names.count) {
          for name in names { sum += numbers.all.withLock { $0[name] } ?? 0 }
        }
      },
      verify: { try Self.verify(sum) })
  }

  private var setInDictionary: Operation {
    let names = keys.map(\.stringValue)
    let numbers = Numbers()
    return Operation(
      name: Self.setName, who: Self.dictionary, count: Self.gets,
      run: {
        for number in 0..<Self.gets {
          let name = names[number % names.count]
          numbers.all.withLock { $0[name] = number % names.count }
        }
      },
      verify: {
        try WrongResult.unless(numbers.all.withLock { $0.count } == names.count, "names are missing")
      })
  }

  private static func verify(_ sum: Int) throws {
    try WrongResult.unless(sum == gets / keyCount * (keyCount * (keyCount - 1) / 2), "the sum is \(sum)")
  }

  private func get(_ engine: RawEngine, _ entries: Entries) -> Operation {
    let order = (0..<Self.gets).map { UInt32($0 % entries.count) }
    var equal = 0
    return Operation(
      name: Self.getName, who: engine.who, count: order.count,
      run: { equal = entries.withRaw { engine.get($0, order, order.count, 0) } },
      verify: { try WrongResult.unless(equal == order.count, "\(equal) of \(order.count) values are right") })
  }

  private func set(_ engine: RawEngine, _ entries: Entries) -> Operation {
    let passes = max(1, durableSets / entries.count)
    var code: Int32 = 0
    return Operation(
      name: Self.setName, who: engine.who, count: passes * entries.count, prepare: { code = 0 },
      run: { for _ in 0..<passes where code == 0 { code = entries.withRaw(engine.putEach) } },
      verify: { try WrongResult.unless(code == 0, "the engine returned \(code)") })
  }
}

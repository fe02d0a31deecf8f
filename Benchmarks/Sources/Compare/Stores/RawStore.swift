import CRawStores
import Foundation

/// An engine as a C program would use it: the functions of `CRawStores`, for SQLite or LMDB.
struct RawEngine {
  /// Which it is, `raw C SQLite` for instance.
  var who: String
  /// What it was set to, as it says itself.
  var settings: String
  /// In the given order, or in that of the entries; all in one transaction.
  var putAll: (raw_entries, UnsafePointer<UInt32>?) -> Int32
  /// Each in a transaction of its own.
  var putEach: (raw_entries) -> Int32
  /// Returns how many values are the expected ones; not 0 as the last argument: all in one transaction.
  var get: (raw_entries, UnsafePointer<UInt32>, Int, Int32) -> Int
  var scan: (raw_entries) -> Int
  var remove: (raw_entries, UnsafePointer<UInt32>, Int) -> Int32
  var close: () -> Void

  /// What the driver is set to.
  static let settings = raw_sqlite_settings(
    full_synchronous: 1, writer_cache_bytes: Int64(SQLiteSettings.writerCacheByteCount),
    reader_cache_bytes: Int64(SQLiteSettings.readerCacheByteCount),
    mmap_bytes: Int64(SQLiteSettings.memoryMapByteCount),
    log_limit_bytes: Int64(SQLiteSettings.checkpointByteCount),
    checkpoint_pages: Int64(SQLiteSettings.checkpointPageCount))

  /// In memory where there is no folder.
  static func sqlite(at folder: URL?) throws -> RawEngine {
    let path = folder?.appending(path: "raw.sqlite").path ?? ":memory:"
    guard let store = raw_sqlite_open(path, settings) else { throw WrongResult("SQLite cannot open \(path)") }
    return RawEngine(
      who: folder == nil ? "raw C SQLite, in memory" : "raw C SQLite", settings: description(of: store),
      putAll: { raw_sqlite_put_all(store, $0, $1) }, putEach: { raw_sqlite_put_each(store, $0) },
      get: { raw_sqlite_get(store, $0, $1, $2, $3) }, scan: { raw_sqlite_scan(store, $0) },
      remove: { raw_sqlite_remove(store, $0, $1, $2) }, close: { raw_sqlite_close(store) })
  }

  static func lmdb(at folder: URL) throws -> RawEngine {
    guard let store = raw_lmdb_open(folder.path, 64 << 30) else {
      throw WrongResult("LMDB cannot open \(folder.path)")
    }
    return RawEngine(
      who: "raw C LMDB", settings: "durable commits, MDB_NOTLS, bulk parks in key order with MDB_APPEND",
      putAll: { raw_lmdb_put_all(store, $0, $1) }, putEach: { raw_lmdb_put_each(store, $0) },
      get: { raw_lmdb_get(store, $0, $1, $2, $3) }, scan: { raw_lmdb_scan(store, $0) },
      remove: { raw_lmdb_remove(store, $0, $1, $2) }, close: { raw_lmdb_close(store) })
  }

  private static func description(of store: OpaquePointer) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1000) { text in
      raw_sqlite_describe(store, text.baseAddress!, text.count)
      return String(cString: text.baseAddress!) + ", WITHOUT ROWID"
    }
  }
}

/// The garage's own keys and values in a bare engine: no objects, no coding.
final class RawStore: StoreUnderTest {
  static let who = "raw C"
  private let engine: RawEngine
  private let workload: Workload
  private let isInMemory: Bool

  init(_ engine: RawEngine, _ workload: Workload, isInMemory: Bool = false) {
    self.engine = engine
    self.workload = workload
    self.isInMemory = isInMemory
  }

  var settings: String { engine.settings }
  func close() { engine.close() }

  var operations: [Operation] {
    let count = workload.people.count
    return [
      changing(Name.parkAll, count) { engine, workload in
        workload.entries.withRaw { engine.putAll($0, nil) }
      },
      changing(Name.parkShuffled, count) { engine, workload in
        workload.entries.withRaw { engine.putAll($0, workload.shuffledOrder) }
      },
      retrieving,
      reading(Name.retrieveTogether, workload.wanted.count) { Self.getWanted($0, $1, together: 1) },
      reading(Name.retrieveAll, count) { engine, workload in workload.entries.withRaw(engine.scan) },
      changing(Name.parkAgain, count) { engine, workload in
        workload.laterEntries.withRaw { engine.putAll($0, workload.sortedOrder) }
      },
      changing(isInMemory ? Name.parkOneInMemory : Name.parkOne, workload.additional.count) {
        engine, workload in
        workload.additionalEntries.withRaw(engine.putEach)
      },
      changing(Name.delete, workload.unwanted.count) { engine, workload in
        workload.entries.withRaw { engine.remove($0, workload.unwanted, workload.unwanted.count) }
      },
    ]
  }

  private var retrieving: Operation {
    let (engine, workload) = (engine, workload)
    var equal = 0
    let retrieve: (Range<Int>) -> Void = { range in
      equal += workload.wanted.withUnsafeBufferPointer { wanted in
        guard let start = wanted.baseAddress else { return 0 }
        return workload.entries.withRaw { engine.get($0, start + range.lowerBound, range.count, 0) }
      }
    }
    return Operation(
      name: Name.retrieve, who: engine.who, count: workload.wanted.count, prepare: { equal = 0 },
      run: { retrieve(workload.wanted.indices) }, runPart: retrieve,
      verify: {
        try WrongResult.unless(
          equal == workload.wanted.count, "\(equal) of \(workload.wanted.count) values are as expected")
      })
  }

  private static func getWanted(_ engine: RawEngine, _ workload: Workload, together: Int32) -> Int {
    workload.entries.withRaw { engine.get($0, workload.wanted, workload.wanted.count, together) }
  }

  private func changing(_ name: String, _ count: Int, _ body: @escaping (RawEngine, Workload) -> Int32)
    -> Operation
  {
    let (engine, workload) = (engine, workload)
    var code: Int32 = 0
    return Operation(
      name: name, who: engine.who, count: count, run: { code = body(engine, workload) },
      verify: { try WrongResult.unless(code == 0, "the engine returned \(code)") })
  }

  /// The C code itself compares each value with the expected bytes, and counts.
  private func reading(_ name: String, _ count: Int, _ body: @escaping (RawEngine, Workload) -> Int)
    -> Operation
  {
    let (engine, workload) = (engine, workload)
    var equal = 0
    return Operation(
      name: name, who: engine.who, count: count, run: { equal = body(engine, workload) },
      verify: { try WrongResult.unless(equal == count, "\(equal) of \(count) values are as expected") })
  }
}

/// The same, and before it each object is encoded by an encoder that writes nothing: a store that takes what is `Codable` can
/// not park it in less.
final class RawCodingStore: StoreUnderTest {
  static let who = "raw C and Codable alone"
  private let engine: RawEngine
  private let workload: Workload

  init(_ engine: RawEngine, _ workload: Workload) {
    (self.engine, self.workload) = (engine, workload)
  }

  /// The samples' name where the engine's is this.
  static func who(_ engine: String) -> String { "\(engine) and Codable alone" }

  var settings: String { engine.settings }
  func close() { engine.close() }

  var operations: [Operation] {
    [
      parking(Name.parkAll, workload.people) { engine, workload in workload.entries.withRaw { engine.putAll($0, nil) } },
      parking(Name.parkShuffled, workload.shuffled) { engine, workload in
        workload.entries.withRaw { engine.putAll($0, workload.shuffledOrder) }
      },
    ]
  }

  private func parking(
    _ name: String, _ people: [Person], _ body: @escaping (RawEngine, Workload) -> Int32
  ) -> Operation {
    let (engine, workload) = (engine, workload)
    var code: Int32 = 0
    return Operation(
      name: name, who: Self.who(engine.who), count: people.count,
      run: {
        for person in people { try person.encode(to: EmptyEncoder()) }
        code = body(engine, workload)
      },
      verify: { try WrongResult.unless(code == 0, "the engine returned \(code)") })
  }
}

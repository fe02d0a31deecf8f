import CRawStores
import Foundation

/// An engine as a C program would use it: the garage's own keys and values, no objects.
final class RawStore: StoreUnderTest {
  /// The functions of `CRawStores`, for one engine.
  private struct Engine {
    var putAll: (raw_entries, UnsafePointer<UInt32>?) -> Int32
    var putEach: (raw_entries) -> Int32
    var get: (raw_entries, UnsafePointer<UInt32>, Int, Int32) -> Int
    var scan: (raw_entries) -> Int
    var remove: (raw_entries, UnsafePointer<UInt32>, Int) -> Int32
    var close: () -> Void

    func getWanted(_ workload: Workload, together: Int32) -> Int {
      workload.entries.withRaw { get($0, workload.wanted, workload.wanted.count, together) }
    }
  }

  static let who = "raw C"
  private let who: String
  let settings: String
  private let engine: Engine
  private let workload: Workload
  private let isInMemory: Bool

  private init(
    _ who: String, _ settings: String, _ engine: Engine, _ workload: Workload, isInMemory: Bool = false
  ) {
    self.who = who
    self.settings = settings
    self.engine = engine
    self.workload = workload
    self.isInMemory = isInMemory
  }

  private static func description(of store: OpaquePointer) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1000) { text in
      raw_sqlite_describe(store, text.baseAddress!, text.count)
      return String(cString: text.baseAddress!) + ", WITHOUT ROWID"
    }
  }

  /// In memory where there is no folder.
  static func sqlite(at folder: URL?, _ workload: Workload) throws -> RawStore {
    let settings = raw_sqlite_settings(
      full_synchronous: 1, writer_cache_bytes: Int64(SQLiteSettings.writerCacheByteCount),
      reader_cache_bytes: Int64(SQLiteSettings.readerCacheByteCount),
      mmap_bytes: Int64(SQLiteSettings.memoryMapByteCount),
      checkpoint_bytes: Int64(SQLiteSettings.checkpointByteCount))
    let path = folder?.appending(path: "raw.sqlite").path ?? ":memory:"
    guard let store = raw_sqlite_open(path, settings) else { throw WrongResult("SQLite cannot open \(path)") }
    return RawStore(
      folder == nil ? "raw C SQLite, in memory" : "raw C SQLite",
      description(of: store),
      Engine(
        putAll: { raw_sqlite_put_all(store, $0, $1) }, putEach: { raw_sqlite_put_each(store, $0) },
        get: { raw_sqlite_get(store, $0, $1, $2, $3) }, scan: { raw_sqlite_scan(store, $0) },
        remove: { raw_sqlite_remove(store, $0, $1, $2) }, close: { raw_sqlite_close(store) }),
      workload, isInMemory: folder == nil)
  }

  static func lmdb(at folder: URL, _ workload: Workload) throws -> RawStore {
    guard let store = raw_lmdb_open(folder.path, 64 << 30) else {
      throw WrongResult("LMDB cannot open \(folder.path)")
    }
    return RawStore(
      "raw C LMDB", "durable commits, MDB_NOTLS, bulk parks with MDB_APPEND",
      Engine(
        putAll: { raw_lmdb_put_all(store, $0, $1) }, putEach: { raw_lmdb_put_each(store, $0) },
        get: { raw_lmdb_get(store, $0, $1, $2, $3) }, scan: { raw_lmdb_scan(store, $0) },
        remove: { raw_lmdb_remove(store, $0, $1, $2) }, close: { raw_lmdb_close(store) }),
      workload)
  }

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
      reading(Name.retrieve, workload.wanted.count) { $0.getWanted($1, together: 0) },
      reading(Name.retrieveTogether, workload.wanted.count) { $0.getWanted($1, together: 1) },
      reading(Name.retrieveAll, count) { engine, workload in workload.entries.withRaw(engine.scan) },
      changing(isInMemory ? Name.parkOneInMemory : Name.parkOne, workload.additional.count) {
        engine, workload in
        workload.additionalEntries.withRaw(engine.putEach)
      },
      changing(Name.delete, workload.unwanted.count) { engine, workload in
        workload.entries.withRaw { engine.remove($0, workload.unwanted, workload.unwanted.count) }
      },
    ]
  }

  private func changing(_ name: String, _ count: Int, _ body: @escaping (Engine, Workload) -> Int32)
    -> Operation
  {
    let (engine, workload) = (engine, workload)
    var code: Int32 = 0
    return Operation(
      name: name, who: who, count: count, run: { code = body(engine, workload) },
      verify: { try WrongResult.unless(code == 0, "the engine returned \(code)") })
  }

  /// The C code itself compares each value with the expected bytes, and counts.
  private func reading(_ name: String, _ count: Int, _ body: @escaping (Engine, Workload) -> Int) -> Operation
  {
    let (engine, workload) = (engine, workload)
    var equal = 0
    return Operation(
      name: name, who: who, count: count, run: { equal = body(engine, workload) },
      verify: { try WrongResult.unless(equal == count, "\(equal) of \(count) values are as expected") })
  }
}

import CLMDB
import Dispatch
import Foundation
import GarageDriver
import GarageLMDB
import Testing

/// A folder that is gone after `body`.
@discardableResult
func withTemporaryFolder<R>(_ body: (URL) throws -> R) throws -> R {
  let folder = FileManager.default.temporaryDirectory.appending(path: "garage-lmdb-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}

/// The same for bodies that wait for other processes.
@discardableResult
func withTemporaryFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
  let folder = FileManager.default.temporaryDirectory.appending(path: "garage-lmdb-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  do {
    let result = try await body(folder)
    try? FileManager.default.removeItem(at: folder)
    return result
  } catch {
    try? FileManager.default.removeItem(at: folder)
    throw error
  }
}

/// The error that `body` throws, which must be one of a driver.
func storageError<R>(
  _ body: () throws -> R, sourceLocation: SourceLocation = #_sourceLocation
) -> StorageError? {
  do {
    _ = try body()
    Issue.record("Nothing was thrown", sourceLocation: sourceLocation)
  } catch let error as StorageError {
    return error
  } catch {
    Issue.record("\(error) was thrown", sourceLocation: sourceLocation)
  }
  return nil
}

/// The generator of java.util.SplittableRandom: small, seeded, good enough for histories.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

extension StorageKey {
  init(_ text: String) { self.init(Array(text.utf8)) }
  init(number: Int) { self.init(withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }) }
}

extension LMDBStorage {
  func put(_ value: [UInt8], _ key: String) throws {
    try write { transaction in
      try transaction.put(value, for: StorageKey(key))
      return .commit(())
    }
  }

  func get(_ key: String) throws -> [UInt8]? {
    try read { transaction in try transaction.value(for: StorageKey(key)) }
  }

  func keys(_ range: StorageKeyRange = .all, _ direction: ScanDirection = .forward) throws -> [[UInt8]] {
    try read { transaction in
      var keys: [[UInt8]] = []
      try transaction.scan(range, direction) { key, _ in
        keys.append([UInt8](copying: key))
        return .continue
      }
      return keys
    }
  }
}

/// An LMDB environment of somebody else, through the C library.
struct ForeignEnvironment {
  let env: OpaquePointer

  init(at folder: URL, mapByteCount: Int = 64 << 20, maximumReaderCount: Int = 126) throws {
    var env: OpaquePointer?
    try check(mdb_env_create(&env))
    self.env = env!
    mdb_env_set_maxdbs(self.env, 4)
    mdb_env_set_mapsize(self.env, mapByteCount)
    mdb_env_set_maxreaders(self.env, UInt32(maximumReaderCount))
    try check(mdb_env_open(self.env, folder.path, UInt32(MDB_NOTLS), 0o644))
  }

  func write(_ body: (_ txn: OpaquePointer, _ main: MDB_dbi) throws -> Void) throws {
    var txn: OpaquePointer?
    try check(mdb_txn_begin(env, nil, 0, &txn))
    var main: MDB_dbi = 0
    try check(mdb_dbi_open(txn, nil, 0, &main))
    try body(txn!, main)
    try check(mdb_txn_commit(txn))
  }

  static func put(_ txn: OpaquePointer, _ dbi: MDB_dbi, _ key: [UInt8], _ value: [UInt8]) throws {
    var keyBytes = key
    var valueBytes = value
    try keyBytes.withUnsafeMutableBytes { key in
      try valueBytes.withUnsafeMutableBytes { value in
        var key = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
        var value = MDB_val(mv_size: value.count, mv_data: value.baseAddress)
        try check(mdb_put(txn, dbi, &key, &value, 0))
      }
    }
  }

  func close() { mdb_env_close(env) }
}

struct LMDBFailure: Error, CustomStringConvertible {
  var code: Int32
  var description: String { String(cString: mdb_strerror(code)) }
}

func check(_ code: Int32) throws {
  if code != MDB_SUCCESS { throw LMDBFailure(code: code) }
}

/// A thread of its own that runs `body`.
func startThread(_ body: @escaping @Sendable () -> Void) -> RunningThread {
  let running = RunningThread()
  let thread = Thread {
    body()
    running.finished.signal()
  }
  thread.stackSize = 1 << 20
  thread.start()
  return running
}

struct RunningThread: Sendable {
  let finished = DispatchSemaphore(value: 0)
  func wait() { finished.wait() }
}

extension DispatchSemaphore {
  /// Waits from an asynchronous function.
  func waitOffThread() async {
    await withCheckedContinuation { continuation in
      Thread { [self] in
        wait()
        continuation.resume()
      }.start()
    }
  }
}

/// What a child process does to make a store larger than others have mapped it.
func growStore(at path: String, _ key: String) throws {
  let storage = try LMDBStorage(at: URL(filePath: path), options: LMDBStorage.Options(mapByteCount: 1 << 30))
  try storage.put([UInt8](repeating: 5, count: 8 << 20), key)
  try storage.close()
}

func fileByteCount(_ folder: URL) throws -> Int {
  let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/data.mdb")
  return try #require(attributes[.size] as? Int)
}

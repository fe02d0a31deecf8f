internal import CLMDB
internal import Dispatch
public import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension LMDBStorage: BackingUp {
  /// Makes a folder at `path` with a store that holds one committed state, by LMDB's own copying (`mdb_env_copyfd2`), page
  /// after page, or only those that are in use where it is to be compact.
  ///
  /// It ends within a gigabyte of writing after `progress` has thrown. Not inside a `write` of the same thread, which it
  /// would wait for: that throws `nestedWrite`.
  public func backUp(
    to path: String, compacting: Bool, progress: (_ completed: Int, _ total: Int) throws -> Void
  ) throws {
    if connection.gate.isHeldByThisThread {
      throw StorageError(
        .nestedWrite, during: .read, driver: driverName,
        message:
          "This thread is inside a write on this store, which the backup would wait for. Let that end first.")
    }
    try PartialStore.make(at: path, driver: driverName) { partial in
      if mkdir(partial, 0o700) != 0 { throw StorageError.lmdb(errno, during: .write, path: path) }
      var code = MDB_MAP_RESIZED
      while code == MDB_MAP_RESIZED {
        // If the store has grown, this read maps it anew; as long as the read is open no other thread does.
        code = try read { _ in
          try LMDBCopying.run(connection, to: partial + "/data.mdb", compacting: compacting, progress)
        }
      }
      // The store is read through memory: what the system refuses is to write the copy.
      if code > 0 { throw StorageError.lmdb(code, during: .write, path: path) }
      if code != MDB_SUCCESS { throw connection.error(code, during: .write) }
    }
  }
}

/// Copies an environment on a thread of its own, while the calling one tells how far it is.
private final class LMDBCopying: @unchecked Sendable {
  // @unchecked: `result` is written by one thread, and read by the other when that has ended.
  private let connection: LMDBConnection
  private let file: Int32
  private let flags: UInt32
  private let isOver = DispatchSemaphore(value: 0)
  private var result: Int32 = 0

  private init(_ connection: LMDBConnection, _ file: Int32, compacting: Bool) {
    self.connection = connection
    self.file = file
    flags = compacting ? UInt32(MDB_CP_COMPACT) : 0
  }

  /// - Returns: what LMDB says.
  static func run(
    _ connection: LMDBConnection, to path: String, compacting: Bool, _ progress: (Int, Int) throws -> Void
  ) throws -> Int32 {
    let file = openFile(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    if file < 0 { throw StorageError.lmdb(errno, during: .write, path: path) }
    defer { closeFile(file) }
    let copying = LMDBCopying(connection, file, compacting: compacting)
    let (pageByteCount, pageCount, _) = try connection.size
    DispatchQueue(label: "Garage.LMDBCopying").async {
      copying.result = copying.connection.copy(to: copying.file, copying.flags)
      copying.isOver.signal()
    }
    var failure: (any Error)?
    while copying.isOver.wait(timeout: .now() + .milliseconds(2)) == .timedOut {
      if failure != nil { continue }
      var status = stat()
      let written = fstat(file, &status) == 0 ? Int(status.st_size) / pageByteCount : 0
      do { try progress(min(written, pageCount), pageCount) } catch {
        failure = error
        copying.stop()
      }
    }
    if let failure { throw failure }
    if copying.result == MDB_SUCCESS { try progress(pageCount, pageCount) }
    return copying.result
  }

  /// Lets the next write fail: LMDB cannot be told to stop.
  private func stop() {
    let nothing = openFile("/dev/null", O_RDONLY | O_CLOEXEC)
    if nothing < 0 { return }
    dup2(nothing, file)
    closeFile(nothing)
  }
}

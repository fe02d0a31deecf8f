public import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif
#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A storage in a folder, kept by LMDB. The file is mapped into memory, and a read goes through its pages there.
///
/// It is the fastest driver for reading. Readers see one committed state, never wait, and are never waited for. There is one
/// writer at a time, among all threads and processes. Lent bytes are the mapped file itself.
///
/// ## Good to know
/// - The folder holds `data.mdb` and `lock.mdb`, and belongs to the store. Do not delete, replace or cut either file while a
///   process has the store open: reading mapped pages that are gone ends the process with SIGBUS. A file that was cut before is
///   recognised on opening. Copy the folder only while no process has it open. Network file systems are not supported.
/// - `write` waits for a writer in another process without limit. So does opening a new store while another process is creating
///   it. If a process died while it wrote, that is noticed, and its write is undone.
/// - A long read keeps the pages of its state from being used again: while it runs, the file grows with every write. The file
///   does not shrink by itself.
/// - If another process has made the store larger than this one has mapped, the next transaction waits until all open
///   transactions of this process have ended, and maps the file again. Inside another transaction of the same thread it throws
///   a retryable `conflict`, instead of waiting for itself.
/// - A transaction that changes much keeps its changed pages in memory, up to 512 MiB of them with pages of 4 KiB, and writes
///   out the rest.
/// - Any number of storages may be open on one folder, also in one process. They share one environment.
/// - LMDB trusts its pages, whose structure has no checksums. A file that others have damaged may be recognised (`corrupt`),
///   read wrongly, or end the process.
public final class LMDBStorage: StorageDriver, Sendable {
  /// The largest value, in bytes: 1 GiB. LMDB's own limit is 4 GiB, but it writes a value in one call, and
  /// operating systems cut calls of 2 GiB and more.
  public static let maximumValueByteCount = 1 << 30

  /// Keys up to 511 bytes, values up to 1 GiB. Durable, shared among processes; readers go on while one writes. A write waits
  /// for a writer in another process without limit.
  public let info: StorageInfo

  private let options: LMDBStorage.Options
  private let store: SharedStore<LMDBConnection>
  let connection: LMDBConnection
  let lifetime: StorageLifetime

  /// If an LMDB environment is opened twice in one process, the two read each other's pages wrongly, and closing one drops the
  /// file locks of both.
  private static let stores = SharedStores<LMDBConnection> { $0.close() }

  /// Opens the store in the folder at `directory`, or creates it.
  ///
  /// A missing folder is created, and so are missing folders above it. The folder may hold other files; LMDB's two are added.
  ///
  /// - Throws: ``StorageError`` of the kind `notAStorage` for a file, or for a folder with an LMDB store of another program;
  ///   `newerFormat`; `permissionDenied`; `notFound` if opened read-only and there is no store; `storageFull`; `corrupt` if the
  ///   data file was cut; `busy` if a process with another version of LMDB has it open.
  public convenience init(at directory: URL, options: LMDBStorage.Options = LMDBStorage.Options()) throws {
    guard directory.isFileURL else {
      throw StorageError(
        .notFound, during: .open, driver: driverName,
        message: "\(directory.absoluteString) is no path of a folder. Give a file URL.")
    }
    try self.init(atPath: directory.path, options: options)
  }

  /// Opens the store called `name` in the user's folder for application data, or creates it. That folder is Application Support
  /// on Apple systems, and the XDG data folder on others (see ``DataFolder``).
  ///
  /// - Throws: as ``init(at:options:)``, and `notFound` if `name` cannot name a file.
  public convenience init(named name: String, options: LMDBStorage.Options = LMDBStorage.Options()) throws {
    try self.init(atPath: DataFolder.path(forStoreNamed: name, driver: driverName), options: options)
  }

  private init(atPath path: String, options: LMDBStorage.Options) throws {
    self.options = options
    let opening = LMDBOpening(path: path, options: options)
    store = try Self.stores.open(opening.prepareFile()) { try opening.open() }
    connection = store.connection
    if connection.isReadOnly && !options.isReadOnly {
      throw StorageError.lmdb(EACCES, during: .open, path: path)
    }
    lifetime = StorageLifetime(driver: driverName, gate: connection.gate)
    info = StorageInfo(
      name: driverName, maximumKeyByteCount: connection.maximumKeyByteCount,
      maximumValueByteCount: Self.maximumValueByteCount, isDurable: true, readsDuringWrite: true,
      isSharedAcrossProcesses: true, isReadOnly: options.isReadOnly)
  }

  /// Runs `body` on the last committed state, which LMDB keeps as long as `body` runs.
  ///
  /// - Throws: the errors of `body`; `readersFull`; `conflict`, which is retryable, as the type's notes say.
  @_specialize(where R == Void)
  public func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    let transaction = try connection.beginRead(lifetime)
    defer { connection.endRead(transaction, lifetime) }
    return try transaction._withUnsafeGuaranteedRef { try body($0) }
  }

  /// Runs `body` as the only writer of all threads and processes, then commits or rolls back, as `body` returns.
  ///
  /// - Throws: the errors of `body`; `storageFull`, and then nothing of the transaction is kept; `notFound` if the folder or
  ///   its `data.mdb` was deleted or replaced while it was open; `conflict` as for ``read(_:)``.
  @_specialize(where R == Bool)
  public func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    if options.isReadOnly { throw readOnlyError() }
    while true {
      let generation = connection.mapGeneration
      let result: R? = try lifetime.withWrite {
        guard let transaction = try connection.beginWrite(options.durability) else { return nil }
        return try runWrite(body, in: transaction) {
          transaction.state.finish()
        } commit: {
          try connection.commit(transaction)
        } rollBack: {
          connection.rollBack(transaction)
        }
      }
      if let result { return result }
      // Counted as a read, so that `close` waits for it.
      try lifetime.withRead { try connection.mapAgain(lifetime, since: generation, during: .write) }
    }
  }

  /// Ends this value's use of the store. The last value of the process closes the environment.
  public func close() throws {
    try lifetime.close(endingResting: connection.endRestingRead) { try store.close() }
  }

  func readOnlyError() -> StorageError {
    StorageError(
      .readOnly, during: .write, driver: driverName,
      message: "The store at \(connection.path) was opened read-only. Open it without isReadOnly to write.")
  }
}

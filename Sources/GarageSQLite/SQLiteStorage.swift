public import GarageDriver

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// A store in an SQLite database file, shared between threads and processes.
///
/// The file has one table, `entries (key, value)`, and can be looked at with any SQLite tool. While it is
/// open there are two more files beside it, with `-wal` and `-shm` added to its name; they belong to it. The last
/// commits are in the `-wal` file: the main file alone, copied while a process has the store open, is an older state of
/// it, in which anything may be missing, **and no error tells**. Close the store before you copy the file, copy what
/// SQLite's `VACUUM INTO` or backup wrote, or, while nobody writes, the file together with its `-wal` file.
/// **Never in a process that has the store open**, nor read the file there in any other way: when it is closed again, the
/// system drops the locks of the whole process (POSIX), and the next process removes the log with the last commits.
///
/// One thread at a time writes; others of this process wait without limit, other processes up to
/// ``Options/busyTimeout``, after which ``StorageError/Kind/busy`` is thrown. Readers wait for nobody. While
/// a reader stays open, the space of what is committed meanwhile cannot be used again: the `-wal` file grows.
/// Where many reads follow one another, each keeps its lock for the next one, for 20 ms at most, and a thread of the
/// library's runs until they cease.
///
/// A file should be opened under one name: symbolic links are followed, but SQLite loses data where two
/// hard links to one file are in use, and on network file systems. A storage that was opened before `fork()`
/// throws in the child, and the child cannot open that file as long as it lives: start it with `exec`.
///
/// Values have up to 1 000 000 000 bytes, or what the library was built for, less 1024 for key and header.
/// Those above about 1000 bytes have a table of their own, `large`, which the store gets with the first of them;
/// `entries` is a view from then on, and versions of this driver from before refuse the file with
/// ``StorageError/Kind/newerFormat``.
public final class SQLiteStorage: StorageDriver, Sendable {
  /// Durable, shared between processes, with readers that go on during a write.
  public let info: StorageInfo

  let lifetime: StorageLifetime
  let process = ProcessMark()
  /// Shared by all values on one file of this process; each has connections of its own.
  let store: SharedStore<SQLiteShare>
  let readers: SQLiteReaderPool
  /// Nil where the storage only reads.
  let writer: SQLiteWriter?

  static let stores = SharedStores<SQLiteShare> { _ in }

  /// Opens the store in the file at `url`, and makes it where there is no file or an empty one.
  ///
  /// The folder must be there. Throws a ``StorageError`` of kind ``StorageError/Kind/notFound`` where it is
  /// not, ``StorageError/Kind/notAStorage`` where the file is something else (it is then left as it is),
  /// ``StorageError/Kind/newerFormat``, ``StorageError/Kind/permissionDenied``,
  /// ``StorageError/Kind/storageFull``, ``StorageError/Kind/corrupt``, ``StorageError/Kind/busy``,
  /// ``StorageError/Kind/io``, or ``StorageError/Kind/usedAfterFork`` in a child whose parent had it open.
  public init(at url: URL, options: Options = Options()) throws {
    guard url.isFileURL else {
      throw SQLiteFile.error(.notFound, url.absoluteString, "This is no file. Give the URL of a file.")
    }
    let path = url.path(percentEncoded: false)
    try Self.checkNotInherited(path)
    let file = try SQLiteFile(path: path, options: options)
    let first = options.onlyReads ? try file.openReader() : try file.openWriter(mayMake: true)
    do {
      guard let identity = file.identity else { throw file.replaced(.open) }
      store = Self.stores.open(identity) { SQLiteShare() }
      lifetime = StorageLifetime(driver: driverName, gate: store.connection.gate)
      readers = SQLiteReaderPool(
        file: file, identity: identity, foreignCommits: store.connection.foreignCommits)
      let maximumValueByteCount = Int(sqlite3_limit(first.handle, SQLITE_LIMIT_LENGTH, -1)) - 1024
      info = StorageInfo(
        name: driverName, maximumKeyByteCount: StorageInfo.guaranteedKeyByteCount,
        maximumValueByteCount: maximumValueByteCount, isDurable: true, readsDuringWrite: true,
        isSharedAcrossProcesses: true, isReadOnly: options.onlyReads)
      if options.onlyReads {
        writer = nil
        readers.giveBack(Unmanaged.passRetained(try SQLiteReader(first, file: file, readers.clock)))
      } else {
        writer = try SQLiteWriter(
          first, file: file, identity: identity, maximumValueByteCount: maximumValueByteCount,
          lifetime: lifetime, foreignCommits: store.connection.foreignCommits)
      }
    } catch {
      first.close()
      throw error
    }
  }

  /// Opens or makes the store `name` where the system keeps an application's data: the file `NAME.garage`
  /// in Application Support on Apple systems, in `$XDG_DATA_HOME` (`~/.local/share`) elsewhere.
  ///
  /// The folder is made if need be. Throws what ``init(at:options:)`` throws, and
  /// ``StorageError/Kind/notFound`` where `name` is empty or cannot be a file's name.
  public convenience init(named name: String, options: Options = Options()) throws {
    let path = try DataFolder.path(forStoreNamed: name, driver: driverName)
    if !options.onlyReads, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      try DataFolder.create(at: String(path[..<slash]), driver: driverName)
    }
    try self.init(at: URL(filePath: path + ".garage"), options: options)
  }

  deinit {
    if !process.isOfThisProcess {
      // The parent process uses these connections, and closing them here would disturb it. They are left open.
      readers.leak()
      if let writer { _ = Unmanaged.passRetained(writer) }
    } else {
      release()
    }
  }

  /// Runs `body` on the last commit, on a connection of its own; it waits for nobody.
  ///
  /// Throws ``StorageError/Kind/readersFull`` 64 deep on one thread, or where the process can open no more
  /// files (a connection takes two), and ``StorageError/Kind/notFound`` where it needs another connection
  /// but the file was moved or replaced.
  @_specialize(where R == Void)
  public func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    try lifetime.withRead {
      let reader = try readers.take()
      defer { readers.giveBack(reader) }
      return try reader._withUnsafeGuaranteedRef { try body(try $0.begin()) }
    }
  }

  /// Runs `body` as the store's only writer, among all processes, then commits or rolls back as it says.
  ///
  /// Throws ``StorageError/Kind/busy`` where another process wrote for longer than ``Options/busyTimeout``
  /// (the body has not run then), ``StorageError/Kind/storageFull`` without a trace of the transaction, and
  /// ``StorageError/Kind/notFound`` where the file was moved or deleted while it was open. After a commit, and before
  /// a write where the disk is nearly full, the write-ahead log may be copied into the file and emptied, which waits
  /// up to 50 ms for readers. Where a write finds no room all the same, the log is emptied then, and the error
  /// `isRetryable` if that, or the end of a reader, lets the same call succeed.
  @_specialize(where R == Bool)
  public func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try lifetime.withWrite {
      guard let writer else {
        throw StorageError(
          .readOnly, during: .write, driver: driverName,
          message: "The storage was opened for reading only. Open it without that option to change it.")
      }
      return try writer.run(body)
    }
  }

  /// Waits for the transactions of other threads, then closes the file. The last one to close a store, of all
  /// processes, copies its write-ahead log into the file and removes the two files beside it.
  public func close() throws {
    try lifetime.close { release() }
  }

  private func release() {
    // Readers first: the last connection to close empties the log, and readers may not write.
    readers.close()
    writer?.close()
    try? store.close()
  }

  /// Whether a storage of this process has the file open. Nobody else in the process may then open and close it: that would drop
  /// the locks that the process has on it.
  package static func isOpenHere(_ path: String) -> Bool {
    FileIdentity(path: path).map { stores.isOpen($0) } ?? false
  }

  /// Throws where this process inherited the file, open, from its parent: SQLite's idea of which locks the
  /// process has would be wrong, and the parent's commits could be lost.
  private static func checkNotInherited(_ path: String) throws {
    guard let identity = FileIdentity(path: path), stores.isInherited(identity) else { return }
    throw StorageError(
      .usedAfterFork, during: .open, driver: driverName,
      message: """
        \(path): The file was open when this process was forked, and SQLite cannot open it again in the \
        child. Start the child with exec, or open the file after the fork.
        """)
  }
}

extension SQLiteStorage {
  /// How a storage uses SQLite. The defaults suit most stores.
  ///
  /// Negative numbers count as zero.
  public struct Options: Sendable, Hashable {
    /// What a commit waits for.
    public var durability: Durability = .full

    /// The page cache of the connection that writes, in bytes. The default is 64 MiB.
    ///
    /// Each connection that reads has a cache of its own, of up to a quarter of this size. Both are limits: memory is taken
    /// only as pages are used, and memory-mapped pages take none.
    public var cacheByteCount = 64 << 20

    /// How much of the file, from its beginning, each connection maps into memory instead of copying its pages, in bytes. 0
    /// maps nothing. The default is 256 MiB, and 0 on Apple systems.
    ///
    /// With mapping, some failures end the process with a signal instead of an error: a failing disk, a file that another
    /// program cuts, and, on Apple systems, a file that data protection locks.
    public var memoryMapByteCount = Self.defaultMemoryMapByteCount

    /// How long a transaction waits for another process that holds the store, before it throws ``StorageError/Kind/busy``. The
    /// default is 10 seconds, the maximum about 24 days.
    ///
    /// Writers of this process wait for one another without limit.
    public var busyTimeout: Duration = .seconds(10)

    /// Opens an existing store for reading only. Every `write` throws ``StorageError/Kind/readOnly``.
    ///
    /// SQLite still needs its `-wal` and `-shm` files beside the store, and makes them if the folder can be written. On a file
    /// system that is mounted read-only the store is opened as if ``isImmutable`` were set, provided that its last writer
    /// closed it.
    public var isReadOnly = false

    /// Promises that nobody changes the file as long as it is open. It is then read without locks and without companion files,
    /// which a store in an app's bundle requires. Implies ``isReadOnly``.
    ///
    /// If the promise is broken, results are wrong. A store with commits left in its `-wal` file, or an unfinished transaction in a
    /// `-journal` file, is refused with ``StorageError/Kind/permissionDenied``.
    public var isImmutable = false

    /// The size of the write-ahead log, in bytes, from which on a commit tries to empty it. The default is 16 MiB.
    ///
    /// If the disk is small or nearly full, the log is emptied from an eighth of the free space on. The file may be larger
    /// after a large transaction, and while readers stay on old snapshots. An emptied log gives its space back to the file
    /// system.
    public var walCheckpointByteCount = 16 << 20

    /// How many connections are kept for later readers. The default is 8.
    ///
    /// It does not limit transactions: each reader gets a connection at once, a new one if need be (about 0.1 ms).
    public var maximumIdleReaderCount = 8

    /// The largest size of the file, in pages of 4096 bytes. For tests of a full store.
    package var maximumPageCount: Int?

    /// The defaults: durable, 64 MiB of cache, 10 seconds of patience.
    public init() {}

    /// What a commit waits for.
    public enum Durability: Sendable, Hashable, CaseIterable {
      /// The disk: a commit survives the loss of power (`synchronous = FULL`, with `fullfsync` on Apple
      /// systems).
      case full
      /// The operating system: a commit survives the end of the process. After a loss of power the last commits may be
      /// missing, but the store stays sound (`synchronous = NORMAL`).
      case normal
    }

    #if canImport(Darwin)
      static let defaultMemoryMapByteCount = 0
    #else
      static let defaultMemoryMapByteCount = Int.bitWidth == 64 ? 256 << 20 : 0
    #endif

    var onlyReads: Bool { isReadOnly || isImmutable }

    var busyMilliseconds: Int32 {
      if busyTimeout <= .zero { return 0 }
      let (seconds, attoseconds) = busyTimeout.components
      if seconds >= Int64(Int32.max) / 1000 { return Int32.max }
      return Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
  }
}

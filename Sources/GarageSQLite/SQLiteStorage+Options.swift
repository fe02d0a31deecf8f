extension SQLiteStorage {
  /// How a storage uses SQLite. The defaults suit most stores.
  ///
  /// Negative numbers count as zero.
  public struct Options: Sendable, Hashable {
    /// What a commit waits for.
    public var durability: Durability = .full

    /// The page cache of the connection that writes, in bytes; 64 MiB unless told.
    ///
    /// Each connection that reads has a cache of its own, up to a quarter of this. Both are limits: memory
    /// is taken as pages are used, and pages that are memory-mapped take none.
    public var cacheByteCount = 64 << 20

    /// How much of the file, from its beginning, each connection maps into memory instead of copying its
    /// pages, in bytes; 0 maps nothing. 256 MiB unless told, on Apple systems 0.
    ///
    /// A failing disk, a file cut by another program and, on Apple systems, a file that data protection
    /// locks then end the process with a signal instead of an error.
    public var memoryMapByteCount = Self.defaultMemoryMapByteCount

    /// How long a transaction waits for another process that holds the store, before it throws
    /// ``StorageError/Kind/busy``; 10 seconds unless told, at most about 24 days.
    ///
    /// Writers of this process wait for one another without limit.
    public var busyTimeout: Duration = .seconds(10)

    /// Opens an existing store for reading only; every `write` throws ``StorageError/Kind/readOnly``.
    ///
    /// SQLite still needs its `-wal` and `-shm` files beside the store: it makes them where the folder can
    /// be written. On a file system that is mounted read-only the store is opened as if ``isImmutable``,
    /// provided that its last writer closed it.
    public var isReadOnly = false

    /// Promises that nobody changes the file as long as it is open: it is read without locks and
    /// without companion files, as a store in an app's bundle has to be. Implies ``isReadOnly``.
    ///
    /// Wrong results follow where the promise is broken. A store with commits left in its `-wal` file is
    /// refused with ``StorageError/Kind/permissionDenied``.
    public var isImmutable = false

    /// The size of the write-ahead log, in bytes, from which a commit tries to empty it; 16 MiB unless told.
    ///
    /// Where the disk is small, or nearly full, it is emptied from an eighth of the free room on.
    /// The file may be larger: after a large transaction, and while readers stay on old snapshots. What is
    /// emptied gives its room back to the file system.
    public var walCheckpointByteCount = 16 << 20

    /// How many connections are kept for later readers; 8 unless told.
    ///
    /// It limits no transactions: each reader gets a connection at once, new if need be (about 0.1 ms).
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
      /// The operating system: a commit survives the end of the process. After a loss of power the
      /// last commits may be missing, the store stays whole (`synchronous = NORMAL`).
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

extension LMDBStorage {
  /// How a ``LMDBStorage`` is opened.
  ///
  /// All storages of one process on one folder share one LMDB environment. What belongs to the environment,
  /// ``mapByteCount`` and ``maximumReaderCount``, is decided by the storage that opens the folder first; the
  /// rest belongs to each storage.
  public struct Options: Sendable, Hashable {
    /// What a commit waits for.
    public enum Durability: Sendable, Hashable, CaseIterable {
      /// A commit is on the disk when the write returns: it survives a loss of power.
      case full
      /// A commit survives the end of the process. A loss of power may undo the last commits since another
      /// commit reached the disk, but leaves the store whole (LMDB's `MDB_NOMETASYNC`).
      case normal
      // MDB_NOSYNC is not offered: after a loss of power it may leave a store that cannot be read at all.
    }

    /// What a commit waits for. The default is ``Durability/full``.
    public var durability: Durability

    /// How large the store may grow, in bytes: the size of LMDB's memory map. Rounded up to whole pages.
    ///
    /// The map costs address space, neither memory nor disk. Nil stands for ``defaultMapByteCount``, or as much
    /// of it, halved again and again, as the process can map. A store that is larger already is mapped as a
    /// whole. A write that finds the map full throws `storageFull`; open the store with a larger map then.
    /// More than 1 TiB cannot be mapped under ThreadSanitizer, more than 256 TiB nowhere: to open throws an error then.
    public var mapByteCount: Int?

    /// How many read transactions may be open at a time, in all processes that have the store open.
    ///
    /// Threads that read at the same time and nested reads count; up to 64 slots stay reserved in each process
    /// for reads to come. The first process to open the store decides; a table once made larger stays so until
    /// `lock.mdb` is deleted. At least 1, and no more than 1 048 576 whatever is asked for.
    public var maximumReaderCount: Int

    /// Whether the storage only reads. Nothing is created then, and every write throws `readOnly`.
    ///
    /// LMDB notes its readers in `lock.mdb`, which must be writable even so, except on a file system that is
    /// mounted read-only.
    public var isReadOnly: Bool

    /// The options; see the properties.
    public init(
      durability: Durability = .full, mapByteCount: Int? = nil, maximumReaderCount: Int = 1024,
      isReadOnly: Bool = false
    ) {
      self.durability = durability
      self.mapByteCount = mapByteCount
      self.maximumReaderCount = maximumReaderCount
      self.isReadOnly = isReadOnly
    }

    /// The size of the map where none is given: 256 GiB, or 512 MiB on 32-bit systems.
    public static var defaultMapByteCount: Int { Int.bitWidth > 32 ? 256 << 30 : 512 << 20 }

    /// The smallest map that is asked for: the pages that LMDB itself needs and some room.
    static let minimumMapByteCount = 64 << 10

    /// More than any system can map, and small enough to be rounded up to whole pages.
    static var maximumMapByteCount: Int { Int.bitWidth > 32 ? 1 << 48 : 0x7FFF_0000 }

    /// How many readers LMDB is asked to make room for: 64 bytes each.
    var readerCount: Int { min(max(1, maximumReaderCount), 1 << 20) }
  }
}
